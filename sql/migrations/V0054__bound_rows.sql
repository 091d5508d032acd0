-- A session, a booking token and a kiosk's key are bound to their row: the keyed hash of the token's hash and the row's owner.
ALTER TABLE sessions ADD COLUMN bound BLOB;
ALTER TABLE booking_tokens ADD COLUMN bound BLOB;
ALTER TABLE kiosks ADD COLUMN bound BLOB;
-- A keyed hash of the end of the audit log: who can write this file but not read the key cannot set the end back.
ALTER TABLE site ADD COLUMN audit_mark BLOB;
-- Guests live for a minute: their tokens are hashed with their kiosk and their number from now on.
DELETE FROM kiosk_guests;
