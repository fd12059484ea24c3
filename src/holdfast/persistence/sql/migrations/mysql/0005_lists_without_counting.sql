-- Lists read a range of an index for every filter and sort.

alter table hf_instance
    drop index hf_instance_created, drop index hf_instance_finished, drop index hf_instance_definition,
    drop index hf_instance_correlation, drop index hf_instance_parent,
    add index hf_instance_created (tenant, status, created),
    add index hf_instance_finished (tenant, status, finished),
    add index hf_instance_definition (tenant, definition_id, status, created),
    add index hf_instance_definition_updated (tenant, definition_id, updated),
    add index hf_instance_correlation (tenant, correlation_id, created),
    add index hf_instance_parent (tenant, parent_id, created),
    add index hf_instance_name (tenant, name),
    add index hf_instance_incidents (tenant, incidents, created);
