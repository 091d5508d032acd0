-- What a signer is asked to sign has a version, which grows with every change that can be seen. A signature carries the
-- version that the signer was shown, so that nobody changes an entry between the look and the signature.
ALTER TABLE entries ADD COLUMN version INTEGER NOT NULL DEFAULT 1;
-- The version of which the named signer was told. One who says nothing of what was shown can have seen this one only.
ALTER TABLE entries ADD COLUMN asked_version INTEGER NOT NULL DEFAULT 1;

CREATE TRIGGER entries_version AFTER UPDATE OF kind, status, entry_date, minutes, tunnel_id, comment, cat_group, cat_id, skill,
                                               instructor_id, comments_instructor, comment_denial ON entries
WHEN (NEW.kind <> 'time' OR NEW.opening IS NOT NULL)
     AND (OLD.kind, OLD.status, OLD.entry_date, OLD.minutes, OLD.tunnel_id, OLD.comment, OLD.cat_group, OLD.cat_id, OLD.skill,
          OLD.instructor_id, OLD.comments_instructor, OLD.comment_denial)
      IS NOT (NEW.kind, NEW.status, NEW.entry_date, NEW.minutes, NEW.tunnel_id, NEW.comment, NEW.cat_group, NEW.cat_id, NEW.skill,
              NEW.instructor_id, NEW.comments_instructor, NEW.comment_denial) BEGIN
    UPDATE entries SET version = version + 1 WHERE entry_id = NEW.entry_id;
END;

-- A payment extends the membership where it pays the fee. Anything else that came waits for the desk, which decides once.
ALTER TABLE payments ADD COLUMN refunded_cents INTEGER;                 -- what went back of it; null: nothing that we know of
ALTER TABLE payments ADD COLUMN rival_claim INTEGER REFERENCES members; -- a second member whose app claims it
ALTER TABLE payments ADD COLUMN question TEXT NOT NULL DEFAULT ''       -- what the desk has to decide; empty: nothing
    CHECK (question IN ('', 'unmatched', 'doubly_claimed', 'unpriced', 'fee_unknown', 'other_currency', 'underpaid', 'partly_refunded'));
ALTER TABLE payments ADD COLUMN decision TEXT NOT NULL DEFAULT ''       -- the desk's answer; empty: none
    CHECK (decision IN ('', 'counts', 'void'));
CREATE INDEX payments_in_question ON payments (payment_id) WHERE question <> '';
CREATE INDEX payments_rival ON payments (rival_claim) WHERE rival_claim IS NOT NULL;
