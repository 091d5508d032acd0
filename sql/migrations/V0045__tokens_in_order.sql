-- A member's booking tokens in the order in which they end: each new one looks whether the oldest has to go, and looked up all
-- of them for that, 200 at the most, which was two fifths of what a booking by a partner cost.
DROP INDEX booking_tokens_by_member;
CREATE INDEX booking_tokens_by_member ON booking_tokens (member_id, ends_at);
