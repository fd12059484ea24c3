-- Lists read a range of an index for every filter and sort, and count nothing: hf_tally has the number of instances.
-- hour = -1: instances by definition, content and status now. Other rows: instances that started or ended in that hour since
-- 1970. They outlive their instances.
create table hf_tally (
    tenant text not null, hour integer not null, definition_id text not null, definition_version integer not null,
    content text not null, status text not null, is_system integer not null, value integer not null,
    primary key (tenant, hour, definition_id, definition_version, content, status, is_system)
) without rowid;
insert into hf_tally (tenant, hour, definition_id, definition_version, content, status, is_system, value)
    select tenant, -1, definition_id, definition_version, content, status, is_system, count(*) from hf_instance
    group by tenant, definition_id, definition_version, content, status, is_system;
insert into hf_tally (tenant, hour, definition_id, definition_version, content, status, is_system, value)
    select tenant, created / 3600000000, '', 0, '', 'started', is_system, count(*) from hf_instance
    group by tenant, created / 3600000000, is_system;
insert into hf_tally (tenant, hour, definition_id, definition_version, content, status, is_system, value)
    select tenant, finished / 3600000000, '', 0, '', status, is_system, count(*) from hf_instance
    where finished is not null group by tenant, finished / 3600000000, status, is_system;
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

drop index hf_instance_created;
drop index hf_instance_finished;
drop index hf_instance_definition;
drop index hf_instance_correlation;
drop index hf_instance_parent;
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
