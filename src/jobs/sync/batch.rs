//! A batch of the sync: rows of the history in order, and the bookings that they changed, as JSON in gzip. The same
//! rows always produce the same bytes.

use crate::domain::ids::{BookingId, MemberId};
use crate::moment::Moment;
use flate2::{Compression, GzBuilder};
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;
use serde_json::{Map, Value};
use std::collections::BTreeMap;
use std::io::Write;

/// The greatest size of the rows of one batch, before compression. Receivers and NATS servers accept a megabyte by
/// default.
const BYTES_MAX: usize = 768 * 1024;

/// A row of the history, as the partner report has it.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Row {
    /// The number of the row, from 1, without gaps.
    pub seq: i64,
    /// The client identifier of the partner.
    pub client_id: String,
    /// The event: `booking.recorded` and others.
    pub event: String,
    /// The moment, in Unix seconds.
    pub at: Moment,
    /// The number of the partner's user record.
    pub user_id: Option<i64>,
    /// The number of the member.
    pub member_id: Option<MemberId>,
    /// The number of the booking.
    pub booking_id: Option<BookingId>,
    /// The stored JSON object.
    pub detail: Box<RawValue>,
}

/// A packed batch.
#[derive(Debug, Clone, PartialEq)]
pub struct Batch {
    /// The id of the site.
    pub site_id: String,
    /// The `seq` of the row before the first.
    pub after: i64,
    /// The `seq` of the last row.
    pub last: i64,
    /// The number of rows; 0 in a batch that only requests the position.
    pub rows: usize,
    /// The `seq` of the last row that the receiver has once it accepted this batch.
    pub position: i64,
    /// The moment of that row, in Unix seconds.
    pub position_at: Option<Moment>,
    /// For a refused row that is sent again: how often it was refused.
    refusals: Option<i64>,
    /// The body: JSON in gzip.
    pub body: Vec<u8>,
}

#[derive(Serialize)]
struct Body<'a> {
    site_id: &'a str,
    after: i64,
    last: i64,
    /// Whether the row was refused before, and is sent again to a receiver whose position is beyond it.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    again: bool,
    history: &'a [Row],
    bookings: Vec<Map<String, Value>>,
}

impl Batch {
    /// A batch of the rows after `after`: as many as fit, and at least one where there is any.
    pub fn of(site_id: &str, after: i64, rows: &[Row]) -> Batch {
        let rows = fitting(rows);
        let (last, last_at) = rows.last().map_or((after, None), |row| (row.seq, Some(row.at)));
        let body = packed(&Body { site_id, after, last, again: false, history: rows, bookings: bookings(rows) });
        Batch {
            site_id: site_id.to_owned(),
            after,
            last,
            rows: rows.len(),
            position: last,
            position_at: last_at,
            refusals: None,
            body,
        }
    }

    /// A batch of one row that was refused `refusals` times, for a receiver whose position is beyond the row.
    pub(crate) fn again(site_id: &str, row: Row, position: i64, refusals: i64) -> Batch {
        let (after, last) = (row.seq - 1, row.seq);
        let rows = &[row];
        let body = packed(&Body { site_id, after, last, again: true, history: rows, bookings: bookings(rows) });
        Batch {
            site_id: site_id.to_owned(),
            after,
            last,
            rows: 1,
            position: position.max(last),
            position_at: None,
            refusals: Some(refusals),
            body,
        }
    }

    /// Whether it is a refused row that is sent again.
    pub(crate) fn is_again(&self) -> bool {
        self.refusals.is_some()
    }

    /// The idempotency key, the same for every attempt: the site and its rows. A refused row that is sent again has a
    /// key of its own, because a receiver that stores answers would repeat the refusal.
    pub fn key(&self) -> String {
        let rows = format!("{}:{}-{}", self.site_id, self.after + 1, self.last);
        self.refusals.map_or(rows.clone(), |refusals| format!("{rows}:again-{refusals}"))
    }
}

fn fitting(rows: &[Row]) -> &[Row] {
    // The JSON around the detail, and the part of the detail that is repeated in the booking.
    let size = |row: &Row| 200 + row.client_id.len() + 2 * row.detail.get().len();
    let mut bytes = 0;
    let fit = rows.iter().take_while(|row| {
        bytes += size(row);
        bytes <= BYTES_MAX
    });
    &rows[..fit.count().max(1).min(rows.len())]
}

