//! The list of a member's sessions.

use crate::harness::{Caller, Site};
use serde_json::Value;
use std::time::Duration;

const SESSIONS: &str = "/account/profile/sessions";

fn list(member: &Caller) -> Vec<Value> {
    member.get(SESSIONS).ok().json().as_array().unwrap().clone()
}

fn ids(member: &Caller, this: bool) -> Vec<String> {
    let listed = list(member).into_iter().filter(|one| one["this"] == this);
    listed.map(|one| one["session_id"].as_str().unwrap().to_owned()).collect()
}

#[test]
fn a_member_sees_the_own_sessions_and_ends_one_or_all_others() {
    let site = Site::open();
    let (jane, mark) = (site.member("jane"), site.member("mark"));
    let (second, third) = (site.again(&jane), site.again(&jane));
    assert_eq!((ids(&jane, true).len(), ids(&jane, false).len(), list(&mark).len()), (1, 2, 1));
    let own = ids(&second, true).remove(0);
    mark.delete(&format!("{SESSIONS}/{own}")).refused(404);
    jane.delete(&format!("{SESSIONS}/{own}")).ok();
    second.get(SESSIONS).refused(401);
    jane.delete(SESSIONS).ok();
    third.get(SESSIONS).refused(401);
    assert_eq!(list(&jane).len(), 1);
    mark.get(SESSIONS).ok();
}

#[test]
fn an_ended_session_is_not_listed() {
    let site = Site::open();
    let jane = site.member("jane");
    site.advance(Duration::from_secs(29 * 86_400));
    let second = site.again(&jane);
    site.advance(Duration::from_secs(2 * 86_400));
    assert_eq!(list(&second).len(), 1);
    let ends_at = list(&second)[0]["ends_at"].as_i64().unwrap();
    assert_eq!(ends_at - site.now(), 30 * 86_400, "30 days from its last use, which is now");
}
