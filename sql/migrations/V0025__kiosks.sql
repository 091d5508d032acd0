-- Kiosks: screens in the hall at which members help themselves.

-- A kiosk is a browser with a key of its own, until somebody revokes it.
CREATE TABLE kiosks (
    kiosk_id   INTEGER PRIMARY KEY,
    name       TEXT    NOT NULL,                     -- where it stands
    key_hash   BLOB    UNIQUE,                       -- SHA-256 of the key in its cookie; NULL once it is revoked
    paired_by  INTEGER,                              -- the clerk; NULL from the shell. No reference: the kiosk stays when
                                                     -- the clerk goes
    paired_at  INTEGER NOT NULL,
    used_at    INTEGER NOT NULL,                     -- the latest sign-in there
    revoked_at INTEGER
) STRICT;

-- A code that a clerk made and a kiosk has not taken yet.
CREATE TABLE kiosk_pairings (
    code_hash BLOB    PRIMARY KEY,                   -- keyed: eight digits could all be tried
    name      TEXT    NOT NULL,
    made_by   INTEGER,
    ends_at   INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

-- Who stands before a kiosk now; one a kiosk.
CREATE TABLE kiosk_guests (
    kiosk_id  INTEGER PRIMARY KEY REFERENCES kiosks,
    member_id INTEGER NOT NULL REFERENCES members,
    seen_at   INTEGER NOT NULL
) STRICT;
CREATE INDEX kiosk_guests_by_member ON kiosk_guests (member_id);

-- What a member's app shows to a kiosk as a QR code; one a member, for one use.
CREATE TABLE kiosk_codes (
    member_id INTEGER PRIMARY KEY REFERENCES members,
    code_hash BLOB    NOT NULL UNIQUE,               -- SHA-256: the code has 66 random bits and lives two minutes
    ends_at   INTEGER NOT NULL
) STRICT;
