//! Distances of names, patterns, and the forms of numbers.

use super::*;
use crate::domain::ids::MemberId;

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
    assert_eq!(
        ["vogel,tobias", "Vogel, Tobias", "vogel/tobias;"].map(|typed| distance(typed, "Tobias Vogel")),
        [Some(0); 3]
    );
    for (typed, name) in [
        ("weiss", "Weiß"),
        ("WEISS", "Weiẞ"),
        ("lukasz", "Łukasz"),
        ("yildiz", "Yıldız"),
        ("oedipe", "Œdipe"),
        ("aegir", "Ægir"),
        ("thor", "Þór"),
        ("obrien", "O’Brien"),
        ("o'brien", "OʼBrien"),
        ("nguyen", "Nguyễn"),
        ("γιωργος", "Γιώργος"),
        ("алена", "Алёна"),
        ("fiona", "ﬁona"),
    ] {
        assert_eq!(distance(typed, name), Some(0), "{typed}");
    }
    assert_eq!(distance("Mueller", "Müller"), Some(10));
    assert!(
        distance("muelle", "Müller").is_some_and(|least| least >= spelling::MISTAKE_DISTANCE),
        "also while it is being typed"
    );
}

#[test]
fn umlauts_that_are_spelt_out_are_no_mistake() {
    let spelt = |typed: &str, name: &str| {
        MemberQuery::spelt_out(typed).and_then(|(query, _)| query.distance([name].into_iter()))
    };
    for (typed, name) in [("Mueller", "Müller"), ("soerensen", "Sørensen"), ("jürg mueller", "Juerg Müller")] {
        assert_eq!(spelt(typed, name), Some(0), "{typed}");
    }
    assert_eq!(spelt("guenth", "Günther"), Some(1));
    assert_eq!(spelt("Mueller", "Muller"), Some(10), "another name");
    assert_eq!(MemberQuery::spelt_out("Moser"), None);
    let pattern = MemberQuery::spelt_out("manuel mueller").unwrap().1;
    assert_eq!(pattern, "(\"manuel\" OR \"manul\") AND (\"mueller\" OR \"muller\")");
}

#[test]
fn a_name_is_the_same_in_capitals_without_accents_and_with_its_words_turned_or_joined() {
    for (one, other) in [
        ("Zoë Weiß", "ZOË WEISS"),
        ("Zoë Weiß", "Zoe  Weiss"),
        ("Zoë Weiß", "Zoe\u{308}\u{a0}WEIẞ"),
        ("Zoë Weiß", "Weiss, Zoë"),
        ("Jean-Luc Martin", "Jeanluc Martin"),
        ("Sean O'Brien", "Seán O’Brien"),
        ("Jürg Müller", "Juerg MUELLER"),
        ("Anna Maria O'Hara", "Anna O’Hara"),
        ("Søren Åberg", "Soeren Aaberg"),
        ("Jean–Luc Martin", "Jean-Luc Martin"),
        ("Taro ＹＡＭＡＤＡ", "Taro Yamada"),
    ] {
        assert!(is_same_name(one, other), "{one} {other}");
    }
    for (one, other) in [
        ("Zoë Weiß", "Zoë Weis"),
        ("Manuel Moser", "Manul Moser"),
        ("Anna O'Hara", "Maria O'Hara"),
        ("Anna Voß", "Hanna Voß"),
        ("Ann Marie", "Marie"),
    ] {
        assert!(!is_same_name(one, other), "{one} {other}");
    }
}

/// The spellings of a word with one mistake, at each of its letters: a wrong letter, a letter too many, a letter too few, and
/// two neighbours that changed places.
fn misspelt(word: &str) -> Vec<String> {
    let letters: Vec<char> = word.chars().collect();
    let mut spellings = Vec::new();
    for place in 0..=letters.len() {
        for other in ['x', 'a', letters[0]] {
            let mut more = letters.clone();
            more.insert(place, other);
            spellings.push(more);
        }
    }
    for place in 0..letters.len() {
        for other in ['x', 'a', letters[0]] {
            let mut wrong = letters.clone();
            wrong[place] = other;
            spellings.push(wrong);
        }
        let mut fewer = letters.clone();
        fewer.remove(place);
        spellings.push(fewer);
    }
    for place in 1..letters.len() {
        let mut turned = letters.clone();
        turned.swap(place - 1, place);
        spellings.push(turned);
    }
    spellings.into_iter().map(|letters| letters.into_iter().collect()).collect()
}

/// Whether the index finds `words` by one of the patterns, which may join two parts by `AND`.
fn matches(patterns: &[String], words: &str) -> bool {
    let parts = |pattern: &String| {
        pattern.trim_matches(['(', ')']).split(" AND ").all(|part| words.contains(part.trim_matches('"')))
    };
    patterns.iter().any(parts)
}

