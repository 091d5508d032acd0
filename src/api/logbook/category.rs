//! The sections of the logbook that a client shows a member: a programme's skills, a safety logbook, and flight time. The
//! contract names every field and type of this answer, also the odd ones: some flags are numbers, and one is text.

use super::readable_member;
use crate::auth::Bearer;
use crate::domain::category::{self, Section, Standing};
use crate::http::Answer;
use crate::http::call::Call;
use crate::http::reply;
use crate::i18n::language::Language;
use crate::site::Site;
use crate::store::queries::{holdings, logbook, standing};
use serde::Serialize;

/// The answer: one field for each section.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Options {
    log_currency: SectionOption<bool>,
    flyer_option: SectionOption<bool>,
    flyer_safety_option: SectionOption<bool>,
    coach_option: SectionOption<bool>,
    coach_safety_option: SectionOption<u8>,
    afc_option: SectionOption<&'static str>,
    instructor_option: SectionOption<bool>,
    trainer_option: SectionOption<bool>,
    examiner_option: SectionOption<bool>,
    instructor_safety_option: SectionOption<bool>,
    trainer_safety_option: SectionOption<bool>,
    military_option: SectionOption<bool>,
    military_safety_option: SectionOption<u8>,
}

/// A section. `Flag`: the type that the contract gives to this section's `showTab`.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct SectionOption<Flag> {
    /// Whether the member holds the programme or may enter it.
    show: bool,
    /// What is in the way of a new entry, in the caller's language; empty if nothing is. A lapsed currency alone refuses no
    /// request: the signer decides.
    disabled: String,
    /// Says the same as `show`.
    show_tab: Flag,
    /// The programme as a number.
    #[serde(skip_serializing_if = "Option::is_none")]
    skill_category: Option<i64>,
    /// Whether `disabled` has a reason.
    #[serde(skip_serializing_if = "Option::is_none")]
    disabled_tab: Option<bool>,
}

/// `GET /account/logbook/category/{member_id}`: the sections of a member's logbook. 403 and 404 as [`readable_member`] says.
pub(crate) fn options(site: &Site, call: &Call, bearer: &Bearer) -> Answer {
    let member_id = readable_member(site, call, bearer, 0)?;
    site.store.read(|tx| {
        let held = holdings::list(tx, member_id)?;
        let held: Vec<_> = held.iter().map(holdings::Holding::key).collect();
        let currency = standing::read(tx, member_id, site.now())?.currency;
        let trained = holdings::list_trained(tx, member_id, site.now())?;
        let briefed: Vec<String> = trained.into_iter().map(|(logbook, _)| logbook).collect();
        let suspended = logbook::list_suspended_records(tx, member_id)?;
        let (catalogue, held, briefed) = (site.catalogue, &held, &briefed);
        let standing = Standing { catalogue, held, briefed, suspended: &suspended, currency: &currency };
        Ok(reply::ok(&show(&standing, call.language())))
    })
}

fn show(standing: &Standing, language: Language) -> Options {
    let plain = |section: &Section| option(section, section.show, language);
    let programme = |cat_group: &str| {
        let section = standing.programme(cat_group);
        SectionOption { skill_category: Some(category::number(cat_group)), ..plain(&section) }
    };
    let tabbed = |cat_group: &str| {
        let option = programme(cat_group);
        SectionOption { disabled_tab: Some(!option.disabled.is_empty()), ..option }
    };
    let safety = |logbook: &str| plain(&standing.safety(logbook));
    let numeric = |logbook: &str| {
        let section = standing.safety(logbook);
        option(&section, u8::from(section.show), language)
    };
    let assistant = standing.programme("AFC");
    // Clients test this text as JavaScript does: an empty text is false, and "0" would be true.
    let tab = if assistant.show { "1" } else { "" };
    Options {
        // Every member may log flight time, also while a currency has lapsed: a flyer's lapse ends with a flight.
        log_currency: plain(&Section { show: true, disabled: None }),
        flyer_option: programme("Flyer"),
        flyer_safety_option: safety("Flyer"),
        coach_option: programme("Coach"),
        coach_safety_option: numeric("Coach"),
        afc_option: SectionOption {
            skill_category: Some(category::number("AFC")),
            ..option(&assistant, tab, language)
        },
        instructor_option: tabbed("Instructor"),
        trainer_option: tabbed("Trainer"),
        examiner_option: tabbed("Examiner"),
        instructor_safety_option: safety("Instructor"),
        trainer_safety_option: safety("Trainer"),
        military_option: programme("Military"),
        military_safety_option: numeric("Military"),
    }
}

fn option<Flag>(section: &Section, show_tab: Flag, language: Language) -> SectionOption<Flag> {
    let disabled = section.disabled.as_ref().map_or(String::new(), |text| language.say(text));
    SectionOption { show: section.show, disabled, show_tab, skill_category: None, disabled_tab: None }
}
