-- Makes the rows of a demo site from its drafts, in the order of their moments, so that every row has a number that
-- fits its moment. `demo` is a temporary table of one row, `drafts` one of the fields of `Draft` in
-- src/store/engine/bulk.rs.

-- Every draft, with its kind and state, and the number of its booking where the site made one.
CREATE TEMP TABLE numbered AS
SELECT *, iif(is_booked, row_number() OVER (PARTITION BY is_booked ORDER BY booked_at, rowid), NULL) AS booking_id
FROM (SELECT rowid, *, iif(skill = '', 'time', iif(cat_id = '', 'safety', 'skill')) AS kind, coalesce(ended_as, 'open') AS status,
             booked_at IS NOT NULL AND refusal IS NULL AS is_booked FROM drafts);

-- People arrive 25 minutes before their flight, but for one in 29. The partner sends one booking in 25 a second time.
INSERT INTO bookings (partner_id, member_id, registration_id, purchase_id, purchase_date, flight_date, minutes_booked,
                      product_id, tunnel_id, checkin_time, created_at, updated_at, arrived_at, arrived_by)
SELECT partner_id, member_id, 70000 + booking_id, 20000 + booking_id, booked_at, entry_date, minutes,
       iif(minutes < 10, 1, 2 + minutes / 15), tunnel_id, entry_date - 1800, booked_at,
       iif(booking_id % 25 = 0, booked_at + 600, booked_at), iif(is_here, entry_date - 1500, NULL),
       iif(is_here, desk_id, NULL)
FROM (SELECT *, entry_date - 1500 <= now AND booking_id % 29 <> 0 AS is_here FROM numbered, demo WHERE is_booked)
ORDER BY booking_id;

INSERT INTO entries (member_id, kind, status, entry_date, minutes, tunnel_id, comment, author_id, booking_id, cat_group,
                     cat_id, skill, instructor_id, comments_instructor, comment_denial, approval_date, created_at, updated_at)
SELECT member_id, kind, status, entry_date, minutes, tunnel_id, iif(kind = 'time', comment, ''), author_id,
       iif(created_at = booked_at, booking_id, NULL), cat_group, cat_id, skill, instructor_id,
       iif(status IN ('open', 'suspended') AND kind <> 'time', comment, ''), iif(status = 'denied', comment, ''),
       iif(status IN ('open', 'suspended'), answered_at, NULL), created_at,
       coalesce(answered_at, created_at) + iif(status = 'suspended', 1800, 0)
FROM numbered, demo WHERE created_at IS NOT NULL ORDER BY created_at, numbered.rowid;

-- A skill is requested, then signed, refused or withdrawn; a suspended one was signed before. A safety record is written
-- and signed in one step.
INSERT INTO entry_events (entry_id, step, at, member_id, from_status, to_status)
SELECT entry_id, 1, created_at, author_id, NULL, iif(kind = 'skill', 'pending', 'open') FROM entries WHERE kind <> 'time'
UNION ALL
SELECT entry_id, 2, coalesce(approval_date, updated_at), iif(status = 'cancelled', member_id, instructor_id), 'pending',
       iif(status = 'suspended', 'open', status)
FROM entries WHERE kind = 'skill' AND status <> 'pending'
UNION ALL
SELECT entry_id, 3, updated_at, admin_id, 'open', 'suspended' FROM entries, demo WHERE status = 'suspended'
ORDER BY 1, 2;

INSERT INTO partner_users (partner_id, email, created_at, updated_at)
SELECT partner_id, email, first_at, first_at
FROM (SELECT member_id, min(booked_at) AS first_at FROM numbered WHERE is_booked GROUP BY member_id)
JOIN members USING (member_id), demo ORDER BY first_at;

-- A booking that is sent again has a minute more than before.
INSERT INTO events (partner_id, type, at, user_id, member_id, booking_id, data, history_seq)
WITH sent (event, is_again) AS
     (VALUES ('booking.recorded', 0), ('token.issued', 0), ('booking.changed', 1), ('token.issued', 1)),
     happened (partner_id, event, at, user_id, member_id, booking_id, data) AS (
SELECT partner_id, 'user.created', created_at, user_id, NULL, NULL, '{}' FROM partner_users
UNION ALL
SELECT partner_id, 'token.refused', booked_at, NULL, member_id, NULL, json_object('reason', refusal)
FROM numbered, demo WHERE refusal IS NOT NULL
UNION ALL
SELECT partner_id, event, iif(is_again, updated_at, created_at), NULL, member_id, booking_id,
       iif(event = 'token.issued', '{}', json_object(
           'registration_id', registration_id, 'purchase_id', purchase_id, 'purchase_date', purchase_date,
           'flight_date', flight_date, 'minutes_booked', minutes_booked - (updated_at > created_at AND NOT is_again),
           'product_id', product_id, 'tunnel_id', tunnel_id, 'checkin_time', checkin_time))
FROM bookings JOIN sent ON NOT is_again OR updated_at > created_at)
SELECT *, row_number() OVER (ORDER BY at, booking_id, event) FROM happened ORDER BY at, booking_id, event;
UPDATE site SET history_seq = (SELECT count(*) FROM history);

-- Notices of bookings are deleted after a month, and read after four days.
INSERT INTO notices (member_id, subject, detail, created_at, read_at)
SELECT member_id, iif(author_id = member_id AND created_at IS NOT booked_at, 'notice.booking_not_current', 'notice.booking_recorded'),
       json_object('booking_id', booking_id, 'flight_date', entry_date, 'minutes', minutes), booked_at,
       iif(booked_at < now - 4 * 86400, booked_at + 3600, NULL)
FROM numbered, demo WHERE is_booked AND booked_at >= now - 30 * 86400 ORDER BY booking_id;

DROP TABLE numbered;
DROP TABLE drafts;
DROP TABLE demo;
