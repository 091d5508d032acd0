//! Invitations of colleagues, by mail or by a printed code, on the page of the staff.

use super::PART;
use super::invitation_view::{InvitationInput, role_key};
use super::staff;
use crate::app;
use crate::app::invitations::{self as effect, Denial, Invited, Invitee, ROLES};
use crate::auth::{Clerk, count_document};
use crate::domain::ids::MemberId;
use crate::domain::role::Role;
use crate::http::Answer;
use crate::http::call::Call;
use crate::http::failure::Stop;
use crate::http::reply;
use crate::i18n::language::{Language, Text};
use crate::moment::Moment;
use crate::site::Site;
use crate::web::desk::slip::{self, Recipient};
use crate::web::{Form, form, new_form_number, path_id, read_form_number};

const NAME_CHARS_MAX: usize = 100;
/// Names of the form's fields, and keys of their labels.
const LABELS: [(&str, &str); 4] =
    [("name", "invite.name"), ("email", "invite.email"), ("role", "invite.role"), ("language", "newcomer.language")];

/// `POST /desk/site/invitations`: mails an invitation, or replies with the printed code as a PDF.
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
    match app::try_change(site, clerk, call.language(), |cx| effect::invite(cx, &invitee)) {
        Ok(Invited::Mailed) => Ok(reply::see_other(&format!("{PART}/users?done=invited"))),
        Ok(Invited::Printed(code, ends_at)) => paper(site, &sent, code, ends_at),
        Err(Stop::Denied(denial)) => {
            let (key, card) = match denial {
                Denial::HasAccount(member_id) => ("invite.has_account", Some(member_id)),
                Denial::NoMail => ("invite.no_mail", None),
                Denial::SentBefore => ("invite.sent_before", None),
                Denial::TooMany => ("invite.too_many", None),
                Denial::TooManyMails => ("invite.too_many_mails", None),
            };
            // What is typed now is a new form.
            let number = if denial == Denial::SentBefore { new_form_number() } else { sent.number };
            again(site, call, clerk, InvitationInput { number, ..sent }, call.say(key), card)
        }
        Err(Stop::Failed(failure)) => Err(failure),
    }
}

/// The values of the form, and its first problem in words.
fn read(mut form: Form, language: Language) -> (InvitationInput, Option<String>) {
    let (name, typed) = (form.line("name", NAME_CHARS_MAX), form.line("email", 254));
    let (role, tag) = (form.line("role", 20), form.line("language", 20));
    let number = form.optional("number", read_form_number);
    let known = Role::parse(&role).filter(|role| ROLES.iter().any(|(offered, _)| offered == role));
    let email = if typed.is_empty() { Ok(String::new()) } else { crate::domain::email::parse(&typed) };
    let sent = InvitationInput {
        name,
        email: email.clone().unwrap_or(typed),
        role: known.unwrap_or(Role::Desk),
        language: Language::find(&tag).unwrap_or(language),
        number: number.unwrap_or_else(new_form_number),
        problem: None,
    };
    let say = |key| language.say(&Text::new(key));
    let problem = match () {
        () if form.0.is_refused() => Some(form.mistake(language, &LABELS)),
        () if sent.name.is_empty() => Some(say("invite.name_missing")),
        () if email.is_err() => Some(say("invite.email_wrong")),
        () if known.is_none() => Some(say("invite.role_wrong")),
        () => None,
    };
    (sent, problem)
}

fn again(
    site: &Site,
    call: &Call,
    clerk: &Clerk,
    sent: InvitationInput,
    problem: String,
    card: Option<MemberId>,
) -> Answer {
    staff::page_with_invitation(site, call, clerk, InvitationInput { problem: Some((problem, card)), ..sent })
}

/// The printed code as a PDF, in the colleague's language.
fn paper(site: &Site, sent: &InvitationInput, code: String, ends_at: Moment) -> Answer {
    let language = sent.language.spelt_as(site.german);
    let about = language.say(&Text::new(role_key(sent.role)));
    let recipient = Recipient { title: "invite.slip_title", name: sent.name.clone(), about };
    let pdf = slip::pdf(site, language, recipient, code, ends_at)?;
    Ok(reply::file("application/pdf", "inline", "invitation.pdf", pdf))
}

/// `POST /desk/site/invitations/{invitation_id}/withdraw`: invalidates the code.
pub(crate) fn withdraw(site: &Site, call: &Call, clerk: &Clerk) -> Answer {
    let invitation_id = path_id(call, 0)?;
    _ = app::change(site, clerk, call.language(), |cx| effect::withdraw(cx, invitation_id))?;
    Ok(reply::see_other(&format!("{PART}/users?done=withdrawn")))
}
