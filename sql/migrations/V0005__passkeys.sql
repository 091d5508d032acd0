-- Passkeys, and the challenges that wait for a browser's answer.

CREATE TABLE passkeys (
    passkey_id    INTEGER PRIMARY KEY AUTOINCREMENT,
    member_id     INTEGER NOT NULL REFERENCES members,
    rp_id         TEXT    NOT NULL,                  -- the name of the site that it was made for; it works at no other
    credential_id BLOB    NOT NULL UNIQUE,
    public_key    TEXT    NOT NULL,                  -- JSON: the key and what its authenticator said of itself
    counter       INTEGER NOT NULL DEFAULT 0,        -- of signatures, at the last sign-in; stays 0 where the authenticator has none
    name          TEXT    NOT NULL,
    device_id     INTEGER,                           -- as the client gave it
    created_at    INTEGER NOT NULL,
    used_at       INTEGER
) STRICT;
CREATE INDEX passkeys_by_member ON passkeys (member_id, passkey_id);

-- Each is removed by the transaction that uses it.
CREATE TABLE passkey_challenges (
    challenge_hash BLOB    PRIMARY KEY,              -- keyed
    kind           TEXT    NOT NULL CHECK (kind IN ('sign_in', 'register')),
    member_id      INTEGER NOT NULL,                 -- 0: nobody has that name, or the member has no passkey; that costs
                                                     -- as much as a member, so it is no reference and every row is indexed
    session_hash   BLOB,                             -- registering: the session that asked, which must still be in force
    sealed         BLOB    NOT NULL,                 -- what the answer is checked against
    created_at     INTEGER NOT NULL,
    ends_at        INTEGER NOT NULL,
    CHECK (kind = 'sign_in' OR (member_id <> 0 AND session_hash IS NOT NULL))
) STRICT, WITHOUT ROWID;
CREATE INDEX passkey_challenges_by_member ON passkey_challenges (member_id);
CREATE INDEX passkey_challenges_by_end ON passkey_challenges (ends_at);
