//! The member's profile.

use crate::app::own_profile::{self, Names};
use crate::app::waivers::brief;
use crate::app::{self, flights};
use crate::auth::{Bearer, Member, sign_in};
use crate::domain::booking::{self, Standing};
use crate::domain::waiver::Reason;
use crate::domain::{currency, minutes, password};
use crate::http::Answer;
use crate::http::call::Call;
use crate::http::failure::Failure;
use crate::http::field_types::{Id, Line, Secret, Username};
use crate::http::reply;
use crate::i18n::language::Text;
use crate::site::Site;
use crate::store::queries::standing::{self, Flyer};
use crate::store::tables::guardianships;
use crate::store::tables::members::{self, Profile};
use crate::store::tables::tunnels;
use serde::Serialize;

crate::body! {
    pub(crate) struct ProfileEdit {
        real_name: Line<100>,
        screen_name: Line<60>,
        username: Username,
        /// The home tunnel.
        tunnel_id as "tunnel": Id,
        verify_password: Secret,
    }
}

/// The profile, with the field names that existing clients read.
#[derive(Serialize)]
struct UserReply {
    member_id: i64,
    username: String,
    screen_name: String,
    real_name: String,
    email: String,
    email_verified: bool,
    phone: String,
    phone_verified: bool,
    country: String,
    country_code: String,
    dob: Option<i64>,
    /// The home tunnel's number; a string in the contract.
    tunnel: String,
    tunnel_name: String,
    tunnel_country: String,
    role_name: &'static str,
    /// The account's role at this site.
    role: &'static str,
    join_date: i64,
    last_flight: Option<i64>,
    /// `H:MM`, without flights in the future.
    total_flight_time: String,
    currency_flyer: u8,
    currency_coach: u8,
    currency_instructor: u8,
    currency_trainer: u8,
    currency_examiner: u8,
    currency_military: u8,
    currency_renewal_date_flyer: Option<i64>,
    currency_renewal_date_coach: Option<i64>,
    currency_renewal_date_instructor: Option<i64>,
    currency_renewal_date_trainer: Option<i64>,
    currency_renewal_date_examiner: Option<i64>,
    currency_renewal_date_military: Option<i64>,
    #[serde(rename = "paymentData")]
    payment_data: PaymentData,
    /// On a site that asks for waivers: whether the desk may check the member in.
    #[serde(skip_serializing_if = "Option::is_none")]
    may_check_in: Option<bool>,
    /// For the member alone: `in_force`, or the reason why not.
    #[serde(skip_serializing_if = "Option::is_none")]
    waiver: Option<&'static str>,
    /// For the member alone: whether an adult acts for the account.
    #[serde(skip_serializing_if = "Option::is_none")]
    guardian: Option<bool>,
    /// For the member alone: the state of the safety brief.
    #[serde(skip_serializing_if = "Option::is_none")]
    brief: Option<&'static str>,
}

#[derive(Serialize)]
struct PaymentData {
    /// `active` while the membership is in force, else `unpaid`.
    #[serde(rename = "paymentStatus")]
    payment_status: &'static str,
    /// The end of the paid period.
    #[serde(rename = "nextDate")]
    next_date: Option<i64>,
}

/// `GET /account/profile/user`: the caller's profile; with a booking token, that of its member.
pub(crate) fn get(site: &Site, _: &Call, bearer: &Bearer) -> Answer {
    let (member_id, now) = (bearer.member_id(), site.now());
    site.store.read(|tx| {
        let profile = members::find(tx, member_id)?.ok_or_else(Failure::not_signed_in)?;
        let flyer = standing::read(tx, member_id, now)?;
        let mut user = show(site, profile, &flyer, now);
        if flights::find_demand(site, tx)?.is_some() {
            let denial = flights::find_denial(site, tx, member_id, now)?;
            user.may_check_in = Some(denial.is_none());
            // A partner does not learn the reason.
            if matches!(bearer, Bearer::Member(_)) {
                user.waiver = Some(denial.map_or("in_force", Reason::name));
                user.brief = Some(brief::find_state(site, tx, member_id)?);
                user.guardian = Some(!guardianships::list_of_child(tx, member_id)?.is_empty());
            }
        }
        Ok(reply::ok(&user))
    })
}

