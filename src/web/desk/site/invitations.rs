//! Colleagues, invited: by mail, or by a code on paper. Beside the list of who works here.

use super::PART;
use super::users;
use crate::app;
use crate::app::invitations::{self as effect, Denial, Invited, Invitee, ROLES};
use crate::auth::{Clerk, count_document};
use crate::documents::printout::account_slip::{self, AccountSlip};
use crate::domain::local_time::TimeZone;
use crate::domain::role::Role;
use crate::domain::when;
use crate::http::Answer;
use crate::http::call::Call;
use crate::http::failure::Failure;
use crate::http::fields::{self, Fields, Unvalidated};
use crate::http::reply;
use crate::i18n::language::{Language, Text};
use crate::site::Site;
use crate::store::Read;
use crate::store::tables::invitations::{self, Invitation};
use crate::store::tables::tunnels;
use crate::web::{form, form_number, mistake};

/// More are not open at once.
const ROWS_MAX: i64 = 50;
const NAME_CHARS_MAX: usize = 100;
/// The fields of the form and the keys of their names.
const LABELS: [(&str, &str); 4] =
    [("name", "invite.name"), ("email", "invite.email"), ("role", "invite.role"), ("language", "newcomer.language")];

/// The form as it was filled in.
pub(crate) struct Sent {
    pub(crate) name: String,
    pub(crate) email: String,
    pub(crate) role: Role,
    pub(crate) language: Language,
    pub(crate) number: i64,
    /// What is wrong with it, and the card of the member who has the address.
    pub(crate) problem: Option<(String, Option<i64>)>,
}

/// An invitation as the list shows it.
pub(crate) struct Open {
    pub(crate) invitation_id: i64,
    pub(crate) name: String,
    /// The address, or that the code was printed.
    pub(crate) way: String,
    pub(crate) role: String,
    /// By whom, and until when it is good.
    pub(crate) about: String,
}

impl Sent {
    pub(crate) fn blank(language: Language) -> Sent {
        let (name, email) = (String::new(), String::new());
        Sent { name, email, role: Role::Desk, language, number: form_number(), problem: None }
    }
}

/// Those that are open, the newest first.
pub(crate) fn list(site: &Site, tx: &Read, call: &Call, zone: &TimeZone) -> Result<Vec<Open>, Failure> {
    let say = |one: Invitation| Open {
        invitation_id: one.invitation_id,
        name: one.name,
        way: if one.email.is_empty() { call.say("invite.on_paper") } else { one.email },
        role: call.say(role_key(one.role)),
        about: call.language().say(
            &Text::new("invite.about")
                .with("name", one.inviter)
                .with("until", when::moment(call.language(), zone, one.ends_at)),
        ),
    };
    Ok(invitations::list(tx, site.now(), ROWS_MAX)?.into_iter().map(say).collect())
}

/// The key of the word for what somebody is invited to be.
pub(crate) fn role_key(role: Role) -> &'static str {
    ROLES.iter().find(|(known, _)| *known == role).map_or("invite.instructor", |(_, key)| key)
}

/// `POST /desk/site/invitations`: a mail goes out, or the answer is the paper with the code.
pub(crate) fn invite(site: &Site, call: &Call, clerk: &Clerk) -> Answer {
    let (sent, problem) = read(form(call)?, call.language());
    if let Some(problem) = problem {
        return again(site, call, clerk, sent, problem, None);
    }
    if sent.email.is_empty() {
        count_document(site, clerk.id(), clerk.role())?;
    }
    let invitee = Invitee {
        name: &sent.name,
        email: &sent.email,
        role: sent.role,
        language: sent.language,
        form_number: sent.number,
    };
    match app::change(site, clerk, call.language(), |cx| effect::invite(cx, &invitee))? {
        Ok(Invited::Mailed) => Ok(reply::see_other(&format!("{PART}/users?done=invited"))),
        Ok(Invited::Printed(code, ends_at)) => paper(site, &sent, code, ends_at),
        Err(denial) => {
            let (key, card) = match denial {
                Denial::HasAccount(member_id) => ("invite.has_account", Some(member_id)),
                Denial::NoMail => ("invite.no_mail", None),
                Denial::TooMany => ("invite.too_many", None),
                Denial::TooManyMails => ("invite.too_many_mails", None),
            };
            again(site, call, clerk, sent, call.say(key), card)
        }
    }
}

