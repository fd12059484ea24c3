"""Which bookmarks of a live instance a stimulus fits."""

from __future__ import annotations

from typing import Any

from holdfast import Workflow
from holdfast.activities import Event, Parallel
from holdfast.model import values
from holdfast.model.wake_keys import addressed_key, everyone_key, keyed_key
from holdfast.runtime.commits.fitting_bookmarks import fitting, open_since, wake_keys
from holdfast.runtime.commits.work_rows import Stimulus
from tests.support.commit_pipeline import begun

TWO = Workflow(Parallel(Event("paid", id="paid"), Event("shipped", id="shipped")), id="w")


def paid(**more: Any) -> Stimulus:
    return Stimulus(id="s", event_name="paid", **more)


def ids(live: Any, found: Stimulus) -> list[str]:
    return [mark.id for mark in fitting(live, found, wake_keys(found))]


def test_the_keys_depend_on_the_address() -> None:
    assert wake_keys(paid()) == [everyone_key("paid")]
    assert wake_keys(paid(instance_id="i")) == [everyone_key("paid"), addressed_key("paid")]
    assert wake_keys(paid(key=values.encode(7))) == [keyed_key("paid", 7)]
    assert len(wake_keys(Stimulus(id="s", type="Other"))) == 1


async def test_name_instance_and_correlation_must_fit() -> None:
    live = begun(TWO)

    assert ids(live, paid(instance_id="i")) == ["b1"]
    assert ids(live, paid(instance_id="another")) == []
    assert ids(live, paid(correlation_id="unknown")) == []
    assert ids(live, Stimulus(id="s", event_name="lost", instance_id="i")) == []


async def test_waits_that_were_opened_later() -> None:
    live = begun(TWO)

    assert list(open_since(live, 2)) == []
    assert list(open_since(live, 1)) == [everyone_key("shipped")]
    assert len(list(open_since(live, 0))) == 2
