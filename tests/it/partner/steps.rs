//! Every path that changes a booking, in random order: the partner's API, the desk, the kiosk, its stored check-ins, the
//! command line and the member's PIN. After each step the booking, the history, the report, the batch that goes upstream and
//! the partner's own view say the same.

use crate::bad_input::dice::Dice;
use crate::desk::{Clerk, book_beside, kiosk};
use crate::harness::{Caller, Site};
use flate2::read::GzDecoder;
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::io::{Read, Write};
use std::time::Duration;
use tunneldesk::jobs::sync::{Batch, Row};

const GENERATE: &str = "/external/partner-metrics/op/generate-token";
const BOOKINGS: &str = "/external/partner-metrics/bookings";
const REPORTS: &str = "/admin/reports/external/partner-metrics";
const STEPS: u64 = 180;
const SEED: u64 = 1;
/// The values of a booking that all views have.
const VALUES: [&str; 11] = [
    "registration_id",
    "purchase_id",
    "purchase_date",
    "flight_date",
    "minutes_booked",
    "product_id",
    "tunnel_id",
    "checkin_time",
    "ended",
    "ended_at",
    "arrived_at",
];

type Values = BTreeMap<&'static str, Value>;

struct Stage {
    site: Site,
    partners: [Caller; 2],
    flyers: Vec<Caller>,
    /// The PINs of each flyer, the present one last.
    pins: Vec<Vec<String>>,
    desk: Caller,
    clerk: Clerk,
    kiosk: Clerk,
    sync: Caller,
    /// What the partners sent: which partner, and the body.
    sent: Vec<(usize, Value)>,
    /// Stored check-ins of the kiosk.
    tickets: Vec<String>,
    /// The bookings as the history told of them.
    told: BTreeMap<i64, Values>,
    /// The bookings as the receiver upstream has them.
    upstream: BTreeMap<i64, Values>,
    /// The published schema of a batch.
    schema: jsonschema::Validator,
    seq: i64,
    events: BTreeMap<String, usize>,
}

fn values_of(row: &Value) -> Values {
    VALUES.iter().map(|name| (*name, row[*name].clone())).collect()
}

impl Stage {
    fn new() -> Stage {
        let site = Site::open_with(|config| (config.demo, config.minutes_per_quarter_hour) = (true, 0));
        let partners = [site.partner(), site.strict_partner()];
        let flyers: Vec<Caller> = vec![site.flyer("jane"), site.flyer("mark"), site.member("ann")];
        let pins = flyers.iter().map(|flyer| vec![site.pin(flyer)]).collect();
        let (desk, kiosk, sync) = (site.desk(), kiosk::paired(&site), site.sync());
        let clerk = Clerk::at(&site, &desk);
        let (sent, tickets, told, upstream) = (Vec::new(), Vec::new(), BTreeMap::new(), BTreeMap::new());
        let (seq, events) = (0, BTreeMap::new());
        let schema = site.stranger().get("/schemas/upstream-batch-1.json").ok().json();
        let schema = jsonschema::validator_for(&schema).expect("the published schema is one");
        Stage {
            site,
            partners,
            flyers,
            pins,
            desk,
            clerk,
            kiosk,
            sync,
            sent,
            tickets,
            told,
            upstream,
            schema,
            seq,
            events,
        }
    }

    fn send(&mut self, partner: usize, body: Value) {
        // A refusal changes nothing, which the comparison shows.
        self.partners[partner].post(GENERATE, &body);
        self.sent.push((partner, body));
    }

    fn book(&mut self, dice: &mut Dice) {
        let flyer = dice.below(self.flyers.len());
        let mut body = json!({
            "member_id": self.flyers[flyer].id, "member_pin": self.pins[flyer].last(), "tunnel_id": Site::TUNNEL_ID,
            "flight_date": self.some_moment(dice), "minutes_booked": 5 + dice.below(40),
        });
        if !dice.one_in(4) {
            body["registration_id"] = json!(self.site.next_number());
        }
        if dice.one_in(3) {
            body["purchase_id"] = json!(self.site.next_number());
        }
        let partner = dice.below(2);
        self.send(partner, body);
    }

