//! The member's profile.

use crate::app::own_profile::{self, Names};
use crate::app::waivers::brief;
use crate::app::{self, flights};
use crate::auth::{Bearer, Member, sign_in};
use crate::domain::booking::{self, Standing};
use crate::domain::ids::{MemberId, TunnelId};
use crate::domain::waiver::Reason;
use crate::domain::{currency, minutes, password};
use crate::http::Answer;
use crate::http::answer::Sometimes;
use crate::http::call::Call;
use crate::http::failure::Failure;
use crate::http::field_types::{Line, Secret, Username};
use crate::http::reply::{self, Done};
use crate::i18n::language::Text;
use crate::moment::Moment;
use crate::site::Site;
use crate::store::queries::standing::{self, Flyer};
use crate::store::tables::guardianships;
use crate::store::tables::members;
use crate::store::tables::tunnels;
use serde_json::json;

crate::body! {
    pub(crate) struct ProfileEdit {
        real_name: Line<100>,
        screen_name: Line<60>,
        username: Username,
        /// The home tunnel.
        tunnel_id as "tunnel": TunnelId,
        verify_password: Secret,
    }
}

crate::answer! {
    struct Profile {
        member_id: MemberId = 1204,
        username: String = "jane",
        /// What others see.
        screen_name: String = "Jane",
        real_name: String = "Jane Doe",
        /// Empty where a social network gave none.
        email: String = "jane@example.com",
        email_verified: bool = true,
        /// As `+41441234567`; empty where there is none.
        phone: String = "+41446681800",
        phone_verified: bool = false,
        /// ISO 3166-1 alpha-2; empty where there is none.
        country: String = "CH",
        /// As it was given at sign-up.
        country_code: String = "CH",
        /// Midnight of the day of birth.
        dob: Option<Moment> = 946684800,
        /// The home tunnel's number, as text.
        tunnel: String = "1",
        tunnel_name: String = "Windwerk",
        /// ISO 3166-1 alpha-2.
        tunnel_country: String = "CH",
        /// The highest programme held, such as `Instructor`.
        role_name: &'static str = "Flyer",
        /// What the account may do at this site.
        role: &'static str ["member", "desk", "admin", "sync"] = "member",
        /// Member since.
        join_date: Moment = 1748464000,
        /// The last flight that was flown.
        last_flight: Option<Moment> = 1779136000,
        /// `H:MM`, without flights in the future.
        total_flight_time: String { "pattern": "^-?[0-9]+:[0-5][0-9]$" } = "12:40",
        /// 1: current.
        currency_flyer: u8 [0, 1] = 1,
        /// 1: current.
        currency_coach: u8 [0, 1] = 0,
        /// 1: current.
        currency_instructor: u8 [0, 1] = 0,
        /// 1: current.
        currency_trainer: u8 [0, 1] = 0,
        /// 1: current.
        currency_examiner: u8 [0, 1] = 0,
        /// 1: current.
        currency_military: u8 [0, 1] = 0,
        /// When the currency lapses or lapsed; null without any.
        currency_renewal_date_flyer: Option<Moment> = 1794688000,
        /// When the currency lapses or lapsed; null without any.
        currency_renewal_date_coach: Option<Moment>,
        /// When the currency lapses or lapsed; null without any.
        currency_renewal_date_instructor: Option<Moment>,
        /// When the currency lapses or lapsed; null without any.
        currency_renewal_date_trainer: Option<Moment>,
        /// When the currency lapses or lapsed; null without any.
        currency_renewal_date_examiner: Option<Moment>,
        /// When the currency lapses or lapsed; null without any.
        currency_renewal_date_military: Option<Moment>,
        payment_data as "paymentData": PaymentData,
        /// On a site that asks for waivers: whether the desk may check the member in. A booking is taken also while
        /// it may not.
        may_check_in: Sometimes<bool>,
        /// On a site that asks for waivers, and not by a booking token: how the member's stands.
        waiver: Sometimes<&'static str> ["in_force", "unsigned", "expired", "old_version", "guardian_missing", "came_of_age", "undecided", "refused"],
        /// On a site that asks for waivers, and not by a booking token: whether an adult acts for the account.
        guardian: Sometimes<bool>,
        /// On a site that asks for waivers, and not by a booking token: how the safety brief stands; `pending` until
        /// an instructor has signed it.
        brief: Sometimes<&'static str> ["missing", "pending", "signed"],
    }
}

crate::answer! {
    inline struct PaymentData {
        /// `active` while the membership is in force.
        payment_status as "paymentStatus": &'static str ["active", "unpaid"] = "active",
        /// Paid until.
        next_date as "nextDate": Option<Moment> = 1788640000,
    }
}

crate::operation! {
    /// Read the profile
    ///
    /// The caller's own profile; with a booking token, that of its member.
    GET = "getProfile"
        .answers::<Profile>("The profile.")
}

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

fn show(site: &Site, profile: members::Profile, flyer: &Flyer, now: Moment) -> Profile {
    let payment_data = payment(site, &profile, flyer, now);
    let current = |one: &currency::Currency| u8::from(one.current);
    let all = &flyer.currency;
    Profile {
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

fn payment(site: &Site, profile: &members::Profile, flyer: &Flyer, now: Moment) -> PaymentData {
    let standing = Standing {
        banned: profile.banned_at.is_some(),
        email_confirmed: profile.email_verified,
        paid_until: profile.paid_until,
        holds_flyer_1: flyer.holds_flyer_1,
    };
    let in_force = booking::membership_in_force(&standing, site.config.yearly_fee_cents, now);
    PaymentData { payment_status: if in_force { "active" } else { "unpaid" }, next_date: profile.paid_until }
}

crate::operation! {
    /// Change names and home tunnel
    ///
    /// `verify_password` is the current password; a wrong one is 422 and counts as a failed attempt. `username` must
    /// not be the password. A new e-mail address or telephone number is taken over by its passcode only: see
    /// `send-verification-passcode`.
    EDIT = "editProfile"
        .body(|| json!({
            "real_name": "Jane Doe", "tunnel": "1", "screen_name": "Jane", "username": "jane",
            "verify_password": "violet-anvil-harbour-93",
        }))
        .refuses(&["UsernameTaken"])
        .answers::<Done>("Done.")
        .example(|| json!({ "message": "Saved." }))
}

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
    app::change(site, member, call.language(), |cx| {
        sign_in::check_same_password(cx.tx, &proven, "verify_password")?;
        let names = Names { username: &username, screen_name: &screen_name, real_name: &real_name, tunnel_id };
        own_profile::edit(cx, &names)
    })?;
    Ok(reply::done(call.say("done.saved")))
}
