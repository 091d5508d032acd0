//! The site pages: backups and drills, mail, roles, system status.

use super::{Clerk, HOSTILE, demo};
use crate::harness::{Site, senders};
use serde_json::json;
use tunneldesk::config::OffSiteLocation;
use tunneldesk::moment::Moment;

#[test]
fn a_backup_and_a_drill_are_made_from_the_desk() {
    let site = demo();
    let admin = Clerk::at(&site, &site.admin());
    let before = admin.get("/desk/site").page();
    assert!(before.contains(&format!("role=\"img\" aria-label=\"{}\"><svg", site.inside().public_url())), "{before}");
    let none = "Make the first backup: tunneldesk backup";
    assert!(before.contains(none) && before.contains("runs the first restore drill by itself"), "{before}");
    let drilled = admin.post("/desk/site/drill", &[]);
    assert_eq!(drilled.header("location"), Some("/desk/site?done=begun#backups"), "{drilled}");
    assert!(admin.settled("/desk/site").contains("The restore drill failed: there is no backup yet"));
    admin.post("/desk/site/backup", &[]);
    let page = admin.settled("/desk/site");
    assert!(page.contains("is made and verified") && !page.contains(none), "{page}");
    admin.post("/desk/site/drill", &[]);
    let page = admin.settled("/desk/site");
    assert!(page.contains("can be restored") && page.contains("Last restore drill"), "{page}");
}

#[test]
fn damage_by_the_disk_and_changes_by_other_programs_are_shown() {
    use tunneldesk::store::alarm::{self, Kind};
    let site = demo();
    let admin = Clerk::at(&site, &site.admin());
    let told = [
        (Kind::Changed, "page 7 is", "was not what this program had written"),
        (Kind::Damage, "page 8 is", "The database is damaged"),
        (Kind::SpoiltBackup, "2026-01-01T00", "is no longer what was written"),
    ];
    for (kind, cause, words) in told {
        assert!(!admin.get("/desk/site").page().contains(words), "{kind:?}");
        alarm::raise(&site.inside().config.data, kind, Moment(1_800_000_000), cause);
        let page = admin.get("/desk/site").page();
        assert!(page.contains(words) && page.contains(cause), "{kind:?}: {page}");
        alarm::clear(&site.inside().config.data, kind);
    }
}

#[test]
fn admin_actions_are_refused_to_clerks() {
    let site = crate::harness::Site::open_with(|config| (config.demo, config.waiver.required) = (true, true));
    let clerk = Clerk::at(&site, &site.desk());
    let rows = site.rows();
    for path in ["/desk/site", "/desk/site/users", "/desk/site/signers", "/desk/texts"] {
        let refused = clerk.get(path);
        assert!(refused.status == 403 && refused.page().contains("Admins only"), "{refused}");
    }
    let page = clerk.get("/desk").page();
    assert!(page.contains("Nobody is appointed") && page.contains("no text is published"), "{page}");
    assert!(!page.contains("/desk/site") && !page.contains("/desk/texts"), "no link that leads to a refusal: {page}");
    for path in ["/desk/site/backup", "/desk/site/drill", "/desk/site/users"] {
        assert_eq!(clerk.post(path, &[("member", "1"), ("role", "admin")]).status, 403, "{path}");
    }
    assert_eq!(site.rows(), rows);
}

#[test]
fn a_new_role_ends_the_sessions_of_the_account() {
    let site = demo();
    let (jane, boss) = (site.member("jane"), site.admin());
    let admin = Clerk::at(&site, &boss);
    let given = admin.post("/desk/site/users", &[("member", "jane"), ("role", "desk")]);
    assert_eq!(given.header("location"), Some("/desk/site/users?done=role"), "{given}");
    jane.get("/account/profile/user").refused(401);
    assert!(admin.get("/desk/site/users").page().contains("Front desk"));
    Clerk::at(&site, &jane);
    for (member, role, said) in [
        (boss.name.as_str(), "member", "Nobody changes their own role"),
        ("nobody", "desk", "No account has that number"),
        ("jane", "root", "there is no such role"),
        (HOSTILE, "desk", "No account has that number"),
    ] {
        let refused = admin.post("/desk/site/users", &[("member", member), ("role", role)]);
        assert!(refused.status == 422 && refused.page().contains(said), "{refused}");
        assert!(!refused.page().contains("<script>"), "{refused}");
    }
    assert_eq!(admin.get("/desk/site/users").status, 200, "the admin is one yet");
}

#[test]
fn a_test_message_goes_to_the_clerk_s_own_address() {
    let site = Site::open_with(|config| {
        config.demo = true;
        config.mail = Some(senders::mail_to_nowhere());
    });
    let desk = site.admin();
    let clerk = Clerk::at(&site, &desk);
    assert!(clerk.get("/desk/site").page().contains("No test message of yours yet"));
    assert_eq!(clerk.post("/desk/site/mail-test", &[]).status, 303);
    assert!(clerk.get("/desk/site").page().contains("test message"));
    let own = desk.get("/account/profile/user").ok().json()["email"].clone();
    let sent: (String, String) = site.change(|tx| Ok(tx.get("SELECT recipient, template FROM outbox", [])?));
    assert_eq!(json!(sent), json!([own, "test"]));
    let other = demo();
    let refused = Clerk::at(&other, &other.admin()).post("/desk/site/mail-test", &[]);
    assert!(refused.status == 422 && refused.page().contains("Name a mail server"), "{refused}");
}

#[test]
fn the_progress_of_the_off_site_backup_is_shown_beside_the_backups() {
    let backups = |site: &Site| {
        let page = Clerk::at(site, &site.admin()).get("/desk/site").page().to_owned();
        let section = page.split("id=\"backups\"").nth(1).and_then(|rest| rest.split("</section>").next());
        section.expect(&page).to_owned()
    };
    let said = "writes go off the site";
    assert!(!backups(&demo()).contains(said), "there is none");
    let elsewhere = tempfile::tempdir().unwrap();
    let site = Site::open_with(|config| {
        config.demo = true;
        config.backup.off_site = Some(OffSiteLocation::Directory(elsewhere.path().to_owned()));
    });
    let with = backups(&site);
    assert!(with.contains(said), "{with}");
}

#[test]
fn problems_are_listed_first_and_passed_checks_are_collapsed() {
    let site = demo();
    let page = Clerk::at(&site, &site.admin()).get("/desk/site").page();
    let at = |words: &str| page.find(words).unwrap_or_else(|| panic!("no {words}: {page}"));
    assert!(at("Make the first backup") < at("<details class=\"passed\">"), "{page}");
    assert!(at("<details class=\"passed\">") < at("The database can be read and written."), "{page}");
    let passed = page[at("class=\"passed\"")..at("checks passed")].rsplit('>').next().unwrap().trim().parse::<usize>();
    let folded = page[at("checks passed")..].split("</details>").next().unwrap().matches("badge good").count();
    assert_eq!(passed, Ok(folded), "{page}");
}
