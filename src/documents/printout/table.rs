//! A table that goes on from page to page: its headings come again, and a sum is carried over.

use super::page::{LEFT, Pages, RIGHT, TextStyle, cut, wrapped};
use crate::documents::paint::{BRONZE, INK, SOFT};
use crate::documents::typesetting::{Align, ITALIC, Letters, ROMAN};

const LEADING: f32 = 12.6;
/// Between the foot of a row and the rule under it, and from there to the next row.
const UNDER: f32 = 4.2;
const HEADING: f32 = 16.0;
/// The most lines of one row, so that it fits a page.
const ROW_LINES_MAX: usize = 40;
/// The most lines of all rows of one table, some forty pages. Beyond that the longest texts are cut.
const TABLE_LINES_MAX: usize = 2_000;
const HAIRLINE: [u8; 3] = [214, 221, 229];

pub(super) struct Column {
    pub left: f32,
    pub right: f32,
    /// Align its right end, as numbers are.
    pub number: bool,
    pub title: String,
}

pub(super) struct Table<'p, 'l> {
    pages: &'p mut Pages<'l>,
    columns: Vec<Column>,
}

/// The cells of a row: the lines of each column's text.
pub(super) type Cells = Vec<(Vec<String>, TextStyle)>;

pub(super) fn body() -> TextStyle {
    TextStyle { typeface: &ROMAN, size: 10.0, tracking: 0.0, colour: INK }
}

pub(super) fn aside() -> TextStyle {
    TextStyle { typeface: &ITALIC, size: 10.0, tracking: 0.0, colour: SOFT }
}

pub(super) fn label() -> TextStyle {
    TextStyle { typeface: &ROMAN, size: 7.4, tracking: 0.12, colour: SOFT }
}

/// A heading over what follows, kept on one page with the first `followed_by` points of it.
pub(super) fn heading(pages: &mut Pages, words: &str, followed_by: f32) {
    pages.make_room(46.0 + followed_by);
    pages.y += 30.0;
    let style = TextStyle { typeface: &ROMAN, size: 15.0, tracking: 0.0, colour: INK };
    pages.words(words, style, Align::Left, LEFT, pages.y, RIGHT - LEFT);
    pages.y += 6.0;
    pages.rule(LEFT, RIGHT, pages.y, 0.8, BRONZE);
    pages.y += 4.0;
}

impl<'p, 'l> Table<'p, 'l> {
    pub(super) fn begin(pages: &'p mut Pages<'l>, columns: Vec<Column>) -> Table<'p, 'l> {
        let mut table = Table { pages, columns };
        table.head();
        table
    }

    fn head(&mut self) {
        self.pages.y += HEADING - 4.0;
        for column in &self.columns {
            let (at, x) = column.end();
            let room = column.right - column.left;
            self.pages.words(&column.title.to_uppercase(), label(), at, x, self.pages.y, room);
        }
        self.pages.y += 4.0;
        self.pages.rule(LEFT, RIGHT, self.pages.y, 0.4, SOFT);
    }

    pub(super) fn letters(&self) -> &'l Letters<'l> {
        self.pages.letters()
    }

    /// Breaks the texts of a row into lines, one text a column.
    pub(super) fn cells(&self, texts: [(&str, TextStyle); 4]) -> Cells {
        let cell = |((text, style), column): ((&str, TextStyle), &Column)| {
            (wrapped(self.letters(), text, style, column.right - column.left, ROW_LINES_MAX), style)
        };
        texts.into_iter().zip(&self.columns).map(cell).collect()
    }

    /// Sets a row. Where the page is turned, `turning` is called before, to set the sum carried over, and after, to set the sum
    /// brought forward.
    pub(super) fn row(&mut self, cells: &Cells, turning: impl Fn(&mut Table, bool), reserve: f32) {
        let height = height(cells) as f32 * LEADING + UNDER;
        if !self.pages.has_room(height + reserve) {
            turning(self, true);
            self.pages.turn();
            self.head();
            turning(self, false);
        }
        for (column, (lines, style)) in self.columns.iter().zip(cells) {
            let (at, x) = column.end();
            for (place, line) in lines.iter().enumerate() {
                let y = self.pages.y + (place + 1) as f32 * LEADING - 1.0;
                self.pages.words(line, *style, at, x, y, column.right - column.left);
            }
        }
        self.pages.y += height;
        self.pages.rule(LEFT, RIGHT, self.pages.y, 0.3, HAIRLINE);
    }

    /// A line of its own with a number at its end: what is carried over, or the sum.
    pub(super) fn sum(&mut self, words: &str, number: &str, last: bool) {
        let style = if last { TextStyle { typeface: &ROMAN, size: 11.0, ..body() } } else { aside() };
        let y = self.pages.y + LEADING + 0.5;
        let right = self.columns.last().map_or(RIGHT, |column| column.right);
        self.pages.words(words, style, Align::Right, right - 62.0, y, right - LEFT - 62.0);
        self.pages.words(number, style, Align::Right, right, y, 56.0);
        self.pages.y += LEADING + UNDER + 1.0;
        let (width, colour) = if last { (0.8, BRONZE) } else { (0.3, HAIRLINE) };
        self.pages.rule(LEFT, RIGHT, self.pages.y, width, colour);
    }

    /// A heading inside the table, kept with the row after it.
    pub(super) fn group(&mut self, words: &str) {
        if !self.pages.has_room(3.0 * LEADING + 2.0 * UNDER) {
            self.pages.turn();
            self.head();
        }
        let style = TextStyle { typeface: &ITALIC, size: 11.5, tracking: 0.0, colour: [138, 100, 46] };
        self.pages.words(words, style, Align::Left, LEFT, self.pages.y + LEADING + 3.0, RIGHT - LEFT);
        self.pages.y += LEADING + UNDER + 3.0;
        self.pages.rule(LEFT, RIGHT, self.pages.y, 0.3, HAIRLINE);
    }
}

/// Lines of a row.
fn height(cells: &Cells) -> usize {
    cells.iter().map(|(lines, _)| lines.len()).max().unwrap_or(0).max(1)
}

/// Cuts the longest rows so that all together have no more than [`TABLE_LINES_MAX`] lines, or one line each.
pub(super) fn shorten<'r>(rows: impl IntoIterator<Item = &'r mut Cells>) {
    let mut rows: Vec<&mut Cells> = rows.into_iter().collect();
    let in_all = |most: usize| rows.iter().map(|cells| height(cells).min(most)).sum::<usize>();
    let most = (1..=ROW_LINES_MAX).rev().find(|most| in_all(*most) <= TABLE_LINES_MAX).unwrap_or(1);
    for (lines, _) in rows.iter_mut().flat_map(|cells| cells.iter_mut()) {
        *lines = cut(std::mem::take(lines), most);
    }
}

/// For [`Table::row`] of a table without a sum: sets nothing where the page is turned.
pub(super) fn plainly(_: &mut Table, _: bool) {}

/// The height of a line of [`Table::sum`].
pub(super) const SUM_HEIGHT: f32 = LEADING + UNDER + 1.0;

impl Column {
    fn end(&self) -> (Align, f32) {
        if self.number { (Align::Right, self.right) } else { (Align::Left, self.left) }
    }
}
