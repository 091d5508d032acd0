//! Who may sign, as a table.

use super::*;
use crate::domain::currency::Currency;
use crate::domain::ids::MemberId;
use crate::moment::Moment;

const CURRENT: Currency = Currency { current: true, renewal: Some(Moment(1)) };

fn key(cat_group: &'static str, cat_id: &'static str) -> LevelKey<'static> {
    LevelKey { cat_group, cat_id, track: "" }
}

fn all_current() -> Currencies {
    let one = CURRENT;
    Currencies { flyer: one, coach: one, instructor: one, trainer: one, examiner: one, military: one }
}

fn level(cat_group: &str, cat_id: &str) -> &'static Level {
    let found = Catalogue::built_in().levels().find(|one| one.cat_group == cat_group && one.cat_id == cat_id);
    found.unwrap()
}

/// Levels held, programmes listed, currency; the level to be signed; the verdict.
type Case<'a> = (&'a [LevelKey<'a>], &'a [&'a str], Currencies, &'a Level, Option<Denial>);

/// The verdict for signer 1 and holder 2.
fn verdict(held: &[LevelKey], listed: &[&str], currency: Currencies, level: &Level) -> Option<Denial> {
    let listed: Vec<String> = listed.iter().map(|one| (*one).to_owned()).collect();
    let signer = Signer { member_id: MemberId(1), held, currency, listed: &listed, in_good_standing: true };
    match authority(&signer, MemberId(2), level) {
        Ok(authority) => {
            assert_eq!((authority.signer_id(), authority.holder_id()), (MemberId(1), MemberId(2)));
            None
        }
        Err(bar) => Some(bar),
    }
}

#[test]
fn it_takes_the_level_the_list_and_the_currency() {
    let instructor = [key("Instructor", "2")];
    let lapsed = Currencies { instructor: Currency::default(), ..all_current() };
    let cases: [Case; 12] = [
        (&instructor, &["Instructor"], all_current(), level("Flyer", "1"), None),
        (&instructor, &["Instructor"], all_current(), level("Flyer", "2"), None),
        (&instructor, &["Instructor"], all_current(), level("Flyer", "3"), Some(Denial::Level)),
        (&instructor, &[], all_current(), level("Flyer", "1"), Some(Denial::NotListed)),
        (&instructor, &["Trainer"], all_current(), level("Flyer", "1"), Some(Denial::NotListed)),
        (&instructor, &["Instructor"], lapsed, level("Flyer", "1"), Some(Denial::NotCurrent)),
        (&[], &["Instructor"], all_current(), level("Flyer", "1"), Some(Denial::Level)),
        (&[key("Examiner", "1")], &["Examiner"], all_current(), level("Trainer", "4"), None),
        (&[key("Trainer", "3")], &["Trainer"], all_current(), level("Trainer", "1"), Some(Denial::Level)),
        // A military trainer holds both programmes, and is listed and current in both.
        (
            &[key("Trainer", "1"), key("Military", "1")],
            &["Trainer", "Military"],
            all_current(),
            level("Military", "1"),
            None,
        ),
        (
            &[key("Trainer", "1"), key("Military", "1")],
            &["Trainer"],
            all_current(),
            level("Military", "1"),
            Some(Denial::NotListed),
        ),
        (
            &[key("Trainer", "1"), key("Military", "1")],
            &["Trainer", "Military"],
            Currencies { military: Currency::default(), ..all_current() },
            level("Military", "1"),
            Some(Denial::NotCurrent),
        ),
    ];
    for (number, (held, listed, currency, level, bar)) in cases.into_iter().enumerate() {
        assert_eq!(verdict(held, listed, currency, level), bar, "case {number}: {level}");
    }
}

#[test]
fn nobody_signs_for_themselves_and_a_closed_account_signs_for_nobody() {
    let (held, listed) = ([key("Examiner", "1")], ["Examiner".to_owned()]);
    let signer = Signer {
        member_id: MemberId(1),
        held: &held,
        currency: all_current(),
        listed: &listed,
        in_good_standing: true,
    };
    assert_eq!(authority(&signer, MemberId(1), level("Coach", "1")), Err(Denial::Oneself));
    let closed = Signer { in_good_standing: false, ..signer };
    assert_eq!(authority(&closed, MemberId(2), level("Coach", "1")), Err(Denial::Account));
}

#[test]
fn a_safety_record_is_signed_by_whoever_signs_the_first_level_of_its_logbook() {
    let catalogue = Catalogue::built_in();
    let name = |skill: &str| level_of(catalogue, skill).map(|level| level.name.as_str());
    assert_eq!(name("10001"), Some("Flyer Level 1"));
    assert_eq!(name("30002"), Some("Instructor Level 1"));
    assert_eq!(name("40002"), Some("Trainer Level 1"));
    assert_eq!(name("11301"), Some("Static Level 3"));
    assert_eq!(name("9"), None);
}

/// The rule of each programme: who signs a level of this number, by the only level that the signer holds.
fn may_sign(programme: &str, number: i64, signer: (&str, i64)) -> bool {
    match programme {
        "Flyer" => signer.0 == "Instructor" && signer.1 >= number.min(4),
        "AFC" => matches!(signer.0, "Examiner" | "Trainer"),
        "Instructor" => signer.0 == "Examiner" || (signer.0 == "Trainer" && signer.1 >= number),
        "Trainer" | "Coach" => signer.0 == "Examiner" || signer == ("Trainer", 4),
        "Examiner" => signer.0 == "Examiner",
        // A military trainer holds two programmes.
        _ => false,
    }
}

#[test]
fn every_level_is_signed_by_whom_the_rules_name_and_by_nobody_else() {
    let number = |cat_id: &str| cat_id.parse::<i64>().unwrap_or(1);
    let levels: Vec<&Level> = Catalogue::built_in().levels().collect();
    for level in &levels {
        for signer in &levels {
            let held = [LevelKey { cat_group: &signer.cat_group, cat_id: &signer.cat_id, track: &signer.track }];
            let denied = verdict(&held, &[signer.cat_group.as_str()], all_current(), level);
            let may =
                may_sign(&level.cat_group, number(&level.cat_id), (signer.cat_group.as_str(), number(&signer.cat_id)));
            assert_eq!(denied, (!may).then_some(Denial::Level), "{signer} for {level}");
        }
    }
}
