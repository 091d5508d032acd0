-- The database of one tunnel's site. Moments are Unix seconds in UTC, durations are whole minutes, and the number of a row is
-- never used for another. A column that holds the number of a row refers to that row, unless its comment says why it cannot.
--
-- Until the first release this file is edited: a database that an earlier edition of it made is refused. After that it stays as
-- it is, and each change comes as the next file.


-- The site ----------------------------------------------------------------------------------------------------------------------

-- The tunnel of the site, and others that members name as their home.
CREATE TABLE tunnels (
    tunnel_id  INTEGER PRIMARY KEY,
    name       TEXT    NOT NULL,
    city       TEXT    NOT NULL DEFAULT '',
    country    TEXT    NOT NULL,                     -- ISO 3166-1 alpha-2, upper case
    time_zone  TEXT    NOT NULL DEFAULT '',          -- as IANA names it; empty: UTC
    website    TEXT    NOT NULL DEFAULT '',          -- http:// or https://
    phone      TEXT    NOT NULL DEFAULT '',          -- E.164
    created_at INTEGER NOT NULL
) STRICT;

-- Exactly one row: what this database is of.
CREATE TABLE site (
    only             INTEGER PRIMARY KEY CHECK (only = 1),
    site_id          TEXT    NOT NULL,               -- 32 hex digits; with `history.seq` the idempotency key upstream
    history_seq      INTEGER NOT NULL DEFAULT 0,     -- the last number that a row of the history was given
    events_from      INTEGER NOT NULL DEFAULT 1,     -- from this event on none is missing
    tunnel_id        INTEGER NOT NULL REFERENCES tunnels,
    version          TEXT    NOT NULL DEFAULT '',    -- of the program that opened the database last: the one to go back to
    key_check        BLOB    NOT NULL,               -- sealed by the site key, which is thereby known to be the right one
    sealed_hash_key  BLOB,                           -- the key of the keyed hashes, sealed by the site key, so that the hashes
                                                     -- stay when the site key is rotated; null: the site key itself
    clock_high_water INTEGER NOT NULL,               -- the latest moment that this database has seen; time never goes back
                                                     -- behind it
    catalogue_digest BLOB,                           -- SHA-256 of which levels take which skills, as members' levels were
                                                     -- derived last; null: they are to be derived
    audit_seq        INTEGER NOT NULL DEFAULT 0,     -- the number and the hash of the last row of the audit log, apart from it,
    audit_hash       BLOB,                           -- so that a cut end is noticed; null: it is empty
    audit_mark       BLOB,                           -- keyed hash of that end: whoever can write this file but not read the key
                                                     -- cannot set the end back
    created_at       INTEGER NOT NULL
) STRICT;

