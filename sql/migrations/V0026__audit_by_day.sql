-- The audit log at the desk is read by day: the first row of a day is found by its moment.
CREATE INDEX audit_by_at ON audit (at);
