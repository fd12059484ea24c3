"""Services by type: a missing service is reported with its registration."""

from __future__ import annotations

import pytest

from holdfast.errors import ExecutionError
from holdfast.runtime.service_table import ServiceTable


class Mailer: ...


def test_a_service_is_found_by_its_type() -> None:
    mailer = Mailer()

    assert ServiceTable({Mailer: mailer}).get(Mailer) is mailer


def test_a_missing_service_names_the_remedy() -> None:
    with pytest.raises(ExecutionError, match=r"Holdfast\(services=\{Mailer: …\}\)"):
        ServiceTable().get(Mailer)
