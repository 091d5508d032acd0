//! The operations of a client, and the rows that each must leave.

use serde_json::{Value, json};
use std::collections::BTreeMap;

/// One write. Names contain the client's number, so that every row in the database can be assigned to a client.
#[derive(Debug, Clone)]
pub enum Operation {
    EnterTime {
        comment: String,
        minutes: i64,
    },
    EditTime {
        comment: String,
        minutes: i64,
    },
    DeleteTime {
        comment: String,
    },
    NewPin,
    AddUser {
        name: String,
    },
    /// `version` changes the address.
    EditUser {
        name: String,
        version: u64,
    },
    DeleteUser {
        name: String,
    },
    /// A new booking, or new minutes for an existing one.
    Book {
        registration: i64,
        minutes: i64,
    },
}

/// All rows that a client expects to find.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Record {
    /// Minutes by comment of the entry.
    pub times: BTreeMap<String, i64>,
    /// Versions by name of the user.
    pub users: BTreeMap<String, u64>,
    /// Minutes by registration number.
    pub bookings: BTreeMap<i64, i64>,
    /// The partner's history about this client, in order.
    pub events: Vec<String>,
}

pub fn email(name: &str, version: u64) -> String {
    format!("{name}.v{version}@kills.example")
}

impl Record {
    /// The record after an operation.
    pub fn with(&self, operation: &Operation) -> Record {
        let mut record = self.clone();
        record.add(operation);
        record
    }

    pub fn add(&mut self, operation: &Operation) {
        match operation {
            Operation::EnterTime { comment, minutes } | Operation::EditTime { comment, minutes } => {
                self.times.insert(comment.clone(), *minutes);
            }
            Operation::DeleteTime { comment } => {
                self.times.remove(comment);
            }
            Operation::NewPin => {}
            Operation::AddUser { name } => {
                self.users.insert(name.clone(), 0);
                self.events.push(format!("user.created {name}"));
            }
            Operation::EditUser { name, version } => {
                self.users.insert(name.clone(), *version);
                self.events.push(format!("user.edited {name}"));
            }
            Operation::DeleteUser { name } => {
                self.users.remove(name);
                self.events.push(format!("user.deleted {name}"));
            }
            Operation::Book { registration, minutes } => {
                match self.bookings.insert(*registration, *minutes) {
                    None => self.events.push(format!("booking.recorded {registration}")),
                    Some(before) if before != *minutes => self.events.push(format!("booking.changed {registration}")),
                    Some(_) => {}
                }
                self.events.push(format!("token.issued {registration}"));
            }
        }
    }
}

/// The numbers and tokens that a client needs for its operations, taken from answers, or from the database after a
/// kill.
#[derive(Debug, Default)]
pub struct Known {
    pub entry_ids: BTreeMap<String, i64>,
    pub user_ids: BTreeMap<String, i64>,
    /// `None` after a kill during a change of the PIN.
    pub pin: Option<String>,
}

/// An operation as a request.
pub struct Sent {
    pub method: &'static str,
    pub path: String,
    pub body: Value,
    pub by_partner: bool,
}

impl Operation {
    pub fn sent(&self, member_id: i64, flown_at: i64, known: &Known) -> Sent {
        const USERS: &str = "/api/external/partner-metrics/op";
        let time = |comment: &String| format!("/api/account/logbook/time/{}", known.entry_ids[comment]);
        let (method, path, body) = match self {
            Operation::EnterTime { comment, minutes } => (
                "POST",
                "/api/account/logbook/time/".to_owned(),
                json!({"entry_date": flown_at, "time": minutes.to_string(), "comment": comment}),
            ),
            Operation::EditTime { comment, minutes } => ("PUT", time(comment), json!({"time": minutes.to_string()})),
            Operation::DeleteTime { comment } => {
                ("DELETE", format!("/api/account/logbook/{}", known.entry_ids[comment]), Value::Null)
            }
            Operation::NewPin => ("POST", "/api/account/profile/booking-pin".to_owned(), Value::Null),
            Operation::AddUser { name } => ("POST", USERS.to_owned(), json!({"email": email(name, 0)})),
            Operation::EditUser { name, version } => {
                ("PUT", USERS.to_owned(), json!({"id": known.user_ids[name], "email": email(name, *version)}))
            }
            Operation::DeleteUser { name } => ("DELETE", format!("{USERS}/{}", known.user_ids[name]), Value::Null),
            Operation::Book { registration, minutes } => (
                "POST",
                format!("{USERS}/generate-token"),
                json!({"member_id": member_id, "member_pin": known.pin, "registration_id": registration,
                       "flight_date": flown_at, "minutes_booked": minutes, "tunnel_id": 1}),
            ),
        };
        Sent { method, path, body, by_partner: self.is_the_partners() }
    }

    fn is_the_partners(&self) -> bool {
        matches!(
            self,
            Operation::AddUser { .. }
                | Operation::EditUser { .. }
                | Operation::DeleteUser { .. }
                | Operation::Book { .. }
        )
    }

    /// Takes from an answer the numbers and tokens that later operations need.
    pub fn learn(&self, answer: &Value, known: &mut Known) {
        assert_eq!(answer["status"], true, "{self:?}: {answer}");
        match self {
            Operation::EnterTime { comment, .. } => {
                known.entry_ids.insert(comment.clone(), answer["entry_id"].as_i64().unwrap());
            }
            Operation::AddUser { name } => {
                known.user_ids.insert(name.clone(), answer["id"].as_i64().unwrap());
            }
            Operation::NewPin => known.pin = Some(answer["pin"].as_str().unwrap().to_owned()),
            _ => {}
        }
    }
}
