-- An instance that goes on carries its segment of the journal: one row of a commit instead of two.
-- Nodes of older versions must not run any more.

alter type hf_row_changed
    add attribute first_entry integer, add attribute entries integer, add attribute written bigint, add attribute data bytea;
