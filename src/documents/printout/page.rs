//! Pages that are filled from the top, and drawn once their number is known.

use crate::documents::paint::{INK, fill, qr_code, straight, stroke, through};
use crate::documents::typesetting::{Align, CUT, Letters, Line, Typeface};
use krilla::metadata::Metadata;
use krilla::page::PageSettings;
use krilla::surface::Surface;
use krilla::{Document, SerializeSettings};
use std::collections::HashMap;
use std::rc::Rc;

/// A4, standing, in points; the origin is above on the left.
pub(super) const WIDTH: f32 = 595.28;
pub(super) const HEIGHT: f32 = 841.89;
/// Where words may stand.
pub(super) const LEFT: f32 = 52.0;
pub(super) const RIGHT: f32 = WIDTH - 52.0;
const TOP: f32 = 64.0;
const BOTTOM: f32 = HEIGHT - 78.0;
/// Characters of one line of a table, which accents that take no room do not pass either.
const WRAPPED_CHARS_MAX: usize = 80;

/// How much smaller words may become before they are set in lines.
const SHRINK_MIN: f32 = 0.75;
/// More lines than the longest name has.
const WORDS_LINES_MAX: usize = 6;
/// Height of a line by the size of its letters.
const LINE_SPACING: f32 = 1.15;

/// The contents of more pages are compressed. Fewer are soon sent as they are, and compressing them takes a quarter of the time
/// in which they are set.
const PLAIN_PAGES_MAX: usize = 8;

/// An element of a page.
enum Element {
    Words {
        line: Rc<Line>,
        align: Align,
        x: f32,
        y: f32,
        size: f32,
        colour: [u8; 3],
    },
    Rule {
        left: f32,
        right: f32,
        y: f32,
        width: f32,
        colour: [u8; 3],
    },
    /// A line through these points.
    Stroke {
        points: Vec<(f32, f32)>,
        width: f32,
        colour: [u8; 3],
    },
    /// A QR code with its upper left corner at `x`, `y`.
    Code {
        text: String,
        x: f32,
        y: f32,
        side: f32,
    },
}

/// The typeface, size, tracking and colour of a text.
#[derive(Clone, Copy)]
pub(crate) struct TextStyle {
    pub typeface: &'static Typeface,
    pub size: f32,
    pub tracking: f32,
    pub colour: [u8; 3],
}

pub(crate) struct Pages<'l> {
    letters: &'l Letters<'l>,
    pages: Vec<Vec<Element>>,
    /// Shaped lines by their words: places, names and numbers come again and again.
    shaped: HashMap<String, Vec<Rc<Line>>>,
    /// How far down the last page is full.
    pub y: f32,
}

impl<'l> Pages<'l> {
    pub(crate) fn new(letters: &'l Letters<'l>) -> Pages<'l> {
        Pages { letters, pages: vec![Vec::new()], shaped: HashMap::new(), y: TOP }
    }

    /// Whether this height is left on the page.
    pub(crate) fn has_room(&self, height: f32) -> bool {
        self.y + height <= BOTTOM
    }

    pub(crate) fn turn(&mut self) {
        self.pages.push(Vec::new());
        self.y = TOP;
    }

    /// Begins a new page unless this height is left.
    pub(crate) fn make_room(&mut self, height: f32) {
        if !self.has_room(height) {
            self.turn();
        }
    }

    /// Sets words at this height of the last page, made smaller where they are wider than `room`.
    pub(crate) fn words(&mut self, words: &str, style: TextStyle, align: Align, x: f32, y: f32, room: f32) {
        let line = self.shape(words, style);
        let size = line.size_within(room, style.size);
        self.put(Element::Words { line, align, x, y, size, colour: style.colour });
    }

    /// Sets words as [`Pages::words`]; where they would have to be much smaller, in lines one below the other.
    /// [`Pages::y`] is the foot of the first line, and then that of the last.
    pub(crate) fn words_in_lines(&mut self, words: &str, style: TextStyle, x: f32, room: f32) {
        let small = TextStyle { size: style.size * SHRINK_MIN, ..style };
        if self.shape(words, style).size_within(room, style.size) >= small.size {
            return self.words(words, style, Align::Left, x, self.y, room);
        }
        for (place, line) in wrapped(self.letters, words, small, room, WORDS_LINES_MAX).iter().enumerate() {
            if place > 0 {
                self.y += small.size * LINE_SPACING;
            }
            self.words(line, small, Align::Left, x, self.y, room);
        }
    }

    pub(crate) fn letters(&self) -> &'l Letters<'l> {
        self.letters
    }

    fn shape(&mut self, words: &str, style: TextStyle) -> Rc<Line> {
        let known = self.shaped.get(words).into_iter().flatten();
        if let Some(line) = known.into_iter().find(|line| line.is_set_in(style.typeface, style.tracking)) {
            return line.clone();
        }
        let line = Rc::new(style.typeface.line(self.letters, words, style.tracking));
        self.shaped.entry(words.to_owned()).or_default().push(line.clone());
        line
    }

    pub(crate) fn rule(&mut self, left: f32, right: f32, y: f32, width: f32, colour: [u8; 3]) {
        self.put(Element::Rule { left, right, y, width, colour });
    }

    /// Sets a line through points.
    pub(crate) fn stroke(&mut self, points: Vec<(f32, f32)>, width: f32, colour: [u8; 3]) {
        self.put(Element::Stroke { points, width, colour });
    }

    /// Sets a QR code with its upper left corner at `x`, `y`.
    pub(crate) fn code(&mut self, text: &str, x: f32, y: f32, side: f32) {
        self.put(Element::Code { text: text.to_owned(), x, y, side });
    }

    fn put(&mut self, element: Element) {
        self.pages.last_mut().expect("there is always a page").push(element);
    }

    /// How many pages there are, and how many glyphs were shaped for them.
    #[cfg(test)]
    pub(crate) fn work(&self) -> (usize, usize) {
        let glyphs = |element: &Element| if let Element::Words { line, .. } = element { line.glyphs() } else { 0 };
        (self.pages.len(), self.pages.iter().flatten().map(glyphs).sum())
    }

    /// All pages as a PDF; `foot` fills the foot of a page by its number and the number of pages.
    pub(crate) fn pdf(self, about: Metadata, foot: impl Fn(&mut Pages, usize, usize)) -> Result<Vec<u8>, String> {
        let compress_content_streams = self.pages.len() > PLAIN_PAGES_MAX;
        let mut document = Document::new_with(SerializeSettings { compress_content_streams, ..Default::default() });
        document.set_metadata(about);
        self.draw(&mut document, foot).ok_or("a page of no size")?;
        document.finish().map_err(|e| format!("{e:?}"))
    }

    fn draw(mut self, document: &mut Document, foot: impl Fn(&mut Pages, usize, usize)) -> Option<()> {
        let count = self.pages.len();
        for place in 0..count {
            let pages = vec![std::mem::take(&mut self.pages[place])];
            let mut one = Pages { letters: self.letters, pages, shaped: std::mem::take(&mut self.shaped), y: 0.0 };
            foot(&mut one, place + 1, count);
            self.shaped = std::mem::take(&mut one.shaped);
            let mut page = document.start_page_with(PageSettings::from_wh(WIDTH, HEIGHT)?);
            let mut surface = page.surface();
            one.pages.iter().flatten().try_for_each(|element| element.draw(&mut surface))?;
            surface.finish();
            page.finish();
        }
        Some(())
    }
}

