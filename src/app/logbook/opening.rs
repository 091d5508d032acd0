//! Opening balances: earlier flight time and skills, in one document with one signature.

use super::rules::{self, Item, check_place};
use super::{actor_id, record, sign_offs};
use crate::app::{Change, events, flights};
use crate::domain::entry::Kind;
use crate::domain::ids::{EntryId, MemberId, TunnelId};
use crate::domain::minutes::MINUTES;
use crate::http::failure::Failure;
use crate::http::fields::Fields;
use crate::i18n::language::Text;
use crate::moment::Moment;
use crate::store::tables::events::Event;
use crate::store::tables::members;
use crate::store::tables::skills::{self, NewEntry};

/// A thousand hours, in minutes.
pub(crate) const MINUTES_MAX: i64 = 60_000;

/// An opening balance as the desk enters it.
#[derive(Debug)]
pub(crate) struct Balance {
    /// The signer who is asked.
    pub instructor_id: MemberId,
    /// Unix seconds.
    pub entry_date: Moment,
    pub tunnel_id: TunnelId,
    pub comment: String,
    /// 0 to [`MINUTES_MAX`].
    pub minutes: i64,
    /// Catalogue numbers of the skills, each once.
    pub skills: Vec<String>,
}

/// Enters an opening balance in the logbook of a member. Staff only. The balance counts once the named instructor, who
/// must be allowed to sign all of it, has signed. Audited; the instructor is notified. Returns the number of the first
/// entry, which is the balance's number.
pub(crate) fn enter(cx: &Change, holder_id: MemberId, balance: &Balance) -> Result<EntryId, Failure> {
    cx.check_staff()?;
    if balance.minutes == 0 && balance.skills.is_empty() {
        return Err(Failure::field("time", Text::new("field.time_or_skills")));
    }
    cx.check_here(holder_id)?;
    let items = check(cx, holder_id, balance)?;
    if balance.minutes > 0 {
        flights::check_time(cx, holder_id, balance.tunnel_id, balance.entry_date)?;
    }
    let entry_id = insert(cx, holder_id, balance, &items)?;
    let entry = skills::find(cx.tx, entry_id)?.ok_or_else(Failure::broken)?;
    sign_offs::notify_requested_signer(cx, &entry)?;
    for one in sign_offs::signed_together(cx.tx, &entry)? {
        events::tell_of_entry(cx.tx, Event::EntryRequested, &one)?;
    }
    record(cx, "opening.entered", holder_id, entry_id)?;
    Ok(entry_id)
}

/// The requirements of levels are not checked: a member from another tunnel starts with the levels reached there.
fn check(cx: &Change, holder_id: MemberId, balance: &Balance) -> Result<Vec<Item>, Failure> {
    let (site, tx) = (cx.site, cx.tx);
    let mut problems = Fields::new(Default::default());
    let place = (Some(balance.entry_date), Some(balance.tunnel_id));
    check_place(tx, holder_id, place, None, cx.now(), &mut problems)?;
    let mut items = Vec::new();
    for skill in &balance.skills {
        match rules::find_item(site, skill) {
            None => problems.refuse("skills", Text::new("field.unknown_skill_in").with("skill", skill)),
            Some(item) if rules::is_taken(tx, holder_id, skill, &item, EntryId(0))? => {
                problems.refuse("skills", Text::new("field.skill_taken").with("skill", skill));
            }
            Some(item) => items.push(item),
        }
    }
    let time = sign_offs::first_level(site).filter(|_| balance.minutes > 0);
    for level in items.iter().map(|item| item.level).chain(time) {
        let (signer_id, tunnel_id) = (balance.instructor_id, balance.tunnel_id);
        if let Some(text) = rules::signer_denial(site, tx, holder_id, signer_id, level, tunnel_id, cx.now())? {
            problems.refuse("instructor", text);
            break;
        }
    }
    problems.finish()?;
    Ok(items)
}

/// Inserts the entries of a balance, all pending; returns the number of the first.
fn insert(cx: &Change, holder_id: MemberId, balance: &Balance, items: &[Item]) -> Result<EntryId, Failure> {
    rules::check_room(&members::find_holder(cx.tx, holder_id)?)?;
    let author_id = actor_id(cx)?;
    let mut opening = None;
    let mut insert = |kind, cat_group, cat_id, skill, minutes| -> Result<(), Failure> {
        let new = NewEntry {
            member_id: holder_id,
            kind,
            author_id,
            cat_group,
            cat_id,
            skill,
            entry_date: balance.entry_date,
            minutes,
            tunnel_id: balance.tunnel_id,
            comment: &balance.comment,
            instructor_id: balance.instructor_id,
            opening,
        };
        let entry_id = skills::insert(cx.tx, &new)?;
        if opening.is_none() {
            skills::set_opening(cx.tx, entry_id)?;
            opening = Some(entry_id);
        }
        Ok(())
    };
    // A flight-time entry has a greatest length, so a longer balance is split.
    let mut left = balance.minutes;
    while left > 0 {
        let minutes = left.min(*MINUTES.end());
        insert(Kind::Time, "", "", "", minutes)?;
        left -= minutes;
    }
    for (skill, item) in balance.skills.iter().zip(items) {
        insert(item.kind, item.cat_group, item.cat_id, skill, 0)?;
    }
    opening.ok_or_else(Failure::invalid_fields)
}
