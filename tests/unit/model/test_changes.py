"""Changes: the topics that a write concerns."""

from __future__ import annotations

from holdfast.model.changes import (
    EFFECTS,
    NO_TOPIC,
    OUTBOX,
    UNKNOWN,
    Change,
    merged,
    of_commits,
    of_rows,
    of_topic,
    queue_topic,
)
from holdfast.model.work import OutboxRow
from holdfast.testing.store_rows import AT, commit_of, instance, work


def test_a_commit_without_rows_for_services_has_no_topic() -> None:
    batch = [commit_of(instance("i"))]

    assert of_commits(batch) == Change(commits=batch)
    assert not of_commits(batch).concerns(EFFECTS)


def test_a_commit_names_its_queues_dropped_effects_and_outbox() -> None:
    row = work("acme", queue="mail")
    event = OutboxRow(id="o", topic="bus", created=AT)
    batch = [commit_of(instance("i"), work_added=(row,), effects_dropped=(1,), outbox_added=(event,))]

    change = of_commits(batch)

    assert change.topics == frozenset({queue_topic("mail"), EFFECTS, OUTBOX})
    assert change.rows == (row,)


def test_rows_name_their_queues() -> None:
    rows = (work("acme", queue="a"), work("acme", queue="b"))

    assert of_rows(rows) == Change(topics=frozenset({queue_topic("a"), queue_topic("b")}), rows=rows)
    assert of_rows([]) == NO_TOPIC


def test_an_unknown_change_concerns_everything() -> None:
    assert UNKNOWN.concerns(queue_topic("any"))
    assert UNKNOWN.elsewhere


def test_merged_changes_keep_topics_rows_and_commits() -> None:
    row, commit = work("acme", queue="a"), commit_of(instance("i"))

    assert merged([of_rows([row]), of_commits([commit]), of_topic(EFFECTS)]) == Change(
        topics=frozenset({queue_topic("a"), EFFECTS}), rows=(row,), commits=[commit]
    )
    assert merged([of_rows([row]), Change(topics=None)]).topics is None
    assert merged([]).topics == frozenset()
