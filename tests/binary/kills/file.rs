//! The database as a kill left it. Only a copy is opened: opening repairs the database, and the repair by the server is
//! under test.

use super::client::{Client, number_of, number_of_registration};
use super::operations::{Known, Operation, Record, email};
use rusqlite::{Connection, Row};
use std::path::Path;

/// Queries for half-finished changes; each must select nothing.
const HALF_DONE: [(&str, &str); 11] = [
    ("a gap in history", "SELECT seq FROM history h WHERE seq > 1 AND NOT EXISTS (SELECT 1 FROM history WHERE seq = h.seq - 1)"),
    (
        "a total that is not the sum of its entries",
        "SELECT member_id FROM members m WHERE flight_minutes <> (SELECT coalesce(sum(minutes), 0) FROM entries
         WHERE member_id = m.member_id AND kind = 'time' AND status = 'open')",
    ),
    (
        "a booking that was not recorded once",
        "SELECT booking_id FROM bookings b WHERE 1 <> (SELECT count(*) FROM history
         WHERE booking_id = b.booking_id AND event = 'booking.recorded')",
    ),
    (
        "a booking that is not as history says",
        "SELECT booking_id FROM bookings b WHERE minutes_booked <> (SELECT detail ->> 'minutes_booked' FROM history
         WHERE booking_id = b.booking_id AND event IN ('booking.recorded', 'booking.changed') ORDER BY seq DESC LIMIT 1)",
    ),
    (
        "a booking with another number of tokens than were issued",
        "SELECT booking_id FROM bookings b WHERE (SELECT count(*) FROM booking_tokens WHERE booking_id = b.booking_id)
         <> (SELECT count(*) FROM history WHERE booking_id = b.booking_id AND event = 'token.issued')",
    ),
    (
        "a booking of a current flyer without its flight time, or the other way round",
        "SELECT booking_id FROM bookings b
         WHERE EXISTS (SELECT 1 FROM holdings WHERE member_id = b.member_id)
            <> EXISTS (SELECT 1 FROM entries WHERE booking_id = b.booking_id AND minutes = b.minutes_booked)",
    ),
    (
        "a booking without its notice",
        "SELECT booking_id FROM bookings b WHERE 1 <> (SELECT count(*) FROM notices
         WHERE detail ->> 'booking_id' = b.booking_id AND subject <> 'notice.booking_changed')",
    ),
    (
        "a changed booking with more notices than changes",
        "SELECT booking_id FROM bookings b WHERE (SELECT count(*) FROM notices
         WHERE detail ->> 'booking_id' = b.booking_id AND subject = 'notice.booking_changed')
         > (SELECT count(*) FROM history h WHERE h.booking_id = b.booking_id AND h.event = 'booking.changed')",
    ),
    (
        "a record that was not created once",
        "SELECT user_id FROM partner_users u WHERE 1 <> (SELECT count(*) FROM history
         WHERE user_id = u.user_id AND event = 'user.created')",
    ),
    (
        "a record deleted without history, or the other way round",
        "SELECT user_id FROM partner_users u WHERE (deleted_at IS NOT NULL)
         <> EXISTS (SELECT 1 FROM history WHERE user_id = u.user_id AND event = 'user.deleted')",
    ),
    ("a row that points nowhere", "SELECT rowid FROM pragma_foreign_key_check"),
];

/// Makes flyers who hold Level 1 and flew today. On a site with signers this would come about through requests.
pub fn make_current(database: &Path, members: &[i64]) {
    let conn = Connection::open(database).unwrap();
    for id in members {
        conn.execute(
            "INSERT INTO holdings (member_id, cat_group, cat_id, track, since) VALUES (?1, 'Flyer', '1', '', 0)",
            [id],
        )
        .unwrap();
        let flown = "INSERT INTO entries (member_id, kind, status, entry_date, minutes, tunnel_id, author_id, created_at, updated_at)
                     VALUES (?1, 'time', 'open', unixepoch() - 7200, 10, 1, ?1, unixepoch(), unixepoch())";
        conn.execute(flown, [id]).unwrap();
    }
}

/// Opens a copy of the database and its WAL, which must be intact.
fn open_copy(data: &Path, copy: &Path) -> Connection {
    for name in ["tunneldesk.sqlite", "tunneldesk.sqlite-wal"] {
        if data.join(name).exists() {
            std::fs::copy(data.join(name), copy.join(name)).unwrap();
        }
    }
    let conn = Connection::open(copy.join("tunneldesk.sqlite")).unwrap();
    let verdict: String = conn.query_row("PRAGMA integrity_check", [], |row| row.get(0)).unwrap();
    assert_eq!(verdict, "ok");
    conn
}

