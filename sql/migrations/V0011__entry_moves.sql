-- Who may sign for others at a tunnel: a list that the tunnel keeps. By itself a row gives nothing: whoever signs must
-- hold the level and be current at that moment.
CREATE TABLE signers (
    signer_id    INTEGER PRIMARY KEY AUTOINCREMENT,
    tunnel_id    INTEGER NOT NULL REFERENCES tunnels,
    member_id    INTEGER NOT NULL REFERENCES members,
    cat_group    TEXT    NOT NULL,                   -- the programme as whose holder they sign: Instructor, Trainer …
    cat_id       TEXT    NOT NULL DEFAULT '',        -- a first signer's: stands in for this level, and for a training on
                                                     -- the day of the appointment; '' for everybody else
    appointed_by INTEGER REFERENCES members,         -- null: at the machine's shell
    appointed_at INTEGER NOT NULL,
    ended_by     INTEGER REFERENCES members,
    ended_at     INTEGER                             -- null: in force
) STRICT;
CREATE UNIQUE INDEX signers_in_force ON signers (tunnel_id, member_id, cat_group) WHERE ended_at IS NULL;
CREATE INDEX signers_by_member ON signers (member_id);

-- Every move of a skill or safety entry: who, when, from, to. Numbers and states only; a row outlives its entry.
CREATE TABLE entry_moves (
    entry_id    INTEGER NOT NULL,
    step        INTEGER NOT NULL,                    -- from 1 on
    at          INTEGER NOT NULL,
    member_id   INTEGER NOT NULL,                    -- who moved it
    from_status TEXT    CHECK (from_status IN ('pending', 'open', 'denied', 'suspended', 'cancelled')),  -- null: it began
    to_status   TEXT    NOT NULL CHECK (to_status IN ('pending', 'open', 'denied', 'suspended', 'cancelled', 'deleted')),
    PRIMARY KEY (entry_id, step),
    CHECK (step = 1 OR from_status IS NOT NULL)
) STRICT, WITHOUT ROWID;
CREATE TRIGGER entry_moves_are_kept BEFORE DELETE ON entry_moves BEGIN SELECT RAISE(ABORT, 'entry_moves is append-only'); END;
CREATE TRIGGER entry_moves_are_final BEFORE UPDATE ON entry_moves BEGIN SELECT RAISE(ABORT, 'entry_moves is append-only'); END;
-- What was there before its moves were kept begins in the state that it has.
INSERT INTO entry_moves (entry_id, step, at, member_id, from_status, to_status)
    SELECT entry_id, 1, created_at, author_id, NULL, status FROM entries WHERE kind <> 'time';

-- The opening balance that an entry is part of, by the number of its first entry: what somebody brought along from before.
ALTER TABLE entries ADD COLUMN opening INTEGER;
CREATE INDEX entries_by_opening ON entries (opening) WHERE opening IS NOT NULL;
