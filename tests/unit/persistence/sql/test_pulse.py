"""The pulse of SQL stores; the contract of stores tests its answers."""

from __future__ import annotations

import sqlite3

from holdfast.persistence.sql.pulse import LOST


def test_lost_effects_are_found_by_the_index_of_owners() -> None:
    """However many effects run on nodes that are alive."""
    connection = sqlite3.connect(":memory:")
    connection.executescript(
        "create table hf_node (id text primary key, boot integer, state text, heartbeat integer, time_to_live integer);"
        "create table hf_effect (owner_node text, owner_boot integer);"
        "create index hf_effect_owner on hf_effect (owner_node, owner_boot);"
    )

    plan = "\n".join(row[3] for row in connection.execute("explain query plan " + LOST.format(now="?"), (1,)))
    connection.close()

    assert "SCAN e" not in plan
    assert plan.count("hf_effect_owner") == 2
