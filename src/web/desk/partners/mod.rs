//! *Partners*: whose systems may call, on what terms, and which of their calls were refused. Everybody at the desk looks;
//! what hands out access or takes it is an admin's.

pub(crate) mod card;
pub(crate) mod digest;
mod refused;
pub(crate) mod users;

use crate::app;
use crate::app::bookings::DESK_CLIENT_ID;
use crate::app::partners::{
    self as access, Handed, NAME_CHARS_MAX, NETWORKS_MAX, REQUESTS_PER_MINUTE, REQUESTS_PER_MINUTE_MAX, Terms,
};
use crate::auth::refusals::Refusals;
use crate::auth::{Clerk, pin_guesses};
use crate::http::Answer;
use crate::http::call::Call;
use crate::http::failure::Failure;
use crate::http::fields::{self, Fields};
use crate::http::reply::Reply;
use crate::i18n::language::Text;
use crate::site::Site;
use crate::store::Read;
use crate::store::tables::partners;
use crate::web::mark::Mark;
use crate::web::{Frame, form, show as shown};
use askama::Template;
use http::{HeaderValue, StatusCode, header};
use ipnet::IpNet;
use refused::Line;

pub(super) const PART: &str = "/desk/partners";
const NETWORKS_CHARS_MAX: usize = 4_000;
const REFUSALS_SHOWN: usize = 20;

#[derive(Template)]
#[template(path = "desk/partners.html", config = "assets/templates/askama.toml")]
struct Page {
    frame: Frame,
    rows: Vec<Row>,
    refusals: Vec<Line>,
    sent: Sent,
}

struct Row {
    partner_id: i64,
    name: String,
    client_id: String,
    mark: Mark,
    /// Until when no PIN is taken from the partner, in words.
    paused: Option<Mark>,
    strict: bool,
    from: String,
    bookings: i64,
}

/// The form of a partner's terms, as it was filled in.
#[derive(Default)]
struct Sent {
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
    handed: Handed,
}

/// `GET /desk/partners`: every partner, and the latest calls that were refused.
pub(crate) fn list(site: &Site, call: &Call, clerk: &Clerk) -> Answer {
    page(site, call, clerk, Sent { per_minute: REQUESTS_PER_MINUTE.to_string(), ..Sent::default() })
}

fn page(site: &Site, call: &Call, clerk: &Clerk, sent: Sent) -> Answer {
    let (frame, zone, now) = (Frame::of(site, call, clerk, PART)?, site.time_zone()?, site.now());
    let (rows, names) = site.store.read(|tx| {
        let all = partners::list(tx)?;
        let names: Vec<(i64, String)> = all.iter().map(|one| (one.partner_id, one.name.clone())).collect();
        // The desk's own bookings stand among the partners', but nobody calls by that name.
        let others = all.into_iter().filter(|one| one.client_id != DESK_CLIENT_ID);
        let rows: Result<Vec<Row>, Failure> = others.map(|one| row(site, call, tx, one, now)).collect();
        Ok((rows?, names))
    })?;
    let name = |id: i64| names.iter().find(|(known, _)| *known == id).map(|(_, name)| name.clone());
    let latest = site.state::<Refusals>().latest(REFUSALS_SHOWN);
    let refusals = latest.into_iter().map(|one| Line::of(&zone, call, one.partner_id.and_then(name), one)).collect();
    let status = if sent.problem.is_some() { StatusCode::UNPROCESSABLE_ENTITY } else { StatusCode::OK };
    Ok(shown(status, call.language(), &Page { frame, rows, refusals, sent }))
}

fn row(site: &Site, call: &Call, tx: &Read, partner: partners::Partner, now: i64) -> Result<Row, Failure> {
    let networks = partners::list_networks(tx, partner.partner_id)?;
    let secrets = partners::list_spans(tx, partner.partner_id, now)?.len();
    Ok(Row {
        paused: paused(site, call, tx, partner.partner_id, now)?,
        mark: state(call, &partner, secrets),
        bookings: partners::count_bookings(tx, Some(partner.partner_id))?,
        partner_id: partner.partner_id,
        name: partner.name,
        client_id: partner.client_id,
        strict: partner.strict,
        from: if networks.is_empty() { call.say("partners.anywhere") } else { networks.join(", ") },
    })
}

