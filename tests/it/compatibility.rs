//! Requests of existing clients that the contract does not list.

use crate::harness::{Caller, Site};
use crate::logbook::given;
use serde_json::{Value, json};
use tunneldesk::domain::ids::TunnelId;
use tunneldesk::store::tables::tunnels::{self, Tunnel};

#[test]
fn the_tunnels_that_an_entry_can_name_begin_with_this_one() {
    let site = Site::open();
    let jane = site.member("jane");
    for (tunnel_id, name) in [(9, "Aeolus"), (8, "Zephyr")] {
        let tunnel = Tunnel {
            tunnel_id: TunnelId(tunnel_id),
            name: name.to_owned(),
            city: "Bern".to_owned(),
            country: "CH".to_owned(),
        };
        site.change(|tx| Ok(tunnels::insert(tx, &tunnel)?));
    }
    let list = jane.get("/account/logbook/tunnels").ok().json();
    let names: Vec<&str> = list.as_array().unwrap().iter().map(|row| row["name"].as_str().unwrap()).collect();
    assert_eq!(names, ["Windwerk", "Aeolus", "Zephyr"]);
    assert_eq!(
        list[0],
        json!({ "id": 7, "tunnel_id": 7, "entry_id": 7, "name": "Windwerk", "title": "Windwerk", "city": "Winterthur",
                "address_city": "Winterthur", "address": "", "country": "CH", "size": "", "manufacturer": "",
                "status": "open", "this": true })
    );
}

#[test]
fn a_flyer_s_levels_are_told_as_clients_read_them() {
    let site = Site::open();
    let (nora, signer) = (site.member("nora"), site.member("signer"));
    let levels =
        |reader: &Caller| reader.get(&format!("/account/dashboard/flyer-skills-levels/{}", nora.id)).ok().json();
    let told = |level1: &str, st: &str, dy: &str, fo: &str, pending: [bool; 4]| -> Value {
        json!({ "level1": level1, "level1Pending": pending[0], "static": st, "staticPending": pending[1], "dynamic": dy,
                "dynamicPending": pending[2], "formation": fo, "formationPending": pending[3] })
    };
    assert_eq!(levels(&nora), told("No", "No", "No", "No", [false; 4]));
    given::skill(&site, &nora, "10101", "pending", Some(&signer));
    assert_eq!(levels(&nora), told("No", "No", "No", "No", [true, false, false, false]));
    for level in ["Flyer Level 1", "Backflying Level 2", "Static Level 3", "Static Level 4", "Formation Level 2"] {
        given::level(&site, &nora, level, &signer);
    }
    for (skill, status) in [("13301", "pending"), ("12301", "denied"), ("11501", "open")] {
        given::skill(&site, &nora, skill, status, Some(&signer));
    }
    assert_eq!(levels(&site.desk()), told("Yes", "Level 4", "No", "Level 2", [true, false, false, true]));
}

#[test]
fn the_catalogue_is_public_and_names_every_skill_once() {
    let site = Site::open();
    let list = site.stranger().get("/public/skills").ok().json();
    let programmes = list.as_array().unwrap();
    assert_eq!(programmes.len(), 7);
    let words = |programme: &Value| programme["cat_group"].as_str().unwrap().to_owned();
    let named: Vec<String> = programmes.iter().map(words).collect();
    assert_eq!(named, ["Flyer", "AFC", "Instructor", "Trainer", "Examiner", "Coach", "Military"]);
    let first = &programmes[0]["levels"][1];
    assert_eq!(
        (&first["cat_id"], &first["track"], &first["cat_name"], &first["requires"]),
        (
            &json!("2"),
            &json!("Backflying"),
            &json!("Backflying Level 2"),
            &json!([{ "cat_group": "Flyer", "cat_id": "1", "track": "" }])
        )
    );
    assert_eq!(
        first["skills"][0],
        json!({ "skill": "10201", "skill_name": "Neutral back position", "required": true })
    );
    assert_eq!(
        programmes[0]["safety"][0],
        json!({ "skill": "10001", "skill_name": "Flyer safety brief before the first flight", "kind": "initial" })
    );
    assert_eq!(programmes[5]["levels"][0]["requires"][0]["track"], Value::Null, "any track will do");
    let levels = programmes.iter().flat_map(|programme| programme["levels"].as_array().unwrap());
    let mut skills: Vec<&str> = levels
        .flat_map(|level| level["skills"].as_array().unwrap())
        .map(|one| one["skill"].as_str().unwrap())
        .collect();
    let all = skills.len();
    skills.sort();
    skills.dedup();
    assert!(all > 150 && skills.len() == all);
}
