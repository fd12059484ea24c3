-- What all migrations add up to. Written by hand with each migration; a test compares.

create table hf_migration (
    number integer not null primary key, name text not null, checksum text not null, applied bigint not null
);

create table hf_counter (value bigint not null, name text collate "C" not null primary key);
insert into hf_counter (name, value) values ('epoch', 0), ('boot', 0);

-- No index over what changes, so that every update stays on its page (heap-only). A parent never changes. The last four
-- columns are the first segment of the journal: see first_segment.py.
create table hf_instance (
    created bigint not null, updated bigint not null, finished bigint,
    version integer not null, definition_version integer not null, incidents integer not null,
    is_system smallint not null,
    tenant text collate "C" not null, id text collate "C" not null, burst_id text collate "C" not null,
    status text collate "C" not null, content text collate "C" not null, definition_id text collate "C" not null,
    correlation_id text collate "C", name text collate "C", parent_id text collate "C", state bytea not null,
    first_written bigint, first_entries integer, first_burst text collate "C", first_data bytea,
    primary key (tenant, id)
) with (fillfactor = 90);
alter table hf_instance alter column state set storage external;
alter table hf_instance alter column first_data set storage external;
create index hf_instance_parent on hf_instance (tenant, parent_id) where parent_id is not null;

create function hf_shard(id text) returns smallint language sql immutable parallel safe as
    $$ select (hashtext(id) & 7)::smallint $$;

-- What lists read, by the view hf_listed: written behind the commit, from the keys in hf_unlisted (one row per batch of
-- commits). What many share is a row of hf_group; its number is a hash of the rest. 
create table hf_group (
    number bigint not null, definition_version integer not null, is_system smallint not null,
    tenant text collate "C" not null, definition_id text collate "C" not null, content text collate "C" not null,
    status text collate "C" not null,
    primary key (tenant, number)
);
create table hf_listing (
    created bigint not null, updated bigint not null, finished bigint, group_number bigint not null,
    version integer not null, incidents integer not null,
    tenant text collate "C" not null, id text collate "C" not null,
    correlation_id text collate "C", name text collate "C", parent_id text collate "C",
    primary key (tenant, created, id)
) with (fillfactor = 90);
create index hf_listing_finished on hf_listing (group_number, finished, id) where finished is not null;
create index hf_listing_created on hf_listing (group_number, created, id);
create index hf_listing_updated on hf_listing (group_number, updated, id);
create index hf_listing_all_updated on hf_listing (tenant, updated, id);
create index hf_listing_correlation on hf_listing (tenant, correlation_id, created, id) where correlation_id is not null;
create index hf_listing_parent on hf_listing (tenant, parent_id, created, id) where parent_id is not null;
create index hf_listing_name on hf_listing (tenant, name, id) where name is not null;
create index hf_listing_incidents on hf_listing (tenant, created, id) where incidents > 0;
create view hf_listed as
    select l.tenant, l.id, l.version, g.status, g.content, g.definition_id, g.definition_version, l.correlation_id,
        l.name, l.parent_id, g.is_system, l.incidents, l.created, l.updated, l.finished
    from hf_listing l join hf_group g on g.tenant = l.tenant and g.number = l.group_number;

-- Number of instances, kept by triggers of hf_listing.
-- hour = -1: instances by definition, content and status now. Other rows: instances that started or ended in that hour since
-- 1970. They outlive their instances. A counter is one row per shard of instances: projectors, the only writers of hf_listing,
-- write a shard only under its lock.
create table hf_tally (
    hour bigint not null, value bigint not null, definition_version integer not null, is_system smallint not null,
    tenant text collate "C" not null, definition_id text collate "C" not null, content text collate "C" not null,
    status text collate "C" not null, shard smallint not null,
    primary key (tenant, hour, definition_id, definition_version, content, status, is_system, shard)
) with (fillfactor = 50);
-- The rows of a statement are added up by group before they meet hf_group, and old and new rows are never joined: the plan of a
-- trigger is made for the first statement of a session, which often has one row.
create function hf_tally_inserted() returns trigger language plpgsql as $$ begin
    insert into hf_tally as t (tenant, hour, definition_id, definition_version, content, status, is_system, shard, value)
    with counted as materialized (
        select tenant, group_number, created / 3600000000 as began, finished / 3600000000 as ended, hf_shard(id) as shard,
            count(*) as value
        from new_rows group by 1, 2, 3, 4, 5)
    select c.tenant, x.hour, x.definition_id, x.definition_version, x.content, x.status, g.is_system, c.shard, sum(c.value)
    from counted c join hf_group g on g.tenant = c.tenant and g.number = c.group_number
    cross join lateral (values
        (-1::bigint, g.definition_id, g.definition_version, g.content, g.status),
        (c.began, '', 0, '', 'started'),
        (c.ended, '', 0, '', g.status)) x (hour, definition_id, definition_version, content, status)
    where x.hour is not null group by 1, 2, 3, 4, 5, 6, 7, 8
    on conflict (tenant, hour, definition_id, definition_version, content, status, is_system, shard)
    do update set value = t.value + excluded.value; return null; end $$;
