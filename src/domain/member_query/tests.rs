//! Distances of names, patterns, and the forms of numbers.

use super::*;

fn distance(typed: &str, name: &str) -> Option<u32> {
    MemberQuery::parse(typed).distance([name].into_iter())
}

#[test]
fn the_very_words_come_before_beginnings_parts_and_guesses() {
    let name = "Jane Okonkwo-Schmidt";
    let distances = ["jane okonkwo", "ja oko", "konk", "okonkow", "schimdt"].map(|typed| distance(typed, name));
    assert_eq!(distances, [Some(0), Some(2), Some(2), Some(10), Some(10)]);
    assert_eq!(distance("Müller", "Muller"), Some(0));
    assert_eq!(distance("Jose", "José"), Some(0));
    assert_eq!(distance("Mueller", "Müller"), Some(10));
    assert!(
        distance("muelle", "Müller").is_some_and(|least| least >= spelling::MISTAKE_DISTANCE),
        "also while it is being typed"
    );
}

proptest::proptest! {
    #[test]
    fn a_mistyped_word_has_a_piece_of_the_word_that_was_meant(
        known in "[a-d]{6,14}", mistakes in proptest::collection::vec((0..4_u8, 0..14_usize, "[a-d]"), 1..=2),
    ) {
        let mut typed: Vec<char> = known.chars().collect();
        let mistakes = if typed.len() < 10 { &mistakes[..1] } else { &mistakes };
        for (kind, place, letter) in mistakes {
            let letter = letter.chars().next().unwrap();
            let place = place % (typed.len() - 1);
            match kind {
                0 => _ = typed.remove(place),
                1 => typed.insert(place, letter),
                // Two swaps can change all three pieces.
                2 if mistakes.len() == 1 => typed.swap(place, place + 1),
                _ => typed[place] = letter,
            }
        }
        proptest::prop_assume!(typed.len() >= 6);
        let known = format!(" {known}");
        let has = |piece: &String| known.contains(piece.trim_matches('"'));
        proptest::prop_assert!(pieces(&typed).iter().any(has), "{typed:?}");
    }
}

#[test]
fn of_mistyped_words_the_right_ones_are_kept_and_of_the_others_pieces() {
    let misspelling_patterns = |typed: &str, known: &[&str]| {
        let is_known = |word: &str| Ok::<_, ()>(known.contains(&word.trim_matches('"')));
        MemberQuery::parse(typed).misspelling_patterns(is_known).unwrap()
    };
    assert_eq!(misspelling_patterns("bauamn", &[]), ["(\" ba\" OR \"amn\")"]);
    assert_eq!(misspelling_patterns("okonkwoo", &[]), ["(\" ok\" OR \"onk\" OR \"woo\")"]);
    assert_eq!(
        misspelling_patterns("eva bauamn", &["eva"]),
        ["\"eva\" AND (\" ba\" OR \"amn\")"],
        "a word of three letters may have no mistake"
    );
    assert_eq!(
        misspelling_patterns("robert bauamn", &["robert"]),
        ["\"robert\" AND (\" ba\" OR \"amn\")", "(\" ro\" OR \"ert\") AND (\" ba\" OR \"amn\")"]
    );
    assert_eq!(
        misspelling_patterns("robert baumann", &["robert", "baumann"]).len(),
        1,
        "together they were looked for"
    );
    let anna = misspelling_patterns("anan", &[]);
    assert!(anna.len() == 1 && anna[0].contains("\"anna\""), "{anna:?}");
    assert!(misspelling_patterns("eva", &[]).is_empty() && misspelling_patterns("eva tom", &["eva"]).is_empty());
}

#[test]
fn somebody_else_is_not_meant() {
    for (typed, name) in [("jan", "June"), ("anna", "Otto"), ("jane flyer", "Jane Doe"), ("okonkwo", "Kowalski")] {
        assert_eq!(distance(typed, name), None, "{typed}");
    }
}

#[test]
fn numbers_addresses_and_telephones_are_known_by_their_form() {
    let phone = |typed: &str| MemberQuery::parse(typed).phone_pattern();
    assert_eq!(phone("079 123 45-67"), Some("\"791234567\"".into()));
    assert_eq!(phone("+41 (79) 123"), Some("\"4179123\"".into()));
    assert_eq!(phone("12 a"), None);
    assert_eq!((MemberQuery::parse("#42").number, MemberQuery::parse("0").number), (Some(42), None));
    assert_eq!(MemberQuery::parse("jane@ex").email.as_deref(), Some("jane@ex"));
    assert!(
        MemberQuery::parse(" a ").is_empty() && MemberQuery::parse("").is_empty() && MemberQuery::parse("@").is_empty()
    );
}

#[test]
fn a_number_behind_its_label_is_that_number_and_no_name() {
    for typed in ["No. 13", "no 13", "Nr. 13", "N° 13", "N.º 13", "#13", "№13"] {
        let wanted = MemberQuery::parse(typed);
        assert_eq!((wanted.number, wanted.prefix_pattern(), wanted.phone_pattern()), (Some(13), None, None), "{typed}");
        assert_eq!(wanted.misspelling_patterns(|_| Ok::<_, ()>(false)), Ok(vec![]), "{typed}: nobody is guessed");
    }
    for name in ["Noah 13", "Nora", "No", "No."] {
        assert!(MemberQuery::parse(name).prefix_pattern().is_some(), "{name}");
    }
}

#[test]
fn a_telephone_number_is_known_however_it_is_spaced() {
    for typed in [
        "+41 79 123 45 67",
        "0041 79 1234567",
        "+41 (0)79 123 45 67",
        "+41\u{a0}79\u{202f}123 45 67",
        "41-79-123.45.67",
    ] {
        assert_eq!(MemberQuery::parse(typed).phone_pattern().as_deref(), Some("\"41791234567\""), "{typed}");
    }
    assert_eq!(MemberQuery::parse("079 123 45").phone_pattern().as_deref(), Some("\"7912345\""));
}

#[test]
fn what_is_typed_stays_within_its_quotes() {
    let wanted = MemberQuery::parse("x\" OR \"y NEAR(");
    assert_eq!(wanted.prefix_pattern().as_deref(), Some("\" x\"\"\" AND \" or\" AND \" \"\"y\" AND \" near(\""));
}
