//! The receiver's side of the protocol, as its document asks for it: what it holds, and what it answers.

use serde_json::{Value, json};
use std::collections::{BTreeMap, BTreeSet};
use std::io::Read;

#[derive(Default)]
pub struct Book {
    /// Rows in the order in which they came.
    pub rows: Vec<Value>,
    /// Bookings as they stood last.
    pub bookings: BTreeMap<i64, Value>,
    /// Numbers of rows that it does not take.
    pub refuses: BTreeSet<i64>,
    /// Rows that came below what it held, each once refused.
    pub late: BTreeMap<i64, Value>,
}

impl Book {
    pub fn last_seq(&self) -> i64 {
        self.rows.last().map_or(0, |row| row["seq"].as_i64().unwrap())
    }

    fn place(&self) -> Value {
        json!({ "last_seq": self.last_seq(), "last_at": self.rows.last().map(|row| row["at"].clone()) })
    }

    /// Status and body of the answer to a batch in gzip.
    pub fn take(&mut self, body: &[u8]) -> (u16, Value) {
        let batch = unpack(body);
        let history = batch["history"].as_array().expect("history is a list");
        if history.iter().any(|row| self.refuses.contains(&row["seq"].as_i64().unwrap())) {
            return (422, json!({ "message": "there is something in it that I do not understand" }));
        }
        if batch["again"] == true {
            self.late.extend(history.iter().map(|row| (row["seq"].as_i64().unwrap(), row.clone())));
            return (200, self.place());
        }
        if batch["after"].as_i64().unwrap() > self.last_seq() {
            return (409, self.place());
        }
        let last = self.last_seq();
        let new: Vec<Value> = history.iter().filter(|row| row["seq"].as_i64().unwrap() > last).cloned().collect();
        if !new.is_empty() {
            for booking in batch["bookings"].as_array().expect("bookings is a list") {
                self.bookings.insert(booking["booking_id"].as_i64().unwrap(), booking.clone());
            }
        }
        self.rows.extend(new);
        (200, self.place())
    }

    /// What became of bookings, without what a restored site says of its rows.
    fn told(&self) -> impl Iterator<Item = &Value> {
        self.rows.iter().filter(|row| row["event"] != "site.restored")
    }

    /// Whatever it was told, in order: `n` of each row's detail.
    pub fn numbers(&self) -> Vec<i64> {
        self.told().map(|row| row["detail"]["n"].as_i64().unwrap()).collect()
    }

    pub fn seqs(&self) -> Vec<i64> {
        self.told().map(|row| row["seq"].as_i64().unwrap()).collect()
    }
}

pub fn unpack(body: &[u8]) -> Value {
    let mut json = String::new();
    flate2::read::GzDecoder::new(body).read_to_string(&mut json).expect("a body is gzip");
    serde_json::from_str(&json).expect("a body is JSON")
}
