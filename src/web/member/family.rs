//! The waiver and the family: until when it is signed, the signed papers, and the card of each child for whom the member acts,
//! with one way to sign for all who need it.

use super::frame::Shell;
use super::{card, show};
use crate::app::flights;
use crate::app::waivers::{self, Due, paper};
use crate::auth::{Member, count_document};
use crate::documents::qr;
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
use crate::web::{check_waivers_required, query_text};
use askama::Template;
use http::StatusCode;

/// Signed papers and answers that the page lists.
const PAPERS_MAX: i64 = 20;

#[derive(Template)]
#[template(path = "member/family.html", config = "assets/templates/askama.toml")]
struct Page {
    shell: Shell,
    waiver: Badge,
    /// Whether a waiver of the family must be signed.
    signs: bool,
    papers: Vec<Paper>,
    consents: Vec<String>,
    children: Vec<Child>,
}

struct Paper {
    signature_id: i64,
    signed: String,
}

/// A child with its card.
struct Child {
    name: String,
    number: i64,
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
    let shell = Shell::of(site, call, member, card::PATH)?;
    let page = site.store.read(|tx| {
        let due = waivers::list_due(site, tx, member.id())?;
        let signed = signatures::list(tx, member.id(), PAPERS_MAX)?.into_iter();
        let said = consents::list(tx, member.id(), PAPERS_MAX)?;
        let mut badges = Vec::new();
        for one in &due {
            badges.push(badge(site, tx, one, language)?);
        }
        let children = due.iter().zip(&badges).skip(1).map(|(one, badge)| child(&shell, one, badge.clone()));
        Ok(Page {
            waiver: badges.first().cloned().ok_or_else(Failure::broken)?,
            signs: due.iter().any(|one| one.reason.is_some_and(|reason| reason.wants_signature())),
            children: children.collect::<Result<_, Failure>>()?,
            papers: signed
                .map(|(signature_id, paper)| Paper {
                    signature_id,
                    signed: when::moment(language, &zone, paper.signed_at),
                })
                .collect(),
            consents: said.iter().map(|one| consent(one, &when::day(language, &zone, one.said_at), language)).collect(),
            shell,
        })
    })?;
    Ok(show(StatusCode::OK, language, &page))
}

/// The state of a waiver: why its flyer may not fly, or until when it is in force.
fn badge(site: &Site, tx: &Read, one: &Due, language: Language) -> Result<Badge, Failure> {
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

fn consent(one: &Consent, day: &str, language: Language) -> String {
    let what = match one.kind {
        Kind::Newsletter => "waiver.newsletter",
        _ => "waiver.photos",
    };
    let key = if one.given { "me.consent_given" } else { "me.consent_refused" };
    language.say(&Text::new(key).with("what", language.say(&Text::new(what))).with("day", day))
}

/// `GET /me/waiver.pdf`: the signed waiver `number` of the member.
pub(crate) fn print(site: &Site, call: &Call, member: &Member) -> Answer {
    check_waivers_required(site)?;
    let number = query_text(call, "number").parse().map_err(|_| Failure::not_found())?;
    count_document(site, member.id(), member.role())?;
    let pdf = paper::pdf(site, member.id(), number)?;
    Ok(reply::file("application/pdf", "inline", &format!("waiver-{number}.pdf"), pdf).unstored())
}
