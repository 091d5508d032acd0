//! The texts of the product.

use super::get_in;
use crate::harness::Site;
use serde_json::json;
use tunneldesk::i18n::language::Language;

const TRANSLATIONS: &str = "/public/translations";

#[test]
fn the_texts_are_those_that_the_product_shows() {
    let site = Site::open();
    for language in Language::ALL {
        let body = get_in(&site, language.tag(), TRANSLATIONS).ok().json();
        assert_eq!((&body["status"], &body["language"]), (&json!(true), &json!(language.tag())));
        let texts = body["data"].as_object().unwrap();
        // The site is in Switzerland.
        let spelt = if language == Language::German { Language::SwissGerman } else { language };
        for (key, text) in spelt.texts() {
            let of_mails = key.starts_with("mail.") || key.starts_with("headline.");
            let shown = if of_mails { None } else { Some(json!(text)) };
            assert_eq!(texts.get(key), shown.as_ref(), "{key}");
        }
        // The texts of refusals are among them, word for word.
        let refusal = get_in(&site, language.tag(), "/account/profile/user").refused(401).json();
        assert_eq!(refusal["message"], texts["not_signed_in"]);
    }
}

#[test]
fn the_query_has_the_last_word_on_the_language() {
    let site = Site::open();
    for (language, query) in [("fr", "?language=fr"), ("es", "?language=ES-mx"), ("de", ""), ("de", "?language=")] {
        let body = get_in(&site, "de", &format!("{TRANSLATIONS}{query}")).ok().json();
        assert_eq!(body["language"], language, "{query}");
    }
    let refused = get_in(&site, "de", &format!("{TRANSLATIONS}?language=tlh")).refused(422);
    assert_eq!(refused.bad_fields(), ["language"]);
}

#[test]
fn a_site_spells_german_as_its_country_does() {
    let mut site = Site::open();
    let said = |site: &Site| {
        let size = |path: &str| get_in(site, "de", path).ok().json()["data"]["site.size"].clone();
        let refusal = get_in(site, "de-DE", "/account/profile/user").refused(401).json()["message"].clone();
        [size(TRANSLATIONS), size(&format!("{TRANSLATIONS}?language=de")), refusal]
    };
    let swiss = said(&site);
    assert_eq!((&swiss[0], &swiss[1]), (&json!("Grösse"), &json!("Grösse")));
    site.change(|tx| Ok(tx.run("UPDATE tunnels SET country = 'DE'", [])?));
    site.restart();
    let german = said(&site);
    assert_eq!((&german[0], &german[1], &german[2]), (&json!("Größe"), &json!("Größe"), &swiss[2]));
}

#[test]
fn a_client_learns_which_languages_there_are() {
    let site = Site::open();
    let body = site.stranger().get(TRANSLATIONS).ok().json();
    let language = |code: &str, name: &str| json!({ "code": code, "name": name });
    let all = [("en", "English"), ("de", "Deutsch"), ("fr", "Français"), ("it", "Italiano"), ("es", "Español")];
    assert_eq!(body["languages"], json!(all.map(|(code, name)| language(code, name))));
    assert_eq!(body["language"], "en");
}

#[test]
fn the_fingerprint_goes_with_the_language_and_outlives_a_restart() {
    let mut site = Site::open();
    let etag = |site: &Site, tag: &str| get_in(site, tag, TRANSLATIONS).ok().header("etag").unwrap().to_owned();
    let german = etag(&site, "de");
    assert_ne!(german, etag(&site, "en"));
    site.restart();
    assert_eq!(german, etag(&site, "de"));
}
