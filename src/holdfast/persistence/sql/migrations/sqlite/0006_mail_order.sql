-- Kept stimuli of one address are delivered in the order of their position, which the database assigns. Delayed ones wait here.

alter table hf_inbox add column position integer not null default 0;
alter table hf_inbox add column address integer not null default 0;
alter table hf_inbox add column due integer not null default 0;
update hf_inbox set position = (select count(*) from hf_inbox o
    where (o.arrived, o.tenant, o.id) <= (hf_inbox.arrived, hf_inbox.tenant, hf_inbox.id));
create index hf_inbox_position on hf_inbox (position);
create index hf_inbox_address on hf_inbox (tenant, address);
create trigger hf_inbox_append after insert on hf_inbox begin update hf_inbox set position = (select max(position) from hf_inbox) + 1 where tenant = new.tenant and id = new.id; end;
