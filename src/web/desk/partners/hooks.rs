//! The webhooks of a partner: where its events are sent, what became of them, and their secrets, which are shown once.

use super::{PART, Secret, card, show_secret_page};
use crate::app::hooks::{self as effects, Target};
use crate::app::{self, Change};
use crate::auth::Clerk;
use crate::domain::ids::{BookingId, HookId, PartnerId};
use crate::domain::local_time::TimeZone;
use crate::domain::webhook::{Trouble, URL_CHARS_MAX};
use crate::domain::when;
use crate::http::Answer;
use crate::http::call::Call;
use crate::http::failure::Failure;
use crate::http::reply;
use crate::i18n::language::Text;
use crate::jobs::hooks::new_secret;
use crate::moment::Moment;
use crate::site::Site;
use crate::store::Read;
use crate::store::tables::hooks::{self, Dead, Ended, Hook};
use crate::store::tables::partners::Partner;
use crate::web::badge::Badge;
use crate::web::{Frame, field_error_text, form_status, path_id, read_form, show as shown};
use askama::Template;

const DEAD_SHOWN: i64 = 10;
const TYPES_CHARS_MAX: usize = 400;
const ADDRESS_CHARS_MAX: usize = 60;
const DONE: [(&str, &str); 5] = [
    ("before", "desk.done_before"),
    ("test", "hook.done_test"),
    ("again", "hook.done_again"),
    ("off", "hook.done_off"),
    ("removed", "hook.done_removed"),
];

#[derive(Template)]
#[template(path = "desk/partner_hooks.html", config = "assets/templates/askama.toml")]
struct Page {
    frame: Frame,
    partner: Partner,
    rows: Vec<Row>,
    types: Vec<&'static str>,
    sent: Typed,
}

struct Row {
    /// Where its forms go.
    path: String,
    hook: Hook,
    badge: Badge,
    /// Why the last delivery or the last test was not taken; empty: it was.
    trouble: String,
    /// The last delivery that was taken.
    taken: Option<String>,
    dead: Vec<DeadEvent>,
    /// How many more dead events there are than are listed; empty: none.
    more: String,
    /// Whether a button puts it in force again.
    can_go_on: bool,
    /// Says until when a secret signs beside the present one; empty: none does.
    old_until: String,
}

struct DeadEvent {
    what: String,
    trouble: String,
}

/// The form as it was typed.
#[derive(Default)]
struct Typed {
    url: String,
    types: String,
    address: String,
    problem: Option<String>,
}

/// `GET /desk/partners/{partner_id}/webhooks`
pub(crate) fn show(site: &Site, call: &Call, clerk: &Clerk) -> Answer {
    page(site, call, clerk, Typed::default())
}

fn page(site: &Site, call: &Call, clerk: &Clerk, sent: Typed) -> Answer {
    let (mut frame, zone) = (Frame::after_action(site, call, clerk, PART, &DONE)?, site.time_zone()?);
    if !frame.address.is_empty() {
        frame.address = path_of(call)?;
    }
    let page = site.store.read(|tx| {
        let partner = card::find(tx, call)?;
        let all = hooks::list_of(tx, partner.partner_id)?;
        let rows: Result<Vec<Row>, Failure> =
            all.into_iter().map(|hook| row(tx, (call, site.now()), &zone, hook)).collect();
        Ok(Page { rows: rows?, types: effects::types(), partner, frame, sent })
    })?;
    Ok(shown(form_status(page.sent.problem.is_some()), call.language(), &page))
}

fn row(tx: &Read, (call, now): (&Call, Moment), zone: &TimeZone, hook: Hook) -> Result<Row, Failure> {
    let language = call.language();
    let said = |trouble: &str| Trouble::text(trouble).map(|text| language.say(&text)).unwrap_or_default();
    let event = |dead: Dead| {
        let BookingId(booking) = dead.booking_id;
        let what = Text::new("hook.dead_one").with("booking", booking).with("seq", dead.seq);
        DeadEvent { what: language.say(&what), trouble: said(&dead.trouble) }
    };
    let dead: Vec<DeadEvent> = hooks::list_dead(tx, hook.hook_id, DEAD_SHOWN)?.into_iter().map(event).collect();
    let more = hook.dead - dead.len() as i64;
    let more_text = || language.say(&Text::new("hook.dead_more").with_count("count", more));
    let old_text = |at| language.say(&Text::new("hook.two_secrets").with("until", when::moment(language, zone, at)));
    let old_end = hooks::find_old_secret_end(tx, hook.hook_id, now)?;
    let waits = matches!(hook.ended_as, None | Some(Ended::Untested));
    Ok(Row {
        badge: state(call, zone, &hook),
        trouble: said(&hook.trouble),
        taken: hook.taken_at.map(|at| when::moment(language, zone, at)),
        more: if more > 0 { more_text() } else { String::new() },
        path: format!("{PART}/{}/webhooks/{}", hook.partner_id, hook.hook_id),
        can_go_on: !waits,
        old_until: old_end.map(old_text).unwrap_or_default(),
        dead,
        hook,
    })
}

