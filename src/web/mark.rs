//! How a member stands, in marks: each says in a word what its colour says.

use crate::domain::booking::{Standing, membership_in_force};
use crate::domain::catalogue::{Catalogue, LevelKey};
use crate::domain::currency::Currency;
use crate::http::failure::Failure;
use crate::i18n::language::{Language, Text};
use crate::site::Site;
use crate::store::Read;
use crate::store::queries::{holdings, standing};
use crate::store::tables::members;

pub(crate) const DAY_SECONDS: i64 = 24 * 3600;
/// From here on the days that are left are counted out.
pub(crate) const SOON_DAYS: i64 = 30;
/// The programmes that can lapse, from the highest down.
pub(crate) const PROGRAMMES: [(&str, &str); 6] = [
    ("Examiner", "programme.examiner"),
    ("Trainer", "programme.trainer"),
    ("Instructor", "programme.instructor"),
    ("Coach", "programme.coach"),
    ("Military", "programme.military"),
    ("Flyer", "programme.flyer"),
];

/// One word on a member's standing.
pub(crate) struct Mark {
    /// The class of its colour: `good`, `soon`, `bad` or `plain`.
    pub tone: &'static str,
    pub text: String,
}

impl Mark {
    pub(crate) fn new(tone: &'static str, text: String) -> Mark {
        Mark { tone, text }
    }
}

/// How a member stands.
pub(super) struct Stand {
    /// The highest level of flying, as people say it.
    pub level: String,
    pub marks: Vec<Mark>,
}

/// The level, the membership and each currency; what is in the way first.
pub(super) fn of(site: &Site, tx: &Read, member_id: i64, now: i64, language: Language) -> Result<Stand, Failure> {
    let account = members::find_standing(tx, member_id)?.ok_or_else(Failure::not_found)?;
    let held = holdings::list(tx, member_id)?;
    let flyer = standing::read_with(tx, member_id, &held, now)?;
    let mut marks = Vec::new();
    marks.extend(membership(&account, site.config.yearly_fee_cents, now, language));
    for (cat_group, key) in PROGRAMMES {
        if let Some(currency) = flyer.currency.find(cat_group)
            && held.iter().any(|level| level.cat_group == cat_group)
        {
            marks.push(currency_mark(&language.say(&Text::new(key)), currency, now, language));
        }
    }
    let keys: Vec<LevelKey> = held.iter().map(holdings::Holding::key).collect();
    Ok(Stand { level: level_name(site.catalogue, &keys, language), marks })
}

fn membership(account: &Standing, yearly_fee_cents: i64, now: i64, language: Language) -> Vec<Mark> {
    let mark = |tone, key| Mark::new(tone, language.say(&Text::new(key)));
    let mut marks = Vec::new();
    if account.banned {
        marks.push(mark("bad", "desk.mark_banned"));
    }
    if !membership_in_force(account, yearly_fee_cents, now) {
        marks.push(mark("bad", "desk.mark_unpaid"));
    } else if yearly_fee_cents > 0 {
        marks.push(mark("good", "desk.mark_paid"));
    }
    if !account.email_confirmed {
        marks.push(mark("soon", "desk.mark_unconfirmed"));
    }
    marks
}

fn currency_mark(programme: &str, currency: Currency, now: i64, language: Language) -> Mark {
    let left = currency.renewal.map_or(0, |renewal| (renewal - now).div_euclid(DAY_SECONDS));
    let (tone, key) = match (currency.current, left) {
        (true, left) if left >= SOON_DAYS => ("good", "desk.mark_current"),
        (true, _) => ("soon", "desk.mark_soon"),
        (false, _) => ("bad", "desk.mark_lapsed"),
    };
    Mark::new(tone, language.say(&Text::new(key).with("programme", programme).with("days", left)))
}

/// The highest level of the flyers; of two tracks the first in the catalogue.
fn level_name(catalogue: &Catalogue, held: &[LevelKey], language: Language) -> String {
    let flown = held.iter().filter(|level| level.cat_group == "Flyer");
    let best = flown.max_by_key(|level| level.cat_id.parse::<u32>().unwrap_or(0));
    let level = best.and_then(|key| catalogue.find_level(*key));
    level.map_or_else(|| language.say(&Text::new("desk.no_level")), |level| level.name.clone())
}
