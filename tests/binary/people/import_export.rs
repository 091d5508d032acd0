//! `import` and `export`, with and without a running server.

use crate::harness::{Desk, PASSWORD};
use serde_json::json;
use std::os::unix::fs::{FileTypeExt, MetadataExt, chown};
use std::path::PathBuf;
use tunneldesk::clock::Clock;
use tunneldesk::config::Config;
use tunneldesk::domain::audit::{Actor, Detail, Subject};
use tunneldesk::moment::Moment;
use tunneldesk::site::Site;
use tunneldesk::store::tables::audit;

/// Writes a list of column names and rows to a file in the desk's directory.
fn write(desk: &Desk, name: &str, list: &str) -> PathBuf {
    let path = desk.path().join(name);
    std::fs::write(&path, list).unwrap();
    path
}

fn import(desk: &Desk, kind: &str, list: &str) -> crate::harness::Ran {
    let path = write(desk, "list.csv", list);
    let roles = if kind == "members" { &["--roles"][..] } else { &[] };
    desk.run(&[&["import", kind, path.to_str().unwrap()], roles].concat())
}

fn exported(desk: &Desk, kind: &str) -> String {
    desk.run(&["export", kind]).done()
}

const MEMBERS: &str = "username,real_name,screen_name,email,email_confirmed_at,phone,country_code,dob,join_date,role\n\
    jane,Jane Doe,=Jane,jane@example.com,2024-01-02T03:04:05Z,044 668 18 00,CH,1990-05-06,2020-01-01,member\n\
    mark,\"Mark, \"\"the\"\" Flyer\",,mark@example.com,,,,,2021-02-03T00:00:00Z,\n\
    ines,Inés Instructor,Inés,ines@example.com,1700000000,,,,2019-06-07,desk\n";

/// The number of a skill in the site's catalogue.
const SKILL: &str = "10101";

fn logbook() -> String {
    let skills =
        std::fs::read_to_string(concat!(env!("CARGO_MANIFEST_DIR"), "/assets/catalogue/catalogue.json")).unwrap();
    assert!(skills.contains(SKILL), "the catalogue has no {SKILL}");
    format!(
        "username,kind,status,entry_date,minutes,skill,instructor,approval_date,comment,comments_instructor,opening,booking\n\
         jane,time,open,2024-03-01T10:00:00Z,0:15,,,,\"two\r\nlines\",,,\n\
         jane,time,open,2024-03-01T10:00:00Z,15,,,,\"two\r\nlines\",,,\n\
         jane,time,open,2024-03-02,20,,,,-first,,,\n\
         jane,skill,open,2024-03-01,,{SKILL},ines,2024-03-02,,well done,,\n\
         mark,time,pending,2023-01-01,600,,ines,,from before,,a,\n\
         mark,time,pending,2023-01-01,100,,ines,,from before,,a,\n\
         jane,time,open,2030-01-01,30,,,,,,,CLIENT/registration/7001\n"
    )
}

const BOOKINGS: &str = "client_id;username;registration_id;purchase_id;flight_date;minutes_booked;tunnel_id\r\n\
    CLIENT;jane;7001;;2030-01-01;30;1\r\n\
    CLIENT;mark;;55;2024-01-01T12:00:00Z;0:45;1\r\n\
    CLIENT;mark;;;2024-02-01T12:00:00Z;10;1\r\n\
    front-desk;mark;9001;;2024-03-01T12:00:00Z;10;1\r\n";

fn filled() -> Desk {
    let desk = Desk::with_site();
    desk.run(&["partner", "add", "Skyline", "--client-id", "CLIENT"]).done();
    import(&desk, "members", MEMBERS).done();
    import(&desk, "bookings", BOOKINGS).done();
    import(&desk, "logbook", &logbook()).done();
    desk
}

