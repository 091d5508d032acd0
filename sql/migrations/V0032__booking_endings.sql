-- What the desk does to a booking beside what its partner says of it: the desk moves it, cancels it, or notes that nobody came.

-- What the partner said last, where the desk moved the booking since; null: as it stands. A partner who sends the same booking
-- again does not take the desk's move back.
ALTER TABLE bookings ADD COLUMN sent_flight_date INTEGER;
ALTER TABLE bookings ADD COLUMN sent_minutes INTEGER;
ALTER TABLE bookings ADD COLUMN ended_as TEXT CHECK (ended_as IN ('cancelled', 'no_show'));  -- null: in force
ALTER TABLE bookings ADD COLUMN ended_at INTEGER;
ALTER TABLE bookings ADD COLUMN ended_by INTEGER;          -- the clerk's number, as arrived_by
-- The flight time that was taken out of the logbook with it, for the undo; null: there was none.
ALTER TABLE bookings ADD COLUMN removed_date INTEGER;
ALTER TABLE bookings ADD COLUMN removed_minutes INTEGER;
ALTER TABLE bookings ADD COLUMN removed_comment TEXT;

DROP INDEX bookings_by_purchase;
CREATE UNIQUE INDEX bookings_by_purchase ON bookings (partner_id, purchase_id, coalesce(sent_flight_date, flight_date))
    WHERE registration_id IS NULL AND purchase_id IS NOT NULL;
DROP INDEX bookings_by_flight;
CREATE UNIQUE INDEX bookings_by_flight ON bookings (partner_id, member_id, coalesce(sent_flight_date, flight_date))
    WHERE registration_id IS NULL AND purchase_id IS NULL;
DROP INDEX bookings_by_flight_date;
CREATE INDEX bookings_by_flight_date ON bookings (flight_date, tunnel_id, partner_id, minutes_booked, arrived_at, ended_as);

-- A cancelled booking is none any more; one to which nobody came was one.
DROP TRIGGER booked_hours_after_delete;
CREATE TRIGGER booked_hours_after_delete AFTER DELETE ON bookings WHEN OLD.ended_as IS NOT 'cancelled' BEGIN
    UPDATE booked_hours SET bookings = bookings - 1, minutes = minutes - OLD.minutes_booked,
                            arrived = arrived - (OLD.arrived_at IS NOT NULL)
    WHERE tunnel_id = OLD.tunnel_id AND hour = OLD.flight_date - (OLD.flight_date % 3600 + 3600) % 3600
      AND partner_id = OLD.partner_id;
END;
DROP TRIGGER booked_hours_after_update;
CREATE TRIGGER booked_hours_after_update_of_another
AFTER UPDATE OF tunnel_id, flight_date, partner_id, minutes_booked, arrived_at, ended_as ON bookings
WHEN OLD.ended_as IS NOT 'cancelled' BEGIN
    UPDATE booked_hours SET bookings = bookings - 1, minutes = minutes - OLD.minutes_booked,
                            arrived = arrived - (OLD.arrived_at IS NOT NULL)
    WHERE tunnel_id = OLD.tunnel_id AND hour = OLD.flight_date - (OLD.flight_date % 3600 + 3600) % 3600
      AND partner_id = OLD.partner_id;
END;
CREATE TRIGGER booked_hours_after_update
AFTER UPDATE OF tunnel_id, flight_date, partner_id, minutes_booked, arrived_at, ended_as ON bookings
WHEN NEW.ended_as IS NOT 'cancelled' BEGIN
    INSERT INTO booked_hours VALUES (NEW.tunnel_id, NEW.flight_date - (NEW.flight_date % 3600 + 3600) % 3600, NEW.partner_id,
                                     1, NEW.minutes_booked, NEW.arrived_at IS NOT NULL)
    ON CONFLICT DO UPDATE SET bookings = bookings + 1, minutes = minutes + excluded.minutes, arrived = arrived + excluded.arrived;
END;