/// The badge that says whether events arrive.
fn state(call: &Call, zone: &TimeZone, hook: &Hook) -> Badge {
    let (tone, key) = match (hook.ended_as, hook.failing_since) {
        _ if hook.test_asked => ("soon", "hook.testing"),
        (Some(Ended::Untested), _) => ("bad", "hook.untested"),
        (Some(Ended::Off | Ended::Removed), _) => ("plain", "hook.off"),
        (Some(Ended::Gone), _) => ("bad", "hook.gone"),
        (Some(Ended::Failing), _) => ("bad", "hook.failing"),
        (None, Some(_)) => ("bad", "hook.fails"),
        (None, None) => ("good", "hook.works"),
    };
    let since = hook.failing_since.map(|at| when::moment(call.language(), zone, at)).unwrap_or_default();
    Badge::new(tone, call.language().say(&Text::new(key).with("since", since)))
}

fn path_of(call: &Call) -> Result<String, Failure> {
    Ok(format!("{PART}/{}/webhooks", path_id::<PartnerId>(call, 0)?))
}

/// `POST /desk/partners/{partner_id}/webhooks`: registers a webhook, which a test follows, and shows its secret once.
pub(crate) fn add(site: &Site, call: &Call, clerk: &Clerk) -> Answer {
    let (sent, number) = read_form(call, |form| {
        let sent = Typed {
            url: form.line("url", URL_CHARS_MAX),
            types: form.line("types", TYPES_CHARS_MAX),
            address: form.line("address", ADDRESS_CHARS_MAX),
            problem: None,
        };
        (sent, form.number())
    })?;
    let (secret, text) = new_secret();
    let added = Target::read(&sent.url, &sent.types, &sent.address).and_then(|target| {
        app::change(site, clerk, call.language(), |cx| {
            let partner = card::find(cx.tx, call)?;
            if !cx.is_first_sending(number)? {
                return Ok(None);
            }
            effects::add(cx, &partner, &target, &secret)?;
            Ok(Some(partner.name))
        })
    });
    match added {
        Ok(Some(name)) => secret_page(site, call, clerk, name, text),
        Ok(None) => to_list(call, "before"),
        Err(failure) => {
            let problem = Some(field_error_text(failure, call.language())?);
            page(site, call, clerk, Typed { problem, ..sent })
        }
    }
}

/// `POST …/webhooks/{hook_id}/secret`: makes another secret and shows it once; the one before signs too for a week.
pub(crate) fn rotate(site: &Site, call: &Call, clerk: &Clerk) -> Answer {
    let (number, ends_old) = read_form(call, |form| (form.number(), form.has("end_older")))?;
    let (secret, text) = new_secret();
    let name = app::change(site, clerk, call.language(), |cx| {
        let (partner, hook_id) = named(cx, call)?;
        if !cx.is_first_sending(number)? {
            return Ok(None);
        }
        effects::rotate(cx, hook_id, &secret, ends_old)?;
        Ok(Some(partner.name))
    })?;
    match name {
        Some(name) => secret_page(site, call, clerk, name, text),
        None => to_list(call, "before"),
    }
}

fn secret_page(site: &Site, call: &Call, clerk: &Clerk, name: String, secret: String) -> Answer {
    let frame = Frame::of(site, call, clerk, PART)?;
    let page = Secret { frame, name, client_id: None, secret, usage: "hook.secret_use", back: path_of(call)? };
    Ok(show_secret_page(call, &page))
}

/// `POST …/webhooks/{hook_id}/test`: lets the job send a test.
pub(crate) fn test(site: &Site, call: &Call, clerk: &Clerk) -> Answer {
    deed(site, call, clerk, "test", effects::ask_test)
}

/// `POST …/webhooks/{hook_id}/again`: sends again what was not taken; a webhook that is off or ended by itself goes on.
pub(crate) fn send_again(site: &Site, call: &Call, clerk: &Clerk) -> Answer {
    deed(site, call, clerk, "again", |cx, hook_id| effects::replay(cx, hook_id, None).map(drop))
}

/// `POST …/webhooks/{hook_id}/off`: sends nothing until it is switched on.
pub(crate) fn switch_off(site: &Site, call: &Call, clerk: &Clerk) -> Answer {
    deed(site, call, clerk, "off", effects::switch_off)
}

/// `POST …/webhooks/{hook_id}/remove`: ends it for good.
pub(crate) fn remove(site: &Site, call: &Call, clerk: &Clerk) -> Answer {
    deed(site, call, clerk, "removed", effects::remove)
}

fn deed(
    site: &Site,
    call: &Call,
    clerk: &Clerk,
    done: &str,
    effect: impl FnOnce(&Change, HookId) -> Result<(), Failure>,
) -> Answer {
    app::change(site, clerk, call.language(), |cx| effect(cx, named(cx, call)?.1))?;
    to_list(call, done)
}

fn to_list(call: &Call, done: &str) -> Answer {
    Ok(reply::see_other(&format!("{}?done={done}", path_of(call)?)))
}

/// The partner and its webhook that the path names. 404 for a webhook of another partner.
fn named(cx: &Change, call: &Call) -> Result<(Partner, HookId), Failure> {
    let (partner, hook_id) = (card::find(cx.tx, call)?, path_id::<HookId>(call, 1)?);
    let hook = hooks::find(cx.tx, hook_id)?.filter(|hook| hook.partner_id == partner.partner_id);
    hook.map(|_| (partner, hook_id)).ok_or_else(Failure::not_found)
}