#[test]
fn an_export_imports_at_another_site_and_exports_identically() {
    let (one, other) = (filled(), Desk::with_site());
    other.run(&["partner", "add", "Skyline", "--client-id", "CLIENT"]).done();
    for kind in ["members", "bookings", "logbook"] {
        let list = exported(&one, kind);
        assert!(list.lines().count() >= 4, "{list}");
        let said = import(&other, kind, &list).done();
        assert!(said.starts_with("Took ") && !said.contains("here already"), "{kind}: {said}");
        assert_eq!(exported(&other, kind), list);
        // Importing the same list again changes nothing, on either site.
        for desk in [&one, &other] {
            let said = import(desk, kind, &list).done();
            assert!(said.starts_with("Took 0 "), "{kind}: {said}");
            assert_eq!(exported(desk, kind), list);
        }
    }
    let members = exported(&one, "members");
    assert!(
        members.contains("\"'=Jane\"") && members.contains("\"'+41446681800\"") && members.contains("1990-05-06"),
        "{members}"
    );
    // The imported site works like any other: levels, sums, and sign-in with a new password.
    let jane = other.json(&["member", "show", "jane"]);
    let ahead = 30;
    assert_eq!((&jane["flight_minutes"], &jane["email_verified"]), (&json!(80 - ahead), &json!(true)));
    other.run_with_input(&["member", "reset-password", "jane", "--password-stdin"], PASSWORD).done();
    let server = other.serve();
    let session = server.sign_in("jane", PASSWORD);
    let held = server.get(&session, "/api/account/profile/booking-history").ok();
    assert!(held.to_string().contains("7001"), "{held}");
}

#[test]
fn a_list_with_mistakes_is_refused_with_line_and_column_of_each() {
    let desk = filled();
    let before = exported(&desk, "members");
    let list = "username,real_name,email,phone,dob,role,email_confirmed_at\n\
        new.one,New One,new@example.com,,,,\n\
        x,Short Name,not an address,12,11/21/2026,boss,\n\
        new.one,Again,again@example.com,,,,\n\
        MARK,Other Mark,other@example.com,,,,\n\
        jane,Same Jane,JANE@example.com,,,,\n\
        thief,Thief,jane@example.com,,,,2024-01-01\n";
    let path = write(&desk, "bad.csv", list);
    for args in [vec!["import", "members"], vec!["import", "members", "--dry-run"]] {
        let ran = desk.run(&[&args[..], &[path.to_str().unwrap()]].concat());
        assert_eq!(ran.code, Some(1), "{}", ran.out);
        let said = ran.err;
        for wanted in [
            "line 3, column 1 (username), \"x\": Use 3 to 32",
            "line 3, column 3 (email), \"not an address\": Enter an e-mail address like",
            "line 3, column 5 (dob), \"11/21/2026\": Write a day as 2026-11-21",
            "line 3, column 6 (role), \"boss\": Choose one of member, desk, admin, sync",
            "line 4, column 1 (username), \"new.one\": Line 2 has this already.",
            "line 5, column 1 (username), \"MARK\": A member with another e-mail address",
            "line 7, column 3 (email), \"jane@example.com\": Another member confirmed this too",
        ] {
            assert!(said.contains(wanted), "{wanted} in {said}");
        }
        assert!(!said.contains("line 2,") && !said.contains("line 6,"), "{said}");
        assert_eq!(exported(&desk, "members"), before, "something was taken");
    }
    let good = write(
        &desk,
        "good.csv",
        "username,real_name,email\nnew.one,New One,new@example.com\njane,J,jane@example.com\n",
    );
    let said = desk.json(&["import", "members", "--dry-run", good.to_str().unwrap()]);
    assert_eq!((&said["new"], &said["same"]), (&json!(1), &json!(1)));
    assert_eq!(exported(&desk, "members"), before, "a dry run took something");
}

