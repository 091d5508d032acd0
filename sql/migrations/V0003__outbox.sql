-- What the sender of messages keeps beside each, and what the desk and the figures ask for.

-- When a message was first tried; one that nobody took two days after that is dead.
ALTER TABLE outbox ADD COLUMN first_tried_at INTEGER;

-- Dead letters are few and looked at often.
CREATE INDEX outbox_dead ON outbox (message_id) WHERE state = 'dead';

-- What is done with goes after a while.
CREATE INDEX outbox_done ON outbox (created_at) WHERE state <> 'waiting';
