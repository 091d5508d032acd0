//! Text and properties of the PDF documents. Text is shaped with the font's kerning and accents, measured, and drawn. A
//! character that the typeface lacks is taken from the upright one, else from a font of the machine. One that no font has is
//! shown as a box, so that no name loses a letter unnoticed.

mod letters;

pub(crate) use letters::{Letters, draw_with};

use crate::i18n::language::Language;
use harfrust::{Direction, GlyphBuffer, ShapeOptions, ShapePlan, ShaperData, UnicodeBuffer, script};
use krilla::geom::Point;
use krilla::metadata::Metadata;
use krilla::surface::Surface;
use krilla::text::{Font, GlyphId, KrillaGlyph};
use letters::Face;
use skrifa::instance::{LocationRef, Size};
use skrifa::{FontRef, MetadataProvider};
use std::cell::LazyCell;
use std::rc::Rc;
use std::sync::LazyLock;
use unicode_bidi::{BidiInfo, Level};

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
    LazyLock::new(|| Typeface::read(include_bytes!("../../../assets/certificate/EBGaramond-Regular.ttf")));
pub(crate) static ITALIC: LazyLock<Typeface> =
    LazyLock::new(|| Typeface::read(include_bytes!("../../../assets/certificate/EBGaramond-Italic.ttf")));

/// A line of text that is ready to be set, at the size of one point.
pub(crate) struct Line {
    typeface: &'static Typeface,
    tracking: f32,
    /// From left to right.
    runs: Vec<Run>,
    pub width: f32,
}

/// A part of a line that is set in one font and one direction.
struct Run {
    font: Font,
    text: String,
    glyphs: Vec<KrillaGlyph>,
    width: f32,
}