#[test]
fn a_list_of_members_gives_rights_only_where_it_was_asked_for_them() {
    let desk = Desk::with_site();
    let list = "username,real_name,email,email_confirmed_at,role\n\
        jane,Jane,jane@example.com,,member\n\
        ines,Ines,ines@example.com,1700000000,desk\n\
        thief,Thief,thief@example.com,1700000000,admin\n\
        job,Job,job@example.com,,sync\n";
    let path = write(&desk, "list.csv", list);
    let path = path.to_str().unwrap();
    let before = exported(&desk, "members");
    for more in [&[][..], &["--dry-run"]] {
        let ran = desk.run(&[&["import", "members", path], more].concat());
        assert_eq!((ran.code, &*ran.out), (Some(1), ""), "{}", ran.err);
        let said = ran.err;
        for line in
            ["line 3, column 5 (role), \"desk\"", "line 4, column 5 (role), \"admin\"", "line 5, column 5 (role)"]
        {
            assert!(said.contains(line) && said.contains("--roles"), "{line}: {said}");
        }
        assert!(!said.contains("line 2"), "{said}");
        assert_eq!(exported(&desk, "members"), before, "something was taken");
    }
    let named = ", among them ines as desk, thief as admin, job as sync.";
    for (more, verb) in [(&["--dry-run"][..], "Would take"), (&[], "Took")] {
        let said = desk.run(&[&["import", "members", "--roles", path], more].concat()).done();
        assert!(said.contains(&format!("{verb} 4 members{named}")), "{said}");
    }
    let number = |name: &str| desk.json(&["member", "show", name])["member_id"].clone();
    let logged = desk.json(&["audit", "list", "--action", "members.imported"]);
    let detail = &logged.as_array().expect("rows")[0]["detail"];
    let given = json!({ "count": 4, "desk": [number("ines")], "admin": [number("thief")], "sync": [number("job")] });
    assert_eq!(*detail, given, "{logged}");
    // The same list again finds all of them, and gives nothing.
    let again = desk.json(&["import", "members", "--roles", path]);
    assert_eq!((&again["new"], &again["roles"]), (&json!(0), &json!([])));
}

#[test]
fn imported_entries_and_bookings_follow_the_rules_of_the_api() {
    let desk = filled();
    let logbook = format!(
        "username,kind,entry_date,minutes,skill,instructor,status,tunnel,booking\n\
         nobody,time,2024-01-01,10,,,,,\n\
         jane,time,2024-01-01,601,,,,,\n\
         jane,time,2090-01-01,10,,,,,\n\
         jane,time,1980-01-01,10,,,,,\n\
         jane,time,2024-01-01,10,,,,99,\n\
         jane,skill,2024-01-01,,{SKILL},,,,\n\
         mark,skill,2024-01-01,,{SKILL},mark,,,\n\
         mark,safety,2024-01-01,,{SKILL},,,,\n\
         mark,skill,2024-01-01,,no such,,,,\n\
         mark,time,2024-01-01,10,,,denied,,\n\
         mark,time,2024-01-01,10,,,,,CLIENT/registration/7001\n"
    );
    let said = import(&desk, "logbook", &logbook);
    assert_eq!(said.code, Some(1));
    for wanted in [
        "line 2, column 1 (username), \"nobody\": This site has no such member",
        "line 3, column 4 (minutes), \"601\": Enter 1 to 600 minutes",
        "line 4, column 3 (entry_date), \"2090-01-01\": This must not be in the future",
        "line 5, column 3 (entry_date), \"1980-01-01\": This must not be before the member was born",
        "line 6, column 8 (tunnel), \"99\": This site knows no such tunnel",
        "line 7, column 5 (skill), \"10101\": Skill 10101 is in the logbook already",
        "line 8, column 6 (instructor), \"mark\": Name another member",
        "line 9, column 2 (kind), \"safety\": The catalogue has this skill as skill",
        "line 10, column 5 (skill), \"no such\": The catalogue has no such skill",
        "line 11, column 7 (status), \"denied\": Write open",
        "line 12, column 9 (booking), \"CLIENT/registration/7001\": This member has no such booking",
    ] {
        assert!(said.err.contains(wanted), "{wanted} in {}", said.err);
    }
    let bookings = "client_id,username,registration_id,flight_date,minutes_booked,tunnel_id\n\
        nobody,jane,1,2024-01-01,10,1\n\
        CLIENT,jane,7001,2030-01-01,45,1\n\
        CLIENT,mark,7001,2030-01-01,30,1\n\
        CLIENT,jane,8,2024-01-01,0,1\n\
        CLIENT,jane,9,2024-01-01,10,1\n\
        CLIENT,jane,9,2024-01-01,10,1\n";
    let said = import(&desk, "bookings", bookings);
    assert_eq!(said.code, Some(1));
    for wanted in [
        "line 2, column 1 (client_id), \"nobody\": This site has no such partner",
        "line 3, column 3 (registration_id), \"7001\": This site has this booking with other values",
        "line 4, column 3 (registration_id), \"7001\": Line 3 has this already.",
        "line 5, column 5 (minutes_booked), \"0\": Enter 1 to 600",
        "line 7, column 3 (registration_id), \"9\": Line 6 has this already.",
    ] {
        assert!(said.err.contains(wanted), "{wanted} in {}", said.err);
    }
}

