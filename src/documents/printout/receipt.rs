//! A receipt on paper: one A4 page, filled from above.

use super::page::{HEIGHT, LEFT, Pages, RIGHT, TextStyle};
use super::table::{aside, body};
use crate::documents::PersonName;
use crate::documents::paint::{BRONZE, INK, SOFT};
use crate::documents::typesetting::{Align, Letters, ROMAN, describe};
use crate::i18n::language::Language;

/// The left edge of the facts, right of the words that name them.
const FACTS: f32 = LEFT + 150.0;

/// All that the page says.
#[derive(Debug, Clone)]
pub(crate) struct Receipt {
    pub(crate) site_name: String,
    pub(crate) site_city: String,
    pub(crate) title: String,
    pub(crate) number: i64,
    /// The word before the number.
    pub(crate) number_word: String,
    pub(crate) at: String,
    pub(crate) amount: String,
    /// Words and facts, in their order.
    pub(crate) facts: Vec<(String, PersonName)>,
    /// The remark that the receipt counts no longer.
    pub(crate) void: Option<String>,
    pub(crate) language: Language,
}

/// The receipt as a PDF.
pub(crate) fn draw(receipt: &Receipt, letters: &Letters) -> Result<Vec<u8>, String> {
    let title = format!("{} {}", receipt.title, receipt.number);
    let about = describe(title, &receipt.site_name, receipt.language);
    receipt.set(letters).pdf(about.document_id(format!("receipt-{}", receipt.number)), |page, _, _| {
        page.words(&receipt.place(), aside(), Align::Left, LEFT, HEIGHT - 44.0, RIGHT - LEFT);
        super::set_lacking(page, receipt.language);
    })
}

impl Receipt {
    fn place(&self) -> String {
        super::place(&self.site_name, &self.site_city)
    }

    fn set<'l>(&self, letters: &'l Letters<'l>) -> Pages<'l> {
        let mut pages = Pages::new(letters);
        let room = RIGHT - LEFT;
        super::set_head(&mut pages, &self.place(), &self.title);
        let large = TextStyle { typeface: &ROMAN, size: 34.0, tracking: 0.0, colour: INK };
        pages.words(&self.amount, large, Align::Left, LEFT - 1.0, 148.0, room);
        let under = format!("{} {} · {}", self.number_word, self.number, self.at);
        pages.words(&under, TextStyle { size: 12.5, ..aside() }, Align::Left, LEFT, 170.0, room);
        pages.y = 196.0;
        pages.rule(LEFT, RIGHT, pages.y, 0.8, BRONZE);
        for (word, fact) in &self.facts {
            pages.y += 22.0;
            let (word_style, style) =
                (TextStyle { size: 11.0, colour: SOFT, ..body() }, TextStyle { size: 12.0, ..body() });
            pages.words(word, word_style, Align::Left, LEFT, pages.y, FACTS - LEFT - 10.0);
            pages.words_in_lines(&letters.name(fact), style, FACTS, RIGHT - FACTS);
        }
        if let Some(void) = &self.void {
            pages.y += 40.0;
            let style = TextStyle { typeface: &ROMAN, size: 16.0, tracking: 0.0, colour: BRONZE };
            pages.words(void, style, Align::Left, LEFT, pages.y, room);
        }
        pages.y += 14.0;
        pages.rule(LEFT, RIGHT, pages.y, 0.8, BRONZE);
        pages
    }
}
