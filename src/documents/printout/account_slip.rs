//! A slip of paper with the code that opens an account which the desk made: the upper half of an A4 page.

use super::page::{LEFT, Pages, RIGHT, TextStyle, wrapped};
use super::table::{aside, body, label};
use crate::documents::PersonName;
use crate::documents::paint::{BRONZE, INK};
use crate::documents::typesetting::{Align, Letters, ROMAN, describe};
use crate::i18n::language::Language;

/// Points.
const QR_SIDE: f32 = 116.0;
const LEADING: f32 = 17.0;
/// Of one paragraph.
const LINES_MAX: usize = 6;

/// The content of the slip.
#[derive(Debug, Clone)]
pub(crate) struct AccountSlip {
    pub(crate) site_name: String,
    pub(crate) site_city: String,
    pub(crate) title: String,
    pub(crate) name: PersonName,
    pub(crate) number: String,
    /// The instructions: how to use the slip, and until when.
    pub(crate) lines: Vec<String>,
    /// The word over the code.
    pub(crate) code_word: String,
    pub(crate) code: String,
    /// The address in the QR code.
    pub(crate) link: String,
    pub(crate) language: Language,
}

/// The slip as a PDF.
pub(crate) fn draw(slip: &AccountSlip, letters: &Letters) -> Result<Vec<u8>, String> {
    let about = describe(slip.title.clone(), &slip.site_name, slip.language);
    slip.set(letters).pdf(about, |page, _, _| super::set_lacking(page, slip.language))
}

impl AccountSlip {
    fn set<'l>(&self, letters: &'l Letters<'l>) -> Pages<'l> {
        let mut pages = Pages::new(letters);
        let room = RIGHT - LEFT - QR_SIDE - 24.0;
        super::set_head(&mut pages, &super::place(&self.site_name, &self.site_city), &self.title);
        let name = TextStyle { typeface: &ROMAN, size: 30.0, tracking: 0.0, colour: INK };
        pages.y = 146.0;
        pages.words_in_lines(&letters.name(&self.name), name, LEFT - 1.0, room);
        pages.y += 20.0;
        pages.words(&self.number, TextStyle { size: 12.5, ..aside() }, Align::Left, LEFT, pages.y, room);
        pages.code(&self.link, RIGHT - QR_SIDE, 122.0, QR_SIDE);
        pages.y += 26.0;
        let style = TextStyle { size: 12.0, ..body() };
        for line in self.lines.iter().flat_map(|text| wrapped(letters, text, style, room, LINES_MAX)) {
            pages.words(&line, style, Align::Left, LEFT, pages.y, room);
            pages.y += LEADING;
        }
        pages.y = pages.y.max(122.0 + QR_SIDE) + 16.0;
        pages.words(&self.code_word.to_uppercase(), label(), Align::Left, LEFT, pages.y, room);
        let code = TextStyle { typeface: &ROMAN, size: 32.0, tracking: 0.06, colour: INK };
        pages.y += 36.0;
        pages.words(&self.code, code, Align::Left, LEFT, pages.y, RIGHT - LEFT);
        pages.y += 14.0;
        pages.rule(LEFT, RIGHT, pages.y, 0.8, BRONZE);
        pages
    }
}
