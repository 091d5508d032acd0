//! Who may fly, case by case; reproducible hashes; strokes.

use super::*;
use crate::moment::Moment;

static UTC: TimeZone = TimeZone::UTC;
const NOW: Moment = Moment(1_780_000_000);
const DAY_SECONDS: i64 = 86_400;
const YEAR: i64 = 365 * DAY_SECONDS + 6 * 3_600;

fn demand() -> Demand {
    Demand { version_min: 2, valid_days: 365, guardian_below_years: 18 }
}

/// The signature of a flyer aged thirty on version 2, a day ago.
fn signed() -> Signed {
    let (signed_at, born) = (NOW - DAY_SECONDS, NOW - 30 * YEAR);
    Signed { version: 2, signed_at, born, relation: Relation::Own, has_yes: false, decision: None }
}

fn state(signed: Signed) -> State<'static> {
    let signed = Some(signed);
    State { demand: Some(demand()), signed, dob: None, is_overridden: false, at: NOW, zone: &UTC }
}

#[test]
fn who_has_signed_what_the_site_demands_may_fly_and_nobody_else() {
    let child = NOW - 10 * YEAR;
    let cases = [
        (Ok(()), signed()),
        (Ok(()), Signed { version: 3, ..signed() }),
        (Err(Reason::OldVersion), Signed { version: 1, ..signed() }),
        // NOW is 20:26:40 in UTC: whoever signed at any hour 365 days ago may fly to the end of this day.
        (Ok(()), Signed { signed_at: NOW - 365 * DAY_SECONDS - 73_600, ..signed() }),
        (Err(Reason::Expired), Signed { signed_at: NOW - 365 * DAY_SECONDS - 73_601, ..signed() }),
        (Err(Reason::GuardianMissing), Signed { born: child, ..signed() }),
        (Ok(()), Signed { born: child, relation: Relation::Parent, ..signed() }),
        (Ok(()), Signed { born: child, relation: Relation::Permission, ..signed() }),
        (Err(Reason::CameOfAge), Signed { relation: Relation::Guardian, ..signed() }),
        (Err(Reason::Undecided), Signed { has_yes: true, ..signed() }),
        (Ok(()), Signed { has_yes: true, decision: Some(true), ..signed() }),
        (Err(Reason::Refused), Signed { has_yes: true, decision: Some(false), ..signed() }),
        (Err(Reason::Refused), Signed { has_yes: true, decision: Some(false), version: 1, ..signed() }),
    ];
    for (wanted, signed) in cases {
        let state = state(signed);
        assert_eq!(may_fly(&state), wanted, "{signed:?}");
        assert_eq!(may_fly(&State { is_overridden: true, ..state }), Ok(()), "staff says so");
        assert_eq!(may_fly(&State { demand: None, ..state }), Ok(()), "no waiver is asked for");
    }
    let unsigned = State { signed: None, ..state(signed()) };
    assert_eq!(may_fly(&unsigned), Err(Reason::Unsigned));
    assert_eq!(
        may_fly(&State { dob: Some(child), ..state(signed()) }),
        Err(Reason::GuardianMissing),
        "as the account says"
    );
    let for_ever = Demand { valid_days: 0, guardian_below_years: 0, ..demand() };
    let old = Signed { signed_at: NOW - 20 * YEAR, born: child, ..signed() };
    assert_eq!(may_fly(&State { demand: Some(for_ever), ..state(old) }), Ok(()));
}

#[test]
fn a_hash_can_be_worked_out_from_the_paper() {
    let text = printed(" Waiver ", "I fly.\r\nAt my own risk.\n", "Is a shoulder hurt?\n");
    assert_eq!(text, "Waiver\n\nI fly.\nAt my own risk.\n\nIs a shoulder hurt?\n");
    assert_eq!(
        text_hash("Waiver", "I fly.\nAt my own risk.", "Is a shoulder hurt?"),
        <[u8; 32]>::from(Sha256::digest(text))
    );
    assert_ne!(text_hash("A", "B", ""), text_hash("A", "", "C"));
    assert_eq!(questions("One?\n\n  Two? \n").collect::<Vec<_>>(), ["One?", "Two?"]);
}

#[test]
fn strokes_are_lines_within_the_field() {
    for good in ["M 1 2 L 3 4 L 5 6", "M 0 0 L 600 200 M 5 5 L 6 6"] {
        assert!(are_strokes(good), "{good}");
    }
    assert_eq!(lines("M 0 0 L 600 200 M 5 5 L 6 6"), [[(0, 0), (600, 200)], [(5, 5), (6, 6)]]);
    assert!(lines("").is_empty());
    for bad in [
        "",
        "M 1 2",
        "M 1 2 L 3 4",
        "L 1 2 L 3 4 L 5 6",
        "M 1 2 L 601 4 L 5 6",
        "M 1 2 L 3 201 L 5 6",
        "M 1 2 L 3 4 L 5",
        "M 1 2 L 3 4 Z",
        "M -1 2 L 3 4 L 5 6",
        "M 1.5 2 L 3 4 L 5 6",
        "<script>",
    ] {
        assert!(!are_strokes(bad), "{bad}");
    }
    assert!(!are_strokes(&format!("M 1 2{}", " L 3 4".repeat(STROKES_CHARS_MAX))));
}

#[test]
fn names_go_both_ways() {
    for relation in [Relation::Own, Relation::Parent, Relation::Guardian, Relation::Permission] {
        assert_eq!(Relation::parse(relation.name()), Some(relation));
    }
    for place in [SigningPlace::Kiosk, SigningPlace::Phone, SigningPlace::Desk, SigningPlace::App] {
        assert_eq!(SigningPlace::parse(place.name()), Some(place));
    }
    assert_eq!(
        (Reason::CameOfAge.name(), Relation::parse("aunt"), SigningPlace::parse("")),
        ("came_of_age", None, None)
    );
}
