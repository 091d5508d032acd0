//! The pages as bytes: the same again, sound, and with every word in them.

use super::*;
use crate::documents::tests as legibility;
use crate::documents::typesetting::Letters;
use crate::domain::ids::MemberId;
use crate::moment::Moment;
use std::process::Command;

const DAY: i64 = 86_400;
const NOW: Moment = Moment(1_780_000_000);

fn logbook(flights: i64, language: Language) -> Logbook {
    let comments = [
        "",
        "Carving with Marta: low-speed head-up, then four-minute rotations with the team. Good exits, watch the left foot.",
        "first flight",
    ];
    let flight = |n: i64| Flight {
        day: NOW - (flights - n) * 5 * DAY,
        tunnel_name: if n % 7 == 0 { "Vallée du Vent, Lausanne" } else { "Föhnhalle Thun" }.to_owned(),
        comment: comments[(n % 3) as usize].to_owned(),
        minutes: 4 + n % 26,
    };
    let time: Vec<Flight> = (0..flights).map(flight).collect();
    let signed = |name: &str, note: &str| Signed {
        name: name.to_owned(),
        day: NOW - 30 * DAY,
        signer: PersonName::new("Łukasz Żółć", "lukasz"),
        tunnel_name: "Föhnhalle Thun".to_owned(),
        note: note.to_owned(),
    };
    let current = Currency { current: true, renewal: Some(NOW + 90 * DAY) };
    let lapsed = Currency { current: false, renewal: Some(NOW - 9 * DAY) };
    Logbook {
        site_name: "Föhnhalle Thun".to_owned(),
        site_city: "Thun".to_owned(),
        holder: PersonName::new("Nguyễn Thị Ánh Tuyết", "tuyet"),
        member_id: MemberId(12),
        day: NOW,
        minutes: time.iter().map(|flight| flight.minutes).sum::<i64>() + 65,
        flights: flights + 3,
        levels: vec![("Flyer Level 1".to_owned(), NOW - 300 * DAY), ("Backflying Level 2".to_owned(), NOW - 99 * DAY)],
        currencies: vec![
            ("Flyer".to_owned(), current),
            ("Coach".to_owned(), lapsed),
            ("Military".to_owned(), Currency::default()),
        ],
        time,
        skills: vec![
            ("Flyer Level 1".to_owned(), vec![signed("Neutral belly position", ""); 11]),
            (
                "Backflying Level 2".to_owned(),
                vec![signed("Back turns left and right, stopped on heading", "suspended")],
            ),
        ],
        safety: vec![("Flyer".to_owned(), vec![signed("Flyer safety brief before the first flight", "")])],
        language,
        zone: TimeZone::UTC,
    }
}

fn empty() -> Logbook {
    let nothing =
        Logbook { levels: vec![], currencies: vec![], skills: vec![], safety: vec![], ..logbook(0, Language::English) };
    Logbook { minutes: 0, flights: 0, ..nothing }
}

/// The text that `pdftotext` finds on all pages; `None` where it is not installed.
fn words(pdf: &[u8]) -> Option<String> {
    let file = tempfile::NamedTempFile::new().unwrap();
    std::fs::write(file.path(), pdf).unwrap();
    let read = Command::new("pdftotext").args(["-layout"]).arg(file.path()).arg("-").output().ok()?;
    assert!(read.status.success(), "{}", String::from_utf8_lossy(&read.stderr));
    Some(String::from_utf8_lossy(&read.stdout).split_whitespace().collect::<Vec<_>>().join(" "))
}

#[test]
fn the_same_logbook_is_the_same_bytes_and_another_day_is_another_sheet() {
    let one = draw(&logbook(40, Language::English), &Letters::default()).unwrap();
    assert_eq!(one, draw(&logbook(40, Language::English), &Letters::default()).unwrap());
    let later = Logbook { day: NOW + DAY, ..logbook(40, Language::English) };
    assert_ne!(one, draw(&later, &Letters::default()).unwrap());
}

#[test]
fn every_flight_signature_and_sum_is_on_the_pages() {
    let printout = logbook(80, Language::English);
    let Some(words) = words(&draw(&printout, &Letters::default()).unwrap()) else { return };
    for part in [
        "Nguyễn Thị Ánh Tuyết",
        "Member 12, as of 28 May 2026",
        "since 1 August 2025",
        "current until 26 August 2026",
        "lapsed after 19 May 2026",
        "Brought forward 1:05",
        "Carried forward",
        "watch the left foot.",
        "Back turns left and right, stopped on heading (suspended)",
        "Łukasz Żółć",
        "Flyer safety brief before the first flight",
        "Page 2 of",
    ] {
        assert!(words.contains(part), "{part} is not in {words}");
    }
    let total = format!("Total {}", crate::domain::minutes::show(printout.minutes));
    assert!(words.contains(&total), "{total} is not in {words}");
    assert_eq!(
        words.matches("Lausanne").count(),
        printout.time.iter().filter(|f| f.tunnel_name.contains("Lausanne")).count()
    );
}

