-- The database of a chain of halls: PostgreSQL 15 or later, run by the owner of the database, and again with each new version.
-- A row of the history is named by its site and its seq, so that whatever comes twice is stored once. Nothing here names a person.
CREATE SCHEMA IF NOT EXISTS chain;
SET search_path = chain;

-- What an owner says of the halls. A hall that is not named here has its site_id for a name.
CREATE TABLE IF NOT EXISTS halls (
    site_id                  text PRIMARY KEY,
    name                     text NOT NULL,
    time_zone                text NOT NULL DEFAULT 'UTC',
    minutes_per_quarter_hour integer,             -- how many minutes can be flown in a quarter of an hour
    open_hours_per_week      numeric
);

-- How far the consumer is in each stream: written with the rows, so that both are there or neither.
CREATE TABLE IF NOT EXISTS streams (
    stream  text PRIMARY KEY,
    created text NOT NULL,                        -- a stream that is made anew begins at 1 again
    seq     bigint NOT NULL,
    at      timestamptz NOT NULL DEFAULT now()
);

CREATE TABLE IF NOT EXISTS sites (
    site_id     text PRIMARY KEY CHECK (site_id ~ '^[0-9a-f]{32}$'),
    last_seq    bigint NOT NULL DEFAULT 0,        -- every row up to this one is here
    last_at     timestamptz,                      -- the moment of that row
    received_at timestamptz,                      -- when a batch with rows came last
    gap_at      timestamptz,                      -- since when rows are missing, which the site was asked for
    gaps        bigint NOT NULL DEFAULT 0,
    restores    bigint NOT NULL DEFAULT 0,
    batches     bigint NOT NULL DEFAULT 0,
    bytes       bigint NOT NULL DEFAULT 0         -- of batches, as they came
);

CREATE TABLE IF NOT EXISTS history (
    site_id    text NOT NULL REFERENCES sites,
    seq        bigint NOT NULL,
    client_id  text NOT NULL,
    event      text NOT NULL,
    at         timestamptz NOT NULL,
    user_id    bigint,
    member_id  bigint,
    booking_id bigint,
    detail     jsonb NOT NULL,
    void       boolean NOT NULL DEFAULT false,    -- the site was restored to a moment before this row
    PRIMARY KEY (site_id, seq)
);
CREATE INDEX IF NOT EXISTS history_by_booking ON history (site_id, booking_id, seq) WHERE booking_id IS NOT NULL;

-- Each booking as the newest row about it says.
CREATE TABLE IF NOT EXISTS bookings (
    site_id        text NOT NULL REFERENCES sites,
    booking_id     bigint NOT NULL,
    seq            bigint NOT NULL,
    client_id      text NOT NULL,
    member_id      bigint,
    tunnel_id      bigint NOT NULL,
    flight_date    timestamptz NOT NULL,
    minutes_booked integer NOT NULL,
    ended          text CHECK (ended IN ('cancelled', 'no_show')),
    arrived_at     timestamptz,
    PRIMARY KEY (site_id, booking_id)
);
CREATE INDEX IF NOT EXISTS bookings_by_date ON bookings (flight_date);

-- Messages that are no batch: passed over, and kept here for somebody to look at.
CREATE TABLE IF NOT EXISTS refused (
    stream  text NOT NULL,
    seq     bigint NOT NULL,
    subject text NOT NULL,
    reason  text NOT NULL,
    at      timestamptz NOT NULL DEFAULT now(),
    PRIMARY KEY (stream, seq)
);

CREATE OR REPLACE VIEW newest AS
SELECT DISTINCT ON (site_id, booking_id) site_id, booking_id, seq, client_id, member_id, (detail->>'tunnel_id')::bigint AS tunnel_id,
       to_timestamp((detail->>'flight_date')::bigint) AS flight_date, (detail->>'minutes_booked')::integer AS minutes_booked,
       detail->>'ended' AS ended, to_timestamp((detail->>'arrived_at')::bigint) AS arrived_at
FROM history WHERE booking_id IS NOT NULL AND event LIKE 'booking.%' AND NOT void ORDER BY site_id, booking_id, seq DESC;

-- Works out which rows of a restored site are void, and its bookings from those that are left. A restore that was itself undone
-- voids nothing: the newest is looked at first.
CREATE OR REPLACE FUNCTION follow_restores(site text) RETURNS void LANGUAGE plpgsql AS $$
DECLARE restore record;
BEGIN
    UPDATE history SET void = false WHERE site_id = site AND void;
    FOR restore IN SELECT seq, (detail->>'last_kept')::bigint AS kept, (detail->>'last_lost')::bigint AS lost
                   FROM history WHERE site_id = site AND event = 'site.restored' ORDER BY seq DESC LOOP
        IF NOT (SELECT void FROM history WHERE site_id = site AND seq = restore.seq) THEN
            UPDATE history SET void = true WHERE site_id = site AND seq > restore.kept AND seq <= restore.lost;
        END IF;
    END LOOP;
    DELETE FROM bookings WHERE site_id = site;
    INSERT INTO bookings SELECT * FROM newest WHERE site_id = site;
    UPDATE sites SET restores = restores + 1 WHERE site_id = site;
