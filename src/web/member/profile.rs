//! The member's names and home tunnel, changed with the password as proof.

use super::frame::Shell;
use super::{account, show};
use crate::app;
use crate::app::own_profile::{self, Names};
use crate::auth::{Member, sign_in};
use crate::domain::ids::TunnelId;
use crate::domain::{password, username};
use crate::http::Answer;
use crate::http::call::Call;
use crate::http::failure::Failure;
use crate::http::fields;
use crate::http::reply;
use crate::i18n::language::Text;
use crate::site::Site;
use crate::store::tables::members;
use crate::store::tables::tunnels;
use crate::web::form_state::FormState;
use crate::web::{form, form_pairs, form_status};
use askama::Template;

const REAL_NAME_CHARS_MAX: usize = 100;
const SCREEN_NAME_CHARS_MAX: usize = 60;

#[derive(Template)]
#[template(path = "member/profile.html", config = "assets/templates/askama.toml")]
struct Page {
    shell: Shell,
    form: FormState,
    real_name: String,
    screen_name: String,
    username: String,
    tunnel_id: TunnelId,
    /// Number and name.
    tunnels: Vec<(TunnelId, String)>,
}

impl Page {
    /// The problems of every field: the form is short, so that they stand above it.
    fn problems(&self) -> Vec<&str> {
        self.form.other_problems(&[]).collect()
    }
}

/// `GET /me/account/profile`
pub(crate) fn show_form(site: &Site, call: &Call, member: &Member) -> Answer {
    page(site, call, member, FormState::empty())
}

fn page(site: &Site, call: &Call, member: &Member, form: FormState) -> Answer {
    let shell = Shell::of(site, call, member, account::PATH)?;
    let (profile, tunnels) = site.store.read(|tx| {
        let profile = members::find(tx, member.id())?.ok_or_else(Failure::not_signed_in)?;
        Ok((profile, tunnels::list(tx)?))
    })?;
    let is_sent = form.has_problems();
    let shown = |field: &str, stored: String| if is_sent { form.typed(field).to_owned() } else { stored };
    let page = Page {
        shell,
        real_name: shown("real_name", profile.real_name),
        screen_name: shown("screen_name", profile.screen_name),
        username: shown("username", profile.username),
        tunnel_id: form.typed("tunnel").parse().unwrap_or(profile.tunnel_id.unwrap_or(site.tunnel_id)),
        tunnels: tunnels.into_iter().map(|one| (one.tunnel_id, one.name)).collect(),
        form,
    };
    Ok(show(form_status(is_sent), call.language(), &page))
}

/// `POST /me/account/profile`
pub(crate) fn change(site: &Site, call: &Call, member: &Member) -> Answer {
    let sent = form_pairs(call)?;
    match edit(site, call, member) {
        Ok(()) => Ok(reply::see_other(&format!("{}?done=profile", account::PATH))),
        Err(failure) => FormState::refused(sent, failure, call, call.language(), |form| page(site, call, member, form)),
    }
}

fn edit(site: &Site, call: &Call, member: &Member) -> Result<(), Failure> {
    let mut form = form(call)?;
    let real_name = form.required("real_name", fields::line(REAL_NAME_CHARS_MAX));
    let screen_name = form.required("screen_name", fields::line(SCREEN_NAME_CHARS_MAX));
    let username = form.required("username", fields::as_line(username::parse));
    let tunnel_id = form.required("tunnel", fields::id);
    let secret = form.required("password", fields::secret);
    form.finish()?;
    if !site.store.read(|tx| Ok(tunnels::exists(tx, tunnel_id)?))? {
        return Err(Failure::field("tunnel", Text::new("field.unknown_tunnel")));
    }
    let proven = sign_in::check_own_password(site, call, member.id(), &secret)?.at("password")?;
    if password::is_name(&secret, &username) {
        return Err(Failure::field("username", Text::new("field.username_own")));
    }
    app::change(site, member, call.language(), |cx| {
        sign_in::check_same_password(cx.tx, &proven, "password")?;
        let names = Names { username: &username, screen_name: &screen_name, real_name: &real_name, tunnel_id };
        own_profile::edit(cx, &names)
    })
}
