//! *Partners*: the partners, their terms, and the calls that were refused. For admins.

pub(crate) mod card;
pub(crate) mod digest;
pub(crate) mod hooks;
mod refused_calls;
pub(crate) mod restore_users;

use crate::app;
use crate::app::bookings::DESK_CLIENT_ID;
use crate::app::partners::{
    self as access, IssuedCredentials, NAME_CHARS_MAX, NETWORKS_MAX, REQUESTS_PER_MINUTE, REQUESTS_PER_MINUTE_MAX,
    Terms,
};
use crate::auth::Clerk;
use crate::auth::limits::booking_pins;
use crate::auth::refusals::Refusals;
use crate::domain::ids::PartnerId;
use crate::http::Answer;
use crate::http::call::Call;
use crate::http::failure::Failure;
use crate::http::reply::{self, Reply};
use crate::i18n::language::Text;
use crate::moment::Moment;
use crate::site::Site;
use crate::store::Read;
use crate::store::tables::partners;
use crate::web::badge::Badge;
use crate::web::{Form, Frame, form_status, read_form, show as shown};
use askama::Template;
use http::StatusCode;
use ipnet::IpNet;
use refused_calls::Line;

pub(super) const PART: &str = "/desk/partners";
const NETWORKS_CHARS_MAX: usize = 4_000;
const REFUSALS_SHOWN: usize = 20;
const DONE: [(&str, &str); 1] = [("before", "desk.done_before")];

#[derive(Template)]
#[template(path = "desk/partners.html", config = "assets/templates/askama.toml")]
struct Page {
    frame: Frame,
    rows: Vec<Row>,
    refusals: Vec<Line>,
    sent: TermsInput,
}

struct Row {
    partner_id: PartnerId,
    name: String,
    client_id: String,
    badge: Badge,
    /// Badge of a partner whose PINs are not judged for a while.
    paused: Option<Badge>,
    strict: bool,
    from: String,
    bookings: i64,
}

/// The values of the form of a partner's terms, as typed.
#[derive(Default)]
struct TermsInput {
    name: String,
    networks: String,
    per_minute: String,
    strict: bool,
    problem: Option<String>,
}

#[derive(Template)]
#[template(path = "desk/partner_secret.html", config = "assets/templates/askama.toml")]
struct Secret {
    frame: Frame,
    name: String,
    /// What the partner calls itself by, where that is new too.
    client_id: Option<String>,
    secret: String,
    /// The key of the text that says how the secret is used.
    usage: &'static str,
    /// Where to go once the secret is passed on.
    back: String,
}

/// `GET /desk/partners`: all partners, and the latest refused calls.
pub(crate) fn list(site: &Site, call: &Call, clerk: &Clerk) -> Answer {
    page(site, call, clerk, TermsInput { per_minute: REQUESTS_PER_MINUTE.to_string(), ..TermsInput::default() })
}

fn page(site: &Site, call: &Call, clerk: &Clerk, sent: TermsInput) -> Answer {
    let (frame, zone, now) = (Frame::after_action(site, call, clerk, PART, &DONE)?, site.time_zone()?, site.now());
    let (rows, names) = site.store.read(|tx| {
        let all = partners::list(tx)?;
        let names: Vec<(PartnerId, String)> = all.iter().map(|one| (one.partner_id, one.name.clone())).collect();
        // The desk's own bookings belong to a partner that makes no calls.
        let others = all.into_iter().filter(|one| one.client_id != DESK_CLIENT_ID);
        let rows: Result<Vec<Row>, Failure> = others.map(|one| row(site, call, tx, one, now)).collect();
        Ok((rows?, names))
    })?;
    let name = |id: PartnerId| names.iter().find(|(known, _)| *known == id).map(|(_, name)| name.clone());
    let latest = site.state::<Refusals>().latest(REFUSALS_SHOWN);
    let refusals = latest.into_iter().map(|one| Line::of(&zone, call, one.partner_id.and_then(name), one)).collect();
    let status = form_status(sent.problem.is_some());
    Ok(shown(status, call.language(), &Page { frame, rows, refusals, sent }))
}

fn row(site: &Site, call: &Call, tx: &Read, partner: partners::Partner, now: Moment) -> Result<Row, Failure> {
    let networks = partners::list_networks(tx, partner.partner_id)?;
    let secrets = partners::list_spans(tx, partner.partner_id, now)?.len();
    Ok(Row {
        paused: paused(site, call, tx, partner.partner_id, now)?,
        badge: state_badge(call, &partner, secrets),
        bookings: partners::count_bookings(tx, Some(partner.partner_id))?,
        partner_id: partner.partner_id,
        name: partner.name,
        client_id: partner.client_id,
        strict: partner.strict,
        from: if networks.is_empty() { call.say("partners.anywhere") } else { networks.join(", ") },
    })
}

