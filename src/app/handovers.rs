//! The handover at majority: a child and each guardian are told, once, of the day from which nobody acts for the child any more.

use super::Change;
use crate::domain::age;
use crate::domain::audit::{Detail, Subject};
use crate::domain::ids::MemberId;
use crate::http::failure::Failure;
use crate::moment::Moment;
use crate::store::tables::outbox::{self, Channel};
use crate::store::tables::{guardianships, members, notices, tunnels};
use serde_json::{Value, json};

/// How long before the day it is announced; and how long after it, where the site did not run before.
const AROUND_SECONDS: i64 = 30 * 86_400;
/// The length of a year of the calendar, on average.
const YEAR_SECONDS: i64 = 31_556_952;

/// Announces every handover that is near and was not announced. Returns how many children come of age.
pub(crate) fn announce(cx: &Change) -> Result<usize, Failure> {
    let settings = &cx.site.config.waiver;
    if !settings.required {
        return Ok(0);
    }
    let years = settings.guardian_below_years;
    let born = cx.now() - years * YEAR_SECONDS;
    // Two days more than needed: years differ by a day.
    let span = (born - AROUND_SECONDS - 2 * 86_400, born + AROUND_SECONDS + 2 * 86_400);
    let zone = tunnels::find_time_zone(cx.tx, cx.site.tunnel_id)?;
    let mut announced = 0;
    for (child_id, dob) in guardianships::list_unannounced(cx.tx, span)? {
        let day = age::birthday(dob, years).and_then(|date| zone.moment(date.at(12, 0, 0, 0)));
        if let Some(day) = day.filter(|day| (*day - cx.now()).abs() <= AROUND_SECONDS) {
            announce_one(cx, child_id, day)?;
            announced += 1;
        }
    }
    Ok(announced)
}

fn announce_one(cx: &Change, child_id: MemberId, day: Moment) -> Result<(), Failure> {
    let guardians = guardianships::list_of_child(cx.tx, child_id)?;
    tell(cx, child_id, "notice.of_age", &json!({ "of_age_date": day }))?;
    for one in &guardians {
        let detail = json!({ "name": one.child, "of_age_date": day });
        tell(cx, one.guardian_id, "notice.ward_of_age", &detail)?;
    }
    guardianships::set_announced(cx.tx, child_id)?;
    cx.record(
        "guardian.announced",
        &Subject::Member(child_id),
        &Detail::none().number("guardians", guardians.len() as i64),
    )
}

/// A notice, and a mail where the site sends any and the member has a confirmed address.
fn tell(cx: &Change, member_id: MemberId, subject: &'static str, detail: &Value) -> Result<(), Failure> {
    notices::insert(cx.tx, member_id, subject, &detail.to_string())?;
    if cx.site.config.mail.is_none() {
        return Ok(());
    }
    let Some((recipient, language)) = members::find_correspondence(cx.tx, member_id)? else { return Ok(()) };
    let new = outbox::NewMessage {
        channel: Channel::Email,
        member_id: Some(member_id),
        recipient: &recipient,
        language: &language,
        template: "notice",
        values: &json!({ "subject": subject, "detail": detail }),
    };
    outbox::insert(cx.tx, &cx.site.keys, &new)?;
    Ok(())
}
