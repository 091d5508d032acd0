//! The page after a registration at the desk, and the printed code that opens the account.

use super::PART;
use crate::app;
use crate::app::{claims, family, flights};
use crate::auth::{Clerk, count_document};
use crate::domain::ids::MemberId;
use crate::domain::when;
use crate::http::Answer;
use crate::http::call::Call;
use crate::http::failure::Failure;
use crate::http::reply;
use crate::i18n::language::Text;
use crate::moment::Moment;
use crate::site::Site;
use crate::store::Read;
use crate::store::tables::{account_claims, guardianships, members};
use crate::web::desk::slip::{self, Recipient};
use crate::web::{Frame, path_id, show as shown};
use askama::Template;
use http::StatusCode;

const DONE: [(&str, &str); 3] =
    [("registered", "newcomer.done_registered"), ("here", "newcomer.done_here"), ("waits", "newcomer.done_waits")];

#[derive(Template)]
#[template(path = "desk/welcome.html", config = "assets/templates/askama.toml")]
struct Page {
    frame: Frame,
    member_id: MemberId,
    name: String,
    username: String,
    /// Text about the mailed link; `None` where none was mailed.
    mailed: Option<String>,
    /// Whether a code can be printed, because the account has no owner yet.
    may_print: bool,
    charges: bool,
    /// Whether the member must sign the waiver before a flight.
    wants_waiver: bool,
    /// On whose waiver page the waiver is signed: a parent signs for the children too.
    signer_id: MemberId,
    /// Whose children may be registered next.
    parent_id: Option<MemberId>,
}

/// `GET /desk/members/{member_id}/welcome`
pub(crate) fn show(site: &Site, call: &Call, clerk: &Clerk) -> Answer {
    let member_id = path_id(call, 0)?;
    let frame = Frame::after_action(site, call, clerk, PART, &DONE)?;
    let (zone, language, now) = (site.time_zone()?, call.language(), site.now());
    let (profile, account, families, mailed, is_unclaimed, wants_waiver) = site.store.read(|tx| {
        let profile = members::find(tx, member_id)?.ok_or_else(Failure::not_found)?;
        let account = members::find_account_by_id(tx, member_id)?.ok_or_else(Failure::not_found)?;
        let is_unclaimed = account_claims::is_unclaimed(tx, member_id)?;
        let wants_waiver = flights::find_denial(site, tx, member_id, now)?.is_some();
        let families = if site.config.waiver.required { Some(family_of(site, tx, member_id)?) } else { None };
        Ok((profile, account, families, account_claims::find_mailed(tx, member_id, now)?, is_unclaimed, wants_waiver))
    })?;
    let is_open = is_unclaimed && clerk.denial(&account).is_none();
    let say_mailed = |ends_at: Moment| {
        let text = Text::new("newcomer.mailed").with("address", &profile.email);
        language.say(&text.with("until", when::day(language, &zone, ends_at)))
    };
    let page = Page {
        member_id,
        name: profile.display_name().to_owned(),
        username: profile.username.clone(),
        mailed: mailed.filter(|_| is_open).map(say_mailed),
        may_print: is_open,
        wants_waiver,
        signer_id: families.flatten().unwrap_or(member_id),
        parent_id: families.flatten(),
        charges: site.config.yearly_fee_cents > 0,
        frame,
    };
    Ok(shown(StatusCode::OK, language, &page))
}

/// The adult of a new member's family: the member, or a child's first guardian; `None` for a child without one.
fn family_of(site: &Site, tx: &Read, member_id: MemberId) -> Result<Option<MemberId>, Failure> {
    if family::may_act(site, tx, member_id)? {
        return Ok(Some(member_id));
    }
    Ok(guardianships::list_of_child(tx, member_id)?.first().map(|one| one.guardian_id))
}

/// `POST /desk/members/{member_id}/slip`: a PDF with a new code that opens the account; earlier codes stop working.
pub(crate) fn print(site: &Site, call: &Call, clerk: &Clerk) -> Answer {
    let member_id = path_id(call, 0)?;
    count_document(site, clerk.id(), clerk.role())?;
    let printed = app::change(site, clerk, call.language(), |cx| claims::print(cx, member_id))?;
    let profile = site.store.read(|tx| members::find(tx, member_id)?.ok_or_else(Failure::not_found))?;
    let language = printed.language;
    let recipient = Recipient {
        title: "claim.slip_title",
        name: profile.display_name().to_owned(),
        about: format!("{} {member_id}", language.say(&Text::new("desk.number"))),
    };
    let pdf = slip::pdf(site, language, recipient, printed.code, printed.ends_at)?;
    Ok(reply::file("application/pdf", "inline", &format!("account-{member_id}.pdf"), pdf))
}
