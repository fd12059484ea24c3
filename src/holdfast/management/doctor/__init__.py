"""Diagnosis of a set-up, an instance or a stimulus: findings with remedies. The doctor changes nothing."""

from holdfast.management.doctor.findings import Finding, Level
from holdfast.management.doctor.instance import why_it_waits
from holdfast.management.doctor.setup import check_store, check_transport

__all__ = ["Finding", "Level", "check_store", "check_transport", "why_it_waits"]
