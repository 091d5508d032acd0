-- What the desk asks: reports by day come from the indexes alone, however many rows a day has.
DROP INDEX bookings_by_flight_date;
CREATE INDEX bookings_by_flight_date ON bookings (flight_date, tunnel_id, partner_id, minutes_booked, arrived_at);
DROP INDEX entries_flown;
CREATE INDEX entries_flown ON entries (entry_date, entry_id, member_id, tunnel_id, status, opening, minutes) WHERE kind = 'time';
DROP INDEX history_by_moment;
CREATE INDEX history_by_moment ON history (at, seq, partner_id, event);
-- What partners deleted and the desk may bring back.
CREATE INDEX partner_users_deleted ON partner_users (partner_id, deleted_at) WHERE deleted_at IS NOT NULL;
-- The few who serve the others.
CREATE INDEX members_with_role ON members (member_id) WHERE role <> 'member';
-- The marked addresses, latest first.
CREATE INDEX suppressed_latest ON suppressed (since DESC, address);
