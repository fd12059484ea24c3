"""Contract tests for stores. Run them against your store:

    class TestMyStore(StoreContract):
        @pytest.fixture
        async def store(self, tmp_path):
            store = MyStore(tmp_path)
            await store.open()
            yield store
            await store.close()

        @pytest.fixture
        async def another(self, store):  # a second store on the same database: another process or node
            ...

Every test runs for two tenants. Override `rows_left` to count the rows in the tables. `ProcessContract` adds tests with
real processes, for stores with an address; provide the fixture `url`. `holdfast.testing.store_machine` compares a store
with the memory store in random steps. The tests are plain pytest with asyncio in auto mode (`asyncio_mode = "auto"`).
"""

from __future__ import annotations

from holdfast.testing.store_contract.changes import ChangesContract
from holdfast.testing.store_contract.commits import CommitContract
from holdfast.testing.store_contract.definitions import DefinitionContract
from holdfast.testing.store_contract.effects import EffectContract
from holdfast.testing.store_contract.guards import GuardContract
from holdfast.testing.store_contract.inbox_outbox import InboxOutboxContract
from holdfast.testing.store_contract.lifecycle import LifecycleContract
from holdfast.testing.store_contract.nodes import NodeContract
from holdfast.testing.store_contract.processes import ProcessContract
from holdfast.testing.store_contract.pulse import PulseContract
from holdfast.testing.store_contract.reads import ReadContract
from holdfast.testing.store_contract.records import RecordContract
from holdfast.testing.store_contract.retention import RetentionContract
from holdfast.testing.store_contract.search import SearchContract
from holdfast.testing.store_contract.tenancy import TenancyContract
from holdfast.testing.store_contract.work import WorkContract

__all__ = ["ProcessContract", "StoreContract"]


class StoreContract(
    CommitContract,
    GuardContract,
    ReadContract,
    InboxOutboxContract,
    WorkContract,
    ChangesContract,
    EffectContract,
    NodeContract,
    PulseContract,
    DefinitionContract,
    SearchContract,
    RetentionContract,
    TenancyContract,
    RecordContract,
    LifecycleContract,
):
    """All obligations of the store port, within one process."""