#[test]
fn a_running_server_imports_and_exports_files_that_only_the_command_can_open() {
    let desk = filled();
    let before = ["members", "logbook", "bookings"].map(|kind| exported(&desk, kind));
    let server = desk.serve();
    let rows = 3_000;
    let mut list = "username;kind;entry_date;minutes;comment\r\n".to_owned();
    for n in 0..rows {
        list += &format!("mark;time;{};{};flight {n}\r\n", 1_600_000_000 + n * 60, n % 600 + 1);
    }
    let path = write(&desk, "long.csv", &list);
    let said = desk.json(&["import", "logbook", path.to_str().unwrap()]);
    assert_eq!((&said["new"], &said["same"]), (&json!(rows), &json!(0)));
    let to = desk.path().join("out.csv");
    let said = desk.run(&["export", "logbook", "--to", to.to_str().unwrap()]).done();
    assert!(said.contains("rows in"), "{said}");
    let whole = std::fs::read_to_string(&to).unwrap();
    assert_eq!(whole.lines().count(), before[1].lines().count() + rows);
    assert!(whole.starts_with(&before[1]), "what was there before comes first");
    // The import is refused while most of the list is still being sent.
    let wrong = write(&desk, "wrong.csv", &format!("nonsense\n{}", "x\n".repeat(2_000_000)));
    let said = desk.run(&["import", "members", wrong.to_str().unwrap()]);
    assert!(said.code == Some(1) && said.err.contains("(nonsense): This list has no such column"), "{}", said.err);
    assert_eq!(exported(&desk, "members"), before[0]);
    let missing = desk.run(&["import", "members", "no-such-file.csv"]).trouble(1);
    assert!(missing.contains("no-such-file.csv cannot be read"), "{missing}");
    let nowhere = desk.run(&["export", "members", "--to", "/no/such/dir/list.csv"]).trouble(2);
    assert!(nowhere.contains("cannot write /no/such/dir/list.csv"), "{nowhere}");
    assert_eq!(server.stop().code, Some(0));
    let left: Vec<_> = std::fs::read_dir(desk.data()).unwrap().map(|e| e.unwrap().file_name()).collect();
    assert!(!left.iter().any(|name| name.to_string_lossy().contains("import")), "{left:?}");
}

#[test]
fn an_export_never_replaces_a_pipe_a_device_or_a_link() {
    let desk = filled();
    let whole = desk.run(&["export", "members"]).done();
    let (pipe, link, file) = (desk.path().join("pipe"), desk.path().join("link"), desk.path().join("list.csv"));
    assert!(std::process::Command::new("mkfifo").arg(&pipe).status().unwrap().success());
    let reader = std::thread::spawn({
        let pipe = pipe.clone();
        move || std::fs::read_to_string(pipe).unwrap()
    });
    desk.run(&["export", "members", "--to", "pipe"]).done();
    assert!(pipe.symlink_metadata().unwrap().file_type().is_fifo(), "the pipe was replaced");
    assert_eq!(reader.join().unwrap(), whole);
    std::fs::write(&file, "old").unwrap();
    std::os::unix::fs::symlink("list.csv", &link).unwrap();
    desk.run(&["export", "members", "--to", "link"]).done();
    assert!(link.symlink_metadata().unwrap().is_symlink(), "the link was replaced");
    assert_eq!(std::fs::read_to_string(&file).unwrap(), whole);
    // A directory entry of the test's own, so that a fault cannot replace the machine's device.
    let full = desk.path().join("full");
    std::os::unix::fs::symlink("/dev/full", &full).unwrap();
    let said = desk.run(&["export", "members", "--to", "full"]).trouble(2);
    assert!(said.contains("cannot write") && said.contains("No space left"), "{said}");
    assert!(std::fs::metadata("/dev/full").unwrap().file_type().is_char_device());
}

