-- What leaves the house, and the passcodes that go with it.

-- Messages wait here until they are sent; with no server configured the desk reads them to the member.
CREATE TABLE outbox (
    message_id  INTEGER PRIMARY KEY AUTOINCREMENT,
    channel     TEXT    NOT NULL CHECK (channel IN ('email', 'sms')),
    member_id   INTEGER REFERENCES members,
    recipient   TEXT    NOT NULL,
    language    TEXT    NOT NULL,                    -- ISO 639-1
    template    TEXT    NOT NULL,                    -- its name in assets/mail
    sealed      BLOB,                                -- the template's values as JSON, sealed; null once it is sent
    state       TEXT    NOT NULL DEFAULT 'waiting' CHECK (state IN ('waiting', 'sent', 'dead')),
    tries       INTEGER NOT NULL DEFAULT 0,
    next_try_at INTEGER NOT NULL,
    last_error  TEXT    NOT NULL DEFAULT '',         -- what the server said, without the message
    provider_id TEXT    NOT NULL DEFAULT '',         -- how the mail provider's events name it
    created_at  INTEGER NOT NULL,
    sent_at     INTEGER
) STRICT;
CREATE INDEX outbox_due ON outbox (next_try_at) WHERE state = 'waiting';
CREATE INDEX outbox_by_provider ON outbox (provider_id) WHERE provider_id <> '';
CREATE INDEX outbox_by_member ON outbox (member_id) WHERE member_id IS NOT NULL;

-- One live passcode a member and purpose.
CREATE TABLE passcodes (
    member_id  INTEGER NOT NULL REFERENCES members,
    purpose    TEXT    NOT NULL,
    code_hash  BLOB    NOT NULL,                     -- keyed
    target     TEXT    NOT NULL,                     -- the address or number it went to
    tries      INTEGER NOT NULL DEFAULT 0,
    created_at INTEGER NOT NULL,
    ends_at    INTEGER NOT NULL,
    PRIMARY KEY (member_id, purpose)
) STRICT, WITHOUT ROWID;

-- When passcodes went to an address (hashed), for the limit an hour.
CREATE TABLE passcode_sends (
    address_hash BLOB    NOT NULL,
    sent_at      INTEGER NOT NULL
) STRICT;
CREATE INDEX passcode_sends_by_address ON passcode_sends (address_hash, sent_at);
CREATE INDEX passcode_sends_by_age ON passcode_sends (sent_at);
