-- A kiosk that could not reach the site noted a check-in, and the site refused it afterwards: somebody at the desk settles it.
CREATE TABLE refused_check_ins (
    booking_id INTEGER PRIMARY KEY REFERENCES bookings,
    tapped_at  INTEGER NOT NULL,
    reason     TEXT    NOT NULL,
    settled_at INTEGER
) STRICT;

CREATE INDEX refused_check_ins_open ON refused_check_ins (tapped_at) WHERE settled_at IS NULL;
