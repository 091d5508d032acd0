//! Access to the logbooks of others, on every row of the table that names a member.

use crate::harness::{Caller, Reply, Site};
use std::time::Duration;
use tunneldesk::routes::{ROUTES, Route};

fn rows() -> impl Iterator<Item = &'static Route> {
    let reads = |route: &&Route| route.method == http::Method::GET;
    ROUTES.iter().filter(reads).filter(|route| route.path.contains("{member_id}"))
}

fn ask(reader: &Caller, route: &Route, member: &str) -> Reply {
    let path = route.path.replace("{status}", "all").replace("{category}", "Flyer");
    reader.get(&path.replace("{member_id}", member))
}

#[test]
fn a_member_the_desk_the_admins_and_current_instructors_read_it_and_nobody_else() {
    let site = Site::open();
    let (jane, mark, instructor) = (site.flyer("jane"), site.flyer("mark"), site.instructor("ines"));
    let (desk, admin) = (site.desk(), site.admin());
    assert!(rows().count() >= 12);
    for route in rows() {
        let own = ask(&jane, route, &jane.id.to_string()).ok();
        for reader in [&desk, &admin, &instructor] {
            let theirs = ask(reader, route, &jane.id.to_string()).ok();
            assert_eq!(theirs.body, own.body, "{theirs}");
        }
        ask(&mark, route, &jane.id.to_string()).refused(403);
        ask(&site.stranger(), route, &jane.id.to_string()).refused(401);
        for nobody in ["999999", "x", "-1", "0", "99999999999999999999"] {
            ask(&mark, route, nobody).refused(403);
            ask(&desk, route, nobody).refused(404);
            ask(&instructor, route, nobody).refused(404);
        }
    }
    site.advance(Duration::from_secs(400 * 86_400));
    let lapsed = site.again(&instructor);
    for route in rows() {
        ask(&lapsed, route, &jane.id.to_string()).refused(403);
    }
}

#[test]
fn somebody_who_has_done_nothing_yet_has_a_logbook_too() {
    let site = Site::open();
    let nora = site.member("nora");
    for route in rows() {
        let reply = ask(&nora, route, &nora.id.to_string()).ok();
        assert!(!reply.body.is_empty(), "{reply}");
    }
}

#[test]
fn words_that_the_catalogue_does_not_have_break_no_list() {
    let site = Site::open();
    let jane = site.flyer("jane");
    super::given::foreign(&site, &jane);
    site.hold(&jane, "Pilot", "9", "Loops", site.now());
    for route in rows() {
        ask(&jane, route, &jane.id.to_string()).ok();
    }
}
