//! Certificates over HTTP: the list, who may have which, and the text of the document.

use crate::harness::{Caller, Site};
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use serde_json::{Value, json};
use std::process::Command;
use std::time::Duration;
use tunneldesk::domain::catalogue::{Catalogue, LevelKey};
use tunneldesk::domain::ids::MemberId;
use tunneldesk::store::queries::holdings;

const LIST: &str = "/account/profile/certificate-list";
const GET: &str = "/account/profile/get-certificate";
const DAY: i64 = 86_400;

/// Signs every required skill of the level, the last one now.
fn earn(site: &Site, member: &Caller, signer: &Caller, key: LevelKey) {
    let level = Catalogue::built_in().find_level(key).unwrap();
    let sql =
        "INSERT INTO entries (member_id, kind, status, entry_date, tunnel_id, author_id, cat_group, cat_id, skill,
                                    instructor_id, approval_date, created_at, updated_at)
               VALUES (?1, 'skill', 'open', ?2, ?3, ?1, ?4, ?5, ?6, ?7, ?2, ?2, ?2)";
    site.change(|tx| {
        for (ago, skill) in level.skills.iter().filter(|skill| skill.required).enumerate() {
            let at = tx.now() - ago as i64 * DAY;
            tx.run(sql, (member.id, at, Site::TUNNEL_ID, key.cat_group, key.cat_id, &skill.skill, signer.id))?;
        }
        Ok(holdings::refresh(tx, MemberId(member.id), Catalogue::built_in())?)
    });
}

const FLYER_1: LevelKey = LevelKey { cat_group: "Flyer", cat_id: "1", track: "" };
const STATIC_3: LevelKey = LevelKey { cat_group: "Flyer", cat_id: "3", track: "Static" };

/// Changes the real name; the screen name stays.
fn rename(site: &Site, member: &Caller, real_name: &str) {
    let sql = "UPDATE members SET real_name = ?2 WHERE member_id = ?1";
    site.change(|tx| Ok(tx.run(sql, (member.id, real_name))?));
}

/// The fields of a row that the contract names, and no others.
fn five_fields(row: &Value) -> Value {
    let names = ["type", "cat_id", "screen_name", "entry_date", "member_id"];
    names.into_iter().map(|name| (name.to_owned(), row[name].clone())).collect::<serde_json::Map<_, _>>().into()
}

fn row(member: &Caller, place: usize) -> Value {
    member.get(LIST).ok().json()[place].clone()
}

fn pdf(member: &Caller, row: &Value) -> Vec<u8> {
    let reply = member.post(GET, row).ok();
    assert_eq!(reply.header("content-type"), Some("application/json"));
    let pdf = STANDARD.decode(reply.json().as_str().expect("a string of base64")).unwrap();
    assert!(pdf.starts_with(b"%PDF-") && pdf.len() < 100_000, "{} bytes", pdf.len());
    pdf
}

/// The text of the document; `None` if no extraction tool is installed.
fn words(pdf: &[u8]) -> Option<String> {
    let file = tempfile::NamedTempFile::new().unwrap();
    std::fs::write(file.path(), pdf).unwrap();
    let read = Command::new("pdftotext").arg(file.path()).arg("-").output().ok()?;
    assert!(read.status.success(), "{}", String::from_utf8_lossy(&read.stderr));
    Some(String::from_utf8_lossy(&read.stdout).split_whitespace().collect::<Vec<_>>().join(" "))
}

#[test]
fn a_held_level_is_a_row_that_can_be_sent_back() {
    let site = Site::open();
    let (jane, ivo) = (site.member("jane"), site.member("ivo"));
    assert_eq!(jane.get(LIST).ok().json(), json!([]));
    earn(&site, &jane, &ivo, FLYER_1);
    let list = jane.get(LIST).ok().json();
    assert_eq!(
        list,
        json!([{ "type": "Flyer", "cat_id": 1, "cat_group": "Flyer", "track": "", "name": "Flyer Level 1",
                 "screen_name": "jane", "entry_date": site.now(), "member_id": jane.id, "tunnel_name": "Windwerk",
                 "signer_name": "ivo" }])
    );
    pdf(&jane, &list[0]);
}

#[test]
fn a_row_with_the_long_screen_name_of_an_earlier_version_can_be_sent_back() {
    let site = Site::open();
    let (jane, ivo) = (site.member("jane"), site.member("ivo"));
    earn(&site, &jane, &ivo, FLYER_1);
    let sql = "UPDATE members SET screen_name = ?2 WHERE member_id = ?1";
    site.change(|tx| Ok(tx.run(sql, (jane.id, "x".repeat(100)))?));
    pdf(&jane, &five_fields(&row(&jane, 0)));
}

