-- How many entries a logbook holds, whatever they are: so that one that is full is known without counting them.
ALTER TABLE members ADD COLUMN entries INTEGER NOT NULL DEFAULT 0;
UPDATE members SET entries = (SELECT count(*) FROM entries e WHERE e.member_id = members.member_id);

DROP TRIGGER flight_minutes_after_insert;
CREATE TRIGGER flight_minutes_after_insert AFTER INSERT ON entries BEGIN
    UPDATE members SET flight_minutes = flight_minutes + iif(NEW.kind = 'time' AND NEW.status = 'open', NEW.minutes, 0),
                       entries = entries + 1
        WHERE member_id = NEW.member_id;
END;

DROP TRIGGER flight_minutes_after_delete;
CREATE TRIGGER flight_minutes_after_delete AFTER DELETE ON entries BEGIN
    UPDATE members SET flight_minutes = flight_minutes - iif(OLD.kind = 'time' AND OLD.status = 'open', OLD.minutes, 0),
                       entries = entries - 1
        WHERE member_id = OLD.member_id;
END;

CREATE TRIGGER entries_counted_after_update AFTER UPDATE OF member_id ON entries WHEN OLD.member_id <> NEW.member_id BEGIN
    UPDATE members SET entries = entries - 1 WHERE member_id = OLD.member_id;
    UPDATE members SET entries = entries + 1 WHERE member_id = NEW.member_id;
END;