/// The form, as much of it as is known, and what is wrong with it, in the language of the page.
fn read(mut body: Fields, language: Language) -> (Sent, Option<String>) {
    let name = body.optional("name", fields::line(NAME_CHARS_MAX));
    let email = body.optional("email", fields::line(254));
    let [role, tag] = ["role", "language"].map(|name| body.optional(name, fields::line(20)));
    let number = body.optional("number", fields::whole_in(1..=i64::from(u32::MAX) + 1));
    let given = |field: Unvalidated<Option<String>>| field.into_option().flatten().unwrap_or_default();
    let known = Role::parse(&given(role)).filter(|role| ROLES.iter().any(|(offered, _)| offered == role));
    let typed = given(email);
    let email = if typed.is_empty() { Ok(String::new()) } else { crate::domain::email::parse(&typed) };
    let sent = Sent {
        name: given(name),
        email: email.clone().unwrap_or(typed),
        role: known.unwrap_or(Role::Desk),
        language: Language::find(&given(tag)).unwrap_or(language),
        number: number.into_option().flatten().unwrap_or_else(form_number),
        problem: None,
    };
    let say = |key| language.say(&Text::new(key));
    let problem = match () {
        () if body.is_refused() => Some(mistake(language, body, &LABELS)),
        () if sent.name.is_empty() => Some(say("invite.name_missing")),
        () if email.is_err() => Some(say("invite.email_wrong")),
        () if known.is_none() => Some(say("invite.role_wrong")),
        () => None,
    };
    (sent, problem)
}

fn again(site: &Site, call: &Call, clerk: &Clerk, sent: Sent, problem: String, card: Option<i64>) -> Answer {
    users::page_with(site, call, clerk, Sent { problem: Some((problem, card)), ..sent })
}

/// The slip that the colleague takes along, in the colleague's language.
fn paper(site: &Site, sent: &Sent, code: String, ends_at: i64) -> Answer {
    let (home, zone) = site.store.read(|tx| {
        let home = tunnels::find(tx, site.tunnel_id)?.ok_or_else(Failure::broken)?;
        Ok((home, tunnels::find_time_zone(tx, site.tunnel_id)?))
    })?;
    let language = sent.language;
    let say = |text: Text| language.say(&text);
    let url = format!("{}/claim", site.public_url());
    let slip = AccountSlip {
        site_name: home.name,
        site_city: home.city,
        title: say(Text::new("invite.slip_title")),
        name: sent.name.clone(),
        number: say(Text::new(role_key(sent.role))),
        lines: vec![
            say(Text::new("claim.slip_how").with("site", &url)),
            say(Text::new("claim.slip_until").with("until", when::day(language, &zone, ends_at))),
        ],
        code_word: say(Text::new("claim.code")),
        link: format!("{url}?code={code}"),
        code,
        language,
    };
    let pdf = site.draw(move || account_slip::draw(&slip))?.map_err(|e| Failure::broken().because(e))?;
    Ok(reply::file("application/pdf", "inline", "invitation.pdf", pdf))
}

/// `POST /desk/site/invitations/{invitation_id}/withdraw`: the code opens nothing any more.
pub(crate) fn withdraw(site: &Site, call: &Call, clerk: &Clerk) -> Answer {
    let invitation_id = call.param_id(0).ok_or_else(Failure::not_found)?;
    _ = app::change(site, clerk, call.language(), |cx| effect::withdraw(cx, invitation_id))?;
    Ok(reply::see_other(&format!("{PART}/users?done=withdrawn")))
}
