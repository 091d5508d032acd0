//! Tests of what counts as a mention, and of what does not.

use super::*;
use crate::domain::ids::MemberId;

fn jane() -> Person {
    Person {
        member_id: MemberId(1042),
        names: vec!["skyjaney".into(), "Jane Doë".into(), "Janeyfly".into(), "Jane Müller".into()],
        addresses: vec!["jane@example.com".into()],
        phones: vec!["+41446681800".into()],
        shared: Vec::new(),
    }
}

#[test]
fn names_addresses_and_numbers_are_replaced_as_words_and_nothing_else_is() {
    let terms = jane().widely();
    for (text, said) in [
        ("flew with Jane Doë today", Some("flew with X today")),
        ("flew with JANE  DOE, today", Some("flew with X, today")),
        ("Doe, Jane: late", Some("X: late")),
        ("jane-doe's visor", Some("X's visor")),
        ("Jane Mueller was earlier", Some("X was earlier")),
        ("jane mu\u{308}ller", Some("X")),
        ("Ja\u{ad}ne Doe", Some("X")),
        ("skyjaney broke it", Some("X broke it")),
        ("write to Jane@Example.com.", Some("write to X.")),
        ("mary.jane@example.com", None),
        ("jane@example.com.au", None),
        ("call +41 44 668 18 00 now", Some("call X now")),
        ("call 044/668 18 00", Some("call X")),
        ("0041446681800", Some("X")),
        ("+41 (0)44 668 18 00", Some("X")),
        ("044 668 18 01", None),
        ("member 1042 was loud", Some("member X was loud")),
        ("Mitglied Nr. 1042", Some("Mitglied Nr. X")),
        ("see #1042", Some("see #X")),
        ("1042", Some("X")),
        ("Jane Doe (1042)", Some("X (X)")),
        ("1042 francs for 1042.50", None),
        ("Jane was there", None),
        ("Janet Doe", None),
        ("", None),
    ] {
        assert_eq!(terms.replaced(text, "X").as_deref(), said, "{text}");
    }
}

#[test]
fn a_common_name_is_looked_for_only_near_the_person() {
    let max = Person { member_id: MemberId(7), names: vec!["max".into(), "Max".into()], ..Person::default() };
    assert_eq!(max.widely().replaced("Max flew 7 minutes", "X"), None);
    assert_eq!(max.closely().replaced("Max flew well", "X").as_deref(), Some("X flew well"));
    let jo = Person { member_id: MemberId(8), names: vec!["Jo Li".into()], ..Person::default() };
    assert_eq!(jo.closely().replaced("Jo was here", "X"), None, "too short");
    assert_eq!(jo.widely().replaced("Jo Li was here", "X").as_deref(), Some("X was here"));
    let shared = Person { names: vec!["Zimmerlixx".into()], shared: vec!["zimmerlixx".into()], ..Person::default() };
    assert_eq!(shared.widely().replaced("Zimmerlixx", "X"), None, "another member has that name");
}

#[test]
fn a_mention_is_found_in_escaped_texts() {
    let terms = jane().widely();
    for text in [
        r#"{"name":"Jane Do\u00eb"}"#,
        r#"{"data":"{\"name\":\"Jane Do\\u00eb\"}"}"#,
        "name=Jane+Do%C3%AB&x=1",
        "to=jane%40example.com",
        "<b>Jane&#32;Do&#xEB;</b>",
    ] {
        assert!(terms.are_in(text), "{text}");
    }
    assert!(!terms.are_in(r#"{"name":"Janet Do\u00eb", "minutes": 1042}"#));
}
