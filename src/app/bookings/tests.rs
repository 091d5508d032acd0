//! What each step does to a booking in each state, as a table.

use super::*;
use crate::app::tests::{DAY, Hall, NOW, own};
use crate::app::{Outcome, RankedActor};

/// A booking, and how it came to its state.
type State = (&'static str, i64, fn(&Change, BookingId) -> Result<(), Failure>);
type Do = (&'static str, fn(&Change, BookingId) -> Result<Outcome, Failure>);

const STATES: [State; 7] = [
    ("waits", 600, |_, _| Ok(())),
    ("began", -600, |_, _| Ok(())),
    ("tomorrow", DAY, |_, _| Ok(())),
    ("in a week", 7 * DAY, |_, _| Ok(())),
    ("is here", -600, |cx, id| check_in(cx, id).map(drop)),
    ("cancelled", 600, |cx, id| cancel(cx, id, &Seen::default()).map(drop)),
    ("no-show", -600, |cx, id| set_no_show(cx, id, &Seen::default()).map(drop)),
];

/// By the desk, but for the last two.
const STEPS: [Do; 8] = [
    ("check in", check_in),
    ("undo check-in", undo_check_in),
    ("cancel", |cx, id| cancel(cx, id, &Seen::default())),
    ("no-show", |cx, id| set_no_show(cx, id, &Seen::default())),
    ("reinstate", |cx, id| done(reinstate(cx, id, None))),
    ("move", |cx, id| {
        let later = find(cx, id)?.booking.flight_date + 900;
        done(move_to(cx, id, later, 10, (&Seen::default(), None)))
    }),
    ("own check-in", check_in),
    ("own cancel", |cx, id| cancel_own(cx, id, &Seen::default())),
];

/// A row for each of [`STATES`], a column for each of [`STEPS`]: done, `=` nothing to do, or the status of the refusal.
const TABLE: [[&str; 8]; 7] = [
    ["done", "=", "done", "409", "=", "done", "done", "409"],
    ["done", "=", "done", "done", "=", "done", "done", "409"],
    ["409", "=", "done", "409", "=", "done", "404", "409"],
    ["409", "=", "done", "409", "=", "done", "404", "done"],
    ["=", "done", "409", "409", "=", "done", "=", "409"],
    ["409", "=", "=", "409", "done", "409", "409", "="],
    ["409", "=", "409", "=", "done", "409", "409", "409"],
];

fn done(asked: Result<Outcome, Stop<Full>>) -> Result<Outcome, Failure> {
    asked.map_err(|stop| stop.denial().expect_err("room"))
}

fn said(outcome: Result<Outcome, Failure>) -> String {
    match outcome {
        Ok(Outcome::Done) => "done".to_owned(),
        Ok(Outcome::Unchanged) => "=".to_owned(),
        Err(failure) => failure.status().as_u16().to_string(),
    }
}

fn book(hall: &Hall, member_id: MemberId, number: i64, after: i64) -> BookingId {
    let wanted = DeskBooking { member_id, minutes_booked: 10, number, beside: None, full_quarter: None };
    hall.admin(|cx| Ok(book_at_desk(cx, &wanted, NOW + after).unwrap()))
}

#[test]
fn each_step_in_each_state_is_done_or_refused_as_the_table_says() {
    let hall = Hall::open(|config| (config.cancel_hours, config.minutes_per_quarter_hour) = (48, 0));
    let mut number = 0;
    for ((state, after, bring), row) in STATES.into_iter().zip(TABLE) {
        for ((step, take), right) in STEPS.into_iter().zip(row) {
            number += 1;
            let member_id = hall.member(&format!("m{number}"), None);
            let booking_id = book(&hall, member_id, number, after);
            hall.admin(|cx| bring(cx, booking_id));
            let by = if step.starts_with("own") { own(member_id) } else { hall.admin.clone() };
            let before = read(&hall, booking_id);
            let outcome = said(hall.change(&by, |cx| take(cx, booking_id)));
            assert_eq!(outcome, right, "{step}, of one that {state}");
            let is_changed = read(&hall, booking_id) != before;
            assert_eq!(
                is_changed,
                right == "done",
                "{step}, of one that {state}: a step that is not done changes nothing"
            );
            if step != "move" && right == "done" {
                assert_eq!(said(hall.change(&by, |cx| take(cx, booking_id))), "=", "{step} again, of one that {state}");
            }
        }
    }
}

/// What a step can change of a booking, and how many events there are.
fn read(hall: &Hall, booking_id: BookingId) -> String {
    hall.admin(|cx| {
        let row = find(cx, booking_id)?;
        let events: i64 = cx.tx.get("SELECT count(*) FROM events", [])?;
        Ok(format!("{:?} {:?} {:?} {events}", row.booking, row.ending, row.arrived_at))
    })
}

#[test]
fn a_stranger_finds_no_booking_and_changes_none() {
    let hall = Hall::open(|config| config.cancel_hours = 0);
    let (anna, ben) = (hall.member("anna", None), hall.member("ben", None));
    let booking_id = book(&hall, anna, 1, 600);
    let by = |actor: &RankedActor, (_, take): Do| said(hall.change(actor, |cx| take(cx, booking_id)));
    for step in STEPS {
        let right = if step.0.contains("check-in") && !step.0.starts_with("undo")
            || step.0.starts_with("own")
            || step.0 == "check in"
        {
            "404"
        } else {
            "403"
        };
        assert_eq!(by(&own(ben), step), right, "{}", step.0);
    }
}
