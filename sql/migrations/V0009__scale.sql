-- What keeps a site of a hundred thousand members and millions of rows as quick as a small one.

-- Reports say how many rows there are in all; to count them each time would be to read them.
ALTER TABLE partners ADD COLUMN bookings INTEGER NOT NULL DEFAULT 0;
ALTER TABLE partners ADD COLUMN events INTEGER NOT NULL DEFAULT 0;
UPDATE partners SET bookings = (SELECT count(*) FROM bookings b WHERE b.partner_id = partners.partner_id),
                    events = (SELECT count(*) FROM history h WHERE h.partner_id = partners.partner_id);

CREATE TRIGGER bookings_counted_after_insert AFTER INSERT ON bookings BEGIN
    UPDATE partners SET bookings = bookings + 1 WHERE partner_id = NEW.partner_id;
END;
CREATE TRIGGER bookings_counted_after_delete AFTER DELETE ON bookings BEGIN
    UPDATE partners SET bookings = bookings - 1 WHERE partner_id = OLD.partner_id;
END;
CREATE TRIGGER events_counted_after_insert AFTER INSERT ON history BEGIN
    UPDATE partners SET events = events + 1 WHERE partner_id = NEW.partner_id;
END;

-- When a session can never be in force again.
CREATE INDEX sessions_by_end ON sessions (min(ends_at, seen_at + idle_seconds));