/// Until when no PIN is taken from a partner that sent too many wrong ones.
fn paused(site: &Site, call: &Call, tx: &Read, partner_id: i64, now: i64) -> Result<Option<Mark>, Failure> {
    let seconds = pin_guesses::paused_for(site, tx, partner_id, now)?;
    let minutes = (seconds + 59) / 60;
    let text = || call.language().say(&Text::new("partners.state_paused").with("minutes", minutes));
    Ok((seconds > 0).then(|| Mark { tone: "bad", text: text() }))
}

/// Whether a partner can call, in colour and in words.
fn state(call: &Call, partner: &partners::Partner, secrets: usize) -> Mark {
    let (tone, key) = match (partner.revoked_at, secrets) {
        (Some(_), _) => ("bad", "partners.state_revoked"),
        (None, 0) => ("bad", "partners.state_no_secret"),
        (None, 1) => ("good", "partners.state_active"),
        (None, _) => ("soon", "partners.state_rotating"),
    };
    Mark { tone, text: call.say(key) }
}

/// `POST /desk/partners`: a new partner; its secret is shown on the answer and never again.
pub(crate) fn create(site: &Site, call: &Call, clerk: &Clerk) -> Answer {
    let mut body = form(call)?;
    let name = body.optional("name", fields::line(NAME_CHARS_MAX));
    let (sent, ok) = Sent::read(body)?;
    let name = name.get(&ok).unwrap_or_default();
    let sent = Sent { name: name.clone(), ..sent };
    let terms = match sent.terms(call) {
        Ok(_) if name.is_empty() => return page(site, call, clerk, sent.refused(call.say("partners.name_missing"))),
        Ok(terms) => terms,
        Err(problem) => return page(site, call, clerk, sent.refused(problem)),
    };
    let handed = app::change(site, clerk, call.language(), |cx| access::create(cx, None, &name, &terms))?;
    hand(site, call, clerk, name, handed)
}

/// The page that shows a secret once. No cache keeps it, and going back does not show it again.
fn hand(site: &Site, call: &Call, clerk: &Clerk, name: String, handed: Handed) -> Answer {
    let frame = Frame::of(site, call, clerk, PART)?;
    let reply: Reply = shown(StatusCode::OK, call.language(), &Secret { frame, name, handed });
    Ok(reply.with_header(header::CACHE_CONTROL, HeaderValue::from_static("no-store")))
}

impl Sent {
    /// The fields that both forms have. Values too long to be typed are refused outright.
    fn read(mut body: Fields) -> Result<(Sent, fields::Validated), Failure> {
        let networks = body.optional("networks", fields::lines(NETWORKS_CHARS_MAX));
        let per_minute = body.optional("per_minute", fields::line(20));
        let strict = body.has("strict");
        let ok = body.finish()?;
        let networks = networks.get(&ok).unwrap_or_default();
        Ok((Sent { networks, per_minute: per_minute.get(&ok).unwrap_or_default(), strict, ..Sent::default() }, ok))
    }

    fn refused(self, problem: String) -> Sent {
        Sent { problem: Some(problem), ..self }
    }

    /// The typed values as terms; else the text that says what to correct.
    fn terms(&self, call: &Call) -> Result<Terms, String> {
        let mut networks: Vec<IpNet> = Vec::new();
        for word in self.networks.split([',', ';', ' ', '\n', '\t']).filter(|word| !word.is_empty()) {
            let network = access::network(word);
            let odd = || call.language().say(&Text::new("partners.network_wrong").with("network", word));
            networks.push(network.ok_or_else(odd)?);
        }
        if networks.len() > NETWORKS_MAX {
            return Err(call.language().say(&Text::new("partners.networks_many").with("max", NETWORKS_MAX)));
        }
        let per_minute = if self.per_minute.is_empty() { Some(0) } else { self.per_minute.parse().ok() };
        let per_minute = per_minute.filter(|number| (0..=REQUESTS_PER_MINUTE_MAX).contains(number));
        let requests_per_minute = per_minute.ok_or_else(|| call.say("partners.pace_wrong"))?;
        Ok(Terms { strict: self.strict, networks, requests_per_minute })
    }
}
