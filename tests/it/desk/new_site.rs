//! What *To do* says of a site that is not ready: no text of a required waiver, no signer, no name in the network; and the
//! minutes that its pages offer.

use super::Clerk;
use super::kiosk::{enter, paired};
use crate::harness::Site;

#[test]
fn today_says_what_a_new_site_lacks_until_it_is_there() {
    const LACKS: [&str; 2] = ["no text is published", "Nobody is appointed to sign"];
    // The name of a demo does not matter.
    let new = Site::open_with(|config| (config.demo, config.waiver.required) = (true, true));
    let ready = Site::open_with(|config| config.demo = true);
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

#[test]
fn an_admin_appoints_the_first_signer_and_removes_one() {
    let site = Site::open_with(|config| config.demo = true);
    let (ines, admin, desk) = (site.member("ines"), Clerk::at(&site, &site.admin()), Clerk::at(&site, &site.desk()));
    let appoint = |member: &str, first: &str| {
        admin.post("/desk/site/signers", &[("member", member), ("programme", "Instructor"), ("first", first)])
    };
    for (member, first, said) in [
        ("nobody", "4", "No member has that number"),
        ("ines", "", "holds no level of this programme"),
        ("ines", "9", "no such level"),
        ("ines", "x", "no such level"),
    ] {
        let refused = appoint(member, first);
        assert!(refused.status == 422 && refused.page().contains(said), "{member} {first}: {refused}");
    }
    assert_eq!(appoint("ines", "4").status, 303);
    assert!(appoint("ines", "4").page().contains("on the list for this programme"));
    let page = admin.get("/desk/site/signers").page();
    assert!(page.contains("signs as level 4"), "{page}");
    assert!(!admin.get("/desk").page().contains("Nobody is appointed"));
    let sql = "SELECT count(*) FROM audit WHERE action = ?1";
    let audited = |action: &str| site.change(|tx| Ok(tx.get::<i64>(sql, [action])?));
    assert_eq!(audited("signer.added"), 1);
    let number = ines.id.to_string();
    for _ in 0..2 {
        let removed = admin.post("/desk/site/signers/remove", &[("member", &*number), ("programme", "Instructor")]);
        assert_eq!(removed.header("location"), Some("/desk/site/signers?done=removed"), "{removed}");
    }
    assert_eq!(audited("signer.removed"), 1);
    // A clerk who is no admin neither sees the list nor changes it.
    assert_eq!(desk.get("/desk/site/signers").status, 403);
    assert_eq!(
        desk.post("/desk/site/signers", &[("member", "ines"), ("programme", "Instructor"), ("first", "4")]).status,
        403
    );
}
