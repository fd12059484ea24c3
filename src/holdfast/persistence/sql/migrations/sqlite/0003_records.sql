-- Records: small documents beside instances (human tasks, users, keys, alteration plans).

create table hf_record (
    tenant text not null, kind text not null, id text not null, version integer not null, instance_id text,
    owner text not null, status text not null, due integer, created integer not null, updated integer not null,
    payload blob not null,
    primary key (tenant, kind, id)
) without rowid;
create index hf_record_created on hf_record (tenant, kind, created);
create index hf_record_owner on hf_record (tenant, kind, owner);
create index hf_record_instance on hf_record (tenant, instance_id) where instance_id is not null;
