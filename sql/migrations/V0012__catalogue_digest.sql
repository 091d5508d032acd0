-- Which levels take which skills, as of the day when members' levels were derived last (SHA-256). Null in an older file:
-- the next start derives them anew, as it does whenever the catalogue asks for other skills.
ALTER TABLE site ADD COLUMN catalogue_digest BLOB;
