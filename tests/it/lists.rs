//! Lists of members as clubs and spreadsheets write them: days, missing cells, encodings, and the same list again.

use crate::harness::{PASSWORD, Site};
use serde_json::{Value, json};
use std::io::Write;
use std::time::Duration;

/// Imports a list of members; the answer as JSON, or what was refused.
fn import(site: &Site, list: &str, more: &[&str]) -> Result<Value, String> {
    let mut file = tempfile::NamedTempFile::new().expect("a file for the list");
    file.write_all(list.as_bytes()).expect("the list is written");
    let path = file.path().to_string_lossy().into_owned();
    let args = [&["import", "members", &path, "--json"], more].concat();
    let output = site.shell_output(&args);
    match output.status.code() {
        Some(0) => Ok(serde_json::from_slice(&output.stdout).expect("JSON")),
        _ => Err(String::from_utf8_lossy(&output.stderr).into_owned()),
    }
}

/// Columns of a member, as the database has them.
fn stored(site: &Site, username: &str, columns: &str) -> Option<String> {
    let sql = format!("SELECT concat_ws(' ', {columns}) FROM members WHERE username = ?1");
    site.change(|tx| Ok(tx.find(&sql, [username])?))
}

#[test]
fn a_day_written_as_a_number_is_that_day_or_refused_and_never_1970() {
    let site = Site::open();
    let head = "username;real_name;email;dob;paid_until;join_date\n";
    let list = format!("{head}kid1;Kira Kind;kid1@example.org;20181126;20271231;20200101\n");
    assert_eq!(import(&site, &list, &[]).unwrap()["new"], 1);
    let days = "date(dob, 'unixepoch'), date(join_date, 'unixepoch', '+12 hours')";
    assert_eq!(stored(&site, "kid1", days).as_deref(), Some("2018-11-26 2020-01-01"));
    for (row, told) in [
        ("kid2;Kuno Kind;kid2@example.org;43430;;", "perhaps for 2018-11-26"),
        ("kid2;Kuno Kind;kid2@example.org;;46387;", "perhaps for 2026-12-31"),
        ("kid2;Kuno Kind;kid2@example.org;;;43831", "perhaps for 2020-01-01"),
        ("kid2;Kuno Kind;kid2@example.org;5/4/1980;;", "column 4 (dob)"),
        ("kid2;Kuno Kind;kid2@example.org;20181326;;", "column 4 (dob)"),
        ("kid2;Kuno Kind;kid2@example.org;0;;", "column 4 (dob)"),
    ] {
        let said = import(&site, &format!("{head}{row}\n"), &[]).unwrap_err();
        assert!(said.contains("line 2") && said.contains(told), "{row}: {said}");
        assert_eq!(stored(&site, "kid2", "dob"), None, "{row}");
    }
}

#[test]
fn days_of_the_api_are_no_numbers_of_a_spreadsheet_and_a_stored_one_may_be_sent_back() {
    let site = Site::open();
    let sign_up = |username: &str, dob: Value| {
        let body = json!({ "username": username, "real_name": "Some One", "email": format!("{username}@example.com"),
                           "password": PASSWORD, "terms": true, "dob": dob });
        site.stranger().post("/auth/signup", body)
    };
    for bad in [json!(20_181_126), json!("43430"), json!(43_430), json!(86_399), json!(643_248_001)] {
        let reply = sign_up("jane", bad.clone());
        assert!(reply.status == 422 && reply.json()["errors"][0]["field"] == "dob", "{bad}: {reply}");
    }
    // Midnight of 21 May 1990 in Zurich.
    sign_up("jane", json!(643_240_800)).ok();
    assert_eq!(stored(&site, "jane", "dob").as_deref(), Some("643248000"));

    let mark = site.member("mark");
    let entry = |date: Value| {
        mark.post("/account/logbook/time/", json!({ "entry_date": date, "time": 10, "tunnel": Site::TUNNEL_ID }))
    };
    for bad in [json!(20_181_126), json!("43430"), json!(99_999_999), json!(0)] {
        assert_eq!(entry(bad.clone()).status, 422, "{bad}");
    }
    let entry_id = entry(json!(1_700_000_000)).json()["entry_id"].as_i64().unwrap();
    site.change(|tx| Ok(tx.run("UPDATE entries SET entry_date = 20181126 WHERE entry_id = ?1", [entry_id])?));
    let edit =
        |date: i64| mark.put(&format!("/account/logbook/time/{entry_id}"), json!({ "entry_date": date, "time": 12 }));
    edit(20_181_126).ok();
    assert_eq!(edit(20_181_127).status, 422);
    let kept = mark.put(&format!("/account/logbook/time/{entry_id}"), json!({ "entry_date": 0, "time": 13 }));
    assert_eq!(kept.status, 200, "0 is absent: {kept}");
}

