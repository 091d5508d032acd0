-- How far the history went upstream.
CREATE TABLE sync (
    only          INTEGER PRIMARY KEY CHECK (only = 1),
    upstream      TEXT    NOT NULL,                  -- whom the numbers below speak of, without credentials
    cursor        INTEGER NOT NULL,                  -- every row up to this `seq` was taken, or stands in `sync_refused`
    held          INTEGER NOT NULL,                  -- the last `seq` that the receiver has
    offered       INTEGER NOT NULL,                  -- the highest `seq` that ever left this file
    pending       INTEGER NOT NULL,                  -- the last `seq` of a batch whose fate is not known; 0: there is none
    refused_run   INTEGER NOT NULL,                  -- rows refused since the receiver last took one
    misses        INTEGER NOT NULL,                  -- tries in a row that came to nothing
    trouble       TEXT    NOT NULL,                  -- why the last one did; '': it went well
    tried_at      INTEGER,
    taken_at      INTEGER,
    batches       INTEGER NOT NULL,                  -- that were taken, in all
    rows          INTEGER NOT NULL,
    renumbered    INTEGER NOT NULL,                  -- rows that got new numbers, because the receiver had others under theirs
    renumbered_at INTEGER
) STRICT;

-- Rows that the receiver does not take as they are. They are offered again, and the others go past them.
CREATE TABLE sync_refused (
    seq        INTEGER PRIMARY KEY,
    refused_at INTEGER NOT NULL,
    tried_at   INTEGER NOT NULL,
    tries      INTEGER NOT NULL,
    error      TEXT    NOT NULL                      -- what the receiver said
) STRICT;

-- What happened never changes. Its number may: where a file was put back by hand, the receiver has other rows under the
-- same numbers, and those that it has never seen get new ones.
DROP TRIGGER history_is_final;
CREATE TRIGGER history_is_final BEFORE UPDATE OF partner_id, event, at, user_id, member_id, booking_id, detail ON history
BEGIN SELECT RAISE(ABORT, 'history is append-only'); END;
