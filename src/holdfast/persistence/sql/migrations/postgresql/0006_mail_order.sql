-- Kept stimuli of one address are delivered in the order of their position, which the database assigns. Delayed ones wait here.

alter table hf_inbox
    add column position bigint generated always as identity, add column address bigint not null default 0,
    add column due bigint not null default 0;
create index hf_inbox_address on hf_inbox (tenant, address);
alter type hf_row_inbox_added add attribute address bigint, add attribute due bigint;
