//! The content of the pages, from the title to the place for a stamp.

use super::page::{HEIGHT, LEFT, Pages, RIGHT, TextStyle, wrapped};
use super::table::{Cells, Column, SUM_HEIGHT, Table, aside, body, heading, label, plainly, shorten};
use super::{Flight, Logbook, Signed};
use crate::documents::paint::{BRONZE, INK, SOFT};
use crate::documents::typesetting::{Align, ITALIC, Letters, ROMAN, describe};
use crate::domain::minutes;
use crate::domain::when;
use crate::i18n::language::Text;
use crate::i18n::number::grouped;
use crate::moment::Moment;

const FOOT: f32 = HEIGHT - 44.0;
const HALF: f32 = (LEFT + RIGHT) / 2.0;
const STAMP_HEIGHT: f32 = 120.0;
/// How much of a long name stands at the feet of the pages.
const HOLDER_FOOT_ROOM: f32 = 170.0;

/// The logbook as a PDF.
pub(crate) fn draw(logbook: &Logbook, letters: &Letters) -> Result<Vec<u8>, String> {
    let title = format!("{}: {}", logbook.say("printout.title"), logbook.holder.name);
    let about = describe(title, &logbook.site_name, logbook.language);
    let about = about.document_id(format!("logbook-{}-{}", logbook.member_id, logbook.day));
    logbook.set(letters).pdf(about, |page, number, count| logbook.set_foot(page, number, count))
}

impl Logbook {
    /// Everything but what stands at the feet of the pages.
    pub(crate) fn set<'l>(&self, letters: &'l Letters<'l>) -> Pages<'l> {
        let mut pages = Pages::new(letters);
        self.set_title(&mut pages);
        self.set_levels(&mut pages);
        self.set_time(&mut pages);
        self.set_signed(&mut pages, "printout.skills", "printout.skill", &self.skills);
        self.set_signed(&mut pages, "printout.safety", "printout.record", &self.safety);
        self.set_stamp(&mut pages);
        pages
    }

    fn say(&self, key: &'static str) -> String {
        self.language.say(&Text::new(key))
    }

    fn date(&self, moment: Moment) -> String {
        when::day(self.language, &self.zone, moment)
    }

    fn set_title(&self, pages: &mut Pages) {
        super::set_head(pages, &super::place(&self.site_name, &self.site_city), &self.say("printout.title"));
        let name = TextStyle { typeface: &ROMAN, size: 34.0, tracking: 0.0, colour: INK };
        pages.y = 148.0;
        let holder = pages.letters().name(&self.holder);
        pages.words_in_lines(&holder, name, LEFT - 1.0, RIGHT - LEFT);
        let top = pages.y;
        let of = Text::new("printout.of").with("member", self.member_id).with("date", self.date(self.day));
        let italic = TextStyle { typeface: &ITALIC, size: 12.5, tracking: 0.0, colour: SOFT };
        pages.words(&self.language.say(&of), italic, Align::Left, LEFT, top + 22.0, RIGHT - LEFT);
        let signed: usize = self.skills.iter().map(|(_, signed)| signed.len()).sum();
        let facts = [
            ("printout.flown", minutes::show(self.minutes)),
            ("printout.flights", grouped(self.language, self.flights)),
            ("printout.skills", signed.to_string()),
            ("printout.levels", self.levels.len().to_string()),
        ];
        let column = (RIGHT - LEFT) / facts.len() as f32;
        for (place, (key, number)) in facts.into_iter().enumerate() {
            let left = LEFT + place as f32 * column;
            let large = TextStyle { typeface: &ROMAN, size: 24.0, tracking: 0.0, colour: INK };
            pages.words(&number, large, Align::Left, left, top + 68.0, column - 12.0);
            pages.rule(left, left + column - 14.0, top + 74.0, 0.5, BRONZE);
            pages.words(&self.say(key).to_uppercase(), label(), Align::Left, left, top + 86.0, column - 14.0);
        }
        pages.y = top + 88.0;
    }

    /// Levels on the left, currency on the right, in as many rows as the longer of the two has.
    fn set_levels(&self, pages: &mut Pages) {
        heading(pages, &self.say("printout.standing"), 30.0);
        if self.levels.is_empty() {
            pages.y += 14.0;
            pages.words(&self.say("printout.no_level"), aside(), Align::Left, LEFT, pages.y, RIGHT - LEFT);
        }
        for place in 0..self.levels.len().max(self.currencies.len()) {
            pages.make_room(16.0);
            pages.y += 15.0;
            let y = pages.y;
            if let Some((name, since)) = self.levels.get(place) {
                pages.words(name, body(), Align::Left, LEFT, y, 120.0);
                let since = Text::new("printout.since").with("date", self.date(*since));
                pages.words(&self.language.say(&since), aside(), Align::Left, LEFT + 124.0, y, HALF - LEFT - 132.0);
            }
            if let Some((programme, currency)) = self.currencies.get(place) {
                let key = if currency.current { "printout.current" } else { "printout.lapsed" };
                let said = match currency.renewal {
                    Some(renewal) => self.language.say(&Text::new(key).with("date", self.date(renewal))),
                    None => self.say("printout.not_current"),
                };
                pages.words(programme, body(), Align::Left, HALF + 8.0, y, 76.0);
                let style = if currency.current { aside() } else { TextStyle { colour: INK, ..aside() } };
                pages.words(&said, style, Align::Left, HALF + 88.0, y, RIGHT - HALF - 88.0);
            }
        }
    }

