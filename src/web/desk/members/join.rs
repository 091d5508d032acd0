//! Joining a member's account with another one of the same person. For admins.

use super::PART;
use super::heading::{self, Heading};
use super::search::{self, Hit};
use crate::app::{self, joining};
use crate::auth::Clerk;
use crate::domain::ids::MemberId;
use crate::http::Answer;
use crate::http::call::Call;
use crate::http::failure::Failure;
use crate::http::fields;
use crate::http::reply;
use crate::i18n::language::{Language, Text};
use crate::site::Site;
use crate::store::queries::joining::JoinedRows;
use crate::store::tables::{joins, members};
use crate::web::{Frame, field_error_text, form_status, path_id, query_text, read_form, show as shown};
use askama::Template;

#[derive(Template)]
#[template(path = "desk/join.html", config = "assets/templates/askama.toml")]
struct Page {
    frame: Frame,
    /// The account that survives.
    heading: Heading,
    plan: Option<Plan>,
    typed: String,
    hits: Vec<Hit>,
    problem: Option<String>,
}

/// What joining one account into the member's would do.
struct Plan {
    /// The account that closes.
    joined: Heading,
    moves: Vec<String>,
    stays: Vec<String>,
    /// Why the two cannot be joined.
    refusals: Vec<String>,
}

/// `GET /desk/members/{member_id}/join`: the choice of the other account by `q`; with its number as `with`, what a join does.
pub(crate) fn show(site: &Site, call: &Call, clerk: &Clerk) -> Answer {
    page(site, call, clerk, query_text(call, "with").parse().ok(), None)
}

/// `POST /desk/members/{member_id}/join`: joins the account `with` into the member's.
pub(crate) fn join(site: &Site, call: &Call, clerk: &Clerk) -> Answer {
    let (member_id, joined_id) = (path_id(call, 0)?, read_form(call, |form| form.required("with", fields::id))?);
    match app::change(site, clerk, call.language(), |cx| joining::join(cx, joined_id, member_id)) {
        Ok(()) => Ok(reply::see_other(&format!("{PART}/{member_id}?done=joined"))),
        Err(failure) => {
            let problem = field_error_text(failure, call.language())?;
            page(site, call, clerk, Some(joined_id), Some(problem))
        }
    }
}

/// `POST /desk/members/{member_id}/join/undo`: undoes the join of the account `with`.
pub(crate) fn undo(site: &Site, call: &Call, clerk: &Clerk) -> Answer {
    let joined_id = read_form(call, |form| form.required("with", fields::id))?;
    app::change(site, clerk, call.language(), |cx| joining::undo(cx, joined_id))?;
    Ok(reply::see_other(&format!("{PART}/{}?done=unjoined", call.param(0))))
}

/// `POST /desk/members/{member_id}/alike`: a member who signed up alone is another person than the one who is alike.
pub(crate) fn tell_apart(site: &Site, call: &Call, clerk: &Clerk) -> Answer {
    let member_id = path_id(call, 0)?;
    app::change(site, clerk, call.language(), |cx| joining::settle_alike(cx, member_id))?;
    Ok(reply::see_other(&format!("{PART}/{member_id}?done=apart")))
}

fn page(site: &Site, call: &Call, clerk: &Clerk, with: Option<MemberId>, problem: Option<String>) -> Answer {
    let (member_id, typed) = (path_id(call, 0)?, query_text(call, "q"));
    let frame = Frame::of(site, call, clerk, PART)?;
    let (heading, plan) = site.store.read(|tx| {
        // An account that was joined already leads to the one that survived.
        let member_id = joins::survivor_of(tx, member_id)?;
        let heading = heading::read(site, tx, call, member_id)?;
        let Some(joined_id) = with.map(|with| joins::survivor_of(tx, with)).transpose()? else {
            return Ok((heading, None));
        };
        let find = |id| members::find_account_by_id(tx, id)?.ok_or_else(Failure::not_found);
        let preview = joining::preview(tx, &find(joined_id)?, &find(member_id)?)?;
        let joined = heading::read(site, tx, call, joined_id)?;
        let plan = plan(call.language(), joined, &preview);
        Ok((heading, Some(plan)))
    })?;
    let mut hits = if typed.is_empty() { Vec::new() } else { search::find(site, &typed)?.hits };
    hits.retain(|hit| hit.member_id != heading.member_id);
    let status = form_status(problem.is_some());
    Ok(shown(status, call.language(), &Page { frame, heading, plan, typed, hits, problem }))
}

fn plan(language: Language, joined: Heading, found: &joining::Preview) -> Plan {
    let say = |key| language.say(&Text::new(key));
    let counted = |part: &JoinedRows, count: i64| {
        let value = |name: &str| (name == "count").then(|| count.to_string());
        Text::find(&format!("join.part.{}", part.table), value).map(|text| language.say(&text)).unwrap_or_default()
    };
    let there = |part: &JoinedRows| language.say(&Text::new("join.there").with("what", counted(part, part.stays)));
    let moves = found.parts.iter().filter(|part| part.moves > 0).map(|part| counted(part, part.moves));
    let led = language.say(&Text::new("join.led").with("number", joined.member_id));
    let stays = found.parts.iter().filter(|part| part.stays > 0).map(there);
    Plan {
        joined,
        moves: moves.chain([say("join.paid"), led]).collect(),
        stays: [say("join.own"), say("join.about")].into_iter().chain(stays).collect(),
        refusals: found.refusals.iter().map(|key| say(key)).collect(),
    }
}
