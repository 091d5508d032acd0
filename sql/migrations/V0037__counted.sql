-- The records that a partner has, counted as they come and go: a partner of years has a hundred thousand.
ALTER TABLE partners ADD COLUMN users INTEGER NOT NULL DEFAULT 0;
UPDATE partners SET users =
    (SELECT count(*) FROM partner_users u WHERE u.partner_id = partners.partner_id AND u.deleted_at IS NULL);

CREATE TRIGGER users_counted_after_insert AFTER INSERT ON partner_users WHEN NEW.deleted_at IS NULL BEGIN
    UPDATE partners SET users = users + 1 WHERE partner_id = NEW.partner_id;
END;

CREATE TRIGGER users_counted_after_delete AFTER DELETE ON partner_users WHEN OLD.deleted_at IS NULL BEGIN
    UPDATE partners SET users = users - 1 WHERE partner_id = OLD.partner_id;
END;

CREATE TRIGGER users_counted_after_update AFTER UPDATE OF deleted_at ON partner_users
WHEN (OLD.deleted_at IS NULL) <> (NEW.deleted_at IS NULL) BEGIN
    UPDATE partners SET users = users + CASE WHEN NEW.deleted_at IS NULL THEN 1 ELSE -1 END WHERE partner_id = NEW.partner_id;
END;

-- A table of the bookings of some days is read from the index alone.
DROP INDEX bookings_by_flight_date;
CREATE INDEX bookings_by_flight_date ON bookings
    (flight_date, tunnel_id, partner_id, minutes_booked, arrived_at, ended_as, member_id, registration_id);
