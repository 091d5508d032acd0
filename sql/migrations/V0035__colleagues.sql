-- What staff note of a member and of a shift, bans with a reason and an end, and sessions that wait at a shared screen.
ALTER TABLE members ADD COLUMN staff_note TEXT NOT NULL DEFAULT '';      -- for colleagues; shown to staff alone
ALTER TABLE members ADD COLUMN ban_reason TEXT NOT NULL DEFAULT '';
ALTER TABLE members ADD COLUMN banned_until INTEGER;                     -- null: until somebody lifts the ban
CREATE INDEX members_banned_until ON members (banned_until) WHERE banned_until IS NOT NULL;

ALTER TABLE sessions ADD COLUMN parked_at INTEGER;                       -- waits at a shared screen since then, and opens nothing
ALTER TABLE sessions ADD COLUMN pin_misses INTEGER NOT NULL DEFAULT 0;   -- wrong PINs while it waits

ALTER TABLE email_tokens ADD COLUMN takes_over INTEGER NOT NULL DEFAULT 0 CHECK (takes_over IN (0, 1)); -- the address replaces the confirmed one

CREATE TABLE shift_note (
    only       INTEGER PRIMARY KEY CHECK (only = 1),
    text       TEXT    NOT NULL,
    member_id  INTEGER NOT NULL REFERENCES members,                      -- who wrote it
    written_at INTEGER NOT NULL
) STRICT;
