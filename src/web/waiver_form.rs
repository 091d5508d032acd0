//! The waiver form, as the desk, the kiosk and the public page show it: the operator's text, the questions for each flyer,
//! consents, an emergency contact and a signature.

use crate::app::waivers::consents::{ConsentAnswer, KINDS};
use crate::app::waivers::{Due, Flyer, NAME_CHARS_MAX, Signing};
use crate::domain::ids::MemberId;
use crate::domain::local_time::TimeZone;
use crate::domain::waiver::{self, QUESTIONS_MAX, Reason, Relation, STROKES_CHARS_MAX, SigningPlace};
use crate::http::failure::Failure;
use crate::http::fields;
use crate::i18n::language::{Language, Text};
use crate::store::Read;
use crate::store::tables::consents;
use crate::store::tables::emergency_contacts::{self, Emergency};
use crate::store::tables::site_texts::{self, Kind, SiteText};
use crate::web::Form;

/// Longest date that is read, with room for unusual notations.
const DATE_CHARS_MAX: usize = 40;
/// Longest telephone number of an emergency contact.
pub(crate) const PHONE_CHARS_MAX: usize = 40;

/// The form, ready to be rendered.
pub(crate) struct WaiverForm {
    language: Language,
    pub(crate) version: i64,
    /// Language of the text; ISO 639-1.
    pub(crate) tag: String,
    pub(crate) title: String,
    pub(crate) paragraphs: Vec<String>,
    pub(crate) flyers: Vec<FlyerRow>,
    pub(crate) signer_name: String,
    pub(crate) strokes: String,
    pub(crate) at_desk: bool,
    pub(crate) consents: Vec<ConsentQuestion>,
    /// Emergency contact.
    pub(crate) emergency: Emergency,
    /// Why the form was refused.
    pub(crate) problem: Option<String>,
}

/// A consent that the form asks for.
pub(crate) struct ConsentQuestion {
    pub(crate) kind: &'static str,
    pub(crate) version: i64,
    /// Language of the text; ISO 639-1.
    pub(crate) tag: String,
    pub(crate) title: String,
    pub(crate) paragraphs: Vec<String>,
    pub(crate) given: bool,
}

/// A flyer on the form.
pub(crate) struct FlyerRow {
    pub(crate) member_id: MemberId,
    pub(crate) name: String,
    /// Why an earlier signature is not enough, and who must sign; the desk shows both elsewhere.
    pub(crate) notes: Vec<String>,
    pub(crate) flies: bool,
    /// `None` where the account has a date of birth.
    pub(crate) dob: Option<String>,
    /// Whether the form asks for the signer's relation to the flyer.
    pub(crate) asks_relation: bool,
    /// Whether the flyer is known to be a minor, who does not sign alone.
    pub(crate) is_minor: bool,
    pub(crate) relation: &'static str,
    pub(crate) questions: Vec<Question>,
}

pub(crate) struct Question {
    /// From 1.
    pub(crate) number: usize,
    pub(crate) text: String,
    pub(crate) answer: Option<char>,
}

/// Splits a text into paragraphs at blank lines.
pub(crate) fn paragraphs(body: &str) -> Vec<String> {
    body.split("\n\n").map(str::trim).filter(|one| !one.is_empty()).map(str::to_owned).collect()
}

/// The waiver in force, in the reader's language where the operator published one.
fn find_text(tx: &Read, language: Language) -> Result<SiteText, Failure> {
    let in_force = site_texts::find_in_force(tx, Kind::Waiver)?.ok_or_else(Failure::not_found)?;
    site_texts::find_best(tx, Kind::Waiver, in_force.version, language.tag())?.ok_or_else(Failure::not_found)
}

/// The consents that the operator asks for, preset with the last answers of the first flyer; and that flyer's emergency
/// contact.
fn find_consents(tx: &Read, due: &[Due], language: Language) -> Result<(Vec<ConsentQuestion>, Emergency), Failure> {
    let Some(first) = due.first() else { return Ok((Vec::new(), Emergency::default())) };
    let mut found = Vec::new();
    for kind in KINDS {
        let Some(in_force) = site_texts::find_in_force(tx, kind)? else { continue };
        let Some(text) = site_texts::find_best(tx, kind, in_force.version, language.tag())? else { continue };
        let last = consents::find_last(tx, first.member_id, kind)?;
        found.push(ConsentQuestion {
            kind: kind.name(),
            version: text.version,
            tag: text.language,
            title: text.title,
            paragraphs: paragraphs(&text.body),
            given: last.is_some_and(|last| last.given),
        });
    }
    Ok((found, emergency_contacts::find(tx, first.member_id)?.unwrap_or_default()))
}

impl WaiverForm {
    /// Whether the text's own title says what the page's heading says already.
    pub(crate) fn repeats_heading(&self) -> bool {
        let same = |key| self.title.trim().to_lowercase() == self.say(key).to_lowercase();
        same("waiver.title") || same("papers.title")
    }