    /// Sends one of the bookings again: as it was, or with another day or other minutes, by the PIN of then or of now.
    fn repeat(&mut self, dice: &mut Dice) {
        let Some((partner, mut body)) = self.sent.get(dice.below(self.sent.len().max(1))).cloned() else { return };
        match dice.below(5) {
            0 => body["minutes_booked"] = json!(5 + dice.below(40)),
            1 => body["flight_date"] = json!(self.some_moment(dice)),
            2 => body["product_id"] = json!(dice.below(5)),
            _ => {}
        }
        if dice.one_in(2) {
            let flyer = self.flyers.iter().position(|flyer| body["member_id"] == flyer.id).expect("a flyer of ours");
            body["member_pin"] = json!(self.pins[flyer].last());
        }
        self.send(partner, body);
    }

    /// From two days ago to three days ahead.
    fn some_moment(&self, dice: &mut Dice) -> i64 {
        self.site.now() + (dice.below(120) as i64 - 47) * 3600
    }

    fn some_booking(&self, dice: &mut Dice) -> i64 {
        let ids: Vec<i64> = self.site.change(|tx| Ok(tx.list("SELECT booking_id FROM bookings", [])?));
        ids.get(dice.below(ids.len().max(1))).copied().unwrap_or(1)
    }

    fn cancel_by_partner(&self, dice: &mut Dice) {
        let booking_id = self.some_booking(dice);
        self.partners[dice.below(2)].delete(&format!("{BOOKINGS}/b-{booking_id}"));
    }

    fn at_desk(&self, dice: &mut Dice, act: &str) {
        let path = format!("/desk/bookings/{}/{act}", self.some_booking(dice));
        let day = format!("2026-06-{:02}", 1 + dice.below(28));
        let minutes = (5 + dice.below(40)).to_string();
        let fields = [("day", &*day), ("clock", "14:30"), ("minutes", &*minutes)];
        self.clerk.post(&path, if act == "move" { &fields } else { &[] });
    }

    fn walk_in(&self, dice: &mut Dice) {
        let (minutes, number) = ((5 + dice.below(40)).to_string(), self.site.next_number().to_string());
        let name = &self.flyers[dice.below(self.flyers.len())].name;
        let here = if dice.one_in(2) { "1" } else { "" };
        let form =
            [("member", &**name), ("minutes", &minutes), ("clock", "23:50"), ("number", &number), ("here", here)];
        book_beside(&self.clerk, &form);
    }

    fn at_kiosk(&mut self, dice: &mut Dice) {
        let flyer = dice.below(self.flyers.len());
        self.kiosk.post("/kiosk/leave", &[]);
        let pin = self.site.pin(&self.flyers[flyer]);
        let number = self.flyers[flyer].id.to_string();
        self.kiosk.post("/kiosk/number", &[("number", &number), ("pin", &pin)]);
        self.pins[flyer].push(pin);
        let page = self.kiosk.get("/kiosk/home").page();
        let tickets = page.split("data-ticket=\"").skip(1).map(|rest| rest.split('"').next().unwrap().to_owned());
        self.tickets.extend(tickets);
        match dice.below(3) {
            0 => {
                _ = self
                    .kiosk
                    .post("/kiosk/book", &[("minutes", "10"), ("number", &self.site.next_number().to_string())])
            }
            _ => _ = self.kiosk.post(&format!("/kiosk/bookings/{}/check-in", self.some_booking(dice)), &[]),
        }
    }

    fn send_stored_check_in(&mut self, dice: &mut Dice) {
        if self.tickets.is_empty() {
            return;
        }
        let ticket = self.tickets.swap_remove(dice.below(self.tickets.len()));
        let at = (self.site.now() - 60 * dice.below(30) as i64).to_string();
        let key = format!("key-{}", self.site.next_number());
        for _ in 0..=dice.below(2) {
            let headers = [("origin", &*self.kiosk.origin), ("idempotency-key", &*key)];
            self.kiosk.post_from("/kiosk/kept", &[("ticket", &ticket), ("at", &at)], &headers);
        }
    }

