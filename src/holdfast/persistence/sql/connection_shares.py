"""Division of the connections that a process may open among the purposes of a store."""

from __future__ import annotations

from collections.abc import Mapping

from holdfast.errors import StoreMisconfigured


def connection_shares(total: int | None, defaults: Mapping[str, int], *, single: int, store: str) -> dict[str, int]:
    """Connections by purpose: the defaults without a total, else each purpose gets one, and the others go where the share is
    smallest in proportion to the default. `single` connections have a purpose of their own and are not divided.

    Raises `StoreMisconfigured` if the total is too small.
    """
    if total is None:
        return dict(defaults)
    least = single + len(defaults)
    if total < least:
        raise StoreMisconfigured(
            f"store_connections={total} is too few for {store}, which needs at least {least}. Set it to {least} or more, or to "
            f"0 for the default of {single + sum(defaults.values())}."
        )
    shares = dict.fromkeys(defaults, 1)
    for _ in range(total - least):
        neediest = min(shares, key=lambda purpose: (shares[purpose] + 1) / defaults[purpose])
        shares[neediest] += 1
    return shares