#[test]
fn the_list_is_newest_first_and_comes_in_pages() {
    let site = Site::open();
    let jane = site.member("jane");
    for (cat_id, track, ago) in [("1", "", 9), ("2", "Backflying", 5), ("3", "Static", 7)] {
        site.hold(&jane, "Flyer", cat_id, track, site.now() - ago * DAY);
    }
    let names = |path: &str| -> Vec<String> {
        let list = jane.get(path).ok().json();
        list.as_array().unwrap().iter().map(|row| row["name"].as_str().unwrap().to_owned()).collect()
    };
    assert_eq!(names(LIST), ["Backflying Level 2", "Static Level 3", "Flyer Level 1"]);
    assert_eq!(names(&format!("{LIST}?limit=1&offset=1")), ["Static Level 3"]);
    assert_eq!(names(&format!("{LIST}?offset=9")), [""; 0]);
    jane.get(&format!("{LIST}?limit=0")).refused(422);
}

#[test]
fn a_certificate_is_for_what_the_list_names_and_nothing_else() {
    let site = Site::open();
    let (jane, ivo, mark) = (site.member("jane"), site.member("ivo"), site.member("mark"));
    earn(&site, &jane, &ivo, FLYER_1);
    let good = row(&jane, 0);
    for (field, value) in [
        ("type", json!("brief")),
        ("cat_id", json!(2)),
        ("screen_name", json!("Jane the Great")),
        ("entry_date", json!(site.now() - 1)),
        ("type", json!("Flyer Static")),
    ] {
        let mut other = good.clone();
        other[field] = value;
        jane.post(GET, &other).refused(404);
    }
    mark.post(GET, &good).refused(403);
    site.desk().post(GET, &good).refused(403);
    let mut mine = good.clone();
    mine["member_id"] = json!(mark.id);
    jane.post(GET, &mine).refused(403);
    mark.post(GET, &mine).refused(404);
    mine["member_id"] = json!(999_999);
    jane.post(GET, &mine).refused(403);
    assert_eq!(site.rows()["certificates"], 0, "nothing was handed out");
    let missing = jane.post(GET, json!({})).refused(422);
    assert_eq!(missing.bad_fields(), ["type", "cat_id", "screen_name", "entry_date", "member_id"]);
    // The same values in the types that other clients send.
    let typed = json!({ "type": "Flyer", "cat_id": "1", "screen_name": " jane ", "entry_date": site.now() * 1000,
                        "member_id": jane.id.to_string() });
    assert_eq!(pdf(&jane, &typed), pdf(&jane, &good));
}

#[test]
fn every_row_leads_to_its_own_paper_by_the_contract_s_five_fields_also_where_all_were_earned_at_one_moment() {
    let site = Site::open();
    let jane = site.member("jane");
    let catalogue = Catalogue::built_in();
    for level in catalogue.levels() {
        site.hold(&jane, &level.cat_group, &level.cat_id, &level.track, site.now());
    }
    let rows = jane.get(LIST).rows();
    assert_eq!(rows.len(), catalogue.levels().count());
    let asked: std::collections::BTreeSet<String> = rows.iter().map(|row| five_fields(row).to_string()).collect();
    assert_eq!(asked.len(), rows.len(), "two rows are asked for alike: {asked:?}");
    for row in rows.iter().filter(|row| row["cat_id"] == 3) {
        let name = row["name"].as_str().unwrap();
        let words = words(&pdf(&jane, &five_fields(row)));
        assert!(words.is_none_or(|words| words.contains(name)), "{name}");
    }
    // Each document has a code of its own, because each of the rows differs.
    let papers = rows.iter().filter(|row| row["cat_id"] == 3).count() as i64;
    assert_eq!((site.rows()["certificates"], papers >= 5), (papers, true));
}

#[test]
fn the_paper_carries_the_real_names_of_holder_and_signer() {
    let site = Site::open();
    let (jane, ivo) = (site.member("jane"), site.member("ivo"));
    earn(&site, &jane, &ivo, STATIC_3);
    rename(&site, &jane, "Johanna Maria Beispiel");
    rename(&site, &ivo, "Ivo Vorbild");
    let row = row(&jane, 0);
    assert_eq!((&row["screen_name"], &row["signer_name"]), (&json!("jane"), &json!("Ivo Vorbild")));
    if let Some(words) = words(&pdf(&jane, &row)) {
        assert!(words.contains("Johanna Maria Beispiel") && words.contains("Ivo Vorbild"), "{words}");
    }
    rename(&site, &jane, "");
    assert!(words(&pdf(&jane, &row)).is_none_or(|words| words.contains("jane")), "a name there is");
}

