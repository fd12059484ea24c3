"""Names of queues and references of effects."""

from __future__ import annotations

from holdfast.model.work import DEFAULT_QUEUE, EffectRef, home_queue, queue_of, tenant_of
from holdfast.testing.store_rows import effect


def test_queues_of_two_tenants_have_different_names() -> None:
    names = {queue_of(tenant, queue) for tenant in ("", "acme", "other") for queue in (DEFAULT_QUEUE, "mail")}

    assert len(names) == 6


def test_an_effect_is_referred_to_by_its_instance_and_execution() -> None:
    row = effect("acme", "i", 7)

    assert isinstance(row.ref, EffectRef)
    assert row.ref == effect("acme", "i", 7).ref != effect("acme", "i", 8).ref


def test_a_queue_names_its_tenant() -> None:
    assert [tenant_of(name) for name in ("default", "gpu@acme", "a@b@acme")] == ["", "acme", "acme"]
    assert (home_queue("acme", None), home_queue("acme", "gpu"), home_queue("", "gpu")) == (
        "default@acme",
        "gpu@acme",
        "gpu",
    )