#[test]
fn files_exported_by_root_belong_to_root() {
    let desk = filled();
    if desk.database().metadata().unwrap().uid() != 0 {
        return println!("SKIPPED: only root acts as somebody else");
    }
    let nobody = 65_534;
    let site_files = || std::fs::read_dir(desk.data()).unwrap().map(|entry| entry.unwrap().path());
    site_files().chain([desk.data()]).for_each(|path| chown(path, Some(nobody), Some(nobody)).unwrap());
    for args in [&["export", "members", "--to", "list.csv"][..], &["member", "export", "jane", "--to", "list.csv"]] {
        desk.run(args).done();
        let list = desk.path().join("list.csv");
        assert_eq!((list.metadata().unwrap().uid(), list.metadata().unwrap().gid()), (0, 0), "{args:?}");
        assert!(std::fs::read_to_string(&list).unwrap().contains("jane@example.com"));
    }
    assert!(site_files().all(|path| path.metadata().unwrap().uid() == nobody), "root left something in the site");
    assert_eq!(std::fs::read_dir(desk.path()).unwrap().count(), 2, "the site and the list");
}

#[test]
fn a_table_of_members_counts_what_it_leaves_out_and_json_has_all() {
    let desk = Desk::with_site();
    let rows: String = (0..60).map(|n| format!("flyer{n},Flyer {n},flyer{n}@example.com\n")).collect();
    import(&desk, "members", &format!("username,real_name,email\n{rows}")).done();
    let listed = desk.run(&["member", "list"]).done();
    assert_eq!(listed.lines().count(), 1 + 50 + 1, "{listed}");
    assert!(listed.trim_end().ends_with("… and 10 more: --offset 50, or a larger --limit"), "{listed}");
    let rest = desk.run(&["member", "list", "--offset", "50"]).done();
    assert!(rest.lines().count() == 1 + 10 && !rest.contains("more"), "{rest}");
    assert_eq!(desk.run(&["member", "list", "--limit", "60"]).done().lines().count(), 1 + 60);
    assert_eq!(desk.json(&["member", "list"]).as_array().unwrap().len(), 60);
    assert_eq!(desk.json(&["member", "list", "--limit", "5"]).as_array().unwrap().len(), 5);
}

#[test]
fn tables_of_messages_and_events_count_what_they_leave_out_and_json_has_all() {
    let desk = Desk::with_site();
    let file = rusqlite::Connection::open(desk.database()).unwrap();
    let numbers = "WITH RECURSIVE number(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM number WHERE n < 53)";
    for sql in [
        "INSERT INTO contact_messages (name, email, message, language, created_at, done_at)
         SELECT 'Ann', 'ann@example.com', 'Hello', 'en', 1780000000, NULL FROM number",
        "INSERT INTO contact_messages (name, email, message, language, created_at, done_at)
         VALUES ('Ann', 'ann@example.com', 'Done', 'en', 1780000000, 1780000000)",
        "INSERT INTO outbox (channel, recipient, language, template, state, next_try_at, created_at)
         SELECT 'email', 'ann@example.com', 'en', 'contact', iif(n > 1, 'dead', 'sent'), 0, 1780000000 FROM number",
        "INSERT INTO outbox (channel, recipient, language, template, state, next_try_at, created_at)
         SELECT 'email', 'ann@example.com', 'en', 'contact', 'waiting', 0, 1780000000 FROM number",
        "INSERT INTO suppressed (address, reason, since) SELECT n || '@example.com', 'spam', 1780000000 FROM number",
        "INSERT INTO suppressed (address, reason, since, lifted_at) VALUES ('up@example.com', 'spam', 5, 9)",
        "INSERT INTO callbacks (sender, event_key, event, verdict, sealed, received_at)
         SELECT 'mail', 'key ' || n, 'open', 'applied', x'00', 1780000000 FROM number",
        "INSERT INTO callbacks (sender, event_key, event, verdict, sealed, received_at)
         VALUES ('app', 'key', 'claim', 'applied', x'00', 1780000000)",
    ] {
        let numbers = if sql.contains("number") { numbers } else { "" };
        file.execute(&format!("{numbers} {sql}"), []).unwrap();
    }
    drop(file);
    for (list, rows, place) in [
        (&["contact", "list"][..], 53, Some("messages")),
        (&["contact", "list", "--all"], 54, Some("messages")),
        (&["outbox", "list"], 105, Some("messages")),
        (&["outbox", "list", "--state", "waiting"], 53, Some("messages")),
        (&["outbox", "list", "--state", "dead"], 52, Some("messages")),
        (&["outbox", "list", "--state", "sent"], 1, Some("messages")),
        (&["outbox", "marked"], 53, None),
        (&["callbacks", "list"], 54, Some("callbacks")),
        (&["callbacks", "list", "--sender", "mail"], 53, Some("callbacks")),
        (&["callbacks", "list", "--sender", "app"], 1, Some("callbacks")),
    ] {
        let more = format!("\n… and {} more: --offset 50, or a larger --limit\n", rows.max(50) - 50);
        let listed = desk.run(list).done();
        assert_eq!(listed.contains(&more), rows > 50, "{list:?}: {listed}");
        assert_eq!(listed.contains(" more: "), rows > 50, "{list:?}: {listed}");
        let rest = desk.run(&[list, &["--offset", "1", "--limit", "1000"]].concat()).done();
        assert!(!rest.contains(" more: "), "{list:?}: {rest}");
        let answer = desk.json(list);
        let listed = place.map_or(&answer, |place| &answer[place]);
        assert_eq!(listed.as_array().unwrap().len(), rows, "{list:?}");
    }
}

