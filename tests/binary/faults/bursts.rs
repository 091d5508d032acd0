//! Bursts of writes of every kind while each flush of the disk takes long: nobody waits until somebody else writes.
//! `TUNNELDESK_BURSTS` sets the number of rounds, `TUNNELDESK_SEED` the pauses between the calls of a round.

use super::flush::serve_with;
use super::{or_skip, rounds, tracer};
use crate::harness::{Caller, Client, Desk, PASSWORD, Random, text};
use crate::off_site::oracle::now;
use serde_json::{Value, json};
use std::ops::RangeInclusive;
use std::sync::Barrier;
use std::time::{Duration, Instant};

const SHORT: u64 = 40;
/// What a flush takes longer, in microseconds.
const SLOWED: &str = "delay_enter=60000";
const ANSWER_TIME_MAX: Duration = Duration::from_secs(2);
/// Partner calls of a round that are refused inside their transaction.
const REFUSED: usize = 10;
const PAUSE_MICROSECONDS_MAX: u64 = 8_000;
const PARTNER: &str = "/api/external/partner-metrics/op";

/// The calls of one client, the same in each round but for the number of the round.
struct Calls<'a> {
    caller: &'a Caller,
    path: String,
    body: Box<dyn Fn(u64) -> Value + Send + Sync + 'a>,
    statuses: RangeInclusive<u16>,
}

impl Calls<'_> {
    /// Calls once a round; the longest wait. The error: an answer that was wrong, late or missing.
    fn run(&self, mut client: Client, rounds: u64, together: &Barrier, mut random: Random) -> Result<Duration, String> {
        let (mut longest, mut wrong) = (Duration::ZERO, None);
        for round in 0..rounds {
            together.wait();
            std::thread::sleep(Duration::from_micros(random.below(PAUSE_MICROSECONDS_MAX)));
            let since = Instant::now();
            let answer = client.call(self.caller, "POST", &self.path, None, &(self.body)(round));
            let time = since.elapsed();
            longest = longest.max(time);
            let is_right =
                time <= ANSWER_TIME_MAX && answer.as_ref().is_ok_and(|answer| self.statuses.contains(&answer.status));
            if !is_right && wrong.is_none() {
                wrong = Some(format!("{} in round {round}: {answer:?} after {time:?}", self.path));
            }
        }
        wrong.map_or(Ok(longest), Err)
    }
}

#[test]
fn no_write_waits_until_somebody_else_writes_while_flushes_are_slow() {
    if or_skip(tracer()).is_none() {
        return;
    }
    let rounds = rounds("TUNNELDESK_BURSTS", SHORT);
    let desk = Desk::with_site();
    let jane = desk.add_member("jane", "member");
    let partner = desk.add_partner(&["--requests-per-minute", "0"]);
    // Each at the pace at which a partner may make records.
    let refused: [Caller; REFUSED] = std::array::from_fn(|n| desk.add_named_partner(&format!("Partner {n}"), &[]));
    let server = desk.serve();
    let session = server.sign_in("jane", PASSWORD);
    let pin = text(&server.post(&session, "/api/account/profile/booking-pin", &json!(null)).ok()["pin"]).to_owned();
    refused.iter().for_each(|partner| _ = server.post(partner, PARTNER, &json!({"email": "jane@example.com"})));
    assert_eq!(server.stop().code, Some(0));

    let server = serve_with(&desk, &desk.data().join("tunneldesk.sqlite-wal"), SLOWED);
    let booking = |round: u64| {
        json!({"member_id": jane, "member_pin": pin, "registration_id": round + 1, "flight_date": now(),
               "minutes_booked": 5, "tunnel_id": 1})
    };
    let entry = |_| json!({"entry_date": 1_700_000_000, "time": 5});
    let taken = |_| json!({"email": "jane@example.com"});
    let (token, time) = (format!("{PARTNER}/generate-token"), "/api/account/logbook/time/".to_owned());
    let mut all = vec![
        Calls { caller: &partner, path: token, body: Box::new(booking), statuses: 200..=201 },
        Calls { caller: &session, path: time, body: Box::new(entry), statuses: 200..=201 },
    ];
    all.extend(refused.iter().map(|caller| Calls {
        caller,
        path: PARTNER.to_owned(),
        body: Box::new(taken),
        statuses: 409..=409,
    }));
    let (together, seed) = (&Barrier::new(all.len()), Random::seed());
    let waited: Vec<_> = std::thread::scope(|scope| {
        let running: Vec<_> = (seed..)
            .zip(&all)
            .map(|(seed, calls)| {
                let client = server.client();
                scope.spawn(move || calls.run(client, rounds, together, Random::new(seed)))
            })
            .collect();
        running.into_iter().map(|calls| calls.join().unwrap()).collect()
    });
    let longest = waited.into_iter().collect::<Result<Vec<_>, String>>().unwrap();
    println!("{rounds} rounds, the longest answer after {:?}", longest.iter().max().expect("there are calls"));
    assert_eq!(server.stop().code, Some(0));
}
