//! Cells as they are written and read.

use super::*;
use crate::moment::Moment;
use serde_json::json;

const CELLS: [(&str, &str); 25] = [
    ("x;=1+1", "\"x;'=1+1\""),
    ("x\t=1", "\"x\t'=1\""),
    ("x\n+1\r\n@b", "\"x\n'+1\r\n'@b\""),
    ("x; =1;\"-1", "\"x;' =1;'\"\"-1\""),
    ("x;'=1;' '=1", "\"x;\'\'=1;\'\' '=1\""),
    ("x;＝1", "\"x;'＝1\""),
    ("=1;=2", "\"'=1;'=2\""),
    ("a;b\n\nc\t't", "\"a;b\n\nc\t't\""),
    ("a\n;=1", "\"a\n;'=1\""),
    ("", ""),
    ("a good one", "a good one"),
    ("one, two", "\"one, two\""),
    ("one; two", "\"one; two\""),
    ("say \"hi\"", "\"say \"\"hi\"\"\""),
    ("two\nlines", "\"two\nlines\""),
    (" kept ", "\" kept \""),
    ("=1+1", "\"'=1+1\""),
    ("+41 79", "\"'+41 79\""),
    ("-2", "\"'-2\""),
    ("@SUM(A1)", "\"'@SUM(A1)\""),
    ("\t=1", "\"'\t'=1\""),
    ("＝1", "\"'＝1\""),
    ("a=b", "a=b"),
    ("'t was", "'t was"),
    ("'=1", "\"''=1\""),
];

#[test]
fn a_cell_is_quoted_where_it_must_be_and_never_a_formula() {
    for (cell, written) in CELLS {
        let mut table = String::new();
        write(&mut table, cell);
        assert_eq!(table, written, "{cell:?}");
    }
}

#[test]
fn what_was_written_is_read_as_it_was() {
    let all: Vec<String> = CELLS.iter().map(|(cell, _)| (*cell).to_owned()).collect();
    let mut table = String::new();
    write_row(&mut table, Separator::Comma, &all);
    let mut reader = csv::ReaderBuilder::new().has_headers(false).from_reader(table.as_bytes());
    let record = reader.records().next().unwrap().unwrap();
    let again: Vec<String> = record.iter().map(read).collect();
    assert_eq!(again, all);
}

#[test]
fn moments_are_read_as_they_are_written() {
    let zurich = TimeZone::named("Europe/Zurich");
    for seconds in [0, 1_795_219_200, 1_795_271_400, 1_795_304_400] {
        for zone in [&zurich, &TimeZone::UTC] {
            assert_eq!(moment_in(zone)(&json!(exact_moment(zone, Moment(seconds)))), Ok(Moment(seconds)));
        }
    }
    for seconds in [0, 1_795_219_200, -86_400, 643_248_000] {
        assert_eq!(read_birthday(&json!(birthday(Moment(seconds)))), Ok(Moment(seconds)));
    }
    assert_eq!(birthday(Moment(1_795_219_200)), "2026-11-21");
    assert_eq!(read_birthday(&json!("1990-05-20T22:00:00Z")), Ok(Moment(643_248_000)), "the midnight of another zone");
    let denver = TimeZone::named("America/Denver");
    for day in ["2026-11-21", "20261121", "21.11.2026", "2026/11/21", "2026-11-21 00:00", "1795244400"] {
        assert_eq!(moment_in(&denver)(&json!(day)), Ok(Moment(1_795_219_200 + 7 * 3_600)), "{day}: the site's day");
        assert_eq!(last_day_in(&denver)(&json!(day)), Ok(Moment(1_795_219_200 + 31 * 3_600 - 1)), "{day}: its end");
    }
    assert_eq!(moment_in(&denver)(&json!("2026-11-21T00:00:00Z")), Ok(Moment(1_795_219_200)));
    assert_eq!(moment_in(&denver)(&json!("21.11.2026 14:30")), Ok(Moment(1_795_219_200 + 21 * 3_600 + 1_800)));
    assert_eq!(read_birthday(&json!("20181126")), Ok(Moment(1_543_190_400)));
    assert_eq!(read_birthday(&json!("19.06.1964")), Ok(Moment(-174_700_800)));
    assert_eq!(read_birthday(&json!(86_400_000)), Ok(Moment(86_400_000)), "a midnight of 1972 in seconds");
}

#[test]
fn no_number_of_a_day_becomes_a_day_of_1970() {
    for wrong in [
        "11/21/2026",
        "5/4/1980",
        "2026-13-01",
        "20261301",
        "soon",
        "9999999999999999",
        "0",
        "21112026",
        "01062000",
        "901231",
        "1062000",
        "09072000",
        "99999999",
    ] {
        assert!(read_birthday(&json!(wrong)).is_err(), "{wrong}");
        assert!(moment_in(&TimeZone::UTC)(&json!(wrong)).is_err(), "{wrong}");
    }
    for year in ["1990", "2018", "2031"] {
        let said = read_birthday(&json!(year)).unwrap_err().in_english();
        assert!(!said.contains("spreadsheet") && said.contains("Write a day"), "{year}: {said}");
    }
    for beyond in [moment_in(&TimeZone::UTC)(&json!("1960-01-01")), read_birthday(&json!("22001231"))] {
        let said = beyond.unwrap_err().in_english();
        assert!(said.contains("too far ahead") && !said.contains("Write a day"), "{said}");
    }
    for (number, day) in
        [("43430", "2018-11-26"), ("43430.5", "2018-11-26"), ("43430,75", "2018-11-26"), ("2", "1900-01-01")]
    {
        for refused in [read_birthday(&json!(number)), moment_in(&TimeZone::UTC)(&json!(number))] {
            let said = refused.unwrap_err().in_english();
            assert!(said.contains(day) && said.contains("spreadsheet"), "{number}: {said}");
        }
    }
}

#[test]
fn minutes_are_read_as_a_spreadsheet_writes_a_time_of_day() {
    for (written, minutes_read) in
        [("0:15:00", Some(15)), ("00:15:00", Some(15)), ("1:05:00", Some(65)), ("0:15", Some(15))]
    {
        assert_eq!(minutes(fields::flight_minutes)(&json!(written)).ok(), minutes_read, "{written}");
    }
    assert_eq!(minutes(fields::flight_minutes)(&json!(15)), Ok(15));
    for wrong in ["0:15:30", "15:00:00", ":00", "0:00:00", "15 min"] {
        assert!(minutes(fields::flight_minutes)(&json!(wrong)).is_err(), "{wrong}");
    }
}
