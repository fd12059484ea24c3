"""Pages in a store, as the commits of the store tell it: after each commit, the store has those of the state and no others."""

from __future__ import annotations

from typing import Any

from holdfast.ports import Store
from holdfast.runtime.commits.large_values import all_refs, roots_of


def check_pages(store: Store) -> list[int]:
    """Check each commit of this store from now on. The returned list gets the number of page trees after each commit."""
    commit, stored, roots = store.commit, set[str](), list[int]()

    async def noted(batch: Any) -> Any:
        outcomes = await commit(batch)
        for item in batch:
            assert not {value.ref for value in item.values_added} & stored
            stored.difference_update(item.values_dropped)
            stored.update(value.ref for value in item.values_added)
            if item.instance is None:
                continue
            values = await store.load_values(item.tenant, item.instance.id, sorted(stored)) if stored else {}
            assert set(values) == stored == set(all_refs(item.instance.state, values))
            roots.append(len(roots_of(item.instance.state)))
        return outcomes

    store.commit = noted  # type: ignore[method-assign]  # to see each commit
    return roots