create function hf_tally_updated() returns trigger language plpgsql as $$ begin
    insert into hf_tally as t (tenant, hour, definition_id, definition_version, content, status, is_system, shard, value)
    with moved as materialized (
        select tenant, group_number, shard, sum(value) as value from (
            select tenant, group_number, hf_shard(id) as shard, 1 as value from new_rows
            union all select tenant, group_number, hf_shard(id), -1 from old_rows) r
        group by 1, 2, 3 having sum(value) <> 0
    ), ended as materialized (
        select tenant, group_number, shard, hour, count(*) as value from (
            select tenant, max(group_number) as group_number, hf_shard(id) as shard, max(finished) / 3600000000 as hour from (
                select tenant, created, id, group_number, finished, true as is_new from new_rows where finished is not null
                union all select tenant, created, id, group_number, finished, false from old_rows where finished is not null) r
            group by tenant, created, id having bool_and(is_new)) e
        group by 1, 2, 3, 4)
    select tenant, hour, definition_id, definition_version, content, status, is_system, shard, sum(value) from (
        select m.tenant, -1::bigint as hour, g.definition_id, g.definition_version, g.content, g.status, g.is_system, m.shard, m.value
            from moved m join hf_group g on g.tenant = m.tenant and g.number = m.group_number
        union all select e.tenant, e.hour, '', 0, '', g.status, g.is_system, e.shard, e.value
            from ended e join hf_group g on g.tenant = e.tenant and g.number = e.group_number) changes
    group by 1, 2, 3, 4, 5, 6, 7, 8 having sum(value) <> 0
    on conflict (tenant, hour, definition_id, definition_version, content, status, is_system, shard)
    do update set value = t.value + excluded.value; return null; end $$;
create function hf_tally_deleted() returns trigger language plpgsql as $$ begin
    insert into hf_tally as t (tenant, hour, definition_id, definition_version, content, status, is_system, shard, value)
    with gone as materialized (
        select tenant, group_number, hf_shard(id) as shard, count(*) as value from old_rows group by 1, 2, 3)
    select o.tenant, -1, g.definition_id, g.definition_version, g.content, g.status, g.is_system, o.shard, -sum(o.value)
    from gone o join hf_group g on g.tenant = o.tenant and g.number = o.group_number group by 1, 2, 3, 4, 5, 6, 7, 8
    on conflict (tenant, hour, definition_id, definition_version, content, status, is_system, shard)
    do update set value = t.value + excluded.value; return null; end $$;
create trigger hf_tally_insert after insert on hf_listing
    referencing new table as new_rows for each statement execute function hf_tally_inserted();
create trigger hf_tally_update after update on hf_listing
    referencing old table as old_rows new table as new_rows for each statement execute function hf_tally_updated();
create trigger hf_tally_delete after delete on hf_listing
    referencing old table as old_rows for each statement execute function hf_tally_deleted();

create table hf_unlisted (
    number bigint generated always as identity, shard smallint not null, is_new boolean not null,
    tenants text[] collate "C" not null, ids text[] collate "C" not null, createds bigint[] not null,
    primary key (shard, number)
) with (autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 2000);

create table hf_journal (
    written bigint not null, version integer not null, first_entry integer not null, entries integer not null,
    tenant text collate "C" not null, instance_id text collate "C" not null, burst_id text collate "C" not null,
    data bytea not null,
    primary key (tenant, instance_id, version)
);
alter table hf_journal alter column data set storage external;

create table hf_bookmark (
    wake_key bigint not null, correlation bigint not null, created bigint not null, seq integer not null,
    tenant text collate "C" not null, instance_id text collate "C" not null, type text collate "C" not null,
    activity_id text collate "C" not null, payload bytea not null,
    primary key (wake_key, correlation, tenant, instance_id, seq)
);
alter table hf_bookmark alter column payload set storage external;
create index hf_bookmark_instance on hf_bookmark (instance_id);

create table hf_value (
    tenant text collate "C" not null, instance_id text collate "C" not null, ref text collate "C" not null,
    data bytea not null,
    primary key (tenant, instance_id, ref)
);
alter table hf_value alter column data set storage external;

create table hf_incident (
    occurred bigint not null, is_open smallint not null,
    tenant text collate "C" not null, instance_id text collate "C" not null, id text collate "C" not null,
    kind text collate "C" not null, activity_id text collate "C" not null, payload bytea not null,
    primary key (tenant, instance_id, id)
);
alter table hf_incident alter column payload set storage external;
create index hf_incident_open on hf_incident (tenant, occurred) where is_open = 1;

