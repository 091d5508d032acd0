//! What the waiver page of a member lists: signed waivers with the staff's decisions, and answers to consents.

use crate::app::waivers as app_waivers;
use crate::app::waivers::paper::{place_key, relation_key};
use crate::domain::ids::{MemberId, SignatureId};
use crate::domain::local_time::TimeZone;
use crate::domain::waiver;
use crate::domain::when;
use crate::http::failure::Failure;
use crate::i18n::language::{Language, Text};
use crate::site::Site;
use crate::store::Read;
use crate::store::tables::site_texts::{self, Kind};
use crate::store::tables::{consents, members, tunnels, waivers};

/// Signed waivers and consents that the page lists; older ones are in the member's data export.
const PAPERS_MAX: i64 = 20;

/// A waiver that was signed.
pub(super) struct Paper {
    pub(super) signature_id: SignatureId,
    pub(super) signed: String,
    pub(super) about: String,
    /// Questions answered with yes.
    pub(super) yes: Vec<String>,
    pub(super) decisions: Vec<String>,
    /// The mark of the decisions, and the word that was typed into a form that was refused.
    pub(super) seen: String,
    pub(super) word: String,
    pub(super) problem: Option<String>,
    /// Whether a decision of the staff is pending.
    pub(super) is_open: bool,
    /// Whether the waiver was not signed in error.
    pub(super) counts: bool,
    /// Why the form that marks it as signed in error was refused.
    pub(super) error_problem: Option<String>,
}

/// The signed waivers of a member, the latest first.
pub(super) fn list(site: &Site, tx: &Read, member_id: MemberId, language: Language) -> Result<Vec<Paper>, Failure> {
    let zone = tunnels::find_time_zone(tx, site.tunnel_id)?;
    let mut papers = Vec::new();
    for (signature_id, paper) in waivers::list(tx, member_id, PAPERS_MAX)? {
        let text = site_texts::find(tx, Kind::Waiver, paper.version, &paper.language)?;
        let questions = text.map(|text| text.questions).unwrap_or_default();
        let yes = waiver::questions(&questions).zip(paper.answers.chars()).filter(|(_, answer)| *answer == 'y');
        let yes: Vec<String> = yes.map(|(question, _)| question.to_owned()).collect();
        let mut decisions = Vec::new();
        let decided = waivers::list_decisions(tx, signature_id)?;
        let seen = app_waivers::mark(&decided);
        let counts = !decided.iter().any(|one| one.in_error);
        for decision in decided {
            let key = match (decision.in_error, decision.may_fly) {
                (true, _) => "papers.in_error",
                (false, true) => "papers.decided_yes",
                (false, false) => "papers.decided_no",
            };
            let text = Text::new(key)
                .with("by", members::find_clerk_name(tx, decision.decided_by)?)
                .with("day", when::moment(language, &zone, decision.decided_at))
                .with("word", decision.word);
            decisions.push(language.say(&text));
        }
        let about = Text::new("papers.signed_by")
            .with("name", &paper.signer_name)
            .with("relation", language.say(&Text::new(relation_key(paper.relation))))
            .with("place", language.say(&Text::new(place_key(paper.place))))
            .with("version", paper.version)
            .with("language", &paper.language);
        papers.push(Paper {
            signature_id,
            signed: when::moment(language, &zone, paper.signed_at),
            about: language.say(&about),
            seen,
            word: String::new(),
            problem: None,
            is_open: !yes.is_empty() && decisions.is_empty(),
            yes,
            decisions,
            counts,
            error_problem: None,
        });
    }
    Ok(papers)
}

/// A row of the list of consents.
pub(super) struct ConsentRow {
    pub(super) kind: &'static str,
    pub(super) text: String,
    /// Whether the consent is in force.
    pub(super) in_force: bool,
}

/// A member's answers to consents, the newest first.
pub(super) fn list_consents(
    tx: &Read,
    member_id: MemberId,
    zone: &TimeZone,
    language: Language,
) -> Result<Vec<ConsentRow>, Failure> {
    let mut seen = Vec::new();
    let mut rows = Vec::new();
    for one in consents::list(tx, member_id, PAPERS_MAX)? {
        let (name, given) = match one.kind {
            Kind::Newsletter => ("waiver.newsletter", one.given),
            _ => ("waiver.photos", one.given),
        };
        let text = Text::new(if given { "papers.consent_given" } else { "papers.consent_refused" })
            .with("what", language.say(&Text::new(name)))
            .with("version", one.version)
            .with("day", when::moment(language, zone, one.said_at))
            .with("place", language.say(&Text::new(place_key(one.place))));
        let is_last = !seen.contains(&one.kind);
        seen.push(one.kind);
        rows.push(ConsentRow { kind: one.kind.name(), text: language.say(&text), in_force: is_last && given });
    }
    Ok(rows)
}
