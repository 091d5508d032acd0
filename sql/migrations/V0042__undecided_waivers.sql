-- Signed waivers in which something was answered with yes, for the desk's list of those that wait for a decision.
CREATE INDEX waiver_signatures_by_yes ON waiver_signatures (signed_at, signature_id) WHERE instr(answers, 'y') > 0;