/// The sum that a page carries forward is the one that the next page brings forward.
#[test]
fn sums_go_on_from_page_to_page() {
    let Some(words) = words(&draw(&logbook(200, Language::English), &Letters::default()).unwrap()) else { return };
    let after = |key: &str| -> Vec<String> {
        words.split(key).skip(1).filter_map(|rest| rest.split_whitespace().next()).map(str::to_owned).collect()
    };
    let (carried, brought) = (after("Carried forward"), after("Brought forward"));
    assert!(carried.len() > 2, "{carried:?}");
    assert_eq!(carried, brought[1..], "the first is what was flown before");
}

/// Every flight of many years is set in one answer's time, also in a build that nobody optimised.
#[test]
fn a_thick_logbook_is_small_and_has_all_its_pages() {
    let pdf = draw(&logbook(1_000, Language::French), &Letters::default()).unwrap();
    assert!(pdf.len() < 1_000_000, "{} bytes", pdf.len());
    assert!(words(&pdf).is_none_or(|words| words.contains("Page 30 sur")));
}

#[test]
fn an_empty_logbook_and_endless_words_make_sound_pages() {
    let mut long = logbook(3, Language::German);
    long.holder.name = "W".repeat(60);
    long.time[1].comment = "a\n".repeat(400) + &"endless".repeat(60);
    long.time[2].comment = "王小明 🪂 ".repeat(90);
    let dir = tempfile::tempdir().unwrap();
    for (place, printout) in [empty(), long].into_iter().enumerate() {
        let pdf = draw(&printout, &Letters::default()).unwrap();
        assert!(pdf.starts_with(b"%PDF-"));
        let path = dir.path().join(format!("{place}.pdf"));
        std::fs::write(&path, pdf).unwrap();
        if let Ok(checked) = Command::new("qpdf").arg("--check").arg(&path).output() {
            assert!(checked.status.success(), "{}", String::from_utf8_lossy(&checked.stderr));
        }
    }
}

/// The most that a member can write: letters that are wide, narrow, without width, and lines of one letter.
#[test]
fn the_work_for_a_logbook_has_an_end_whatever_is_written_in_it() {
    for comment in ["🪂".repeat(1_000), "i".repeat(1_000), "x\u{301}\u{302}".repeat(333), "a\n".repeat(500)] {
        let lines = super::page::wrapped(&Letters::default(), &comment, super::table::aside(), 185.0, 3);
        assert_eq!(lines.len(), 3);
        assert!(lines.iter().all(|line| line.chars().count() <= 81), "{lines:?}");
        assert!(lines[2].ends_with('…') && !lines[1].ends_with('…'), "{lines:?}");
    }
    let mut full = logbook(300, Language::English);
    full.time.iter_mut().for_each(|flight| flight.comment = "🪂".repeat(1_000));
    let (pages, glyphs) = full.set(&Letters::default()).work();
    assert!(pages <= 60 && glyphs <= 120_000, "{pages} pages, {glyphs} glyphs");
}

#[test]
fn a_few_long_comments_are_whole() {
    let glyphs = |chars: usize| {
        let mut some = logbook(3, Language::English);
        some.time.iter_mut().for_each(|flight| flight.comment = "abcd ".repeat(chars / 5));
        some.set(&Letters::default()).work().1
    };
    assert!(glyphs(1_000) - glyphs(0) >= 3 * 950, "{}", glyphs(1_000) - glyphs(0));
}

/// With `SHEETS=<directory>` the pages are written there, to be looked at.
#[test]
fn pages_to_look_at() {
    let Some(dir) = std::env::var_os("SHEETS").map(std::path::PathBuf::from) else { return };
    for language in Language::ALL {
        std::fs::write(
            dir.join(format!("logbook-{}.pdf", language.tag())),
            draw(&logbook(90, language), &Letters::default()).unwrap(),
        )
        .unwrap();
    }
    std::fs::write(dir.join("logbook-empty.pdf"), draw(&empty(), &Letters::default()).unwrap()).unwrap();
}

fn receipt(name: &str) -> receipt::Receipt {
    receipt::Receipt {
        site_name: "Windwerk".to_owned(),
        site_city: "Winterthur".to_owned(),
        title: "Receipt".to_owned(),
        number: 17,
        number_word: "No.".to_owned(),
        at: "28 May 2026, 18:27".to_owned(),
        amount: "30.00 CHF".to_owned(),
        facts: [("Received from", name), ("For", "Yearly membership"), ("Paid by", "Cash"), ("Taken by", name)]
            .map(|(word, fact)| (word.to_owned(), PersonName::new(fact, "No. 17")))
            .into(),
        void: Some("This payment was undone.".to_owned()),
        language: Language::English,
    }
}