END $$;

-- Takes one batch. Returns up to which seq the site's rows are here, and of which moment that one is; that is less than the batch's
-- `after` where rows before it are missing, and then nothing is stored.
CREATE OR REPLACE FUNCTION take(batch jsonb, size bigint, OUT last bigint, OUT moment bigint) LANGUAGE plpgsql AS $$
DECLARE
    site text := batch->>'site_id';
    is_again boolean := coalesce((batch->>'again')::boolean, false);
    added bigint;
    is_restored boolean;
BEGIN
    INSERT INTO sites (site_id) VALUES (site) ON CONFLICT DO NOTHING;
    SELECT last_seq, extract(epoch FROM last_at)::bigint INTO last, moment FROM sites WHERE site_id = site FOR UPDATE;
    IF (batch->>'after')::bigint > last AND NOT is_again THEN
        UPDATE sites SET gaps = gaps + 1, gap_at = coalesce(gap_at, now()) WHERE site_id = site;
        RETURN;
    END IF;
    WITH came AS (
        SELECT * FROM jsonb_to_recordset(batch->'history') AS came(seq bigint, client_id text, event text, at bigint, user_id bigint,
                                                                   member_id bigint, booking_id bigint, detail jsonb)
    ), new AS (
        INSERT INTO history SELECT site, seq, client_id, event, to_timestamp(at), user_id, member_id, booking_id, detail FROM came
        ON CONFLICT DO NOTHING RETURNING *
    ), stands AS (
        INSERT INTO bookings
        SELECT DISTINCT ON (booking_id) site, booking_id, seq, client_id, member_id, (detail->>'tunnel_id')::bigint,
               to_timestamp((detail->>'flight_date')::bigint), (detail->>'minutes_booked')::integer, detail->>'ended',
               to_timestamp((detail->>'arrived_at')::bigint)
        FROM new WHERE event LIKE 'booking.%' ORDER BY booking_id, seq DESC
        ON CONFLICT (site_id, booking_id) DO UPDATE SET (seq, client_id, member_id, tunnel_id, flight_date, minutes_booked, ended, arrived_at)
            = (excluded.seq, excluded.client_id, excluded.member_id, excluded.tunnel_id, excluded.flight_date, excluded.minutes_booked,
               excluded.ended, excluded.arrived_at)
        WHERE excluded.seq > bookings.seq
    )
    SELECT count(*), coalesce(bool_or(event = 'site.restored'), false) INTO added, is_restored FROM new;
    IF is_restored THEN PERFORM follow_restores(site); END IF;
    IF added > 0 AND NOT is_again THEN
        UPDATE sites SET (last_seq, last_at) = (SELECT seq, at FROM history h WHERE h.site_id = site ORDER BY seq DESC LIMIT 1),
            received_at = now(), gap_at = NULL WHERE site_id = site
        RETURNING last_seq, extract(epoch FROM last_at)::bigint INTO last, moment;
    END IF;
    UPDATE sites SET batches = batches + 1, bytes = bytes + size WHERE site_id = site;
END $$;

-- What an owner asks. A week begins on Monday, in the hall's own time zone.
CREATE OR REPLACE VIEW weeks AS
SELECT coalesce(h.name, b.site_id) AS hall, date_trunc('week', b.flight_date AT TIME ZONE coalesce(h.time_zone, 'UTC'))::date AS week,
       count(*) AS bookings,
       coalesce(sum(b.minutes_booked) FILTER (WHERE b.ended IS NULL), 0) AS minutes,
       coalesce(sum(b.minutes_booked) FILTER (WHERE b.ended IS NULL AND b.arrived_at IS NOT NULL), 0) AS minutes_flown,
       count(*) FILTER (WHERE b.ended = 'cancelled') AS cancelled,
       count(*) FILTER (WHERE b.ended = 'no_show') AS no_shows,
       h.minutes_per_quarter_hour * 4 * h.open_hours_per_week AS capacity
FROM bookings b LEFT JOIN halls h USING (site_id) GROUP BY b.site_id, h.name, week, h.minutes_per_quarter_hour, h.open_hours_per_week;

CREATE OR REPLACE VIEW no_shows AS
SELECT hall, week, no_shows, bookings - cancelled AS expected, round(100.0 * no_shows / nullif(bookings - cancelled, 0), 1) AS percent FROM weeks;

