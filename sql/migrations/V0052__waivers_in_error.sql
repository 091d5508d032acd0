-- A waiver that was signed on the wrong card: an admin marks it as signed in error. It stays, and no longer counts.
ALTER TABLE waiver_decisions ADD COLUMN in_error INTEGER NOT NULL DEFAULT 0 CHECK (in_error IN (0, 1));

DROP TRIGGER waiver_decisions_keep_their_words;
CREATE TRIGGER waiver_decisions_keep_their_words
BEFORE UPDATE OF decision_id, signature_id, may_fly, decided_by, decided_at, in_error ON waiver_decisions BEGIN
    SELECT RAISE(ABORT, 'a decision is never changed');
END;
