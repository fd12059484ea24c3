"""The data of persistence: keys, guards, cursors, batches, origins."""

from __future__ import annotations

import pytest
from hypothesis import given, strategies as st

from holdfast.errors import BatchRefused, InvalidCursor, OriginRefused, StoreError
from holdfast.model.catalog import DefinitionContent, Origin, check_origin, content_hash
from holdfast.model.cluster import free_worker
from holdfast.model.commit import Commit, check_batch
from holdfast.model.guard import activation_slot, idempotency_key
from holdfast.model.listing import InstanceSort, decode_cursor, encode_cursor, folded
from holdfast.model.stored import correlation_key, wake_key
from holdfast.testing.store_rows import AT, bookmark, commit_of, effect, incident, instance, segment, value, work

TEXTS = st.text(max_size=300)
STORABLE = st.text(st.characters(codec="utf-8", exclude_characters="\0"), max_size=300)


def test_keys_are_the_same_on_every_machine() -> None:
    assert wake_key("Paid") == 7894491210913290914
    assert wake_key("Paid", b"order-1") == 1195381395171388725
    assert correlation_key("order-1") == 7097972921585878030


def test_parts_of_a_key_do_not_run_into_each_other() -> None:
    assert wake_key("ab", b"c") != wake_key("a", b"bc")


@given(TEXTS)
def test_correlations_fit_64_bits_and_none_is_apart(text: str) -> None:
    assert -(2**63) <= correlation_key(text) < 2**63
    assert correlation_key(text) != 0
    assert correlation_key(None) == 0


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


@given(st.sampled_from(list(InstanceSort)), st.none() | st.integers(-(2**62), 2**62) | st.text(max_size=50), TEXTS)
def test_a_cursor_is_its_place(sort: InstanceSort, value: int | str | None, instance_id: str) -> None:
    assert decode_cursor(encode_cursor(sort, value, instance_id), sort) == (value, instance_id)


@pytest.mark.parametrize("cursor", ["", "x", "!!!!", encode_cursor(InstanceSort.NAME, "a", "i")])
def test_a_cursor_of_another_list_is_refused_with_the_remedy(cursor: str) -> None:
    with pytest.raises(InvalidCursor, match="without a cursor"):
        decode_cursor(cursor, InstanceSort.CREATED)


def test_searches_fold_ascii_only() -> None:
    assert folded("ÄBC-Ünder[Z]") == "Äbc-Ünder[z]"


@pytest.mark.parametrize(
    ("document", "refused"),
    [
        (b'{"a": {"$code": "x"}}', True),
        (b'{"a": [1, {"b": {"$code": "x"}}]}', True),
        (b'{"a": {"$literal": {"$code": "x"}}}', False),
        (b'{"a": {"$code": "x", "b": 1}}', False),
        (b'{"a": "$code"}', False),
        (b'{"\\u0024code": "x"}', True),
    ],
)
def test_trusted_code_in_documents(document: bytes, refused: bool) -> None:
    for origin in Origin:
        content = DefinitionContent(hash=content_hash(document), origin=origin, created=AT, document=document)
        if refused and origin is Origin.DOCUMENT:
            with pytest.raises(OriginRefused):
                check_origin(content)
        else:
            check_origin(content)


@pytest.mark.parametrize(
    ("commit", "message"),
    [
        (commit_of(instance("i"), bookmarks_added=(bookmark("", "j"),)), "a row of instance 'j'"),
        (commit_of(instance("i"), effects_added=(effect("", "j"),)), "a row of instance 'j'"),
        (commit_of(instance("i", 0)), "version from 1 on"),
        (commit_of(instance("i"), journal=segment(instance("i", 2))), "journal segment"),
        (Commit(burst_id="b", instance=instance("i")), "burst id"),
        (Commit(burst_id="b", guards_taken=(activation_slot(strategy="s"),)), "no instance"),
        (Commit(burst_id="b", values_added=(value("", "i", "v"),)), "no instance"),
        (Commit(burst_id="b", incidents_added=(incident("", "i"),)), "no instance"),
        (commit_of(instance("i"), effects_added=(effect("other", "i"),)), "belongs to one tenant"),
        (commit_of(instance("i"), values_added=(value("", "j", "v"),)), "a row of instance 'j'"),
        (commit_of(instance("i"), work_added=(work("other"),)), "one tenant"),
    ],
)
def test_commits_that_no_store_may_write(commit: Commit, message: str) -> None:
    with pytest.raises(BatchRefused, match=message):
        check_batch([commit])


def test_the_same_id_of_two_tenants_is_two_instances() -> None:
    check_batch([commit_of(instance("i")), commit_of(instance("i", tenant="acme"))])


def test_every_commit_of_an_instance_has_a_segment() -> None:
    commit = commit_of(instance("i", 3), journal=None)

    assert commit.segment is not None
    assert (commit.segment.version, commit.segment.count, commit.segment.burst_id) == (3, 0, commit.burst_id)
    assert Commit(burst_id="b").segment is None


def test_workers_run_out() -> None:
    assert free_worker(set(), 5) == 5
    assert free_worker({5, 6}, 5) == 7
    assert free_worker(set(range(1, 1024)), 1023) == 0
    with pytest.raises(StoreError, match="worker numbers"):
        free_worker(set(range(1024)), 0)
