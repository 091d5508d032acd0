-- Several members may fly at one moment by one purchase: without a registration number, the member is part of what
-- identifies a booking.
DROP INDEX bookings_by_purchase;
CREATE UNIQUE INDEX bookings_by_purchase ON bookings
    (partner_id, purchase_id, coalesce(sent_flight_date, flight_date), member_id)
    WHERE registration_id IS NULL AND purchase_id IS NOT NULL;