/// The badge of a partner that sent too many wrong PINs, with the minutes that are left.
fn paused(site: &Site, call: &Call, tx: &Read, partner_id: PartnerId, now: Moment) -> Result<Option<Badge>, Failure> {
    let seconds = booking_pins::partner_paused_for(site, tx, partner_id, now)?;
    let minutes = (seconds + 59) / 60;
    let text = || call.language().say(&Text::new("partners.state_paused").with_count("minutes", minutes));
    Ok((seconds > 0).then(|| Badge { tone: "bad", text: text() }))
}

/// The badge that says whether a partner can call.
fn state_badge(call: &Call, partner: &partners::Partner, secrets: usize) -> Badge {
    let (tone, key) = match (partner.revoked_at, secrets) {
        (Some(_), _) => ("bad", "partners.state_revoked"),
        (None, 0) => ("bad", "partners.state_no_secret"),
        (None, 1) => ("good", "partners.state_active"),
        (None, _) => ("soon", "partners.state_rotating"),
    };
    Badge { tone, text: call.say(key) }
}

/// `POST /desk/partners`: adds a partner and shows its secret once.
pub(crate) fn create(site: &Site, call: &Call, clerk: &Clerk) -> Answer {
    let (sent, number) = read_form(call, |form| {
        let sent = TermsInput { name: form.line("name", NAME_CHARS_MAX), ..TermsInput::read(form) };
        (sent, form.number())
    })?;
    let name = sent.name.clone();
    let terms = match sent.terms(call) {
        Ok(_) if name.is_empty() => return page(site, call, clerk, sent.refused(call.say("partners.name_missing"))),
        Ok(terms) => terms,
        Err(problem) => return page(site, call, clerk, sent.refused(problem)),
    };
    let handed = app::change(site, clerk, call.language(), |cx| match cx.is_first_sending(number)? {
        true => access::create(cx, None, &name, &terms).map(Some),
        false => Ok(None),
    })?;
    match handed {
        Some(handed) => show_secret(site, call, clerk, name, handed),
        None => Ok(reply::see_other(&format!("{PART}?done=before"))),
    }
}

fn show_secret(site: &Site, call: &Call, clerk: &Clerk, name: String, handed: IssuedCredentials) -> Answer {
    let (frame, back) = (Frame::of(site, call, clerk, PART)?, format!("{PART}/{}", handed.partner_id));
    let IssuedCredentials { client_id, secret, .. } = handed;
    let page = Secret { frame, name, client_id: Some(client_id), secret, usage: "partners.secret_use", back };
    Ok(show_secret_page(call, &page))
}

/// The page that shows a secret once. It is not cached.
fn show_secret_page(call: &Call, page: &Secret) -> Reply {
    shown(StatusCode::OK, call.language(), page).unstored()
}

impl TermsInput {
    /// Reads the fields that both forms have.
    fn read(form: &mut Form) -> TermsInput {
        TermsInput {
            networks: form.lines("networks", NETWORKS_CHARS_MAX),
            per_minute: form.line("per_minute", 20),
            strict: form.has("strict"),
            ..TermsInput::default()
        }
    }

    fn refused(self, problem: String) -> TermsInput {
        TermsInput { problem: Some(problem), ..self }
    }

    /// The terms; else the text of the first problem.
    fn terms(&self, call: &Call) -> Result<Terms, String> {
        let mut networks: Vec<IpNet> = Vec::new();
        for word in self.networks.split([',', ';', ' ', '\n', '\t']).filter(|word| !word.is_empty()) {
            let network = access::network(word);
            let odd = || call.language().say(&Text::new("partners.network_wrong").with("network", word));
            networks.push(network.ok_or_else(odd)?);
        }
        if networks.len() > NETWORKS_MAX {
            return Err(call.language().say(&Text::new("partners.networks_many").with_count("max", NETWORKS_MAX)));
        }
        let per_minute = if self.per_minute.is_empty() { Some(0) } else { self.per_minute.parse().ok() };
        let per_minute = per_minute.filter(|number| (0..=REQUESTS_PER_MINUTE_MAX).contains(number));
        let requests_per_minute = per_minute.ok_or_else(|| call.say("partners.pace_wrong"))?;
        Ok(Terms { strict: self.strict, networks, requests_per_minute })
    }
}
