-- The till: membership fees that are taken at the desk, and the closings of its days.

-- One row a movement, in the order in which they were made: a fee that was taken, or one that was undone. Rows are added
-- and never changed, but for the reason, out of which an erasure takes a name.
CREATE TABLE till_entries (
    entry_id     INTEGER PRIMARY KEY AUTOINCREMENT,  -- the number of the receipt
    payment_id   INTEGER NOT NULL REFERENCES payments,
    kind         TEXT    NOT NULL CHECK (kind IN ('cash', 'terminal', 'voucher', 'free')),
    amount_cents INTEGER NOT NULL,                   -- in the smallest unit of the currency; negative where a fee was undone
    currency     TEXT    NOT NULL,                   -- ISO 4217, upper case
    reason       TEXT    NOT NULL DEFAULT '',        -- why free of charge or undone; the number of a voucher
    undoes       INTEGER UNIQUE REFERENCES till_entries,
    paid_until   INTEGER,                            -- what the membership is paid until by it; Unix seconds
    taken_by     INTEGER REFERENCES members,         -- the clerk
    taken_at     INTEGER NOT NULL,
    form_number  INTEGER UNIQUE,                     -- by which the same form sent twice is known
    CHECK (iif(undoes IS NULL, amount_cents >= 0, amount_cents <= 0)),
    CHECK (kind <> 'free' OR amount_cents = 0)
) STRICT;
CREATE INDEX till_entries_by_payment ON till_entries (payment_id);
CREATE INDEX till_entries_by_clerk ON till_entries (taken_by);

-- A closing counts every entry after the one before it, up to `last_entry_id`. Amounts are in the smallest unit of the
-- currency.
CREATE TABLE till_closings (
    closing_id     INTEGER PRIMARY KEY AUTOINCREMENT,
    last_entry_id  INTEGER NOT NULL,                 -- 0 where there was none yet
    currency       TEXT    NOT NULL,
    float_cents    INTEGER NOT NULL,                 -- what the closing before left in the drawer
    cash_cents     INTEGER NOT NULL,                 -- what came in since, less what was given back
    terminal_cents INTEGER NOT NULL,
    voucher_cents  INTEGER NOT NULL,
    counted_cents  INTEGER NOT NULL CHECK (counted_cents >= 0),
    left_cents     INTEGER NOT NULL CHECK (left_cents BETWEEN 0 AND counted_cents),
    note           TEXT    NOT NULL DEFAULT '',
    closed_by      INTEGER REFERENCES members,       -- the clerk
    closed_at      INTEGER NOT NULL,
    form_number    INTEGER NOT NULL UNIQUE
) STRICT;
CREATE INDEX till_closings_by_clerk ON till_closings (closed_by);

CREATE TRIGGER till_entries_stay BEFORE DELETE ON till_entries BEGIN
    SELECT RAISE(ABORT, 'an entry of the till is never removed');
END;
CREATE TRIGGER till_entries_keep_their_figures
BEFORE UPDATE OF entry_id, payment_id, kind, amount_cents, currency, undoes, paid_until, taken_by, taken_at, form_number
ON till_entries BEGIN
    SELECT RAISE(ABORT, 'an entry of the till is never changed');
END;
CREATE TRIGGER till_closings_stay BEFORE DELETE ON till_closings BEGIN
    SELECT RAISE(ABORT, 'a closing of the till is never removed');
END;
CREATE TRIGGER till_closings_keep_their_figures
BEFORE UPDATE OF closing_id, last_entry_id, currency, float_cents, cash_cents, terminal_cents, voucher_cents, counted_cents,
                 left_cents, closed_by, closed_at, form_number
ON till_closings BEGIN
    SELECT RAISE(ABORT, 'a closing of the till is never changed');
END;