#[test]
fn a_list_as_a_german_spreadsheet_saves_it_is_taken() {
    let site = Site::open();
    let list = "\u{feff}username;real_name;email;screen_name;dob;paid_until;join_date;language;\r\n\
        anna.b;Anna Beispiel;anna.b@example.org;;19.06.1964;31.12.2027;2020-01-02 10:30;de;\r\n\
        bert.b;Bert Beispiel;bert.b@example.org\r\n\
        cora.b;Cora Beispiel;cora.b@example.org;Cora;1.5.1990;2027/12/31\r\n";
    assert_eq!(import(&site, list, &[]).unwrap()["new"], 3);
    let days = "date(dob, 'unixepoch'), screen_name";
    assert_eq!(stored(&site, "anna.b", days).as_deref(), Some("1964-06-19 anna.b"));
    assert_eq!(stored(&site, "cora.b", days).as_deref(), Some("1990-05-01 Cora"));
    assert_eq!(stored(&site, "anna.b", "paid_until"), stored(&site, "cora.b", "paid_until"));
    for (spoiled, told) in [
        ("enc1;ZoÃ« MÃ¼ller;enc1@example.org", "Zoë Müller"),
        ("enc1;Z\u{fffd}rcher;enc1@example.org", "lost"),
        ("enc1;Zoë;enc1@example.org;x", "no heading"),
    ] {
        let said = import(&site, &format!("username;real_name;email;\n{spoiled}\n"), &[]).unwrap_err();
        assert!(said.contains("line 2, column") && said.contains(told), "{said}");
    }
}

#[test]
fn the_same_list_changes_nothing_whenever() {
    let site = Site::open();
    let list = "username,real_name,email\nanna.b,Anna Beispiel,anna.b@example.org\n";
    assert_eq!(import(&site, list, &[]).unwrap()["new"], 1);
    let since = [
        "UPDATE members SET banned_at = 1700000000",
        "UPDATE members SET banned_at = NULL, password_hash = 'x'",
        "UPDATE members SET email = 'anna@new.example.org'",
    ];
    for sql in since {
        site.advance(Duration::from_secs(3));
        site.change(|tx| Ok(tx.run(&format!("{sql} WHERE username = 'anna.b'"), [])?));
        let taken = import(&site, list, &[]).unwrap();
        assert_eq!((&taken["new"], &taken["changed"], &taken["same"]), (&json!(0), &json!(0), &json!(1)), "{sql}");
    }
    let other = "username,real_name,email\nanna.b,Otto Anders,otto@example.org\n";
    assert!(import(&site, other, &[]).unwrap_err().contains("another e-mail address"));
}

