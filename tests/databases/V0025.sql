-- site.key a294424f9114866df282dcc5c5e19754c28efd8e3413f4bd687bc8ef355dfdec
BEGIN TRANSACTION;
CREATE TABLE audit (
    seq    INTEGER PRIMARY KEY,                      -- from 1 on, without gaps
    at     INTEGER NOT NULL,
    who    TEXT    NOT NULL,                         -- member:7, cli:root(0), partner:<client-id>, job:<name>, sender:<name>
    deed   TEXT    NOT NULL,                         -- member.banned and so on
    whom   TEXT    NOT NULL,                         -- site, member:7, partner:<client-id>, message:3 and so on
    origin TEXT    NOT NULL,                         -- where from: an address, shell, or site for what runs by itself
    detail TEXT    NOT NULL DEFAULT '{}',            -- JSON: numbers, words of the product's own, names of fields
    hash   BLOB    NOT NULL                          -- SHA-256 over the hash before and all of the above
) STRICT;
INSERT INTO "audit" VALUES(1,1795282087,'cli:root(0)','site.made','site','shell','{}',X'7EDC937271041B5ADD73E27B85D6EC6E25BF717103AA5C4EF2EAFC23BF43D4C2');
INSERT INTO "audit" VALUES(2,1795282088,'cli:root(0)','partner.added','partner:e359a916f72e96ef','shell','{"strict":false,"networks":0}',X'4808500051F58CCDB66C5BF271658ED6DFCD36F0B8E2DF6CA2CA12A99EAF8C34');
INSERT INTO "audit" VALUES(3,1795282089,'cli:root(0)','member.confirmed','member:1','shell','{}',X'02636D014DA0D4DF98C583030685E9F069D08FC10DE44677F48FCE4FC6C50D81');
INSERT INTO "audit" VALUES(4,1795282090,'cli:root(0)','session.issued','member:2','shell','{"role":"sync"}',X'5C9D9ABB0BA085295D6822826F06D97B7184DE9DCDB009D5B4C06CEE97BD7ABA');
INSERT INTO "audit" VALUES(5,1795282091,'cli:root(0)','member.added','member:3','shell','{"role":"admin","confirmed":true}',X'5260045C87E526D625F2DF8CF5E29CBDDF56A020463DDD435B14AFFABAD5D217');
INSERT INTO "audit" VALUES(6,1795282091,'cli:root(0)','tls.made','site','shell','{"names":1}',X'0B9D5FB0DFA9BAC3A6F36BD42B7E468DB5818C0BEF873D45A45523CCBE88014A');
CREATE TABLE booking_tokens (
    token_hash BLOB    PRIMARY KEY,                  -- SHA-256 of the token
    member_id  INTEGER NOT NULL REFERENCES members,
    booking_id INTEGER REFERENCES bookings,
    created_at INTEGER NOT NULL,
    ends_at    INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
INSERT INTO "booking_tokens" VALUES(X'F162778471BA74D322020E80244B0698879FDC3AE8422FE4903E38299E45C323',1,1,1795282090,1795368490);
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
, arrived_at INTEGER, arrived_by INTEGER) STRICT;
INSERT INTO "bookings" VALUES(1,1,1,7001,NULL,NULL,1795368490,15,NULL,1,NULL,1795282090,1795282090,NULL,NULL);
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
INSERT INTO "devices" VALUES(X'56DDBB007B08715B0CEFEB1D94250653ECA3B3A4C8B6C844150B6D860028926B',1,1,1795282090,1795282090);
CREATE TABLE email_tokens (
    token_hash BLOB    PRIMARY KEY,                  -- SHA-256 of the token
    member_id  INTEGER NOT NULL REFERENCES members,
    email      TEXT    NOT NULL,                     -- the address that it confirms, if it is still the member's
    created_at INTEGER NOT NULL,
    ends_at    INTEGER NOT NULL,
    used_at    INTEGER
) STRICT, WITHOUT ROWID;
INSERT INTO "email_tokens" VALUES(X'79A76589CCB584361B0C9F9E2E82315E71B36A6E6B3C60841259A3E5C7092D7C',1,'jane@example.com',1795282089,1795368489,NULL);
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
CREATE TABLE erasures (
    member_id  INTEGER PRIMARY KEY,                  -- no reference: in a file that was set back there may be no such member
    join_date  INTEGER NOT NULL,
    erased_at  INTEGER NOT NULL,
    rebuilt_at INTEGER                               -- since then no page of the file holds old bytes; null: that is still to do
) STRICT;
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
INSERT INTO "history" VALUES(1,1,'booking.recorded',1795282090,NULL,1,1,'{"registration_id":7001,"purchase_id":null,"purchase_date":null,"flight_date":1795368490,"minutes_booked":15,"product_id":null,"tunnel_id":1,"checkin_time":null}');
INSERT INTO "history" VALUES(2,1,'token.issued',1795282090,NULL,1,1,'{}');
CREATE TABLE holdings (
    member_id INTEGER NOT NULL REFERENCES members,
    cat_group TEXT    NOT NULL,
    cat_id    TEXT    NOT NULL,
    track     TEXT    NOT NULL,                      -- Static, Dynamic, Formation … or '' where a programme has none
    since     INTEGER NOT NULL,
    PRIMARY KEY (member_id, cat_group, cat_id, track)
) STRICT, WITHOUT ROWID;
CREATE TABLE kiosk_codes (
    member_id INTEGER PRIMARY KEY REFERENCES members,
    code_hash BLOB    NOT NULL UNIQUE,               -- SHA-256: the code has 66 random bits and lives two minutes
    ends_at   INTEGER NOT NULL
) STRICT;
CREATE TABLE kiosk_guests (
    kiosk_id  INTEGER PRIMARY KEY REFERENCES kiosks,
    member_id INTEGER NOT NULL REFERENCES members,
    seen_at   INTEGER NOT NULL
) STRICT;
CREATE TABLE kiosk_pairings (
    code_hash BLOB    PRIMARY KEY,                   -- keyed: eight digits could all be tried
    name      TEXT    NOT NULL,
    made_by   INTEGER,
    ends_at   INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
CREATE TABLE kiosks (
    kiosk_id   INTEGER PRIMARY KEY,
    name       TEXT    NOT NULL,                     -- where it stands
    key_hash   BLOB    UNIQUE,                       -- SHA-256 of the key in its cookie; NULL once it is revoked
    paired_by  INTEGER,                              -- the clerk; NULL from the shell. No reference: the kiosk stays when
                                                     -- the clerk goes
    paired_at  INTEGER NOT NULL,
    used_at    INTEGER NOT NULL,                     -- the latest sign-in there
    revoked_at INTEGER
) STRICT;
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
INSERT INTO "members" VALUES(1,'jane','jane','Jane Doe','jane@example.com',1795282089,'',NULL,'','',NULL,1,'member','$argon2id$v=19$m=19456,t=2,p=1$1dvhWfwMH1Q10xVUFAcynA$5mA23AoyxftNFdZfh1ZfVP/jQ+BqMEY8cKC/pN5KPHM',1795282089,NULL,NULL,X'160EBABEE069FA876D9A1F0BDE72C0C2626F70C0BE20B19DBF3A5F56A755803F',0,0,12,1795282089,1795282090,'');
INSERT INTO "members" VALUES(2,'sync','sync','Sync job','sync@localhost.invalid',NULL,'',NULL,'','',NULL,NULL,'sync',NULL,NULL,NULL,NULL,NULL,0,0,0,1795282090,1795282090,'');
INSERT INTO "members" VALUES(3,'mark','mark','mark','mark@example.com',1795282091,'',NULL,'','',NULL,1,'admin','$argon2id$v=19$m=19456,t=2,p=1$iFcQwF0cKLEjEeHxC3zXNw$auBuaK9+G6LLpUPguwbwOe35NhppWEnCjPHbnLl3hP4',NULL,NULL,NULL,NULL,0,0,0,1795282091,1795282091,'');
CREATE TABLE misses (
    hour   INTEGER PRIMARY KEY,                      -- its beginning, in Unix seconds
    misses INTEGER NOT NULL
) STRICT;
CREATE TABLE notices (
    notification_id INTEGER PRIMARY KEY AUTOINCREMENT,
    member_id       INTEGER NOT NULL REFERENCES members,
    subject         TEXT    NOT NULL,                -- key of the text in the translations
    detail          TEXT    NOT NULL DEFAULT '{}',   -- JSON: the values the text speaks of
    created_at      INTEGER NOT NULL,
    read_at         INTEGER
) STRICT;
INSERT INTO "notices" VALUES(1,1,'notice.booking_recorded','{"booking_id":1,"flight_date":1795368490,"minutes":15}',1795282090,NULL);
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
INSERT INTO "outbox" VALUES(1,'email',1,'jane@example.com','en','confirm_email',X'F76BDAF66339E7F6E7F9420CDDA8D55221E81D53D987974ABE023A8DC80C20E57A10D34CDFF431184DE19E73BD3B0E40F7C46402F6C5407399A7E90E659D981AB62EFE9BD1107D028FA2327DA9B84C20282ACA76984825326AF77026F773AED1223320','waiting',0,1795282089,'','',1795282089,NULL,NULL,'',0,0);
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
INSERT INTO "partner_secrets" VALUES(1,1,X'F76BDAF6AE2B1D5BBBE69BC63353E6E871B226053E436F86DC908F0F299C6573E786043595301A2B7E8484AF01EA6DD272D25DF22311EE0E4F19F77802F1A2EB147BB86EC876D83E0BD95EBD6676273F7E5908E251F801FCDF4AFD08223F09516160FE8A3148A4D48026FC34',1795282088,NULL);
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
INSERT INTO "partners" VALUES(1,'e359a916f72e96ef','Skyline Bookings',0,6000,1795282088,NULL,1,2);
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
             version INT4 PRIMARY KEY,
             name VARCHAR(255),
             applied_on VARCHAR(255),
             checksum VARCHAR(255));
