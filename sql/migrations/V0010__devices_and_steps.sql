-- Devices that members signed in on, and sign-ins that wait for their second step.

-- A device is known by a token that it brings along. It opens nothing: it only keeps what others mistype from slowing
-- down the members who signed in there.
CREATE TABLE devices (
    device_hash BLOB    NOT NULL,                    -- SHA-256 of its token
    member_id   INTEGER NOT NULL REFERENCES members,
    voucher_id  INTEGER NOT NULL,                    -- the first member who signed in there: the misses of all devices that
                                                     -- one member brought count together. No reference: the number
                                                     -- counts on when that member is gone
    created_at  INTEGER NOT NULL,
    used_at     INTEGER NOT NULL,                    -- the member's latest sign-in there
    PRIMARY KEY (device_hash, member_id)
) STRICT, WITHOUT ROWID;
CREATE INDEX devices_by_member ON devices (member_id);
CREATE INDEX devices_by_use ON devices (used_at);

-- Who came by a social network and owes the second factor; one a member.
CREATE TABLE sign_in_steps (
    member_id INTEGER PRIMARY KEY REFERENCES members,
    step_hash BLOB    NOT NULL UNIQUE,               -- SHA-256 of its token
    tries     INTEGER NOT NULL DEFAULT 0,
    ends_at   INTEGER NOT NULL
) STRICT;
