-- site.key eecaeff7ca13017d5d459fbfcf0fdb256d19097caade74d05b6df52e6f8326d2
BEGIN TRANSACTION;
CREATE TABLE booking_tokens (
    token_hash BLOB    PRIMARY KEY,                  -- SHA-256 of the token
    member_id  INTEGER NOT NULL REFERENCES members,
    booking_id INTEGER REFERENCES bookings,
    created_at INTEGER NOT NULL,
    ends_at    INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
INSERT INTO "booking_tokens" VALUES(X'AE20EE55F50352C549819A4B8951A726A66A8C995408D3CE2A43DA64846CE921',1,1,1795272718,1795359118);
CREATE TABLE bookings (
    booking_id      INTEGER PRIMARY KEY AUTOINCREMENT,
    partner_id      INTEGER NOT NULL REFERENCES partners,
    member_id       INTEGER NOT NULL REFERENCES members,
    registration_id INTEGER,
    purchase_id     INTEGER,
    purchase_date   INTEGER,
    flight_date     INTEGER NOT NULL,
    minutes_booked  INTEGER NOT NULL CHECK (minutes_booked BETWEEN 1 AND 600),
    product_id      INTEGER,
    tunnel_id       INTEGER NOT NULL REFERENCES tunnels,
    checkin_time    INTEGER,
    created_at      INTEGER NOT NULL,
    updated_at      INTEGER NOT NULL
) STRICT;
INSERT INTO "bookings" VALUES(1,1,1,7001,NULL,NULL,1795359118,15,NULL,1,NULL,1795272718,1795272718);
CREATE TABLE certificates (
    code      TEXT    PRIMARY KEY,                   -- 24 letters and digits, a keyed hash of all below
    member_id INTEGER REFERENCES members,            -- null once the member was erased: the paper is then void
    cat_group TEXT    NOT NULL,
    cat_id    TEXT    NOT NULL,
    track     TEXT    NOT NULL,
    since     INTEGER NOT NULL,
    issued_at INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
CREATE TABLE email_tokens (
    token_hash BLOB    PRIMARY KEY,                  -- SHA-256 of the token
    member_id  INTEGER NOT NULL REFERENCES members,
    email      TEXT    NOT NULL,                     -- the address that it confirms, if it is still the member's
    created_at INTEGER NOT NULL,
    ends_at    INTEGER NOT NULL,
    used_at    INTEGER
) STRICT, WITHOUT ROWID;
INSERT INTO "email_tokens" VALUES(X'D2B8735E6AE6361F6A510CCF333A23A43273FCCADB8E6395D7CD6E8794C6D3FE',1,'jane@example.com',1795272718,1795359118,NULL);
CREATE TABLE entries (
    entry_id            INTEGER PRIMARY KEY AUTOINCREMENT,
    member_id           INTEGER NOT NULL REFERENCES members,
    kind                TEXT    NOT NULL CHECK (kind IN ('time', 'skill', 'safety')),
    status              TEXT    NOT NULL CHECK (status IN ('pending', 'open', 'denied', 'suspended', 'cancelled')),
    entry_date          INTEGER NOT NULL,
    minutes             INTEGER NOT NULL DEFAULT 0 CHECK (minutes BETWEEN 0 AND 600),
    tunnel_id           INTEGER NOT NULL REFERENCES tunnels,
    comment             TEXT    NOT NULL DEFAULT '',
    author_id           INTEGER NOT NULL REFERENCES members,
    booking_id          INTEGER UNIQUE REFERENCES bookings,  -- the booking that made this time entry
    cat_group           TEXT    NOT NULL DEFAULT '',         -- programme; skills and safety only, like all below
    cat_id              TEXT    NOT NULL DEFAULT '',         -- level of the programme
    skill               TEXT    NOT NULL DEFAULT '',
    instructor_id       INTEGER REFERENCES members,          -- the signer, asked or done
    comments_instructor TEXT    NOT NULL DEFAULT '',
    comment_denial      TEXT    NOT NULL DEFAULT '',
    approval_date       INTEGER,
    created_at          INTEGER NOT NULL,
    updated_at          INTEGER NOT NULL,
    CHECK (kind <> 'time' OR minutes >= 1),
    CHECK (kind = 'time' OR cat_group <> '')
) STRICT;
INSERT INTO "entries" VALUES(1,1,'time','open',1790000000,12,1,'',1,NULL,'','','',NULL,'','',NULL,1790000000,1790000000);
INSERT INTO "entries" VALUES(2,1,'skill','denied',1790000000,0,1,'',1,NULL,'Flyer','','',NULL,'','',NULL,1790000000,1790000100);
CREATE TABLE history (
    seq        INTEGER PRIMARY KEY AUTOINCREMENT,    -- only grows, without gaps
    partner_id INTEGER NOT NULL REFERENCES partners,
    event      TEXT    NOT NULL CHECK (event IN ('user.created', 'user.edited', 'user.deleted', 'token.issued',
                                                 'token.refused', 'booking.recorded', 'booking.changed')),
    at         INTEGER NOT NULL,
    user_id    INTEGER REFERENCES partner_users,
    member_id  INTEGER,                              -- as the partner gave it: for a refused token perhaps nobody's
    booking_id INTEGER REFERENCES bookings,
    detail     TEXT    NOT NULL DEFAULT '{}'         -- JSON: the booking's values, or why a token was refused
) STRICT;
INSERT INTO "history" VALUES(1,1,'booking.recorded',1795272718,NULL,1,1,'{"registration_id":7001,"purchase_id":null,"purchase_date":null,"flight_date":1795359118,"minutes_booked":15,"product_id":null,"tunnel_id":1,"checkin_time":null}');
INSERT INTO "history" VALUES(2,1,'token.issued',1795272718,NULL,1,1,'{}');
CREATE TABLE holdings (
    member_id INTEGER NOT NULL REFERENCES members,
    cat_group TEXT    NOT NULL,
    cat_id    TEXT    NOT NULL,
    track     TEXT    NOT NULL,                      -- Static, Dynamic, Formation … or '' where a programme has none
    since     INTEGER NOT NULL,
    PRIMARY KEY (member_id, cat_group, cat_id, track)
) STRICT, WITHOUT ROWID;
CREATE TABLE media (
    member_id  INTEGER PRIMARY KEY REFERENCES members,
    jpeg       BLOB    NOT NULL,
    updated_at INTEGER NOT NULL
) STRICT;
CREATE TABLE members (
    member_id           INTEGER PRIMARY KEY AUTOINCREMENT,
    username            TEXT    NOT NULL COLLATE NOCASE UNIQUE,
    screen_name         TEXT    NOT NULL,
    real_name           TEXT    NOT NULL,
    email               TEXT    NOT NULL COLLATE NOCASE,
    email_confirmed_at  INTEGER,
    phone               TEXT    NOT NULL DEFAULT '',
    phone_confirmed_at  INTEGER,
    country             TEXT    NOT NULL DEFAULT '',
    country_code        TEXT    NOT NULL DEFAULT '',
    dob                 INTEGER,                     -- moment of birth's midnight; null when not given
    tunnel_id           INTEGER REFERENCES tunnels,  -- the home tunnel
    role                TEXT    NOT NULL DEFAULT 'member' CHECK (role IN ('member', 'desk', 'admin', 'sync')),
    password_hash       TEXT,                        -- Argon2id as a PHC string; null: no sign-in by password
    terms_accepted_at   INTEGER,
    paid_until          INTEGER,                     -- membership is paid for until then
    banned_at           INTEGER,
    pin_hash            BLOB,                        -- keyed hash of the booking PIN
    pin_misses          INTEGER NOT NULL DEFAULT 0,
    pin_paused_until    INTEGER NOT NULL DEFAULT 0,
    flight_minutes      INTEGER NOT NULL DEFAULT 0,  -- sum of the open time entries, kept by the triggers below
    join_date           INTEGER NOT NULL,
    updated_at          INTEGER NOT NULL
) STRICT;
INSERT INTO "members" VALUES(1,'jane','jane','Jane Doe','jane@example.com',1795272718,'',NULL,'','',NULL,1,'member','$argon2id$v=19$m=19456,t=2,p=1$AcX0X5GzZV8OcPbpoHJiLQ$MT7g0bXOgB3SgTydBOXE4QuTItRFHku/NXsVFD33WmM',1795272718,NULL,NULL,X'2C03756137D1677E73A4656A7A498E249632F36A81749863343FE35EB19736AB',0,0,12,1795272718,1795272718);
INSERT INTO "members" VALUES(2,'sync','sync','Sync job','sync@localhost.invalid',NULL,'',NULL,'','',NULL,NULL,'sync',NULL,NULL,NULL,NULL,NULL,0,0,0,1795272718,1795272718);
INSERT INTO "members" VALUES(3,'mark','mark','mark','mark@example.com',1795272718,'',NULL,'','',NULL,1,'admin','$argon2id$v=19$m=19456,t=2,p=1$aGfWVJbxV1xzFBpV2iBBPw$65uWaXJbeRdkt32Srx0vxBaMTFghs3DzpJsiiMDKi9I',NULL,NULL,NULL,NULL,0,0,0,1795272718,1795272718);
CREATE TABLE notices (
    notification_id INTEGER PRIMARY KEY AUTOINCREMENT,
    member_id       INTEGER NOT NULL REFERENCES members,
    subject         TEXT    NOT NULL,                -- key of the text in the translations
    detail          TEXT    NOT NULL DEFAULT '{}',   -- JSON: the values the text speaks of
    created_at      INTEGER NOT NULL,
    read_at         INTEGER
) STRICT;
INSERT INTO "notices" VALUES(1,1,'notice.booking_recorded','{"booking_id":1,"flight_date":1795359118,"minutes":15}',1795272718,NULL);
CREATE TABLE outbox (
    message_id  INTEGER PRIMARY KEY AUTOINCREMENT,
    channel     TEXT    NOT NULL CHECK (channel IN ('email', 'sms')),
    member_id   INTEGER REFERENCES members,
    recipient   TEXT    NOT NULL,
    language    TEXT    NOT NULL,                    -- ISO 639-1
    template    TEXT    NOT NULL,                    -- its name in assets/mail
    sealed      BLOB,                                -- the template's values as JSON, sealed; null once it is sent
    state       TEXT    NOT NULL DEFAULT 'waiting' CHECK (state IN ('waiting', 'sent', 'dead')),
    tries       INTEGER NOT NULL DEFAULT 0,
    next_try_at INTEGER NOT NULL,
    last_error  TEXT    NOT NULL DEFAULT '',         -- what the server said, without the message
    provider_id TEXT    NOT NULL DEFAULT '',         -- how the mail provider's events name it
    created_at  INTEGER NOT NULL,
    sent_at     INTEGER
, first_tried_at INTEGER) STRICT;
INSERT INTO "outbox" VALUES(1,'email',1,'jane@example.com','en','confirm_email',X'6927A0F7081E7F1AB988D9A5010E4B74DCB54191176F1E63FEC58A87BCF94200155D81B575EEE5CA5EF8169F373AEFD167518E7170675E04DAC033E31CB7BDDB92B5F87DD4527DCF2C2379363A933A50FCB39F710B864A6EA7FD90546194B4E1B48EFC','waiting',0,1795272718,'','',1795272718,NULL,NULL);
CREATE TABLE partner_networks (
    partner_id INTEGER NOT NULL REFERENCES partners,
    network    TEXT    NOT NULL,                     -- CIDR
    PRIMARY KEY (partner_id, network)
) STRICT, WITHOUT ROWID;
CREATE TABLE partner_secrets (
    secret_id  INTEGER PRIMARY KEY AUTOINCREMENT,
    partner_id INTEGER NOT NULL REFERENCES partners,
    sealed     BLOB    NOT NULL,                     -- the hex text that is the HMAC key, sealed by the site key
    created_at INTEGER NOT NULL,
    ends_at    INTEGER                               -- null: until rotated out
) STRICT;
INSERT INTO "partner_secrets" VALUES(1,1,X'6927A0F7005B7765DA68A25A5C0C49BC7218E3BCF9CAFF5EA0DE4C071F8E96EA5EF4F01AAAF1FA73B68AAF9E40C3C8D3263FB4703378D8A4FF99437AE0D384A308687152F8A4EBFCB1ECDEB10BBB62DB5C5244F7E7EC5C07903CF30D964A409646C9EC00772A86C06CE5253E',1795272717,NULL);
CREATE TABLE partner_signatures (
    partner_id INTEGER NOT NULL REFERENCES partners,
    signature  BLOB    NOT NULL,
    used_at    INTEGER NOT NULL,
    PRIMARY KEY (partner_id, signature)
) STRICT, WITHOUT ROWID;
CREATE TABLE partner_users (
    user_id    INTEGER PRIMARY KEY AUTOINCREMENT,
    partner_id INTEGER NOT NULL REFERENCES partners,
    email      TEXT    NOT NULL COLLATE NOCASE,
    created_at INTEGER NOT NULL,
    updated_at INTEGER NOT NULL,
    deleted_at INTEGER                               -- final for the partner; the desk may undo it
) STRICT;
CREATE TABLE partners (
    partner_id          INTEGER PRIMARY KEY AUTOINCREMENT,
    client_id           TEXT    NOT NULL UNIQUE,
    name                TEXT    NOT NULL,
    strict              INTEGER NOT NULL DEFAULT 0 CHECK (strict IN (0, 1)),
    requests_per_minute INTEGER,                     -- null: no limit
    created_at          INTEGER NOT NULL,
    revoked_at          INTEGER
) STRICT;
INSERT INTO "partners" VALUES(1,'e3a2d25e21a3fb66','Skyline Bookings',0,6000,1795272717,NULL);
CREATE TABLE passcode_sends (
    address_hash BLOB    NOT NULL,
    sent_at      INTEGER NOT NULL
) STRICT;
CREATE TABLE passcodes (
    member_id  INTEGER NOT NULL REFERENCES members,
    purpose    TEXT    NOT NULL,
    code_hash  BLOB    NOT NULL,                     -- keyed
    target     TEXT    NOT NULL,                     -- the address or number it went to
    tries      INTEGER NOT NULL DEFAULT 0,
    created_at INTEGER NOT NULL,
    ends_at    INTEGER NOT NULL,
    PRIMARY KEY (member_id, purpose)
) STRICT, WITHOUT ROWID;
CREATE TABLE passkey_challenges (
    challenge_hash BLOB    PRIMARY KEY,              -- keyed
    kind           TEXT    NOT NULL CHECK (kind IN ('sign_in', 'register')),
    member_id      INTEGER NOT NULL,                 -- 0: nobody has that name, or the member has no passkey; that costs
                                                     -- as much as a member, so it is no reference and every row is indexed
    session_hash   BLOB,                             -- registering: the session that asked, which must still be in force
    sealed         BLOB    NOT NULL,                 -- what the answer is checked against
    created_at     INTEGER NOT NULL,
    ends_at        INTEGER NOT NULL,
    CHECK (kind = 'sign_in' OR (member_id <> 0 AND session_hash IS NOT NULL))
) STRICT, WITHOUT ROWID;
CREATE TABLE passkeys (
    passkey_id    INTEGER PRIMARY KEY AUTOINCREMENT,
    member_id     INTEGER NOT NULL REFERENCES members,
    rp_id         TEXT    NOT NULL,                  -- the name of the site that it was made for; it works at no other
    credential_id BLOB    NOT NULL UNIQUE,
    public_key    TEXT    NOT NULL,                  -- JSON: the key and what its authenticator said of itself
    counter       INTEGER NOT NULL DEFAULT 0,        -- of signatures, at the last sign-in; stays 0 where the authenticator has none
    name          TEXT    NOT NULL,
    device_id     INTEGER,                           -- as the client gave it
    created_at    INTEGER NOT NULL,
    used_at       INTEGER
) STRICT;
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
INSERT INTO "payments" VALUES(1,1,'pi_1',3000,'CHF','succeeded',1790000000,1790000100);
CREATE TABLE recovery_codes (
    member_id INTEGER NOT NULL REFERENCES members,
    code_hash BLOB    NOT NULL,                      -- keyed
    PRIMARY KEY (member_id, code_hash)
) STRICT, WITHOUT ROWID;
CREATE TABLE refinery_schema_history(
             version int4 PRIMARY KEY,
             name VARCHAR(255),
             applied_on VARCHAR(255),
             checksum VARCHAR(255));
INSERT INTO "refinery_schema_history" VALUES(1,'foundation','2026-11-21T14:51:57.533112959Z','14096704634564195803');
INSERT INTO "refinery_schema_history" VALUES(2,'messages','2026-11-21T14:51:57.533162383Z','12915224809723010300');
INSERT INTO "refinery_schema_history" VALUES(3,'outbox','2026-11-21T14:51:57.533166519Z','8666244380645259726');
INSERT INTO "refinery_schema_history" VALUES(4,'second_factor','2026-11-21T14:51:57.533170745Z','9446239410253565136');
INSERT INTO "refinery_schema_history" VALUES(5,'passkeys','2026-11-21T14:51:57.53317386Z','9900289244804071951');
INSERT INTO "refinery_schema_history" VALUES(6,'certificates_media_payments','2026-11-21T14:51:57.533177365Z','12364981646845880684');
INSERT INTO "refinery_schema_history" VALUES(7,'accounts','2026-11-21T14:51:57.53318055Z','10893434381882833501');
INSERT INTO "refinery_schema_history" VALUES(8,'social','2026-11-21T14:51:57.533183684Z','990313291092082519');
CREATE TABLE replays (
    replay_key  BLOB    PRIMARY KEY,
    body_digest BLOB    NOT NULL,                    -- keyed: a body may hold a password
    answer      BLOB    NOT NULL,
    answered_at INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
CREATE TABLE second_factors (
    member_id      INTEGER PRIMARY KEY REFERENCES members,
    kind           TEXT    CHECK (kind IN ('totp', 'passcode')),  -- what is on; null: nothing yet
    sealed         BLOB,                             -- the authenticator's secret, sealed
    last_step      INTEGER NOT NULL DEFAULT 0,       -- time step of the last code that was used: none up to it works again
    since          INTEGER,
    sealed_pending BLOB,                             -- a secret that was handed out and not proven yet, sealed
    pending_until  INTEGER NOT NULL DEFAULT 0,
    CHECK ((kind IS 'totp') = (sealed IS NOT NULL))
) STRICT;
CREATE TABLE security_answers (
    member_id   INTEGER NOT NULL REFERENCES members,
    question    INTEGER NOT NULL,                    -- number in the question catalogue
    answer_hash TEXT    NOT NULL,                    -- Argon2id, of the trimmed and lower-cased answer
    PRIMARY KEY (member_id, question)
) STRICT, WITHOUT ROWID;
CREATE TABLE sessions (
    token_hash   BLOB    PRIMARY KEY,                -- SHA-256 of the token
    member_id    INTEGER NOT NULL REFERENCES members,
    user_agent   TEXT    NOT NULL DEFAULT '',
    created_at   INTEGER NOT NULL,
    seen_at      INTEGER NOT NULL,                   -- to within a twenty-fourth of idle_seconds
    idle_seconds INTEGER NOT NULL,
    ends_at      INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
INSERT INTO "sessions" VALUES(X'BA0F198FA8BFF98839767B3E3829B9ADFAEA53AB7B898B7079922B96267F8DAC',2,'issued in the shell',1795272718,1795272718,34560000,1829832718);
INSERT INTO "sessions" VALUES(X'DCC2CF3A93F4C5AD537AB0A0808888AE7AC148A4A981BA42074108EE42591BDF',1,'curl/7.88.1',1795272718,1795272718,2592000,1810824718);
CREATE TABLE site (
    only             INTEGER PRIMARY KEY CHECK (only = 1),
    site_id          TEXT    NOT NULL,               -- 32 hex digits; with `history.seq` the idempotency key upstream
    tunnel_id        INTEGER NOT NULL REFERENCES tunnels,
    key_check        BLOB    NOT NULL,               -- sealed by the site key: a file beside the wrong key is noticed at once
    clock_high_water INTEGER NOT NULL,               -- the latest moment this file has seen; time never goes back behind it
    created_at       INTEGER NOT NULL
, sealed_hash_key BLOB) STRICT;
INSERT INTO "site" VALUES(1,'02c1dd1a4e15736bf167eb988f8b507b',1,X'6927A0F7B709106E2C53C986B4D46E4CEC6890727494976674EC89B351385CD4892F36B00FE08C4516E4A6A2AEA2700D0C4EFD9E56B649180E157C',1795272717,1795272717,X'6927A0F7384DE9CC065A45816A2B960A994800F1E0B1D756DED39C809941118818C69A83FCA3C713D369F5F709D2E9CD0BD522B94AF45FE028FF4FB2251D46DEDCEDCDE9E7D58E8D151C03DD');
CREATE TABLE social_links (
    provider   TEXT    NOT NULL CHECK (provider IN ('google', 'apple', 'facebook')),
    subject    TEXT    NOT NULL,                     -- how the network names the person, for ever
    member_id  INTEGER NOT NULL REFERENCES members,
    created_at INTEGER NOT NULL,
    used_at    INTEGER NOT NULL,                     -- the latest sign-in by it
    PRIMARY KEY (provider, subject)
) STRICT, WITHOUT ROWID;
CREATE TABLE throttles (
    throttle_key BLOB    PRIMARY KEY,
    misses       INTEGER NOT NULL,
    missed_at    INTEGER NOT NULL,
    closed_until INTEGER NOT NULL
, account_key BLOB) STRICT, WITHOUT ROWID;
CREATE TABLE tunnels (
    tunnel_id  INTEGER PRIMARY KEY,
    name       TEXT    NOT NULL,
    city       TEXT    NOT NULL DEFAULT '',
    country    TEXT    NOT NULL,                     -- ISO 3166-1 alpha-2, upper case
    created_at INTEGER NOT NULL
) STRICT;
INSERT INTO "tunnels" VALUES(1,'Windwerk','Winterthur','CH',1795272717);
CREATE UNIQUE INDEX members_by_confirmed_email ON members (email) WHERE email_confirmed_at IS NOT NULL;
CREATE INDEX members_by_email ON members (email);
CREATE INDEX sessions_by_member ON sessions (member_id);
CREATE INDEX throttles_by_age ON throttles (missed_at);
CREATE INDEX partner_secrets_by_partner ON partner_secrets (partner_id);
CREATE INDEX partner_signatures_by_age ON partner_signatures (used_at);
CREATE UNIQUE INDEX partner_users_by_email ON partner_users (partner_id, email) WHERE deleted_at IS NULL;
CREATE INDEX partner_users_newest ON partner_users (partner_id, user_id) WHERE deleted_at IS NULL;
CREATE UNIQUE INDEX bookings_by_registration ON bookings (partner_id, registration_id) WHERE registration_id IS NOT NULL;
CREATE UNIQUE INDEX bookings_by_purchase ON bookings (partner_id, purchase_id, flight_date)
    WHERE registration_id IS NULL AND purchase_id IS NOT NULL;
CREATE UNIQUE INDEX bookings_by_flight ON bookings (partner_id, member_id, flight_date)
    WHERE registration_id IS NULL AND purchase_id IS NULL;
CREATE INDEX bookings_by_member ON bookings (member_id, flight_date);
CREATE INDEX bookings_by_partner ON bookings (partner_id, booking_id);
CREATE INDEX bookings_by_flight_date ON bookings (flight_date);
CREATE INDEX booking_tokens_by_member ON booking_tokens (member_id);
CREATE INDEX booking_tokens_by_end ON booking_tokens (ends_at);
CREATE INDEX history_by_partner ON history (partner_id, seq);
CREATE INDEX history_by_moment ON history (at, seq);
CREATE TRIGGER history_is_kept BEFORE DELETE ON history BEGIN SELECT RAISE(ABORT, 'history is append-only'); END;
CREATE TRIGGER history_is_final BEFORE UPDATE ON history BEGIN SELECT RAISE(ABORT, 'history is append-only'); END;
CREATE INDEX entries_by_member ON entries (member_id, kind, entry_date, entry_id);
CREATE INDEX entries_waiting ON entries (instructor_id, entry_date) WHERE status = 'pending';
CREATE INDEX holdings_by_level ON holdings (cat_group, cat_id, track, member_id);
CREATE TRIGGER flight_minutes_after_insert AFTER INSERT ON entries WHEN NEW.kind = 'time' AND NEW.status = 'open' BEGIN
    UPDATE members SET flight_minutes = flight_minutes + NEW.minutes WHERE member_id = NEW.member_id;
END;
CREATE TRIGGER flight_minutes_after_delete AFTER DELETE ON entries WHEN OLD.kind = 'time' AND OLD.status = 'open' BEGIN
    UPDATE members SET flight_minutes = flight_minutes - OLD.minutes WHERE member_id = OLD.member_id;
END;
CREATE TRIGGER flight_minutes_after_update AFTER UPDATE OF kind, status, minutes, member_id ON entries BEGIN
    UPDATE members SET flight_minutes = flight_minutes - OLD.minutes
        WHERE member_id = OLD.member_id AND OLD.kind = 'time' AND OLD.status = 'open';
    UPDATE members SET flight_minutes = flight_minutes + NEW.minutes
        WHERE member_id = NEW.member_id AND NEW.kind = 'time' AND NEW.status = 'open';
END;
CREATE INDEX notices_by_member ON notices (member_id, notification_id);
CREATE INDEX replays_by_age ON replays (answered_at);
CREATE INDEX outbox_due ON outbox (next_try_at) WHERE state = 'waiting';
CREATE INDEX outbox_by_provider ON outbox (provider_id) WHERE provider_id <> '';
CREATE INDEX outbox_by_member ON outbox (member_id) WHERE member_id IS NOT NULL;
CREATE INDEX passcode_sends_by_address ON passcode_sends (address_hash, sent_at);
CREATE INDEX passcode_sends_by_age ON passcode_sends (sent_at);
CREATE INDEX outbox_dead ON outbox (message_id) WHERE state = 'dead';
CREATE INDEX outbox_done ON outbox (created_at) WHERE state <> 'waiting';
CREATE INDEX passkeys_by_member ON passkeys (member_id, passkey_id);
CREATE INDEX passkey_challenges_by_member ON passkey_challenges (member_id);
CREATE INDEX passkey_challenges_by_end ON passkey_challenges (ends_at);
CREATE INDEX certificates_by_member ON certificates (member_id) WHERE member_id IS NOT NULL;
CREATE INDEX payments_by_member ON payments (member_id, payment_id);
CREATE INDEX email_tokens_by_member ON email_tokens (member_id);
CREATE INDEX email_tokens_by_age ON email_tokens (created_at);
CREATE INDEX throttles_by_account ON throttles (account_key) WHERE account_key IS NOT NULL;
CREATE INDEX social_links_by_member ON social_links (member_id);
DELETE FROM "sqlite_sequence";
INSERT INTO "sqlite_sequence" VALUES('partners',1);
INSERT INTO "sqlite_sequence" VALUES('partner_secrets',1);
INSERT INTO "sqlite_sequence" VALUES('members',3);
INSERT INTO "sqlite_sequence" VALUES('outbox',1);
INSERT INTO "sqlite_sequence" VALUES('bookings',1);
INSERT INTO "sqlite_sequence" VALUES('history',2);
INSERT INTO "sqlite_sequence" VALUES('notices',1);
INSERT INTO "sqlite_sequence" VALUES('entries',2);
INSERT INTO "sqlite_sequence" VALUES('payments',1);
COMMIT;