#[test]
fn the_same_certificate_is_the_same_bytes_also_later_and_after_a_restart() {
    let mut site = Site::open_with(|config| config.public_url = Some("https://tunnel.example.org".to_owned()));
    let (jane, ivo) = (site.member("jane"), site.member("ivo"));
    earn(&site, &jane, &ivo, FLYER_1);
    let good = row(&jane, 0);
    let first = pdf(&jane, &good);
    site.advance(Duration::from_secs(3600));
    assert_eq!(pdf(&jane, &good), first);
    site.restart();
    assert_eq!(pdf(&jane, &good), first);
    assert_eq!(site.rows()["certificates"], 1, "it is one certificate however often it is taken");
}

#[test]
fn names_of_five_scripts_are_on_the_sheet_letter_by_letter() {
    let site = Site::open();
    let (jane, ivo) = (site.member("jane"), site.member("ivo"));
    earn(&site, &jane, &ivo, STATIC_3);
    rename(&site, &ivo, "Łukasz Żółć");
    for name in [
        "Jürgen Çağlar-O’Brien",
        "Nguyễn Thị Ánh Tuyết",
        "Ελευθερία Παπαδοπούλου",
        "Александра Щёголева",
        "Đorđe Љубојевић",
    ] {
        rename(&site, &jane, name);
        let pdf = pdf(&jane, &row(&jane, 0));
        let Some(words) = words(&pdf) else { continue };
        for part in [name, "Static Level 3", "Łukasz Żółć", "28 May 2026"] {
            assert!(words.contains(part), "{part} is not in {words}");
        }
    }
    // Letters that no font has, as no font can have them all.
    rename(&site, &jane, "\u{1e4d0}\u{1e4d1} 🪂");
    let pdf = pdf(&jane, &row(&jane, 0));
    let named = format!("jane (№ {})", jane.id);
    assert!(
        words(&pdf).is_none_or(|words| words.contains(&named) && !words.contains('□')),
        "the username stands for it"
    );
}

#[test]
fn the_sheet_speaks_the_caller_s_language() {
    let site = Site::open();
    let (jane, ivo) = (site.member("jane"), site.member("ivo"));
    earn(&site, &jane, &ivo, FLYER_1);
    let asked = row(&jane, 0);
    for (tag, said) in [
        ("en", ["28 May 2026", "Flyer Level 1"]),
        ("de-CH", ["28. Mai 2026", "Flieger Stufe 1"]),
        ("fr", ["28 mai 2026", "Pilote Niveau 1"]),
        ("es", ["28 de mayo de 2026", "Volador Nivel 1"]),
        ("it", ["28 maggio 2026", "Si certifica che"]),
        ("it", ["Volatore Livello 1", "Programma Volatore"]),
    ] {
        let reply = jane.ask(http::Method::POST, GET).header("accept-language", tag).json(&asked).send().ok();
        let pdf = STANDARD.decode(reply.json().as_str().unwrap()).unwrap();
        assert!(words(&pdf).is_none_or(|words| said.iter().all(|part| words.contains(part))), "{tag}");
    }
}

#[test]
fn without_a_wish_the_papers_speak_the_language_of_the_member_s_last_sign_in() {
    let site = Site::open();
    let (jane, ivo) = (site.member("jane"), site.member("ivo"));
    earn(&site, &jane, &ivo, FLYER_1);
    let sql = "UPDATE members SET language = 'it' WHERE member_id = ?1";
    site.change(|tx| Ok(tx.run(sql, [jane.id])?));
    let print = format!("/account/logbook/print/{}", jane.id);
    for pdf in [pdf(&jane, &row(&jane, 0)), jane.get(&print).ok().body.clone()] {
        let words = words(&pdf);
        assert!(words.is_none_or(|words| words.contains("28 maggio 2026") && words.contains("Volatore Livello 1")));
    }
    let asked = jane.ask(http::Method::GET, &print).header("accept-language", "de").send().ok();
    assert!(words(&asked.body).is_none_or(|words| words.contains("Flieger Stufe 1")), "the reader's wish goes first");
}
