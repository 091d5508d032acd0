-- What opens an account: how fresh a session's proof is, which token an answer handed out, what a guest of a kiosk holds,
-- and the changes that their owner can undo.

-- The latest moment at which the session's holder proved who they are: by signing in, or by password or code since.
ALTER TABLE sessions ADD COLUMN proven_at INTEGER NOT NULL DEFAULT 0;

-- Sessions of the desk and of admins end after a day, also those that were opened before this was so.
UPDATE sessions SET ends_at = min(ends_at, created_at + 86400)
WHERE member_id IN (SELECT member_id FROM members WHERE role IN ('desk', 'admin'));

-- SHA-256 of the token that the answer hands out; NULL where it hands out none. The answer is given again while the token
-- is in force.
ALTER TABLE replays ADD COLUMN token_hash BLOB;

-- SHA-256 of the token in the guest's own cookie: the kiosk's key alone shows nobody. NULL from before there was one.
ALTER TABLE kiosk_guests ADD COLUMN token_hash BLOB;

-- What a change of the ways into an account can be undone to, by a token in the mail that told of the change.
CREATE TABLE undos (
    token_hash      BLOB    PRIMARY KEY,             -- SHA-256 of the token
    member_id       INTEGER NOT NULL REFERENCES members,
    event           TEXT    NOT NULL,                -- password_changed and so on: what was changed
    email           TEXT    NOT NULL,                -- before the change
    email_confirmed INTEGER NOT NULL CHECK (email_confirmed IN (0, 1)),
    phone           TEXT    NOT NULL,
    phone_confirmed INTEGER NOT NULL CHECK (phone_confirmed IN (0, 1)),
    made_at         INTEGER NOT NULL,
    ends_at         INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
CREATE INDEX undos_by_member ON undos (member_id);
CREATE INDEX undos_by_end ON undos (ends_at);
