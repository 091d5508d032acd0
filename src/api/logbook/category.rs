//! The sections of the logbook that a client shows a member: a programme's skills, a safety logbook, and flight time. The
//! contract names every field and type of this answer, also the odd ones: some flags are numbers, and one is text.

use super::readable_member;
use crate::auth::Bearer;
use crate::domain::category::{self, Section, Standing};
use crate::http::Answer;
use crate::http::answer::{FieldOfAnswer, Int};
use crate::http::body::Flattened;
use crate::http::call::Call;
use crate::http::reply;
use crate::i18n::language::Language;
use crate::site::Site;
use crate::store::queries::{holdings, logbook, standing};

crate::answer! {
    /// Which sections of the logbook to show, in the contract's types, the odd ones included. `show`: the member holds or
    /// may enter the programme. `disabled`: what is in the way, in the caller's language: a level or a safety brief that is
    /// missing, without which a request is refused, or a currency that has lapsed, with which the signer decides; empty where
    /// nothing is. `afcOption.showTab` is `"1"` or empty.
    struct CategoryOptions {
        log_currency as "logCurrency": SectionOption<bool>,
        flyer_option as "flyerOption": ProgrammeOption<bool>,
        flyer_safety_option as "flyerSafetyOption": SectionOption<bool>,
        coach_option as "coachOption": ProgrammeOption<bool>,
        coach_safety_option as "coachSafetyOption": SectionOption<u8> = { "show": true, "disabled": "", "showTab": 1 },
        afc_option as "afcOption": ProgrammeOption<&'static str> = { "show": true, "disabled": "", "showTab": "1", "skillCategory": 1 },
        instructor_option as "instructorOption": RankOption,
        trainer_option as "trainerOption": RankOption,
        examiner_option as "examinerOption": RankOption,
        instructor_safety_option as "instructorSafetyOption": SectionOption<bool>,
        trainer_safety_option as "trainerSafetyOption": SectionOption<bool>,
        military_option as "militaryOption": ProgrammeOption<bool>,
        military_safety_option as "militarySafetyOption": SectionOption<u8> = { "show": true, "disabled": "", "showTab": 1 },
    }
}

// A lapsed currency alone refuses no request: the signer decides. `Flag` is the type that the contract gives to this section's
// `showTab`, which says the same as `show`.
crate::answer! {
    inline struct SectionOption<Flag> {
        show: bool = true,
        disabled: String = "",
        show_tab as "showTab": Flag = true,
    }
}

// With the programme as a number.
crate::answer! {
    inline struct ProgrammeOption<Flag> {
        section: Flattened<SectionOption<Flag>>,
        skill_category as "skillCategory": Int = 1,
    }
}

// Whether `disabled` has a reason.
crate::answer! {
    inline struct RankOption {
        programme: Flattened<ProgrammeOption<bool>>,
        disabled_tab as "disabledTab": bool = false,
    }
}

crate::operation! {
    /// Which sections of the logbook to show
    ///
    /// For each section: whether it is shown, and whether it is disabled.
    OPTIONS = "categoryOptions"
        .takes(&["AcceptLanguage"])
        .answers::<CategoryOptions>("The options.")
}

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

fn show(standing: &Standing, language: Language) -> CategoryOptions {
    let plain = |section: &Section| option::<bool>(section, section.show, language);
    let programme = |cat_group: &str| ProgrammeOption {
        section: plain(&standing.programme(cat_group)),
        skill_category: category::number(cat_group),
    };
    let ranked = |cat_group: &str| {
        let programme = programme(cat_group);
        RankOption { disabled_tab: !programme.section.disabled.is_empty(), programme }
    };
    let safety = |logbook: &str| plain(&standing.safety(logbook));
    let numeric = |logbook: &str| {
        let section = standing.safety(logbook);
        option::<u8>(&section, u8::from(section.show), language)
    };
    let assistant = standing.programme("AFC");
    // Clients test this text as JavaScript does: an empty text is false, and "0" would be true.
    let tab = if assistant.show { "1" } else { "" };
    CategoryOptions {
        // Every member may log flight time, also while a currency has lapsed: a flyer's lapse ends with a flight.
        log_currency: plain(&Section { show: true, disabled: None }),
        flyer_option: programme("Flyer"),
        flyer_safety_option: safety("Flyer"),
        coach_option: programme("Coach"),
        coach_safety_option: numeric("Coach"),
        afc_option: ProgrammeOption {
            section: option::<&'static str>(&assistant, tab, language),
            skill_category: category::number("AFC"),
        },
        instructor_option: ranked("Instructor"),
        trainer_option: ranked("Trainer"),
        examiner_option: ranked("Examiner"),
        instructor_safety_option: safety("Instructor"),
        trainer_safety_option: safety("Trainer"),
        military_option: programme("Military"),
        military_safety_option: numeric("Military"),
    }
}

fn option<Flag: FieldOfAnswer>(section: &Section, show_tab: Flag::Value, language: Language) -> SectionOption<Flag> {
    let disabled = section.disabled.as_ref().map_or(String::new(), |text| language.say(text));
    SectionOption { show: section.show, disabled, show_tab }
}
