//! `member export` and `member erase`: the personal data of a member, and that none is left after an erasure.

use crate::harness::{Caller, Desk, PASSWORD, Server, now, text};
use serde_json::{Value, json};
use std::os::unix::fs::FileTypeExt;
use std::path::{Path, PathBuf};

/// The member's name: words that occur nowhere else.
const NAME: &str = "Zaphodette Quuxley";
const SCREEN_NAME: &str = "Zafdette";
const USERNAME: &str = "zaphodette";
const EMAIL: &str = "zaphodette@example.com";
const PHONE: &str = "41446681800";
const COMMENT: &str = "a drizzlewick landing";
const ALL: [&str; 8] =
    ["Zaphodette", "Quuxley", "zaphodette", "Zafdette", PHONE, "668 18 00", "drizzlewick", "zebrafinch"];

/// The words of the member that occur in the bytes of the files below `dir`.
fn traces(dir: &Path, passed_over: &[&str]) -> Vec<String> {
    let (mut found, mut dirs) = (Vec::new(), vec![dir.to_owned()]);
    while let Some(dir) = dirs.pop() {
        for entry in std::fs::read_dir(dir).unwrap().map(Result::unwrap) {
            let (path, name) = (entry.path(), entry.file_name().to_string_lossy().into_owned());
            if passed_over.contains(&&*name) {
                continue;
            }
            if path.is_dir() {
                dirs.push(path);
                continue;
            }
            // A socket has no bytes.
            if entry.file_type().unwrap().is_socket() {
                continue;
            }
            let bytes = std::fs::read(&path).unwrap();
            for word in ALL {
                let is_there = bytes.windows(word.len()).any(|part| part == word.as_bytes());
                found.extend(is_there.then(|| format!("{word} in {}", path.display())));
            }
        }
    }
    found
}

/// A site with a member who has rows in many data sets, and others whose rows name her.
struct ErasureSite {
    desk: Desk,
    member_id: i64,
    partner: Caller,
}

impl ErasureSite {
    fn new() -> (ErasureSite, Server) {
        let desk = Desk::with_site();
        let partner = desk.add_partner(&[]);
        for name in ["mark", "ines"] {
            desk.add_member(name, "member");
        }
        let server = desk.serve();
        let signup = json!({ "username": USERNAME, "password": PASSWORD, "email": EMAIL, "real_name": NAME,
            "screen_name": SCREEN_NAME, "phone": "044 668 18 00", "country_code": "CH", "terms": true,
            "question_1": 1, "answer_1": "zebrafinch" });
        let made = server.post(&Caller::Anyone, "/api/auth/signup", &signup);
        assert_eq!(made.status, 201, "{}", made.body);
        desk.run(&["member", "confirm", USERNAME]).done();
        let member_id = desk.json(&["member", "show", USERNAME])["member_id"].as_i64().unwrap();
        let site = ErasureSite { desk, member_id, partner };
        site.use_everything(&server);
        (site, server)
    }

    fn use_everything(&self, server: &Server) {
        let (zaphodette, mark) = (server.sign_in(USERNAME, PASSWORD), server.sign_in("mark", PASSWORD));
        let fly = |who: &Caller, comment: &str| {
            let entry = json!({ "entry_date": 1_700_000_000, "time": "15", "tunnel": "1", "comment": comment });
            assert_eq!(server.post(who, "/api/account/logbook/time/", &entry).status, 201);
        };
        fly(&zaphodette, COMMENT);
        fly(&mark, "flew with ZAPHODETTE QUUXLEY, mail zaphodette@example.com");
        fly(&mark, "alone");
        let contact =
            json!({ "name": NAME, "email": EMAIL, "country": "CH", "enquiry": "Zafdette", "message": "zebrafinch?" });
        let sent = server.post(&Caller::Anyone, "/api/public/contact", &contact);
        assert!(sent.status < 300, "{} {}", sent.status, sent.body);
        let record = server.post(&self.partner, "/api/external/partner-metrics/op", &json!({ "email": EMAIL }));
        assert_eq!(record.status, 201, "{}", record.body);
        let pin = server.post(&zaphodette, "/api/account/profile/booking-pin", &json!({})).json();
        let booking = json!({ "member_id": self.member_id, "member_pin": pin["pin"], "registration_id": 7001,
            "flight_date": now() + 3_600, "minutes_booked": 15, "tunnel_id": 1 });
        let token = server.post(&self.partner, "/api/external/partner-metrics/op/generate-token", &booking).json();
        assert_eq!(token["status"], true, "{token}");
    }

    fn member(&self) -> Value {
        self.desk.json(&["member", "show", &self.member_id.to_string()])
    }
}