fn show(site: &Site, profile: Profile, flyer: &Flyer, now: i64) -> UserReply {
    let payment_data = payment(site, &profile, flyer, now);
    let current = |one: &currency::Currency| u8::from(one.current);
    let all = &flyer.currency;
    UserReply {
        member_id: profile.member_id,
        username: profile.username,
        screen_name: profile.screen_name,
        real_name: profile.real_name,
        email: profile.email,
        email_verified: profile.email_verified,
        phone: profile.phone,
        phone_verified: profile.phone_verified,
        country: profile.country,
        country_code: profile.country_code,
        dob: profile.dob,
        tunnel: profile.tunnel_id.map(|id| id.to_string()).unwrap_or_default(),
        tunnel_name: profile.tunnel_name.unwrap_or_default(),
        tunnel_country: profile.tunnel_country.unwrap_or_default(),
        role_name: flyer.role_name,
        role: profile.role.name(),
        join_date: profile.join_date,
        last_flight: flyer.last_flight,
        total_flight_time: minutes::show(profile.flight_minutes - flyer.minutes_ahead),
        currency_flyer: current(&all.flyer),
        currency_coach: current(&all.coach),
        currency_instructor: current(&all.instructor),
        currency_trainer: current(&all.trainer),
        currency_examiner: current(&all.examiner),
        currency_military: current(&all.military),
        currency_renewal_date_flyer: all.flyer.renewal,
        currency_renewal_date_coach: all.coach.renewal,
        currency_renewal_date_instructor: all.instructor.renewal,
        currency_renewal_date_trainer: all.trainer.renewal,
        currency_renewal_date_examiner: all.examiner.renewal,
        currency_renewal_date_military: all.military.renewal,
        payment_data,
        may_check_in: None,
        waiver: None,
        guardian: None,
        brief: None,
    }
}

fn payment(site: &Site, profile: &Profile, flyer: &Flyer, now: i64) -> PaymentData {
    let standing = Standing {
        banned: profile.banned_at.is_some(),
        email_confirmed: profile.email_verified,
        paid_until: profile.paid_until,
        holds_flyer_1: flyer.holds_flyer_1,
    };
    let in_force = booking::membership_in_force(&standing, site.config.yearly_fee_cents, now);
    PaymentData { payment_status: if in_force { "active" } else { "unpaid" }, next_date: profile.paid_until }
}

/// `PUT /account/profile/user`: changes names and home tunnel, with the password as proof.
pub(crate) fn edit(site: &Site, call: &Call, member: &Member) -> Answer {
    let mut body = call.parse_body::<ProfileEdit>()?;
    if let Some(tunnel_id) = body.read.tunnel_id
        && !site.store.read(|tx| Ok(tunnels::exists(tx, tunnel_id)?))?
    {
        body.fields.refuse("tunnel", Text::new("field.unknown_tunnel"));
    }
    let ProfileEdit { real_name, screen_name, username, tunnel_id, verify_password } = body.finish()?;
    let proven = sign_in::check_own_password(site, call, member.id(), &verify_password)?.at("verify_password")?;
    if password::is_name(&verify_password, &username) {
        return Err(Failure::field("username", Text::new("field.username_own")));
    }
    app::change(site, member, call.mail_language(), |cx| {
        sign_in::check_same_password(cx.tx, &proven, "verify_password")?;
        let names = Names { username: &username, screen_name: &screen_name, real_name: &real_name, tunnel_id };
        own_profile::edit(cx, &names)
    })?;
    Ok(reply::done(call.say("done.saved")))
}
