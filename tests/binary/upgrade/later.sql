-- Stands for the migration of a later version: one of each kind of change that a migration makes, each with rows that it must
-- keep or compute.

-- A column more, computed from others.
ALTER TABLE tunnels ADD COLUMN motto TEXT NOT NULL DEFAULT '';
UPDATE tunnels SET motto = name || ' flies';

-- A table more, filled from the rows there are, with its index and trigger.
CREATE TABLE nicknames (
    nickname_id INTEGER PRIMARY KEY AUTOINCREMENT,
    member_id   INTEGER NOT NULL REFERENCES members,
    nickname    TEXT    NOT NULL
) STRICT;
INSERT INTO nicknames (member_id, nickname) SELECT member_id, username FROM members ORDER BY member_id;
CREATE INDEX nicknames_by_member ON nicknames (member_id);
CREATE TRIGGER nicknames_follow AFTER INSERT ON members BEGIN
    INSERT INTO nicknames (member_id, nickname) VALUES (NEW.member_id, NEW.username);
END;

-- A table anew, because SQLite cannot put a check on a column.
CREATE TABLE refused_check_ins_anew (
    booking_id INTEGER PRIMARY KEY REFERENCES bookings,
    tapped_at  INTEGER NOT NULL CHECK (tapped_at > 0),
    reason     TEXT    NOT NULL,
    settled_at INTEGER
) STRICT;
INSERT INTO refused_check_ins_anew SELECT booking_id, tapped_at, reason, settled_at FROM refused_check_ins;
DROP TABLE refused_check_ins;
ALTER TABLE refused_check_ins_anew RENAME TO refused_check_ins;
CREATE INDEX refused_check_ins_open ON refused_check_ins (tapped_at) WHERE settled_at IS NULL;

-- The index of a large table anew, and the words of the search.
DROP INDEX entries_by_member;
CREATE INDEX entries_by_member ON entries
    (member_id, kind, entry_date, entry_id, status, minutes, cat_group, skill, tunnel_id, author_id, booking_id,
     opening, created_at, updated_at, comment, cat_id, instructor_id, approval_date, version, asked_version, comments_instructor,
     comment_denial);
INSERT INTO members_search (members_search) VALUES ('rebuild');

-- A value more in a check. Only its text changes, so no row is moved.
PRAGMA writable_schema = on;
UPDATE sqlite_schema SET sql = replace(sql, 'kind = ''safety'')', 'kind = ''safety'' OR kind = ''dive'')')
    WHERE type = 'table' AND name = 'entries';
PRAGMA writable_schema = reset;
