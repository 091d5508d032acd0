-- What a member proves beside the password, and the key behind the keyed hashes.

-- One row a member who has a second factor, or is setting one up.
CREATE TABLE second_factors (
    member_id      INTEGER PRIMARY KEY REFERENCES members,
    kind           TEXT    CHECK (kind IN ('totp', 'passcode')),  -- what is on; null: nothing yet
    sealed         BLOB,                             -- the authenticator's secret, sealed
    last_step      INTEGER NOT NULL DEFAULT 0,       -- time step of the last code that was used: none up to it works again
    since          INTEGER,
    sealed_pending BLOB,                             -- a secret that was handed out and not proven yet, sealed
    pending_until  INTEGER NOT NULL DEFAULT 0,
    CHECK ((kind IS 'totp') = (sealed IS NOT NULL))
) STRICT;

-- Each works once, and is gone then.
CREATE TABLE recovery_codes (
    member_id INTEGER NOT NULL REFERENCES members,
    code_hash BLOB    NOT NULL,                      -- keyed
    PRIMARY KEY (member_id, code_hash)
) STRICT, WITHOUT ROWID;

-- The key of the keyed hashes, sealed by the site key, so that the site key can change and they stay. Null: a file from
-- before, whose hashes are keyed by the site key itself; the next start seals that one in here.
ALTER TABLE site ADD COLUMN sealed_hash_key BLOB;
