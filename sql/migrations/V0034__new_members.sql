-- New members at the desk.

-- Who was registered at the desk, by whom, and by which form: the same form sent twice is one member.
CREATE TABLE registrations (
    form_number   INTEGER PRIMARY KEY,
    member_id     INTEGER NOT NULL UNIQUE REFERENCES members,
    registered_by INTEGER REFERENCES members,        -- the clerk
    registered_at INTEGER NOT NULL
) STRICT;
CREATE INDEX registrations_by_clerk ON registrations (registered_by);

-- Codes by which the owner of an account that the desk made chooses a username and a password, and has it from then on.
CREATE TABLE account_claims (
    code_hash  BLOB    PRIMARY KEY,                  -- keyed, of the code
    member_id  INTEGER NOT NULL REFERENCES members,
    email      TEXT    NOT NULL COLLATE NOCASE,      -- where the code was mailed; empty: it was printed
    created_at INTEGER NOT NULL,
    ends_at    INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
CREATE INDEX account_claims_by_member ON account_claims (member_id);
CREATE INDEX account_claims_by_end ON account_claims (ends_at);

-- Whether somebody is a member already is asked by the day of birth and the name.
CREATE INDEX members_by_birth ON members (dob, real_name COLLATE NOCASE) WHERE dob IS NOT NULL;
