-- Who vouches for a member: an account at a social network.
CREATE TABLE social_links (
    provider   TEXT    NOT NULL CHECK (provider IN ('google', 'apple', 'facebook')),
    subject    TEXT    NOT NULL,                     -- how the network names the person, for ever
    member_id  INTEGER NOT NULL REFERENCES members,
    created_at INTEGER NOT NULL,
    used_at    INTEGER NOT NULL,                     -- the latest sign-in by it
    PRIMARY KEY (provider, subject)
) STRICT, WITHOUT ROWID;
CREATE INDEX social_links_by_member ON social_links (member_id);
