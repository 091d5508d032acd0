//! Text and properties of the PDF documents. Text is shaped with the font's kerning and accents, measured, and drawn. A
//! character that the font does not have is shown as a box, so that no name loses a letter unnoticed.

use crate::i18n::language::Language;
use harfrust::{Direction, ShapeOptions, ShapePlan, ShaperData, UnicodeBuffer, script};
use krilla::geom::Point;
use krilla::metadata::Metadata;
use krilla::surface::Surface;
use krilla::text::{Font, GlyphId, KrillaGlyph};
use skrifa::instance::{LocationRef, Size};
use skrifa::{FontRef, MetadataProvider};
use std::cell::LazyCell;
use std::sync::LazyLock;

/// The most characters of a line that are shaped: two names of a hundred and the words between them. A longer text is cut and
/// ends in [`CUT`].
pub(crate) const LINE_CHARS_MAX: usize = 256;
/// The sign at the end of a text that was cut.
pub(crate) const CUT: char = '…';
/// The sign for a character that the font does not have.
const BOX: char = '□';

/// The properties of a PDF: its title, the site as its author, and its language.
pub(crate) fn describe(title: String, site_name: &str, language: Language) -> Metadata {
    Metadata::new().title(title).authors(vec![site_name.to_owned()]).language(language.tag().to_owned())
}

/// Characters whose advance is looked up once: Latin letters with their accents, digits and signs.
const ADVANCES: usize = 0x250;

/// A font, for drawing and for measuring.
pub(crate) struct Typeface {
    font: Font,
    shapes: FontRef<'static>,
    shaping: ShaperData,
    /// Shaping plans for Latin text, and for digits and signs alone. Making a plan takes as long as shaping a line.
    plans: [ShapePlan; 2],
    units_per_em: f32,
    /// Advances of the first characters, at the size of one point; `None` where the font has no glyph.
    advances: [Option<f32>; ADVANCES],
}

pub(crate) static ROMAN: LazyLock<Typeface> =
    LazyLock::new(|| Typeface::read(include_bytes!("../../assets/certificate/EBGaramond-Regular.ttf")));
pub(crate) static ITALIC: LazyLock<Typeface> =
    LazyLock::new(|| Typeface::read(include_bytes!("../../assets/certificate/EBGaramond-Italic.ttf")));

/// A line of text that is ready to be set, at the size of one point.
pub(crate) struct Line {
    typeface: &'static Typeface,
    tracking: f32,
    text: String,
    glyphs: Vec<KrillaGlyph>,
    pub width: f32,
}

/// Which part of a line is at the point where it is drawn.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Align {
    Left,
    Centre,
    Right,
}

impl Typeface {
    fn read(bytes: &'static [u8]) -> Typeface {
        let font = Font::new(bytes.into(), 0).expect("our own font can be read, which a test holds");
        let shapes = FontRef::new(bytes).expect("our own font can be read, which a test holds");
        let units_per_em = f32::from(shapes.metrics(Size::unscaled(), LocationRef::default()).units_per_em);
        let shaping = ShaperData::new(&shapes);
        let shaper = shaping.shaper(&shapes).build();
        let plan = |script| ShapePlan::new(&shaper, Direction::LeftToRight, script, None, &[]);
        let plans = [plan(Some(script::LATIN)), plan(None)];
        let mut typeface = Typeface { font, shaping, shapes, plans, units_per_em, advances: [None; ADVANCES] };
        let find = typeface.advance_finder();
        let found = std::array::from_fn(|c| find(char::from_u32(c as u32)?));
        drop(find);
        typeface.advances = found;
        typeface
    }

    /// About how wide a character is at the size of one point; `None` where the font has no glyph.
    fn advance_finder(&self) -> impl Fn(char) -> Option<f32> {
        let (letters, widths) =
            (self.shapes.charmap(), self.shapes.glyph_metrics(Size::unscaled(), LocationRef::default()));
        let em = self.units_per_em;
        move |c: char| letters.map(c).map(|glyph| widths.advance_width(glyph).map_or(1.0, |advance| advance / em))
    }

