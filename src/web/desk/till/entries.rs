//! One entry of the till: its page, its receipt as a PDF or by mail, and its undoing.

use super::{PART, TEXT_CHARS_MAX, money};
use crate::app;
use crate::app::payments::till::{self as effect, drawer, receipts};
use crate::auth::{Clerk, count_document};
use crate::documents::PersonName;
use crate::documents::printout::receipt::{self, Receipt};
use crate::domain::ids::MemberId;
use crate::domain::till::Kind;
use crate::domain::when;
use crate::http::Answer;
use crate::http::call::Call;
use crate::http::failure::{Failure, Stop};
use crate::http::reply;
use crate::i18n::language::{Language, Text};
use crate::site::Site;
use crate::store::tables::till::{self, Line};
use crate::store::tables::{members, tunnels};
use crate::web::{Frame, done_with, form_status, path_id, read_form, show as shown};
use askama::Template;

const DONE: [(&str, &str); 5] = [
    ("taken", "till.done_taken"),
    ("taken-mailed", "till.done_taken_mailed"),
    ("mailed", "till.done_mailed"),
    ("undone", "till.done_undone"),
    ("move-undone", "till.done_move_undone"),
];

#[derive(Template)]
#[template(path = "desk/till_entry.html", config = "assets/templates/askama.toml")]
struct Page {
    frame: Frame,
    entry_id: i64,
    /// Key of what the entry is.
    title: &'static str,
    /// Whether a paper can be printed of it.
    has_paper: bool,
    kind: String,
    amount: String,
    until: Option<String>,
    at: String,
    clerk: String,
    reason: String,
    member_id: Option<MemberId>,
    member: String,
    /// Text with the address that the receipt can be mailed to; `None` without one.
    mail_to: Option<String>,
    /// The entry that this one undoes, and the entry that undoes this one.
    undoes: Option<i64>,
    undone_by: Option<i64>,
    may_undo: bool,
    /// Whether the entry is of cash without a fee.
    is_movement: bool,
    /// Until when the clerk can undo the own payment, in words.
    undo_until: Option<String>,
    /// Whether the entry undoes another, and waits for this admin to see it.
    waits_for_review: bool,
    /// Whether an admin can undo the payment, and the clerk is none.
    needs_admin: bool,
    problem: Option<String>,
    typed: String,
}

/// `GET /desk/till/entries/{entry_id}`
pub(crate) fn show(site: &Site, call: &Call, clerk: &Clerk) -> Answer {
    page(site, call, clerk, None)
}