    fn import(&mut self, dice: &mut Dice) {
        let (client_id, name) = (self.partners[0].client_id(), &self.flyers[dice.below(self.flyers.len())].name);
        let (number, at) = (self.site.next_number(), self.some_moment(dice));
        let mut file = tempfile::NamedTempFile::new().expect("a file for the list");
        let head = "client_id,username,registration_id,flight_date,minutes_booked,tunnel_id";
        writeln!(file, "{head}\n{client_id},{name},{number},{at},12,{}", Site::TUNNEL_ID).expect("the list is written");
        self.site.shell(&["import", "bookings", &file.path().to_string_lossy()]);
        // Its history went upstream from the site that recorded it, so it is here without events until its first step.
        let rows = self.rows();
        let (id, row) = rows.iter().next_back().expect("the booking is here");
        self.told.insert(*id, row.clone());
        self.upstream.insert(*id, row.clone());
        let flyer = self.flyers.iter().find(|flyer| flyer.name == *name).expect("a flyer of ours").id;
        let body = json!({ "member_id": flyer, "registration_id": number, "flight_date": at, "minutes_booked": 12,
                           "tunnel_id": Site::TUNNEL_ID, "member_pin": "" });
        self.sent.push((0, body));
    }

    fn ban_and_lift(&mut self, dice: &mut Dice) {
        let flyer = dice.below(self.flyers.len());
        let name = self.flyers[flyer].name.clone();
        self.site.shell(&["member", "ban", &name]);
        self.at_desk(dice, "cancel");
        self.site.shell(&["member", "ban", "--lift", &name]);
        self.flyers[flyer] = self.site.again(&self.flyers[flyer]);
        self.pins[flyer].push(self.site.pin(&self.flyers[flyer]));
    }

    fn let_time_pass(&mut self, dice: &mut Dice) {
        self.site.advance(Duration::from_secs(60 * dice.below(400) as u64));
        self.clerk = Clerk::at(&self.site, &self.desk);
    }