-- Certificates of https: the site's own authority, which kiosks and members' devices trust, and what it signed for this server.
CREATE TABLE tls (
    kind        TEXT    PRIMARY KEY CHECK (kind IN ('authority', 'server')),
    names       TEXT    NOT NULL,                    -- JSON: host names and addresses that it is good for
    subject     TEXT    NOT NULL,                    -- the authority's name; the server's has the name of its first host
    certificate TEXT    NOT NULL,                    -- PEM
    sealed_key  BLOB    NOT NULL,                    -- PKCS#8, sealed
    created_at  INTEGER NOT NULL,
    ends_at     INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

-- Who did what to whom from where. Rows are added and never changed, and each carries the hash of the one before, so that a
-- change or a removal is found out. Numbers and the product's own words: nothing in it is a person's.
CREATE TABLE audit (
    seq     INTEGER PRIMARY KEY,                     -- from 1 on, without gaps
    at      INTEGER NOT NULL,
    actor   TEXT    NOT NULL,                        -- member:7, cli:root(0), partner:<client-id>, job:<name>, sender:<name>
    action  TEXT    NOT NULL,                        -- member.banned and so on
    subject TEXT    NOT NULL,                        -- site, member:7, partner:<client-id>, message:3 and so on
    origin  TEXT    NOT NULL,                        -- where from: an address, shell, or site for what runs by itself
    detail  TEXT    NOT NULL DEFAULT '{}',           -- JSON: numbers, words of the product's own, names of fields
    hash    BLOB    NOT NULL                         -- SHA-256 over the hash before and all of the above
) STRICT;
CREATE INDEX audit_by_at ON audit (at);
CREATE INDEX audit_by_actor ON audit (actor);
CREATE INDEX audit_by_subject ON audit (subject);
CREATE INDEX audit_by_action ON audit (action);

CREATE TRIGGER audit_is_final BEFORE UPDATE ON audit BEGIN SELECT RAISE(ABORT, 'the audit log is append-only'); END;
CREATE TRIGGER audit_is_kept BEFORE DELETE ON audit BEGIN SELECT RAISE(ABORT, 'the audit log is append-only'); END;
-- Also keeps `INSERT OR REPLACE` from replacing a row.
CREATE TRIGGER audit_goes_on BEFORE INSERT ON audit WHEN NEW.seq <> (SELECT audit_seq + 1 FROM site) BEGIN
    SELECT RAISE(ABORT, 'the audit log goes on where it ends');
END;
CREATE TRIGGER audit_ends_forward BEFORE UPDATE OF audit_seq ON site WHEN NEW.audit_seq <> OLD.audit_seq + 1 BEGIN
    SELECT RAISE(ABORT, 'the audit log is append-only');
END;

-- How many passwords and codes were wrong in each hour, for the doctor.
CREATE TABLE failed_attempts (
    hour     INTEGER PRIMARY KEY,                    -- the moment at which it begins
    attempts INTEGER NOT NULL
) STRICT;

-- What the staff of one shift leaves for the next.
CREATE TABLE shift_note (
    only       INTEGER PRIMARY KEY CHECK (only = 1),
    text       TEXT    NOT NULL,
    member_id  INTEGER NOT NULL REFERENCES members,  -- who wrote it
    written_at INTEGER NOT NULL
) STRICT;


-- Members -----------------------------------------------------------------------------------------------------------------------

-- Members and staff. A row is never removed: an erasure empties it, so that what refers to it stays.
CREATE TABLE members (
    member_id          INTEGER PRIMARY KEY AUTOINCREMENT,
    username           TEXT    NOT NULL COLLATE NOCASE UNIQUE,
    screen_name        TEXT    NOT NULL,
    real_name          TEXT    NOT NULL,
    email              TEXT    NOT NULL COLLATE NOCASE,
    email_confirmed_at INTEGER,
    phone              TEXT    NOT NULL DEFAULT '',
    phone_confirmed_at INTEGER,
    country            TEXT    NOT NULL DEFAULT '',
    country_code       TEXT    NOT NULL DEFAULT '',
    language           TEXT    NOT NULL DEFAULT '',  -- for messages, of the latest sign-in or chosen; ISO 639-1; empty: not known
    language_chosen    INTEGER NOT NULL DEFAULT 0,   -- whether the member chose the language, so that a sign-in leaves it
    dob                INTEGER,                      -- midnight of the day of birth; null: not given
    tunnel_id          INTEGER REFERENCES tunnels,   -- the home tunnel
    role               TEXT    NOT NULL DEFAULT 'member' CHECK (role IN ('member', 'desk', 'admin', 'sync')),
    password_hash      TEXT,                         -- Argon2id as a PHC string; null: no sign-in by password
    pin_hash           BLOB,                         -- keyed hash of the booking PIN
    terms_accepted_at  INTEGER,
    paid_until         INTEGER,                      -- the membership is paid for until then
    reminded_by        TEXT    NOT NULL DEFAULT 'email' CHECK (reminded_by IN ('email', 'sms', 'none')), -- the member's choice
    board_by_number    INTEGER NOT NULL DEFAULT 0 CHECK (board_by_number IN (0, 1)), -- the member's choice: boards show no initials
    banned_at          INTEGER,
    banned_until       INTEGER,                      -- null: until somebody lifts the ban
    ban_reason         TEXT    NOT NULL DEFAULT '',
    leaves_at          INTEGER,                      -- when the account is erased, as its owner asked; null: nobody asked
    staff_note         TEXT    NOT NULL DEFAULT '',  -- for colleagues; shown to staff alone
    flight_minutes     INTEGER NOT NULL DEFAULT 0,   -- the minutes of the open time entries, and the number of all entries:
    entries            INTEGER NOT NULL DEFAULT 0,   -- triggers of the logbook keep both
    programmes         TEXT    NOT NULL DEFAULT '',  -- the programmes of which a level is held, with commas between, and whether
    holds_flyer_1      INTEGER NOT NULL DEFAULT 0,   -- Flyer level 1 is: triggers of the levels keep both
    coach_trained      INTEGER,                      -- the last open safety brief or training of each safety logbook that keeps
    instructor_trained INTEGER,                      -- a programme current; null: none. Triggers of the logbook keep the four
    trainer_trained    INTEGER,
    military_trained   INTEGER,
    join_date          INTEGER NOT NULL,
    updated_at         INTEGER NOT NULL
) STRICT;
-- Many may claim an address, and one confirms it.
CREATE UNIQUE INDEX members_by_confirmed_email ON members (email) WHERE email_confirmed_at IS NOT NULL;
CREATE INDEX members_by_email ON members (email);
-- Whether somebody is a member already is asked by the day of birth and the name.
CREATE INDEX members_by_birth ON members (dob, real_name COLLATE NOCASE) WHERE dob IS NOT NULL;
CREATE INDEX members_by_end ON members (paid_until) WHERE paid_until IS NOT NULL;
CREATE INDEX members_banned_until ON members (banned_until) WHERE banned_until IS NOT NULL;
CREATE INDEX members_leaving ON members (leaves_at) WHERE leaves_at IS NOT NULL;
-- The few who serve the others.
CREATE INDEX members_with_role ON members (member_id) WHERE role <> 'member';

-- What a member is found by, as one text: words begin after a space, so that three letters say whether a word begins so. Names
-- are found however a keyboard writes them: ß as ss, ł as l, without apostrophes, with any blank and hyphen, and their words joined. The
-- words of a search are folded alike (`src/domain/member_query/words.rs`).
CREATE VIEW member_words AS WITH
    spaced AS (
        SELECT member_id, phone,
               replace(replace(replace(replace(replace(replace(replace(replace(
                   real_name, char(160), ' '), char(8239), ' '), char(8201), ' '), char(12288), ' ')
                   , char(8208), '-'), char(8209), '-'), char(8211), '-'), char(8212), '-') AS name,
               iif(screen_name = real_name, '', ' ' || screen_name)
                   || iif(username IN (real_name, screen_name), '', ' ' || username)
                   || iif(username = substr(email, 1, instr(email, '@') - 1), '', ' ' || substr(email, 1, instr(email, '@') - 1))
                   AS others
        FROM members
    ),
    split AS (
        SELECT member_id, phone, replace(replace(replace(name, '-', ' '), '.', ' '), '_', ' ') AS name,
               replace(replace(replace(others, '-', ' '), '.', ' '), '_', ' ') AS others
        FROM spaced
    ),
    joined AS (
        SELECT member_id, phone,
               ' ' || name || others || iif(instr(trim(name), ' ') = 0, '', ' ' || replace(name, ' ', '')) AS names
        FROM split
    ),
    folded1 AS (
        SELECT member_id, phone,
        replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(names
        , 'ß', 'ss'), 'ẞ', 'ss'), 'æ', 'ae'), 'Æ', 'ae'), 'œ', 'oe'), 'Œ', 'oe'), 'þ', 'th'), 'Þ', 'th'), 'ĳ', 'ij')
        , 'Ĳ', 'ij'), 'ﬀ', 'ff'), 'ﬁ', 'fi'), 'ﬂ', 'fl'), 'ﬃ', 'ffi') AS names
        FROM joined
    ),
    folded2 AS (
        SELECT member_id, phone,
        replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(names
        , 'ﬄ', 'ffl'), 'ﬆ', 'st'), 'ø', 'o'), 'Ø', 'o'), 'ł', 'l'), 'Ł', 'l'), 'đ', 'd'), 'Đ', 'd'), 'ð', 'd')
        , 'Ð', 'd'), 'ħ', 'h'), 'Ħ', 'h'), 'ŋ', 'n'), 'Ŋ', 'n') AS names
        FROM folded1
    ),
    folded3 AS (
        SELECT member_id, phone,
        replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(names
        , 'ı', 'i'), 'İ', 'i'), 'ά', 'α'), 'Ά', 'α'), 'έ', 'ε'), 'Έ', 'ε'), 'ή', 'η'), 'Ή', 'η'), 'ί', 'ι'), 'Ί', 'ι')
        , 'ϊ', 'ι'), 'ΐ', 'ι'), 'ό', 'ο'), 'Ό', 'ο') AS names
        FROM folded2
    ),
    folded4 AS (
        SELECT member_id, phone,
        replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(names
        , 'ύ', 'υ'), 'Ύ', 'υ'), 'ϋ', 'υ'), 'ΰ', 'υ'), 'ώ', 'ω'), 'Ώ', 'ω'), 'ς', 'σ'), 'ё', 'е'), 'Ё', 'е'), '''', '')
        , '’', ''), '‘', ''), 'ʼ', ''), '′', '') AS names
        FROM folded3
    ),
    folded5 AS (
        SELECT member_id, phone,
        replace(replace(replace(replace(replace(names
        , '`', ''), '´', ''), '＇', ''), 'ʻ', ''), '·', '') AS names
        FROM folded4
    )
SELECT member_id, names || ' ' || phone AS words FROM folded5;

-- Every three letters in a row of these words, without regard to case and accents. It keeps no text of its own.
CREATE VIRTUAL TABLE members_search USING fts5(
    words, content = 'member_words', content_rowid = 'member_id', columnsize = 0,
    tokenize = 'trigram remove_diacritics 1'
);
-- What is forgotten of somebody leaves the index with the change, and not when the index is next tidied.
INSERT INTO members_search (members_search, rank) VALUES ('secure-delete', 1);

CREATE TRIGGER members_search_insert AFTER INSERT ON members BEGIN
    INSERT INTO members_search (rowid, words) SELECT member_id, words FROM member_words WHERE member_id = NEW.member_id;
END;
CREATE TRIGGER members_search_before BEFORE UPDATE OF real_name, screen_name, username, email, phone ON members BEGIN
    INSERT INTO members_search (members_search, rowid, words)
    SELECT 'delete', member_id, words FROM member_words WHERE member_id = OLD.member_id;
END;
CREATE TRIGGER members_search_after AFTER UPDATE OF real_name, screen_name, username, email, phone ON members BEGIN
    INSERT INTO members_search (rowid, words) SELECT member_id, words FROM member_words WHERE member_id = NEW.member_id;
END;
CREATE TRIGGER members_search_delete BEFORE DELETE ON members BEGIN
    INSERT INTO members_search (members_search, rowid, words)
    SELECT 'delete', member_id, words FROM member_words WHERE member_id = OLD.member_id;
END;

-- The names, addresses and numbers that a member had before: an erasure looks for them too. They go with the member.
CREATE TABLE former_names (
    name_id   INTEGER PRIMARY KEY,
    member_id INTEGER NOT NULL REFERENCES members,
    kind      TEXT    NOT NULL CHECK (kind IN ('name', 'email', 'phone')),
    word      TEXT    NOT NULL,
    UNIQUE (member_id, word)
) STRICT;

CREATE TRIGGER members_keep_former_names AFTER UPDATE OF username, screen_name, real_name, email, phone ON members
WHEN NOT EXISTS (SELECT 1 FROM erasures WHERE member_id = NEW.member_id) BEGIN
    INSERT OR IGNORE INTO former_names (member_id, kind, word)
    SELECT OLD.member_id, f.kind, f.word
    FROM (SELECT 'name' AS kind, OLD.username AS word, NEW.username AS now
          UNION ALL SELECT 'name', OLD.screen_name, NEW.screen_name
          UNION ALL SELECT 'name', OLD.real_name, NEW.real_name
          UNION ALL SELECT 'email', OLD.email, NEW.email
          UNION ALL SELECT 'phone', OLD.phone, NEW.phone) f
    WHERE f.word <> '' AND f.word IS NOT f.now;
    -- Whoever keeps changing names fills no disk.
    DELETE FROM former_names WHERE member_id = OLD.member_id AND name_id <=
        (SELECT name_id FROM former_names WHERE member_id = OLD.member_id ORDER BY name_id DESC LIMIT 1 OFFSET 100);
END;

-- One picture a member, as this site encoded it: never a byte as it was uploaded.
CREATE TABLE media (
    member_id  INTEGER PRIMARY KEY REFERENCES members,
    jpeg       BLOB    NOT NULL,
    updated_at INTEGER NOT NULL
) STRICT;

-- Whom staff calls when something happens to the member.
CREATE TABLE emergency_contacts (
    member_id  INTEGER PRIMARY KEY REFERENCES members,
    name       TEXT    NOT NULL,
    phone      TEXT    NOT NULL,
    updated_at INTEGER NOT NULL
) STRICT;

-- Who acts for a child: signs, and checks in. Ends by itself when the child is of age.
CREATE TABLE guardianships (
    guardianship_id INTEGER PRIMARY KEY AUTOINCREMENT,
    child_id        INTEGER NOT NULL REFERENCES members,
    guardian_id     INTEGER NOT NULL REFERENCES members,
    relation        TEXT    NOT NULL CHECK (relation IN ('parent', 'guardian', 'permission')),
    permission      TEXT    NOT NULL DEFAULT '',     -- what staff saw: whose written permission, of which day
    made_by         INTEGER REFERENCES members,      -- the clerk; null: the guardian
    made_at         INTEGER NOT NULL,
    announced_at    INTEGER,                         -- when both were told of the day on which the child is of age
    ended_at        INTEGER,
    CHECK (child_id <> guardian_id)
) STRICT;
CREATE UNIQUE INDEX guardianships_in_force ON guardianships (child_id, guardian_id) WHERE ended_at IS NULL;
CREATE INDEX guardianships_by_child ON guardianships (child_id);
CREATE INDEX guardianships_by_guardian ON guardianships (guardian_id);

-- Bans of members who were erased meanwhile: whoever confirms the same address or number is banned until the same day.
CREATE TABLE kept_bans (
    address_hash BLOB    PRIMARY KEY,                -- keyed, of a confirmed e-mail address or telephone number
    banned_at    INTEGER NOT NULL,
    ends_at      INTEGER                             -- null: the ban has no end
) STRICT, WITHOUT ROWID;
CREATE INDEX kept_bans_by_end ON kept_bans (ends_at) WHERE ends_at IS NOT NULL;

-- Accounts of one person that were joined into another one, the survivor; the number of a joined account leads to it.
CREATE TABLE joins (
    join_id     INTEGER PRIMARY KEY AUTOINCREMENT,
    joined_id   INTEGER NOT NULL REFERENCES members,
    survivor_id INTEGER NOT NULL REFERENCES members,
    joined_by   INTEGER REFERENCES members,          -- the admin
    joined_at   INTEGER NOT NULL,
    paid_from   INTEGER,                             -- the survivor's paid_until before, where the join made it later,
    paid_to     INTEGER,                             -- and what it made of it; null: nothing
    undone_at   INTEGER,
    CHECK (joined_id <> survivor_id)
) STRICT;
CREATE UNIQUE INDEX joins_in_force ON joins (joined_id) WHERE undone_at IS NULL;
CREATE INDEX joins_by_joined ON joins (joined_id);
CREATE INDEX joins_by_survivor ON joins (survivor_id);

-- What a join moved, so that it can be undone within a day.
CREATE TABLE joined_rows (
    join_id     INTEGER NOT NULL REFERENCES joins,
    table_name  TEXT    NOT NULL,
    column_name TEXT    NOT NULL,
    row_key     ANY     NOT NULL,                    -- the row's key: a number, or a text
    PRIMARY KEY (join_id, table_name, column_name, row_key)
) STRICT, WITHOUT ROWID;

-- Somebody signed up alone whose name, address or number is also another member's: the desk looks whether it is one person.
CREATE TABLE alikes (
    member_id  INTEGER PRIMARY KEY REFERENCES members,
    other_id   INTEGER NOT NULL REFERENCES members,
    noted_at   INTEGER NOT NULL,
    settled_at INTEGER
) STRICT;
CREATE INDEX alikes_open ON alikes (noted_at) WHERE settled_at IS NULL;
CREATE INDEX alikes_by_other ON alikes (other_id);

-- Who was erased, for ever: a database that comes back from a backup learns it again. Numbers and moments, and nothing else. The
-- moment of joining is with it, because in a database that was set back a number alone could be another person's.
CREATE TABLE erasures (
    member_id  INTEGER PRIMARY KEY,                  -- no reference: in a database that was set back there may be no such member
    join_date  INTEGER NOT NULL,
    erased_at  INTEGER NOT NULL,
    rebuilt_at INTEGER                               -- since then no page of the file holds old bytes; null: that is still to do
) STRICT;


-- Ways into an account ----------------------------------------------------------------------------------------------------------

-- A session is bound to its row: `bound` is the keyed hash of the token's hash and the member.
CREATE TABLE sessions (
    token_hash   BLOB    PRIMARY KEY,                -- SHA-256 of the token
    member_id    INTEGER NOT NULL REFERENCES members,
    bound        BLOB,
    user_agent   TEXT    NOT NULL DEFAULT '',
    created_at   INTEGER NOT NULL,
    proven_at    INTEGER NOT NULL DEFAULT 0,         -- when the holder proved last who they are: by signing in, by password or code
    proven_anew_at INTEGER NOT NULL DEFAULT 0,       -- the same, by password or code since the sign-in; 0: by the sign-in alone
    seen_at      INTEGER NOT NULL,                   -- to within a twenty-fourth of idle_seconds
    idle_seconds INTEGER NOT NULL,
    ends_at      INTEGER NOT NULL,
    parked_at    INTEGER,                            -- waits at a shared screen since then, and opens nothing
    wrong_pins   INTEGER NOT NULL DEFAULT 0          -- while it waits
) STRICT, WITHOUT ROWID;
CREATE INDEX sessions_by_member ON sessions (member_id);
-- When a session can never be in force again.
CREATE INDEX sessions_by_end ON sessions (min(ends_at, seen_at + idle_seconds));

-- Sign-ins by a social network that wait for their second factor; one a member.
CREATE TABLE sign_in_steps (
    member_id INTEGER PRIMARY KEY REFERENCES members,
    step_hash BLOB    NOT NULL UNIQUE,               -- SHA-256 of its token
    tries     INTEGER NOT NULL DEFAULT 0,
    ends_at   INTEGER NOT NULL
) STRICT;

-- Accounts at social networks that vouch for a member.
CREATE TABLE social_links (
    provider   TEXT    NOT NULL CHECK (provider IN ('google', 'apple', 'facebook')),
    subject    TEXT    NOT NULL,                     -- how the network names the person, for ever
    member_id  INTEGER NOT NULL REFERENCES members,
    name       TEXT    NOT NULL DEFAULT '',          -- the name that came with the link, so that it can go with it
    created_at INTEGER NOT NULL,
    used_at    INTEGER NOT NULL,                     -- the latest sign-in by it
    PRIMARY KEY (provider, subject)
) STRICT, WITHOUT ROWID;
CREATE INDEX social_links_by_member ON social_links (member_id);

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
CREATE INDEX passkeys_by_member ON passkeys (member_id, passkey_id);

-- Challenges that wait for a browser's answer. Each is removed by the transaction that uses it.
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
CREATE INDEX passkey_challenges_by_member ON passkey_challenges (member_id);
CREATE INDEX passkey_challenges_by_end ON passkey_challenges (ends_at);

-- One row a member who has a second factor, or is setting one up.
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

-- Codes that stand in for the second factor. Each works once, and is removed then.
CREATE TABLE recovery_codes (
    member_id INTEGER NOT NULL REFERENCES members,
    code_hash BLOB    NOT NULL,                      -- keyed
    PRIMARY KEY (member_id, code_hash)
) STRICT, WITHOUT ROWID;

CREATE TABLE security_answers (
    member_id   INTEGER NOT NULL REFERENCES members,
    question    INTEGER NOT NULL,                    -- number in the question catalogue
    answer_hash TEXT    NOT NULL,                    -- Argon2id, of the trimmed and lower-cased answer
    PRIMARY KEY (member_id, question)
) STRICT, WITHOUT ROWID;

-- Codes by mail or SMS; one a member and purpose.
CREATE TABLE passcodes (
    member_id  INTEGER NOT NULL REFERENCES members,
    purpose    TEXT    NOT NULL,
    code_hash  BLOB    NOT NULL,                     -- keyed
    target     TEXT    NOT NULL,                     -- the address or number that it went to
    tries      INTEGER NOT NULL DEFAULT 0,
    created_at INTEGER NOT NULL,
    ends_at    INTEGER NOT NULL,
    PRIMARY KEY (member_id, purpose)
) STRICT, WITHOUT ROWID;

-- What the link in a mail carries that confirms an address. A token that ran out is kept for a while, because a new one is asked
-- for with the old.
CREATE TABLE email_tokens (
    token_hash BLOB    PRIMARY KEY,                  -- SHA-256 of the token
    member_id  INTEGER NOT NULL REFERENCES members,
    email      TEXT    NOT NULL,                     -- the address that it confirms, if it is still the member's
    takes_over INTEGER NOT NULL DEFAULT 0 CHECK (takes_over IN (0, 1)), -- 1: the address replaces the confirmed one
    created_at INTEGER NOT NULL,
    ends_at    INTEGER NOT NULL,
    used_at    INTEGER
) STRICT, WITHOUT ROWID;
CREATE INDEX email_tokens_by_member ON email_tokens (member_id);
CREATE INDEX email_tokens_by_age ON email_tokens (created_at);

-- What a change of the ways into an account can be undone to, by a token in the mail that told of the change.
CREATE TABLE undos (
    token_hash      BLOB    PRIMARY KEY,             -- SHA-256 of the token
    member_id       INTEGER NOT NULL REFERENCES members,
    event           TEXT    NOT NULL,                -- password_changed and so on: what was changed
    email           TEXT    NOT NULL,                -- before the change, like all below
    email_confirmed INTEGER NOT NULL CHECK (email_confirmed IN (0, 1)),
    phone           TEXT    NOT NULL,
    phone_confirmed INTEGER NOT NULL CHECK (phone_confirmed IN (0, 1)),
    made_at         INTEGER NOT NULL,
    ends_at         INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
CREATE INDEX undos_by_member ON undos (member_id);
CREATE INDEX undos_by_end ON undos (ends_at);

-- Devices that members signed in on, known by a token that they bring along. It opens nothing: it only keeps what others mistype
-- from slowing down the members who signed in there.
CREATE TABLE devices (
    device_hash BLOB    NOT NULL,                    -- SHA-256 of its token
    member_id   INTEGER NOT NULL REFERENCES members,
    voucher_id  INTEGER NOT NULL REFERENCES members, -- the first member who signed in there: the misses of all devices that one
                                                     -- member brought count together
    created_at  INTEGER NOT NULL,
    used_at     INTEGER NOT NULL,                    -- the member's latest sign-in there
    PRIMARY KEY (device_hash, member_id)
) STRICT, WITHOUT ROWID;
CREATE INDEX devices_by_member ON devices (member_id);
CREATE INDEX devices_by_use ON devices (used_at);

-- Misses of a key (an account, or an account from an address, or an address), hashed with the site key. What the rows allow is
-- said by the table of limits.
CREATE TABLE throttles (
    throttle_key BLOB    PRIMARY KEY,
    account_key  BLOB,                               -- hash of the account that it is about, so that the shell can clear all of
                                                     -- its rows; null: an address
    misses       INTEGER NOT NULL,
    missed_at    INTEGER NOT NULL,
    closed_until INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
CREATE INDEX throttles_by_age ON throttles (missed_at);
CREATE INDEX throttles_by_account ON throttles (account_key) WHERE account_key IS NOT NULL;

-- One row for each message or request that is counted under a key, hashed as above.
CREATE TABLE counted (
    count_key  BLOB    NOT NULL,
    counted_at INTEGER NOT NULL
) STRICT;
CREATE INDEX counted_by_key ON counted (count_key, counted_at);
CREATE INDEX counted_by_age ON counted (counted_at);

-- Outcomes by Idempotency-Key, kept a day. Caller, operation and key are hashed together, the outcome is sealed.
CREATE TABLE replays (
    replay_key  BLOB    PRIMARY KEY,
    body_digest BLOB    NOT NULL,                    -- keyed: a body may hold a password
    outcome     BLOB    NOT NULL,                    -- empty: void, or the number of a form
    token_hash  BLOB,                                -- SHA-256 of the token in the outcome, which is shown again while the token is
                                                     -- in force; null: there is none in it
    booking_id  INTEGER REFERENCES bookings,         -- the booking that the outcome is about: void once that ends or moves
    kept_at     INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
CREATE INDEX replays_by_age ON replays (kept_at);
CREATE INDEX replays_by_booking ON replays (booking_id) WHERE booking_id IS NOT NULL;

-- Who was registered at the desk, by whom, and by which form: the same form sent twice is one member.
CREATE TABLE registrations (
    form_number   INTEGER PRIMARY KEY,
    member_id     INTEGER NOT NULL UNIQUE REFERENCES members,
    registered_by INTEGER REFERENCES members,        -- the clerk
    registered_at INTEGER NOT NULL
) STRICT;
CREATE INDEX registrations_by_clerk ON registrations (registered_by);

-- Codes by which the owner of an account that the desk made chooses a username and a password, and has it from then on.
CREATE TABLE account_claims (
    code_hash  BLOB    PRIMARY KEY,                  -- keyed, of the code
    member_id  INTEGER NOT NULL REFERENCES members,
    email      TEXT    NOT NULL COLLATE NOCASE,      -- where the code was mailed; empty: it was printed
    created_at INTEGER NOT NULL,
    ends_at    INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
CREATE INDEX account_claims_by_member ON account_claims (member_id);
CREATE INDEX account_claims_by_end ON account_claims (ends_at);

-- What admins set in pages, one row a change: the last of a key is in force, unless the file says otherwise.
CREATE TABLE settings (
    change_id INTEGER PRIMARY KEY AUTOINCREMENT,
    key       TEXT    NOT NULL,                      -- as in the settings file
    sealed    BLOB,                                  -- the value, because some are passwords; null: the default
    set_by    INTEGER REFERENCES members,            -- the admin
    set_at    INTEGER NOT NULL
) STRICT;
CREATE INDEX settings_by_key ON settings (key, change_id);
CREATE INDEX settings_by_admin ON settings (set_by) WHERE set_by IS NOT NULL;

-- Colleagues who were invited and have not come yet: the account is made when the code is used.
CREATE TABLE invitations (
    invitation_id INTEGER PRIMARY KEY,
    code_hash     BLOB    NOT NULL UNIQUE,           -- keyed, of the code
    form_number   INTEGER NOT NULL UNIQUE,           -- the same form sent twice is one invitation
    name          TEXT    NOT NULL,
    email         TEXT    NOT NULL COLLATE NOCASE,   -- where the code was mailed; empty: it was printed
    role          TEXT    NOT NULL CHECK (role IN ('member', 'desk', 'admin')),
    language      TEXT    NOT NULL,                  -- in which the colleague reads; ISO 639-1
    invited_by    INTEGER REFERENCES members,        -- in force while that is an admin; null: by the owner of the machine
    created_at    INTEGER NOT NULL,
    ends_at       INTEGER NOT NULL
) STRICT;
CREATE INDEX invitations_by_inviter ON invitations (invited_by);
CREATE INDEX invitations_by_email ON invitations (email);
CREATE INDEX invitations_by_end ON invitations (ends_at);

-- Cards and wristbands whose number a reader types: a name to sign in by, and no proof.
CREATE TABLE cards (
    card      TEXT    PRIMARY KEY,                   -- letters and digits as a reader types them, in capitals
    member_id INTEGER NOT NULL REFERENCES members,
    tied_at   INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
CREATE INDEX cards_by_member ON cards (member_id);


-- Kiosks: screens in the hall at which members help themselves -----------------------------------------------------------------

-- A kiosk is a browser with a key of its own, until somebody revokes it. `bound` is the keyed hash of the key's hash and the kiosk.
CREATE TABLE kiosks (
    kiosk_id   INTEGER PRIMARY KEY,
    kind       TEXT    NOT NULL DEFAULT 'kiosk' CHECK (kind IN ('kiosk', 'board')), -- a board shows who flies next, and opens nothing
    name       TEXT    NOT NULL,                     -- where it stands
    key_hash   BLOB    UNIQUE,                       -- SHA-256 of the key in its cookie; null once it is revoked
    bound      BLOB,
    paired_by  INTEGER REFERENCES members,           -- the clerk; null: at the machine's shell
    paired_at  INTEGER NOT NULL,
    used_at    INTEGER NOT NULL,                     -- the latest sign-in there
    revoked_at INTEGER
) STRICT;

-- Codes that a clerk made and a kiosk has not taken yet.
CREATE TABLE kiosk_pairings (
    code_hash BLOB    PRIMARY KEY,                   -- keyed: eight digits could all be tried
    kind      TEXT    NOT NULL DEFAULT 'kiosk' CHECK (kind IN ('kiosk', 'board')),
    name      TEXT    NOT NULL,
    made_by   INTEGER REFERENCES members,            -- the clerk; null: at the machine's shell
    ends_at   INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

-- Who stands before a kiosk now; one a kiosk.
CREATE TABLE kiosk_guests (
    kiosk_id   INTEGER PRIMARY KEY REFERENCES kiosks,
    member_id  INTEGER NOT NULL REFERENCES members,
    token_hash BLOB,                                 -- of the token in the guest's own cookie: the kiosk's key alone shows nobody
    seen_at    INTEGER NOT NULL
) STRICT;
CREATE INDEX kiosk_guests_by_member ON kiosk_guests (member_id);

-- What a member's app shows to a kiosk as a QR code; one a member, for one use.
CREATE TABLE kiosk_codes (
    member_id INTEGER PRIMARY KEY REFERENCES members,
    code_hash BLOB    NOT NULL UNIQUE,               -- SHA-256: the code has 66 random bits and lives two minutes
    ends_at   INTEGER NOT NULL
) STRICT;


-- Partners and their bookings ---------------------------------------------------------------------------------------------------

CREATE TABLE partners (
    partner_id          INTEGER PRIMARY KEY AUTOINCREMENT,
    client_id           TEXT    NOT NULL UNIQUE,
    name                TEXT    NOT NULL,
    strict              INTEGER NOT NULL DEFAULT 0 CHECK (strict IN (0, 1)), -- 1: each signature is used once
    requests_per_minute INTEGER,                     -- null: no limit
    bookings            INTEGER NOT NULL DEFAULT 0,  -- how many rows of each there are: reports say it, and triggers keep it
    events              INTEGER NOT NULL DEFAULT 0,
    users               INTEGER NOT NULL DEFAULT 0,
    created_at          INTEGER NOT NULL,
    revoked_at          INTEGER
) STRICT;

CREATE TABLE partner_secrets (
    secret_id  INTEGER PRIMARY KEY AUTOINCREMENT,
    partner_id INTEGER NOT NULL REFERENCES partners,
    sealed     BLOB    NOT NULL,                     -- the hex text that is the HMAC key, sealed by the site key
    created_at INTEGER NOT NULL,
    ends_at    INTEGER                               -- null: until rotated out
) STRICT;
CREATE INDEX partner_secrets_by_partner ON partner_secrets (partner_id);

-- Where a partner may call from; no row: from anywhere.
CREATE TABLE partner_networks (
    partner_id INTEGER NOT NULL REFERENCES partners,
    network    TEXT    NOT NULL,                     -- CIDR
    PRIMARY KEY (partner_id, network)
) STRICT, WITHOUT ROWID;

-- Signatures that a strict partner has used; a second use is refused.
CREATE TABLE partner_signatures (
    partner_id     INTEGER NOT NULL REFERENCES partners,
    signature      BLOB    NOT NULL,
    request_digest BLOB,                             -- keyed digest of the method and the path that came with it
    used_at        INTEGER NOT NULL,
    PRIMARY KEY (partner_id, signature)
) STRICT, WITHOUT ROWID;
CREATE INDEX partner_signatures_by_age ON partner_signatures (used_at);

-- The records that partners keep here of people.
CREATE TABLE partner_users (
    user_id    INTEGER PRIMARY KEY AUTOINCREMENT,
    partner_id INTEGER NOT NULL REFERENCES partners,
    email      TEXT    NOT NULL COLLATE NOCASE,
    created_at INTEGER NOT NULL,
    updated_at INTEGER NOT NULL,
    deleted_at INTEGER                               -- final for the partner; the desk may undo it
) STRICT;
CREATE UNIQUE INDEX partner_users_by_email ON partner_users (partner_id, email) WHERE deleted_at IS NULL;
CREATE INDEX partner_users_newest ON partner_users (partner_id, user_id) WHERE deleted_at IS NULL;
-- What partners deleted and the desk may bring back.
CREATE INDEX partner_users_deleted ON partner_users (partner_id, deleted_at) WHERE deleted_at IS NOT NULL;
CREATE INDEX partner_users_by_address ON partner_users (email);

CREATE TRIGGER users_counted_after_insert AFTER INSERT ON partner_users WHEN NEW.deleted_at IS NULL BEGIN
    UPDATE partners SET users = users + 1 WHERE partner_id = NEW.partner_id;
END;
CREATE TRIGGER users_counted_after_delete AFTER DELETE ON partner_users WHEN OLD.deleted_at IS NULL BEGIN
    UPDATE partners SET users = users - 1 WHERE partner_id = OLD.partner_id;
END;
CREATE TRIGGER users_counted_after_update AFTER UPDATE OF deleted_at ON partner_users
WHEN (OLD.deleted_at IS NULL) <> (NEW.deleted_at IS NULL) BEGIN
    UPDATE partners SET users = users + CASE WHEN NEW.deleted_at IS NULL THEN 1 ELSE -1 END WHERE partner_id = NEW.partner_id;
END;

CREATE TABLE bookings (
    booking_id       INTEGER PRIMARY KEY AUTOINCREMENT,
    partner_id       INTEGER NOT NULL REFERENCES partners,
    member_id        INTEGER NOT NULL REFERENCES members,
    registration_id  INTEGER,                        -- the partner's own numbers, up to product_id
    purchase_id      INTEGER,
    purchase_date    INTEGER,
    flight_date      INTEGER NOT NULL,
    hour             INTEGER AS (flight_date - (flight_date % 3600 + 3600) % 3600) VIRTUAL, -- the moment at which its hour begins
    minutes_booked   INTEGER NOT NULL CHECK (minutes_booked BETWEEN 1 AND 600),
    product_id       INTEGER,
    tunnel_id        INTEGER NOT NULL REFERENCES tunnels,
    checkin_time     INTEGER,                        -- the partner's own; the site's is arrived_at
    pin_hash         BLOB,                           -- keyed hash of the PIN with which the partner sent the booking: after the
                                                     -- member has renewed the PIN, the partner may still change it by this one
    sent_flight_date INTEGER,                        -- what the partner said last, where the desk moved the booking since: who
    sent_minutes     INTEGER,                        -- sends the same again does not take the move back; null: as it stands
    arrived_at       INTEGER,                        -- when the member checked in
    arrived_by       INTEGER REFERENCES members,     -- the clerk, or the member at a kiosk
    ended_as         TEXT CHECK (ended_as IN ('cancelled', 'no_show')), -- null: in force
    ended_at         INTEGER,
    ended_by         INTEGER REFERENCES members,     -- the clerk
    removed_date     INTEGER,                        -- the flight time that was taken out of the logbook with it, for the undo;
    removed_minutes  INTEGER,                        -- null: there was none
    removed_comment  TEXT,
    time_waits       INTEGER NOT NULL DEFAULT 0 CHECK (time_waits IN (0, 1, 2)), -- the flight time of a member without a waiver:
                                                     -- 1 waits for the check-in, 2 was entered by it
    created_at       INTEGER NOT NULL,
    updated_at       INTEGER NOT NULL
) STRICT;
-- One booking however often it is sent: by registration, else by purchase, flight and member, else by member and flight.
CREATE UNIQUE INDEX bookings_by_registration ON bookings (partner_id, registration_id) WHERE registration_id IS NOT NULL;
CREATE UNIQUE INDEX bookings_by_purchase ON bookings
    (partner_id, purchase_id, coalesce(sent_flight_date, flight_date), member_id)
    WHERE registration_id IS NULL AND purchase_id IS NOT NULL;
CREATE UNIQUE INDEX bookings_by_flight ON bookings (partner_id, member_id, coalesce(sent_flight_date, flight_date))
    WHERE registration_id IS NULL AND purchase_id IS NULL;
CREATE INDEX bookings_by_partner ON bookings (partner_id, booking_id);
-- What the lists of one member show lies side by side: else each booking is a page of the file to read.
CREATE INDEX bookings_by_member ON bookings
    (member_id, flight_date, booking_id, partner_id, registration_id, purchase_id, purchase_date, minutes_booked, product_id,
     tunnel_id, checkin_time, created_at, updated_at, sent_flight_date, sent_minutes, arrived_at, ended_as, ended_at, time_waits);
-- A table of the bookings of some days, and reports by day, are read from this index alone.
CREATE INDEX bookings_by_flight_date ON bookings
    (flight_date, tunnel_id, partner_id, minutes_booked, arrived_at, ended_as, member_id, registration_id);

CREATE TRIGGER bookings_counted_after_insert AFTER INSERT ON bookings BEGIN
    UPDATE partners SET bookings = bookings + 1 WHERE partner_id = NEW.partner_id;
END;
CREATE TRIGGER bookings_counted_after_delete AFTER DELETE ON bookings BEGIN
    UPDATE partners SET bookings = bookings - 1 WHERE partner_id = OLD.partner_id;
END;

-- What the desk's reports add up of bookings, by the hour of their flights: a year of a busy hall is some thousand rows instead
-- of a million. A cancelled booking is none any more; one to which nobody came was one. What a report wants of an hour that is
-- not entirely in its range it adds up from the bookings.
CREATE TABLE booked_hours (
    tunnel_id  INTEGER NOT NULL REFERENCES tunnels,
    hour       INTEGER NOT NULL,                     -- the moment at which it begins
    partner_id INTEGER NOT NULL REFERENCES partners,
    bookings   INTEGER NOT NULL,
    minutes    INTEGER NOT NULL,
    arrived    INTEGER NOT NULL,
    PRIMARY KEY (tunnel_id, hour, partner_id)
) STRICT, WITHOUT ROWID;

CREATE TRIGGER booked_hours_after_insert AFTER INSERT ON bookings BEGIN
    INSERT INTO booked_hours VALUES (NEW.tunnel_id, NEW.hour, NEW.partner_id, 1, NEW.minutes_booked, NEW.arrived_at IS NOT NULL)
    ON CONFLICT DO UPDATE SET bookings = bookings + 1, minutes = minutes + excluded.minutes, arrived = arrived + excluded.arrived;
END;
CREATE TRIGGER booked_hours_after_delete AFTER DELETE ON bookings WHEN OLD.ended_as IS NOT 'cancelled' BEGIN
    UPDATE booked_hours SET bookings = bookings - 1, minutes = minutes - OLD.minutes_booked,
                            arrived = arrived - (OLD.arrived_at IS NOT NULL)
    WHERE tunnel_id = OLD.tunnel_id AND hour = OLD.hour AND partner_id = OLD.partner_id;
END;
CREATE TRIGGER booked_hours_after_update_of_another
AFTER UPDATE OF tunnel_id, flight_date, partner_id, minutes_booked, arrived_at, ended_as ON bookings
WHEN OLD.ended_as IS NOT 'cancelled' BEGIN
    UPDATE booked_hours SET bookings = bookings - 1, minutes = minutes - OLD.minutes_booked,
                            arrived = arrived - (OLD.arrived_at IS NOT NULL)
    WHERE tunnel_id = OLD.tunnel_id AND hour = OLD.hour AND partner_id = OLD.partner_id;
END;
CREATE TRIGGER booked_hours_after_update
AFTER UPDATE OF tunnel_id, flight_date, partner_id, minutes_booked, arrived_at, ended_as ON bookings
WHEN NEW.ended_as IS NOT 'cancelled' BEGIN
    INSERT INTO booked_hours VALUES (NEW.tunnel_id, NEW.hour, NEW.partner_id, 1, NEW.minutes_booked, NEW.arrived_at IS NOT NULL)
    ON CONFLICT DO UPDATE SET bookings = bookings + 1, minutes = minutes + excluded.minutes, arrived = arrived + excluded.arrived;
END;

-- Check-ins that a kiosk noted while it could not reach the site, and that the site refused afterwards: the desk settles them.
CREATE TABLE refused_check_ins (
    booking_id INTEGER PRIMARY KEY REFERENCES bookings,
    tapped_at  INTEGER NOT NULL,
    reason     TEXT    NOT NULL,
    settled_at INTEGER
) STRICT;
CREATE INDEX refused_check_ins_open ON refused_check_ins (tapped_at) WHERE settled_at IS NULL;

-- What `generate-token` returned: one member, one booking, a day. `bound` is the keyed hash of the token's hash and its owner.
CREATE TABLE booking_tokens (
    token_hash BLOB    PRIMARY KEY,                  -- SHA-256 of the token
    member_id  INTEGER NOT NULL REFERENCES members,
    booking_id INTEGER REFERENCES bookings,
    bound      BLOB,
    created_at INTEGER NOT NULL,
    ends_at    INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
-- A member's tokens in the order in which they end: each new one looks whether the oldest has to go.
CREATE INDEX booking_tokens_by_member ON booking_tokens (member_id, ends_at);
CREATE INDEX booking_tokens_by_end ON booking_tokens (ends_at);

-- What happened, for whoever listens: members, the staff, partners, the reports and the receiver upstream. Each row is written in
-- the transaction of its effect, and has identifiers, figures and words of the product's own, never a name, an address or a text
-- that somebody typed. What happened never changes.
CREATE TABLE events (
    seq         INTEGER PRIMARY KEY AUTOINCREMENT,   -- only grows
    at          INTEGER NOT NULL,
    type        TEXT    NOT NULL,                    -- booking.moved and so on
    partner_id  INTEGER REFERENCES partners,         -- whose request or booking it is about
    user_id     INTEGER REFERENCES partner_users,
    member_id   INTEGER,                             -- of a refused token the number that the partner gave, perhaps nobody's, so
                                                     -- it is no reference
    signer_id   INTEGER,                             -- the member who is asked to sign, or signed; kept as it was
    booking_id  INTEGER REFERENCES bookings,
    data        TEXT    NOT NULL DEFAULT '{}',       -- JSON: the changed row, or why a token was refused
    history_seq INTEGER,                             -- the row's number in the partners' history, which is kept for ever, and
                                                     -- alone goes upstream; null: it is not part of it, and kept for 30 days
    CHECK (history_seq IS NULL OR partner_id IS NOT NULL)
) STRICT;
CREATE UNIQUE INDEX events_in_history ON events (history_seq) WHERE history_seq IS NOT NULL;
CREATE INDEX history_by_partner ON events (partner_id, history_seq) WHERE history_seq IS NOT NULL;
CREATE INDEX history_by_moment ON events (at, history_seq, partner_id, type) WHERE history_seq IS NOT NULL;
CREATE INDEX events_by_member ON events (member_id) WHERE member_id IS NOT NULL;
CREATE INDEX events_by_signer ON events (signer_id) WHERE signer_id IS NOT NULL;
CREATE INDEX events_by_age ON events (at) WHERE history_seq IS NULL;

-- What the partners did and what became of their bookings, numbered from 1 on without gaps. A number may change: where a database
-- was put back by hand, the receiver has other rows under the same numbers, and those that it has never seen get new ones.
CREATE VIEW history AS
SELECT history_seq AS seq, partner_id, type AS event, at, user_id, member_id, booking_id, data AS detail
FROM events WHERE history_seq IS NOT NULL;

CREATE TRIGGER history_is_kept BEFORE DELETE ON events WHEN OLD.history_seq IS NOT NULL
BEGIN SELECT RAISE(ABORT, 'history is append-only'); END;
CREATE TRIGGER events_are_final BEFORE UPDATE OF seq, at, type, partner_id, user_id, member_id, signer_id, booking_id, data ON events
BEGIN SELECT RAISE(ABORT, 'what happened never changes'); END;
-- From where on no event is missing: who has read less has a gap.
CREATE TRIGGER events_begin_later AFTER DELETE ON events BEGIN
    UPDATE site SET events_from = max(events_from, OLD.seq + 1);
END;
CREATE TRIGGER events_counted_after_insert AFTER INSERT ON events WHEN NEW.history_seq IS NOT NULL BEGIN
    UPDATE partners SET events = events + 1 WHERE partner_id = NEW.partner_id;
END;

-- What partners did, by the day in UTC, for the reports.
CREATE TABLE event_days (
    day        INTEGER NOT NULL,                     -- the moment at which it begins
    partner_id INTEGER NOT NULL REFERENCES partners,
    event      TEXT    NOT NULL,
    times      INTEGER NOT NULL,
    PRIMARY KEY (day, partner_id, event)
) STRICT, WITHOUT ROWID;

CREATE TRIGGER event_days_after_insert AFTER INSERT ON events WHEN NEW.history_seq IS NOT NULL BEGIN
    INSERT INTO event_days VALUES (NEW.at - (NEW.at % 86400 + 86400) % 86400, NEW.partner_id, NEW.type, 1)
    ON CONFLICT DO UPDATE SET times = times + 1;
END;

-- Addresses to which a partner's events are sent (Standard Webhooks).
CREATE TABLE hooks (
    hook_id       INTEGER PRIMARY KEY AUTOINCREMENT,
    partner_id    INTEGER NOT NULL REFERENCES partners,
    url           TEXT    NOT NULL,                  -- https
    types         TEXT    NOT NULL,                  -- the choice of types, with commas between; empty: all
    address       TEXT    NOT NULL,                  -- a private address that an admin named; empty: public addresses alone
    cursor        INTEGER NOT NULL,                  -- every event up to this one is done or in `hook_deliveries`
    failing_since INTEGER,                           -- null: the last delivery was taken
    trouble       TEXT    NOT NULL DEFAULT '',       -- why the last one was not, or the last test; empty: it was
    sent          INTEGER NOT NULL DEFAULT 0,        -- deliveries that were taken, in all
    taken_at      INTEGER,                           -- when the last one was
    test_asked    INTEGER NOT NULL DEFAULT 0 CHECK (test_asked IN (0, 1)), -- a test is to be sent
    tested_at     INTEGER,                           -- when the last test was taken
    created_at    INTEGER NOT NULL,
    ended_at      INTEGER,                           -- null: in force
    ended_as      TEXT CHECK (ended_as IN ('untested', 'off', 'removed', 'gone', 'failing'))
) STRICT;

-- The secrets that sign what is sent to a hook: two while one is rotated out.
CREATE TABLE hook_secrets (
    secret_id  INTEGER PRIMARY KEY AUTOINCREMENT,
    hook_id    INTEGER NOT NULL REFERENCES hooks,
    sealed     BLOB    NOT NULL,                     -- the key, sealed by the site key
    created_at INTEGER NOT NULL,
    ends_at    INTEGER                               -- null: until rotated out
) STRICT;
CREATE INDEX hook_secrets_by_hook ON hook_secrets (hook_id);

-- Events that wait for a hook, or that it did not take however often they were sent. What it took is removed.
CREATE TABLE hook_deliveries (
    hook_id    INTEGER NOT NULL REFERENCES hooks,
    seq        INTEGER NOT NULL,                     -- the event; no reference, because events are kept for their own time
    booking_id INTEGER NOT NULL,                     -- its booking, whose later events wait for it
    due_at     INTEGER,                              -- null: it is not sent again
    tries      INTEGER NOT NULL DEFAULT 0,
    trouble    TEXT    NOT NULL DEFAULT '',          -- why it was not taken the last time
    PRIMARY KEY (hook_id, seq)
) STRICT, WITHOUT ROWID;
CREATE INDEX hook_deliveries_due ON hook_deliveries (hook_id, booking_id, seq, due_at) WHERE due_at IS NOT NULL;
CREATE INDEX hook_deliveries_dead ON hook_deliveries (hook_id) WHERE due_at IS NULL;

-- How far the history went upstream.
CREATE TABLE sync (
    only          INTEGER PRIMARY KEY CHECK (only = 1),
    upstream      TEXT    NOT NULL,                  -- whom the numbers below speak of, without credentials
    cursor        INTEGER NOT NULL,                  -- every row up to this `seq` was taken, or stands in `sync_refused`
    held          INTEGER NOT NULL,                  -- the last `seq` that the receiver has
    offered       INTEGER NOT NULL,                  -- the highest `seq` that ever left this database
    pending       INTEGER NOT NULL,                  -- the last `seq` of a batch whose fate is not known; 0: there is none
    refused_run   INTEGER NOT NULL,                  -- rows refused since the receiver last took one
    failed_tries  INTEGER NOT NULL,                  -- in a row
    trouble       TEXT    NOT NULL,                  -- why the last one did; empty: it went well
    tried_at      INTEGER,
    taken_at      INTEGER,
    batches       INTEGER NOT NULL,                  -- that were taken, in all
    rows          INTEGER NOT NULL,
    renumbered    INTEGER NOT NULL,                  -- rows that got new numbers, because the receiver had others under theirs
    renumbered_at INTEGER
) STRICT;

-- Rows of the history that the receiver does not take as they are. They are offered again, and the others go past them.
CREATE TABLE sync_refused (
    seq        INTEGER PRIMARY KEY,                  -- no reference: a row of the history may get another number
    refused_at INTEGER NOT NULL,
    tried_at   INTEGER NOT NULL,
    tries      INTEGER NOT NULL,
    error      TEXT    NOT NULL                      -- what the receiver said
) STRICT;


-- The logbook -------------------------------------------------------------------------------------------------------------------

-- Flight time, skills, and safety briefs and trainings.
CREATE TABLE entries (
    entry_id            INTEGER PRIMARY KEY AUTOINCREMENT,
    member_id           INTEGER NOT NULL REFERENCES members,
    -- Comparisons: for a list behind IN, SQLite builds a table of its own at each insert, a tenth of what an entry costs.
    kind                TEXT    NOT NULL CHECK (kind = 'time' OR kind = 'skill' OR kind = 'safety'),
    status              TEXT    NOT NULL CHECK (status = 'open' OR status = 'pending' OR status = 'denied' OR status = 'suspended'
                                                OR status = 'cancelled'),
    entry_date          INTEGER NOT NULL,
    hour                INTEGER AS (entry_date - (entry_date % 3600 + 3600) % 3600) VIRTUAL, -- the moment at which its hour begins
    minutes             INTEGER NOT NULL DEFAULT 0 CHECK (minutes BETWEEN 0 AND 600),
    tunnel_id           INTEGER NOT NULL REFERENCES tunnels,
    comment             TEXT    NOT NULL DEFAULT '',
    author_id           INTEGER NOT NULL REFERENCES members,
    booking_id          INTEGER UNIQUE REFERENCES bookings,  -- the booking that made this time entry
    opening             INTEGER,                     -- the opening balance that the entry is part of, what somebody brought along
                                                     -- from before, by the number of its first entry; no reference, because that
                                                     -- entry may go before the others
    cat_group           TEXT    NOT NULL DEFAULT '', -- programme; skills and safety only, like all up to approval_date
    cat_id              TEXT    NOT NULL DEFAULT '', -- level of the programme
    skill               TEXT    NOT NULL DEFAULT '',
    instructor_id       INTEGER REFERENCES members,  -- the signer, who was asked or has signed
    comments_instructor TEXT    NOT NULL DEFAULT '',
    comment_denial      TEXT    NOT NULL DEFAULT '',
    approval_date       INTEGER,
    version             INTEGER NOT NULL DEFAULT 1,  -- grows with every change that can be seen: a signature carries the version
                                                     -- that the signer was shown, so that nobody changes an entry between the
                                                     -- look and the signature
    asked_version       INTEGER NOT NULL DEFAULT 1,  -- the version of which the named signer was told: one who says nothing of
                                                     -- what was shown can have seen this one only
    form_number         INTEGER,                     -- by which flight time that was typed without network is known when it is
    form_mark           INTEGER,                     -- sent again, however much later; and a keyed hash of what was sent
    created_at          INTEGER NOT NULL,
    updated_at          INTEGER NOT NULL,
    CHECK (kind <> 'time' OR minutes >= 1),
    CHECK (kind = 'time' OR cat_group <> '')
) STRICT;
-- What the lists of one member show lies side by side, every column but `updated_at`: else each entry is a page of the file to
-- read.
CREATE INDEX entries_by_member ON entries
    (member_id, kind, entry_date, entry_id, status, minutes, cat_group, skill, tunnel_id, author_id, booking_id,
     opening, created_at, comment, cat_id, instructor_id, approval_date, version, asked_version, comments_instructor,
     comment_denial);
CREATE UNIQUE INDEX entries_by_form ON entries (author_id, form_number) WHERE form_number IS NOT NULL;
CREATE INDEX entries_booked ON entries (member_id, booking_id) WHERE booking_id IS NOT NULL;
CREATE INDEX entries_by_opening ON entries (opening) WHERE opening IS NOT NULL;
CREATE INDEX entries_waiting ON entries (instructor_id, entry_date) WHERE status = 'pending';
CREATE INDEX entries_by_instructor ON entries (instructor_id) WHERE instructor_id IS NOT NULL;
CREATE INDEX entries_by_another ON entries (author_id) WHERE author_id <> member_id;
-- Who flew or was trained when, for the reminders and the reports by day.
CREATE INDEX entries_flown ON entries (entry_date, entry_id, member_id, tunnel_id, status, opening, minutes) WHERE kind = 'time';
-- Who was signed when, for the reports.
CREATE INDEX entries_signed ON entries (approval_date, cat_group) WHERE kind = 'skill' AND status = 'open';
CREATE INDEX entries_trained ON entries (entry_date, entry_id, member_id) WHERE kind = 'safety' AND status = 'open';

-- Forms of flight time that was deleted since: a telephone that missed the answer sends its form again, however much later.
CREATE TABLE spent_forms (
    member_id   INTEGER NOT NULL REFERENCES members,
    form_number INTEGER NOT NULL,
    form_mark   INTEGER NOT NULL,
    spent_at    INTEGER NOT NULL,
    PRIMARY KEY (member_id, form_number)
) STRICT, WITHOUT ROWID;
CREATE INDEX spent_forms_by_moment ON spent_forms (spent_at);

CREATE TRIGGER entries_version AFTER UPDATE OF kind, status, entry_date, minutes, tunnel_id, comment, cat_group, cat_id, skill,
                                               instructor_id, comments_instructor, comment_denial ON entries
WHEN (NEW.kind <> 'time' OR NEW.opening IS NOT NULL)
     AND (OLD.kind, OLD.status, OLD.entry_date, OLD.minutes, OLD.tunnel_id, OLD.comment, OLD.cat_group, OLD.cat_id, OLD.skill,
          OLD.instructor_id, OLD.comments_instructor, OLD.comment_denial)
      IS NOT (NEW.kind, NEW.status, NEW.entry_date, NEW.minutes, NEW.tunnel_id, NEW.comment, NEW.cat_group, NEW.cat_id, NEW.skill,
              NEW.instructor_id, NEW.comments_instructor, NEW.comment_denial) BEGIN
    UPDATE entries SET version = version + 1 WHERE entry_id = NEW.entry_id;
END;

-- `members.flight_minutes` and `members.entries`.
CREATE TRIGGER flight_minutes_after_insert AFTER INSERT ON entries BEGIN
    UPDATE members SET flight_minutes = flight_minutes + iif(NEW.kind = 'time' AND NEW.status = 'open', NEW.minutes, 0),
                       entries = entries + 1
        WHERE member_id = NEW.member_id;
END;
CREATE TRIGGER flight_minutes_after_delete AFTER DELETE ON entries BEGIN
    UPDATE members SET flight_minutes = flight_minutes - iif(OLD.kind = 'time' AND OLD.status = 'open', OLD.minutes, 0),
                       entries = entries - 1
        WHERE member_id = OLD.member_id;
END;
CREATE TRIGGER flight_minutes_after_update AFTER UPDATE OF kind, status, minutes, member_id ON entries BEGIN
    UPDATE members SET flight_minutes = flight_minutes - OLD.minutes
        WHERE member_id = OLD.member_id AND OLD.kind = 'time' AND OLD.status = 'open';
    UPDATE members SET flight_minutes = flight_minutes + NEW.minutes
        WHERE member_id = NEW.member_id AND NEW.kind = 'time' AND NEW.status = 'open';
END;
CREATE TRIGGER entries_counted_after_update AFTER UPDATE OF member_id ON entries WHEN OLD.member_id <> NEW.member_id BEGIN
    UPDATE members SET entries = entries - 1 WHERE member_id = OLD.member_id;
    UPDATE members SET entries = entries + 1 WHERE member_id = NEW.member_id;
END;

-- What keeps a member's programmes current beside flights.
CREATE TRIGGER trained_after_insert AFTER INSERT ON entries WHEN NEW.kind = 'safety' BEGIN
    UPDATE members SET (coach_trained, instructor_trained, trainer_trained, military_trained) =
        (SELECT max(e.entry_date) FILTER (WHERE e.cat_group = 'Coach'), max(e.entry_date) FILTER (WHERE e.cat_group = 'Instructor'),
                max(e.entry_date) FILTER (WHERE e.cat_group = 'Trainer'), max(e.entry_date) FILTER (WHERE e.cat_group = 'Military')
         FROM entries e WHERE e.member_id = members.member_id AND e.kind = 'safety' AND e.status = 'open')
    WHERE member_id = NEW.member_id;
END;
CREATE TRIGGER trained_after_delete AFTER DELETE ON entries WHEN OLD.kind = 'safety' BEGIN
    UPDATE members SET (coach_trained, instructor_trained, trainer_trained, military_trained) =
        (SELECT max(e.entry_date) FILTER (WHERE e.cat_group = 'Coach'), max(e.entry_date) FILTER (WHERE e.cat_group = 'Instructor'),
                max(e.entry_date) FILTER (WHERE e.cat_group = 'Trainer'), max(e.entry_date) FILTER (WHERE e.cat_group = 'Military')
         FROM entries e WHERE e.member_id = members.member_id AND e.kind = 'safety' AND e.status = 'open')
    WHERE member_id = OLD.member_id;
END;
CREATE TRIGGER trained_after_update AFTER UPDATE OF kind, status, entry_date, cat_group, member_id ON entries
WHEN OLD.kind = 'safety' OR NEW.kind = 'safety' BEGIN
    UPDATE members SET (coach_trained, instructor_trained, trainer_trained, military_trained) =
        (SELECT max(e.entry_date) FILTER (WHERE e.cat_group = 'Coach'), max(e.entry_date) FILTER (WHERE e.cat_group = 'Instructor'),
                max(e.entry_date) FILTER (WHERE e.cat_group = 'Trainer'), max(e.entry_date) FILTER (WHERE e.cat_group = 'Military')
         FROM entries e WHERE e.member_id = members.member_id AND e.kind = 'safety' AND e.status = 'open')
    WHERE member_id = OLD.member_id OR member_id = NEW.member_id;
END;

-- Flight time by the hour, as `booked_hours`, without opening balances.
CREATE TABLE flown_hours (
    tunnel_id INTEGER NOT NULL REFERENCES tunnels,
    hour      INTEGER NOT NULL,                      -- the moment at which it begins
    flights   INTEGER NOT NULL,
    minutes   INTEGER NOT NULL,
    PRIMARY KEY (tunnel_id, hour)
) STRICT, WITHOUT ROWID;

CREATE TRIGGER flown_hours_after_insert AFTER INSERT ON entries
WHEN NEW.kind = 'time' AND NEW.status = 'open' AND NEW.opening IS NULL BEGIN
    INSERT INTO flown_hours VALUES (NEW.tunnel_id, NEW.hour, 1, NEW.minutes)
    ON CONFLICT DO UPDATE SET flights = flights + 1, minutes = minutes + excluded.minutes;
END;
CREATE TRIGGER flown_hours_after_delete AFTER DELETE ON entries
WHEN OLD.kind = 'time' AND OLD.status = 'open' AND OLD.opening IS NULL BEGIN
    UPDATE flown_hours SET flights = flights - 1, minutes = minutes - OLD.minutes
    WHERE tunnel_id = OLD.tunnel_id AND hour = OLD.hour;
END;
CREATE TRIGGER flown_hours_after_update_of_another AFTER UPDATE OF kind, status, opening, minutes, entry_date, tunnel_id ON entries
WHEN OLD.kind = 'time' AND OLD.status = 'open' AND OLD.opening IS NULL BEGIN
    UPDATE flown_hours SET flights = flights - 1, minutes = minutes - OLD.minutes
    WHERE tunnel_id = OLD.tunnel_id AND hour = OLD.hour;
END;
CREATE TRIGGER flown_hours_after_update AFTER UPDATE OF kind, status, opening, minutes, entry_date, tunnel_id ON entries
WHEN NEW.kind = 'time' AND NEW.status = 'open' AND NEW.opening IS NULL BEGIN
    INSERT INTO flown_hours VALUES (NEW.tunnel_id, NEW.hour, 1, NEW.minutes)
    ON CONFLICT DO UPDATE SET flights = flights + 1, minutes = minutes + excluded.minutes;
END;

-- The events of skill and safety entries: who changed the state, when, from what, to what. Numbers and states only.
CREATE TABLE entry_events (
    entry_id    INTEGER NOT NULL,                    -- no reference: the row outlives its entry
    step        INTEGER NOT NULL,                    -- from 1 on
    at          INTEGER NOT NULL,
    member_id   INTEGER NOT NULL REFERENCES members, -- who did it
    from_status TEXT    CHECK (from_status IN ('pending', 'open', 'denied', 'suspended', 'cancelled')), -- null: it began
    to_status   TEXT    NOT NULL CHECK (to_status IN ('pending', 'open', 'denied', 'suspended', 'cancelled', 'deleted')),
    PRIMARY KEY (entry_id, step),
    CHECK (step = 1 OR from_status IS NOT NULL)
) STRICT, WITHOUT ROWID;
CREATE INDEX entry_events_by_member ON entry_events (member_id);

CREATE TRIGGER entry_events_are_kept BEFORE DELETE ON entry_events BEGIN
    SELECT RAISE(ABORT, 'an event of an entry is never removed');
END;
CREATE TRIGGER entry_events_are_final BEFORE UPDATE ON entry_events BEGIN
    SELECT RAISE(ABORT, 'an event of an entry is never changed');
END;

-- The levels that a member holds: what the open skill entries add up to, refreshed in the transaction that moves one.
CREATE TABLE holdings (
    member_id INTEGER NOT NULL REFERENCES members,
    cat_group TEXT    NOT NULL,
    cat_id    TEXT    NOT NULL,
    track     TEXT    NOT NULL,                      -- Static, Dynamic, Formation …; empty where a programme has none
    since     INTEGER NOT NULL,
    PRIMARY KEY (member_id, cat_group, cat_id, track)
) STRICT, WITHOUT ROWID;
CREATE INDEX holdings_by_level ON holdings (cat_group, cat_id, track, member_id);
-- What a profile shows of them, which is read for every page.
CREATE TRIGGER programmes_after_insert AFTER INSERT ON holdings BEGIN
    UPDATE members SET (programmes, holds_flyer_1) =
        (SELECT coalesce(group_concat(DISTINCT h.cat_group), ''), coalesce(max(h.cat_group = 'Flyer' AND h.cat_id = '1'), 0)
         FROM holdings h WHERE h.member_id = members.member_id)
    WHERE member_id = NEW.member_id;
END;
CREATE TRIGGER programmes_after_delete AFTER DELETE ON holdings BEGIN
    UPDATE members SET (programmes, holds_flyer_1) =
        (SELECT coalesce(group_concat(DISTINCT h.cat_group), ''), coalesce(max(h.cat_group = 'Flyer' AND h.cat_id = '1'), 0)
         FROM holdings h WHERE h.member_id = members.member_id)
    WHERE member_id = OLD.member_id;
END;
CREATE TRIGGER programmes_after_update AFTER UPDATE OF member_id, cat_group, cat_id ON holdings BEGIN
    UPDATE members SET (programmes, holds_flyer_1) =
        (SELECT coalesce(group_concat(DISTINCT h.cat_group), ''), coalesce(max(h.cat_group = 'Flyer' AND h.cat_id = '1'), 0)
         FROM holdings h WHERE h.member_id = members.member_id)
    WHERE member_id = OLD.member_id OR member_id = NEW.member_id;
END;

-- Who may sign for others at a tunnel: a list that the tunnel keeps. By itself a row gives nothing: whoever signs must hold the
-- level and be current at that moment.
CREATE TABLE signers (
    signer_id    INTEGER PRIMARY KEY AUTOINCREMENT,
    tunnel_id    INTEGER NOT NULL REFERENCES tunnels,
    member_id    INTEGER NOT NULL REFERENCES members,
    cat_group    TEXT    NOT NULL,                   -- the programme as whose holder they sign: Instructor, Trainer …
    cat_id       TEXT    NOT NULL DEFAULT '',        -- a first signer's: stands in for this level, and for a training on
                                                     -- the day of the appointment; empty for everybody else
    appointed_by INTEGER REFERENCES members,         -- null: at the machine's shell
    appointed_at INTEGER NOT NULL,
    ended_by     INTEGER REFERENCES members,
    ended_at     INTEGER                             -- null: in force
) STRICT;
CREATE UNIQUE INDEX signers_in_force ON signers (tunnel_id, member_id, cat_group) WHERE ended_at IS NULL;
CREATE INDEX signers_by_member ON signers (member_id);
CREATE INDEX signers_by_appointer ON signers (appointed_by) WHERE appointed_by IS NOT NULL;
CREATE INDEX signers_by_ender ON signers (ended_by) WHERE ended_by IS NOT NULL;

-- Certificates that were handed out, so that whoever scans one learns whether it still holds. It does while the member holds that
-- level since that moment.
CREATE TABLE certificates (
    code      TEXT    PRIMARY KEY,                   -- 24 letters and digits, a keyed hash of all below
    member_id INTEGER REFERENCES members,            -- null once the member was erased: the paper is then void
    cat_group TEXT    NOT NULL,
    cat_id    TEXT    NOT NULL,
    track     TEXT    NOT NULL,
    since     INTEGER NOT NULL,
    issued_at INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
CREATE INDEX certificates_by_member ON certificates (member_id) WHERE member_id IS NOT NULL;


-- Waivers, briefs and consents --------------------------------------------------------------------------------------------------

-- What people sign, confirm or consent to: the operator's own words. A text that was published is never changed: a new version
-- stands beside it.
CREATE TABLE site_texts (
    kind         TEXT    NOT NULL CHECK (kind IN ('waiver', 'brief', 'photos', 'newsletter')),
    version      INTEGER NOT NULL,                   -- from 1 on, of each kind
    language     TEXT    NOT NULL,                   -- ISO 639-1
    title        TEXT    NOT NULL,
    body         TEXT    NOT NULL,
    questions    TEXT    NOT NULL,                   -- one a line, each answered by yes or no; the same number in each language
    text_hash    BLOB    NOT NULL,                   -- SHA-256 of title, body and questions as they are printed
    asks_again   INTEGER NOT NULL CHECK (asks_again IN (0, 1)), -- 1: who signed an earlier version signs this one too
    published_at INTEGER NOT NULL,
    published_by INTEGER REFERENCES members,         -- the admin
    PRIMARY KEY (kind, version, language)
) STRICT, WITHOUT ROWID;

CREATE TRIGGER site_texts_stay BEFORE DELETE ON site_texts BEGIN
    SELECT RAISE(ABORT, 'a text that was published is never removed');
END;
CREATE TRIGGER site_texts_keep_their_words BEFORE UPDATE ON site_texts BEGIN
    SELECT RAISE(ABORT, 'a text that was published is never changed');
END;

-- What is being written, until it is published.
CREATE TABLE site_text_drafts (
    kind      TEXT    NOT NULL,
    language  TEXT    NOT NULL,
    title     TEXT    NOT NULL,
    body      TEXT    NOT NULL,
    questions TEXT    NOT NULL,
    saved_at  INTEGER NOT NULL,
    PRIMARY KEY (kind, language)
) STRICT, WITHOUT ROWID;

-- Waivers, each signed for one flyer. Rows are added and never changed; only flyer and signer follow to the account that survives
-- a join.
CREATE TABLE waiver_signatures (
    signature_id INTEGER PRIMARY KEY AUTOINCREMENT,
    member_id    INTEGER NOT NULL REFERENCES members, -- who flies
    version      INTEGER NOT NULL,
    language     TEXT    NOT NULL,
    text_hash    BLOB    NOT NULL,                   -- that of the text that was shown
    signed_at    INTEGER NOT NULL,
    place        TEXT    NOT NULL CHECK (place IN ('kiosk', 'phone', 'desk', 'app')),
    flyer_name   TEXT    NOT NULL,
    born         INTEGER NOT NULL,                   -- midnight of the day of birth in UTC
    relation     TEXT    NOT NULL CHECK (relation IN ('self', 'parent', 'guardian', 'permission')), -- of the signer to the flyer
    signer_name  TEXT    NOT NULL,                   -- as it was typed
    signer_id    INTEGER REFERENCES members,         -- the signer's own account, where it is another's than the flyer's
    strokes      TEXT    NOT NULL,                   -- the drawn signature as an SVG path; empty: the typed name is the signature
    answers      TEXT    NOT NULL CHECK (answers NOT GLOB '*[^yn]*'), -- y or n for each question, in their order
    witness_id   INTEGER REFERENCES members,         -- the clerk at the desk
    kept         INTEGER NOT NULL CHECK (kept IN (0, 1)), -- whether it outlives the account
    kept_until   INTEGER                             -- removed then, with or without the account; null: kept as long as the account
) STRICT;
CREATE INDEX waiver_signatures_by_member ON waiver_signatures (member_id, signature_id);
CREATE INDEX waiver_signatures_by_moment ON waiver_signatures (signed_at, member_id);
CREATE INDEX waiver_signatures_by_signer ON waiver_signatures (signer_id) WHERE signer_id IS NOT NULL;
CREATE INDEX waiver_signatures_by_end ON waiver_signatures (kept_until) WHERE kept_until IS NOT NULL;
-- Those in which something was answered with yes, for the desk's list of those that wait for a decision.
CREATE INDEX waiver_signatures_by_yes ON waiver_signatures (signed_at, signature_id) WHERE instr(answers, 'y') > 0;

CREATE TRIGGER waiver_signatures_keep_their_words
BEFORE UPDATE OF signature_id, version, language, text_hash, signed_at, place, flyer_name, born, relation, signer_name, strokes,
                 answers, witness_id, kept, kept_until ON waiver_signatures BEGIN
    SELECT RAISE(ABORT, 'a signed waiver is never changed');
END;

-- What staff decided on a waiver in which something was answered with yes; the last one counts. An erasure replaces a name in the
-- word, and nothing else changes.
CREATE TABLE waiver_decisions (
    decision_id  INTEGER PRIMARY KEY AUTOINCREMENT,
    signature_id INTEGER NOT NULL REFERENCES waiver_signatures,
    may_fly      INTEGER NOT NULL CHECK (may_fly IN (0, 1)),
    in_error     INTEGER NOT NULL DEFAULT 0 CHECK (in_error IN (0, 1)), -- 1: signed on the wrong card; it no longer counts
    word         TEXT    NOT NULL,                   -- why
    decided_by   INTEGER REFERENCES members,         -- the clerk
    decided_at   INTEGER NOT NULL
) STRICT;
CREATE INDEX waiver_decisions_by_signature ON waiver_decisions (signature_id, decision_id);

CREATE TRIGGER waiver_decisions_keep_their_words
BEFORE UPDATE OF decision_id, signature_id, may_fly, decided_by, decided_at, in_error ON waiver_decisions BEGIN
    SELECT RAISE(ABORT, 'a decision is never changed');
END;

-- Somebody flies for a day without a waiver in force, because staff says so.
CREATE TABLE waiver_overrides (
    override_id INTEGER PRIMARY KEY AUTOINCREMENT,
    member_id   INTEGER NOT NULL REFERENCES members,
    reason      TEXT    NOT NULL,
    made_by     INTEGER REFERENCES members,          -- the clerk
    made_at     INTEGER NOT NULL,
    ends_at     INTEGER NOT NULL
) STRICT;
CREATE INDEX waiver_overrides_by_member ON waiver_overrides (member_id, ends_at);

-- Codes by which somebody signs on a telephone; each for one signing.
CREATE TABLE signing_links (
    code_hash  BLOB    PRIMARY KEY,                  -- keyed, of the code
    member_id  INTEGER NOT NULL REFERENCES members,
    created_at INTEGER NOT NULL,
    ends_at    INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
CREATE INDEX signing_links_by_member ON signing_links (member_id);
CREATE INDEX signing_links_by_end ON signing_links (ends_at);

-- Who has read the safety brief, and which.
CREATE TABLE brief_confirmations (
    confirmation_id INTEGER PRIMARY KEY AUTOINCREMENT,
    member_id       INTEGER NOT NULL REFERENCES members,
    version         INTEGER NOT NULL,
    language        TEXT    NOT NULL,
    text_hash       BLOB    NOT NULL,
    confirmed_at    INTEGER NOT NULL
) STRICT;
CREATE INDEX brief_confirmations_by_member ON brief_confirmations (member_id, confirmation_id);

-- Pictures of the safety brief, as they are shown below its text; a row stays when its picture is taken away, to say what was
-- shown when.
CREATE TABLE brief_pictures (
    picture_id INTEGER PRIMARY KEY AUTOINCREMENT,
    jpeg       BLOB    NOT NULL,                     -- encoded by this site
    added_at   INTEGER NOT NULL,
    added_by   INTEGER REFERENCES members,           -- the admin
    removed_at INTEGER                               -- null: it is shown
) STRICT;

-- The register of consents: what was said to which text, and when. The last row of a kind counts.
CREATE TABLE consents (
    consent_id INTEGER PRIMARY KEY AUTOINCREMENT,
    member_id  INTEGER NOT NULL REFERENCES members,
    kind       TEXT    NOT NULL CHECK (kind IN ('photos', 'newsletter')),
    given      INTEGER NOT NULL CHECK (given IN (0, 1)),
    version    INTEGER NOT NULL,
    language   TEXT    NOT NULL,
    text_hash  BLOB    NOT NULL,
    said_at    INTEGER NOT NULL,
    place      TEXT    NOT NULL CHECK (place IN ('kiosk', 'phone', 'desk', 'app')),
    said_by    INTEGER REFERENCES members            -- the guardian or the clerk, where it was not the member
) STRICT;
CREATE INDEX consents_by_member ON consents (member_id, kind, consent_id);
CREATE INDEX consents_by_speaker ON consents (said_by) WHERE said_by IS NOT NULL;

CREATE TRIGGER consents_keep_their_words BEFORE UPDATE ON consents BEGIN
    SELECT RAISE(ABORT, 'a consent is never changed');
END;


-- Money -------------------------------------------------------------------------------------------------------------------------

-- What the payment processor says of each payment, and what was taken at the desk. A payment extends the membership where it pays
-- the fee; anything else that came waits for the desk, which decides once.
CREATE TABLE payments (
    payment_id     INTEGER PRIMARY KEY AUTOINCREMENT,
    member_id      INTEGER REFERENCES members,       -- null: nobody knows yet whose it is
    intent_id      TEXT    NOT NULL UNIQUE,          -- the processor's name for it
    amount_cents   INTEGER NOT NULL CHECK (amount_cents >= 0),
    refunded_cents INTEGER,                          -- what went back of it; null: nothing that we know of
    currency       TEXT    NOT NULL,                 -- ISO 4217, upper case; empty while nobody said
    status         TEXT    NOT NULL CHECK (status IN ('claimed', 'created', 'processing', 'succeeded', 'failed', 'canceled',
                                                      'refunded')),
    priced_by      TEXT    NOT NULL DEFAULT '',      -- weight of the event that the price is from
    named_member   INTEGER REFERENCES members,       -- whose it is by the processor
    named_by       TEXT    NOT NULL DEFAULT '',      -- weight of the event that said so
    claimed_by     INTEGER REFERENCES members,       -- whose it is by an app's word, where the processor is silent
    rival_claim    INTEGER REFERENCES members,       -- a second member whose app claims it
    assigned_to    INTEGER REFERENCES members,       -- whose it is by the desk, which has the last word
    question       TEXT    NOT NULL DEFAULT ''       -- what the desk has to decide; empty: nothing
        CHECK (question IN ('', 'unmatched', 'doubly_claimed', 'unpriced', 'fee_unknown', 'other_currency', 'underpaid',
                            'partly_refunded')),
    decision       TEXT    NOT NULL DEFAULT '' CHECK (decision IN ('', 'counts', 'void')), -- the desk's answer; empty: none
    granted_to     INTEGER REFERENCES members,       -- whose membership it extended, and until when
    granted_until  INTEGER,
    paid_before    INTEGER,                          -- that member's paid_until before
    created_at     INTEGER NOT NULL,
    updated_at     INTEGER NOT NULL,
    CHECK ((granted_to IS NULL) = (granted_until IS NULL))
) STRICT;
CREATE INDEX payments_by_member ON payments (member_id, payment_id);
CREATE INDEX payments_by_name ON payments (named_member) WHERE named_member IS NOT NULL;
CREATE INDEX payments_by_claim ON payments (claimed_by) WHERE claimed_by IS NOT NULL;
CREATE INDEX payments_rival ON payments (rival_claim) WHERE rival_claim IS NOT NULL;
CREATE INDEX payments_by_desk ON payments (assigned_to) WHERE assigned_to IS NOT NULL;
CREATE INDEX payments_by_grant ON payments (granted_to) WHERE granted_to IS NOT NULL;
CREATE INDEX payments_unmatched ON payments (payment_id) WHERE member_id IS NULL;
CREATE INDEX payments_claimed ON payments (created_at) WHERE status = 'claimed';
CREATE INDEX payments_by_moment ON payments (created_at) WHERE status = 'succeeded';
CREATE INDEX payments_in_question ON payments (payment_id) WHERE question <> '';

-- The till: one row a movement, in the order in which they were made: a membership fee that was taken at the desk or one that was
-- undone, the cash before the first fee, and cash put in or taken out. Rows are added and never changed, but for the reason, out of
-- which an erasure takes a name, and for who reviewed an undoing.
CREATE TABLE till_entries (
    entry_id     INTEGER PRIMARY KEY AUTOINCREMENT,  -- the number of the receipt
    payment_id   INTEGER REFERENCES payments,        -- null: cash without a fee
    kind         TEXT    NOT NULL CHECK (kind IN ('cash', 'terminal', 'voucher', 'free', 'float', 'in', 'out')),
    amount_cents INTEGER NOT NULL,                   -- in the smallest unit of the currency; negative where a fee or cash put in
                                                     -- was undone, or cash taken out
    currency     TEXT    NOT NULL,                   -- ISO 4217, upper case
    reason       TEXT    NOT NULL DEFAULT '',        -- why free of charge or undone; the number of a voucher
    undoes       INTEGER UNIQUE REFERENCES till_entries,
    paid_until   INTEGER,                            -- what the membership is paid until by it
    taken_by     INTEGER REFERENCES members,         -- the clerk
    taken_at     INTEGER NOT NULL,
    form_number  INTEGER UNIQUE,                     -- by which the same form sent twice is known
    reviewed_by  INTEGER REFERENCES members,         -- the admin who undid the fee, or saw that a clerk did; null: nobody yet
    CHECK (iif((undoes IS NULL) = (kind <> 'out'), amount_cents >= 0, amount_cents <= 0)),
    CHECK (kind <> 'free' OR amount_cents = 0),
    CHECK ((payment_id IS NULL) = (kind IN ('float', 'in', 'out')))
) STRICT;
CREATE INDEX till_entries_by_payment ON till_entries (payment_id);
CREATE INDEX till_entries_by_moment ON till_entries (taken_at);
CREATE INDEX till_entries_by_clerk ON till_entries (taken_by);
CREATE INDEX till_entries_by_reviewer ON till_entries (reviewed_by) WHERE reviewed_by IS NOT NULL;
CREATE INDEX till_entries_unreviewed ON till_entries (entry_id) WHERE undoes IS NOT NULL AND reviewed_by IS NULL;

CREATE TRIGGER till_entries_stay BEFORE DELETE ON till_entries BEGIN
    SELECT RAISE(ABORT, 'an entry of the till is never removed');
END;
CREATE TRIGGER till_entries_keep_their_figures
BEFORE UPDATE OF entry_id, payment_id, kind, amount_cents, currency, undoes, paid_until, taken_by, taken_at, form_number
ON till_entries BEGIN
    SELECT RAISE(ABORT, 'an entry of the till is never changed');
END;

-- A closing counts every entry of the till after the closing before it, up to `last_entry_id`. Amounts are in the smallest unit
-- of the currency.
CREATE TABLE till_closings (
    closing_id     INTEGER PRIMARY KEY AUTOINCREMENT,
    last_entry_id  INTEGER NOT NULL,                 -- 0 where there was none yet, so it is no reference
    currency       TEXT    NOT NULL,
    float_cents    INTEGER NOT NULL,                 -- what the closing before left in the drawer, or the opening float
    cash_cents     INTEGER NOT NULL,                 -- fees in cash since, less what was given back
    moved_cents    INTEGER NOT NULL,                 -- cash put in otherwise, less cash taken out
    terminal_cents INTEGER NOT NULL,
    voucher_cents  INTEGER NOT NULL,
    counted_cents  INTEGER NOT NULL CHECK (counted_cents >= 0),
    left_cents     INTEGER NOT NULL CHECK (left_cents BETWEEN 0 AND counted_cents),
    note           TEXT    NOT NULL DEFAULT '',
    closed_by      INTEGER REFERENCES members,       -- the clerk
    closed_at      INTEGER NOT NULL,
    form_number    INTEGER NOT NULL UNIQUE
) STRICT;
CREATE INDEX till_closings_by_clerk ON till_closings (closed_by);
CREATE INDEX till_closings_by_currency ON till_closings (currency);

CREATE TRIGGER till_closings_stay BEFORE DELETE ON till_closings BEGIN
    SELECT RAISE(ABORT, 'a closing of the till is never removed');
END;
CREATE TRIGGER till_closings_keep_their_figures
BEFORE UPDATE OF closing_id, last_entry_id, currency, float_cents, cash_cents, moved_cents, terminal_cents, voucher_cents,
                 counted_cents, left_cents, closed_by, closed_at, form_number
ON till_closings BEGIN
    SELECT RAISE(ABORT, 'a closing of the till is never changed');
END;


-- Messages ----------------------------------------------------------------------------------------------------------------------

-- What the site tells members on its own pages and in apps.
CREATE TABLE notices (
    notification_id INTEGER PRIMARY KEY AUTOINCREMENT,
    member_id       INTEGER NOT NULL REFERENCES members,
    subject         TEXT    NOT NULL,                -- key of the text in the translations
    detail          TEXT    NOT NULL DEFAULT '{}',   -- JSON: the values that the text speaks of
    created_at      INTEGER NOT NULL,
    read_at         INTEGER
) STRICT;
CREATE INDEX notices_by_member ON notices (member_id, notification_id);
CREATE INDEX notices_unread ON notices (member_id) WHERE read_at IS NULL;

-- Mails and SMS wait here until they are sent; with no server configured the desk reads them to the member.
CREATE TABLE outbox (
    message_id     INTEGER PRIMARY KEY AUTOINCREMENT,
    channel        TEXT    NOT NULL CHECK (channel IN ('email', 'sms')),
    member_id      INTEGER REFERENCES members,
    recipient      TEXT    NOT NULL,
    language       TEXT    NOT NULL,                 -- ISO 639-1
    template       TEXT    NOT NULL,                 -- its name in assets/mail
    sealed         BLOB,                             -- the template's values as JSON, sealed; null once it is sent
    -- Comparisons: for a list behind IN, SQLite builds a table of its own at each insert.
    state          TEXT    NOT NULL DEFAULT 'waiting' CHECK (state = 'waiting' OR state = 'sent' OR state = 'dead'),
    tries          INTEGER NOT NULL DEFAULT 0,
    first_tried_at INTEGER,                          -- two days after that a message that nobody took is dead
    next_try_at    INTEGER NOT NULL,
    last_error     TEXT    NOT NULL DEFAULT '',      -- what the server said, without the message
    provider_id    TEXT    NOT NULL DEFAULT '',      -- how the mail provider's events name it
    delivery       TEXT    NOT NULL DEFAULT '',      -- what the mail provider said of it after it took it, like the two below
    deferrals      INTEGER NOT NULL DEFAULT 0,
    soft_bounces   INTEGER NOT NULL DEFAULT 0,
    created_at     INTEGER NOT NULL,
    sent_at        INTEGER
) STRICT;
CREATE INDEX outbox_due ON outbox (next_try_at) WHERE state = 'waiting';
-- Dead letters are few and looked at often.
CREATE INDEX outbox_dead ON outbox (message_id) WHERE state = 'dead';
-- What is done with goes after a while.
CREATE INDEX outbox_done ON outbox (created_at) WHERE state <> 'waiting';
CREATE INDEX outbox_by_provider ON outbox (provider_id) WHERE provider_id <> '';
CREATE INDEX outbox_by_member ON outbox (member_id) WHERE member_id IS NOT NULL;
CREATE INDEX outbox_by_recipient ON outbox (recipient COLLATE NOCASE);

-- Addresses that no mail goes to. In force unless it was lifted since.
CREATE TABLE suppressed (
    address   TEXT    PRIMARY KEY COLLATE NOCASE,
    reason    TEXT    NOT NULL,                      -- the event that marked it: hard_bounce, spam, unsub, reject, blacklist
    detail    TEXT    NOT NULL DEFAULT '',           -- what the mail provider said of it
    since     INTEGER NOT NULL,                      -- the provider's moment of the latest such event
    lifted_at INTEGER                                -- by the desk, or by the provider
) STRICT, WITHOUT ROWID;
CREATE INDEX suppressed_latest ON suppressed (since DESC, address);

-- Reminders of a flight and of the end of a currency, a membership or a waiver that were given: each once, and none anew unless
-- what it speaks of got another moment.
CREATE TABLE reminders (
    member_id  INTEGER NOT NULL REFERENCES members,
    programme  TEXT    NOT NULL,                     -- of a currency; else Flight, Membership or Waiver
    kind       TEXT    NOT NULL CHECK (kind IN ('first', 'last', 'lapsed')), -- lapsed: until the currency is back
    renewal    INTEGER NOT NULL,                     -- the end or the flight that it speaks of
    created_at INTEGER NOT NULL,
    PRIMARY KEY (member_id, programme, kind, renewal)
) STRICT, WITHOUT ROWID;
CREATE INDEX reminders_by_moment ON reminders (created_at, programme);
CREATE INDEX reminders_by_renewal ON reminders (renewal);

-- What was written in the contact form.
CREATE TABLE contact_messages (
    contact_id INTEGER PRIMARY KEY AUTOINCREMENT,
    name       TEXT    NOT NULL,
    email      TEXT    NOT NULL,
    country    TEXT    NOT NULL DEFAULT '',          -- as it was written
    enquiry    TEXT    NOT NULL DEFAULT '',          -- what it is about, in the sender's words or the form's
    message    TEXT    NOT NULL,
    language   TEXT    NOT NULL,                     -- ISO 639-1
    member_id  INTEGER,                              -- as the sender gave it: perhaps nobody's, so it is no reference
    signed_in  INTEGER NOT NULL DEFAULT 0 CHECK (signed_in IN (0, 1)), -- 1: it came with that member's session
    created_at INTEGER NOT NULL,
    done_at    INTEGER                               -- the desk is through with it
) STRICT;
CREATE INDEX contact_messages_open ON contact_messages (contact_id) WHERE done_at IS NULL;
CREATE INDEX contact_messages_done ON contact_messages (done_at) WHERE done_at IS NOT NULL;
CREATE INDEX contact_messages_by_member ON contact_messages (member_id) WHERE member_id IS NOT NULL;
CREATE INDEX contact_messages_by_address ON contact_messages (email COLLATE NOCASE);


-- Callbacks ---------------------------------------------------------------------------------------------------------------------

-- Every event with which a third party called back, as it came, with what became of it: each counts once, whatever it does to
-- payments, mails and social links. Purged after a while; what it did stays.
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
CREATE INDEX callbacks_by_age ON callbacks (sender, received_at);
CREATE INDEX callbacks_by_matter ON callbacks (about) WHERE about <> '';

-- Deletions that people asked a social network for. Whom one was about is kept as a keyed hash alone.
CREATE TABLE deletions (
    code         TEXT    PRIMARY KEY,                -- 32 hex digits, for the status page
    subject_hash BLOB    NOT NULL,                   -- keyed, of the network and its name for the person
    outcome      TEXT    NOT NULL CHECK (outcome IN ('nothing', 'unlinked', 'erased')),
    asked_at     INTEGER NOT NULL,
    done_at      INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
CREATE INDEX deletions_by_subject ON deletions (subject_hash, asked_at);
