//! The answers that members, the partner and the sync get after a restart.

use super::client::Client;
use super::operations::email;
use crate::harness::{Caller, Server};
use serde_json::{Value, json};
use std::collections::{BTreeMap, BTreeSet};

/// Checks the answers over HTTP. No client may have a pending operation.
pub fn over_http(server: &Server, sync: &Caller, clients: &[Client]) {
    let mut http = server.client();
    for client in clients {
        let rows = http.list(&client.session, &format!("/api/account/logbook/time/{}", client.member_id));
        let typed = rows.iter().filter(|row| row["comment"] != "");
        let times: BTreeMap<String, i64> =
            typed.map(|row| (string(&row["comment"]), string(&row["time"]).parse().unwrap())).collect();
        assert_eq!(times, client.record.times, "time entries of client {}", client.number);

        let rows = http.list(&client.session, "/api/account/profile/booking-history");
        let bookings: BTreeMap<i64, i64> =
            rows.iter().map(|row| (number(&row["registration_id"]), number(&row["minutes_booked"]))).collect();
        assert_eq!((&bookings, rows.len()), (&client.record.bookings, client.record.bookings.len()));
    }
    let rows = http.list(&clients[0].partner, "/api/external/partner-metrics/op");
    let users: BTreeSet<String> = rows.iter().map(|row| string(&row["email"])).collect();
    let expected: BTreeSet<String> =
        clients.iter().flat_map(|c| c.record.users.iter().map(|(name, version)| email(name, *version))).collect();
    assert_eq!((&users, rows.len()), (&expected, expected.len()));
    reports(server, sync, clients);
}

/// The reports have one row for each booking, and the history, read page by page, has every number once.
fn reports(server: &Server, sync: &Caller, clients: &[Client]) {
    const REPORTS: &str = "/api/admin/reports/external/partner-metrics";
    let mut http = server.client();
    let bookings = http.post(sync, &format!("{REPORTS}/bookings"), &json!({"limit": 1})).ok();
    assert_eq!(number(&bookings["total"]), clients.iter().map(|c| c.record.bookings.len() as i64).sum::<i64>());
    let mut last = 0;
    loop {
        let page = http.post(sync, &format!("{REPORTS}/history"), &json!({"limit": 500, "after": last})).ok();
        for row in page["data"].as_array().unwrap() {
            assert_eq!(number(&row["seq"]), last + 1, "history has a gap");
            last += 1;
        }
        if page["data"].as_array().unwrap().is_empty() {
            break;
        }
    }
    assert_eq!(last, clients.iter().map(|c| c.record.events.len() as i64).sum::<i64>());
}

fn string(value: &Value) -> String {
    crate::harness::text(value).to_owned()
}

fn number(value: &Value) -> i64 {
    value.as_i64().unwrap_or_else(|| panic!("{value} is no whole number"))
}
