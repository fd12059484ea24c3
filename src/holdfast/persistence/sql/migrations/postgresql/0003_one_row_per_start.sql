-- Lists are narrower, the first segment of a journal lies in its instance, work has no rank.
-- Nodes of older versions must not run any more.

drop table hf_unlisted;
drop table hf_listing;

alter table hf_instance
    add column first_written bigint, add column first_entries integer, add column first_burst text collate "C",
    add column first_data bytea;
alter table hf_instance alter column first_data set storage external;

-- What lists read, by the view hf_listed: written behind the commit, from the keys in hf_unlisted (one row per batch of
-- commits). What many share is a row of hf_group; its number is a hash of the rest. No index holds when a row was last
-- updated, so that most updates stay on their page.
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
create index hf_listing_group on hf_listing (group_number, finished);
create index hf_listing_correlation on hf_listing (tenant, correlation_id) where correlation_id is not null;
create index hf_listing_parent on hf_listing (tenant, parent_id) where parent_id is not null;
create view hf_listed as
    select l.tenant, l.id, l.version, g.status, g.content, g.definition_id, g.definition_version, l.correlation_id,
        l.name, l.parent_id, g.is_system, l.incidents, l.created, l.updated, l.finished
    from hf_listing l join hf_group g on g.tenant = l.tenant and g.number = l.group_number;

create table hf_unlisted (
    number bigint generated always as identity primary key, is_new boolean not null,
    tenants text[] collate "C" not null, ids text[] collate "C" not null, createds bigint[] not null
) with (autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 2000);

insert into hf_group (number, tenant, definition_id, definition_version, content, status, is_system)
    select distinct hashtextextended(tenant, hashtextextended(definition_id, hashtextextended(content,
         hashtextextended(status, definition_version::bigint * 2 + is_system)))),
        tenant, definition_id, definition_version, content, status, is_system
    from hf_instance;
insert into hf_listing (tenant, id, version, correlation_id, name, parent_id, incidents, created, updated, finished, group_number)
    select tenant, id, version, correlation_id, name, parent_id, incidents, created, updated, finished,
        hashtextextended(tenant, hashtextextended(definition_id, hashtextextended(content,
         hashtextextended(status, definition_version::bigint * 2 + is_system))))
    from hf_instance;

-- Wide columns first: eight bytes less for each entry.
alter table hf_bookmark drop constraint hf_bookmark_pkey;
alter table hf_bookmark add primary key (wake_key, correlation, tenant, instance_id, seq);

drop index hf_work_order;
alter table hf_work drop column fair_rank;
create index hf_work_order on hf_work (queue, due, urgency, tenant, id);
alter table hf_dead_letter drop column fair_rank;

drop type hf_row_new;
drop type hf_row_work_added;
drop type hf_row_dead_letter;
create type hf_row_new as (
    number integer, tenant text, id text, version integer, burst_id text, status text, content text, definition_id
    text, definition_version integer, correlation_id text, name text, parent_id text, is_system smallint, incidents
    integer, created bigint, updated bigint, finished bigint, state bytea, first_entries integer, first_data bytea
);
create type hf_row_work_added as (
    number integer, tenant text, id text, queue text, due bigint, urgency integer, kind text,
    instance_id text, bookmark_seq integer, content text, attempts integer, created bigint, payload bytea
);
create type hf_row_dead_letter as (
    number integer, tenant text, id text, queue text, due bigint, urgency integer, kind text,
    instance_id text, bookmark_seq integer, content text, attempts integer, created bigint, payload bytea, reason
    text, died bigint, error bytea
);
