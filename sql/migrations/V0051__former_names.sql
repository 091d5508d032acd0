-- The names, addresses and numbers that a member had before: an erasure looks for them too. They go with the member.
CREATE TABLE former_names (
    name_id   INTEGER PRIMARY KEY,
    member_id INTEGER NOT NULL REFERENCES members,
    kind      TEXT    NOT NULL CHECK (kind IN ('name', 'email', 'phone')),
    word      TEXT    NOT NULL,
    UNIQUE (member_id, word)
) STRICT;

CREATE TRIGGER members_keep_former_names AFTER UPDATE OF username, screen_name, real_name, email, phone ON members
WHEN NOT EXISTS (SELECT 1 FROM erasures WHERE member_id = NEW.member_id) BEGIN
    INSERT OR IGNORE INTO former_names (member_id, kind, word)
    SELECT OLD.member_id, f.kind, f.word
    FROM (SELECT 'name' AS kind, OLD.username AS word, NEW.username AS now
          UNION ALL SELECT 'name', OLD.screen_name, NEW.screen_name
          UNION ALL SELECT 'name', OLD.real_name, NEW.real_name
          UNION ALL SELECT 'email', OLD.email, NEW.email
          UNION ALL SELECT 'phone', OLD.phone, NEW.phone) f
    WHERE f.word <> '' AND f.word IS NOT f.now;
    -- Whoever keeps changing names fills no disk.
    DELETE FROM former_names WHERE member_id = OLD.member_id AND name_id <=
        (SELECT name_id FROM former_names WHERE member_id = OLD.member_id ORDER BY name_id DESC LIMIT 1 OFFSET 100);
END;

-- An erasure replaces a name in the word of a decision, and nothing else of it changes.
DROP TRIGGER waiver_decisions_keep_their_words;
CREATE TRIGGER waiver_decisions_keep_their_words
BEFORE UPDATE OF decision_id, signature_id, may_fly, decided_by, decided_at ON waiver_decisions BEGIN
    SELECT RAISE(ABORT, 'a decision is never changed');
END;
