//! The list of tunnels.

use super::get_in;
use crate::harness::Site;
use serde_json::{Value, json};
use tunneldesk::domain::ids::TunnelId;
use tunneldesk::domain::tunnel::Tunnel;
use tunneldesk::store::tables::tunnels;

fn tunnel(tunnel_id: i64, name: &str, country: &str) -> Tunnel {
    Tunnel {
        tunnel_id: TunnelId(tunnel_id),
        name: name.to_owned(),
        city: "Lyon".to_owned(),
        country: country.to_owned(),
        time_zone: "Europe/Paris".to_owned(),
        website: "https://souffle.example".to_owned(),
        phone: "+33400000000".to_owned(),
    }
}

fn put(site: &Site, tunnel: &Tunnel) {
    site.change(|tx| Ok(tunnels::put(tx, tunnel)?));
}

fn own(country_name: &str) -> Value {
    json!({
        "tunnel_id": Site::TUNNEL_ID, "name": "Windwerk", "city": "Winterthur", "country": "CH", "country_name": country_name,
        "time_zone": "", "website": "", "phone": "", "this_site": true,
    })
}

#[test]
fn this_site_and_the_others_it_knows_are_found_by_their_number() {
    let site = Site::open();
    put(&site, &tunnel(12, "Souffle", "FR"));
    let found =
        |language: &str, tunnel_id: i64| get_in(&site, language, &format!("/public/tunnels/{tunnel_id}")).ok().json();
    assert_eq!(found("en", Site::TUNNEL_ID.0), json!({ "status": true, "data": own("Switzerland") }));
    assert_eq!(found("de", Site::TUNNEL_ID.0)["data"], own("Schweiz"));
    let other = json!({
        "tunnel_id": 12, "name": "Souffle", "city": "Lyon", "country": "FR", "country_name": "Francia",
        "time_zone": "Europe/Paris", "website": "https://souffle.example", "phone": "+33400000000", "this_site": false,
    });
    assert_eq!(found("es", 12)["data"], other);
}

#[test]
fn an_unknown_tunnel_is_not_found() {
    let site = Site::open();
    for odd in ["8", "0", "-7", "7.0", "seven", "%00", "ALL", "9223372036854775808", "7%2F..", "' OR 1=1"] {
        let path = format!("/public/tunnels/{}", odd.replace(' ', "%20"));
        assert_eq!(site.stranger().get(&path).refused(404).json()["code"], "not_found", "{odd}");
    }
}

#[test]
fn a_client_that_knows_no_number_asks_for_all_page_by_page() {
    let site = Site::open();
    for tunnel_id in [30, 12, 21] {
        put(&site, &tunnel(tunnel_id, "Souffle", "FR"));
    }
    let numbers = |query: &str| {
        let body = site.stranger().get(&format!("/public/tunnels/all{query}")).ok();
        assert_eq!(body.total(), 4);
        body.rows().iter().map(|row| row["tunnel_id"].as_i64().unwrap()).collect::<Vec<_>>()
    };
    assert_eq!(numbers(""), [Site::TUNNEL_ID.0, 12, 21, 30]);
    assert_eq!(numbers("?limit=2&offset=1"), [12, 21]);
    assert_eq!(site.stranger().get("/public/tunnels/all?limit=0").refused(422).bad_fields(), ["limit"]);
    let first = site.stranger().get("/public/tunnels/all?limit=1").ok().json()[0].clone();
    assert_eq!(first, own("Switzerland"));
}