    /// The flights, with the sum of all that was flown up to the end of each page.
    fn set_time(&self, pages: &mut Pages) {
        heading(pages, &self.say("printout.time"), 60.0);
        let listed: i64 = self.time.iter().map(|flight| flight.minutes).sum();
        let columns = self.columns([
            (LEFT, LEFT + 104.0, false, "printout.date"),
            (LEFT + 112.0, LEFT + 236.0, false, "printout.tunnel"),
            (LEFT + 244.0, RIGHT - 62.0, false, "printout.comment"),
            (RIGHT - 56.0, RIGHT, true, "printout.minutes"),
        ]);
        let mut table = Table::begin(pages, columns);
        let mut sum = self.minutes - listed;
        if sum > 0 {
            table.sum(&self.say("printout.brought"), &minutes::show(sum), false);
        }
        let cells = |flight: &Flight| {
            table.cells([
                (&self.date(flight.day), body()),
                (&flight.tunnel_name, body()),
                (&flight.comment, aside()),
                (&minutes::show(flight.minutes), body()),
            ])
        };
        let mut rows: Vec<Cells> = self.time.iter().map(cells).collect();
        shorten(&mut rows);
        for (flight, cells) in self.time.iter().zip(&rows) {
            let so_far = minutes::show(sum);
            let turning = |table: &mut Table, before: bool| {
                let key = if before { "printout.carried" } else { "printout.brought" };
                table.sum(&self.say(key), &so_far, false);
            };
            table.row(cells, turning, SUM_HEIGHT);
            sum += flight.minutes;
        }
        table.sum(&self.say("printout.total"), &minutes::show(self.minutes), true);
    }

    fn set_signed(&self, pages: &mut Pages, title: &'static str, what: &'static str, groups: &[(String, Vec<Signed>)]) {
        if groups.is_empty() {
            return;
        }
        heading(pages, &self.say(title), 70.0);
        let columns = self.columns([
            (LEFT, LEFT + 222.0, false, what),
            (LEFT + 230.0, LEFT + 322.0, false, "printout.date"),
            (LEFT + 330.0, LEFT + 416.0, false, "printout.signer"),
            (LEFT + 424.0, RIGHT, false, "printout.tunnel"),
        ]);
        let mut table = Table::begin(pages, columns);
        let cells = |one: &Signed| {
            let name = if one.note.is_empty() { one.name.clone() } else { format!("{} ({})", one.name, one.note) };
            table.cells([
                (&name, body()),
                (&self.date(one.day), body()),
                (&table.letters().name(&one.signer), body()),
                (&one.tunnel_name, body()),
            ])
        };
        let mut rows: Vec<Vec<Cells>> = groups.iter().map(|(_, signed)| signed.iter().map(cells).collect()).collect();
        shorten(rows.iter_mut().flatten());
        for ((group, _), rows) in groups.iter().zip(&rows) {
            table.group(group);
            rows.iter().for_each(|cells| table.row(cells, plainly, 0.0));
        }
    }

    /// Where another tunnel says that it has seen this.
    fn set_stamp(&self, pages: &mut Pages) {
        pages.make_room(STAMP_HEIGHT);
        let y = pages.y + STAMP_HEIGHT - 26.0;
        let places = [("printout.place_date", LEFT, HALF - 12.0), ("printout.signature", HALF + 12.0, RIGHT)];
        for (key, left, right) in places {
            pages.rule(left, right, y, 0.5, SOFT);
            pages.words(&self.say(key).to_uppercase(), label(), Align::Left, left, y + 12.0, right - left);
        }
        pages.y = y + 14.0;
    }

    fn set_foot(&self, page: &mut Pages, number: usize, count: usize) {
        let style = TextStyle { typeface: &ROMAN, size: 8.5, tracking: 0.02, colour: SOFT };
        page.rule(LEFT, RIGHT, FOOT - 14.0, 0.4, BRONZE);
        let holder = page.letters().name(&self.holder);
        let holder = wrapped(page.letters(), &holder, style, HOLDER_FOOT_ROOM, 1).concat();
        let of = format!("{holder} · {} · {}", self.site_name, self.date(self.day));
        page.words(&of, style, Align::Left, LEFT, FOOT, RIGHT - LEFT - 90.0);
        let numbers = Text::new("printout.page").with("number", number).with("count", count);
        page.words(&self.language.say(&numbers), style, Align::Right, RIGHT, FOOT, 86.0);
        super::set_lacking(page, self.language);
    }

    fn columns(&self, columns: [(f32, f32, bool, &'static str); 4]) -> Vec<Column> {
        let column = |(left, right, number, key)| Column { left, right, number, title: self.say(key) };
        columns.map(column).into()
    }
}
