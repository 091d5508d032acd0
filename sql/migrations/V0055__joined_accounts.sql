-- Accounts of one person that were joined into another one, the survivor; the number of a joined account leads to it.
CREATE TABLE joins (
    join_id     INTEGER PRIMARY KEY AUTOINCREMENT,
    joined_id   INTEGER NOT NULL REFERENCES members,
    survivor_id INTEGER NOT NULL REFERENCES members,
    joined_by   INTEGER,                             -- the admin; no reference
    joined_at   INTEGER NOT NULL,
    paid_from   INTEGER,                             -- the survivor's paid_until before, where the join made it later
    paid_to     INTEGER,                             -- and what it made of it; null: nothing
    undone_at   INTEGER,
    CHECK (joined_id <> survivor_id)
) STRICT;

-- What a join moved, so that it can be undone within a day.
CREATE TABLE joined_rows (
    join_id     INTEGER NOT NULL REFERENCES joins,
    table_name  TEXT    NOT NULL,
    column_name TEXT    NOT NULL,
    row_key     ANY     NOT NULL,                    -- the row's key: a number, or a text
    PRIMARY KEY (join_id, table_name, column_name, row_key)
) STRICT, WITHOUT ROWID;

-- Somebody signed up alone whose name, address or number is also another member's: the desk looks whether it is one person.
CREATE TABLE alikes (
    member_id  INTEGER PRIMARY KEY REFERENCES members,
    other_id   INTEGER NOT NULL REFERENCES members,
    noted_at   INTEGER NOT NULL,
    settled_at INTEGER
) STRICT;

CREATE UNIQUE INDEX joins_in_force ON joins (joined_id) WHERE undone_at IS NULL;
CREATE INDEX joins_by_joined ON joins (joined_id);
CREATE INDEX joins_by_survivor ON joins (survivor_id);
CREATE INDEX alikes_open ON alikes (noted_at) WHERE settled_at IS NULL;
CREATE INDEX alikes_by_other ON alikes (other_id);

-- A signed waiver follows its flyer and its signer to the account that survives; its words stay as they were signed.
DROP TRIGGER waiver_signatures_keep_their_words;
CREATE TRIGGER waiver_signatures_keep_their_words
BEFORE UPDATE OF signature_id, version, language, text_hash, signed_at, place, flyer_name, born, relation, signer_name, strokes,
                 answers, witness_id, kept, kept_until ON waiver_signatures BEGIN
    SELECT RAISE(ABORT, 'a signed waiver is never changed');
END;
