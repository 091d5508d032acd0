//! The first of a member's own pages: the standing in one glance, the next booking, and what to do now.

use super::frame::Shell;
use super::show;
use crate::app::logbook::progression;
use crate::app::waivers::links;
use crate::app::{self, flights};
use crate::auth::passkey::RelyingParty;
use crate::auth::{Member, own};
use crate::domain::booking::membership_in_force;
use crate::domain::catalogue::{LevelKey, names};
use crate::domain::ids::MemberId;
use crate::domain::local_time::TimeZone;
use crate::domain::progression::State;
use crate::domain::waiver::Reason;
use crate::domain::{minutes, when};
use crate::http::Answer;
use crate::http::call::Call;
use crate::http::failure::Failure;
use crate::http::reply;
use crate::i18n::language::{Language, Text};
use crate::site::Site;
use crate::store::Read;
use crate::store::queries::standing::Flyer;
use crate::store::queries::{holdings, standing};
use crate::store::tables::bookings;
use crate::store::tables::members::{self, Profile};
use crate::store::tables::{passkeys, signers, skills};
use crate::web::badge::{Badge, currency_badge, level_name};
use crate::web::check_waivers_required;
use askama::Template;
use http::StatusCode;

/// How far ahead the next booking is searched for.
const AHEAD_SECONDS: i64 = 800 * 86_400;
/// Names of missing skills that are shown of a level.
const MISSING_SHOWN: usize = 4;
const DONE: [(&str, &str); 1] = [("claimed", "me.claimed")];

#[derive(Template)]
#[template(path = "member/home.html", config = "assets/templates/askama.toml")]
struct Page {
    shell: Shell,
    member_id: MemberId,
    currency: Badge,
    /// What keeps the currency, or leads back to it.
    hints: Vec<String>,
    flown: String,
    level: String,
    next: Vec<NextLevel>,
    membership: Badge,
    waiver: Option<Badge>,
    booking: Option<String>,
    to_do: Vec<String>,
    /// For a signer: how many requests wait.
    signing: Option<String>,
    /// Whether the waiver waits for the member's signature.
    signs: bool,
    /// Whether the member has no passkey, and browsers offer them where this page came from.
    offers_passkey: bool,
}

/// A level that the member works on.
struct NextLevel {
    text: String,
    missing: Vec<&'static str>,
    /// Whether more are missing than are shown.
    more: bool,
}

/// `GET /me`
pub(crate) fn show_page(site: &Site, call: &Call, member: &Member) -> Answer {
    let (zone, language, now) = (site.time_zone()?, call.language(), site.now());
    let shell = Shell::after_action(site, call, member, own::HOME, &DONE)?;
    let has_name = RelyingParty::of(site, call).is_ok();
    let page = site.store.read(|tx| {
        let profile = members::find(tx, member.id())?.ok_or_else(Failure::not_signed_in)?;
        let held = holdings::list(tx, member.id())?;
        let flyer = standing::read(tx, member.id(), now)?;
        let keys: Vec<LevelKey> = held.iter().map(holdings::Holding::key).collect();
        let (waiver, signs) = waiver(site, tx, &zone, language, member.id())?
            .map_or((None, false), |(badge, signs)| (Some(badge), signs));
        let next = bookings::list_own(tx, site.tunnel_id, member.id(), now, now + AHEAD_SECONDS, 1)?.pop();
        Ok(Page {
            member_id: member.id(),
            currency: currency_badge(&flyer, &zone, language, now),
            hints: hints(&flyer, language),
            flown: minutes::show(profile.flight_minutes - flyer.minutes_ahead),
            level: match keys.iter().any(|key| key.cat_group == "Flyer") {
                true => level_name(site.catalogue, &keys, language),
                false => shell.say("me.no_level"),
            },
            next: next_levels(site, tx, member.id(), language)?,
            membership: membership(site, &profile, &flyer, &zone, language),
            waiver,
            booking: next.map(|one| {
                let text = Text::new("me.booked_for").with("when", when::moment(language, &zone, one.flight_date));
                language.say(&text.with("minutes", one.minutes_booked))
            }),
            to_do: to_do(&profile, language),
            signing: match signers::is_signer(tx, member.id())? {
                true => {
                    let waiting = skills::count_waiting(tx, member.id())?;
                    Some(language.say(&Text::new("me.waiting").with("waiting", waiting)))
                }
                false => None,
            },
            signs,
            offers_passkey: has_name && passkeys::count(tx, member.id())? == 0,
            shell,
        })
    })?;
    Ok(show(StatusCode::OK, language, &page))
}

