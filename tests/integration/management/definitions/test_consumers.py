"""`auto_update_consumers`: publishing a workflow publishes the definitions that use it as an activity again."""

from __future__ import annotations

from typing import Any

from msgspec.structs import replace

from holdfast import Status
from holdfast.management.definitions.consumers import consumers_of

FORMAT = "holdfast/definition@1"


def part(text: str, *, id: str = "part", uses: str | None = None, update: bool = True, **more: Any) -> dict[str, Any]:
    says = {"id": "say", "type": "WriteLine", "inputs": {"text": text}}
    used = {"id": "used", "type": uses, **more}
    root = says if uses is None else {"id": "all", "type": "Sequence", "activities": [says, used]}
    options = {"usable_as_activity": True, "auto_update_consumers": update}
    return {"format": FORMAT, "id": id, "name": id.title(), "options": options, "root": root}


def consumer(id: str, uses: str = "Part", **more: Any) -> dict[str, Any]:
    return {"format": FORMAT, "id": id, "name": id.title(), "root": {"id": "used", "type": uses, **more}}


async def lines_of(runtime: Any, definition_id: str) -> list[str]:
    plan, _ = await runtime.definitions.plan(definition_id)
    answer = await runtime.start(plan.definition)
    assert answer.result is not None
    assert answer.result.status is Status.FINISHED
    return list(answer.result.lines)


async def test_consumers_are_published_again_with_the_new_version(cluster: Any) -> None:
    definitions = (runtime := await cluster.node("a")).definitions
    await definitions.save_and_publish(part("one"))
    await definitions.save_and_publish(part("middle", id="middle", uses="Part", update=False))
    for id, uses in (("direct", "Part"), ("indirect", "Middle")):
        await definitions.save_and_publish(consumer(id, uses))
    await definitions.save_draft(consumer("direct") | {"description": "A draft."})

    published = await definitions.save_and_publish(part("two"))

    assert published.consumers_updated == ("direct", "middle", "indirect")
    assert published.consumers_refused == {}
    assert await lines_of(runtime, "direct") == ["two"]
    assert await lines_of(runtime, "indirect") == ["middle", "two"]
    direct = await definitions.versions("direct")
    assert [(row.version, row.published) for row in direct] == [(2, False), (1, True)]


async def test_without_the_option_consumers_keep_their_version(cluster: Any) -> None:
    definitions = (runtime := await cluster.node("a")).definitions
    await definitions.save_and_publish(part("one", update=False))
    await definitions.save_and_publish(consumer("direct"))

    published = await definitions.save_and_publish(part("two", update=False))

    assert published.consumers_updated == ()
    assert await lines_of(runtime, "direct") == ["one"]


async def test_a_consumer_that_no_longer_fits_keeps_its_version_and_is_reported(cluster: Any) -> None:
    definitions = (runtime := await cluster.node("a")).definitions
    needs = {"inputs": [{"name": "who", "type": "string"}]}
    await definitions.save_and_publish(part("one") | needs)
    await definitions.save_and_publish(consumer("direct", inputs={"who": "x"}))
    await definitions.save_and_publish(consumer("other"))

    published = await definitions.save_and_publish(part("two"))

    assert published.consumers_updated == ("other",)
    assert list(published.consumers_refused) == ["direct"]
    assert "who" in published.consumers_refused["direct"]
    assert await lines_of(runtime, "direct") == ["one"]


async def test_consumers_of_earlier_releases_are_found_by_their_content(cluster: Any) -> None:
    runtime = await cluster.node("a")
    definitions, store = runtime.definitions, runtime.store
    await definitions.save_and_publish(part("one"))
    await definitions.save_and_publish(consumer("direct"))
    label = await definitions.get("direct")
    assert label.details.uses == ("part",)
    content = await store.load_content(label.tenant, label.content)
    await store.save_version(replace(label, metadata=replace(label.details, uses=None).encoded()), content, ())

    assert [row.definition_id for row in await consumers_of(store, runtime.tenant, "part")] == ["direct"]