    fn step(&mut self, dice: &mut Dice) -> &'static str {
        type Act = fn(&mut Stage, &mut Dice);
        let acts: [(&str, Act); 16] = [
            ("book", Stage::book),
            ("book once more", Stage::book),
            ("repeat", Stage::repeat),
            ("repeat once more", Stage::repeat),
            ("cancel by the partner", |stage, dice| stage.cancel_by_partner(dice)),
            ("move", |stage, dice| stage.at_desk(dice, "move")),
            ("cancel", |stage, dice| stage.at_desk(dice, "cancel")),
            ("no-show", |stage, dice| stage.at_desk(dice, "no-show")),
            ("reinstate", |stage, dice| stage.at_desk(dice, "reinstate")),
            ("check in", |stage, dice| stage.at_desk(dice, "check-in")),
            ("undo the check-in", |stage, dice| stage.at_desk(dice, "check-in/undo")),
            ("walk in", |stage, dice| stage.walk_in(dice)),
            ("kiosk", Stage::at_kiosk),
            ("stored check-in", Stage::send_stored_check_in),
            ("time", Stage::let_time_pass),
            ("shell", |stage, dice| if dice.one_in(2) { stage.import(dice) } else { stage.ban_and_lift(dice) }),
        ];
        let (name, act) = acts[dice.below(acts.len())];
        act(self, dice);
        name
    }

    /// The bookings in the database.
    fn rows(&self) -> BTreeMap<i64, Values> {
        let sql = "SELECT json_object('booking_id', booking_id, 'registration_id', registration_id, 'purchase_id', purchase_id,
                       'purchase_date', purchase_date, 'flight_date', flight_date, 'minutes_booked', minutes_booked,
                       'product_id', product_id, 'tunnel_id', tunnel_id, 'checkin_time', checkin_time, 'ended', ended_as,
                       'ended_at', ended_at, 'arrived_at', arrived_at) FROM bookings ORDER BY booking_id";
        let rows: Vec<String> = self.site.change(|tx| Ok(tx.list(sql, [])?));
        let rows = rows.iter().map(|row| serde_json::from_str::<Value>(row).expect("SQLite writes JSON"));
        rows.map(|row| (row["booking_id"].as_i64().unwrap(), values_of(&row))).collect()
    }

    /// Reads on in the history, as a receiver of the reports does, and in the batches of the same rows.
    fn read_on(&mut self) {
        let body = json!({ "after": self.seq, "limit": 500 });
        let page = self.sync.post(&format!("{REPORTS}/history"), body).ok().json();
        let rows: Vec<Row> = serde_json::from_value(page["data"].clone()).expect("the report's rows go upstream");
        for row in &rows {
            assert_eq!(row.seq, self.seq + 1, "the history has no gaps");
            self.seq = row.seq;
            *self.events.entry(row.event.clone()).or_default() += 1;
            if let (true, Some(booking_id)) = (row.event.starts_with("booking."), row.booking_id) {
                self.told.insert(booking_id.0, values_of(&serde_json::from_str(row.detail.get()).unwrap()));
            }
        }
        let Some(first) = rows.first() else { return };
        let batch = Batch::of(&"0".repeat(32), first.seq - 1, &rows);
        assert_eq!(batch.last, self.seq, "one batch has them all");
        let mut text = String::new();
        GzDecoder::new(&*batch.body).read_to_string(&mut text).expect("a batch is gzip");
        let body: Value = serde_json::from_str(&text).unwrap();
        assert!(self.schema.is_valid(&body), "{:?}", self.schema.iter_errors(&body).next());
        for booking in body["bookings"].as_array().unwrap() {
            self.upstream.insert(booking["booking_id"].as_i64().unwrap(), values_of(booking));
        }
    }

    fn report(&self) -> BTreeMap<i64, Values> {
        let mut all = BTreeMap::new();
        loop {
            let body = json!({ "limit": 500, "offset": all.len() });
            let page = self.sync.post(&format!("{REPORTS}/bookings"), body).ok().json();
            let rows = page["data"].as_array().unwrap();
            all.extend(rows.iter().map(|row| (row["booking_id"].as_i64().unwrap(), values_of(row))));
            if rows.len() < 500 {
                return all;
            }
        }
    }

    fn seen_by_partners(&self) -> BTreeMap<i64, Values> {
        let lists = self.partners.iter().map(|partner| partner.get(BOOKINGS).ok().json());
        let rows = lists.flat_map(|list| list.as_array().unwrap().clone());
        rows.map(|row| (row["booking_id"].as_i64().unwrap(), values_of(&row))).collect()
    }

    fn compare(&mut self, what: &str) {
        self.read_on();
        let rows = self.rows();
        assert_eq!(self.told, rows, "history and bookings after {what}");
        assert_eq!(self.upstream, rows, "upstream and bookings after {what}");
        assert_eq!(self.report(), rows, "report and bookings after {what}");
        let of_partners = self.seen_by_partners();
        assert!(of_partners.iter().all(|(id, seen)| rows[id] == *seen), "a partner's view after {what}");
    }
}

#[test]
fn history_report_upstream_and_booking_agree_after_every_step() {
    let number = |name: &str, otherwise: u64| std::env::var(name).map_or(otherwise, |text| text.parse().unwrap());
    let (steps, seed) = (number("TUNNELDESK_BOOKING_STEPS", STEPS), number("TUNNELDESK_SEED", SEED));
    let (mut stage, mut dice) = (Stage::new(), Dice::new(seed, "bookings"));
    for n in 0..steps {
        stage.site.reset_rate_limits();
        let name = stage.step(&mut dice);
        // A pause after wrong PINs would end the partner's part in this.
        stage.site.change(|tx| Ok(tx.run("DELETE FROM throttles", [])?));
        stage.compare(&format!("step {n} of seed {seed}, {name}"));
    }
    eprintln!("{steps} steps, {} bookings: {:?}", stage.told.len(), stage.events);
    for event in ["moved", "cancelled", "no_show", "restored", "checked_in", "check_in_undone", "changed", "recorded"] {
        assert!(stage.events.contains_key(&format!("booking.{event}")), "no step led to {event}: {:?}", stage.events);
    }
}
