//! The waiver and the family: until when it is signed, the signed papers, and the card of each child for whom the member acts,
//! with one way to sign for all who need it.

use super::frame::Shell;
use super::{card, show};
use crate::app::waivers::{self, Due, consents as effect, paper};
use crate::app::{self, Outcome, flights};
use crate::auth::{Member, count_document};
use crate::documents::qr;
use crate::domain::ids::{MemberId, SignatureId};
use crate::domain::local_time::TimeZone;
use crate::domain::when;
use crate::http::Answer;
use crate::http::call::Call;
use crate::http::failure::Failure;
use crate::http::reply;
use crate::i18n::language::{Language, Text};
use crate::site::Site;
use crate::store::Read;
use crate::store::tables::consents::{self, Consent};
use crate::store::tables::site_texts::Kind;
use crate::store::tables::waivers as signatures;
use crate::web::badge::Badge;
use crate::web::{check_waivers_required, query_text, read_form};
use askama::Template;
use http::StatusCode;

/// Signed papers and answers that the page lists.
const PAPERS_MAX: i64 = 20;
const KIND_CHARS_MAX: usize = 20;
const DONE: [(&str, &str); 1] = [("withdrawn", "me.done_consent")];

#[derive(Template)]
#[template(path = "member/family.html", config = "assets/templates/askama.toml")]
struct Page {
    shell: Shell,
    waiver: Badge,
    /// Whether a waiver of the family must be signed.
    signs: bool,
    /// Whether there is a text to sign.
    has_text: bool,
    papers: Vec<Paper>,
    consents: Vec<Said>,
    children: Vec<Child>,
}

struct Paper {
    signature_id: SignatureId,
    signed: String,
}

/// An answer to a consent.
struct Said {
    kind: &'static str,
    text: String,
    /// Whether the consent is in force, so that it can be withdrawn.
    in_force: bool,
}

/// A child with its card.
struct Child {
    name: String,
    number: MemberId,
    /// SVG of the number.
    qr: String,
    /// The label of the picture.
    label: String,
    badge: Badge,
}

/// `GET /me/waiver`
pub(crate) fn show_page(site: &Site, call: &Call, member: &Member) -> Answer {
    check_waivers_required(site)?;
    let (zone, language) = (site.time_zone()?, call.language());
    let shell = Shell::after_action(site, call, member, card::PATH, &DONE)?;
    let page = site.store.read(|tx| {
        let (due, demand) = (waivers::list_due(site, tx, member.id())?, flights::find_demand(site, tx)?);
        let signed = signatures::list(tx, member.id(), PAPERS_MAX)?.into_iter();
        let said = consents::list(tx, member.id(), PAPERS_MAX)?;
        let mut badges = Vec::new();
        for one in &due {
            badges.push(badge(site, tx, one, language)?);
        }
        let children = due.iter().zip(&badges).skip(1).map(|(one, badge)| child(&shell, one, badge.clone()));
        Ok(Page {
            waiver: match &demand {
                Some(_) => badges.first().cloned().ok_or_else(Failure::broken)?,
                None => Badge::new("plain", language.say(&Text::new("me.waiver_no_text"))),
            },
            has_text: demand.is_some(),
            signs: due.iter().any(|one| one.reason.is_some_and(|reason| reason.wants_signature())),
            children: children.collect::<Result<_, Failure>>()?,
            papers: signed
                .map(|(signature_id, paper)| Paper {
                    signature_id,
                    signed: when::moment(language, &zone, paper.signed_at),
                })
                .collect(),
            consents: say_consents(&said, &zone, language),
            shell,
        })
    })?;
    Ok(show(StatusCode::OK, language, &page))
}

/// The state of a waiver: why its flyer may not fly, or until when it is in force.
pub(super) fn badge(site: &Site, tx: &Read, one: &Due, language: Language) -> Result<Badge, Failure> {
    if let Some(reason) = one.reason {
        return Ok(Badge::new("bad", language.say(&Text::new(reason.key()))));
    }
    let text = match flights::find_waiver_end(site, tx, one.member_id)? {
        Some(end) => Text::new("me.waiver_until").with("day", when::day(language, &site.time_zone()?, end)),
        None => Text::new("me.waiver_good"),
    };
    Ok(Badge::new("good", language.say(&text)))
}

fn child(shell: &Shell, one: &Due, badge: Badge) -> Result<Child, Failure> {
    Ok(Child {
        name: one.name.clone(),
        number: one.member_id,
        qr: qr::svg(&one.member_id.to_string()).ok_or_else(Failure::broken)?,
        label: shell.tell(&Text::new("me.card_qr").with("number", one.member_id)),
        badge,
    })
}

/// The answers to consents, the newest first.
fn say_consents(said: &[Consent], zone: &TimeZone, language: Language) -> Vec<Said> {
    let mut known = Vec::new();
    let mut rows = Vec::new();
    for one in said {
        let what = match one.kind {
            Kind::Newsletter => "waiver.newsletter",
            _ => "waiver.photos",
        };
        let key = if one.given { "me.consent_given" } else { "me.consent_refused" };
        let text = Text::new(key).with("what", language.say(&Text::new(what)));
        let text = language.say(&text.with("day", when::day(language, zone, one.said_at)));
        rows.push(Said { kind: one.kind.name(), text, in_force: one.given && !known.contains(&one.kind) });
        known.push(one.kind);
    }
    rows
}

/// `POST /me/waiver/consents`: withdraws a consent. Of one that is not in force nothing is said.
pub(crate) fn withdraw_consent(site: &Site, call: &Call, member: &Member) -> Answer {
    check_waivers_required(site)?;
    let name = read_form(call, |form| form.line("kind", KIND_CHARS_MAX))?;
    let kind = effect::KINDS.into_iter().find(|kind| kind.name() == name).ok_or_else(Failure::not_found)?;
    match app::change(site, member, call.language(), |cx| effect::withdraw(cx, member.id(), kind))? {
        Outcome::Done => Ok(reply::see_other("/me/waiver?done=withdrawn")),
        Outcome::Unchanged => Ok(reply::see_other("/me/waiver")),
    }
}

/// `GET /me/waiver.pdf`: the signed waiver `number` of the member.
pub(crate) fn print(site: &Site, call: &Call, member: &Member) -> Answer {
    check_waivers_required(site)?;
    let number = query_text(call, "number").parse().map_err(|_| Failure::not_found())?;
    count_document(site, member.id(), member.role())?;
    let pdf = paper::pdf(site, member.id(), number)?;
    Ok(reply::file("application/pdf", "inline", &format!("waiver-{number}.pdf"), pdf).unstored())
}
