"""Counters of the list: exact after statements of many rows, whatever happened to these rows between two projections."""

from __future__ import annotations

from collections.abc import AsyncIterator
from random import Random

import pytest

from holdfast.persistence.sql.postgresql.connection import LANE, Connection, connect
from holdfast.persistence.sql.postgresql.list_projection import project
from holdfast.persistence.sql.postgresql.migrate import migrate
from holdfast.persistence.sql.postgresql.pool import end
from tests.support.unlisted_instances import delete, differences, write

pytestmark = pytest.mark.service("postgres")

IDS = [f"i{number}" for number in range(200)]
_BY_HOUR = "select status, sum(value)::int from hf_tally where hour >= 0 group by 1"
_TRIGGERS = "select proname, prosrc from pg_proc where proname like 'hf_tally_%'"


@pytest.fixture
async def lane(database: str, admin: Connection) -> AsyncIterator[Connection]:
    await migrate(admin)
    connection = await connect(database, LANE)
    yield connection
    await end(connection)


async def by_hour(admin: Connection) -> dict[str, int]:
    return {row[0]: row[1] for row in await admin.fetch(_BY_HOUR)}


async def test_an_instance_is_counted_each_time_it_ends(admin: Connection, lane: Connection) -> None:
    await write(admin, IDS)
    await project(lane)
    assert await by_hour(admin) == {"started": 200}

    for version, (part, status) in enumerate(
        [(IDS[:150], "finished"), (IDS[:50], "running"), (IDS[:100], "finished")], start=2
    ):
        await write(admin, part, version, status)
        await project(lane)

    assert await by_hour(admin) == {"started": 200, "finished": 150 + 50}
    assert await differences(admin) == []


async def test_instances_that_are_listed_twice_or_deleted_are_not_counted_again(
    admin: Connection, lane: Connection
) -> None:
    await write(admin, IDS, 1, "finished")
    await project(lane)
    await write(admin, IDS, 2, "finished")  # Changed after its end.
    await project(lane)
    await delete(admin, IDS[:30])
    await project(lane)

    assert await by_hour(admin) == {"started": 200, "finished": 200}
    assert await differences(admin) == []


async def test_random_changes_are_counted_exactly(admin: Connection, lane: Connection) -> None:
    random = Random(3)
    await write(admin, IDS)
    for version in range(2, 30):
        await write(admin, random.sample(IDS, 60), version, random.choice(("running", "suspended", "faulted")))
        if version % 3 == 0:
            await project(lane)
            assert await differences(admin) == []
    await project(lane)
    await delete(admin, IDS)
    await project(lane)

    assert await differences(admin) == []
    assert (await admin.fetch("select count(*) from hf_tally where hour = -1 and value < 0"))[0][0] == 0


async def test_triggers_do_not_join_old_with_new_rows(admin: Connection, lane: Connection) -> None:
    """The plan of a trigger is made for the first statement of its session. With one row, that is a nested loop."""
    found = {row[0]: row[1] for row in await admin.fetch(_TRIGGERS)}

    assert sorted(found) == ["hf_tally_deleted", "hf_tally_inserted", "hf_tally_updated"]
    for source in found.values():
        assert "join old_rows" not in source
        assert "join new_rows" not in source
