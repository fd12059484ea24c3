-- Lists of one definition's instances, and what still needs its content.

create index hf_instance_definition on hf_instance (tenant, definition_id, created);
