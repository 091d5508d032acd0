//! Commands for the public and the members: tunnels, the contact form, reminders.

use crate::harness::{Caller, Desk, text};
use serde_json::json;

const CSV: &str = "\u{feff}tunnel_id,name,city,country,time_zone,website,phone\n\
                   12,Souffle,Lyon,fr,Europe/Paris,https://souffle.example,04 00 00 00 00\n\
                   21,\"Aufwind, Bern\",Bern,CHE,,,\n";

fn write(desk: &Desk, name: &str, list: &str) {
    std::fs::write(desk.path().join(name), list).unwrap();
}

fn import_and_look(desk: &Desk) {
    write(desk, "list.csv", CSV);
    assert_eq!(desk.run(&["tunnel", "import", "list.csv"]).done().trim_end(), "2 new, 0 changed, 0 as they were");
    assert_eq!(desk.json(&["tunnel", "import", "list.csv"]), json!({ "new": 0, "changed": 0, "same": 2 }));
    let rows = desk.json(&["tunnel", "list"]);
    let souffle = json!({
        "tunnel_id": 12, "name": "Souffle", "city": "Lyon", "country": "FR", "time_zone": "Europe/Paris",
        "website": "https://souffle.example", "phone": "+33400000000", "this_site": false,
    });
    assert_eq!((&rows[0]["this_site"], &rows[1], &rows[2]["name"]), (&json!(true), &souffle, &json!("Aufwind, Bern")));
    // A column that the list lacks keeps its values.
    write(desk, "list.json", r#"[{"tunnel_id": 12, "name": "Le Souffle", "country": "FR", "website": ""}]"#);
    assert_eq!(desk.run(&["tunnel", "import", "list.json"]).done().trim_end(), "0 new, 1 changed, 0 as they were");
    let changed = &desk.json(&["tunnel", "list"])[1];
    assert_eq!(
        (&changed["name"], &changed["website"], &changed["city"]),
        (&json!("Le Souffle"), &json!(""), &json!("Lyon"))
    );
    let listed = desk.run(&["tunnel", "list"]).done();
    assert!(listed.contains("Le Souffle") && listed.lines().nth(1).unwrap().ends_with("this site"), "{listed}");
}

#[test]
fn a_list_of_tunnels_is_taken_and_the_same_again_changes_nothing() {
    import_and_look(&Desk::with_site());
}

#[test]
fn a_running_server_takes_a_list_and_shows_it_at_once() {
    let desk = Desk::with_site();
    let server = desk.serve();
    import_and_look(&desk);
    assert_eq!(server.get(&Caller::Anyone, "/api/public/tunnels/21").json()["data"]["country"], "CH");
}

#[test]
fn a_list_with_mistakes_names_each_and_nothing_of_it_is_taken() {
    let desk = Desk::with_site();
    let csv = "tunnel_id;name;country;colour\n12;Souffle;France;red\n13;;CH;blue\n14;Aufwind;CH;\n14;Aufwind;CH;\n";
    write(&desk, "list.csv", csv);
    let ran = desk.run(&["tunnel", "import", "list.csv"]);
    assert_eq!((ran.code, &*ran.out), (Some(1), ""));
    for part in [
        "nothing was taken",
        "line 2: country \"France\" is not a country code like CH",
        "line 2: there is no column \"colour\"",
        "line 3: name \"\" must say something",
        "line 5: tunnel_id 14 stands at line 4 already",
    ] {
        assert!(ran.err.contains(part), "{part}: {}", ran.err);
    }
    assert_eq!(desk.json(&["tunnel", "list"]).as_array().unwrap().len(), 1);
    for (list, part) in [
        ("", "there is no tunnel in it"),
        ("tunnel_id,name,country\n1,a\n", "line"),
        ("[{\"tunnel_id\": 1,", "is not JSON"),
        ("[]", "there is no tunnel in it"),
        ("[{\"name\": \"A\"}]", "tunnel 1: tunnel_id is missing"),
    ] {
        write(&desk, "odd", list);
        let ran = desk.run(&["tunnel", "import", "odd"]);
        assert!(ran.code == Some(1) && ran.err.contains(part), "{list:?}: {:?} {}", ran.code, ran.err);
    }
    assert!(desk.run(&["tunnel", "import", "nowhere.csv"]).trouble(1).contains("nowhere.csv cannot be read"));
}

#[test]
fn the_desk_reads_messages_of_the_contact_form_and_marks_them_as_done() {
    let desk = Desk::with_site();
    let server = desk.serve();
    assert_eq!(
        desk.run(&["contact", "list"]).done().trim_end(),
        "0 open; mail.contact_to is not set, so they are read here alone"
    );
    let form = json!({
        "name": "Ann Other", "email": "ann@example.com", "message": "Do you open on Sundays?\nWe are four, and we would like to come early.",
        "enquiry": "Opening hours", "country": "CH", "member_id": 31,
    });
    server.post(&Caller::Anyone, "/api/public/contact", &form).ok();
    server
        .post(
            &Caller::Anyone,
            "/api/public/contact",
            &json!({ "name": "B", "email": "b@example.com", "message": "Hi" }),
        )
        .ok();
    let listed = desk.run(&["contact", "list"]).done();
    assert!(listed.contains("Do you open on Sundays? We are four") && listed.contains("2 open"), "{listed}");
    let shown = desk.run(&["contact", "show", "1"]).done();
    for part in ["From:      Ann Other <ann@example.com>", "31 (by the sender's own word)", "Sundays?\nWe are four"] {
        assert!(shown.contains(part), "{shown}");
    }
    assert_eq!(desk.run(&["contact", "done", "1"]).done().trim_end(), "1 message marked as done");
    assert_eq!(desk.json(&["contact", "done", "1"]), json!({ "done": 0 }));
    let rows = desk.json(&["contact", "list"]);
    assert_eq!((&rows["open"], rows["messages"].as_array().unwrap().len()), (&json!(1), 1));
    let all = desk.json(&["contact", "list", "--all"]);
    assert!(all["messages"][1]["done_at"].is_i64() && text(&all["messages"][1]["email"]) == "ann@example.com", "{all}");
    // With one number unknown, no message of the command is marked as done.
    assert!(desk.run(&["contact", "done", "2", "99"]).trouble(1).contains("there is no message 99"));
    assert_eq!(desk.json(&["contact", "list"])["open"], 1);
    assert!(desk.run(&["contact", "show", "99"]).trouble(1).contains("contact list"));
}

#[test]
fn reminders_can_be_asked_for_with_and_without_a_server() {
    let desk = Desk::with_site();
    desk.add_member("jane", "member");
    assert_eq!(desk.run(&["reminders", "--dry-run"]).done().trim_end(), "0 reminders would be given, 0 by mail too");
    let _server = desk.serve();
    assert_eq!(desk.run(&["reminders"]).done().trim_end(), "0 reminders given, 0 by mail too");
    assert_eq!(desk.json(&["reminders"]), json!({ "dry_run": false, "mails": 0, "reminders": [] }));
}
