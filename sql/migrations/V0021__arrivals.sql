-- Who has come to the desk for a booking. Beside `checkin_time`, which is the partner's own and changes with it.
ALTER TABLE bookings ADD COLUMN arrived_at INTEGER;
ALTER TABLE bookings ADD COLUMN arrived_by INTEGER; -- the clerk; no reference, because the mark stays when the clerk goes