/// Each booking that a row recorded or changed, in its state after the last such row, in the order of booking numbers.
fn bookings(rows: &[Row]) -> Vec<Map<String, Value>> {
    let mut bookings = BTreeMap::new();
    for row in rows.iter().filter(|row| row.event.starts_with("booking.")) {
        let Some(booking_id) = row.booking_id else { continue };
        let Ok(mut booking) = serde_json::from_str::<Map<String, Value>>(row.detail.get()) else { continue };
        booking.insert("booking_id".to_owned(), booking_id.0.into());
        booking.insert("client_id".to_owned(), row.client_id.as_str().into());
        booking.insert("member_id".to_owned(), row.member_id.map(i64::from).into());
        booking.insert("updated_at".to_owned(), row.at.0.into());
        bookings.insert(booking_id, booking);
    }
    bookings.into_values().collect()
}

fn packed(body: &Body) -> Vec<u8> {
    let json = serde_json::to_vec(body).expect("our own structs can be written as JSON");
    // The gzip header has no moment, so that the bytes are always the same.
    let mut gzip = GzBuilder::new().mtime(0).write(Vec::with_capacity(json.len() / 6), Compression::new(6));
    gzip.write_all(&json).and_then(|()| gzip.finish()).expect("memory can be written to")
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Read;

    pub(crate) fn row(seq: i64, event: &str, booking_id: Option<BookingId>, detail: &str) -> Row {
        let detail = RawValue::from_string(detail.to_owned()).unwrap();
        let (client_id, event) = ("c1".to_owned(), event.to_owned());
        Row {
            seq,
            client_id,
            event,
            at: Moment(1_000 + seq),
            user_id: None,
            member_id: Some(MemberId(9)),
            booking_id,
            detail,
        }
    }

    fn unpacked(batch: &Batch) -> Value {
        let mut json = String::new();
        flate2::read::GzDecoder::new(&*batch.body).read_to_string(&mut json).unwrap();
        serde_json::from_str(&json).unwrap()
    }

    #[test]
    fn a_batch_says_whose_it_is_which_rows_and_which_bookings() {
        let rows = [
            row(5, "booking.recorded", Some(BookingId(3)), r#"{"minutes_booked":10}"#),
            row(6, "token.issued", Some(BookingId(3)), "{}"),
            row(8, "booking.changed", Some(BookingId(3)), r#"{"minutes_booked":15}"#),
            row(9, "booking.recorded", Some(BookingId(2)), r#"{"minutes_booked":20}"#),
        ];
        let batch = Batch::of("abc", 4, &rows);
        assert_eq!((batch.key().as_str(), batch.position, batch.position_at), ("abc:5-9", 9, Some(Moment(1_009))));
        let body = unpacked(&batch);
        assert_eq!((body["after"].as_i64(), body["last"].as_i64(), &body["again"]), (Some(4), Some(9), &Value::Null));
        assert_eq!(body["history"].as_array().unwrap().len(), 4);
        let bookings = body["bookings"].as_array().unwrap();
        assert_eq!(bookings.len(), 2);
        assert_eq!(
            (bookings[1]["minutes_booked"].as_i64(), bookings[1]["updated_at"].as_i64()),
            (Some(15), Some(1_008))
        );
        assert_eq!(batch, Batch::of("abc", 4, &rows), "the same rows, the same bytes");
    }

    #[test]
    fn a_refused_row_goes_again_under_a_key_of_its_own_until_it_is_refused_once_more() {
        let refused = || row(5, "token.issued", None, "{}");
        let keys = [1, 1, 2].map(|refusals| Batch::again("abc", refused(), 9, refusals).key());
        assert_eq!(keys, ["abc:5-5:again-1", "abc:5-5:again-1", "abc:5-5:again-2"]);
        assert_eq!(Batch::of("abc", 4, &[refused()]).key(), "abc:5-5");
    }

    #[test]
    fn a_batch_is_bounded_by_its_size_and_never_empty_while_there_are_rows() {
        let long = format!("{{\"x\":\"{}\"}}", "y".repeat(300_000));
        let rows: Vec<_> = (1..=3).map(|seq| row(seq, "token.refused", None, &long)).collect();
        assert_eq!(Batch::of("abc", 0, &rows).last, 1);
        let longer = format!("{{\"x\":\"{}\"}}", "y".repeat(BYTES_MAX));
        assert_eq!(Batch::of("abc", 0, &[row(7, "token.refused", None, &longer)]).rows, 1);
        assert_eq!(Batch::of("abc", 6, &[]).last, 6);
    }
}
