-- Records: small documents beside instances (human tasks, users, keys, alteration plans).

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

create type hf_row_record as (
    number integer, tenant text, kind text, id text, version integer, instance_id text, owner text, status text, due
    bigint, created bigint, updated bigint, payload bytea
);
