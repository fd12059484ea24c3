-- Kept stimuli of one address are delivered in the order of their position, which the database assigns. Delayed ones wait here.

alter table hf_inbox
    add column position bigint not null auto_increment, add column address bigint not null default 0,
    add column due bigint not null default 0, add unique index hf_inbox_position (position),
    add index hf_inbox_address (tenant, address);
