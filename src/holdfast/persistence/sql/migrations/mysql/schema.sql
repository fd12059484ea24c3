-- What all migrations add up to, without rows. Written with each migration; a test compares.

create table hf_migration (
    number int not null, name varbinary(255) not null, checksum varbinary(64) not null, steps int not null,
    applied bigint,
    primary key (number)
) engine = InnoDB row_format = dynamic;

create table hf_counter (
    name varbinary(64) not null, value bigint not null,
    primary key (name)
) engine = InnoDB row_format = dynamic;

create table hf_change (
    lane smallint not null, value bigint not null,
    primary key (lane)
) engine = InnoDB row_format = dynamic;

create table hf_instance (
    tenant varbinary(255) not null, id varbinary(255) not null, version bigint not null,
    burst_id varbinary(255) not null, status varbinary(64) not null, content varbinary(255) not null,
    definition_id varbinary(255) not null, definition_version bigint not null, correlation_id varbinary(1024),
    name varbinary(1024), parent_id varbinary(255), is_system smallint not null, incidents bigint not null,
    created bigint not null, updated bigint not null, finished bigint, state longblob not null,
    first_written bigint, first_entries bigint, first_burst varbinary(255), first_data longblob,
    primary key (tenant, id),
    index hf_instance_created (tenant, status, created),
    index hf_instance_status (tenant, status, updated),
    index hf_instance_finished (tenant, status, finished),
    index hf_instance_definition (tenant, definition_id, status, created),
    index hf_instance_definition_updated (tenant, definition_id, updated),
    index hf_instance_correlation (tenant, correlation_id, created),
    index hf_instance_parent (tenant, parent_id, created),
    index hf_instance_name (tenant, name),
    index hf_instance_incidents (tenant, incidents, created)
) engine = InnoDB row_format = dynamic;

-- Number of instances. hour = -1: by definition, content and status now. Other rows: instances that started or ended in that hour
-- since 1970. Commits insert changes into hf_tally_delta, which are added to hf_tally later.
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

create table hf_journal (
    tenant varbinary(255) not null, instance_id varbinary(255) not null, version bigint not null,
    burst_id varbinary(255) not null, first_entry bigint not null, entries bigint not null, written bigint not null,
    data longblob not null,
    primary key (tenant, instance_id, version)
) engine = InnoDB row_format = dynamic;

create table hf_bookmark (
    tenant varbinary(255) not null, wake_key bigint not null, correlation bigint not null,
    instance_id varbinary(255) not null, seq bigint not null, type varbinary(512) not null,
    activity_id varbinary(512) not null, created bigint not null, payload longblob not null,
    primary key (tenant, wake_key, correlation, instance_id, seq),
    index hf_bookmark_instance (tenant, instance_id)
) engine = InnoDB row_format = dynamic;

create table hf_value (
    tenant varbinary(255) not null, instance_id varbinary(255) not null, ref varbinary(255) not null,
    data longblob not null,
    primary key (tenant, instance_id, ref)
) engine = InnoDB row_format = dynamic;

create table hf_incident (
    tenant varbinary(255) not null, instance_id varbinary(255) not null, id varbinary(255) not null,
    kind varbinary(255) not null, activity_id varbinary(512) not null, occurred bigint not null,
    is_open smallint not null, payload longblob not null,
    primary key (tenant, instance_id, id),
    index hf_incident_open (tenant, is_open, occurred)
) engine = InnoDB row_format = dynamic;

create table hf_effect (
    tenant varbinary(255) not null, instance_id varbinary(255) not null, execution bigint not null,
    attempt bigint not null, owner_node varbinary(255) not null, owner_boot bigint not null,
    activity_id varbinary(512) not null, type varbinary(512) not null, queue varbinary(255) not null,
    on_lost varbinary(64) not null, created bigint not null, deadline bigint, inputs longblob not null,
    primary key (tenant, instance_id, execution),
    index hf_effect_owner (owner_node, owner_boot)
) engine = InnoDB row_format = dynamic;

create table hf_guard (
    tenant varbinary(255) not null, kind varbinary(64) not null, name varbinary(255) not null,
    fingerprint varbinary(255) not null, instance_id varbinary(255) not null, created bigint not null,
    released bigint,
    primary key (tenant, kind, name),
    index hf_guard_instance (tenant, instance_id)
) engine = InnoDB row_format = dynamic;

