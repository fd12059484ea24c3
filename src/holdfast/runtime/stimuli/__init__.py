"""Stimuli: matching, delivery, the inbox of early ones, starts by trigger."""
