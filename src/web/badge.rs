//! Status badges: a word with a colour, such as *membership paid* in green; and the badges of a member.

use crate::domain::booking::{Standing, membership_in_force};
use crate::domain::catalogue::names;
use crate::domain::catalogue::{Catalogue, LevelKey};
use crate::domain::currency::Currency;
use crate::domain::ids::MemberId;
use crate::domain::local_time::TimeZone;
use crate::domain::when;
use crate::http::failure::Failure;
use crate::i18n::language::{Language, Text};
use crate::moment::Moment;
use crate::site::Site;
use crate::store::Read;
use crate::store::queries::standing::Flyer;
use crate::store::queries::{holdings, standing};
use crate::store::tables::members;

pub(crate) const DAY_SECONDS: i64 = 24 * 3600;
/// With fewer days left, a currency's badge counts them.
pub(crate) const SOON_DAYS: i64 = 30;
/// With less time left, a flyer is told that the currency lapses soon.
const SOON_SECONDS: i64 = 31 * DAY_SECONDS;
/// The programmes that can lapse, from the highest down.
pub(crate) const PROGRAMMES: [(&str, &str); 6] = [
    ("Examiner", "programme.examiner"),
    ("Trainer", "programme.trainer"),
    ("Instructor", "programme.instructor"),
    ("Coach", "programme.coach"),
    ("Military", "programme.military"),
    ("Flyer", "programme.flyer"),
];

/// A word with a colour.
#[derive(Clone)]
pub(crate) struct Badge {
    /// The class of its colour: `good`, `soon`, `bad` or `plain`.
    pub tone: &'static str,
    pub text: String,
}

impl Badge {
    pub(crate) fn new(tone: &'static str, text: String) -> Badge {
        Badge { tone, text }
    }
}

/// The level and the badges of a member.
pub(super) struct MemberStatus {
    /// Name of the highest flyer level.
    pub level: String,
    pub badges: Vec<Badge>,
}

/// The level of a member, and badges for ban, membership and currencies, obstacles first.
pub(super) fn member_status(
    site: &Site,
    tx: &Read,
    member_id: MemberId,
    now: Moment,
    language: Language,
) -> Result<MemberStatus, Failure> {
    let account = members::find_standing(tx, member_id)?.ok_or_else(Failure::not_found)?;
    let held = holdings::list(tx, member_id)?;
    let flyer = standing::read(tx, member_id, now)?;
    let mut badges = Vec::new();
    badges.extend(membership(&account, site.config.yearly_fee_cents, now, language));
    if !account.email_confirmed {
        let has_address = members::find_account_by_id(tx, member_id)?.is_some_and(|account| !account.email.is_empty());
        let key = if has_address { "desk.mark_unconfirmed" } else { "desk.mark_no_email" };
        badges.push(Badge::new("soon", language.say(&Text::new(key))));
    }
    for (cat_group, key) in PROGRAMMES {
        if let Some(currency) = flyer.currency.find(cat_group)
            && held.iter().any(|level| level.cat_group == cat_group)
        {
            badges.push(programme_badge(&language.say(&Text::new(key)), currency, now, language));
        }
    }
    let keys: Vec<LevelKey> = held.iter().map(holdings::Holding::key).collect();
    Ok(MemberStatus { level: level_name(site.catalogue, &keys, language), badges })
}

/// The badges for ban and membership. In force without a payment, until the first level is held, is not *paid*.
fn membership(account: &Standing, yearly_fee_cents: i64, now: Moment, language: Language) -> Vec<Badge> {
    let badge = |tone, key| Badge::new(tone, language.say(&Text::new(key)));
    let mut badges = Vec::new();
    if account.banned {
        badges.push(badge("bad", "desk.mark_banned"));
    }
    if !membership_in_force(account, yearly_fee_cents, now) {
        badges.push(badge("bad", "desk.mark_unpaid"));
    } else if yearly_fee_cents > 0 {
        badges.push(match account.is_paid(now) {
            true => badge("good", "desk.mark_paid"),
            false => badge("plain", "desk.mark_no_fee_yet"),
        });
    }
    badges
}

fn programme_badge(programme: &str, currency: Currency, now: Moment, language: Language) -> Badge {
    let left = currency.renewal.map_or(0, |renewal| (renewal - now).div_euclid(DAY_SECONDS));
    let (tone, key) = match (currency.current, left) {
        (true, left) if left >= SOON_DAYS => ("good", "desk.mark_current"),
        (true, _) => ("soon", "desk.mark_soon"),
        (false, _) => ("bad", "desk.mark_lapsed"),
    };
    Badge::new(tone, language.say(&Text::new(key).with("programme", programme).with("days", left)))
}

/// A flyer's currency in a sentence for the flyer: until when, or since when not.
pub(super) fn currency_badge(flyer: &Flyer, zone: &TimeZone, language: Language, now: Moment) -> Badge {
    let currency = flyer.currency.flyer;
    let badge = |tone, key, day: Option<Moment>| {
        let day = day.map(|at| when::day(language, zone, at)).unwrap_or_default();
        Badge::new(tone, language.say(&Text::new(key).with("day", day)))
    };
    match currency.renewal {
        _ if !flyer.holds_flyer_1 => badge("plain", "kiosk.beginner", None),
        Some(ends) if currency.current && ends - now < SOON_SECONDS => badge("soon", "kiosk.current_until", Some(ends)),
        Some(ends) if currency.current => badge("good", "kiosk.current_until", Some(ends)),
        None => badge("bad", "kiosk.not_current", None),
        ended => badge("bad", "kiosk.lapsed", ended),
    }
}

/// The name of the highest flyer level that is held; of two tracks the first in the catalogue.
pub(super) fn level_name(catalogue: &Catalogue, held: &[LevelKey], language: Language) -> String {
    let flown = held.iter().filter(|level| level.cat_group == "Flyer");
    let best = flown.max_by_key(|level| level.cat_id.parse::<u32>().unwrap_or(0));
    let level = best.and_then(|key| catalogue.find_level(*key));
    level
        .map_or_else(|| language.say(&Text::new("desk.no_level")), |level| names::say(language, &level.name).to_owned())
}
