-- What third parties call back with: each event once, whatever it does to payments, mails and social links.

-- Every event as it came, with what became of it. Swept after a while; what it did stays.
CREATE TABLE callbacks (
    callback_id INTEGER PRIMARY KEY AUTOINCREMENT,
    sender      TEXT    NOT NULL CHECK (sender IN ('processor', 'app', 'mail', 'social')),
    event_key   TEXT    NOT NULL,                    -- by which a repeat is known
    event       TEXT    NOT NULL,                    -- what the sender calls it
    about       TEXT    NOT NULL DEFAULT '',         -- the payment, message or deletion that it named; never a person
    verdict     TEXT    NOT NULL,
    sealed      BLOB    NOT NULL,                    -- as it came, sealed: it speaks of people
    times       INTEGER NOT NULL DEFAULT 1,          -- how often it came; only the first time counts
    received_at INTEGER NOT NULL,
    repeated_at INTEGER,                             -- when it came last, if it came again
    UNIQUE (sender, event_key)
) STRICT;
CREATE INDEX callbacks_by_age ON callbacks (sender, received_at);

-- A payment may be nobody's yet, and says by whom it got its member, its price and its year of membership. SQLite cannot
-- take a NOT NULL off a column, so the table is made anew.
CREATE TABLE payments_anew (
    payment_id    INTEGER PRIMARY KEY AUTOINCREMENT,
    member_id     INTEGER REFERENCES members,          -- null: nobody knows yet whose it is
    intent_id     TEXT    NOT NULL UNIQUE,             -- the processor's name for it
    amount_cents  INTEGER NOT NULL CHECK (amount_cents >= 0),
    currency      TEXT    NOT NULL,                    -- ISO 4217, upper case; empty while nobody said
    status        TEXT    NOT NULL CHECK (status IN ('claimed', 'created', 'processing', 'succeeded', 'failed', 'canceled', 'refunded')),
    priced_by     TEXT    NOT NULL DEFAULT '',         -- weight of the event that the price is from
    named_member  INTEGER REFERENCES members,          -- whose it is by the processor
    named_by      TEXT    NOT NULL DEFAULT '',         -- weight of the event that said so
    claimed_by    INTEGER REFERENCES members,          -- whose it is by an app's word, where the processor is silent
    assigned_to   INTEGER REFERENCES members,          -- whose it is by the desk, which has the last word
    granted_to    INTEGER REFERENCES members,          -- whose membership it extended, and until when
    granted_until INTEGER,
    paid_before   INTEGER,                             -- the member's paid_until before that
    created_at    INTEGER NOT NULL,
    updated_at    INTEGER NOT NULL,
    CHECK ((granted_to IS NULL) = (granted_until IS NULL))
) STRICT;
INSERT INTO payments_anew (payment_id, member_id, intent_id, amount_cents, currency, status, created_at, updated_at)
    SELECT payment_id, member_id, intent_id, amount_cents, currency, status, created_at, updated_at FROM payments;
DROP TABLE payments;
ALTER TABLE payments_anew RENAME TO payments;
CREATE INDEX payments_by_member ON payments (member_id, payment_id);
CREATE INDEX payments_unmatched ON payments (payment_id) WHERE member_id IS NULL;
CREATE INDEX payments_claimed ON payments (created_at) WHERE status = 'claimed';

-- Addresses that no mail goes to. In force unless it was lifted since.
CREATE TABLE suppressed (
    address   TEXT    PRIMARY KEY COLLATE NOCASE,
    reason    TEXT    NOT NULL,                      -- the event that marked it: hard_bounce, spam, unsub, reject, blacklist
    detail    TEXT    NOT NULL DEFAULT '',           -- what the mail provider said of it
    since     INTEGER NOT NULL,                      -- the provider's moment of the latest such event
    lifted_at INTEGER                                -- by the desk, or by the provider
) STRICT, WITHOUT ROWID;

-- What the mail provider said of a message after it took it.
ALTER TABLE outbox ADD COLUMN delivery     TEXT    NOT NULL DEFAULT '';
ALTER TABLE outbox ADD COLUMN deferrals    INTEGER NOT NULL DEFAULT 0;
ALTER TABLE outbox ADD COLUMN soft_bounces INTEGER NOT NULL DEFAULT 0;

-- Which name came with a link, so that it can go with it.
ALTER TABLE social_links ADD COLUMN name TEXT NOT NULL DEFAULT '';

-- Deletions that people asked a social network for. Whom one was about is kept as a keyed hash alone.
CREATE TABLE deletions (
    code         TEXT    PRIMARY KEY,                -- 32 hex digits, for the status page
    subject_hash BLOB    NOT NULL,                   -- keyed, of the network and its name for the person
    outcome      TEXT    NOT NULL CHECK (outcome IN ('nothing', 'unlinked', 'erased')),
    asked_at     INTEGER NOT NULL,
    done_at      INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
CREATE INDEX deletions_by_subject ON deletions (subject_hash, asked_at);
