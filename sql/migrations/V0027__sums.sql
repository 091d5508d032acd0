-- What the desk's reports add up, by the hour, and what partners did by the day (in UTC): a year of a busy hall is some
-- thousand rows instead of a million. Triggers keep them, so they are always right; what a report wants of an hour or a day
-- that is not wholly in its range it adds up from the rows themselves.
CREATE TABLE flown_hours (
    tunnel_id INTEGER NOT NULL,
    hour      INTEGER NOT NULL,                      -- the moment at which it begins
    flights   INTEGER NOT NULL,
    minutes   INTEGER NOT NULL,
    PRIMARY KEY (tunnel_id, hour)
) STRICT, WITHOUT ROWID;

CREATE TABLE booked_hours (
    tunnel_id  INTEGER NOT NULL,
    hour       INTEGER NOT NULL,                     -- of the flights
    partner_id INTEGER NOT NULL,
    bookings   INTEGER NOT NULL,
    minutes    INTEGER NOT NULL,
    arrived    INTEGER NOT NULL,
    PRIMARY KEY (tunnel_id, hour, partner_id)
) STRICT, WITHOUT ROWID;

CREATE TABLE event_days (
    day        INTEGER NOT NULL,                     -- the moment at which it begins
    partner_id INTEGER NOT NULL,
    event      TEXT    NOT NULL,
    times      INTEGER NOT NULL,
    PRIMARY KEY (day, partner_id, event)
) STRICT, WITHOUT ROWID;

INSERT INTO flown_hours
SELECT tunnel_id, entry_date - (entry_date % 3600 + 3600) % 3600 AS hour, count(*), sum(minutes) FROM entries
WHERE kind = 'time' AND status = 'open' AND opening IS NULL GROUP BY 1, 2;
INSERT INTO booked_hours
SELECT tunnel_id, flight_date - (flight_date % 3600 + 3600) % 3600 AS hour, partner_id, count(*), sum(minutes_booked),
       count(arrived_at) FROM bookings GROUP BY 1, 2, 3;
INSERT INTO event_days SELECT at - (at % 86400 + 86400) % 86400 AS day, partner_id, event, count(*) FROM history GROUP BY 1, 2, 3;

CREATE TRIGGER flown_hours_after_insert AFTER INSERT ON entries
WHEN NEW.kind = 'time' AND NEW.status = 'open' AND NEW.opening IS NULL BEGIN
    INSERT INTO flown_hours VALUES (NEW.tunnel_id, NEW.entry_date - (NEW.entry_date % 3600 + 3600) % 3600, 1, NEW.minutes)
    ON CONFLICT DO UPDATE SET flights = flights + 1, minutes = minutes + excluded.minutes;
END;
CREATE TRIGGER flown_hours_after_delete AFTER DELETE ON entries
WHEN OLD.kind = 'time' AND OLD.status = 'open' AND OLD.opening IS NULL BEGIN
    UPDATE flown_hours SET flights = flights - 1, minutes = minutes - OLD.minutes
    WHERE tunnel_id = OLD.tunnel_id AND hour = OLD.entry_date - (OLD.entry_date % 3600 + 3600) % 3600;
END;
CREATE TRIGGER flown_hours_after_update_of_another AFTER UPDATE OF kind, status, opening, minutes, entry_date, tunnel_id ON entries
WHEN OLD.kind = 'time' AND OLD.status = 'open' AND OLD.opening IS NULL BEGIN
    UPDATE flown_hours SET flights = flights - 1, minutes = minutes - OLD.minutes
    WHERE tunnel_id = OLD.tunnel_id AND hour = OLD.entry_date - (OLD.entry_date % 3600 + 3600) % 3600;
END;
CREATE TRIGGER flown_hours_after_update AFTER UPDATE OF kind, status, opening, minutes, entry_date, tunnel_id ON entries
WHEN NEW.kind = 'time' AND NEW.status = 'open' AND NEW.opening IS NULL BEGIN
    INSERT INTO flown_hours VALUES (NEW.tunnel_id, NEW.entry_date - (NEW.entry_date % 3600 + 3600) % 3600, 1, NEW.minutes)
    ON CONFLICT DO UPDATE SET flights = flights + 1, minutes = minutes + excluded.minutes;
END;

CREATE TRIGGER booked_hours_after_insert AFTER INSERT ON bookings BEGIN
    INSERT INTO booked_hours VALUES (NEW.tunnel_id, NEW.flight_date - (NEW.flight_date % 3600 + 3600) % 3600, NEW.partner_id,
                                     1, NEW.minutes_booked, NEW.arrived_at IS NOT NULL)
    ON CONFLICT DO UPDATE SET bookings = bookings + 1, minutes = minutes + excluded.minutes, arrived = arrived + excluded.arrived;
END;
CREATE TRIGGER booked_hours_after_delete AFTER DELETE ON bookings BEGIN
    UPDATE booked_hours SET bookings = bookings - 1, minutes = minutes - OLD.minutes_booked,
                            arrived = arrived - (OLD.arrived_at IS NOT NULL)
    WHERE tunnel_id = OLD.tunnel_id AND hour = OLD.flight_date - (OLD.flight_date % 3600 + 3600) % 3600
      AND partner_id = OLD.partner_id;
END;
CREATE TRIGGER booked_hours_after_update
AFTER UPDATE OF tunnel_id, flight_date, partner_id, minutes_booked, arrived_at ON bookings BEGIN
    UPDATE booked_hours SET bookings = bookings - 1, minutes = minutes - OLD.minutes_booked,
                            arrived = arrived - (OLD.arrived_at IS NOT NULL)
    WHERE tunnel_id = OLD.tunnel_id AND hour = OLD.flight_date - (OLD.flight_date % 3600 + 3600) % 3600
      AND partner_id = OLD.partner_id;
    INSERT INTO booked_hours VALUES (NEW.tunnel_id, NEW.flight_date - (NEW.flight_date % 3600 + 3600) % 3600, NEW.partner_id,
                                     1, NEW.minutes_booked, NEW.arrived_at IS NOT NULL)
    ON CONFLICT DO UPDATE SET bookings = bookings + 1, minutes = minutes + excluded.minutes, arrived = arrived + excluded.arrived;
END;

CREATE TRIGGER event_days_after_insert AFTER INSERT ON history BEGIN
    INSERT INTO event_days VALUES (NEW.at - (NEW.at % 86400 + 86400) % 86400, NEW.partner_id, NEW.event, 1)
    ON CONFLICT DO UPDATE SET times = times + 1;
END;
