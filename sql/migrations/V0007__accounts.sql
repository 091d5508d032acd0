-- Confirming addresses, and forgetting misses by account.

-- What a mail's link carries. A token that ran out is kept for a while, because a new one is asked for with the old.
CREATE TABLE email_tokens (
    token_hash BLOB    PRIMARY KEY,                  -- SHA-256 of the token
    member_id  INTEGER NOT NULL REFERENCES members,
    email      TEXT    NOT NULL,                     -- the address that it confirms, if it is still the member's
    created_at INTEGER NOT NULL,
    ends_at    INTEGER NOT NULL,
    used_at    INTEGER
) STRICT, WITHOUT ROWID;
CREATE INDEX email_tokens_by_member ON email_tokens (member_id);
CREATE INDEX email_tokens_by_age ON email_tokens (created_at);

-- Which account a counter speaks of, hashed, so that the shell can clear all of them; null: of an address.
ALTER TABLE throttles ADD COLUMN account_key BLOB;
CREATE INDEX throttles_by_account ON throttles (account_key) WHERE account_key IS NOT NULL;
