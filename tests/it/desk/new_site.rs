//! What *To do* says of a site that is not ready: no text of a required waiver, no signer, no name in the network; and the
//! minutes that its pages offer.

use super::Clerk;
use super::kiosk::{enter, paired};
use crate::harness::Site;

#[test]
fn today_says_what_a_new_site_lacks_until_it_is_there() {
    const LACKS: [&str; 3] = ["no text is published", "Nobody is appointed to sign", "no name in the network"];
    let new = Site::open_with(|config| config.waiver.required = true);
    let ready = Site::open_with(|config| config.names = vec!["tunnel.example.org".to_owned()]);
    ready.signer("ines", &[("Instructor", "4")]);
    for (site, lacks) in [(&new, true), (&ready, false)] {
        let page = Clerk::at(site, &site.admin()).get("/desk").page();
        for one in LACKS {
            assert_eq!(page.contains(one), lacks, "{one}: {page}");
        }
    }
}

#[test]
fn every_page_offers_the_minutes_of_the_settings() {
    let site = Site::open_with(|config| (config.demo, config.usual_minutes) = (true, vec![7, 13]));
    let (jane, clerk, kiosk) = (site.member("jane"), Clerk::at(&site, &site.desk()), paired(&site));
    enter(&site, &kiosk, &jane);
    for (page, mark) in [
        (clerk.get("/desk").page(), "name=\"usual\" value=\""),
        (clerk.get("/desk/new-member").page(), "name=\"minutes\" value=\""),
        (kiosk.get("/kiosk/time").page(), "data-whole=\""),
    ] {
        let offered: Vec<&str> = page.split(mark).skip(1).map(|rest| rest.split('"').next().unwrap()).collect();
        assert_eq!(offered, ["7", "13"], "{page}");
    }
}
