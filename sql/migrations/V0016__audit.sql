-- Who did what to whom from where: rows are added and never touched again, and each carries the hash of the one before, so
-- that whoever changes or removes one is found out. Numbers and words only: nothing in it is a person's.
CREATE TABLE audit (
    seq    INTEGER PRIMARY KEY,                      -- from 1 on, without gaps
    at     INTEGER NOT NULL,
    who    TEXT    NOT NULL,                         -- member:7, cli:root(0), partner:<client-id>, job:<name>, sender:<name>
    deed   TEXT    NOT NULL,                         -- member.banned and so on
    whom   TEXT    NOT NULL,                         -- site, member:7, partner:<client-id>, message:3 and so on
    origin TEXT    NOT NULL,                         -- where from: an address, shell, or site for what runs by itself
    detail TEXT    NOT NULL DEFAULT '{}',            -- JSON: numbers, words of the product's own, names of fields
    hash   BLOB    NOT NULL                          -- SHA-256 over the hash before and all of the above
) STRICT;

CREATE INDEX audit_by_who ON audit (who);
CREATE INDEX audit_by_whom ON audit (whom);
CREATE INDEX audit_by_deed ON audit (deed);

-- The end of the chain is kept apart, so that a missing end is noticed, and the next row goes on from where it was.
ALTER TABLE site ADD COLUMN audit_seq INTEGER NOT NULL DEFAULT 0;
ALTER TABLE site ADD COLUMN audit_hash BLOB;

CREATE TRIGGER audit_is_final BEFORE UPDATE ON audit BEGIN SELECT RAISE(ABORT, 'the audit log is append-only'); END;
CREATE TRIGGER audit_is_kept BEFORE DELETE ON audit BEGIN SELECT RAISE(ABORT, 'the audit log is append-only'); END;
-- Also keeps `INSERT OR REPLACE` from replacing one.
CREATE TRIGGER audit_goes_on BEFORE INSERT ON audit WHEN NEW.seq <> (SELECT audit_seq + 1 FROM site) BEGIN
    SELECT RAISE(ABORT, 'the audit log goes on where it ends');
END;
CREATE TRIGGER audit_ends_forward BEFORE UPDATE OF audit_seq ON site WHEN NEW.audit_seq <> OLD.audit_seq + 1 BEGIN
    SELECT RAISE(ABORT, 'the audit log is append-only');
END;

-- How many passwords and codes were wrong in each hour: for the doctor.
CREATE TABLE misses (
    hour   INTEGER PRIMARY KEY,                      -- its beginning, in Unix seconds
    misses INTEGER NOT NULL
) STRICT;
