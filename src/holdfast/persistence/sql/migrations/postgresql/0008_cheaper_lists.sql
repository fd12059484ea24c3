-- Counters: the rows of a statement are added up by group before they meet hf_group. Old and new rows are never joined: the plan of
-- a trigger is made for the first statement of a session, which often has one row, and then cost the square of the rows.
create or replace function hf_tally_inserted() returns trigger language plpgsql as $$ begin
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
create or replace function hf_tally_updated() returns trigger language plpgsql as $$ begin
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
create or replace function hf_tally_deleted() returns trigger language plpgsql as $$ begin
    insert into hf_tally as t (tenant, hour, definition_id, definition_version, content, status, is_system, shard, value)
    with gone as materialized (
        select tenant, group_number, hf_shard(id) as shard, count(*) as value from old_rows group by 1, 2, 3)
    select o.tenant, -1, g.definition_id, g.definition_version, g.content, g.status, g.is_system, o.shard, -sum(o.value)
    from gone o join hf_group g on g.tenant = o.tenant and g.number = o.group_number group by 1, 2, 3, 4, 5, 6, 7, 8
    on conflict (tenant, hour, definition_id, definition_version, content, status, is_system, shard)
    do update set value = t.value + excluded.value; return null; end $$;

-- Only ended instances are listed and deleted by their end.
drop index hf_listing_finished;
create index hf_listing_finished on hf_listing (group_number, finished, id) where finished is not null;