CREATE OR REPLACE VIEW use_of_capacity AS
SELECT hall, week, minutes, capacity, round(100.0 * minutes / nullif(capacity, 0), 1) AS percent FROM weeks;

-- Members by the week of their first flight in a hall.
CREATE OR REPLACE VIEW new_flyers AS
SELECT hall, week, count(*) AS flyers FROM (
    SELECT coalesce(h.name, b.site_id) AS hall, b.site_id, b.member_id,
           date_trunc('week', min(b.flight_date) AT TIME ZONE coalesce(h.time_zone, 'UTC'))::date AS week
    FROM bookings b LEFT JOIN halls h USING (site_id) WHERE b.ended IS NULL AND b.member_id IS NOT NULL
    GROUP BY b.site_id, h.name, h.time_zone, b.member_id) first GROUP BY hall, week;

-- Which hall is how far behind. A hall without new rows is silent: `silent` is since when nothing came.
CREATE OR REPLACE VIEW lag AS
SELECT coalesce(h.name, s.site_id) AS hall, s.site_id, s.last_seq, s.last_at, s.received_at, s.received_at - s.last_at AS delay,
       now() - s.received_at AS silent, now() - s.gap_at AS missing, s.gaps, s.restores, s.batches, s.bytes
FROM sites s LEFT JOIN halls h USING (site_id);

-- The page for Prometheus: of each hall what `lag` says, and how many messages of the stream are not taken yet.
CREATE OR REPLACE FUNCTION metrics(pending bigint) RETURNS text LANGUAGE sql STABLE AS $$
SELECT string_agg(part, '' ORDER BY place) FROM (
    SELECT place, format(E'# HELP tunneldesk_chain_%1$s %2$s\n# TYPE tunneldesk_chain_%1$s %3$s\n', name, help, kind)
           || coalesce(string_agg(format(E'tunneldesk_chain_%s%s %s\n', name, labels, value), '' ORDER BY labels), '') AS part
    FROM (VALUES (1, 'pending_messages', 'gauge', 'Messages of the stream that are not taken yet.'),
                 (2, 'hall_last_row_timestamp_seconds', 'gauge', 'The moment of the last row of a hall.'),
                 (3, 'hall_received_timestamp_seconds', 'gauge', 'When rows of a hall came last.'),
                 (4, 'hall_missing_seconds', 'gauge', 'For how long rows of a hall have been missing; 0: none are.'),
                 (5, 'hall_gaps_total', 'counter', 'Batches of a hall before which rows were missing.'),
                 (6, 'hall_restores_total', 'counter', 'Restores of a hall to an earlier moment.'),
                 (7, 'hall_bytes_total', 'counter', 'Bytes of the batches of a hall, as they came.')) AS metric(place, name, kind, help)
    LEFT JOIN LATERAL (
        SELECT '' AS labels, pending::numeric AS value WHERE place = 1
        UNION ALL
        SELECT format('{hall=%s,site_id="%s"}', to_json(hall), site_id),
               CASE place WHEN 2 THEN extract(epoch FROM last_at) WHEN 3 THEN extract(epoch FROM received_at)
                          WHEN 4 THEN coalesce(extract(epoch FROM missing), 0) WHEN 5 THEN gaps WHEN 6 THEN restores WHEN 7 THEN bytes END
        FROM lag WHERE place > 1) AS found ON value IS NOT NULL
    GROUP BY place, name, help, kind) AS parts
$$;

-- The consumer writes rows and nothing else; readers see the views and nothing else.
DO $$ BEGIN
    IF NOT EXISTS (SELECT FROM pg_roles WHERE rolname = 'chain_writer') THEN CREATE ROLE chain_writer LOGIN; END IF;
    IF NOT EXISTS (SELECT FROM pg_roles WHERE rolname = 'chain_reader') THEN CREATE ROLE chain_reader LOGIN; END IF;
END $$;
REVOKE ALL ON ALL TABLES IN SCHEMA chain FROM chain_writer, chain_reader;
GRANT USAGE ON SCHEMA chain TO chain_writer, chain_reader;
GRANT SELECT, INSERT, UPDATE ON streams, sites, history, bookings TO chain_writer;
GRANT DELETE ON bookings TO chain_writer;
GRANT SELECT ON newest, lag, halls TO chain_writer;
GRANT INSERT ON refused TO chain_writer;
GRANT SELECT ON refused TO chain_writer;
GRANT SELECT ON weeks, no_shows, use_of_capacity, new_flyers, lag TO chain_reader;
ALTER ROLE chain_writer SET search_path = chain;
ALTER ROLE chain_reader SET search_path = chain;