create table hf_work (
    tenant varbinary(255) not null, id varbinary(255) not null, queue varbinary(255) not null, due bigint not null,
    urgency bigint not null, kind varbinary(64) not null, instance_id varbinary(255),
    bookmark_seq bigint, content varbinary(255) not null, attempts bigint not null, created bigint not null,
    payload longblob not null,
    primary key (tenant, id),
    index hf_work_order (queue, due, urgency),
    index hf_work_instance (tenant, instance_id)
) engine = InnoDB row_format = dynamic;

create table hf_dead_letter (
    tenant varbinary(255) not null, id varbinary(255) not null, queue varbinary(255) not null, due bigint not null,
    urgency bigint not null, kind varbinary(64) not null, instance_id varbinary(255),
    bookmark_seq bigint, content varbinary(255) not null, attempts bigint not null, created bigint not null,
    payload longblob not null, reason varbinary(255) not null, died bigint not null, error longblob not null,
    primary key (tenant, id),
    index hf_dead_letter_died (tenant, died),
    index hf_dead_letter_instance (tenant, instance_id)
) engine = InnoDB row_format = dynamic;

create table hf_inbox (
    tenant varbinary(255) not null, id varbinary(255) not null, wake_key bigint not null,
    correlation bigint not null, instance_id varbinary(255), type varbinary(512) not null, arrived bigint not null,
    expires bigint, payload longblob not null, position bigint not null auto_increment,
    address bigint not null default 0, due bigint not null default 0,
    primary key (tenant, id),
    index hf_inbox_key (tenant, wake_key, correlation),
    index hf_inbox_instance (tenant, instance_id),
    index hf_inbox_expires (expires),
    unique index hf_inbox_position (position),
    index hf_inbox_address (tenant, address)
) engine = InnoDB row_format = dynamic;

create table hf_outbox (
    tenant varbinary(255) not null, id varbinary(255) not null, topic varbinary(255) not null,
    instance_id varbinary(255), created bigint not null, attempts bigint not null, payload longblob not null,
    held_until bigint not null default 0,
    primary key (tenant, id),
    index hf_outbox_order (created),
    index hf_outbox_instance (tenant, instance_id)
) engine = InnoDB row_format = dynamic;

create table hf_schedule (
    tenant varbinary(255) not null, id varbinary(255) not null, definition_id varbinary(255) not null, due bigint,
    fired bigint, payload longblob not null,
    primary key (tenant, id),
    index hf_schedule_definition (tenant, definition_id),
    index hf_schedule_due (due)
) engine = InnoDB row_format = dynamic;

create table hf_node (
    id varbinary(255) not null, boot bigint not null, worker bigint not null, state varbinary(64) not null,
    started bigint not null, heartbeat bigint not null, time_to_live bigint not null, details longblob not null,
    primary key (id)
) engine = InnoDB row_format = dynamic;

create table hf_content (
    tenant varbinary(255) not null, hash varbinary(255) not null, origin varbinary(64) not null,
    created bigint not null, document longblob not null,
    primary key (tenant, hash)
) engine = InnoDB row_format = dynamic;

create table hf_version (
    tenant varbinary(255) not null, definition_id varbinary(255) not null, version bigint not null,
    content varbinary(255) not null, name varbinary(1024) not null, published smallint not null,
    latest smallint not null, created bigint not null, metadata longblob not null,
    primary key (tenant, definition_id, version),
    index hf_version_content (tenant, content)
) engine = InnoDB row_format = dynamic;

create table hf_deployment (
    tenant varbinary(255) not null, definition_id varbinary(255) not null, deployment varbinary(255) not null,
    content varbinary(255) not null,
    primary key (tenant, definition_id, deployment)
) engine = InnoDB row_format = dynamic;

create table hf_trigger (
    tenant varbinary(255) not null, definition_id varbinary(255) not null, id varbinary(255) not null,
    content varbinary(255) not null, version bigint not null, wake_key bigint not null,
    type varbinary(512) not null, activity_id varbinary(512) not null, payload longblob not null,
    primary key (tenant, definition_id, id),
    index hf_trigger_key (tenant, wake_key)
) engine = InnoDB row_format = dynamic;

create table hf_record (
    tenant varbinary(255) not null, kind varbinary(64) not null, id varbinary(255) not null, version bigint not null,
    instance_id varbinary(255), owner varbinary(255) not null, status varbinary(64) not null, due bigint,
    created bigint not null, updated bigint not null, payload longblob not null,
    primary key (tenant, kind, id),
    index hf_record_created (tenant, kind, created),
    index hf_record_owner (tenant, kind, owner),
    index hf_record_instance (tenant, instance_id)
) engine = InnoDB row_format = dynamic;
