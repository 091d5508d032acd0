//! A member who was just registered: what is done, and what can be done next; and the code on paper.

use super::PART;
use crate::app;
use crate::app::claims;
use crate::auth::{Clerk, count_document};
use crate::documents::printout::account_slip::{self, AccountSlip};
use crate::domain::when;
use crate::http::Answer;
use crate::http::call::Call;
use crate::http::failure::Failure;
use crate::http::reply;
use crate::i18n::language::Text;
use crate::site::Site;
use crate::store::tables::{account_claims, members, tunnels};
use crate::web::{Frame, called, done, show as shown};
use askama::Template;
use http::StatusCode;

const DONE: [(&str, &str); 2] = [("registered", "newcomer.done_registered"), ("here", "newcomer.done_here")];

#[derive(Template)]
#[template(path = "desk/welcome.html", config = "assets/templates/askama.toml")]
struct Page {
    frame: Frame,
    member_id: i64,
    name: String,
    username: String,
    /// Where the link went, and until when it works, in words; none where none went.
    mailed: Option<String>,
    /// Whether a code can be printed: nobody has taken the account over.
    may_print: bool,
    charges: bool,
}

/// `GET /desk/members/{member_id}/welcome`
pub(crate) fn show(site: &Site, call: &Call, clerk: &Clerk) -> Answer {
    let member_id = call.param_id(0).ok_or_else(Failure::not_found)?;
    let mut frame = Frame::of(site, call, clerk, PART)?;
    frame.done = done(call, &DONE);
    let (zone, language, now) = (site.time_zone()?, call.language(), site.now());
    let (profile, account, mailed, is_unclaimed) = site.store.read(|tx| {
        let profile = members::find(tx, member_id)?.ok_or_else(Failure::not_found)?;
        let account = members::find_account_by_id(tx, member_id)?.ok_or_else(Failure::not_found)?;
        let is_unclaimed = account_claims::is_unclaimed(tx, member_id)?;
        Ok((profile, account, account_claims::find_mailed(tx, member_id, now)?, is_unclaimed))
    })?;
    let is_open = is_unclaimed && clerk.denial(&account).is_none();
    let say_mailed = |ends_at: i64| {
        let text = Text::new("newcomer.mailed").with("address", &profile.email);
        language.say(&text.with("until", when::day(language, &zone, ends_at)))
    };
    let page = Page {
        member_id,
        name: called(&profile.real_name, &profile.screen_name, &profile.username).to_owned(),
        username: profile.username.clone(),
        mailed: mailed.filter(|_| is_open).map(say_mailed),
        may_print: is_open,
        charges: site.config.yearly_fee_cents > 0,
        frame,
    };
    Ok(shown(StatusCode::OK, language, &page))
}

/// `POST /desk/members/{member_id}/slip`: a PDF with a new code, by which the owner opens the account; shown this once.
pub(crate) fn print(site: &Site, call: &Call, clerk: &Clerk) -> Answer {
    let member_id = call.param_id(0).ok_or_else(Failure::not_found)?;
    count_document(site, clerk.id(), clerk.role())?;
    let printed = app::change(site, clerk, call.language(), |cx| claims::print(cx, member_id))?;
    let language = printed.language;
    let (profile, home, zone) = site.store.read(|tx| {
        let profile = members::find(tx, member_id)?.ok_or_else(Failure::not_found)?;
        let home = tunnels::find(tx, site.tunnel_id)?.ok_or_else(Failure::broken)?;
        Ok((profile, home, tunnels::find_time_zone(tx, site.tunnel_id)?))
    })?;
    let say = |text: Text| language.say(&text);
    let url = format!("{}/claim", site.public_url());
    let slip = AccountSlip {
        site_name: home.name,
        site_city: home.city,
        title: say(Text::new("claim.slip_title")),
        name: called(&profile.real_name, &profile.screen_name, &profile.username).to_owned(),
        number: format!("{} {member_id}", say(Text::new("desk.number"))),
        lines: vec![
            say(Text::new("claim.slip_how").with("site", &url)),
            say(Text::new("claim.slip_until").with("until", when::day(language, &zone, printed.ends_at))),
        ],
        code_word: say(Text::new("claim.code")),
        link: format!("{url}?code={}", printed.code),
        code: printed.code,
        language,
    };
    let pdf = site.draw(move || account_slip::draw(&slip))?.map_err(|e| Failure::broken().because(e))?;
    Ok(reply::file("application/pdf", "inline", &format!("account-{member_id}.pdf"), pdf))
}
