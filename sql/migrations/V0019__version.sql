-- The version that opened this file last: after an upgrade, the one to go back to. Empty in a file from before it was kept.
ALTER TABLE site ADD COLUMN version TEXT NOT NULL DEFAULT '';
