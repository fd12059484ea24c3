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
CREATE INDEX hf_instance_created on hf_instance (tenant, created);
CREATE INDEX hf_instance_status on hf_instance (tenant, status, updated);
CREATE INDEX hf_instance_correlation on hf_instance (tenant, correlation_id) where correlation_id is not null;
CREATE INDEX hf_instance_parent on hf_instance (tenant, parent_id) where parent_id is not null;
CREATE INDEX hf_instance_finished on hf_instance (tenant, finished) where finished is not null;
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
CREATE INDEX hf_instance_definition on hf_instance (tenant, definition_id, created);
CREATE TABLE hf_record (
    tenant text not null, kind text not null, id text not null, version integer not null, instance_id text,
    owner text not null, status text not null, due integer, created integer not null, updated integer not null,
    payload blob not null,
    primary key (tenant, kind, id)
) without rowid;
CREATE INDEX hf_record_created on hf_record (tenant, kind, created);
CREATE INDEX hf_record_owner on hf_record (tenant, kind, owner);
CREATE INDEX hf_record_instance on hf_record (tenant, instance_id) where instance_id is not null;
