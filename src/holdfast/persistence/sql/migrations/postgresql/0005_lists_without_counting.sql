-- Lists read a range of an index for every filter and sort, and count nothing: hf_tally has the number of instances.
-- hour = -1: instances by definition, content and status now. Other rows: instances that started or ended in that hour since
-- 1970. They outlive their instances. The projector is the only writer of hf_listing, and so of hf_tally.

create table hf_tally (
    hour bigint not null, value bigint not null, definition_version integer not null, is_system smallint not null,
    tenant text collate "C" not null, definition_id text collate "C" not null, content text collate "C" not null,
    status text collate "C" not null,
    primary key (tenant, hour, definition_id, definition_version, content, status, is_system)
) with (fillfactor = 50);
insert into hf_tally (tenant, hour, definition_id, definition_version, content, status, is_system, value)
    select tenant, -1, definition_id, definition_version, content, status, is_system, count(*) from hf_listed
    group by 1, 2, 3, 4, 5, 6, 7;
insert into hf_tally (tenant, hour, definition_id, definition_version, content, status, is_system, value)
    select tenant, created / 3600000000, '', 0, '', 'started', is_system, count(*) from hf_listed group by 1, 2, 7;
insert into hf_tally (tenant, hour, definition_id, definition_version, content, status, is_system, value)
    select tenant, finished / 3600000000, '', 0, '', status, is_system, count(*) from hf_listed
    where finished is not null group by 1, 2, 6, 7;
create function hf_tally_inserted() returns trigger language plpgsql as $$ begin
    insert into hf_tally as t (tenant, hour, definition_id, definition_version, content, status, is_system, value)
    select tenant, hour, definition_id, definition_version, content, status, is_system, sum(value) from (
    select n.tenant, -1::bigint as hour, g.definition_id, g.definition_version, g.content, g.status, g.is_system, 1 as value
        from new_rows n join hf_group g on g.tenant = n.tenant and g.number = n.group_number
    union all select n.tenant, n.created / 3600000000, '', 0, '', 'started', g.is_system, 1
        from new_rows n join hf_group g on g.tenant = n.tenant and g.number = n.group_number
    union all select n.tenant, n.finished / 3600000000, '', 0, '', g.status, g.is_system, 1
        from new_rows n join hf_group g on g.tenant = n.tenant and g.number = n.group_number where n.finished is not null
    ) changes group by 1, 2, 3, 4, 5, 6, 7 having sum(value) <> 0 order by 1, 2, 3, 4, 5, 6, 7
    on conflict (tenant, hour, definition_id, definition_version, content, status, is_system)
    do update set value = t.value + excluded.value; return null; end $$;
create function hf_tally_updated() returns trigger language plpgsql as $$ begin
    insert into hf_tally as t (tenant, hour, definition_id, definition_version, content, status, is_system, value)
    select tenant, hour, definition_id, definition_version, content, status, is_system, sum(value) from (
    select n.tenant, -1::bigint as hour, g.definition_id, g.definition_version, g.content, g.status, g.is_system, 1 as value
        from new_rows n join hf_group g on g.tenant = n.tenant and g.number = n.group_number
    union all select o.tenant, -1::bigint as hour, g.definition_id, g.definition_version, g.content, g.status, g.is_system, -1 as value
        from old_rows o join hf_group g on g.tenant = o.tenant and g.number = o.group_number
    union all select n.tenant, n.finished / 3600000000, '', 0, '', g.status, g.is_system, 1
        from new_rows n join hf_group g on g.tenant = n.tenant and g.number = n.group_number
        join old_rows o on o.tenant = n.tenant and o.created = n.created and o.id = n.id
        where n.finished is not null and o.finished is null
    ) changes group by 1, 2, 3, 4, 5, 6, 7 having sum(value) <> 0 order by 1, 2, 3, 4, 5, 6, 7
    on conflict (tenant, hour, definition_id, definition_version, content, status, is_system)
    do update set value = t.value + excluded.value; return null; end $$;
create function hf_tally_deleted() returns trigger language plpgsql as $$ begin
    insert into hf_tally as t (tenant, hour, definition_id, definition_version, content, status, is_system, value)
    select tenant, hour, definition_id, definition_version, content, status, is_system, sum(value) from (
    select o.tenant, -1::bigint as hour, g.definition_id, g.definition_version, g.content, g.status, g.is_system, -1 as value
        from old_rows o join hf_group g on g.tenant = o.tenant and g.number = o.group_number
    ) changes group by 1, 2, 3, 4, 5, 6, 7 having sum(value) <> 0 order by 1, 2, 3, 4, 5, 6, 7
    on conflict (tenant, hour, definition_id, definition_version, content, status, is_system)
    do update set value = t.value + excluded.value; return null; end $$;
create trigger hf_tally_insert after insert on hf_listing
    referencing new table as new_rows for each statement execute function hf_tally_inserted();
create trigger hf_tally_update after update on hf_listing
    referencing old table as old_rows new table as new_rows for each statement execute function hf_tally_updated();
create trigger hf_tally_delete after delete on hf_listing
    referencing old table as old_rows for each statement execute function hf_tally_deleted();

drop index hf_listing_group;
drop index hf_listing_correlation;
drop index hf_listing_parent;
create index hf_listing_finished on hf_listing (group_number, finished, id);
create index hf_listing_created on hf_listing (group_number, created, id);
create index hf_listing_updated on hf_listing (group_number, updated, id);
create index hf_listing_all_updated on hf_listing (tenant, updated, id);
create index hf_listing_correlation on hf_listing (tenant, correlation_id, created, id) where correlation_id is not null;
create index hf_listing_parent on hf_listing (tenant, parent_id, created, id) where parent_id is not null;
create index hf_listing_name on hf_listing (tenant, name, id) where name is not null;
create index hf_listing_incidents on hf_listing (tenant, created, id) where incidents > 0;
