-- Colleagues who were invited and have not come yet: the account is made when the code is used.
CREATE TABLE invitations (
    invitation_id INTEGER PRIMARY KEY,
    code_hash     BLOB    NOT NULL UNIQUE,                 -- keyed, of the code
    form_number   INTEGER NOT NULL UNIQUE,                 -- the same form sent twice is one invitation
    name          TEXT    NOT NULL,
    email         TEXT    NOT NULL COLLATE NOCASE,         -- where the code was mailed; empty: it was printed
    role          TEXT    NOT NULL CHECK (role IN ('member', 'desk', 'admin')),
    language      TEXT    NOT NULL,                        -- in which the colleague reads
    invited_by    INTEGER NOT NULL REFERENCES members,     -- good while that is an admin
    created_at    INTEGER NOT NULL,
    ends_at       INTEGER NOT NULL
) STRICT;
CREATE INDEX invitations_by_inviter ON invitations (invited_by);
CREATE INDEX invitations_by_email ON invitations (email);
CREATE INDEX invitations_by_end ON invitations (ends_at);
