//! The security questions.

use crate::harness::Site;
use http::Method;
use tunneldesk::domain::ids::MemberId;

const QUESTIONS: &str = "/account/profile/security-questions";

#[test]
fn the_catalogue_says_which_are_answered_in_the_callers_language() {
    let site = Site::open();
    let jane = site.member("jane");
    site.change(|tx| Ok(tunneldesk::store::tables::security_answers::set(tx, MemberId(jane.id), 3, "a hash")?));
    let shown = jane.ask(Method::GET, QUESTIONS).header("accept-language", "de-CH").send().ok().json();
    let answered: Vec<i64> = shown
        .as_array()
        .unwrap()
        .iter()
        .filter(|q| q["answered"] == true)
        .map(|q| q["question"].as_i64().unwrap())
        .collect();
    assert_eq!((answered, shown.as_array().unwrap().len()), (vec![3], 12));
    assert_eq!(shown[0]["text"], "Wie hiess dein erstes Haustier?");
    let page = jane.get(&format!("{QUESTIONS}?limit=1&offset=2")).ok().json();
    assert_eq!((page.as_array().unwrap().len(), page[0]["question"].as_i64()), (1, Some(3)));
    jane.get(&format!("{QUESTIONS}?limit=0")).refused(422);
}
