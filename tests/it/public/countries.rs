//! The list of countries for forms.

use super::get_in;
use crate::harness::Site;
use http::Method;
use serde_json::{Value, json};

const COUNTRIES: &str = "/public/countries";

fn list(site: &Site, language: &str) -> Vec<Value> {
    let reply = get_in(site, language, COUNTRIES).ok();
    assert_eq!(reply.header("content-language"), Some(&language[..2]), "{reply}");
    assert!(reply.header("vary").unwrap().contains("accept-language"), "{reply}");
    reply.rows()
}

#[test]
fn every_language_lists_the_same_countries_by_its_own_names() {
    let site = Site::open();
    let codes = |rows: &[Value]| {
        let mut codes: Vec<_> = rows.iter().map(|row| row["code"].as_str().unwrap().to_owned()).collect();
        codes.sort();
        codes
    };
    let english = list(&site, "en");
    assert!(english.len() > 245, "{}", english.len());
    for (language, first, name) in
        [("en", "AF", "Switzerland"), ("de", "AF", "Schweiz"), ("fr", "AF", "Suisse"), ("es", "AF", "Suiza")]
    {
        let rows = list(&site, language);
        assert_eq!(codes(&rows), codes(&english));
        assert_eq!(rows[0]["code"], first);
        let own = rows.iter().find(|row| row["code"] == "CH").unwrap();
        assert_eq!(*own, json!({ "code": "CH", "code3": "CHE", "name": name, "dial_code": "+41" }));
    }
}

#[test]
fn letters_with_marks_stand_where_a_reader_looks_for_them() {
    let site = Site::open();
    for (language, neighbours) in [
        ("de", ["Oman", "Österreich", "Pakistan"].as_slice()),
        ("fr", &["Estonie", "Eswatini", "État de la Cité du Vatican", "États-Unis", "Éthiopie"]),
        ("es", &["Eslovenia", "España", "Estados Unidos"]),
    ] {
        let names: Vec<String> =
            list(&site, language).iter().map(|row| row["name"].as_str().unwrap().to_owned()).collect();
        assert!(names.windows(neighbours.len()).any(|names| names == neighbours), "{language}: {names:?}");
    }
}

/// Sign-up accepts a country as the list gives it, with a telephone number of that country.
#[test]
fn a_listed_country_serves_to_sign_up() {
    let site = Site::open();
    for (code, phone) in [("CH", "052 000 00 00"), ("XK", "028 000 000"), ("US", "212 736 5000")] {
        let row = list(&site, "en").into_iter().find(|row| row["code"] == code).unwrap();
        for country_code in [&row["code"], &row["dial_code"]] {
            let name = format!("flyer{}", site.next_number());
            let body = json!({
                "username": name, "password": "wet hair, dry socks", "email": format!("{name}@example.com"), "terms": true,
                "real_name": "Ann", "phone": phone, "country": row["name"], "country_code": country_code,
            });
            site.stranger().post("/auth/signup", body).ok();
        }
    }
}

#[test]
fn who_has_the_list_is_not_sent_it_again() {
    let site = Site::open();
    let etag = get_in(&site, "de", COUNTRIES).ok().header("etag").unwrap().to_owned();
    let again = |language: &str| {
        let asking = site.stranger();
        let asked =
            asking.ask(Method::GET, COUNTRIES).header("accept-language", language).header("if-none-match", &etag);
        asked.send().status
    };
    assert_eq!((again("de"), again("fr")), (304, 200));
}
