-- The keyed hash of the PIN with which the partner sent the booking: after the member has renewed the PIN, the partner may
-- still change the booking by it.
ALTER TABLE bookings ADD COLUMN pin_hash BLOB;

-- A keyed digest of the method and the path that came with a signature.
ALTER TABLE partner_signatures ADD COLUMN request_digest BLOB;

-- The booking that a stored answer is about: the answer is void once the booking ends or moves.
ALTER TABLE replays ADD COLUMN booking_id INTEGER;
CREATE INDEX replays_by_booking ON replays (booking_id) WHERE booking_id IS NOT NULL;

-- When a booking ended is in the lists of a member too.
DROP INDEX bookings_by_member;
CREATE INDEX bookings_by_member ON bookings
    (member_id, flight_date, booking_id, partner_id, registration_id, purchase_id, purchase_date, minutes_booked, product_id,
     tunnel_id, checkin_time, created_at, updated_at, sent_flight_date, sent_minutes, arrived_at, ended_as, ended_at, time_waits);

-- The history names what became of a booking at the site. Only the text of the check changes, so no row is moved.
PRAGMA writable_schema = on;

UPDATE sqlite_schema SET sql = replace(sql,
    'CHECK (event IN (''user.created'', ''user.edited'', ''user.deleted'', ''token.issued'',
                                                 ''token.refused'', ''booking.recorded'', ''booking.changed''))',
    'CHECK (event = ''booking.recorded'' OR event = ''booking.changed'' OR event = ''booking.moved''
                                      OR event = ''booking.cancelled'' OR event = ''booking.no_show'' OR event = ''booking.restored''
                                      OR event = ''booking.checked_in'' OR event = ''booking.check_in_undone''
                                      OR event = ''token.issued'' OR event = ''token.refused''
                                      OR event = ''user.created'' OR event = ''user.edited'' OR event = ''user.deleted'')')
    WHERE type = 'table' AND name = 'history';

PRAGMA writable_schema = reset;
