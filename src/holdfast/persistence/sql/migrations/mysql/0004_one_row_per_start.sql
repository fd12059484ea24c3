-- The first segment of a journal lies in its instance, work has no rank.

alter table hf_instance
    add column first_written bigint, add column first_entries bigint, add column first_burst varbinary(255),
    add column first_data longblob;
alter table hf_work drop index hf_work_order, drop column fair_rank, add index hf_work_order (queue, due, urgency);
alter table hf_dead_letter drop column fair_rank;