/// The font of a part of a line.
#[derive(Clone)]
enum Source {
    BuiltIn(&'static Typeface),
    Machine(Rc<Face>),
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

    /// Whether the font has the character.
    pub(crate) fn has(&self, c: char) -> bool {
        self.advance()(c).is_some()
    }

    /// The text as it can be shown, of no more than [`LINE_CHARS_MAX`] characters.
    pub(crate) fn legible(&self, letters: &Letters, text: &str) -> String {
        let shown = self.printable(letters);
        let mut legible = String::with_capacity(text.len());
        let (mut count, mut joins) = (0, false);
        for c in text.chars() {
            // In scripts that a font of the machine sets, joiners decide on the form of letters.
            let shown = if is_joiner(c) && joins { Some(c) } else { shown(c) };
            let Some(c) = shown else { continue };
            if count == LINE_CHARS_MAX {
                legible.pop();
                legible.push(CUT);
                break;
            }
            joins = joins && is_joiner(c) || !self.has(c);
            legible.push(c);
            count += 1;
        }
        legible
    }

    /// The printed form of a character; none for an invisible one.
    pub(crate) fn printable<'a>(&'a self, letters: &'a Letters) -> impl Fn(char) -> Option<char> + 'a {
        let advance = self.advance();
        move |c: char| match c {
            _ if is_unseen(c) => None,
            c if c.is_whitespace() => Some(' '),
            c if advance(c).is_some() || letters.can_print(c) => Some(c),
            _ => {
                letters.note_box(c);
                Some(BOX)
            }
        }
    }

    /// About how wide a character is at the size of one point: without kerning, and a hundred times quicker than shaping.
    pub(crate) fn rough_advance(&self) -> impl Fn(char) -> f32 {
        let advance = self.advance();
        move |c: char| advance(c).unwrap_or(if c < '\u{1100}' { 0.6 } else { 1.0 })
    }

    /// Shapes a line; `tracking` is what is added between letters, in parts of the size.
    pub(crate) fn line(&'static self, letters: &Letters, text: &str, tracking: f32) -> Line {
        let text = self.legible(letters, text);
        let advance = self.advance();
        let runs = if text.chars().all(|c| advance(c).is_some()) {
            vec![self.shape(text, tracking)]
        } else {
            self.mixed(letters, &text, tracking)
        };
        let width = runs.iter().map(|run| run.width).sum::<f32>() - tracking;
        Line { typeface: self, tracking, runs, width: width.max(0.0) }
    }

    /// Shapes a text whose letters this font has all; its scripts all run from left to right.
    fn shape(&'static self, text: String, tracking: f32) -> Run {
        let mut buffer = UnicodeBuffer::new();
        buffer.push_str(&text);
        buffer.guess_segment_properties();
        buffer.set_direction(Direction::LeftToRight);
        let script = buffer.script();
        let plan = self.plans.iter().find(|plan| plan.script().unwrap_or(script::UNKNOWN) == script);
        let shaped = self.shaping.shaper(&self.shapes).build().shape(buffer, ShapeOptions::new().plan(plan));
        Run::new(self.font.clone(), text, &shaped, self.units_per_em, tracking)
    }

    /// Shapes a text that needs several fonts or runs from right to left in parts.
    fn mixed(&'static self, letters: &Letters, text: &str, tracking: f32) -> Vec<Run> {
        let order = BidiInfo::new(text, Some(Level::ltr()));
        let mut runs = Vec::new();
        for paragraph in &order.paragraphs {
            let (levels, parts) = order.visual_runs(paragraph, paragraph.range.clone());
            for part in parts {
                let to_left = levels[part.start].is_rtl();
                let mut sources = self.by_source(letters, &text[part]);
                if to_left {
                    sources.reverse();
                }
                let shape = |(source, text)| match source {
                    Source::BuiltIn(typeface) => Some(typeface.shape(text, tracking)),
                    Source::Machine(face) => face.shape(text, to_left),
                };
                runs.extend(sources.into_iter().filter_map(shape));
            }
        }
        runs
    }

    /// The text in parts of one font each.
    fn by_source(&'static self, letters: &Letters, text: &str) -> Vec<(Source, String)> {
        let mut parts: Vec<(Source, String)> = Vec::new();
        for c in text.chars() {
            // Spaces and signs between foreign letters are set in their font, and so are all letters that it has and this
            // typeface lacks: one word is set in one font.
            if let Some((Source::Machine(face), part)) = parts.last_mut()
                && (is_joiner(c) || (c == ' ' || !self.has(c)) && face.has(c))
            {
                part.push(c);
                continue;
            }
            let source = match c {
                _ if self.has(c) => Source::BuiltIn(self),
                _ if ROMAN.has(c) => Source::BuiltIn(&ROMAN),
                _ => letters.face(c).map_or(Source::BuiltIn(self), Source::Machine),
            };
            match parts.last_mut() {
                Some((last, part)) if last.is(&source) => part.push(c),
                _ => parts.push((source, c.to_string())),
            }
        }
        parts
    }
}

impl Source {
    fn is(&self, other: &Source) -> bool {
        match (self, other) {
            (Source::BuiltIn(one), Source::BuiltIn(other)) => std::ptr::eq(*one, *other),
            (Source::Machine(one), Source::Machine(other)) => Rc::ptr_eq(one, other),
            _ => false,
        }
    }
}

impl Face {
    /// Shapes a text whose letters this font has. Tracking would tear joined letters apart.
    fn shape(&self, text: String, to_left: bool) -> Option<Run> {
        let shapes = self.shapes()?;
        let mut buffer = UnicodeBuffer::new();
        buffer.push_str(&text);
        buffer.guess_segment_properties();
        buffer.set_direction(if to_left { Direction::RightToLeft } else { Direction::LeftToRight });
        let shaped = self.shaping.shaper(&shapes).build().shape(buffer, ShapeOptions::new());
        Some(Run::new(self.font.clone(), text, &shaped, self.units_per_em, 0.0))
    }
}

impl Run {
    fn new(font: Font, text: String, shaped: &GlyphBuffer, em: f32, tracking: f32) -> Run {
        let mut starts: Vec<usize> = shaped.glyph_infos().iter().map(|info| info.cluster as usize).collect();
        starts.sort_unstable();
        starts.dedup();
        let end = |start: usize| starts.get(starts.partition_point(|one| *one <= start)).map_or(text.len(), |end| *end);
        let positions = shaped.glyph_infos().iter().zip(shaped.glyph_positions());
        let glyphs: Vec<KrillaGlyph> = positions
            .map(|(info, position)| {
                let start = info.cluster as usize;
                // An accent that stands over its letter takes no room, and no tracking.
                let added = if position.x_advance == 0 { 0.0 } else { tracking };
                KrillaGlyph::new(
                    GlyphId::new(info.glyph_id),
                    position.x_advance as f32 / em + added,
                    position.x_offset as f32 / em,
                    position.y_offset as f32 / em,
                    0.0,
                    start..end(start),
                    None,
                )
            })
            .collect();
        let width = glyphs.iter().map(|glyph| glyph.x_advance).sum();
        Run { font, text, glyphs, width }
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
        self.runs.iter().map(|run| run.glyphs.len()).sum()
    }

    /// Sets the line with its foot at `y`, in the surface's colour.
    pub(crate) fn set(&self, surface: &mut Surface, align: Align, x: f32, y: f32, size: f32) {
        let width = self.width * size;
        let mut left = match align {
            Align::Left => x,
            Align::Centre => x - width / 2.0,
            Align::Right => x - width,
        };
        for run in &self.runs {
            let start = Point::from_xy(left, y);
            surface.draw_glyphs(start, &run.glyphs, run.font.clone(), &run.text, size, false);
            left += run.width * size;
        }
    }

    /// The largest size up to `most` at which the line is not wider than `room`.
    pub(crate) fn size_within(&self, room: f32, most: f32) -> f32 {
        if self.width * most <= room { most } else { room / self.width }
    }
}

/// The marks that join letters, or keep them apart.
fn is_joiner(c: char) -> bool {
    matches!(c, '\u{200c}' | '\u{200d}')
}

/// Marks that steer text and are never seen.
fn is_unseen(c: char) -> bool {
    c.is_control()
        || matches!(c, '\u{ad}' | '\u{200b}'..='\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2060}'..='\u{206f}'
            | '\u{fe00}'..='\u{fe0f}' | '\u{feff}' | '\u{e0000}'..='\u{e0fff}')
}

#[cfg(test)]
mod tests;