create table hf_effect (
    created bigint not null, deadline bigint, owner_boot bigint not null,
    execution bigint not null, attempt integer not null,
    tenant text collate "C" not null, instance_id text collate "C" not null, owner_node text collate "C" not null,
    activity_id text collate "C" not null, type text collate "C" not null, queue text collate "C" not null,
    on_lost text collate "C" not null, inputs bytea not null,
    primary key (tenant, instance_id, execution)
) with (fillfactor = 80);
alter table hf_effect alter column inputs set storage external;
create index hf_effect_owner on hf_effect (owner_node, owner_boot);

create table hf_guard (
    created bigint not null, released bigint,
    tenant text collate "C" not null, kind text collate "C" not null, name text collate "C" not null,
    fingerprint text collate "C" not null, instance_id text collate "C" not null,
    primary key (tenant, kind, name)
);
create index hf_guard_instance on hf_guard (tenant, instance_id);

create table hf_work (
    due bigint not null, created bigint not null, urgency integer not null,
    bookmark_seq integer, attempts integer not null,
    tenant text collate "C" not null, id text collate "C" not null, queue text collate "C" not null,
    kind text collate "C" not null, instance_id text collate "C", content text collate "C" not null,
    payload bytea not null,
    primary key (tenant, id)
) with (fillfactor = 80, autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 20000);
alter table hf_work alter column payload set storage external;
create index hf_work_order on hf_work (queue, due, urgency, tenant, id);
create index hf_work_instance on hf_work (tenant, instance_id) where instance_id is not null;

create table hf_dead_letter (
    due bigint not null, created bigint not null, died bigint not null,
    urgency integer not null, bookmark_seq integer, attempts integer not null,
    tenant text collate "C" not null, id text collate "C" not null, queue text collate "C" not null,
    kind text collate "C" not null, instance_id text collate "C", content text collate "C" not null,
    payload bytea not null, reason text collate "C" not null, error bytea not null,
    primary key (tenant, id)
);
alter table hf_dead_letter alter column payload set storage external;
alter table hf_dead_letter alter column error set storage external;
create index hf_dead_letter_died on hf_dead_letter (tenant, died);
create index hf_dead_letter_instance on hf_dead_letter (tenant, instance_id) where instance_id is not null;

create table hf_inbox (
    wake_key bigint not null, correlation bigint not null, arrived bigint not null, expires bigint,
    tenant text collate "C" not null, id text collate "C" not null, instance_id text collate "C",
    type text collate "C" not null, payload bytea not null,
    position bigint generated always as identity, address bigint not null default 0, due bigint not null default 0,
    primary key (tenant, id)
);
alter table hf_inbox alter column payload set storage external;
create index hf_inbox_key on hf_inbox (tenant, wake_key, correlation);
create index hf_inbox_instance on hf_inbox (tenant, instance_id) where instance_id is not null;
create index hf_inbox_expires on hf_inbox (expires) where expires is not null;
create index hf_inbox_address on hf_inbox (tenant, address);

create table hf_outbox (
    created bigint not null, held_until bigint not null default 0, attempts integer not null,
    tenant text collate "C" not null, id text collate "C" not null, topic text collate "C" not null,
    instance_id text collate "C", payload bytea not null,
    primary key (tenant, id)
) with (fillfactor = 80, autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 20000);
alter table hf_outbox alter column payload set storage external;
create index hf_outbox_order on hf_outbox (created, tenant, id);
create index hf_outbox_instance on hf_outbox (tenant, instance_id) where instance_id is not null;

create table hf_schedule (
    due bigint, fired bigint, tenant text collate "C" not null, id text collate "C" not null,
    definition_id text collate "C" not null, payload bytea not null,
    primary key (tenant, id)
);
create index hf_schedule_due on hf_schedule (due) where due is not null;

create table hf_node (
    boot bigint not null, started bigint not null, heartbeat bigint not null, time_to_live bigint not null,
    worker integer not null, id text collate "C" not null primary key, state text collate "C" not null,
    details bytea not null
) with (fillfactor = 50);

create table hf_content (
    created bigint not null, tenant text collate "C" not null, hash text collate "C" not null,
    origin text collate "C" not null, document bytea not null,
    primary key (tenant, hash)
);
alter table hf_content alter column document set storage external;

create table hf_version (
    created bigint not null, version integer not null, published smallint not null, latest smallint not null,
    tenant text collate "C" not null, definition_id text collate "C" not null, content text collate "C" not null,
    name text collate "C" not null, metadata bytea not null,
    primary key (tenant, definition_id, version)
);
create index hf_version_content on hf_version (tenant, content);

create table hf_deployment (
    tenant text collate "C" not null, definition_id text collate "C" not null,
    deployment text collate "C" not null, content text collate "C" not null,
    primary key (tenant, definition_id, deployment)
);

