-- Who was taken out of the file, for ever: a file that comes back from a backup learns it again. Numbers and moments, and
-- nothing else. With the moment of joining, because a number alone could be another person's in a file that was set back.
CREATE TABLE erasures (
    member_id  INTEGER PRIMARY KEY,                  -- no reference: in a file that was set back there may be no such member
    join_date  INTEGER NOT NULL,
    erased_at  INTEGER NOT NULL,
    rebuilt_at INTEGER                               -- since then no page of the file holds old bytes; null: that is still to do
) STRICT;

-- What belongs to a person is found by the person: for an export of it, and for its end.
CREATE INDEX entries_by_instructor ON entries (instructor_id) WHERE instructor_id IS NOT NULL;
CREATE INDEX entries_by_another ON entries (author_id) WHERE author_id <> member_id;
CREATE INDEX entry_moves_by_member ON entry_moves (member_id);
CREATE INDEX history_by_member ON history (member_id) WHERE member_id IS NOT NULL;
CREATE INDEX signers_by_appointer ON signers (appointed_by) WHERE appointed_by IS NOT NULL;
CREATE INDEX signers_by_ender ON signers (ended_by) WHERE ended_by IS NOT NULL;
CREATE INDEX payments_by_name ON payments (named_member) WHERE named_member IS NOT NULL;
CREATE INDEX payments_by_claim ON payments (claimed_by) WHERE claimed_by IS NOT NULL;
CREATE INDEX payments_by_desk ON payments (assigned_to) WHERE assigned_to IS NOT NULL;
CREATE INDEX payments_by_grant ON payments (granted_to) WHERE granted_to IS NOT NULL;
CREATE INDEX contact_messages_by_member ON contact_messages (member_id) WHERE member_id IS NOT NULL;
CREATE INDEX contact_messages_by_address ON contact_messages (email COLLATE NOCASE);
CREATE INDEX outbox_by_recipient ON outbox (recipient COLLATE NOCASE);
CREATE INDEX partner_users_by_address ON partner_users (email);
CREATE INDEX callbacks_by_matter ON callbacks (about) WHERE about <> '';
