//! What a waiver decides about check-ins and flight time, and who acts for whom, as tables.

use super::*;
use crate::app::bookings::{DeskBooking, book_at_desk, check_in};
use crate::app::tests::{DAY, Hall, NOW, own};
use crate::app::{Outcome, family, flights};
use crate::domain::ids::TunnelId;
use crate::moment::Moment;
use crate::store::tables::site_texts::{self, Draft, Kind};

const YEAR: i64 = 365 * DAY + DAY / 4;
/// A flight from before the site demanded a waiver.
const BEFORE: Moment = Moment(NOW.0 - 100 * DAY);

/// What somebody has signed, or the staff has decided.
#[derive(Debug, Clone, Copy)]
enum Paper {
    Nothing,
    Own,
    Old,
    Expired,
    OfParent,
    Undecided,
    Decided(bool),
    Override,
}

fn hall(required: bool) -> Hall {
    let hall = Hall::open(|config| {
        (config.waiver.required, config.waiver.valid_days, config.waiver.guardian_below_years) = (required, 365, 18);
    });
    // The text in force is the second, which asks everybody again, and is demanded since fifty days.
    for version in [1, 2] {
        let draft =
            Draft { language: "en".into(), title: "Waiver".into(), body: "I fly.".into(), questions: "Well?".into() };
        let published = hall.site.store.write(NOW - 50 * DAY, |tx| {
            Ok(site_texts::insert(tx, (Kind::Waiver, version, true), &draft, &[7; 32], None)?)
        });
        assert_eq!(published.unwrap(), 1);
    }
    hall
}

fn bring(hall: &Hall, member_id: MemberId, paper: Paper) {
    let (version, days, relation, answers) = match paper {
        Paper::Nothing | Paper::Override => (0, 0, Relation::Own, ""),
        Paper::Own => (2, 1, Relation::Own, "n"),
        Paper::Old => (1, 1, Relation::Own, "n"),
        Paper::Expired => (2, 400, Relation::Own, "n"),
        Paper::OfParent => (2, 1, Relation::Parent, "n"),
        Paper::Undecided | Paper::Decided(_) => (2, 1, Relation::Own, "y"),
    };
    hall.admin(|cx| {
        if version > 0 {
            let signed = Signature {
                member_id,
                version,
                language: "en".into(),
                text_hash: [7; 32],
                signed_at: NOW - days * DAY,
                place: SigningPlace::Desk,
                flyer_name: "A".into(),
                born: Moment(0),
                relation,
                signer_name: "A".into(),
                signer_id: None,
                strokes: String::new(),
                answers: answers.into(),
                witness_id: None,
                kept: false,
                kept_until: None,
            };
            let signature_id = waivers::insert(cx.tx, &signed)?;
            if let Paper::Decided(may_fly) = paper {
                waivers::insert_decision(cx.tx, signature_id, may_fly, "seen", cx.member_id())?;
            }
        }
        if let Paper::Override = paper { override_today(cx, member_id, "a reason") } else { Ok(()) }
    });
}

#[test]
fn a_check_in_and_flight_time_need_the_waiver_that_the_table_says() {
    let (adult, child) = (Some(NOW - 30 * YEAR), Some(NOW - 10 * YEAR));
    // Paper, day of birth; then check-in, time here now, time at another tunnel, time here from before the demand.
    for (number, (paper, dob, right)) in (1..).zip([
        (Paper::Nothing, adult, [false, false, true, true]),
        (Paper::Own, adult, [true, true, true, true]),
        (Paper::Own, None, [true, true, true, true]),
        (Paper::Old, adult, [false, false, true, true]),
        (Paper::Expired, adult, [false, false, true, true]),
        (Paper::Own, child, [false, false, true, true]),
        (Paper::OfParent, child, [true, true, true, true]),
        (Paper::OfParent, adult, [false, false, true, true]),
        (Paper::Undecided, adult, [false, false, true, true]),
        (Paper::Decided(true), adult, [true, true, true, true]),
        (Paper::Decided(false), adult, [false, false, true, true]),
        (Paper::Override, adult, [true, true, true, true]),
    ]) {
        for required in [true, false] {
            let hall = hall(required);
            let member_id = hall.member("anna", dob);
            bring(&hall, member_id, if required { paper } else { Paper::Nothing });
            let wanted = DeskBooking { member_id, minutes_booked: 10, number, beside: None, full_quarter: None };
            let booking_id = hall.admin(|cx| Ok(book_at_desk(cx, &wanted, NOW).unwrap()));
            let time = |tunnel, at| {
                hall.change(&hall.admin, |cx| flights::check_time(cx, member_id, TunnelId(tunnel), at)).is_ok()
            };
            let done = [time(1, NOW), time(2, NOW), time(1, BEFORE)];
            let checked_in = hall.change(&hall.admin, |cx| check_in(cx, booking_id)).is_ok();
            let all = [checked_in, done[0], done[1], done[2]];
            assert_eq!(
                all,
                if required { right } else { [true; 4] },
                "{paper:?} of one born {dob:?}, required: {required}"
            );
        }
    }
}

#[test]
fn a_guardian_acts_for_a_child_and_for_nobody_else() {
    let hall = hall(true);
    let born = |years: i64| Some(NOW - years * YEAR);
    let (mother, stranger, teenager) =
        (hall.member("mother", born(40)), hall.member("stranger", None), hall.member("teenager", born(16)));
    let (child, nameless, grown) =
        (hall.member("child", born(9)), hall.member("nameless", None), hall.member("grown", born(19)));
    // Child, guardian, relation, permission: linked, or the field of the refusal.
    for (ward, guardian, relation, permission, right) in [
        (child, mother, Relation::Parent, "", None),
        (child, stranger, Relation::Permission, "a letter of the mother", None),
        (child, stranger, Relation::Permission, " ", Some("permission")),
        (child, teenager, Relation::Guardian, "", Some("guardian")),
        (child, child, Relation::Parent, "", Some("guardian")),
        (child, mother, Relation::Own, "", Some("relation")),
        (nameless, mother, Relation::Parent, "", Some("child")),
        (grown, mother, Relation::Parent, "", Some("child")),
    ] {
        let added = hall.change(&hall.admin, |cx| family::add(cx, ward, guardian, relation, permission).map(drop));
        let refused = added.err().map(|failure| failure.problems()[0].field.clone());
        assert_eq!(refused.as_deref(), right, "{ward} {guardian} {relation:?} {permission:?}");
    }
    let by_hand = hall.change(&own(mother), |cx| family::add(cx, child, mother, Relation::Parent, "").map(drop));
    assert_eq!(by_hand.unwrap_err().status(), 403, "the staff sees the proof");
    let acts = |one, other| hall.admin(|cx| family::acts_for(cx.site, cx.tx, one, other));
    assert!(acts(mother, child) && acts(stranger, child));
    assert!(!acts(child, mother) && !acts(mother, mother) && !acts(teenager, child) && !acts(mother, grown));
    assert_eq!(hall.admin(|cx| family::end(cx, child, stranger)), Outcome::Done);
    assert!(acts(mother, child) && !acts(stranger, child));
    hall.site.clock.set(NOW + 10 * YEAR);
    assert!(!acts(mother, child), "the child has come of age");
}
