-- What the lists of one member show lies side by side again. Columns that came after the indexes of version 28 had to be
-- looked up in the table, which is a page of the file for each flight and each booking on a large site.
DROP INDEX entries_by_member;
CREATE INDEX entries_by_member ON entries
    (member_id, kind, entry_date, entry_id, status, minutes, cat_group, skill, tunnel_id, author_id, booking_id,
     opening, created_at, comment);
DROP INDEX bookings_by_member;
CREATE INDEX bookings_by_member ON bookings
    (member_id, flight_date, booking_id, partner_id, registration_id, purchase_id, purchase_date, minutes_booked, product_id,
     tunnel_id, checkin_time, created_at, updated_at, sent_flight_date, sent_minutes, arrived_at, ended_as, time_waits);
