-- A member's skills and safety records lie side by side too: every column of an entry that lists show, `updated_at` apart. A
-- row of flight time, where the new columns are empty, becomes seven bytes longer.
DROP INDEX entries_by_member;
CREATE INDEX entries_by_member ON entries
    (member_id, kind, entry_date, entry_id, status, minutes, cat_group, skill, tunnel_id, author_id, booking_id,
     opening, created_at, comment, cat_id, instructor_id, approval_date, version, asked_version, comments_instructor,
     comment_denial);
