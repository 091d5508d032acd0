-- What is asked of one member lies side by side, however many others there are: before, each booking was a page of the file
-- of its own, and one more for the entry that it made; so was each safety brief and training of a signer.
DROP INDEX bookings_by_member;
CREATE INDEX bookings_by_member ON bookings
    (member_id, flight_date, booking_id, partner_id, registration_id, purchase_id, purchase_date, minutes_booked, product_id,
     tunnel_id, checkin_time, created_at, updated_at);
CREATE INDEX entries_booked ON entries (member_id, booking_id) WHERE booking_id IS NOT NULL;
DROP INDEX entries_by_member;
CREATE INDEX entries_by_member ON entries (member_id, kind, entry_date, entry_id, status, minutes, cat_group);
