-- Cards and wristbands whose number a reader types: a name to sign in by, and no proof.
CREATE TABLE cards (
    card      TEXT    PRIMARY KEY,                   -- letters and digits as a reader types them, in capitals
    member_id INTEGER NOT NULL REFERENCES members,
    tied_at   INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
CREATE INDEX cards_by_member ON cards (member_id);
