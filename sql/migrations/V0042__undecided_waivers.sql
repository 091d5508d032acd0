-- Signed waivers in which something was answered with yes, for the desk's list of those that wait for a decision.
CREATE INDEX waiver_signatures_by_yes ON waiver_signatures (signed_at, signature_id) WHERE instr(answers, 'y') > 0;

-- Pictures of the safety brief, as they are shown below its text; a row stays when its picture is taken away, to say what was
-- shown when.
CREATE TABLE brief_pictures (
    picture_id INTEGER PRIMARY KEY AUTOINCREMENT,
    jpeg       BLOB    NOT NULL,                     -- made anew here
    added_at   INTEGER NOT NULL,
    added_by   INTEGER,                              -- the admin; no reference, because the picture stays when the admin goes
    removed_at INTEGER                               -- null: it is shown
) STRICT;
