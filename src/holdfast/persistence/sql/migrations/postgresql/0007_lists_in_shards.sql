-- The list is projected in eight shards by the id of the instance. Each shard has its own lock and its own counters, so several
-- processes project at once.
create function hf_shard(id text) returns smallint language sql immutable parallel safe as
    $$ select (hashtext(id) & 7)::smallint $$;

alter table hf_unlisted rename to hf_unlisted_before;
alter index hf_unlisted_pkey rename to hf_unlisted_before_pkey;
create table hf_unlisted (
    number bigint generated always as identity, shard smallint not null, is_new boolean not null,
    tenants text[] collate "C" not null, ids text[] collate "C" not null, createds bigint[] not null,
    primary key (shard, number)
) with (autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 2000);
insert into hf_unlisted (shard, is_new, tenants, ids, createds)
    select hf_shard(k.id), u.is_new, array_agg(k.tenant), array_agg(k.id), array_agg(k.created)
    from hf_unlisted_before u cross join lateral unnest(u.tenants, u.ids, u.createds) k(tenant, id, created)
    group by u.number, u.is_new, hf_shard(k.id) order by u.number;
drop table hf_unlisted_before;

-- The rows of one counter are one row per shard, which are added up. Only projectors that hold the lock of the shard write them.
alter table hf_tally drop constraint hf_tally_pkey, add column shard smallint not null default 0;
alter table hf_tally alter column shard drop default;
alter table hf_tally add primary key (tenant, hour, definition_id, definition_version, content, status, is_system, shard);
delete from hf_tally where hour = -1;
insert into hf_tally (tenant, hour, definition_id, definition_version, content, status, is_system, shard, value)
    select tenant, -1, definition_id, definition_version, content, status, is_system, hf_shard(id), count(*) from hf_listed
    group by 1, 3, 4, 5, 6, 7, 8;
create or replace function hf_tally_inserted() returns trigger language plpgsql as $$ begin
    insert into hf_tally as t (tenant, hour, definition_id, definition_version, content, status, is_system, shard, value)
    select tenant, hour, definition_id, definition_version, content, status, is_system, shard, sum(value) from (
    select n.tenant, -1::bigint as hour, g.definition_id, g.definition_version, g.content, g.status, g.is_system, hf_shard(n.id) as shard, 1 as value
        from new_rows n join hf_group g on g.tenant = n.tenant and g.number = n.group_number
    union all select n.tenant, n.created / 3600000000, '', 0, '', 'started', g.is_system, hf_shard(n.id) as shard, 1
        from new_rows n join hf_group g on g.tenant = n.tenant and g.number = n.group_number
    union all select n.tenant, n.finished / 3600000000, '', 0, '', g.status, g.is_system, hf_shard(n.id) as shard, 1
        from new_rows n join hf_group g on g.tenant = n.tenant and g.number = n.group_number where n.finished is not null
    ) changes group by 1, 2, 3, 4, 5, 6, 7, 8 having sum(value) <> 0
    on conflict (tenant, hour, definition_id, definition_version, content, status, is_system, shard)
    do update set value = t.value + excluded.value; return null; end $$;
create or replace function hf_tally_updated() returns trigger language plpgsql as $$ begin
    insert into hf_tally as t (tenant, hour, definition_id, definition_version, content, status, is_system, shard, value)
    select tenant, hour, definition_id, definition_version, content, status, is_system, shard, sum(value) from (
    select n.tenant, -1::bigint as hour, g.definition_id, g.definition_version, g.content, g.status, g.is_system, hf_shard(n.id) as shard, 1 as value
        from new_rows n join hf_group g on g.tenant = n.tenant and g.number = n.group_number
    union all select o.tenant, -1::bigint as hour, g.definition_id, g.definition_version, g.content, g.status, g.is_system, hf_shard(o.id) as shard, -1 as value
        from old_rows o join hf_group g on g.tenant = o.tenant and g.number = o.group_number
    union all select tenant, max(finished) / 3600000000, '', 0, '', max(status), max(is_system), hf_shard(id) as shard, 1 from (
        select n.tenant, n.created, n.id, n.finished, g.status, g.is_system, false as had_ended
        from new_rows n join hf_group g on g.tenant = n.tenant and g.number = n.group_number where n.finished is not null
        union all select tenant, created, id, null, null, null, true from old_rows where finished is not null
    ) ended group by tenant, created, id having not bool_or(had_ended)
    ) changes group by 1, 2, 3, 4, 5, 6, 7, 8 having sum(value) <> 0
    on conflict (tenant, hour, definition_id, definition_version, content, status, is_system, shard)
    do update set value = t.value + excluded.value; return null; end $$;
create or replace function hf_tally_deleted() returns trigger language plpgsql as $$ begin
    insert into hf_tally as t (tenant, hour, definition_id, definition_version, content, status, is_system, shard, value)
    select tenant, hour, definition_id, definition_version, content, status, is_system, shard, sum(value) from (
    select o.tenant, -1::bigint as hour, g.definition_id, g.definition_version, g.content, g.status, g.is_system, hf_shard(o.id) as shard, -1 as value
        from old_rows o join hf_group g on g.tenant = o.tenant and g.number = o.group_number
    ) changes group by 1, 2, 3, 4, 5, 6, 7, 8 having sum(value) <> 0
    on conflict (tenant, hour, definition_id, definition_version, content, status, is_system, shard)
    do update set value = t.value + excluded.value; return null; end $$;