/// The number of acknowledged entries, bookings and users that are missing or changed. Those that the pending operation
/// may have changed count too.
pub fn count_lost(data: &Path, clients: &[Client]) -> usize {
    let copy = tempfile::tempdir().unwrap();
    let conn = open_copy(data, copy.path());
    let records = records(&conn, clients.len());
    let lost = |(client, (found, _)): (&Client, &(Record, Known))| {
        let record = &client.record;
        record.times.iter().filter(|(name, minutes)| found.times.get(*name) != Some(minutes)).count()
            + record.bookings.iter().filter(|(number, minutes)| found.bookings.get(*number) != Some(minutes)).count()
            + record.users.iter().filter(|(name, version)| found.users.get(*name) != Some(version)).count()
    };
    clients.iter().zip(&records).map(lost).sum()
}

/// Asserts that every acknowledged operation is there once, and the pending one wholly or not at all.
pub fn audit(data: &Path, clients: &mut [Client]) {
    let copy = tempfile::tempdir().unwrap();
    let conn = open_copy(data, copy.path());
    for (what, sql) in HALF_DONE {
        let found: Vec<i64> = list(&conn, sql, |row| row.get(0));
        assert!(found.is_empty(), "{what}: {found:?}");
    }
    let records = records(&conn, clients.len());
    for (client, (found, known)) in clients.iter_mut().zip(records) {
        client.reconcile(found, known);
    }
}

fn list<T>(conn: &Connection, sql: &str, row: impl FnMut(&Row) -> rusqlite::Result<T>) -> Vec<T> {
    let mut statement = conn.prepare(sql).unwrap_or_else(|e| panic!("{e}: {sql}"));
    statement.query_map([], row).unwrap().map(Result::unwrap).collect()
}

/// The rows of the database for each client.
fn records(conn: &Connection, clients: usize) -> Vec<(Record, Known)> {
    let mut all: Vec<(Record, Known)> = (0..clients).map(|_| Default::default()).collect();
    let times = "SELECT comment, entry_id, minutes FROM entries WHERE comment <> ''";
    for (comment, entry_id, minutes) in list(conn, times, |r| Ok((r.get::<_, String>(0)?, r.get(1)?, r.get(2)?))) {
        let (record, known) = &mut all[number_of(&comment).unwrap()];
        assert_eq!(record.times.insert(comment.clone(), minutes), None, "{comment} is there twice");
        known.entry_ids.insert(comment, entry_id);
    }
    let users = "SELECT email, user_id, deleted_at IS NULL FROM partner_users ORDER BY user_id";
    for (address, user_id, alive) in
        list(conn, users, |r| Ok((r.get::<_, String>(0)?, r.get(1)?, r.get::<_, bool>(2)?)))
    {
        let (name, version) = parse_email(&address);
        let (record, known) = &mut all[number_of(&name).unwrap()];
        assert_eq!(known.user_ids.insert(name.clone(), user_id), None, "{name} is there twice");
        if alive {
            record.users.insert(name, version);
        }
    }
    for (registration, minutes) in
        list(conn, "SELECT registration_id, minutes_booked FROM bookings", |r| Ok((r.get(0)?, r.get(1)?)))
    {
        let (record, _) = &mut all[number_of_registration(registration)];
        assert_eq!(record.bookings.insert(registration, minutes), None, "{registration} is there twice");
    }
    let history = "SELECT event, u.email, b.registration_id FROM history h LEFT JOIN partner_users u USING (user_id)
                   LEFT JOIN bookings b USING (booking_id) ORDER BY seq";
    let row = |r: &Row| Ok((r.get::<_, String>(0)?, r.get::<_, Option<String>>(1)?, r.get::<_, Option<i64>>(2)?));
    for (event, address, registration) in list(conn, history, row) {
        let (number, about) = match (address, registration) {
            (Some(address), _) => {
                let (name, _) = parse_email(&address);
                (number_of(&name).unwrap(), name)
            }
            (None, Some(registration)) => (number_of_registration(registration), registration.to_string()),
            (None, None) => panic!("{event} is about nothing"),
        };
        all[number].0.events.push(format!("{event} {about}"));
    }
    all
}

fn parse_email(address: &str) -> (String, u64) {
    let (name, rest) = address.split_once(".v").unwrap();
    let version = rest.split_once('@').unwrap().0.parse().unwrap();
    assert_eq!(address, email(name, version));
    (name.to_owned(), version)
}

impl Client {
    /// Compares the rows found with those expected, and takes over the outcome of the pending operation.
    fn reconcile(&mut self, found: Record, known: Known) {
        let done = self.pending.as_ref().map(|(operation, _)| self.record.with(operation));
        if done.as_ref() != Some(&found) {
            assert_eq!(found, self.record, "client {}, pending {:?}", self.number, self.pending);
        }
        for (comment, entry_id) in &self.known.entry_ids {
            assert!(!found.times.contains_key(comment) || known.entry_ids[comment] == *entry_id, "{comment} was moved");
        }
        // After a kill during a new PIN it is unknown which PIN is valid.
        let pin = self.known.pin.take().filter(|_| !matches!(self.pending, Some((Operation::NewPin, _))));
        // An operation with a key is sent again, and must then be there once.
        if !matches!(self.pending, Some((_, Some(_)))) {
            self.record = found;
            self.pending = None;
        }
        self.known = Known { pin, ..known };
    }
}