INSERT INTO "refinery_schema_history" VALUES(1,'foundation','2026-11-21T17:28:07Z','14096704634564195803');
INSERT INTO "refinery_schema_history" VALUES(2,'messages','2026-11-21T17:28:07Z','12915224809723010300');
INSERT INTO "refinery_schema_history" VALUES(3,'outbox','2026-11-21T17:28:07Z','8666244380645259726');
INSERT INTO "refinery_schema_history" VALUES(4,'second_factor','2026-11-21T17:28:07Z','9446239410253565136');
INSERT INTO "refinery_schema_history" VALUES(5,'passkeys','2026-11-21T17:28:07Z','9900289244804071951');
INSERT INTO "refinery_schema_history" VALUES(6,'certificates_media_payments','2026-11-21T17:28:07Z','12364981646845880684');
INSERT INTO "refinery_schema_history" VALUES(7,'accounts','2026-11-21T17:28:07Z','10893434381882833501');
INSERT INTO "refinery_schema_history" VALUES(8,'social','2026-11-21T17:28:07Z','990313291092082519');
INSERT INTO "refinery_schema_history" VALUES(9,'scale','2026-11-21T17:28:07Z','12426056062574172480');
INSERT INTO "refinery_schema_history" VALUES(10,'devices_and_steps','2026-11-21T17:28:07Z','697299988771811146');
INSERT INTO "refinery_schema_history" VALUES(11,'entry_moves','2026-11-21T17:28:07Z','14719996371619009134');
INSERT INTO "refinery_schema_history" VALUES(12,'catalogue_digest','2026-11-21T17:28:07Z','16158334886415336910');
INSERT INTO "refinery_schema_history" VALUES(13,'callbacks','2026-11-21T17:28:07Z','1453962603425805559');
INSERT INTO "refinery_schema_history" VALUES(14,'contact_tunnels_reminders','2026-11-21T17:28:07Z','6507986137270487015');
INSERT INTO "refinery_schema_history" VALUES(15,'tls','2026-11-21T17:28:07Z','5777672414612955433');
INSERT INTO "refinery_schema_history" VALUES(16,'audit','2026-11-21T17:28:07Z','15867713236251379116');
INSERT INTO "refinery_schema_history" VALUES(17,'erasures','2026-11-21T17:28:07Z','13667930959934579600');
INSERT INTO "refinery_schema_history" VALUES(18,'sync','2026-11-21T17:28:07Z','8684623671707711589');
INSERT INTO "refinery_schema_history" VALUES(19,'version','2026-11-21T17:28:07Z','321012504238544127');
INSERT INTO "refinery_schema_history" VALUES(21,'arrivals','2026-11-21T17:28:07Z','11338565152842897608');
INSERT INTO "refinery_schema_history" VALUES(22,'flown_from_the_index','2026-11-21T17:28:07Z','6295003506049380883');
INSERT INTO "refinery_schema_history" VALUES(23,'member_search','2026-11-21T17:28:07Z','2366960201688087130');
INSERT INTO "refinery_schema_history" VALUES(24,'desk_reports','2026-11-21T17:28:07Z','11191787544235354283');
INSERT INTO "refinery_schema_history" VALUES(25,'kiosks','2026-11-21T17:28:07Z','16686120442709390469');
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
INSERT INTO "sessions" VALUES(X'CD4C6EE083AB43489B53082E1137E6B855A2B22BB8CB85A3A862DB9F8709DDCB',1,'curl/7.88.1',1795282090,1795282090,2592000,1810834090);
INSERT INTO "sessions" VALUES(X'EC15B1380F6EFB680303E1DC1FCCA5982BB3EA832516EFA27B8EFECDAFE4FA14',2,'issued in the shell',1795282090,1795282090,34560000,1829842090);
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
, sealed_hash_key BLOB, catalogue_digest BLOB, audit_seq INTEGER NOT NULL DEFAULT 0, audit_hash BLOB, version TEXT NOT NULL DEFAULT '') STRICT;
INSERT INTO "site" VALUES(1,'59627102039e308474220b3c25b7a181',1,X'F76BDAF6069E3E5C697D1B0792B5F3B70E16A7E364BD80E9C5790F4272A9976DE188F41292BE3CB4E4209F3A1357FF12BCA4AC43125E2EA0DD5EBA',1795282087,1795282087,X'F76BDAF670A4C75F48DA5788EE9C3B4C31DE7FD74B40AE112F7A0AF4106DF0E509CABB59EAE13A1A3836EACD5F1ABDF172B6CF32EAEC0748F2C88452F3BA34D09AAB2BE2A70678270A735ECC',X'441CF884BB49375CFEFD50780C3FA2939BF0360CF9BAABD926509BB96A1D87DA',6,X'0B9D5FB0DFA9BAC3A6F36BD42B7E468DB5818C0BEF873D45A45523CCBE88014A','0.1.0 (1298f3e7e711)');
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
CREATE TABLE sync (
    only          INTEGER PRIMARY KEY CHECK (only = 1),
    upstream      TEXT    NOT NULL,                  -- whom the numbers below speak of, without credentials
    cursor        INTEGER NOT NULL,                  -- every row up to this `seq` was taken, or stands in `sync_refused`
    held          INTEGER NOT NULL,                  -- the last `seq` that the receiver has
    offered       INTEGER NOT NULL,                  -- the highest `seq` that ever left this file
    pending       INTEGER NOT NULL,                  -- the last `seq` of a batch whose fate is not known; 0: there is none
    refused_run   INTEGER NOT NULL,                  -- rows refused since the receiver last took one
    misses        INTEGER NOT NULL,                  -- tries in a row that came to nothing
    trouble       TEXT    NOT NULL,                  -- why the last one did; '': it went well
    tried_at      INTEGER,
    taken_at      INTEGER,
    batches       INTEGER NOT NULL,                  -- that were taken, in all
    rows          INTEGER NOT NULL,
    renumbered    INTEGER NOT NULL,                  -- rows that got new numbers, because the receiver had others under theirs
    renumbered_at INTEGER
) STRICT;
CREATE TABLE sync_refused (
    seq        INTEGER PRIMARY KEY,
    refused_at INTEGER NOT NULL,
    tried_at   INTEGER NOT NULL,
    tries      INTEGER NOT NULL,
    error      TEXT    NOT NULL                      -- what the receiver said
) STRICT;
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
MIIB8jCCAZegAwIBAgIUe1aVm/DecDOEQvnBp4yEzVeXQBUwCgYIKoZIzj0EAwIw
KDEmMCQGA1UEAwwdV2luZHdlcmsgdHVubmVsZGVzayBhdXRob3JpdHkwHhcNMjYx
MTIwMDAwMDAwWhcNMzYxMTE3MDAwMDAwWjAoMSYwJAYDVQQDDB1XaW5kd2VyayB0
dW5uZWxkZXNrIGF1dGhvcml0eTBZMBMGByqGSM49AgEGCCqGSM49AwEHA0IABMqi
VNhhkrhgXzhLZ1EwozX9n8Yx3d84P7p5RHn7OsBfouFajvSmwwaqJfUo03q1czBj
juJyd2f6dCpVsH5yfQKjgZ4wgZswDgYDVR0PAQH/BAQDAgEGMFYGA1UdHgEB/wRM
MEqgFjAUghJ0dW5uZWwuZXhhbXBsZS5vcmehMDAKhwgAAAAAAAAAADAihyAAAAAA
AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAADAdBgNVHQ4EFgQU3+TpvN3nDCwX
rMZkYsi/2XQz+BEwEgYDVR0TAQH/BAgwBgEB/wIBADAKBggqhkjOPQQDAgNJADBG
AiEA3iu3u/HndNXU+ckk2SKgRKoPBZkfSY58R6Zr7ppPFTsCIQDWHNCJ7Nc9pgNT
uwDhmP9YelgnM6NbM8LL3PFTmKaFLw==
-----END CERTIFICATE-----
',X'F76BDAF6B67FD68C09DC85326A91F8C5969C0023A7C7DB3F278089D4CC2AC4FC7FC3850BA5F4DF979236D054193B8BEBD79490C15234F9EEEA1EE797E022BFA51B7A063EDE13FC27DD54ACD487D5BD3C186D88A98F26CC6069F92B4DC34CECA31E4896BB5EC002D990158F61C92E7425FE954D72CE1596F6E816EAF39C864D10E070BA72DD09FEFE3D14469CE24A78254EB8584C65466D5F4AE7E31807027E9E93D110391A34C0F0DA4D19B2A8A583DE5B729B647694',1795282091,2110492800);
INSERT INTO "tls" VALUES('server','["tunnel.example.org"]','tunnel.example.org','-----BEGIN CERTIFICATE-----
MIIBrjCCAVSgAwIBAgIUYQmnQhBYgaiFo7nprQMn41X8fI8wCgYIKoZIzj0EAwIw
KDEmMCQGA1UEAwwdV2luZHdlcmsgdHVubmVsZGVzayBhdXRob3JpdHkwHhcNMjYx
MTIwMDAwMDAwWhcNMjcxMjIyMDAwMDAwWjAdMRswGQYDVQQDDBJ0dW5uZWwuZXhh
bXBsZS5vcmcwWTATBgcqhkjOPQIBBggqhkjOPQMBBwNCAAQEH/xQE2RHrBTSeZzS
qSG2R5mygmuaGOnbVZsJXCupw+CzCcgtdRDf9HbB1VtX/9IaHRUK9vdPje6TCLn6
3766o2cwZTAfBgNVHSMEGDAWgBTf5Om83ecMLBesxmRiyL/ZdDP4ETAdBgNVHREE
FjAUghJ0dW5uZWwuZXhhbXBsZS5vcmcwDgYDVR0PAQH/BAQDAgeAMBMGA1UdJQQM
MAoGCCsGAQUFBwMBMAoGCCqGSM49BAMCA0gAMEUCIBiw6xXZ860NuKewm1fK2G+V
4idB40I7q67F1+VlZ+0CAiEAmxjvHvVDZW8uClmWtSMXO1MOBQAu5Ai4OquDn/0f
PHE=
-----END CERTIFICATE-----
',X'F76BDAF6D17000C7A137A6F9213F01EB4B5C40FD655E08A43C0EBAF6FFAAE2DFE8C082FDF9FACAD185F5E496B297FC3538590873B7E3C651FD518DD64519F6A4A8B541A9349B47E8C0E492531186B89DEB5516E2D1BEDD43AF422AF9F85C7FE341A8EB13C5634BF9CF7669F9545EACF16A9BCB69E725CBA71A74C050DD3D0669BB41467730427263D277B030CFEE860C9AAE8F7141311EE3407746E096B2122C353CEBEDF0F35075F0A9D9FEC9C284C9B40A15BD0561',1795282091,1829433600);
CREATE TABLE tunnels (
    tunnel_id  INTEGER PRIMARY KEY,
    name       TEXT    NOT NULL,
    city       TEXT    NOT NULL DEFAULT '',
    country    TEXT    NOT NULL,                     -- ISO 3166-1 alpha-2, upper case
    created_at INTEGER NOT NULL
, time_zone TEXT NOT NULL DEFAULT '', website TEXT NOT NULL DEFAULT '', phone TEXT NOT NULL DEFAULT '') STRICT;
INSERT INTO "tunnels" VALUES(1,'Windwerk','Winterthur','CH',1795282087,'','','');
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
CREATE INDEX booking_tokens_by_member ON booking_tokens (member_id);
CREATE INDEX booking_tokens_by_end ON booking_tokens (ends_at);
CREATE INDEX history_by_partner ON history (partner_id, seq);
CREATE TRIGGER history_is_kept BEFORE DELETE ON history BEGIN SELECT RAISE(ABORT, 'history is append-only'); END;
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
CREATE INDEX entries_trained ON entries (entry_date, entry_id, member_id) WHERE kind = 'safety' AND status = 'open';
CREATE INDEX notices_unread ON notices (member_id) WHERE read_at IS NULL;
CREATE INDEX audit_by_who ON audit (who);
CREATE INDEX audit_by_whom ON audit (whom);
CREATE INDEX audit_by_deed ON audit (deed);
CREATE TRIGGER audit_is_final BEFORE UPDATE ON audit BEGIN SELECT RAISE(ABORT, 'the audit log is append-only'); END;
CREATE TRIGGER audit_is_kept BEFORE DELETE ON audit BEGIN SELECT RAISE(ABORT, 'the audit log is append-only'); END;
CREATE TRIGGER audit_goes_on BEFORE INSERT ON audit WHEN NEW.seq <> (SELECT audit_seq + 1 FROM site) BEGIN
    SELECT RAISE(ABORT, 'the audit log goes on where it ends');
END;
CREATE TRIGGER audit_ends_forward BEFORE UPDATE OF audit_seq ON site WHEN NEW.audit_seq <> OLD.audit_seq + 1 BEGIN
    SELECT RAISE(ABORT, 'the audit log is append-only');
END;
CREATE INDEX entries_by_instructor ON entries (instructor_id) WHERE instructor_id IS NOT NULL;
CREATE INDEX entries_by_another ON entries (author_id) WHERE author_id <> member_id;
CREATE INDEX entry_moves_by_member ON entry_moves (member_id);
CREATE INDEX history_by_member ON history (member_id) WHERE member_id IS NOT NULL;
CREATE INDEX signers_by_appointer ON signers (appointed_by) WHERE appointed_by IS NOT NULL;
CREATE INDEX signers_by_ender ON signers (ended_by) WHERE ended_by IS NOT NULL;
CREATE INDEX payments_by_name ON payments (named_member) WHERE named_member IS NOT NULL;
CREATE INDEX payments_by_claim ON payments (claimed_by) WHERE claimed_by IS NOT NULL;
CREATE INDEX payments_by_desk ON payments (assigned_to) WHERE assigned_to IS NOT NULL;
CREATE INDEX payments_by_grant ON payments (granted_to) WHERE granted_to IS NOT NULL;
CREATE INDEX contact_messages_by_member ON contact_messages (member_id) WHERE member_id IS NOT NULL;
CREATE INDEX contact_messages_by_address ON contact_messages (email COLLATE NOCASE);
CREATE INDEX outbox_by_recipient ON outbox (recipient COLLATE NOCASE);
CREATE INDEX partner_users_by_address ON partner_users (email);
CREATE INDEX callbacks_by_matter ON callbacks (about) WHERE about <> '';
CREATE TRIGGER history_is_final BEFORE UPDATE OF partner_id, event, at, user_id, member_id, booking_id, detail ON history
BEGIN SELECT RAISE(ABORT, 'history is append-only'); END;
CREATE INDEX entries_by_member ON entries (member_id, kind, entry_date, entry_id, status, minutes);
CREATE VIEW member_words AS
SELECT member_id,
       replace(replace(replace(
           ' ' || real_name || iif(screen_name = real_name, '', ' ' || screen_name)
               || iif(username IN (real_name, screen_name), '', ' ' || username)
               || iif(username = substr(email, 1, instr(email, '@') - 1), '', ' ' || substr(email, 1, instr(email, '@') - 1)),
           '-', ' '), '.', ' '), '_', ' ') || ' ' || phone AS words
FROM members;
CREATE TRIGGER members_search_insert AFTER INSERT ON members BEGIN
    INSERT INTO members_search (rowid, words) SELECT member_id, words FROM member_words WHERE member_id = new.member_id;
END;
CREATE TRIGGER members_search_before BEFORE UPDATE OF real_name, screen_name, username, email, phone ON members BEGIN
    INSERT INTO members_search (members_search, rowid, words)
    SELECT 'delete', member_id, words FROM member_words WHERE member_id = old.member_id;
END;
CREATE TRIGGER members_search_after AFTER UPDATE OF real_name, screen_name, username, email, phone ON members BEGIN
    INSERT INTO members_search (rowid, words) SELECT member_id, words FROM member_words WHERE member_id = new.member_id;
END;
CREATE TRIGGER members_search_delete BEFORE DELETE ON members BEGIN
    INSERT INTO members_search (members_search, rowid, words)
    SELECT 'delete', member_id, words FROM member_words WHERE member_id = old.member_id;
END;
CREATE INDEX bookings_by_flight_date ON bookings (flight_date, tunnel_id, partner_id, minutes_booked, arrived_at);
CREATE INDEX entries_flown ON entries (entry_date, entry_id, member_id, tunnel_id, status, opening, minutes) WHERE kind = 'time';
CREATE INDEX history_by_moment ON history (at, seq, partner_id, event);
CREATE INDEX partner_users_deleted ON partner_users (partner_id, deleted_at) WHERE deleted_at IS NOT NULL;
CREATE INDEX members_with_role ON members (member_id) WHERE role <> 'member';
CREATE INDEX suppressed_latest ON suppressed (since DESC, address);
CREATE INDEX kiosk_guests_by_member ON kiosk_guests (member_id);
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
CREATE VIRTUAL TABLE members_search USING fts5(
    words, content = 'member_words', content_rowid = 'member_id', columnsize = 0,
    tokenize = 'trigram remove_diacritics 1'
);
INSERT INTO members_search (members_search, rank) VALUES ('secure-delete', 1);
INSERT INTO members_search (members_search) VALUES ('rebuild');