#[test]
fn nothing_of_an_erased_member_is_left_in_any_byte_and_the_counts_stay() {
    let (site, server) = ErasureSite::new();
    let sync = site.desk.sync_session();
    let counts = || {
        ["bookings", "history"].map(|report| {
            let path = format!("/api/admin/reports/external/partner-metrics/{report}");
            server.post(&sync, &path, &json!({ "limit": 100 })).json()["total"].clone()
        })
    };
    let before = counts();
    assert!(!traces(&site.desk.data(), &[]).is_empty(), "the test looks for the wrong words");
    let export: Value = serde_json::from_str(&site.desk.run(&["member", "export", USERNAME]).done()).unwrap();
    for part in [
        "account",
        "entries",
        "bookings",
        "events",
        "messages",
        "contact_messages_by_address",
        "partner_records",
        "sessions",
        "notices",
        "audit_log",
    ] {
        assert!(!export["held"][part].as_array().unwrap().is_empty(), "{part} is empty");
    }
    assert!(!export.to_string().contains("password_hash\":\"$argon2"), "a hash was exported");
    // What was done to the person: when, what, and from where.
    for row in export["held"]["audit_log"].as_array().unwrap() {
        let when = row["at"].as_i64().unwrap();
        assert!((now() - 600..=now()).contains(&when), "{row}");
        assert!(!text(&row["action"]).is_empty() && !text(&row["origin"]).is_empty(), "{row}");
    }
    let deeds: Vec<&str> =
        export["held"]["audit_log"].as_array().unwrap().iter().map(|row| text(&row["action"])).collect();
    assert!(deeds.contains(&"member.confirmed"), "{deeds:?}");
    let said = site.desk.run(&["member", "erase", USERNAME]).trouble(1);
    assert!(said.contains("--yes"), "{said}");
    let said = site.desk.run(&["member", "erase", USERNAME, "--yes"]).done();
    assert!(said.contains("is erased") && !said.contains(USERNAME), "{said}");
    assert_eq!(traces(&site.desk.data(), &[]), Vec::<String>::new(), "while the server runs");
    assert_eq!(counts(), before);
    let mark = server.sign_in("mark", PASSWORD);
    let path = format!("/api/account/logbook/time/{}", site.desk.json(&["member", "show", "mark"])["member_id"]);
    let entries = server.get(&mark, &path).ok();
    assert!(entries.to_string().contains("flew with [gelöscht], mail [gelöscht]"), "{entries}");
    assert_eq!(server.client().sign_in(USERNAME, PASSWORD)["status"], false);
    assert!(text(&site.member()["username"]).starts_with("erased-"), "{}", site.member());
    let again = site.desk.run(&["member", "erase", &site.member_id.to_string(), "--yes"]).done();
    assert!(again.contains("was erased on"), "{again}");
    let ended = server.stop();
    for word in ALL {
        assert!(!ended.log.join("\n").contains(word) && !ended.out.contains(word), "the log says {word}");
    }
    assert_eq!(traces(&site.desk.data(), &[]), Vec::<String>::new(), "after the server");
}

#[test]
fn a_restored_backup_does_not_bring_an_erased_member_back() {
    let (site, server) = ErasureSite::new();
    site.desk.run(&["backup"]).done();
    assert_eq!(server.stop().code, Some(0));
    site.desk.run(&["member", "erase", USERNAME, "--yes"]).done();
    let said = site.desk.run(&["restore"]).done();
    assert!(said.contains("One member had been erased since"), "{said}");
    assert!(text(&site.member()["username"]).starts_with("erased-"));
    // Backups from before the erasure contain her until they are pruned. The backups and the replaced data directory
    // are not part of the site.
    assert_eq!(traces(&site.desk.data(), &["backups"]), Vec::<String>::new());
    // A second restore has the same result.
    site.desk.run(&["restore"]).done();
    assert!(text(&site.member()["username"]).starts_with("erased-"));
}

#[test]
fn an_erased_member_stays_erased_when_the_database_is_lost_with_its_disk() {
    let (site, server) = ErasureSite::new();
    assert_eq!(server.stop().code, Some(0));
    let second = site.desk.path().join("second");
    std::fs::create_dir(&second).unwrap();
    let settings = format!("[backup]\noff_site = {:?}\n", second.to_str().unwrap());
    std::fs::write(site.desk.path().join("tunneldesk.toml"), settings).unwrap();
    site.desk.run(&["backup"]).done();
    site.desk.run(&["member", "erase", USERNAME, "--yes"]).done();
    let listed = std::fs::read_to_string(second.join("erased.jsonl")).unwrap();
    assert!(listed.lines().count() == 1 && !listed.contains(USERNAME), "{listed}");
    std::fs::remove_dir_all(site.desk.data()).unwrap();
    let restored = site.desk.json(&["restore"]);
    assert_eq!(restored["erased_again"], 1, "{restored}");
    assert!(text(&site.member()["username"]).starts_with("erased-"));
    assert_eq!(traces(&site.desk.data(), &["backups"]), Vec::<String>::new());
}

#[test]
fn the_number_of_an_erased_member_is_never_reused() {
    let desk = Desk::with_site();
    desk.add_member("first", "member");
    desk.run(&["backup"]).done();
    let late = desk.add_member("late", "member");
    desk.run(&["member", "erase", "late", "--yes"]).done();
    // The backup is from before `late` joined: the number of that member would be free.
    let restored = desk.json(&["restore"]);
    assert_eq!(restored["erased_again"], 0, "{restored}");
    let new = desk.add_member("new", "member");
    assert!(new > late, "{new} was {late}");
    desk.run(&["backup"]).done();
    assert_eq!(desk.json(&["restore"])["erased_again"], 0);
    assert_eq!(text(&desk.json(&["member", "show", "new"])["username"]), "new");
}

#[test]
fn staff_and_unknown_accounts_cannot_be_erased() {
    let desk = Desk::with_site();
    desk.add_member("boss", "admin");
    let said = desk.run(&["member", "erase", "boss", "--yes"]).trouble(1);
    assert!(said.contains("set-role boss member"), "{said}");
    assert!(desk.run(&["member", "erase", "nobody", "--yes"]).trouble(1).contains("there is no account"));
    let to: PathBuf = desk.path().join("boss.json");
    desk.run(&["member", "export", "boss", "--to", to.to_str().unwrap()]).done();
    let whole: Value = serde_json::from_slice(&std::fs::read(to).unwrap()).unwrap();
    assert_eq!(whole["held"]["account"][0]["email"], "boss@example.com");
}