    /// As [`Typeface::advance_finder`], from the table where it has the character.
    fn advance(&self) -> impl Fn(char) -> Option<f32> {
        let find = LazyCell::new(|| self.advance_finder());
        move |c: char| self.advances.get(c as usize).copied().unwrap_or_else(|| find(c))
    }

    /// The text as this font can show it, of no more than [`LINE_CHARS_MAX`] characters.
    pub(crate) fn legible(&self, text: &str) -> String {
        let shown = self.printable();
        let mut seen = text.chars().filter_map(&shown);
        let mut legible: String = seen.by_ref().take(LINE_CHARS_MAX).collect();
        if seen.next().is_some() {
            legible.pop();
            legible.push(CUT);
        }
        legible
    }

    /// The printed form of a character; none for an invisible one.
    pub(crate) fn printable(&self) -> impl Fn(char) -> Option<char> {
        let advance = self.advance();
        move |c: char| match c {
            _ if is_unseen(c) => None,
            c if c.is_whitespace() => Some(' '),
            c if advance(c).is_some() => Some(c),
            _ => Some(BOX),
        }
    }

    /// About how wide a character is at the size of one point: without kerning, and a hundred times quicker than shaping.
    pub(crate) fn rough_advance(&self) -> impl Fn(char) -> f32 {
        let advance = self.advance();
        move |c: char| advance(c).unwrap_or(1.0)
    }

    /// Shapes a line; `tracking` is what is added between letters, in parts of the size.
    pub(crate) fn line(&'static self, text: &str, tracking: f32) -> Line {
        let text = self.legible(text);
        let mut buffer = UnicodeBuffer::new();
        buffer.push_str(&text);
        buffer.guess_segment_properties();
        // The scripts of this font all run this way.
        buffer.set_direction(Direction::LeftToRight);
        let script = buffer.script();
        let plan = self.plans.iter().find(|plan| plan.script().unwrap_or(script::UNKNOWN) == script);
        let shaped = self.shaping.shaper(&self.shapes).build().shape(buffer, ShapeOptions::new().plan(plan));
        let em = self.units_per_em;
        let starts: Vec<usize> = shaped.glyph_infos().iter().map(|info| info.cluster as usize).collect();
        let end =
            |place: usize| starts[place..].iter().find(|start| **start > starts[place]).map_or(text.len(), |s| *s);
        let positions = shaped.glyph_infos().iter().zip(shaped.glyph_positions()).enumerate();
        let glyphs: Vec<KrillaGlyph> = positions
            .map(|(place, (info, position))| {
                // An accent that stands over its letter takes no room, and no tracking.
                let added = if position.x_advance == 0 { 0.0 } else { tracking };
                KrillaGlyph::new(
                    GlyphId::new(info.glyph_id),
                    position.x_advance as f32 / em + added,
                    position.x_offset as f32 / em,
                    position.y_offset as f32 / em,
                    0.0,
                    starts[place]..end(place),
                    None,
                )
            })
            .collect();
        let width = glyphs.iter().map(|glyph| glyph.x_advance).sum::<f32>() - tracking;
        Line { typeface: self, tracking, text, glyphs, width: width.max(0.0) }
    }
}

impl Line {
    /// Whether the line was shaped by this font with this tracking.
    pub(crate) fn is_set_in(&self, typeface: &'static Typeface, tracking: f32) -> bool {
        std::ptr::eq(self.typeface, typeface) && self.tracking == tracking
    }

    /// How many glyphs were shaped.
    #[cfg(test)]
    pub(crate) fn glyphs(&self) -> usize {
        self.glyphs.len()
    }

    /// Sets the line with its foot at `y`, in the surface's colour.
    pub(crate) fn set(&self, surface: &mut Surface, align: Align, x: f32, y: f32, size: f32) {
        let width = self.width * size;
        let left = match align {
            Align::Left => x,
            Align::Centre => x - width / 2.0,
            Align::Right => x - width,
        };
        let start = Point::from_xy(left, y);
        surface.draw_glyphs(start, &self.glyphs, self.typeface.font.clone(), &self.text, size, false);
    }

