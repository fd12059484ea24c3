"""Looks at a set-up, or at one instance, and says what is wrong and what to do. It changes nothing."""

from holdfast.runtime.doctor.findings import Finding, Level
from holdfast.runtime.doctor.patient import why_it_waits
from holdfast.runtime.doctor.setup import check_store, check_transport

__all__ = ["Finding", "Level", "check_store", "check_transport", "why_it_waits"]