    /// Reads the form for these flyers, with consents and emergency contact. `refused` is a form as it was sent, and why it
    /// was refused.
    pub(crate) fn read(
        tx: &Read,
        due: &[Due],
        language: Language,
        at_desk: bool,
        refused: Option<&(Signing, String)>,
    ) -> Result<WaiverForm, Failure> {
        let sent = refused.map(|(sent, _)| sent);
        let mut sheet = WaiverForm::of(&find_text(tx, language)?, due, language, at_desk, sent);
        (sheet.consents, sheet.emergency) = find_consents(tx, due, language)?;
        if let Some((sent, problem)) = refused {
            sheet.problem = Some(problem.clone());
            sheet.emergency = sent.emergency.clone();
            for asked in &mut sheet.consents {
                asked.given = sent.consents.iter().any(|said| said.kind.name() == asked.kind && said.given);
            }
        }
        Ok(sheet)
    }

    /// The form for these flyers without consents and emergency contact.
    fn of(text: &SiteText, due: &[Due], language: Language, at_desk: bool, sent: Option<&Signing>) -> WaiverForm {
        let row = |one: &Due| {
            let known = sent.and_then(|sent| sent.flyers.iter().find(|flyer| flyer.member_id == one.member_id));
            let answer = |place: usize| known.and_then(|known| known.answers.chars().nth(place));
            let question = |(place, text): (usize, &str)| Question {
                number: place + 1,
                text: text.to_owned(),
                answer: answer(place),
            };
            let typed = known.and_then(|known| known.dob).map(|dob| TimeZone::UTC.date(dob));
            let is_minor = one.asks_relation && one.dob.is_some();
            let reason = one.reason.filter(|reason| *reason != Reason::Unsigned).map(Reason::key);
            let notes = reason.into_iter().chain(is_minor.then_some("waiver.minor_signs"));
            FlyerRow {
                member_id: one.member_id,
                name: one.name.clone(),
                notes: notes.filter(|_| !at_desk).map(|key| language.say(&Text::new(key))).collect(),
                flies: sent.is_none() || known.is_some(),
                dob: one.dob.is_none().then(|| typed.unwrap_or_default()),
                asks_relation: one.asks_relation,
                is_minor,
                relation: known.map_or("self", |known| known.relation.name()),
                questions: waiver::questions(&text.questions).enumerate().map(question).collect(),
            }
        };
        WaiverForm {
            language,
            version: text.version,
            tag: text.language.clone(),
            title: text.title.clone(),
            paragraphs: paragraphs(&text.body),
            flyers: due.iter().map(row).collect(),
            signer_name: sent.map(|sent| sent.signer_name.clone()).unwrap_or_default(),
            strokes: sent.map(|sent| sent.strokes.clone()).unwrap_or_default(),
            at_desk,
            consents: Vec::new(),
            emergency: Emergency::default(),
            problem: None,
        }
    }

    pub(crate) fn say(&self, key: &'static str) -> String {
        self.language.say(&Text::new(key))
    }

    /// Says in which language the text is, to a reader of another.
    pub(crate) fn other_language(&self) -> String {
        let name = Language::find(&self.tag).map_or_else(|| self.tag.clone(), |one| one.name().to_owned());
        self.language.say(&Text::new("waiver.other_language").with("language", name))
    }

    /// Language of the reader; ISO 639-1.
    pub(crate) fn language_tag(&self) -> &'static str {
        self.language.tag()
    }

    /// Whether several flyers are on the form.
    pub(crate) fn is_family(&self) -> bool {
        self.flyers.len() > 1
    }
}

/// Reads a form that was sent, for those flyers who are ticked; a single flyer needs no tick.
pub(crate) fn read(mut form: Form, due: &[Due], place: SigningPlace) -> Result<Signing, Failure> {
    let version = form.required("version", fields::whole_in(1..=i64::MAX));
    let language = form.required("language", fields::line(5));
    let signer_name = form.line("signer_name", NAME_CHARS_MAX);
    let strokes = form.line("strokes", STROKES_CHARS_MAX);
    let mut flyers = Vec::new();
    for one in due {
        let id = one.member_id;
        let flies = !form.line(&format!("flies_{id}"), 5).is_empty();
        if !flies && due.len() > 1 {
            continue;
        }
        let mut line = |field: String| form.optional(&field, fields::line(DATE_CHARS_MAX));
        let dob = line(format!("dob_{id}")).and_then(|typed| TimeZone::UTC.start_of_date(&typed));
        let relation = line(format!("relation_{id}")).and_then(|name| Relation::parse(&name));
        let answers = (1..=QUESTIONS_MAX).map_while(|number| line(format!("answer_{id}_{number}")));
        let answers: String = answers.collect();
        flyers.push(Flyer {
            member_id: id,
            dob,
            relation: one.relation.or(relation).unwrap_or(Relation::Own),
            answers,
        });
    }
    let mut said = Vec::new();
    for kind in KINDS {
        let name = kind.name();
        let version = form.optional(&format!("{name}_version"), fields::whole_in(1..=i64::MAX));
        let language = form.optional(&format!("{name}_language"), fields::line(5));
        let given = !form.line(name, 5).is_empty();
        if let (Some(version), Some(language)) = (version, language) {
            said.push(ConsentAnswer { kind, version, language, given });
        }
    }
    let emergency = read_emergency(&mut form);
    form.finish()?;
    Ok(Signing { consents: said, emergency, version, language, signer_name, strokes, place, flyers })
}

/// The contact for an emergency.
pub(crate) fn read_emergency(form: &mut Form) -> Emergency {
    Emergency {
        name: form.line("emergency_name", NAME_CHARS_MAX),
        phone: form.line("emergency_phone", PHONE_CHARS_MAX),
    }
}
