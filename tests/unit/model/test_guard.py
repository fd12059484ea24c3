"""Names of guards: equal only for equal parts."""

from __future__ import annotations

from hypothesis import given, strategies as st

from holdfast.model.guard import activation_slot, idempotency_key

TEXTS = st.text(max_size=300)
STORABLE = st.text(st.characters(codec="utf-8", exclude_characters="\0"), max_size=300)


@given(TEXTS, TEXTS, STORABLE, TEXTS, TEXTS, STORABLE)
def test_names_of_guards_are_equal_only_for_equal_parts(a: str, b: str, c: str, d: str, e: str, f: str) -> None:
    first = idempotency_key(operation=a, target=b, key=c)
    second = idempotency_key(operation=d, target=e, key=f)

    assert (first.name == second.name) == ((a, b, c) == (d, e, f))
    assert len(first.name.encode()) <= 200


def test_keys_and_slots_are_apart() -> None:
    assert (
        idempotency_key(operation="a", target="b", key="c").ref
        != activation_slot(strategy="a", definition_id="b", correlation_id="c").ref
    )