fn page(site: &Site, call: &Call, clerk: &Clerk, refused: Option<(String, &'static str)>) -> Answer {
    let entry_id = path_id(call, 0)?;
    let mut frame = Frame::of(site, call, clerk, PART)?;
    let (zone, language) = (site.time_zone()?, call.language());
    let (line, account, own_until, is_open) = site.store.read(|tx| {
        let line = till::find_line(tx, entry_id)?.ok_or_else(Failure::not_found)?;
        let entry = till::find(tx, entry_id)?.ok_or_else(Failure::not_found)?;
        let account = line.member_id.map(|member_id| members::find_account_by_id(tx, member_id)).transpose()?.flatten();
        let own_until = effect::own_undo_ends(tx, clerk.id(), entry_id, &entry, site.now())?;
        Ok((line, account, own_until, entry_id > effect::read_day(site, tx)?.from))
    })?;
    let amount = money(language, line.amount_cents, &line.currency);
    frame.done = done_with(call, &DONE, |text| text.with("amount", &amount).with("name", &line.member));
    let served = account.filter(|account| clerk.denial(account).is_none());
    let is_movement = Kind::MOVEMENTS.contains(&line.kind);
    let stands = line.undoes.is_none() && line.undone_by.is_none();
    let (is_fee, is_moved) = (stands && !is_movement, stands && is_movement && is_open);
    let is_admin = clerk.check_admin().is_ok();
    let own_until = own_until.filter(|_| !is_admin);
    let status = form_status(refused.is_some());
    let (typed, problem) = refused.map_or_else(Default::default, |(typed, key)| (typed, Some(call.say(key))));
    let page = Page {
        entry_id,
        title: match line.undoes {
            Some(_) => "till.undo_title",
            None if is_movement => "till.movement",
            None => "till.receipt",
        },
        has_paper: !is_movement,
        kind: call.say(line.kind.key()),
        amount,
        until: line.paid_until.map(|until| when::day(language, &zone, until)),
        at: when::moment(language, &zone, line.taken_at),
        clerk: line.clerk,
        reason: line.reason,
        member_id: line.member_id,
        member: line.member,
        needs_admin: (is_fee || is_moved) && !is_admin && own_until.is_none(),
        may_undo: (is_admin || own_until.is_some()) && (is_moved || is_fee && served.is_some()),
        is_movement,
        undo_until: own_until.map(|until| language.say(&Text::new("till.undo_until").with("clock", zone.clock(until)))),
        waits_for_review: is_admin && line.undoes.is_some() && line.reviewed_by.is_none(),
        mail_to: served
            .filter(|account| is_fee && !account.email.is_empty())
            .map(|account| language.say(&Text::new("till.mail_to").with("address", account.email))),
        undoes: line.undoes,
        undone_by: line.undone_by,
        problem,
        typed,
        frame,
    };
    Ok(shown(status, language, &page))
}

/// `GET /desk/till/entries/{entry_id}/receipt`: a receipt or a reversal as a PDF, in the member's language.
pub(crate) fn receipt(site: &Site, call: &Call, clerk: &Clerk) -> Answer {
    let entry_id = path_id(call, 0)?;
    count_document(site, clerk.id(), clerk.role())?;
    let pdf = receipt_pdf(site, call.language(), entry_id)?;
    Ok(reply::file("application/pdf", "inline", &format!("receipt-{entry_id}.pdf"), pdf))
}

/// The receipt of a fee, or the paper of its undoing, as a PDF, in the member's language, else in this one. 404 where the entry
/// is neither.
pub(crate) fn receipt_pdf(site: &Site, language: Language, entry_id: i64) -> Result<Vec<u8>, Failure> {
    let receipt = site.store.read(|tx| {
        let line = till::find_line(tx, entry_id)?
            .filter(|line| !Kind::MOVEMENTS.contains(&line.kind))
            .ok_or_else(Failure::not_found)?;
        let words = receipts::word_receipt(site, tx, &line, language)?;
        let home = tunnels::find(tx, site.tunnel_id)?.ok_or_else(Failure::broken)?;
        Ok(receipt_of(site, home, line, words))
    })?;
    app::papers::draw(site, move |letters| receipt::draw(&receipt, letters))
}

fn receipt_of(site: &Site, home: tunnels::Tunnel, line: Line, words: receipts::Receipt) -> Receipt {
    let say = |key: &'static str| words.language.say(&Text::new(key));
    let number = line.member_id.map(|member_id| format!("{} {member_id}", say("desk.number")));
    let member = number
        .map_or_else(PersonName::default, |number| PersonName::new(format!("{} ({number})", line.member), number));
    let plain = |fact: String| PersonName::new(&*fact, &*fact);
    let undoes = line.undoes.map(|undone| format!("{} {undone}", say("till.receipt"))).unwrap_or_default();
    let facts = [
        ("till.undoes", plain(undoes)),
        (if line.undoes.is_some() { "till.member" } else { "till.receipt_from" }, member),
        ("till.receipt_for", plain(say("till.membership"))),
        ("till.kind", plain(words.kind)),
        ("till.paid_until", plain(words.until)),
        ("till.reason", plain(line.reason)),
        ("till.clerk", plain(line.clerk)),
        ("till.issuer", plain(issuer(site))),
        ("till.tax_number", plain(site.config.papers.tax_number.clone())),
    ];
    Receipt {
        site_name: home.name,
        site_city: home.city,
        title: say(if line.undoes.is_some() { "till.undo_title" } else { "till.receipt" }),
        number: line.entry_id,
        number_word: say("desk.number"),
        at: words.at,
        amount: words.amount,
        facts: facts
            .into_iter()
            .filter(|(_, fact)| !fact.name.is_empty())
            .map(|(key, fact)| (say(key), fact))
            .collect(),
        void: line.undone_by.map(|_| say("till.undone_long")),
        language: words.language,
    }
}

/// The operator's name and address, as far as they are known.
fn issuer(site: &Site) -> String {
    let papers = &site.config.papers;
    let known = [&*papers.name, &*papers.address];
    known.into_iter().filter(|part| !part.is_empty()).collect::<Vec<_>>().join(", ")
}

/// `POST /desk/till/entries/{entry_id}/mail`: mails the receipt to the member.
pub(crate) fn mail(site: &Site, call: &Call, clerk: &Clerk) -> Answer {
    let entry_id = path_id(call, 0)?;
    match app::change(site, clerk, call.language(), |cx| receipts::mail_receipt(cx, entry_id))? {
        true => back(entry_id, "mailed"),
        false => page(site, call, clerk, Some((String::new(), "till.no_address"))),
    }
}

/// `POST /desk/till/entries/{entry_id}/undo`: undoes a fee and takes the year back, or undoes cash that was moved; leads to the
/// entry that undoes it.
pub(crate) fn undo(site: &Site, call: &Call, clerk: &Clerk) -> Answer {
    let entry_id = path_id(call, 0)?;
    let reason = read_form(call, |form| form.line("reason", TEXT_CHARS_MAX))?;
    match app::try_change(site, clerk, call.language(), |cx| effect::undo_entry(cx, entry_id, &reason)) {
        Ok(undo) => {
            let kind = site.store.read(|tx| Ok(till::find(tx, undo)?.map(|entry| entry.kind)))?;
            let is_movement = kind.is_some_and(|kind| Kind::MOVEMENTS.contains(&kind));
            back(undo, if is_movement { "move-undone" } else { "undone" })
        }
        Err(Stop::Denied(denial)) => page(site, call, clerk, Some((reason, denial.key()))),
        Err(Stop::Failed(failure)) => Err(failure),
    }
}

/// `POST /desk/till/entries/{entry_id}/reviewed`: an admin has seen what a clerk undid; leads to the next that waits.
pub(crate) fn review(site: &Site, call: &Call, clerk: &Clerk) -> Answer {
    let entry_id = path_id(call, 0)?;
    let next = app::change(site, clerk, call.language(), |cx| {
        drawer::review(cx, entry_id)?;
        Ok(till::find_unreviewed(cx.tx)?)
    })?;
    Ok(reply::see_other(&match next {
        (0, _) => "/desk".to_owned(),
        (_, next) => format!("/desk/till/entries/{next}"),
    }))
}

fn back(entry_id: i64, done: &str) -> Answer {
    Ok(reply::see_other(&format!("/desk/till/entries/{entry_id}?done={done}")))
}
