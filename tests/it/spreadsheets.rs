//! Lists as spreadsheet programs save them: the files that `tests/spreadsheets/make` wrote with LibreOffice. Each is taken right,
//! or refused with line, column and what would be right.

use crate::harness::Site;
use std::collections::BTreeSet;
use std::path::PathBuf;
use tunneldesk::moment::Moment;

/// What becomes of a file.
enum Fate {
    /// The people in it, as every good file has them.
    Taken,
    /// Refused with all of these words.
    Refused(&'static [&'static str]),
}
use Fate::{Refused, Taken};

const NO_DAY: &str = "Write a day as 2026-11-21 or 21.11.2026";

const FILES: [(&str, Fate); 21] = [
    ("01-english.csv", Taken),
    ("02-german.csv", Taken),
    ("03-french.csv", Taken),
    ("04-spanish.csv", Taken),
    ("05-italian.csv", Taken),
    ("06-tabs.csv", Taken),
    ("07-japanese-days.csv", Taken),
    ("08-hours.csv", Taken),
    ("17-empty-ends.csv", Taken),
    (
        "09-american-days.csv",
        Refused(&["line 2, column 4 (dob), \"5/31/1990\"", "line 3, column 5 (paid_until), \"1/1/2031\"", NO_DAY]),
    ),
    ("10-french-days.csv", Refused(&["line 2, column 4 (dob), \"31/05/1990\"", NO_DAY])),
    ("11-short-years.csv", Refused(&["line 2, column 4 (dob), \"31.05.90\"", NO_DAY])),
    (
        "12-day-numbers.csv",
        Refused(&["line 2, column 4 (dob), \"33024\"", "perhaps for 1990-05-31", "format the column as a date"]),
    ),
    ("13-windows.csv", Refused(&["line 2, column 2 (real_name)", "line 4, column 2 (real_name)", "\"CSV UTF-8\""])),
    ("14-utf-16.csv", Refused(&["UTF-16", "\"CSV UTF-8\""])),
    (
        "15-two-names.csv",
        Refused(&["line 1, column 2 (vorname)", "column 3 (nachname)", "join them in a column real_name"]),
    ),
    ("16-title-above.csv", Refused(&["line 1, column 1 (mitglieder 2026)", "the first line names the columns"])),
    ("20-workbook.xlsx", Refused(&["workbook", "\"CSV UTF-8\""])),
    ("21-workbook.ods", Refused(&["workbook", "\"CSV UTF-8\""])),
    ("22-old-workbook.xls", Refused(&["workbook", "\"CSV UTF-8\""])),
    ("23-raw-cells.csv", Refused(&["line 2, column 4 (dob), \"05/31/1990\"", NO_DAY])),
];
/// Files with a test of their own.
const OTHERS: [&str; 2] = ["18-telephones.csv", "19-several-lines.csv"];

/// The members of every file that is taken: name, day of birth, last paid day.
const PEOPLE: [(&str, &str, &str, &str); 3] = [
    ("zoe", "Zoë Weiß", "1990-05-31", "2030-11-26"),
    ("lukasz", "Łukasz O'Brien, jun.", "1980-04-05", "2031-01-01"),
    ("maria", "María \"Mia\" Peña", "", ""),
];

fn path(name: &str) -> String {
    folder().join(name).to_string_lossy().into_owned()
}

fn folder() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/spreadsheets/files")
}

/// The exit code and the output of an import.
fn import(site: &Site, kind: &str, name: &str) -> (Option<i32>, String) {
    let output = site.shell_output(&["import", kind, &path(name)]);
    let said = [output.stdout, output.stderr].concat();
    (output.status.code(), String::from_utf8_lossy(&said).into_owned())
}

type Found = Vec<(String, String, Option<i64>, Option<i64>)>;

fn people(site: &Site) -> Vec<(String, String, String, String)> {
    let zone = site.inside().time_zone().expect("the site has a time zone");
    let sql =
        "SELECT username, real_name, dob, paid_until FROM members WHERE email LIKE '%@example.org' ORDER BY member_id";
    let found: Found = site.change(|tx| Ok(tx.list(sql, [])?));
    let day = |moment: Option<i64>| {
        moment.map(|moment| jiff::Timestamp::from_second(moment).unwrap().to_string()[..10].to_owned())
    };
    let last = |moment: Option<i64>| moment.map(|moment| zone.date(Moment(moment))).unwrap_or_default();
    found
        .into_iter()
        .map(|(username, name, dob, paid)| (username, name, day(dob).unwrap_or_default(), last(paid)))
        .collect()
}

#[test]
fn each_file_of_a_spreadsheet_program_is_taken_right_or_refused_with_what_would_be_right() {
    let here: BTreeSet<String> = std::fs::read_dir(folder())
        .expect("the files are here")
        .map(|entry| entry.unwrap().file_name().to_string_lossy().into_owned())
        .collect();
    assert_eq!(here, FILES.iter().map(|(name, _)| *name).chain(OTHERS).map(str::to_owned).collect());
    let own = |text: &str| text.to_owned();
    let wanted: Vec<_> = PEOPLE.iter().map(|(a, b, c, d)| (own(a), own(b), own(c), own(d))).collect();
    let refusing = Site::open();
    for (name, fate) in &FILES {
        match fate {
            Taken => {
                let site = Site::open();
                let (code, said) = import(&site, "members", name);
                assert_eq!(code, Some(0), "{name}: {said}");
                assert_eq!(people(&site), wanted, "{name}");
            }
            Refused(words) => {
                let (code, said) = import(&refusing, "members", name);
                assert_eq!(code, Some(1), "{name}: {said}");
                words.iter().for_each(|word| assert!(said.contains(word), "{name}: {word}: {said}"));
            }
        }
    }
    assert_eq!(people(&refusing), []);
}

#[test]
fn a_telephone_number_that_became_a_number_is_read_and_one_that_lost_digits_is_named() {
    let site = Site::open();
    let (code, said) = import(&site, "members", OTHERS[0]);
    assert_eq!(code, Some(1), "{said}");
    assert!(said.contains("1 mistake") && said.contains("line 4, column 4 (phone), \"4.18E+10\""), "{said}");
}

#[test]
fn a_cell_of_several_lines_is_one_comment_and_the_clock_is_the_site_s() {
    let site = Site::open();
    assert_eq!(import(&site, "members", FILES[0].0).0, Some(0));
    let (code, said) = import(&site, "logbook", OTHERS[1]);
    assert_eq!(code, Some(0), "{said}");
    let sql = "SELECT comment, minutes, entry_date FROM entries ORDER BY entry_id";
    let found: Vec<(String, i64, i64)> = site.change(|tx| Ok(tx.list(sql, [])?));
    let zone = site.inside().time_zone().expect("the site has a time zone");
    let shown: Vec<_> = found
        .iter()
        .map(|(comment, minutes, at)| (&**comment, *minutes, zone.date(Moment(*at)), zone.clock(Moment(*at))))
        .collect();
    let wanted = [
        ("first\nsecond; \"third\"", 15, "2026-01-02".to_owned(), "14:30".to_owned()),
        ("=1+1", 20, "2026-01-03".to_owned(), "00:00".to_owned()),
    ];
    assert_eq!(shown, wanted);
}
