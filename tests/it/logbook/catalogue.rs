//! A site's own catalogue, from one start to the next.

use super::given;
use crate::harness::Site;
use tunneldesk::config::Config;

const SAMPLE: &str = include_str!("../../../packaging/catalogue.json");

fn extended(config: &mut Config, json: &str) {
    config.catalogue = Box::leak(Box::new(Config::defaults().catalogue.extended(json).unwrap()));
}

#[test]
fn levels_follow_the_catalogue_at_the_next_start() {
    let mut site = Site::open_with(|config| extended(config, SAMPLE));
    let (jane, ivo) = (site.member("jane"), site.member("ivo"));
    given::level(&site, &jane, "Flyer Level 1", &ivo);
    for skill in ["100401", "100402", "100403"] {
        given::own_skill(&site, &jane, "Flyer", "4", skill);
    }
    let names = |site: &Site| -> Vec<String> {
        let list = site.again(&jane).get("/account/profile/certificate-list").ok().json();
        list.as_array().unwrap().iter().map(|row| row["name"].as_str().unwrap().to_owned()).collect()
    };
    assert_eq!(names(&site), ["Flyer Level 1"], "as derived so far");
    let asks_more = SAMPLE.replace(
        "\"name\": \"Barrel roll in the suit\", \"required\": false",
        "\"name\": \"Roll\", \"required\": true",
    );
    assert_ne!(asks_more, SAMPLE);
    // The level requires other skills now, so all holdings are derived anew; then the old catalogue returns, and the
    // level is held.
    site.restart_with(|config| extended(config, &asks_more));
    assert_eq!(names(&site), ["Flyer Level 1"]);
    site.restart_with(|config| extended(config, SAMPLE));
    let mut held = names(&site);
    held.sort();
    assert_eq!(held, ["Flyer Level 1", "Wingsuit Level 4"]);
    // A level that is no longer in the catalogue is held by no member.
    site.restart_with(|config| config.catalogue = Config::defaults().catalogue);
    assert_eq!(names(&site), ["Flyer Level 1"]);
    site.hold(&jane, "Flyer", "2", "Formation", site.now());
    site.restart();
    assert_eq!(names(&site).len(), 2, "nothing is derived where nothing has changed");
}
