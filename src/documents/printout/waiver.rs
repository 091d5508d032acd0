//! A signed waiver as a PDF: the text as it was shown, the answers, who signed it when and where, the signature as it was
//! drawn, and the hash by which the text is known. The same waiver is the same bytes.

use super::page::{HEIGHT, LEFT, Pages, RIGHT, TextStyle, wrapped};
use super::table::{aside, body};
use crate::documents::paint::{BRONZE, INK, SOFT};
use crate::documents::typesetting::{Align, ITALIC, Letters, ROMAN, describe};
use crate::i18n::language::{Language, Text};

/// The left edge of the facts, right of the words that name them.
const FACTS: f32 = LEFT + 150.0;
const LEADING: f32 = 15.0;
/// Height of a fact in a few lines.
const FACT_ROOM: f32 = 46.0;
/// More lines than the longest text has.
const LINES_MAX: usize = 2_000;
/// The field of the signature, in points: as wide to high as the field in which it was drawn.
const SIGNATURE_WIDTH: f32 = 300.0;
const SIGNATURE_HEIGHT: f32 = 100.0;

/// All that the pages say.
#[derive(Debug, Clone)]
pub(crate) struct SignedWaiver {
    pub(crate) site_name: String,
    pub(crate) site_city: String,
    pub(crate) number: i64,
    pub(crate) title: String,
    pub(crate) body: String,
    /// Each question, and whether it was answered with yes.
    pub(crate) questions: Vec<(String, bool)>,
    /// Words and facts, in their order.
    pub(crate) facts: Vec<(String, String)>,
    pub(crate) signer_name: String,
    /// Lines of the signature, in the units of its field; empty: the typed name is the signature.
    pub(crate) strokes: Vec<Vec<(u32, u32)>>,
    /// The width of the field in which the signature was drawn, in its units.
    pub(crate) field_width: u32,
    /// The language of the text.
    pub(crate) language: Language,
}

/// The waiver as a PDF.
pub(crate) fn draw(waiver: &SignedWaiver, letters: &Letters) -> Result<Vec<u8>, String> {
    let title = format!("{} {}", waiver.title, waiver.number);
    let about = describe(title, &waiver.site_name, waiver.language);
    waiver.set(letters).pdf(about.document_id(format!("waiver-{}", waiver.number)), |page, number, count| {
        let foot = format!("{} · {} · {number}/{count}", waiver.place(), waiver.number);
        page.words(&foot, aside(), Align::Left, LEFT, HEIGHT - 44.0, RIGHT - LEFT);
        super::set_lacking(page, waiver.language);
    })
}

impl SignedWaiver {
    fn place(&self) -> String {
        super::place(&self.site_name, &self.site_city)
    }

    fn say(&self, key: &'static str) -> String {
        self.language.say(&Text::new(key))
    }

    fn set<'l>(&self, letters: &'l Letters<'l>) -> Pages<'l> {
        let mut pages = Pages::new(letters);
        super::set_head(&mut pages, &self.place(), &self.title);
        pages.y = 132.0;
        for paragraph in self.body.split("\n\n") {
            set_text(&mut pages, paragraph, TextStyle { size: 11.0, ..body() });
            pages.y += 7.0;
        }
        for (question, yes) in &self.questions {
            set_text(&mut pages, question, TextStyle { size: 11.0, colour: SOFT, ..body() });
            let answer = self.say(if *yes { "waiver.yes" } else { "waiver.no" });
            set_text(&mut pages, &answer, TextStyle { size: 12.0, ..body() });
            pages.y += 5.0;
        }
        self.set_signature(&mut pages);
        self.set_facts(&mut pages);
        pages
    }

    fn set_signature(&self, pages: &mut Pages) {
        pages.make_room(SIGNATURE_HEIGHT + 60.0);
        pages.y += 16.0;
        if self.strokes.is_empty() {
            pages.y += SIGNATURE_HEIGHT / 2.0;
            let style = TextStyle { typeface: &ITALIC, size: 26.0, tracking: 0.0, colour: INK };
            pages.words_in_lines(&self.signer_name, style, LEFT, RIGHT - LEFT);
            pages.y += 12.0;
        } else {
            let scale = SIGNATURE_WIDTH / self.field_width as f32;
            let top = pages.y;
            let point = |(x, y): &(u32, u32)| (LEFT + *x as f32 * scale, top + *y as f32 * scale);
            for line in &self.strokes {
                pages.stroke(line.iter().map(point).collect(), 1.4, INK);
            }
            pages.y += SIGNATURE_HEIGHT + 6.0;
        }
        pages.rule(LEFT, LEFT + SIGNATURE_WIDTH, pages.y, 0.5, SOFT);
        pages.y += 14.0;
        pages.words_in_lines(&self.signer_name, body(), LEFT, RIGHT - LEFT);
        pages.y += 16.0;
    }

    fn set_facts(&self, pages: &mut Pages) {
        pages.make_room(22.0);
        pages.rule(LEFT, RIGHT, pages.y, 0.8, BRONZE);
        for (word, fact) in &self.facts {
            pages.make_room(FACT_ROOM);
            pages.y += 17.0;
            let (word_style, style) =
                (TextStyle { size: 10.0, colour: SOFT, ..body() }, TextStyle { size: 10.5, ..body() });
            pages.words(word, word_style, Align::Left, LEFT, pages.y, FACTS - LEFT - 10.0);
            pages.words_in_lines(fact, style, FACTS, RIGHT - FACTS);
        }
        pages.y += 12.0;
        let how = TextStyle { typeface: &ROMAN, size: 9.0, tracking: 0.0, colour: SOFT };
        set_text(pages, &self.say("waiver.hash_how"), how);
    }
}

/// Text in lines, over as many pages as it takes.
fn set_text(pages: &mut Pages, text: &str, style: TextStyle) {
    for line in wrapped(pages.letters(), text, style, RIGHT - LEFT, LINES_MAX) {
        pages.make_room(LEADING);
        pages.y += LEADING;
        pages.words(&line, style, Align::Left, LEFT, pages.y, RIGHT - LEFT);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_same_waiver_is_the_same_bytes_however_long_it_is() {
        let waiver = SignedWaiver {
            site_name: "Windwerk".to_owned(),
            site_city: "Winterthur".to_owned(),
            number: 7,
            title: "Waiver".to_owned(),
            body: "I fly at my own risk.\nAnd with a helmet.\n\n".repeat(300),
            questions: vec![("Is a shoulder hurt?".to_owned(), true)],
            facts: vec![("Flyer".to_owned(), "Jane".to_owned())],
            signer_name: "Jane Doe".to_owned(),
            strokes: vec![vec![(0, 0), (600, 200), (300, 10)]],
            field_width: 600,
            language: Language::Italian,
        };
        let pdf = draw(&waiver, &Letters::default()).unwrap();
        assert!(pdf.starts_with(b"%PDF-") && pdf == draw(&waiver, &Letters::default()).unwrap());
        assert!(waiver.set(&Letters::default()).work().0 > 10, "a long text has many pages");
        let typed = SignedWaiver { strokes: Vec::new(), ..waiver.clone() };
        assert_ne!(draw(&typed, &Letters::default()).unwrap(), pdf, "the strokes are on the waiver");
    }
}