#[test]
fn a_list_updates_known_members_where_asked_and_never_how_they_are_reached_nor_staff() {
    let site = Site::open();
    let first = "username,real_name,email,phone,dob,paid_until,role\n\
        anna.b,Anna Beispiel,anna.b@example.org,+41791234567,1964-06-19,2026-12-31,\n\
        ines,Ines Desk,ines@example.org,,,,desk\n";
    import(&site, first, &["--roles"]).unwrap();
    let second = "username;real_name;email;phone;dob;paid_until;role;banned_at;email_confirmed_at\n\
        anna.b;Anna Muster;anna.b@example.org;+41797654321;;31.12.2027;admin;2026-01-01;2026-01-01\n\
        ines;Ines Other;ines@example.org;;;;member;;\n\
        new.one;New One;new.one@example.org;;;;;;\n";
    let columns = "real_name, phone, date(dob, 'unixepoch'), role, banned_at IS NULL, email_confirmed_at IS NULL";
    let before = stored(&site, "anna.b", columns);
    let dry = import(&site, second, &["--update", "--dry-run"]).unwrap();
    assert_eq!((&dry["new"], &dry["changed"], &dry["same"]), (&json!(1), &json!(1), &json!(1)), "{dry}");
    let changes: Vec<_> = dry["changes"].as_array().unwrap().iter().map(|one| (&one["field"], &one["to"])).collect();
    let wanted = [(&json!("real_name"), &json!("Anna Muster")), (&json!("paid_until"), &json!("2027-12-31"))];
    assert_eq!(changes, wanted);
    assert_eq!(stored(&site, "anna.b", columns), before, "a dry run changes nothing");

    assert_eq!(import(&site, second, &[]).unwrap()["changed"], 0, "nothing is changed unless asked for");
    assert_eq!(import(&site, second, &["--update"]).unwrap()["changed"], 1);
    assert_eq!(stored(&site, "anna.b", columns).as_deref(), Some("Anna Muster +41791234567 1964-06-19 member 1 1"));
    assert_eq!(stored(&site, "ines", "real_name, role").as_deref(), Some("Ines Desk desk"));
    assert_eq!(import(&site, second, &["--update"]).unwrap()["changed"], 0, "the same list again");
}

#[test]
fn a_membership_is_in_force_through_its_last_day_by_the_site_s_clock() {
    let site = Site::open_with(|config| config.yearly_fee_cents = 3_000);
    site.change(|tx| Ok(tx.run("UPDATE tunnels SET time_zone = 'Pacific/Auckland'", [])?));
    let jane = site.flyer("jane");
    let date: String = site.change(|tx| Ok(tx.get("SELECT date(?1, 'unixepoch')", [tx.now() + 10 * 86_400])?));
    let list = format!("username,real_name,email,paid_until\nlast,Lena Letzt,last@example.org,{date}\n");
    import(&site, &list, &[]).unwrap();
    let until: i64 = stored(&site, "last", "paid_until").unwrap().parse().unwrap();
    site.change(|tx| Ok(tx.run("UPDATE members SET paid_until = ?2 WHERE member_id = ?1", (jane.id, until))?));
    let state = || jane.get("/account/profile/user").ok().json()["paymentData"].clone();
    assert_eq!(state(), json!({ "paymentStatus": "active", "nextDate": until }));
    let end: i64 = site.change(|tx| Ok(tx.get("SELECT unixepoch(?1, '+1 day') - 1", [&date])?));
    assert!([11, 12, 13].map(|hours| end - hours * 3_600).contains(&until), "the end of the day in Auckland: {until}");
    site.advance(Duration::from_secs((until - site.now()).unsigned_abs()));
    assert_eq!(state()["paymentStatus"], "active", "the last second");
    site.advance(Duration::from_secs(1));
    assert_eq!(state()["paymentStatus"], "unpaid");
}

#[test]
fn a_table_begins_with_a_mark_and_has_the_separator_of_the_reader_s_spreadsheet() {
    let site = Site::open();
    let jane = site.flyer("jane");
    let path = format!("/account/logbook/export/{}", jane.id);
    let table = |path: &str, language: &str| {
        let reply = jane.ask(http::Method::GET, path).header("accept-language", language).send();
        String::from_utf8(reply.ok().body).unwrap()
    };
    assert!(table(&path, "en").starts_with("\u{feff}entry_id,kind,"));
    assert!(table(&path, "de-CH").starts_with("\u{feff}entry_id;kind;"));
    assert!(table(&format!("{path}?separator=tab"), "de").starts_with("\u{feff}entry_id\tkind\t"));
    assert_eq!(jane.get(&format!("{path}?separator=x")).status, 422);
    let exported = site.shell_output(&["export", "members", "--separator", "semicolon"]);
    let exported = String::from_utf8(exported.stdout).unwrap();
    assert!(exported.starts_with("\u{feff}username;real_name;"), "{exported}");
    // The export is taken back as it is.
    assert_eq!(import(&site, &exported, &[]).unwrap()["new"], 0);
}