fn slip(name: &str) -> account_slip::AccountSlip {
    account_slip::AccountSlip {
        site_name: "Windwerk".to_owned(),
        site_city: "Winterthur".to_owned(),
        title: "Your account".to_owned(),
        name: PersonName::new(name, "No. 17"),
        number: "No. 17".to_owned(),
        lines: vec![
            "Scan the picture, or open https://tunnel.example.org/claim and type the code. ".repeat(9),
            name.repeat(3),
        ],
        code_word: "Code".to_owned(),
        code: "abcd-efgh-jkmn".to_owned(),
        link: "https://tunnel.example.org/claim?code=abcd-efgh-jkmn".to_owned(),
        language: Language::German,
    }
}

fn signed_waiver(name: &str) -> waiver::SignedWaiver {
    waiver::SignedWaiver {
        site_name: "Windwerk".to_owned(),
        site_city: "Winterthur".to_owned(),
        number: 7,
        title: "Waiver".to_owned(),
        body: "I fly at my own risk.".to_owned(),
        questions: vec![("Is a shoulder hurt?".to_owned(), false)],
        facts: vec![("Flyer".to_owned(), name.to_owned()), ("Signed by".to_owned(), name.to_owned())],
        signer_name: name.to_owned(),
        strokes: Vec::new(),
        field_width: 600,
        language: Language::English,
    }
}

#[test]
fn a_receipt_and_a_slip_are_one_page_whatever_the_names_are() {
    for name in [&"Wolfeschlegelsteinhausenbergerdorff ".repeat(6), "飛 \u{202e}evil", "Jane Okonkwo-Schmidt"] {
        // The number of the member stands for a name whose letters cannot be printed; other texts show what they lack.
        let boxes = 3 * name.matches('飛').count();
        for (pdf, boxes) in [
            (receipt::draw(&receipt(name), &Letters::default()).unwrap(), 0),
            (account_slip::draw(&slip(name), &Letters::default()).unwrap(), boxes),
        ] {
            assert!(pdf.starts_with(b"%PDF"));
            assert_eq!(pdf.windows(10).filter(|bytes| bytes == b"/Type/Page").count(), 2, "one page, and their list");
            assert!(words(&pdf).is_none_or(|words| words.matches('□').count() == boxes && words.contains("No. 17")));
        }
    }
}

#[test]
fn a_printout_with_empty_boxes_says_which_fonts_are_lacking() {
    let flight =
        |comment: &str| Flight { comment: comment.to_owned(), ..logbook(1, Language::English).time[0].clone() };
    let of = |comment: &str| Logbook { time: vec![flight(comment)], ..logbook(1, Language::English) };
    let said = |pdf: Vec<u8>| words(&pdf).map(|words| words.split_whitespace().collect::<Vec<_>>().join(" "));
    let letters = |text: &str| {
        let mut paper = signed_waiver("Jane");
        paper.body = text.to_owned();
        [draw(&of(text), &Letters::default()), waiver::draw(&paper, &Letters::default())].map(|pdf| said(pdf.unwrap()))
    };
    for words in letters("with 王 and अर्जुन").into_iter().flatten() {
        assert!(words.contains("(Debian package: fonts-noto-cjk fonts-noto-core)"), "{words}");
    }
    for words in letters("with Jürgen Щёголева 🪂").into_iter().flatten() {
        assert!(!words.contains("Debian"), "{words}");
    }
}

#[test]
fn the_longest_name_is_legible_on_every_printout() {
    let letters = Letters::default();
    for name in [legibility::long_name(), "WOLFESCHL".repeat(11)] {
        let logbook = Logbook { holder: PersonName::new(&*name, "No. 17"), ..logbook(9, Language::English) };
        let printouts = [
            ("receipt", receipt::draw(&receipt(&name), &letters).unwrap()),
            ("slip", account_slip::draw(&slip(&name), &letters).unwrap()),
            ("waiver", waiver::draw(&signed_waiver(&name), &letters).unwrap()),
            ("logbook", draw(&logbook, &letters).unwrap()),
        ];
        for (what, pdf) in printouts {
            let lowest = legibility::lowest(&pdf, &name[..5]);
            assert!(lowest.is_none_or(|height| height > 8.0), "{what}: {lowest:?} points");
            if let Some(dir) = std::env::var_os("SHEETS").map(std::path::PathBuf::from) {
                std::fs::write(dir.join(format!("long-name-{what}.pdf")), pdf).unwrap();
            }
        }
    }
}
