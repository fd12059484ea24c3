"""Definitions: content, labels, deployments, triggers."""

# ruff: noqa: S608 - names and conditions in these texts are ours, every value is a parameter

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from msgspec.structs import replace

from holdfast.errors import OriginRefused
from holdfast.model.catalog import (
    DefinitionContent,
    DefinitionQuery,
    DefinitionVersion,
    NewVersion,
    Origin,
    TriggerRow,
    Which,
    check_expected,
    check_origin,
)
from holdfast.model.changes import DEFINITIONS, of_topic
from holdfast.model.listing import folded
from holdfast.persistence.sql.script import Rows, Script, Value, all_of, execute, execute_many, marks
from holdfast.persistence.sql.store_base import SqlStoreBase
from holdfast.persistence.sql.work_tables import CONTENT, TRIGGER, VERSION

_OF = " where tenant = ? and definition_id = ?"
_SORTS = {"name": "name", "created": "created", "version": "version"}


class SqlDefinitions(SqlStoreBase):
    async def epoch(self) -> int:
        return await self._read(self._epoch())

    async def save_version(
        self,
        label: DefinitionVersion,
        content: DefinitionContent,
        triggers: Sequence[TriggerRow] = (),
        *,
        expected: str | None = None,
    ) -> DefinitionVersion:
        check_origin(content)
        return await self._write(lambda: self._save(label, content, triggers, expected), of_topic(DEFINITIONS))

    async def publish_new(self, tenant: str, versions: Sequence[NewVersion]) -> Sequence[DefinitionVersion]:
        for item in versions:
            check_origin(item.content)
        return await self._write(lambda: self._publish_new(tenant, versions), of_topic(DEFINITIONS))

    async def deploy(
        self, label: DefinitionVersion, content: DefinitionContent, triggers: Sequence[TriggerRow], deployment: str
    ) -> DefinitionVersion:
        check_origin(content)
        return await self._write(lambda: self._deploy(label, content, triggers, deployment), of_topic(DEFINITIONS))

    async def retract(self, tenant: str, definition_id: str) -> bool:
        return await self._write(lambda: self._retract(tenant, definition_id), of_topic(DEFINITIONS))

    async def delete_version(self, tenant: str, definition_id: str, version: int) -> bool:
        return await self._write(lambda: self._delete_label(tenant, definition_id, version), of_topic(DEFINITIONS))

    async def find_version(
        self, tenant: str, definition_id: str, version: int | Which = Which.PUBLISHED
    ) -> DefinitionVersion | None:
        versions = await self._read(self._labels(tenant, definition_id))
        for row in versions:
            if row.version == version or (version == Which.LATEST and row.latest):
                return row
            if version == Which.PUBLISHED and row.published:
                return row
        return None

    async def list_versions(self, tenant: str, query: DefinitionQuery) -> tuple[Sequence[DefinitionVersion], int]:
        return await self._read(self._list(tenant, query))

    async def load_content(self, tenant: str, content: str) -> DefinitionContent | None:
        return await self._read(self._content(tenant, content))

    async def find_triggers(self, tenant: str, keys: Sequence[int]) -> Sequence[TriggerRow]:
        return await self._read(self._triggers_of_keys(tenant, keys))

    async def list_triggers(self, tenant: str, definition_id: str | None = None) -> Sequence[TriggerRow]:
        return await self._read(self._triggers(tenant, definition_id))

    def _labels(self, tenant: str, definition_id: str, lock: str = "") -> Script[list[DefinitionVersion]]:
        rows = yield execute(f"{VERSION.select}{_OF} order by version{lock}", tenant, definition_id)
        return VERSION.rows(rows, self._codec)

    def _content(self, tenant: str, content: str) -> Script[DefinitionContent | None]:
        rows = yield execute(CONTENT.select + " where tenant = ? and hash = ?", tenant, content)
        return CONTENT.decode(rows[0], self._codec) if rows else None

    def _save(
        self,
        label: DefinitionVersion,
        content: DefinitionContent,
        triggers: Sequence[TriggerRow],
        expected: str | None,
    ) -> Script[DefinitionVersion]:
        # The counter's row is locked until the transaction ends, so the rows that are read next cannot change.
        yield from self._count_up("epoch")
        labels = yield from self._labels(label.tenant, label.definition_id, self._dialect.lock)
        check_expected(label.definition_id, labels[-1].content if labels else "", expected)
        yield from self._put_content(labels, label, content)
        previous = next((row for row in labels if row.version == label.version), None)
        if label.published or (previous is not None and previous.published):
            yield from self._unpublish(label.tenant, label.definition_id)
        yield execute(f"delete from hf_version{_OF} and version = ?", label.tenant, label.definition_id, label.version)
        yield execute(VERSION.insert, *VERSION.encode(label, self._codec))
        if label.published and triggers:
            yield execute_many(TRIGGER.insert, [TRIGGER.encode(row, self._codec) for row in triggers])
        return (yield from self._settled(label))

    def _publish_new(self, tenant: str, versions: Sequence[NewVersion]) -> Script[list[DefinitionVersion]]:
        yield from self._count_up("epoch")
        stored = yield from all_of(
            "select distinct definition_id from hf_version where tenant = ? and definition_id in ({marks})",
            (tenant,),
            sorted({item.label.definition_id for item in versions}),
        )
        contents = yield from all_of(
            "select hash, origin from hf_content where tenant = ? and hash in ({marks})",
            (tenant,),
            sorted({item.content.hash for item in versions}),
        )
        known, origins = {row[0] for row in stored}, {row[0]: row[1] for row in contents}
        new = [
            item
            for item in versions
            if item.label.definition_id not in known
            and origins.get(item.content.hash, item.content.origin.value) == item.content.origin.value
        ]
        labels = [replace(item.label, published=True, latest=True) for item in new]
        missing = {item.content.hash: item.content for item in new if item.content.hash not in origins}
        for statement in (
            execute_many(CONTENT.insert, [CONTENT.encode(content, self._codec) for content in missing.values()]),
            execute_many(VERSION.insert, [VERSION.encode(label, self._codec) for label in labels]),
            execute_many(TRIGGER.insert, [TRIGGER.encode(row, self._codec) for item in new for row in item.triggers]),
        ):
            if statement.values:
                yield statement
        return labels

    def _deploy(
        self, label: DefinitionVersion, content: DefinitionContent, triggers: Sequence[TriggerRow], deployment: str
    ) -> Script[DefinitionVersion]:
        yield from self._count_up("epoch")
        labels = yield from self._labels(label.tenant, label.definition_id, self._dialect.lock)
        place = (label.tenant, label.definition_id, deployment)
        seen = yield execute(f"select content from hf_deployment{_OF} and deployment = ?", *place)
        known = next((row for row in labels if row.content == content.hash), None)
        yield from self._put_content(labels, label, content)
        if seen and known is not None:
            return known
        number = known.version if known is not None else max((row.version for row in labels), default=0) + 1
        made = replace(known or label, version=number, content=content.hash, published=not seen)
        if seen:
            triggers = ()
        else:
            yield from self._unpublish(label.tenant, label.definition_id)
            yield execute(
                f"insert into hf_deployment (tenant, definition_id, deployment, content) values ({marks(4)})",
                *place,
                content.hash,
            )
        yield execute(f"delete from hf_version{_OF} and version = ?", label.tenant, label.definition_id, number)
        yield execute(VERSION.insert, *VERSION.encode(made, self._codec))
        if triggers:
            rows = [TRIGGER.encode(replace(row, version=number), self._codec) for row in triggers]
            yield execute_many(TRIGGER.insert, rows)
        return (yield from self._settled(made))

    def _put_content(
        self, labels: Sequence[DefinitionVersion], label: DefinitionVersion, content: DefinitionContent
    ) -> Script[None]:
        """Write the content once. A definition that is written in code takes no document."""
        hashes = sorted({row.content for row in labels} | {content.hash})
        stored = yield from all_of(
            "select hash, origin from hf_content where tenant = ? and hash in ({marks})", (label.tenant,), hashes
        )
        origins = {row[1] for row in stored}
        if content.origin is Origin.DOCUMENT and Origin.CODE.value in origins:
            raise OriginRefused(
                f"Definition '{label.definition_id}' is written in code. Change the code, or save the document "
                "under another id."
            )
        if content.hash not in {row[0] for row in stored}:
            yield execute(f"{CONTENT.insert} {self._dialect.skip_existing}", *CONTENT.encode(content, self._codec))

    def _unpublish(self, tenant: str, definition_id: str) -> Script[None]:
        yield execute("delete from hf_trigger" + _OF, tenant, definition_id)
        yield execute("update hf_version set published = 0" + _OF, tenant, definition_id)

    def _retract(self, tenant: str, definition_id: str) -> Script[bool]:
        labels = yield from self._labels(tenant, definition_id, self._dialect.lock)
        if not any(row.published for row in labels):
            return False
        yield from self._count_up("epoch")
        yield from self._unpublish(tenant, definition_id)
        return True

    def _delete_label(self, tenant: str, definition_id: str, version: int) -> Script[bool]:
        labels = yield from self._labels(tenant, definition_id, self._dialect.lock)
        label = next((row for row in labels if row.version == version), None)
        if label is None:
            return False
        yield from self._count_up("epoch")
        if label.published:
            yield from self._unpublish(tenant, definition_id)
        yield execute(f"delete from hf_version{_OF} and version = ?", tenant, definition_id, version)
        yield from self._settled(label)
        return True

    def _settled(self, label: DefinitionVersion) -> Script[DefinitionVersion]:
        """Mark the latest version, and return the label as it is stored."""
        labels = yield from self._labels(label.tenant, label.definition_id)
        highest = max((row.version for row in labels), default=0)
        wrong = [row for row in labels if row.latest != (row.version == highest)]
        for row in wrong:
            yield execute(
                f"update hf_version set latest = ?{_OF} and version = ?",
                int(row.version == highest),
                row.tenant,
                row.definition_id,
                row.version,
            )
        return replace(label, latest=label.version == highest)

    def _list(self, tenant: str, query: DefinitionQuery) -> Script[tuple[list[DefinitionVersion], int]]:
        where, values = self._version_filter(tenant, query)
        total: Rows = yield execute("select count(*) from hf_version" + where, *values)
        direction = " desc" if query.descending else ""
        sort = _SORTS.get(query.sort, "name")
        order = sort + direction
        rows = yield execute(
            f"{VERSION.select}{where} order by {order}, definition_id, version limit ? offset ?",
            *values,
            query.limit,
            query.offset,
        )
        return VERSION.rows(rows, self._codec), int(total[0][0])

    def _version_filter(self, tenant: str, query: DefinitionQuery) -> tuple[str, list[Value]]:
        where, values = " where tenant = ?", list[Any]([tenant])
        if query.which is not Which.ALL:
            where += f" and {query.which.value} = 1"
        if query.definition_ids:
            where += f" and definition_id in ({marks(len(query.definition_ids))})"
            values += query.definition_ids
        if query.search:
            either = [self._dialect.contains.format(column=column) for column in ("name", "definition_id")]
            where += f" and ({' or '.join(either)})"
            values += [folded(query.search)] * 2
        return where, values

    def _triggers_of_keys(self, tenant: str, keys: Sequence[int]) -> Script[list[TriggerRow]]:
        sql = TRIGGER.select + " where tenant = ? and wake_key in ({marks})"
        rows = yield from all_of(sql, (tenant,), sorted(set(keys)))
        return sorted(TRIGGER.rows(rows, self._codec), key=lambda row: (row.definition_id, row.id))

    def _triggers(self, tenant: str, definition_id: str | None) -> Script[list[TriggerRow]]:
        sql, values = TRIGGER.select + " where tenant = ?", list[Any]([tenant])
        if definition_id is not None:
            sql, values = sql + " and definition_id = ?", [*values, definition_id]
        rows = yield execute(sql + " order by definition_id, id", *values)
        return TRIGGER.rows(rows, self._codec)
