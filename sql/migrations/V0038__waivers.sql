-- Waivers, guardians, briefs and consents: what the operator has people sign before they fly, and who signed it.

-- What people sign, confirm or consent to: the operator's own words. A text that was published is never changed: a new
-- version stands beside it.
CREATE TABLE site_texts (
    kind         TEXT    NOT NULL CHECK (kind IN ('waiver', 'brief', 'photos', 'newsletter')),
    version      INTEGER NOT NULL,                   -- from 1 on, of each kind
    language     TEXT    NOT NULL,                   -- ISO 639-1
    title        TEXT    NOT NULL,
    body         TEXT    NOT NULL,
    questions    TEXT    NOT NULL,                   -- one a line, each answered by yes or no; the same number in each language
    text_hash    BLOB    NOT NULL,                   -- SHA-256 of title, body and questions as they are printed
    asks_again   INTEGER NOT NULL CHECK (asks_again IN (0, 1)), -- who signed an earlier version signs this one too
    published_at INTEGER NOT NULL,
    published_by INTEGER,                            -- the admin; no reference, because the text stays when the admin goes
    PRIMARY KEY (kind, version, language)
) STRICT, WITHOUT ROWID;

-- What is being written, until it is published.
CREATE TABLE site_text_drafts (
    kind      TEXT    NOT NULL,
    language  TEXT    NOT NULL,
    title     TEXT    NOT NULL,
    body      TEXT    NOT NULL,
    questions TEXT    NOT NULL,
    saved_at  INTEGER NOT NULL,
    PRIMARY KEY (kind, language)
) STRICT, WITHOUT ROWID;

-- A waiver that was signed for one flyer. Rows are added and never changed.
CREATE TABLE waiver_signatures (
    signature_id INTEGER PRIMARY KEY AUTOINCREMENT,
    member_id    INTEGER NOT NULL REFERENCES members, -- who flies
    version      INTEGER NOT NULL,
    language     TEXT    NOT NULL,
    text_hash    BLOB    NOT NULL,                   -- that of the text that was shown
    signed_at    INTEGER NOT NULL,
    place        TEXT    NOT NULL CHECK (place IN ('kiosk', 'phone', 'desk', 'app')),
    flyer_name   TEXT    NOT NULL,
    born         INTEGER NOT NULL,                   -- midnight of the day of birth in UTC
    relation     TEXT    NOT NULL CHECK (relation IN ('self', 'parent', 'guardian', 'permission')), -- of the signer to the flyer
    signer_name  TEXT    NOT NULL,                   -- as it was typed
    signer_id    INTEGER REFERENCES members,         -- the signer's own account, where it is another's than the flyer's
    strokes      TEXT    NOT NULL,                   -- the drawn signature as an SVG path; empty: the typed name is the signature
    answers      TEXT    NOT NULL CHECK (answers NOT GLOB '*[^yn]*'), -- y or n for each question, in their order
    witness_id   INTEGER,                            -- the clerk at the desk; no reference, because the paper stays
    kept         INTEGER NOT NULL CHECK (kept IN (0, 1)), -- whether it outlives the account
    kept_until   INTEGER                             -- removed then, with or without the account; null: kept as long as the account
) STRICT;
CREATE INDEX waiver_signatures_by_member ON waiver_signatures (member_id, signature_id);
CREATE INDEX waiver_signatures_by_signer ON waiver_signatures (signer_id) WHERE signer_id IS NOT NULL;
CREATE INDEX waiver_signatures_by_end ON waiver_signatures (kept_until) WHERE kept_until IS NOT NULL;

-- What staff decided on a declaration in which something was answered with yes; the last one counts.
CREATE TABLE waiver_decisions (
    decision_id  INTEGER PRIMARY KEY AUTOINCREMENT,
    signature_id INTEGER NOT NULL REFERENCES waiver_signatures,
    may_fly      INTEGER NOT NULL CHECK (may_fly IN (0, 1)),
    word         TEXT    NOT NULL,                   -- why
    decided_by   INTEGER,                            -- the clerk; no reference, because the decision stays
    decided_at   INTEGER NOT NULL
) STRICT;
CREATE INDEX waiver_decisions_by_signature ON waiver_decisions (signature_id, decision_id);

-- Somebody flies for a day without a waiver in force, because staff says so.
CREATE TABLE waiver_overrides (
    override_id INTEGER PRIMARY KEY AUTOINCREMENT,
    member_id   INTEGER NOT NULL REFERENCES members,
    reason      TEXT    NOT NULL,
    made_by     INTEGER,                             -- the clerk; no reference
    made_at     INTEGER NOT NULL,
    ends_at     INTEGER NOT NULL
) STRICT;
CREATE INDEX waiver_overrides_by_member ON waiver_overrides (member_id, ends_at);