/// Adds rows to the audit log of a site that no server runs on.
fn record(desk: &Desk, rows: usize) {
    let place = desk.lock_data_dir();
    let site = Site::open(&place, Config::defaults(), Clock::machine(Moment(0))).unwrap();
    let recorded = site.store.write(site.now(), |tx| {
        for _ in 0..rows {
            audit::insert(tx, &Actor::job("tls"), "tls.renewed", &Subject::Site, &Detail::none())?;
        }
        Ok(())
    });
    recorded.unwrap();
    site.close();
}

#[test]
fn a_table_of_the_audit_log_counts_what_it_leaves_out_and_json_has_all() {
    const ROWS: usize = 2_100;
    let desk = Desk::with_site();
    record(&desk, ROWS);
    let renewed = ["audit", "list", "--action", "tls.renewed"];
    let first = desk.json(&[&renewed[..], &["--limit", "1"]].concat())[0]["seq"].as_u64().unwrap() as usize;
    let mut server = None;
    for is_served in [false, true] {
        if is_served {
            server = Some(desk.serve());
        }
        let listed = desk.run(&renewed).done();
        let more = format!("\n… and {} more: --before {}, or a larger --limit", ROWS - 50, first - 49);
        assert!(listed.trim_end().ends_with(&more), "{listed}");
        let last = desk.run(&[&renewed[..], &["--before", &(first - ROWS + 2).to_string()]].concat()).done();
        assert!(last.lines().count() == 2 && !last.contains(" more: "), "{last}");
        for (args, wanted) in [(&[][..], ROWS), (&["--limit", "1500"], 1_500), (&["--actor", "partner"], 0)] {
            let seqs = desk.json(&[&renewed[..], args].concat());
            let seqs = seqs.as_array().unwrap().iter().map(|row| row["seq"].as_u64().unwrap() as usize);
            assert!(seqs.eq((0..wanted).map(|n| first - n)), "{args:?}");
        }
    }
    assert_eq!(server.unwrap().stop().code, Some(0));
}

#[test]
fn tables_of_kiosks_and_payments_count_what_they_leave_out_and_json_has_all() {
    let desk = Desk::with_site();
    let file = rusqlite::Connection::open(desk.database()).unwrap();
    let numbers = "WITH RECURSIVE number(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM number WHERE n < 1003)";
    for sql in [
        "INSERT INTO kiosks (name, paired_at, used_at) SELECT 'Gate ' || n, 1780000000, 1780000000 FROM number",
        "INSERT INTO payments (intent_id, amount_cents, currency, status, question, created_at, updated_at)
         SELECT 'pi_' || n, 2000, 'chf', 'succeeded', 'unmatched', 1780000000, 1780000000 FROM number",
    ] {
        file.execute(&format!("{numbers} {sql}"), []).unwrap();
    }
    drop(file);
    for (list, usual) in [(["kiosk", "list"], 1000), (["callbacks", "unmatched"], 500)] {
        let left_out = format!("\n… and {} more: --offset {usual}, or a larger --limit\n", 1003 - usual);
        let listed = desk.run(&list).done();
        assert!(listed.contains(&left_out), "{listed}");
        let rest = desk.run(&[&list[..], &["--offset", "1001"]].concat()).done();
        assert!(!rest.contains(" more") && rest.lines().filter(|line| line.contains("2026-")).count() == 2, "{rest}");
        assert!(!desk.run(&[&list[..], &["--limit", "1003"]].concat()).done().contains(" more"));
        assert_eq!(desk.json(&list).as_array().unwrap().len(), 1003);
    }
}
