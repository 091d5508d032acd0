//! One client: a member with a session, and the partner that books for this member.

use super::operations::{Known, Operation, Record};
use crate::harness::{self, Answer, Caller, Random};
use std::net::SocketAddr;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{SystemTime, UNIX_EPOCH};

const MINUTES_MAX: u64 = 60;

pub struct Client {
    pub number: usize,
    pub member_id: i64,
    pub session: Caller,
    pub partner: Caller,
    /// The acknowledged operations.
    pub record: Record,
    pub known: Known,
    /// An operation that was sent but not answered, with its `Idempotency-Key`.
    pub pending: Option<(Operation, Option<String>)>,
    random: Random,
    /// A counter for new names.
    next: u64,
    flown_at: i64,
}

/// The outcome of an operation.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum OperationOutcome {
    Done,
    Refused(u16),
    Unknown,
}

impl Client {
    pub fn new(number: usize, member_id: i64, session: Caller, partner: Caller, random: Random) -> Client {
        let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap().as_secs() as i64;
        Client {
            number,
            member_id,
            session,
            partner,
            record: Record::default(),
            known: Known::default(),
            pending: None,
            random,
            next: 0,
            flown_at: now - 3600,
        }
    }

    /// Runs one operation after the other until the connection breaks.
    pub fn work(&mut self, address: SocketAddr, mut acknowledged: impl FnMut()) {
        let mut http = harness::Client::new(address);
        loop {
            let operation = self.choose();
            let key =
                (self.is_post(&operation) && self.random.below(2) == 0).then(|| format!("{:016x}", self.random.next()));
            self.pending = Some((operation, key));
            let Ok(answer) = self.send_pending(&mut http) else { return };
            self.acknowledge(&answer);
            acknowledged();
        }
    }

    /// Runs operations where the disk may fail or the power be cut: until the connection breaks, the outcome of an
    /// operation is unknown, or `go_on` returns false. `cut` is read once an answer has arrived; an answer after the
    /// cut does not count.
    pub fn endure(&mut self, address: SocketAddr, cut: &AtomicBool, mut go_on: impl FnMut(OperationOutcome) -> bool) {
        let mut http = harness::Client::new(address);
        loop {
            let operation = self.choose();
            let key =
                (self.is_post(&operation) && self.random.below(2) == 0).then(|| format!("{:016x}", self.random.next()));
            self.pending = Some((operation, key));
            let answer = self.send_pending(&mut http);
            if cut.load(Ordering::SeqCst) {
                return;
            }
            let Ok(answer) = answer else { return };
            let outcome = match answer.status {
                200..300 => {
                    self.acknowledge(&answer);
                    OperationOutcome::Done
                }
                // The status promises that the operation was not done.
                503 | 507 => {
                    self.pending = None;
                    OperationOutcome::Refused(answer.status)
                }
                // The operation may or may not be done: the next look at the database shows it.
                500 => OperationOutcome::Unknown,
                _ => panic!("client {}: {answer:?}", self.number),
            };
            if !go_on(outcome) || outcome == OperationOutcome::Unknown {
                return;
            }
        }
    }

    /// Sends the pending operation again under its key. Without a key it stays open whether the operation was done.
    pub fn retry_pending(&mut self, address: SocketAddr) {
        if let Some((_, Some(_))) = &self.pending {
            let mut http = harness::Client::new(address);
            let answer = self.send_pending(&mut http).unwrap();
            self.acknowledge(&answer);
        }
        self.pending = None;
    }

    fn send_pending(&self, http: &mut harness::Client) -> std::io::Result<Answer> {
        let (operation, key) = self.pending.as_ref().expect("there is one");
        let sent = operation.sent(self.member_id, self.flown_at, &self.known);
        let caller = if sent.by_partner { &self.partner } else { &self.session };
        http.call(caller, sent.method, &sent.path, key.as_deref(), &sent.body)
    }

    fn acknowledge(&mut self, answer: &Answer) {
        let (operation, _) = self.pending.take().expect("it was sent");
        operation.learn(&answer.ok(), &mut self.known);
        self.record.add(&operation);
    }

    fn is_post(&self, operation: &Operation) -> bool {
        operation.sent(self.member_id, self.flown_at, &self.known).method == "POST"
    }

    fn choose(&mut self) -> Operation {
        if self.known.pin.is_none() {
            return Operation::NewPin;
        }
        let minutes = 1 + self.random.below(MINUTES_MAX) as i64;
        let times: Vec<String> = self.record.times.keys().cloned().collect();
        let users: Vec<String> = self.record.users.keys().cloned().collect();
        let bookings: Vec<i64> = self.record.bookings.keys().copied().collect();
        let what = self.random.below(20);
        let (time, user) = (self.random.one_of(&times).cloned(), self.random.one_of(&users).cloned());
        let booking = self.random.one_of(&bookings).copied();
        self.next += 1;
        let name = format!("c{}n{}", self.number, self.next);
        match (what, time, user, booking) {
            (0..=1, Some(comment), _, _) => Operation::EditTime { comment, minutes },
            (2..=4, Some(comment), _, _) => Operation::DeleteTime { comment },
            (5, _, _, _) => Operation::NewPin,
            (6..=7, _, Some(name), _) => Operation::EditUser { name, version: self.next },
            (8..=9, _, Some(name), _) => Operation::DeleteUser { name },
            (10..=11, _, _, Some(registration)) => Operation::Book { registration, minutes },
            (12..=14, ..) => Operation::Book { registration: self.registration(), minutes },
            (15..=16, ..) => Operation::AddUser { name },
            _ => Operation::EnterTime { comment: name, minutes },
        }
    }

    /// A registration number that belongs to this client alone.
    fn registration(&self) -> i64 {
        self.number as i64 * 1_000_000 + self.next as i64
    }
}

/// The number of the client to which a name, a comment or an address belongs.
pub fn number_of(name: &str) -> Option<usize> {
    name.strip_prefix('c')?.split_once('n')?.0.parse().ok()
}

/// The number of the client to which a registration belongs.
pub fn number_of_registration(registration: i64) -> usize {
    (registration / 1_000_000) as usize
}
