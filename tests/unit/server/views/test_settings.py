"""Settings as the API shows them."""

from __future__ import annotations

from holdfast.engine import Holdfast
from holdfast.server.views import settings
from holdfast.settings import MASK


def test_a_password_in_an_address_is_masked() -> None:
    engine = Holdfast(entry_points=False, encryption_keys="k:c2VjcmV0")
    try:
        found = {item.name: item for item in settings.effective(engine)}
    finally:
        engine.close()

    assert settings.shown("postgresql://ann:pw@db/x") == f"postgresql://ann:{MASK}@db/x"
    for secret in (
        "ann:s3@cret@db/x",
        "ann:s/3cret@db/x",
        ":s3cret@db",
        "db/x?user=ann&password=s3cret",
        "db?sslPassword=s3cret",
    ):
        told = settings.shown(f"postgresql://{secret}")
        assert "cret" not in told
        assert "db" in told
    assert found["encryption_keys"].value == MASK
    assert found["segment_time"].value == "PT0.005S"
