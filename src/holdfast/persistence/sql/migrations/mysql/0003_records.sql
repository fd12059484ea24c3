-- Records: small documents beside instances (human tasks, users, keys, alteration plans).

create table hf_record (
    tenant varbinary(255) not null, kind varbinary(64) not null, id varbinary(255) not null, version bigint not null,
    instance_id varbinary(255), owner varbinary(255) not null, status varbinary(64) not null, due bigint,
    created bigint not null, updated bigint not null, payload longblob not null,
    primary key (tenant, kind, id),
    index hf_record_created (tenant, kind, created),
    index hf_record_owner (tenant, kind, owner),
    index hf_record_instance (tenant, instance_id)
) engine = InnoDB row_format = dynamic;