impl Element {
    fn draw(&self, surface: &mut Surface) -> Option<()> {
        match self {
            Element::Words { line, align, x, y, size, colour } => {
                fill(surface, *colour);
                line.set(surface, *align, *x, *y, *size);
            }
            Element::Rule { left, right, y, width, colour } => {
                stroke(surface, *colour, *width);
                surface.draw_path(&straight(*left, *y, *right)?);
            }
            Element::Stroke { points, width, colour } => {
                stroke(surface, *colour, *width);
                // A single point is no line.
                if let Some(path) = through(points) {
                    surface.draw_path(&path);
                }
            }
            Element::Code { text, x, y, side } => {
                fill(surface, INK);
                surface.draw_path(&qr_code(text, *x, *y, *side)?);
            }
        }
        Some(())
    }
}

/// Text in lines of at most this width and [`WRAPPED_CHARS_MAX`] characters: broken between words, a line break of the
/// writer's kept, and a word that is wider than a line broken where it must be. No more than `lines_max` of them; the last
/// says where there were more. Widths are estimates: [`Pages::words`] makes each line fit.
pub(super) fn wrapped(letters: &Letters, text: &str, style: TextStyle, room: f32, lines_max: usize) -> Vec<String> {
    let (shown, advance) = (style.typeface.printable(letters), style.typeface.rough_advance());
    let advance = |c: char| (advance(c) + style.tracking) * style.size;
    let mut lines = Lines { done: Vec::new(), line: String::new(), width: 0.0, chars: 0, room };
    for paragraph in text.lines() {
        for word in paragraph.split_whitespace() {
            let letters: Vec<(char, f32)> = word.chars().filter_map(&shown).map(|c| (c, advance(c))).collect();
            let width: f32 = letters.iter().map(|(_, width)| width).sum();
            let space = advance(' ');
            if !lines.have_room(space + width, 1 + letters.len()) {
                lines.end_line();
            } else if !lines.line.is_empty() {
                lines.push((' ', space));
            }
            for letter in letters {
                if !lines.have_room(letter.1, 1) {
                    lines.end_line();
                }
                if lines.done.len() > lines_max {
                    return cut(lines.done, lines_max);
                }
                lines.push(letter);
            }
        }
        lines.end_line();
        if lines.done.len() > lines_max {
            break;
        }
    }
    cut(lines.done, lines_max)
}

/// The first lines, with [`CUT`] at the end of the last if there were more.
pub(super) fn cut(mut lines: Vec<String>, lines_max: usize) -> Vec<String> {
    if lines.len() > lines_max {
        lines.truncate(lines_max);
        if let Some(last) = lines.last_mut().filter(|last| !last.ends_with(CUT)) {
            last.push(CUT);
        }
    }
    lines
}

/// Finished lines, and the line that is being filled.
struct Lines {
    done: Vec<String>,
    line: String,
    width: f32,
    chars: usize,
    room: f32,
}

impl Lines {
    /// Whether the open line has room. An empty line takes a letter of any width.
    fn have_room(&self, width: f32, chars: usize) -> bool {
        self.line.is_empty() || (self.width + width <= self.room && self.chars + chars <= WRAPPED_CHARS_MAX)
    }

    fn push(&mut self, (letter, width): (char, f32)) {
        self.line.push(letter);
        self.width += width;
        self.chars += 1;
    }

    fn end_line(&mut self) {
        if !self.line.is_empty() {
            self.done.push(std::mem::take(&mut self.line));
        }
        (self.width, self.chars) = (0.0, 0);
    }
}
