-- What all migrations add up to. Written by hand with each migration; a test compares.

CREATE TABLE hf_migration (
    number integer not null primary key, name text not null, checksum text not null, applied integer not null
) without rowid;
CREATE TABLE hf_counter (name text not null primary key, value integer not null) without rowid;
CREATE TABLE hf_instance (
    tenant text not null, id text not null, version integer not null, burst_id text not null, status text not null,
    content text not null, definition_id text not null, definition_version integer not null, correlation_id text,
    name text, parent_id text, is_system integer not null, incidents integer not null, created integer not null,
    updated integer not null, finished integer, state blob not null, first_written integer, first_entries integer,
    first_burst text, first_data blob,
    primary key (tenant, id)
) without rowid;
CREATE TABLE hf_journal (
    tenant text not null, instance_id text not null, version integer not null, burst_id text not null,
    first_entry integer not null, entries integer not null, written integer not null, data blob not null,
    primary key (tenant, instance_id, version)
) without rowid;
CREATE TABLE hf_bookmark (
    tenant text not null, wake_key integer not null, correlation integer not null, instance_id text not null,
    seq integer not null, type text not null, activity_id text not null, created integer not null,
    payload blob not null,
    primary key (tenant, wake_key, correlation, instance_id, seq)
) without rowid;
CREATE TABLE hf_value (
    tenant text not null, instance_id text not null, ref text not null, data blob not null,
    primary key (tenant, instance_id, ref)
) without rowid;
CREATE TABLE hf_incident (
    tenant text not null, instance_id text not null, id text not null, kind text not null, activity_id text not null,
    occurred integer not null, is_open integer not null, payload blob not null,
    primary key (tenant, instance_id, id)
) without rowid;
CREATE TABLE hf_effect (
    tenant text not null, instance_id text not null, execution integer not null, attempt integer not null,
    owner_node text not null, owner_boot integer not null, activity_id text not null, type text not null,
    queue text not null, on_lost text not null, created integer not null, deadline integer, inputs blob not null,
    primary key (tenant, instance_id, execution)
) without rowid;
CREATE TABLE hf_guard (
    tenant text not null, kind text not null, name text not null, fingerprint text not null,
    instance_id text not null, created integer not null, released integer,
    primary key (tenant, kind, name)
) without rowid;
CREATE TABLE hf_work (
    tenant text not null, id text not null, queue text not null, due integer not null, urgency integer not null,
    kind text not null, instance_id text, bookmark_seq integer, content text not null,
    attempts integer not null, created integer not null, payload blob not null,
    primary key (tenant, id)
) without rowid;
CREATE TABLE hf_dead_letter (
    tenant text not null, id text not null, queue text not null, due integer not null, urgency integer not null,
    kind text not null, instance_id text, bookmark_seq integer, content text not null,
    attempts integer not null, created integer not null, payload blob not null,
    reason text not null, died integer not null, error blob not null,
    primary key (tenant, id)
) without rowid;
CREATE TABLE hf_inbox (
    tenant text not null, id text not null, wake_key integer not null, correlation integer not null, instance_id text,
    type text not null, arrived integer not null, expires integer, payload blob not null,
    position integer not null default 0, address integer not null default 0, due integer not null default 0,
    primary key (tenant, id)
) without rowid;
CREATE TABLE hf_outbox (
    tenant text not null, id text not null, topic text not null, instance_id text, created integer not null,
    attempts integer not null, payload blob not null, held_until integer not null default 0,
    primary key (tenant, id)
) without rowid;
CREATE TABLE hf_schedule (
    tenant text not null, id text not null, definition_id text not null, due integer, fired integer,
    payload blob not null,
    primary key (tenant, id)
) without rowid;
CREATE TABLE hf_node (
    id text not null primary key, boot integer not null, worker integer not null, state text not null,
    started integer not null, heartbeat integer not null, time_to_live integer not null, details blob not null
) without rowid;
CREATE TABLE hf_content (
    tenant text not null, hash text not null, origin text not null, created integer not null, document blob not null,
    primary key (tenant, hash)
) without rowid;
CREATE TABLE hf_version (
    tenant text not null, definition_id text not null, version integer not null, content text not null,
    name text not null, published integer not null, latest integer not null, created integer not null,
    metadata blob not null,
    primary key (tenant, definition_id, version)
) without rowid;
CREATE TABLE hf_deployment (
    tenant text not null, definition_id text not null, deployment text not null, content text not null,
    primary key (tenant, definition_id, deployment)
) without rowid;
CREATE TABLE hf_trigger (
    tenant text not null, definition_id text not null, id text not null, content text not null,
    version integer not null, wake_key integer not null, type text not null, activity_id text not null,
    payload blob not null,
    primary key (tenant, definition_id, id)
) without rowid;
CREATE INDEX hf_instance_status on hf_instance (tenant, status, updated);
CREATE INDEX hf_bookmark_instance on hf_bookmark (tenant, instance_id);
CREATE INDEX hf_incident_open on hf_incident (tenant, occurred) where is_open = 1;
CREATE INDEX hf_effect_owner on hf_effect (owner_node, owner_boot);
CREATE INDEX hf_guard_instance on hf_guard (tenant, instance_id);
CREATE INDEX hf_work_order on hf_work (queue, due, urgency);
CREATE INDEX hf_work_instance on hf_work (tenant, instance_id) where instance_id is not null;
CREATE INDEX hf_dead_letter_died on hf_dead_letter (tenant, died);
CREATE INDEX hf_inbox_key on hf_inbox (tenant, wake_key, correlation);
CREATE INDEX hf_inbox_instance on hf_inbox (tenant, instance_id) where instance_id is not null;
CREATE INDEX hf_inbox_expires on hf_inbox (expires) where expires is not null;
CREATE INDEX hf_outbox_order on hf_outbox (created);
CREATE INDEX hf_outbox_instance on hf_outbox (tenant, instance_id) where instance_id is not null;
CREATE INDEX hf_schedule_due on hf_schedule (due) where due is not null;
CREATE INDEX hf_version_content on hf_version (tenant, content);
CREATE INDEX hf_trigger_key on hf_trigger (tenant, wake_key);
CREATE TABLE hf_record (
    tenant text not null, kind text not null, id text not null, version integer not null, instance_id text,
    owner text not null, status text not null, due integer, created integer not null, updated integer not null,
    payload blob not null,
    primary key (tenant, kind, id)
) without rowid;
CREATE INDEX hf_record_created on hf_record (tenant, kind, created);
CREATE INDEX hf_record_owner on hf_record (tenant, kind, owner);
CREATE INDEX hf_record_instance on hf_record (tenant, instance_id) where instance_id is not null;

