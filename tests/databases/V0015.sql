-- site.key 73c60064e76c04f6b71946124a6f2b56333b18c5b0a5d31dbae5302e8c59bfd7
BEGIN TRANSACTION;
CREATE TABLE booking_tokens (
    token_hash BLOB    PRIMARY KEY,                  -- SHA-256 of the token
    member_id  INTEGER NOT NULL REFERENCES members,
    booking_id INTEGER REFERENCES bookings,
    created_at INTEGER NOT NULL,
    ends_at    INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
INSERT INTO "booking_tokens" VALUES(X'9A6DCCCA6F2A6D163F5B88313CC0EE6F38B15910B057AB04F86C0781AD97AC72',1,1,1795272441,1795358841);
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
INSERT INTO "bookings" VALUES(1,1,1,7001,NULL,NULL,1795358841,15,NULL,1,NULL,1795272441,1795272441);
CREATE TABLE callbacks (
    callback_id INTEGER PRIMARY KEY AUTOINCREMENT,
    sender      TEXT    NOT NULL CHECK (sender IN ('processor', 'app', 'mail', 'social')),
    event_key   TEXT    NOT NULL,                    -- by which a repeat is known
    event       TEXT    NOT NULL,                    -- what the sender calls it
    about       TEXT    NOT NULL DEFAULT '',         -- the payment, message or deletion that it named; never a person
    verdict     TEXT    NOT NULL,
    sealed      BLOB    NOT NULL,                    -- as it came, sealed: it speaks of people
    times       INTEGER NOT NULL DEFAULT 1,          -- how often it came; only the first time counts
    received_at INTEGER NOT NULL,
    repeated_at INTEGER,                             -- when it came last, if it came again
    UNIQUE (sender, event_key)
) STRICT;
CREATE TABLE certificates (
    code      TEXT    PRIMARY KEY,                   -- 24 letters and digits, a keyed hash of all below
    member_id INTEGER REFERENCES members,            -- null once the member was erased: the paper is then void
    cat_group TEXT    NOT NULL,
    cat_id    TEXT    NOT NULL,
    track     TEXT    NOT NULL,
    since     INTEGER NOT NULL,
    issued_at INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
CREATE TABLE contact_messages (
    contact_id INTEGER PRIMARY KEY AUTOINCREMENT,
    name       TEXT    NOT NULL,
    email      TEXT    NOT NULL,
    country    TEXT    NOT NULL DEFAULT '',          -- as it was written
    enquiry    TEXT    NOT NULL DEFAULT '',          -- what it is about, in the sender's words or the form's
    message    TEXT    NOT NULL,
    language   TEXT    NOT NULL,                     -- ISO 639-1
    member_id  INTEGER,                              -- as the sender gave it: perhaps nobody's, so it is no reference
    signed_in  INTEGER NOT NULL DEFAULT 0 CHECK (signed_in IN (0, 1)),  -- 1: it came with that member's session
    created_at INTEGER NOT NULL,
    done_at    INTEGER                               -- the desk is through with it
) STRICT;
CREATE TABLE deletions (
    code         TEXT    PRIMARY KEY,                -- 32 hex digits, for the status page
    subject_hash BLOB    NOT NULL,                   -- keyed, of the network and its name for the person
    outcome      TEXT    NOT NULL CHECK (outcome IN ('nothing', 'unlinked', 'erased')),
    asked_at     INTEGER NOT NULL,
    done_at      INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
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
INSERT INTO "devices" VALUES(X'73A4AE5CC69AA1E34DF77873DF8A1EA460E7605283B087C8D9198804B3C0A227',1,1,1795272441,1795272441);
CREATE TABLE email_tokens (
    token_hash BLOB    PRIMARY KEY,                  -- SHA-256 of the token
    member_id  INTEGER NOT NULL REFERENCES members,
    email      TEXT    NOT NULL,                     -- the address that it confirms, if it is still the member's
    created_at INTEGER NOT NULL,
    ends_at    INTEGER NOT NULL,
    used_at    INTEGER
) STRICT, WITHOUT ROWID;
INSERT INTO "email_tokens" VALUES(X'485D7B2ACA83EF6B7AE82BDF9E231F24AF3E5D83D3804EE94B9EA40E478A06AE',1,'jane@example.com',1795272440,1795358840,NULL);
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
    updated_at          INTEGER NOT NULL, opening INTEGER,
    CHECK (kind <> 'time' OR minutes >= 1),
    CHECK (kind = 'time' OR cat_group <> '')
) STRICT;
INSERT INTO "entries" VALUES(1,1,'time','open',1790000000,12,1,'',1,NULL,'','','',NULL,'','',NULL,1790000000,1790000000,NULL);
INSERT INTO "entries" VALUES(2,1,'skill','denied',1790000000,0,1,'',1,NULL,'Flyer','','',NULL,'','',NULL,1790000000,1790000100,NULL);
CREATE TABLE entry_moves (
    entry_id    INTEGER NOT NULL,
    step        INTEGER NOT NULL,                    -- from 1 on
    at          INTEGER NOT NULL,
    member_id   INTEGER NOT NULL,                    -- who moved it
    from_status TEXT    CHECK (from_status IN ('pending', 'open', 'denied', 'suspended', 'cancelled')),  -- null: it began
    to_status   TEXT    NOT NULL CHECK (to_status IN ('pending', 'open', 'denied', 'suspended', 'cancelled', 'deleted')),
    PRIMARY KEY (entry_id, step),
    CHECK (step = 1 OR from_status IS NOT NULL)
) STRICT, WITHOUT ROWID;
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
INSERT INTO "history" VALUES(1,1,'booking.recorded',1795272441,NULL,1,1,'{"registration_id":7001,"purchase_id":null,"purchase_date":null,"flight_date":1795358841,"minutes_booked":15,"product_id":null,"tunnel_id":1,"checkin_time":null}');
INSERT INTO "history" VALUES(2,1,'token.issued',1795272441,NULL,1,1,'{}');
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
, language TEXT NOT NULL DEFAULT '') STRICT;
INSERT INTO "members" VALUES(1,'jane','jane','Jane Doe','jane@example.com',1795272440,'',NULL,'','',NULL,1,'member','$argon2id$v=19$m=19456,t=2,p=1$eW+r/WMvidAM5cw7b02YwQ$r8Fv6Dc+ZYkotvHZwGojrqoeFxqJ0bTrWXsyR2OIfBU',1795272440,NULL,NULL,X'FCCF43ADCF970B0AC379955F36B9E5FF4EE08C2544BBDEA17AAD6D855E6E0701',0,0,12,1795272440,1795272441,'');
INSERT INTO "members" VALUES(2,'sync','sync','Sync job','sync@localhost.invalid',NULL,'',NULL,'','',NULL,NULL,'sync',NULL,NULL,NULL,NULL,NULL,0,0,0,1795272441,1795272441,'');
INSERT INTO "members" VALUES(3,'mark','mark','mark','mark@example.com',1795272441,'',NULL,'','',NULL,1,'admin','$argon2id$v=19$m=19456,t=2,p=1$hzoq8Y3j5HDbo2ktZlmN7Q$frcg5CwWbIUqHNorKjmS4GZpNh/RrPL0ccdcg/D7TKk',NULL,NULL,NULL,NULL,0,0,0,1795272441,1795272441,'');
CREATE TABLE notices (
    notification_id INTEGER PRIMARY KEY AUTOINCREMENT,
    member_id       INTEGER NOT NULL REFERENCES members,
    subject         TEXT    NOT NULL,                -- key of the text in the translations
    detail          TEXT    NOT NULL DEFAULT '{}',   -- JSON: the values the text speaks of
    created_at      INTEGER NOT NULL,
    read_at         INTEGER
) STRICT;
INSERT INTO "notices" VALUES(1,1,'notice.booking_recorded','{"booking_id":1,"flight_date":1795358841,"minutes":15}',1795272441,NULL);
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
, first_tried_at INTEGER, delivery     TEXT    NOT NULL DEFAULT '', deferrals    INTEGER NOT NULL DEFAULT 0, soft_bounces INTEGER NOT NULL DEFAULT 0) STRICT;
INSERT INTO "outbox" VALUES(1,'email',1,'jane@example.com','en','confirm_email',X'88F20FEDB37F1F91DA16093A4663A26061666DA9857B9EDFE12022B863D0F3DDE5972AEDE782D5DCB4B837913DF6FF06F41C9B5E0C2862E77D85592D369766DC1F376F831EF85404C8BF0499E013677BDEA5B841113D1CEF6FB841D2FB46DD7513BD83','waiting',0,1795272440,'','',1795272440,NULL,NULL,'',0,0);
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
INSERT INTO "partner_secrets" VALUES(1,1,X'88F20FED9A177F27A4DBAD51C6F91BB0DD1BB291CDE6A8112A6A2C704A78FF2D1FECBB640F60A7FB322017822D745CD9DE5FB65DE53E68AFB1F1F1991E8D4DA3150EDEF2E68AC707FBD5330C3F280E34F8E7F840EFB9587BA5F121DD6C644899233A3CB48AF05BD2213FC304',1795272440,NULL);
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
, bookings INTEGER NOT NULL DEFAULT 0, events INTEGER NOT NULL DEFAULT 0) STRICT;
INSERT INTO "partners" VALUES(1,'cd8a2df3201c8e67','Skyline Bookings',0,6000,1795272440,NULL,1,2);
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
CREATE TABLE "payments" (
    payment_id    INTEGER PRIMARY KEY AUTOINCREMENT,
    member_id     INTEGER REFERENCES members,          -- null: nobody knows yet whose it is
    intent_id     TEXT    NOT NULL UNIQUE,             -- the processor's name for it
    amount_cents  INTEGER NOT NULL CHECK (amount_cents >= 0),
    currency      TEXT    NOT NULL,                    -- ISO 4217, upper case; empty while nobody said
    status        TEXT    NOT NULL CHECK (status IN ('claimed', 'created', 'processing', 'succeeded', 'failed', 'canceled', 'refunded')),
    priced_by     TEXT    NOT NULL DEFAULT '',         -- weight of the event that the price is from
    named_member  INTEGER REFERENCES members,          -- whose it is by the processor
    named_by      TEXT    NOT NULL DEFAULT '',         -- weight of the event that said so
    claimed_by    INTEGER REFERENCES members,          -- whose it is by an app's word, where the processor is silent
    assigned_to   INTEGER REFERENCES members,          -- whose it is by the desk, which has the last word
    granted_to    INTEGER REFERENCES members,          -- whose membership it extended, and until when
    granted_until INTEGER,
    paid_before   INTEGER,                             -- the member's paid_until before that
    created_at    INTEGER NOT NULL,
    updated_at    INTEGER NOT NULL,
    CHECK ((granted_to IS NULL) = (granted_until IS NULL))
) STRICT;
INSERT INTO "payments" VALUES(1,1,'pi_1',3000,'CHF','succeeded','',NULL,'',NULL,NULL,NULL,NULL,NULL,1790000000,1790000100);
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
INSERT INTO "refinery_schema_history" VALUES(1,'foundation','2026-11-21T14:47:20.246293698Z','14096704634564195803');
INSERT INTO "refinery_schema_history" VALUES(2,'messages','2026-11-21T14:47:20.246346297Z','12915224809723010300');
INSERT INTO "refinery_schema_history" VALUES(3,'outbox','2026-11-21T14:47:20.246350283Z','8666244380645259726');
INSERT INTO "refinery_schema_history" VALUES(4,'second_factor','2026-11-21T14:47:20.246354329Z','9446239410253565136');
INSERT INTO "refinery_schema_history" VALUES(5,'passkeys','2026-11-21T14:47:20.246357393Z','9900289244804071951');
INSERT INTO "refinery_schema_history" VALUES(6,'certificates_media_payments','2026-11-21T14:47:20.246360838Z','12364981646845880684');
INSERT INTO "refinery_schema_history" VALUES(7,'accounts','2026-11-21T14:47:20.246364133Z','10893434381882833501');
INSERT INTO "refinery_schema_history" VALUES(8,'social','2026-11-21T14:47:20.246367118Z','990313291092082519');
INSERT INTO "refinery_schema_history" VALUES(9,'scale','2026-11-21T14:47:20.246370022Z','12426056062574172480');
INSERT INTO "refinery_schema_history" VALUES(10,'devices_and_steps','2026-11-21T14:47:20.246373818Z','697299988771811146');
INSERT INTO "refinery_schema_history" VALUES(11,'entry_moves','2026-11-21T14:47:20.246376822Z','14719996371619009134');
INSERT INTO "refinery_schema_history" VALUES(12,'catalogue_digest','2026-11-21T14:47:20.246380237Z','16158334886415336910');
INSERT INTO "refinery_schema_history" VALUES(13,'callbacks','2026-11-21T14:47:20.246383432Z','1453962603425805559');
INSERT INTO "refinery_schema_history" VALUES(14,'contact_tunnels_reminders','2026-11-21T14:47:20.246386677Z','6507986137270487015');
INSERT INTO "refinery_schema_history" VALUES(15,'tls','2026-11-21T14:47:20.246390122Z','5777672414612955433');
CREATE TABLE reminders (
    member_id  INTEGER NOT NULL REFERENCES members,
    programme  TEXT    NOT NULL,
    kind       TEXT    NOT NULL CHECK (kind IN ('first', 'last')),
    renewal    INTEGER NOT NULL,                     -- the end of the currency that it speaks of
    created_at INTEGER NOT NULL,
    PRIMARY KEY (member_id, programme, kind, renewal)
) STRICT, WITHOUT ROWID;
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
INSERT INTO "sessions" VALUES(X'2C1EF261DB9B9615E6EE97DB5FAEBE4658D4423551C5F7A23C9316C29E49F262',1,'curl/7.88.1',1795272441,1795272441,2592000,1810824441);
INSERT INTO "sessions" VALUES(X'CA3FBCE4F8351520BC33FB352D4B231A147A09C394BBD5CED647455818D6F018',2,'issued in the shell',1795272441,1795272441,34560000,1829832441);
CREATE TABLE sign_in_steps (
    member_id INTEGER PRIMARY KEY REFERENCES members,
    step_hash BLOB    NOT NULL UNIQUE,               -- SHA-256 of its token
    tries     INTEGER NOT NULL DEFAULT 0,
    ends_at   INTEGER NOT NULL
) STRICT;
CREATE TABLE signers (
    signer_id    INTEGER PRIMARY KEY AUTOINCREMENT,
    tunnel_id    INTEGER NOT NULL REFERENCES tunnels,
    member_id    INTEGER NOT NULL REFERENCES members,
    cat_group    TEXT    NOT NULL,                   -- the programme as whose holder they sign: Instructor, Trainer …
    cat_id       TEXT    NOT NULL DEFAULT '',        -- a first signer's: stands in for this level, and for a training on
                                                     -- the day of the appointment; '' for everybody else
    appointed_by INTEGER REFERENCES members,         -- null: at the machine's shell
    appointed_at INTEGER NOT NULL,
    ended_by     INTEGER REFERENCES members,
    ended_at     INTEGER                             -- null: in force
) STRICT;
CREATE TABLE site (
    only             INTEGER PRIMARY KEY CHECK (only = 1),
    site_id          TEXT    NOT NULL,               -- 32 hex digits; with `history.seq` the idempotency key upstream
    tunnel_id        INTEGER NOT NULL REFERENCES tunnels,
    key_check        BLOB    NOT NULL,               -- sealed by the site key: a file beside the wrong key is noticed at once
    clock_high_water INTEGER NOT NULL,               -- the latest moment this file has seen; time never goes back behind it
    created_at       INTEGER NOT NULL
, sealed_hash_key BLOB, catalogue_digest BLOB) STRICT;
INSERT INTO "site" VALUES(1,'e2320c24462aec24dfef1a9a8e56ec44',1,X'88F20FEDB880A6DC5E6D7C656EBF8467BB1E2B90E813C5176F0DE902E8E9244DA28B20A86A26D0793521364A13405515456FEF0FE4F6CEA4FFE797',1795272440,1795272440,X'88F20FED77263FFA7FC2FD157354465BEB15E1BA2B60DADE76C5825656DA4CECB9FF732ED60C40D0EB73270BAAB97CF23E2401DB4CB5EDFEDF38BE25EDBB04A3581AD1BCE81F13D2D640A5DA',X'441CF884BB49375CFEFD50780C3FA2939BF0360CF9BAABD926509BB96A1D87DA');
CREATE TABLE social_links (
    provider   TEXT    NOT NULL CHECK (provider IN ('google', 'apple', 'facebook')),
    subject    TEXT    NOT NULL,                     -- how the network names the person, for ever
    member_id  INTEGER NOT NULL REFERENCES members,
    created_at INTEGER NOT NULL,
    used_at    INTEGER NOT NULL, name TEXT NOT NULL DEFAULT '',                     -- the latest sign-in by it
    PRIMARY KEY (provider, subject)
) STRICT, WITHOUT ROWID;
CREATE TABLE suppressed (
    address   TEXT    PRIMARY KEY COLLATE NOCASE,
    reason    TEXT    NOT NULL,                      -- the event that marked it: hard_bounce, spam, unsub, reject, blacklist
    detail    TEXT    NOT NULL DEFAULT '',           -- what the mail provider said of it
    since     INTEGER NOT NULL,                      -- the provider's moment of the latest such event
    lifted_at INTEGER                                -- by the desk, or by the provider
) STRICT, WITHOUT ROWID;
CREATE TABLE throttles (
    throttle_key BLOB    PRIMARY KEY,
    misses       INTEGER NOT NULL,
    missed_at    INTEGER NOT NULL,
    closed_until INTEGER NOT NULL
, account_key BLOB) STRICT, WITHOUT ROWID;
CREATE TABLE tls (
    kind        TEXT    PRIMARY KEY CHECK (kind IN ('authority', 'server')),
    names       TEXT    NOT NULL,                    -- JSON: host names and addresses it is good for
    subject     TEXT    NOT NULL,                    -- the authority's name; the server's has the name of its first host
    certificate TEXT    NOT NULL,                    -- PEM
    sealed_key  BLOB    NOT NULL,                    -- PKCS#8, sealed
    created_at  INTEGER NOT NULL,
    ends_at     INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
INSERT INTO "tls" VALUES('authority','["tunnel.example.org"]','Windwerk tunneldesk authority','-----BEGIN CERTIFICATE-----
MIIB8jCCAZegAwIBAgIUI46cuU+lZYCvcSXSGFf6nI92NEMwCgYIKoZIzj0EAwIw
KDEmMCQGA1UEAwwdV2luZHdlcmsgdHVubmVsZGVzayBhdXRob3JpdHkwHhcNMjYx
MTIwMDAwMDAwWhcNMzYxMTE3MDAwMDAwWjAoMSYwJAYDVQQDDB1XaW5kd2VyayB0
dW5uZWxkZXNrIGF1dGhvcml0eTBZMBMGByqGSM49AgEGCCqGSM49AwEHA0IABFbZ
yS0RAdy9YtXhg7Q6wEC8toFQ39sWbEKlWOQmCxxsBzY4CXKnQ+XKrS2+SXtOzW7X
9a7ruH+dZZmB7K1piRmjgZ4wgZswDgYDVR0PAQH/BAQDAgEGMFYGA1UdHgEB/wRM
MEqgFjAUghJ0dW5uZWwuZXhhbXBsZS5vcmehMDAKhwgAAAAAAAAAADAihyAAAAAA
AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAADAdBgNVHQ4EFgQUPIinTQJvfV/B
5VVW/3EhvyOFLgIwEgYDVR0TAQH/BAgwBgEB/wIBADAKBggqhkjOPQQDAgNJADBG
AiEAnH9PMORFNt2QSmYzarmA4G269iCh9PMj+xucXJThkKgCIQC9lYpiwXxCNbeQ
WrjnG3eIqXu3jiXh8dWN15goY7ymEQ==
-----END CERTIFICATE-----
',X'88F20FED529DA3F00D6A43154A340EB29C157A10B0672B08BD3E121EF8DE1F961506116A2A6E1BD781C2FC495C4D6548E6ADAD36CEB731EC3529E77A1EDEB77F2DD2FF978A82F1D9474A7B699A8E2A85A18C7097291C9D3333B4591C8D2A1CBAF02E4967C55AAD9A56C24E1ED6DD54B3389972AEAE47FECE4E0C467860496099D151EFB30617EA63E1057DEC43BB55958D47571058CEAD409640D80C671503C975890F916CDCAE29E5A02748029D3D39742BA75413BD',1795272441,2110492800);
INSERT INTO "tls" VALUES('server','["tunnel.example.org"]','tunnel.example.org','-----BEGIN CERTIFICATE-----
MIIBrjCCAVSgAwIBAgIUQoPh6dRp6A5GKDDKSmON3pJu3fswCgYIKoZIzj0EAwIw
KDEmMCQGA1UEAwwdV2luZHdlcmsgdHVubmVsZGVzayBhdXRob3JpdHkwHhcNMjYx
MTIwMDAwMDAwWhcNMjcxMjIyMDAwMDAwWjAdMRswGQYDVQQDDBJ0dW5uZWwuZXhh
bXBsZS5vcmcwWTATBgcqhkjOPQIBBggqhkjOPQMBBwNCAARpnJaxX2wZDgtif6bA
y82wo9rHLi48G42UiYLo/B/QIO9hRMUCpmsDLGaYkET1c6zwCbyOEgp9djo+uCmT
WndLo2cwZTAfBgNVHSMEGDAWgBQ8iKdNAm99X8HlVVb/cSG/I4UuAjAdBgNVHREE
FjAUghJ0dW5uZWwuZXhhbXBsZS5vcmcwDgYDVR0PAQH/BAQDAgeAMBMGA1UdJQQM
MAoGCCsGAQUFBwMBMAoGCCqGSM49BAMCA0gAMEUCIQDsBZKEDInNNgz+PfVXY9ry
P5fMdy0iklCwLezlJhQCIQIgZxKT3CQSxLlGgRQcG8MhjWlIZA/vgvhtU9EqFB7S
f8E=
-----END CERTIFICATE-----
',X'88F20FED9CEBB78058C303B446EBBB29BA94DA2AC49580B3150DCBCDB90320A0DD6D4954CDC47456FD2ECAF29A866F06CFF92BABF4A052AB75DFDCFE297056FCE37CE23DC6B90B6618CB2FF9E464AED6023378BDA90EA99FCD0D58C5D95868C29C6993E28BE7DA2C3A3E55B3DAA1D194F27D774E4F6C367082EA0F6CE1AB80E7B56F94160F7D1F7A18FBBCD54C4B143C3DA6F05859F94F97C8B70CD5C0F9E55663A6B52207D6A843093D45A02ABAD89DF7869CD61CF5',1795272441,1829433600);
CREATE TABLE tunnels (
    tunnel_id  INTEGER PRIMARY KEY,
    name       TEXT    NOT NULL,
    city       TEXT    NOT NULL DEFAULT '',
    country    TEXT    NOT NULL,                     -- ISO 3166-1 alpha-2, upper case
    created_at INTEGER NOT NULL
, time_zone TEXT NOT NULL DEFAULT '', website TEXT NOT NULL DEFAULT '', phone TEXT NOT NULL DEFAULT '') STRICT;
INSERT INTO "tunnels" VALUES(1,'Windwerk','Winterthur','CH',1795272440,'','','');
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
CREATE INDEX email_tokens_by_member ON email_tokens (member_id);
CREATE INDEX email_tokens_by_age ON email_tokens (created_at);
CREATE INDEX throttles_by_account ON throttles (account_key) WHERE account_key IS NOT NULL;
CREATE INDEX social_links_by_member ON social_links (member_id);
CREATE TRIGGER bookings_counted_after_insert AFTER INSERT ON bookings BEGIN
    UPDATE partners SET bookings = bookings + 1 WHERE partner_id = NEW.partner_id;
END;
CREATE TRIGGER bookings_counted_after_delete AFTER DELETE ON bookings BEGIN
    UPDATE partners SET bookings = bookings - 1 WHERE partner_id = OLD.partner_id;
END;
CREATE TRIGGER events_counted_after_insert AFTER INSERT ON history BEGIN
    UPDATE partners SET events = events + 1 WHERE partner_id = NEW.partner_id;
END;
CREATE INDEX sessions_by_end ON sessions (min(ends_at, seen_at + idle_seconds));
CREATE INDEX devices_by_member ON devices (member_id);
CREATE INDEX devices_by_use ON devices (used_at);
CREATE UNIQUE INDEX signers_in_force ON signers (tunnel_id, member_id, cat_group) WHERE ended_at IS NULL;
CREATE INDEX signers_by_member ON signers (member_id);
CREATE TRIGGER entry_moves_are_kept BEFORE DELETE ON entry_moves BEGIN SELECT RAISE(ABORT, 'entry_moves is append-only'); END;
CREATE TRIGGER entry_moves_are_final BEFORE UPDATE ON entry_moves BEGIN SELECT RAISE(ABORT, 'entry_moves is append-only'); END;
CREATE INDEX entries_by_opening ON entries (opening) WHERE opening IS NOT NULL;
CREATE INDEX callbacks_by_age ON callbacks (sender, received_at);
CREATE INDEX payments_by_member ON payments (member_id, payment_id);
CREATE INDEX payments_unmatched ON payments (payment_id) WHERE member_id IS NULL;
CREATE INDEX payments_claimed ON payments (created_at) WHERE status = 'claimed';
CREATE INDEX deletions_by_subject ON deletions (subject_hash, asked_at);
CREATE INDEX contact_messages_open ON contact_messages (contact_id) WHERE done_at IS NULL;
CREATE INDEX contact_messages_done ON contact_messages (done_at) WHERE done_at IS NOT NULL;
CREATE INDEX reminders_by_renewal ON reminders (renewal);
CREATE INDEX entries_flown ON entries (entry_date, entry_id, member_id) WHERE kind = 'time';
CREATE INDEX entries_trained ON entries (entry_date, entry_id, member_id) WHERE kind = 'safety' AND status = 'open';
CREATE INDEX notices_unread ON notices (member_id) WHERE read_at IS NULL;
DELETE FROM "sqlite_sequence";
INSERT INTO "sqlite_sequence" VALUES('payments',1);
INSERT INTO "sqlite_sequence" VALUES('partners',1);
INSERT INTO "sqlite_sequence" VALUES('partner_secrets',1);
INSERT INTO "sqlite_sequence" VALUES('members',3);
INSERT INTO "sqlite_sequence" VALUES('outbox',1);
INSERT INTO "sqlite_sequence" VALUES('bookings',1);
INSERT INTO "sqlite_sequence" VALUES('history',2);
INSERT INTO "sqlite_sequence" VALUES('notices',1);
INSERT INTO "sqlite_sequence" VALUES('entries',2);
COMMIT;
