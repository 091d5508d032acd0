-- What the public sees and writes, and what the site reminds its members of.

-- What was written in the contact form.
CREATE TABLE contact_messages (
    contact_id INTEGER PRIMARY KEY AUTOINCREMENT,
    name       TEXT    NOT NULL,
    email      TEXT    NOT NULL,
    country    TEXT    NOT NULL DEFAULT '',          -- as it was written
    enquiry    TEXT    NOT NULL DEFAULT '',          -- what it is about, in the sender's words or the form's
    message    TEXT    NOT NULL,
    language   TEXT    NOT NULL,                     -- ISO 639-1
    member_id  INTEGER,                              -- as the sender gave it: perhaps nobody's, so it is no reference
    signed_in  INTEGER NOT NULL DEFAULT 0 CHECK (signed_in IN (0, 1)),  -- 1: it came with that member's session
    created_at INTEGER NOT NULL,
    done_at    INTEGER                               -- the desk is through with it
) STRICT;
CREATE INDEX contact_messages_open ON contact_messages (contact_id) WHERE done_at IS NULL;
CREATE INDEX contact_messages_done ON contact_messages (done_at) WHERE done_at IS NOT NULL;

-- What an app shows of a tunnel.
ALTER TABLE tunnels ADD COLUMN time_zone TEXT NOT NULL DEFAULT '';  -- as IANA names it
ALTER TABLE tunnels ADD COLUMN website TEXT NOT NULL DEFAULT '';    -- http:// or https://
ALTER TABLE tunnels ADD COLUMN phone TEXT NOT NULL DEFAULT '';      -- E.164

-- Reminders that were given: each once, and none anew unless the currency got another end.
CREATE TABLE reminders (
    member_id  INTEGER NOT NULL REFERENCES members,
    programme  TEXT    NOT NULL,
    kind       TEXT    NOT NULL CHECK (kind IN ('first', 'last')),
    renewal    INTEGER NOT NULL,                     -- the end of the currency that it speaks of
    created_at INTEGER NOT NULL,
    PRIMARY KEY (member_id, programme, kind, renewal)
) STRICT, WITHOUT ROWID;
CREATE INDEX reminders_by_renewal ON reminders (renewal);

-- Who flew or was trained when, for the reminders.
CREATE INDEX entries_flown ON entries (entry_date, entry_id, member_id) WHERE kind = 'time';
CREATE INDEX entries_trained ON entries (entry_date, entry_id, member_id) WHERE kind = 'safety' AND status = 'open';

-- The language in which a member signed in last, for what is written without being asked. '': not known.
ALTER TABLE members ADD COLUMN language TEXT NOT NULL DEFAULT '';

CREATE INDEX notices_unread ON notices (member_id) WHERE read_at IS NULL;
