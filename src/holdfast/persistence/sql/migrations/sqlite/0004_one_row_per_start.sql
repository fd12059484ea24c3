-- The first segment of a journal lies in its instance, work has no rank.

alter table hf_instance add column first_written integer;
alter table hf_instance add column first_entries integer;
alter table hf_instance add column first_burst text;
alter table hf_instance add column first_data blob;

drop index hf_work_order;
alter table hf_work drop column fair_rank;
create index hf_work_order on hf_work (queue, due, urgency);
alter table hf_dead_letter drop column fair_rank;
