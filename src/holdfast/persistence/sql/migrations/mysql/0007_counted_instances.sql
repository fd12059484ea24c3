-- hf_tally has the number of instances. hour = -1: instances by definition, content and status now. Other rows: instances that
-- started or ended in that hour since 1970. Commits insert changes into hf_tally_delta, which are added to hf_tally later.
create table hf_tally (
    tenant varbinary(255) not null, hour bigint not null, definition_id varbinary(255) not null,
    definition_version bigint not null, content varbinary(255) not null, status varbinary(64) not null,
    is_system smallint not null, value bigint not null,
    primary key (tenant, hour, definition_id, definition_version, content, status, is_system)
) engine = InnoDB row_format = dynamic;
create table hf_tally_delta (
    number bigint not null auto_increment primary key,
    tenant varbinary(255) not null, hour bigint not null, definition_id varbinary(255) not null,
    definition_version bigint not null, content varbinary(255) not null, status varbinary(64) not null,
    is_system smallint not null, value bigint not null
) engine = InnoDB row_format = dynamic;
insert into hf_tally (tenant, hour, definition_id, definition_version, content, status, is_system, value)
    select tenant, -1, definition_id, definition_version, content, status, is_system, count(*) from hf_instance
    group by tenant, definition_id, definition_version, content, status, is_system;
insert into hf_tally (tenant, hour, definition_id, definition_version, content, status, is_system, value)
    select tenant, floor(created / 3600000000), '', 0, '', 'started', is_system, count(*) from hf_instance
    group by tenant, floor(created / 3600000000), is_system;
insert into hf_tally (tenant, hour, definition_id, definition_version, content, status, is_system, value)
    select tenant, floor(finished / 3600000000), '', 0, '', status, is_system, count(*) from hf_instance
    where finished is not null group by tenant, floor(finished / 3600000000), status, is_system;