/// What keeps a flyer's currency, or leads back to it, and what a lapse means for bookings.
fn hints(flyer: &Flyer, language: Language) -> Vec<String> {
    let keys: &[&'static str] = match flyer.currency.flyer.current {
        _ if !flyer.holds_flyer_1 => &[],
        true => &["me.keeps"],
        false => &["me.way_back", "me.no_minutes"],
    };
    keys.iter().map(|key| language.say(&Text::new(key))).collect()
}

/// The open levels of the Flyer programme: what is signed, and what is missing.
fn next_levels(site: &Site, tx: &Read, member_id: MemberId, language: Language) -> Result<Vec<NextLevel>, Failure> {
    let steps = progression::steps(site, tx, member_id)?.into_iter();
    let open = steps.filter(|step| step.state == State::Open && step.level.cat_group == "Flyer");
    Ok(open
        .map(|step| NextLevel {
            text: language.say(
                &Text::new("me.next_level")
                    .with("level", names::say(language, &step.level.name))
                    .with("signed", step.signed())
                    .with("required", step.required()),
            ),
            more: step.missing.len() > MISSING_SHOWN,
            missing: step.missing.iter().take(MISSING_SHOWN).map(|skill| names::say(language, &skill.name)).collect(),
        })
        .collect())
}

fn membership(site: &Site, profile: &Profile, flyer: &Flyer, zone: &TimeZone, language: Language) -> Badge {
    let fee = site.config.yearly_fee_cents;
    let standing = crate::domain::booking::Standing {
        banned: profile.banned_at.is_some(),
        email_confirmed: profile.email_verified,
        paid_until: profile.paid_until,
        holds_flyer_1: flyer.holds_flyer_1,
    };
    let (in_force, paid) = (membership_in_force(&standing, fee, site.now()), standing.is_paid(site.now()));
    let (tone, key) = match (fee, in_force, paid, profile.paid_until) {
        (0, ..) => ("good", "me.no_fee"),
        (_, _, true, _) => ("good", "me.paid_until"),
        (_, true, false, _) => ("plain", "me.no_fee_yet"),
        (_, false, _, Some(_)) => ("bad", "me.paid_ended"),
        (_, false, _, None) => ("bad", "me.unpaid"),
    };
    let day = profile.paid_until.map(|until| when::day(language, zone, until)).unwrap_or_default();
    Badge::new(tone, language.say(&Text::new(key).with("day", day)))
}

/// The state of the waiver, and whether a signature of the member would help; `None` on a site that demands none.
fn waiver(
    site: &Site,
    tx: &Read,
    zone: &TimeZone,
    language: Language,
    member_id: MemberId,
) -> Result<Option<(Badge, bool)>, Failure> {
    let Some((reason, _)) = flights::find_waiver(site, tx, member_id, site.now())? else { return Ok(None) };
    if let Some(reason) = reason {
        let badge = Badge::new("bad", language.say(&Text::new(reason.key())));
        return Ok(Some((badge, reason.wants_signature() && reason != Reason::GuardianMissing)));
    }
    let text = match flights::find_waiver_end(site, tx, member_id)? {
        Some(end) => Text::new("me.waiver_until").with("day", when::day(language, zone, end)),
        None => Text::new("me.waiver_good"),
    };
    Ok(Some((Badge::new("good", language.say(&text)), false)))
}

/// What only the member can do, in words.
fn to_do(profile: &Profile, language: Language) -> Vec<String> {
    let mut texts = Vec::new();
    match (profile.email_verified, profile.email.is_empty()) {
        (true, _) => {}
        (false, true) => texts.push(language.say(&Text::new("me.do_email"))),
        (false, false) => texts.push(language.say(&Text::new("me.do_confirm").with("email", &profile.email))),
    }
    texts
}

/// `POST /me/waiver`: leads to the page where the member signs, for the member's children too.
pub(crate) fn sign_waiver(site: &Site, call: &Call, member: &Member) -> Answer {
    check_waivers_required(site)?;
    let code = app::change(site, member, call.language(), |cx| links::make(cx, member.id()))?;
    Ok(reply::see_other(&format!("/sign?lang={}&code={code}", call.language().tag())))
}
