-- What a member takes home: certificates, a picture in the profile, and the payments.

-- Certificates that were handed out, so that whoever scans one learns whether it still holds. It does while the
-- member holds that level since that moment.
CREATE TABLE certificates (
    code      TEXT    PRIMARY KEY,                   -- 24 letters and digits, a keyed hash of all below
    member_id INTEGER REFERENCES members,            -- null once the member was erased: the paper is then void
    cat_group TEXT    NOT NULL,
    cat_id    TEXT    NOT NULL,
    track     TEXT    NOT NULL,
    since     INTEGER NOT NULL,
    issued_at INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
CREATE INDEX certificates_by_member ON certificates (member_id) WHERE member_id IS NOT NULL;

-- One picture a member, as this site encoded it: never a byte as it was uploaded.
CREATE TABLE media (
    member_id  INTEGER PRIMARY KEY REFERENCES members,
    jpeg       BLOB    NOT NULL,
    updated_at INTEGER NOT NULL
) STRICT;

-- What the payment processor says of each payment.
CREATE TABLE payments (
    payment_id   INTEGER PRIMARY KEY AUTOINCREMENT,
    member_id    INTEGER NOT NULL REFERENCES members,
    intent_id    TEXT    NOT NULL UNIQUE,            -- the processor's name for it
    amount_cents INTEGER NOT NULL CHECK (amount_cents >= 0),
    currency     TEXT    NOT NULL,                   -- ISO 4217, upper case
    status       TEXT    NOT NULL CHECK (status IN ('created', 'processing', 'succeeded', 'failed', 'canceled', 'refunded')),
    created_at   INTEGER NOT NULL,
    updated_at   INTEGER NOT NULL
) STRICT;
CREATE INDEX payments_by_member ON payments (member_id, payment_id);
