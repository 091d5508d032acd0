//! Whom the tunnel lets sign for others, the first signers of a new tunnel too. For admins.

use super::PART;
use crate::app::signers::{self, FIRST_LEVELS, NewAppointment, NotAppointed, Standing};
use crate::app::{self, Outcome};
use crate::auth::Clerk;
use crate::domain::ids::MemberId;
use crate::domain::when;
use crate::http::Answer;
use crate::http::call::Call;
use crate::http::failure::{Failure, Stop};
use crate::http::{fields, reply};
use crate::i18n::language::Text;
use crate::site::Site;
use crate::store::tables::signers as listed;
use crate::web::badge::PROGRAMMES;
use crate::web::desk::members::search::{self, NotOne};
use crate::web::{Frame, form_status, read_form, show as shown};
use askama::Template;

const DONE: [(&str, &str); 2] = [("appointed", "signers.done_appointed"), ("removed", "signers.done_removed")];

#[derive(Template)]
#[template(path = "desk/signers.html", config = "assets/templates/askama.toml")]
struct Page {
    frame: Frame,
    signers: Vec<Signer>,
    sent: Sent,
    /// Name, word, and whether it is chosen.
    programmes: Vec<(&'static str, String, bool)>,
    problem: Option<String>,
}

struct Signer {
    member_id: MemberId,
    name: String,
    /// The programme as the catalogue spells it, and in words.
    programme: String,
    word: String,
    standing: String,
    since: String,
}

/// The form, as typed.
#[derive(Default)]
struct Sent {
    member: String,
    programme: String,
    /// The level of a first signer; empty for a signer who holds one.
    first: String,
}

/// `GET /desk/site/signers`
pub(crate) fn list(site: &Site, call: &Call, clerk: &Clerk) -> Answer {
    page(site, call, clerk, Sent { programme: "Instructor".to_owned(), ..Sent::default() }, None)
}

/// `POST /desk/site/signers`: appoints a signer.
pub(crate) fn appoint(site: &Site, call: &Call, clerk: &Clerk) -> Answer {
    let sent = read_form(call, |form| Sent {
        member: form.line("member", 254),
        programme: form.line("programme", 40),
        first: form.line("first", 3),
    })?;
    let first = sent.first.parse::<u8>().ok().filter(|level| FIRST_LEVELS.contains(level));
    let Some(programme) = find_programme(site, &sent.programme) else { return Err(Failure::not_found()) };
    let member_id = match search::find_one(site, &sent.member) {
        Ok(member_id) => member_id,
        Err(stop) => return page(site, call, clerk, sent, Some(not_one(&stop.denial()?))),
    };
    if first.is_none() && !sent.first.is_empty() {
        return page(site, call, clerk, sent, Some(Text::new("signers.no_level")));
    }
    let new = NewAppointment { tunnel_id: site.tunnel_id, member_id, programme, first };
    match app::try_change(site, clerk, call.language(), |cx| signers::appoint(cx, &new)) {
        Ok(()) => Ok(reply::see_other(&format!("{PART}/signers?done=appointed"))),
        Err(Stop::Denied(why)) => page(site, call, clerk, sent, Some(refusal(&why))),
        Err(Stop::Failed(failure)) => Err(failure),
    }
}

/// `POST /desk/site/signers/remove`
pub(crate) fn remove(site: &Site, call: &Call, clerk: &Clerk) -> Answer {
    let (member_id, programme) =
        read_form(call, |form| (form.required("member", fields::id), form.line("programme", 40)))?;
    let Some(programme) = find_programme(site, &programme) else { return Err(Failure::not_found()) };
    let _: Outcome =
        app::change(site, clerk, call.language(), |cx| signers::remove(cx, member_id, cx.site.tunnel_id, programme))?;
    Ok(reply::see_other(&format!("{PART}/signers?done=removed")))
}

fn find_programme(site: &Site, name: &str) -> Option<&'static str> {
    signers::programmes(site.config.catalogue).into_iter().find(|one| *one == name)
}

fn not_one(why: &NotOne) -> Text {
    match why {
        NotOne::TwoAccounts => Text::new("desk.member_two"),
        NotOne::Nobody => Text::new("signers.nobody"),
        NotOne::Several(hits) | NotOne::Similar(hits) => Text::new("family.several").with("who", search::named(hits)),
    }
}

fn refusal(why: &NotAppointed) -> Text {
    match why {
        NotAppointed::NoTunnel | NotAppointed::NoLevel => Text::new("signers.no_level"),
        NotAppointed::ListedAlready => Text::new("signers.listed"),
        NotAppointed::HoldsNone => Text::new("signers.holds_none"),
        NotAppointed::NotNeeded(name) => Text::new("signers.not_needed").with("name", name),
    }
}

fn page(site: &Site, call: &Call, clerk: &Clerk, sent: Sent, problem: Option<Text>) -> Answer {
    let (language, zone, now) = (call.language(), site.time_zone()?, site.now());
    let word = |programme: &str| {
        let key = PROGRAMMES.iter().find(|(name, _)| *name == programme).map(|(_, key)| *key);
        key.map_or_else(|| programme.to_owned(), |key| call.say(key))
    };
    let standing = |standing: Standing| {
        language.say(&match standing {
            Standing::StandsInFor(level) => Text::new("signers.stands_in").with("level", level),
            Standing::HoldsNone => Text::new("signers.holds_no_level"),
            Standing::Holds { level, is_current: true } => Text::new("signers.holds").with("level", level),
            Standing::Holds { level, .. } => Text::new("signers.not_current").with("level", level),
        })
    };
    let signers = site.store.read(|tx| {
        let all = listed::list(tx, site.tunnel_id)?.into_iter().map(|one| {
            Ok(Signer {
                standing: standing(Standing::read(tx, &one, now)?),
                since: when::day(language, &zone, one.appointed_at),
                name: if one.screen_name.is_empty() { one.username } else { one.screen_name },
                word: word(&one.cat_group),
                member_id: one.member_id,
                programme: one.cat_group,
            })
        });
        all.collect::<Result<Vec<Signer>, Failure>>()
    })?;
    let programmes = signers::programmes(site.config.catalogue);
    let page = Page {
        frame: Frame::after_action(site, call, clerk, PART, &DONE)?,
        signers,
        programmes: programmes.into_iter().map(|one| (one, word(one), one == sent.programme)).collect(),
        sent,
        problem: problem.map(|text| language.say(&text)),
    };
    Ok(shown(form_status(page.problem.is_some()), language, &page))
}