    /// The largest size up to `most` at which the line is not wider than `room`.
    pub(crate) fn size_within(&self, room: f32, most: f32) -> f32 {
        if self.width * most <= room { most } else { room / self.width }
    }
}

/// Marks that steer text and are never seen.
fn is_unseen(c: char) -> bool {
    c.is_control()
        || matches!(c, '\u{ad}' | '\u{200b}'..='\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2060}'..='\u{206f}'
            | '\u{fe00}'..='\u{fe0f}' | '\u{feff}' | '\u{e0000}'..='\u{e0fff}')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn latin_greek_and_cyrillic_names_are_shown_letter_by_letter() {
        for name in [
            "Jürgen Groß",
            "Łukasz Żółć-Brzęczyszczykiewicz",
            "Nguyễn Thị Ánh Tuyết",
            "Şükrü Çağlayangil İğdır",
            "Ελευθερία Παπαδοπούλου",
            "Ἀριστοτέλης ᾠδή",
            "Александра Щёголева",
            "Їжакевич Ґалаґан",
            "Ђорђе Љубојевић",
            "Þórður Æðelstan",
            "Ən Ħal Ŋaro Șț",
            "O’Brien–D’Angelo",
        ] {
            assert_eq!(ROMAN.legible(name), name);
        }
    }

    #[test]
    fn a_line_is_shaped_by_the_plan_of_its_own_script() {
        for text in ["Toffee, Ávila fi", "12:30 · 1/2", "Ελευθερία", "Щёголева", "□ 7", ""] {
            let mut buffer = UnicodeBuffer::new();
            buffer.push_str(text);
            buffer.guess_segment_properties();
            let planned_anew = ROMAN.shaping.shaper(&ROMAN.shapes).build().shape(buffer, ShapeOptions::new());
            let anew: Vec<u32> = planned_anew.glyph_infos().iter().map(|info| info.glyph_id).collect();
            let line = ROMAN.line(text, 0.0);
            assert_eq!(line.glyphs.iter().map(|glyph| glyph.glyph_id.to_u32()).collect::<Vec<_>>(), anew, "{text}");
            let width: i32 = planned_anew.glyph_positions().iter().map(|position| position.x_advance).sum();
            assert!((line.width - width as f32 / ROMAN.units_per_em).abs() < 0.001, "{text}");
        }
    }

    #[test]
    fn what_cannot_be_drawn_is_seen_to_be_missing() {
        assert_eq!(ROMAN.legible("Jane 王小明 🪂!"), "Jane □□□ □!");
        assert_eq!(ROMAN.legible("a\u{200d}b\u{202e}c\u{fe0f}\u{a0}d"), "abc d");
        let drawn = ROMAN.line("□", 0.0);
        assert!(drawn.glyphs[0].glyph_id.to_u32() != 0 && drawn.width > 0.2);
    }

    #[test]
    fn no_line_is_longer_than_what_is_shaped_at_once() {
        for text in ["🪂".repeat(100_000), "i".repeat(100_000), "x\u{301}".repeat(50_000)] {
            assert!(ROMAN.line(&text, 0.0).glyphs() <= LINE_CHARS_MAX);
            assert!(ROMAN.legible(&text).ends_with(CUT));
        }
        let longest = "i".repeat(LINE_CHARS_MAX);
        assert_eq!(ROMAN.legible(&longest), longest);
    }

    #[test]
    fn an_accent_typed_by_itself_takes_no_room() {
        assert!((ROMAN.line("Zoe\u{308}", 0.1).width - ROMAN.line("Zoë", 0.1).width).abs() < 0.001);
        // No letter of its own has this accent.
        assert!((ROMAN.line("x\u{301}", 0.1).width - ROMAN.line("x", 0.1).width).abs() < 0.001);
    }
}