-- Codes by which somebody signs on a telephone; each for one signing.
CREATE TABLE signing_links (
    code_hash  BLOB    PRIMARY KEY,                  -- keyed, of the code
    member_id  INTEGER NOT NULL REFERENCES members,
    created_at INTEGER NOT NULL,
    ends_at    INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
CREATE INDEX signing_links_by_member ON signing_links (member_id);
CREATE INDEX signing_links_by_end ON signing_links (ends_at);

-- Who acts for a child: signs, and checks in. Ends by itself when the child is of age.
CREATE TABLE guardianships (
    guardianship_id INTEGER PRIMARY KEY AUTOINCREMENT,
    child_id    INTEGER NOT NULL REFERENCES members,
    guardian_id INTEGER NOT NULL REFERENCES members,
    relation    TEXT    NOT NULL CHECK (relation IN ('parent', 'guardian', 'permission')),
    permission  TEXT    NOT NULL DEFAULT '',         -- what staff saw: whose written permission, of which day
    made_by     INTEGER,                             -- the clerk; null: the guardian
    made_at     INTEGER NOT NULL,
    ended_at    INTEGER,
    CHECK (child_id <> guardian_id)
) STRICT;
CREATE UNIQUE INDEX guardianships_in_force ON guardianships (child_id, guardian_id) WHERE ended_at IS NULL;
CREATE INDEX guardianships_by_child ON guardianships (child_id);
CREATE INDEX guardianships_by_guardian ON guardianships (guardian_id);

-- Whom staff calls when something happens.
CREATE TABLE emergency_contacts (
    member_id  INTEGER PRIMARY KEY REFERENCES members,
    name       TEXT    NOT NULL,
    phone      TEXT    NOT NULL,
    updated_at INTEGER NOT NULL
) STRICT;

-- The register of consents: what was said to which text, and when. The last row of a kind counts.
CREATE TABLE consents (
    consent_id INTEGER PRIMARY KEY AUTOINCREMENT,
    member_id  INTEGER NOT NULL REFERENCES members,
    kind       TEXT    NOT NULL CHECK (kind IN ('photos', 'newsletter')),
    given      INTEGER NOT NULL CHECK (given IN (0, 1)),
    version    INTEGER NOT NULL,
    language   TEXT    NOT NULL,
    text_hash  BLOB    NOT NULL,
    said_at    INTEGER NOT NULL,
    place      TEXT    NOT NULL CHECK (place IN ('kiosk', 'phone', 'desk', 'app')),
    said_by    INTEGER REFERENCES members            -- the guardian or the clerk, where it was not the member
) STRICT;
CREATE INDEX consents_by_member ON consents (member_id, kind, consent_id);
CREATE INDEX consents_by_speaker ON consents (said_by) WHERE said_by IS NOT NULL;

-- Who has read the safety brief, and which.
CREATE TABLE brief_confirmations (
    confirmation_id INTEGER PRIMARY KEY AUTOINCREMENT,
    member_id    INTEGER NOT NULL REFERENCES members,
    version      INTEGER NOT NULL,
    language     TEXT    NOT NULL,
    text_hash    BLOB    NOT NULL,
    confirmed_at INTEGER NOT NULL
) STRICT;
CREATE INDEX brief_confirmations_by_member ON brief_confirmations (member_id, confirmation_id);

-- The flight time of a booking whose member had no waiver in force: 1 waits for the check-in, 2 was entered by it.
ALTER TABLE bookings ADD COLUMN time_waits INTEGER NOT NULL DEFAULT 0 CHECK (time_waits IN (0, 1, 2));

CREATE TRIGGER site_texts_stay BEFORE DELETE ON site_texts BEGIN
    SELECT RAISE(ABORT, 'a text that was published is never removed');
END;
CREATE TRIGGER site_texts_keep_their_words BEFORE UPDATE ON site_texts BEGIN
    SELECT RAISE(ABORT, 'a text that was published is never changed');
END;
CREATE TRIGGER waiver_signatures_keep_their_words BEFORE UPDATE ON waiver_signatures BEGIN
    SELECT RAISE(ABORT, 'a signed waiver is never changed');
END;
CREATE TRIGGER waiver_decisions_keep_their_words BEFORE UPDATE ON waiver_decisions BEGIN
    SELECT RAISE(ABORT, 'a decision is never changed');
END;
CREATE TRIGGER consents_keep_their_words BEFORE UPDATE ON consents BEGIN
    SELECT RAISE(ABORT, 'a consent is never changed');
END;