create table hf_trigger (
    wake_key bigint not null, version integer not null, tenant text collate "C" not null,
    definition_id text collate "C" not null, id text collate "C" not null, content text collate "C" not null,
    type text collate "C" not null, activity_id text collate "C" not null, payload bytea not null,
    primary key (tenant, definition_id, id)
);
create index hf_trigger_key on hf_trigger (tenant, wake_key);

create table hf_record (
    due bigint, created bigint not null, updated bigint not null, version integer not null,
    tenant text collate "C" not null, kind text collate "C" not null, id text collate "C" not null,
    instance_id text collate "C", owner text collate "C" not null, status text collate "C" not null,
    payload bytea not null,
    primary key (tenant, kind, id)
) with (fillfactor = 80);
alter table hf_record alter column payload set storage external;
create index hf_record_created on hf_record (tenant, kind, created);
create index hf_record_owner on hf_record (tenant, kind, owner);
create index hf_record_instance on hf_record (tenant, instance_id) where instance_id is not null;

-- Rows as the commit statement is handed them: an array of each, one parameter.
create type hf_row_commits as (
    number integer, does integer, needed integer, tenant text, id text, version integer
);
create type hf_row_new as (
    number integer, tenant text, id text, version integer, burst_id text, status text, content text, definition_id
    text, definition_version integer, correlation_id text, name text, parent_id text, is_system smallint, incidents
    integer, created bigint, updated bigint, finished bigint, state bytea, first_entries integer, first_data bytea
);
create type hf_row_changed as (
    number integer, tenant text, id text, version integer, burst_id text, status text, content text,
    definition_version integer, correlation_id text, name text, incidents integer, updated bigint, finished bigint,
    state bytea, first_entry integer, entries integer, written bigint, data bytea
);
create type hf_row_guard_taken as (
    number integer, tenant text, kind text, name text, fingerprint text, instance_id text, created bigint
);
create type hf_row_effect_consumed as (
    number integer, tenant text, instance_id text, execution bigint, attempt integer, owner_node text, owner_boot
    bigint
);
create type hf_row_incident_resolved as (
    number integer, tenant text, instance_id text, id text
);
create type hf_row_work_dropped as (
    number integer, tenant text, id text
);
create type hf_row_schedule_fired as (
    number integer, tenant text, id text, due bigint, next_due bigint
);
create type hf_row_journal as (
    number integer, tenant text, instance_id text, version integer, burst_id text, first_entry integer, entries
    integer, written bigint, data bytea
);
create type hf_row_bookmark_added as (
    number integer, tenant text, wake_key bigint, correlation bigint, instance_id text, seq integer, type text,
    activity_id text, created bigint, payload bytea
);
create type hf_row_effect_added as (
    number integer, tenant text, instance_id text, execution bigint, attempt integer, owner_node text, owner_boot
    bigint, activity_id text, type text, queue text, on_lost text, created bigint, deadline bigint, inputs bytea
);
create type hf_row_incident_added as (
    number integer, tenant text, instance_id text, id text, kind text, activity_id text, occurred bigint, is_open
    smallint, payload bytea
);
create type hf_row_value_added as (
    number integer, tenant text, instance_id text, ref text, data bytea
);
create type hf_row_work_added as (
    number integer, tenant text, id text, queue text, due bigint, urgency integer, kind text,
    instance_id text, bookmark_seq integer, content text, attempts integer, created bigint, payload bytea
);
create type hf_row_inbox_added as (
    number integer, tenant text, id text, wake_key bigint, correlation bigint, instance_id text, type text, arrived
    bigint, expires bigint, payload bytea, address bigint, due bigint
);
create type hf_row_outbox_added as (
    number integer, tenant text, id text, topic text, instance_id text, created bigint, attempts integer, payload
    bytea
);
create type hf_row_dead_letter as (
    number integer, tenant text, id text, queue text, due bigint, urgency integer, kind text,
    instance_id text, bookmark_seq integer, content text, attempts integer, created bigint, payload bytea, reason
    text, died bigint, error bytea
);
create type hf_row_bookmark_burned as (
    number integer, tenant text, wake_key bigint, correlation bigint, instance_id text, seq integer
);
create type hf_row_work_consumed as (
    number integer, tenant text, id text
);
create type hf_row_inbox_consumed as (
    number integer, tenant text, id text
);
create type hf_row_effect_dropped as (
    number integer, tenant text, instance_id text, execution bigint
);
create type hf_row_value_dropped as (
    number integer, tenant text, instance_id text, ref text
);
create type hf_row_guard_released as (
    number integer, tenant text, kind text, name text, instance_id text
);
create type hf_row_record as (
    number integer, tenant text, kind text, id text, version integer, instance_id text, owner text, status text, due
    bigint, created bigint, updated bigint, payload bytea
);
