//! The member's logbook as a list: searched, of one year or kind, page by page.

use super::entry::badge;
use super::frame::{LOGBOOK, Shell};
use super::show;
use crate::auth::Member;
use crate::domain::catalogue::names;
use crate::domain::entry::{Kind, displayed_status};
use crate::domain::ids::MemberId;
use crate::domain::local_time::TimeZone;
use crate::domain::minutes;
use crate::http::Answer;
use crate::http::call::Call;
use crate::http::failure::Failure;
use crate::i18n::date::in_full;
use crate::i18n::language::{Language, Text};
use crate::moment::Moment;
use crate::site::Site;
use crate::store::Read;
use crate::store::queries::logbook::{self as entries, Line};
use crate::store::queries::standing;
use crate::web::badge::Badge;
use crate::web::years::{self, Year};
use crate::web::{pages_beside, query_text, skipped};
use askama::Template;
use http::StatusCode;
use std::ops::ControlFlow;

pub(super) const LINES_MAX: i64 = 50;
const DONE: [(&str, &str); 6] = [
    ("logged", "me.done_logged"),
    ("corrected", "me.done_corrected"),
    ("deleted", "me.done_deleted"),
    ("asked", "me.done_asked"),
    ("withdrawn", "me.done_withdrawn"),
    ("before", "me.done_before"),
];
/// The kinds that the list can be narrowed to, with the keys of their names.
const KINDS: [(&str, Kind, &str); 3] = [
    ("time", Kind::Time, "me.kind_time"),
    ("skill", Kind::Skill, "me.kind_skill"),
    ("safety", Kind::Safety, "me.kind_safety"),
];

#[derive(Template)]
#[template(path = "member/logbook.html", config = "assets/templates/askama.toml")]
struct Page {
    shell: Shell,
    flown: String,
    rows: Vec<Row>,
    years: Vec<Year>,
    sought: Sought,
    newer: Option<String>,
    older: Option<String>,
}

/// A line of the list.
pub(super) struct Row {
    pub when: String,
    pub what: String,
    pub about: String,
    pub note: String,
    /// Why the signer said no.
    pub denial: String,
    pub badge: Option<Badge>,
    /// The page of the entry; empty in the logbook of another person.
    pub path: String,
}

/// What the list is narrowed to.
#[derive(Default)]
struct Sought {
    text: String,
    /// A word of [`KINDS`], or empty.
    kind: &'static str,
    year: Option<i16>,
}

impl Sought {
    fn read(call: &Call) -> Sought {
        let kind = query_text(call, "kind");
        Sought {
            text: query_text(call, "q").trim().to_owned(),
            kind: KINDS.iter().find(|(word, ..)| *word == kind).map_or("", |(word, ..)| word),
            year: query_text(call, "year").parse().ok(),
        }
    }

    fn is_narrow(&self) -> bool {
        !self.text.is_empty() || !self.kind.is_empty() || self.year.is_some()
    }

    fn admits(&self, line: &Line, row: &Row) -> bool {
        let kind = KINDS.iter().find(|(word, ..)| *word == self.kind).map(|(_, kind, _)| *kind);
        let sought = self.text.to_lowercase();
        let holds = |text: &str| text.to_lowercase().contains(&sought);
        kind.is_none_or(|kind| kind == line.kind)
            && (sought.is_empty()
                || [&row.what, &row.about, &row.note, &row.denial].into_iter().any(|text| holds(text)))
    }

    /// The query of another page of the same list.
    fn query(&self, skip: i64) -> String {
        let mut query = form_urlencoded::Serializer::new(String::new());
        if !self.text.is_empty() {
            query.append_pair("q", &self.text);
        }
        if !self.kind.is_empty() {
            query.append_pair("kind", self.kind);
        }
        if let Some(year) = self.year {
            query.append_pair("year", &year.to_string());
        }
        query.append_pair("skip", &skip.to_string()).finish()
    }
}

/// The lines of a list under construction.
struct Lines<'a> {
    zone: &'a TimeZone,
    language: Language,
    site: &'a Site,
    lapsed: Vec<&'static str>,
    now: Moment,
}

