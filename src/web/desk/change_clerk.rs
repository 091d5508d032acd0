//! *Change of clerk*: a colleague takes over this browser by PIN, on the same page, with their own session.

use super::sign_in::safe_target;
use crate::app;
use crate::auth::clerk_switch::{self, Colleague, SwitchOutcome};
use crate::auth::{Clerk, clerk};
use crate::domain::ids::MemberId;
use crate::http::Answer;
use crate::http::call::Call;
use crate::http::fields;
use crate::http::reply;
use crate::site::Site;
use crate::web::{Form, Frame, form_status, read_form, show};
use askama::Template;

const PIN_CHARS_MAX: usize = 20;

#[derive(Template)]
#[template(path = "desk/change_clerk.html", config = "assets/templates/askama.toml")]
struct Page {
    frame: Frame,
    colleagues: Vec<Colleague>,
    /// Member ID of the chosen colleague.
    chosen: MemberId,
    to: String,
    /// Name of the signed-in clerk.
    now: Option<String>,
    problem: Option<String>,
}

/// `GET /desk/sign-in/change`: lists the colleagues. `to` is the page to return to.
pub(crate) fn show_form(site: &Site, call: &Call) -> Answer {
    let to = Form(call.query()).line("to", 200);
    page(site, call, &to, MemberId(0), None)
}

/// `POST /desk/sign-in/change`: signs a colleague in by PIN.
pub(crate) fn change(site: &Site, call: &Call) -> Answer {
    let (member, pin, to) = read_form(call, |form| {
        (form.optional("member", fields::id), form.optional("pin", fields::line(PIN_CHARS_MAX)), form.line("to", 200))
    })?;
    let (Some(member_id), Some(pin)) = (member, pin) else {
        return page(site, call, &to, member.unwrap_or_default(), Some("change.missing"));
    };
    let leaving: Option<Clerk> = clerk::find(site, call)?;
    let changed = app::change_by_stranger(site, call, |cx| {
        clerk_switch::by_pin(site, call, cx.tx, leaving.as_ref(), member_id, &pin)
    })?;
    match changed {
        SwitchOutcome::In { token, waiting } => {
            let reply = clerk::SESSION.set(site, call, reply::see_other(&safe_target(&to)), &token);
            Ok(clerk_switch::with_parked_cookie(site, call, reply, &waiting))
        }
        SwitchOutcome::Refused(key) => page(site, call, &to, member_id, Some(key)),
    }
}

fn page(site: &Site, call: &Call, to: &str, chosen: MemberId, problem: Option<&'static str>) -> Answer {
    let frame = Frame::outside(site, call)?;
    let open = clerk::find(site, call)?;
    let now = match &open {
        Some(clerk) => Frame::of(site, call, clerk, "/desk")?.clerk,
        None => None,
    };
    let colleagues = site.store.read(|tx| clerk_switch::list(site, call, tx, site.now()))?;
    let others = colleagues.into_iter().filter(|one| Some(one.member_id) != open.as_ref().map(Clerk::id));
    let colleagues: Vec<Colleague> = others.collect();
    if colleagues.is_empty() && open.is_none() {
        return Ok(reply::see_other("/desk/sign-in"));
    }
    let chosen = if chosen.0 > 0 { chosen } else { colleagues.first().map_or(chosen, |one| one.member_id) };
    let status = form_status(problem.is_some());
    let problem = problem.map(|key| frame.say(key));
    Ok(show(status, call.language(), &Page { frame, colleagues, chosen, to: safe_target(to), now, problem }))
}

impl Page {
    fn is_chosen(&self, member_id: &MemberId) -> bool {
        self.chosen == *member_id
    }

    fn chosen_name(&self) -> &str {
        let chosen = self.colleagues.iter().find(|one| one.member_id == self.chosen);
        chosen.map_or("", |one| &one.username)
    }
}
