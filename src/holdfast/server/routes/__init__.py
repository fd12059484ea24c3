"""One file per resource: what may be asked, of whom, and what comes back."""