-- hour = -1: instances by definition, content and status now. Other rows: instances that started or ended in that hour since
-- 1970. They outlive their instances.
CREATE TABLE hf_tally (
    tenant text not null, hour integer not null, definition_id text not null, definition_version integer not null,
    content text not null, status text not null, is_system integer not null, value integer not null,
    primary key (tenant, hour, definition_id, definition_version, content, status, is_system)
) without rowid;
create trigger hf_tally_insert after insert on hf_instance
begin insert into hf_tally (tenant, hour, definition_id, definition_version, content, status, is_system, value)
    select new.tenant, -1, new.definition_id, new.definition_version, new.content, new.status, new.is_system, 1
    where true on conflict do update set value = value + excluded.value; insert into hf_tally (tenant, hour, definition_id, definition_version, content, status, is_system, value)
    select new.tenant, new.created / 3600000000, '', 0, '', 'started', new.is_system, 1
    where true on conflict do update set value = value + excluded.value; insert into hf_tally (tenant, hour, definition_id, definition_version, content, status, is_system, value)
    select new.tenant, new.finished / 3600000000, '', 0, '', new.status, new.is_system, 1
    where new.finished is not null on conflict do update set value = value + excluded.value; end;
create trigger hf_tally_update after update on hf_instance
when old.status <> new.status or old.content <> new.content or old.definition_version <> new.definition_version
begin insert into hf_tally (tenant, hour, definition_id, definition_version, content, status, is_system, value)
    select old.tenant, -1, old.definition_id, old.definition_version, old.content, old.status, old.is_system, -1
    where true on conflict do update set value = value + excluded.value; insert into hf_tally (tenant, hour, definition_id, definition_version, content, status, is_system, value)
    select new.tenant, -1, new.definition_id, new.definition_version, new.content, new.status, new.is_system, 1
    where true on conflict do update set value = value + excluded.value; insert into hf_tally (tenant, hour, definition_id, definition_version, content, status, is_system, value)
    select new.tenant, new.finished / 3600000000, '', 0, '', new.status, new.is_system, 1
    where new.finished is not null and old.finished is null on conflict do update set value = value + excluded.value; end;
create trigger hf_tally_delete after delete on hf_instance
begin insert into hf_tally (tenant, hour, definition_id, definition_version, content, status, is_system, value)
    select old.tenant, -1, old.definition_id, old.definition_version, old.content, old.status, old.is_system, -1
    where true on conflict do update set value = value + excluded.value; end;

create index hf_instance_created on hf_instance (tenant, status, created);
create index hf_instance_finished on hf_instance (tenant, status, finished) where finished is not null;
create index hf_instance_definition on hf_instance (tenant, definition_id, status, created);
create index hf_instance_definition_updated on hf_instance (tenant, definition_id, updated);
create index hf_instance_correlation on hf_instance (tenant, correlation_id, created) where correlation_id is not null;
create index hf_instance_parent on hf_instance (tenant, parent_id, created) where parent_id is not null;
create index hf_instance_name on hf_instance (tenant, name) where name is not null;
create index hf_instance_incidents on hf_instance (tenant, created) where incidents > 0;

-- Statistics of a large database, for every database: plans do not depend on when statistics were last taken.
analyze hf_migration;
delete from sqlite_stat1 where tbl = 'hf_instance';
insert into sqlite_stat1 (tbl, idx, stat) values
    ('hf_instance', 'hf_instance', '1000000 1000000 1'),
    ('hf_instance', 'hf_instance_created', '1000000 1000000 200000 2'),
    ('hf_instance', 'hf_instance_status', '1000000 1000000 200000 2'),
    ('hf_instance', 'hf_instance_finished', '1000000 1000000 200000 2'),
    ('hf_instance', 'hf_instance_definition', '1000000 1000000 100000 20000 2'),
    ('hf_instance', 'hf_instance_definition_updated', '1000000 1000000 100000 2'),
    ('hf_instance', 'hf_instance_correlation', '1000000 1000000 3 2'),
    ('hf_instance', 'hf_instance_parent', '1000000 1000000 5 2'),
    ('hf_instance', 'hf_instance_name', '1000000 1000000 5'),
    ('hf_instance', 'hf_instance_incidents', '1000 1000 2');
analyze sqlite_schema;

CREATE INDEX hf_inbox_position on hf_inbox (position);
CREATE INDEX hf_inbox_address on hf_inbox (tenant, address);
CREATE TRIGGER hf_inbox_append after insert on hf_inbox begin update hf_inbox set position = (select max(position) from hf_inbox) + 1 where tenant = new.tenant and id = new.id; end;