const NAMES: [&str; 11] = [
    "anna",
    "lars",
    "petra",
    "rossi",
    "müller",
    "jacques",
    "schmidt",
    "morrison",
    "alexander",
    "grossmutter",
    "featherstone",
];

#[test]
fn a_name_with_a_mistake_at_any_letter_is_found_by_its_right_parts() {
    for name in NAMES {
        for typed in misspelt(name) {
            let query = MemberQuery::parse(&typed);
            // Three letters have no mistake: a search finds them at the beginning or in a part of a word.
            let Some(letters) = query.letters.first().filter(|letters| letters.len() > 3) else { continue };
            let near = query.distance([name].into_iter());
            assert!(near.is_some_and(|far| far <= 10), "{typed} for {name}: {near:?}");
            let words = format!(" {} {} ", "otto", folded(name));
            let as_typed = words.contains(&letters.iter().collect::<String>());
            assert!(
                as_typed || matches(&right_parts(letters), &words),
                "{typed} for {name}: {:?}",
                right_parts(letters)
            );
            assert!(as_typed || matches(&pieces(letters), &words), "{typed} for {name}: {:?}", pieces(letters));
        }
    }
}

#[test]
fn the_beginning_of_a_name_with_a_mistake_is_found_too() {
    for name in NAMES {
        for typed in misspelt(name) {
            let letters: Vec<char> = folded(&typed).chars().collect();
            let words = format!(" {}xyz ", folded(name));
            // Of four letters, the second may be neither wrong nor too many.
            let second = letters.len() < 6 && letters.get(1) != folded(name).chars().nth(1).as_ref();
            if letters.len() > 4 || letters.len() == 4 && !second {
                assert!(matches(&pieces(&letters), &words), "{typed} for {name}: {:?}", pieces(&letters));
            }
        }
    }
}

/// A word as the index has it.
fn folded(word: &str) -> String {
    folded_words(word, Umlauts::Plain).into_iter().next().unwrap_or_default()
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
        let query = MemberQuery::parse(typed);
        let known = query.known_words(|word| Ok::<_, ()>(known.contains(&word.trim_matches('"'))));
        query.misspelling_patterns(&known.unwrap()).patterns
    };
    let baumann = r#"(" baua" OR (" ba" AND "mn ") OR "uamn" OR " buaamn" OR " bauman")"#;
    let pieces = r#"(" ba" OR "amn")"#;
    assert_eq!(misspelling_patterns("bauamn", &[]), [baumann, pieces]);
    assert_eq!(misspelling_patterns("okonkwoo", &[])[1], r#"(" ok" OR "onk" OR "woo")"#);
    let eva = [baumann, pieces].map(|patterns| format!("\"eva\" AND {patterns}"));
    assert_eq!(misspelling_patterns("eva bauamn", &["eva"]), eva, "three letters have no slip");
    let robert = [
        format!("\"robert\" AND {baumann}"),
        format!("\"robert\" AND {pieces}"),
        format!(r#"(" ro" OR "ert") AND {pieces}"#),
    ];
    assert_eq!(misspelling_patterns("robert bauamn", &["robert"]), robert);
    assert_eq!(
        misspelling_patterns("robert baumann", &["robert", "baumann"]).len(),
        1,
        "together they were looked for"
    );
    assert_eq!(
        misspelling_patterns("anan", &[]),
        [r#"(" an" OR "nan" OR "an " OR " naan" OR " aann")"#],
        "four letters"
    );
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
    assert_eq!((MemberQuery::parse("#42").number, MemberQuery::parse("0").number), (Some(MemberId(42)), None));
    assert_eq!(MemberQuery::parse("jane@ex").email.as_deref(), Some("jane@ex"));
    assert!(
        MemberQuery::parse(" a ").is_empty() && MemberQuery::parse("").is_empty() && MemberQuery::parse("@").is_empty()
    );
}

#[test]
fn a_number_behind_its_label_is_that_number_and_no_name() {
    for typed in ["No. 13", "no 13", "Nr. 13", "N° 13", "N.º 13", "#13", "№13"] {
        let wanted = MemberQuery::parse(typed);
        assert_eq!(
            (wanted.number, wanted.prefix_pattern(), wanted.phone_pattern()),
            (Some(MemberId(13)), None, None),
            "{typed}"
        );
        let known = wanted.known_words(|_| Ok::<_, ()>(false)).unwrap();
        assert!(wanted.misspelling_patterns(&known).patterns.is_empty(), "{typed}: nobody is guessed");
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