/// The latest lines of the logbook of a child, after `skip` others, one more than a page has; they lead nowhere.
pub(super) fn list_of_child(
    site: &Site,
    call: &Call,
    tx: &Read,
    child_id: MemberId,
    skip: i64,
) -> Result<Vec<Row>, Failure> {
    let zone = site.time_zone()?;
    let lapsed = standing::lapsed(tx, child_id, site.now())?;
    let lines = Lines { zone: &zone, language: call.language(), site, lapsed, now: site.now() };
    let mut rows = lines.list(tx, child_id, &Sought::default(), (0, i64::MAX), skip)?;
    rows.iter_mut().for_each(|row| row.path.clear());
    Ok(rows)
}

/// `GET /me/logbook`
pub(crate) fn show_list(site: &Site, call: &Call, member: &Member) -> Answer {
    let shell = Shell::after_action(site, call, member, LOGBOOK, &DONE)?;
    let (zone, sought, skip) = (site.time_zone()?, Sought::read(call), skipped(call));
    let page = site.store.read(|tx| {
        let lapsed = standing::lapsed(tx, member.id(), site.now())?;
        let lines = Lines { zone: &zone, language: call.language(), site, lapsed, now: site.now() };
        let (years, _) = years::list(tx, &zone, member.id())?;
        let span = match sought.year.map(|year| years.iter().find(|one| one.year == year)) {
            None => Some((0, i64::MAX)),
            Some(known) => known.map(|year| (year.skip, year.entries)),
        };
        let mut rows = match span {
            Some(span) => lines.list(tx, member.id(), &sought, span, skip)?,
            None => Vec::new(),
        };
        let (newer, older) = pages_beside(&mut rows, LINES_MAX, skip);
        let (_, flown) = entries::sum_flown(tx, member.id(), site.now())?;
        Ok(Page {
            flown: minutes::show(flown),
            rows,
            years,
            newer: newer.map(|skip| sought.query(skip)),
            older: older.map(|skip| sought.query(skip)),
            sought,
            shell,
        })
    })?;
    Ok(show(StatusCode::OK, call.language(), &page))
}

impl Page {
    fn is_chosen(&self, year: &i16) -> bool {
        self.sought.year == Some(*year)
    }

    /// The kinds as options: value, label, whether chosen.
    fn kinds(&self) -> impl Iterator<Item = (&'static str, String, bool)> {
        KINDS.iter().map(|(word, _, key)| (*word, self.shell.say(key), *word == self.sought.kind))
    }
}

impl Lines<'_> {
    /// The sought lines among `count` entries after `from` newer ones; one more than a page has.
    fn list(
        &self,
        tx: &Read,
        member_id: MemberId,
        sought: &Sought,
        (from, count): (i64, i64),
        skip: i64,
    ) -> Result<Vec<Row>, Failure> {
        let (mut rows, mut seen, mut left) = (Vec::new(), 0, skip);
        entries::each(tx, member_id, from, |line| {
            if seen == count || rows.len() as i64 > LINES_MAX {
                return ControlFlow::Break(());
            }
            seen += 1;
            let row = self.row(&line);
            if sought.admits(&line, &row) {
                if left > 0 {
                    left -= 1;
                } else {
                    rows.push(row);
                }
            }
            ControlFlow::Continue(())
        })?;
        Ok(rows)
    }

    fn row(&self, line: &Line) -> Row {
        let flown = line.kind == Kind::Time;
        let (what, level) = match flown {
            true => (format!("{} min", line.minutes), line.tunnel_name.clone()),
            false => {
                let key = (&*line.cat_group, &*line.cat_id, &*line.skill);
                let (level, skill) = names::of_entry(self.language, self.site.catalogue, key);
                (skill, level)
            }
        };
        let status = displayed_status(line.kind, &line.cat_group, line.status, &self.lapsed);
        let is_ahead = flown && line.entry_date > self.now;
        let part = if flown && line.instructor_id.is_none() { "time" } else { "entries" };
        let joined = |texts: [&str; 2]| texts.into_iter().filter(|t| !t.is_empty()).collect::<Vec<_>>().join(" · ");
        Row {
            when: in_full(self.language, self.zone.calendar(line.entry_date).date()),
            what,
            about: joined([&level, &line.instructor_name]),
            note: joined([&line.comment, &line.comments_instructor]),
            denial: if status == "denied" { line.comment_denial.clone() } else { String::new() },
            badge: match flown && status == "open" {
                true => is_ahead.then(|| Badge::new("plain", self.language.say(&Text::new("me.booked")))),
                false => Some(badge(self.language, status)),
            },
            path: format!("{LOGBOOK}/{part}/{}", line.entry_id),
        }
    }
}
