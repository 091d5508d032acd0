//! Pages that fill from above, and are drawn once all of them are known: only then has each its number.

use crate::certificate::ink::{fill, straight, stroke};
use crate::certificate::lettering::{At, Face, Line};
use krilla::Document;
use krilla::page::PageSettings;
use krilla::surface::Surface;

/// A4, standing, in points; the origin is above on the left.
pub const WIDTH: f32 = 595.28;
pub const HEIGHT: f32 = 841.89;
/// Where words may stand.
pub const LEFT: f32 = 52.0;
pub const RIGHT: f32 = WIDTH - 52.0;
const TOP: f32 = 64.0;
const BOTTOM: f32 = HEIGHT - 78.0;

/// Something on a page.
enum Mark {
    Words { line: Line, at: At, x: f32, y: f32, size: f32, colour: [u8; 3] },
    Rule { left: f32, right: f32, y: f32, width: f32, colour: [u8; 3] },
}

/// How words are set.
#[derive(Clone, Copy)]
pub struct Hand {
    pub face: &'static Face,
    pub size: f32,
    pub tracking: f32,
    pub colour: [u8; 3],
}

pub struct Pages {
    pages: Vec<Vec<Mark>>,
    /// How far down the last page is full.
    pub y: f32,
}

impl Pages {
    pub fn new() -> Pages {
        Pages { pages: vec![Vec::new()], y: TOP }
    }

    /// Whether so much fits on this page still.
    pub fn has_room(&self, height: f32) -> bool {
        self.y + height <= BOTTOM
    }

    pub fn turn(&mut self) {
        self.pages.push(Vec::new());
        self.y = TOP;
    }

    /// A new page unless so much fits on this one.
    pub fn make_room(&mut self, height: f32) {
        if !self.has_room(height) {
            self.turn();
        }
    }

    /// Sets words at this height of the last page, made smaller where they are wider than `room`.
    pub fn words(&mut self, words: &str, hand: Hand, at: At, x: f32, y: f32, room: f32) {
        let line = hand.face.line(words, hand.tracking);
        let size = line.size_within(room, hand.size);
        self.put(Mark::Words { line, at, x, y, size, colour: hand.colour });
    }

    pub fn rule(&mut self, left: f32, right: f32, y: f32, width: f32, colour: [u8; 3]) {
        self.put(Mark::Rule { left, right, y, width, colour });
    }

    fn put(&mut self, mark: Mark) {
        self.pages.last_mut().expect("there is always a page").push(mark);
    }

    /// Draws them all; `foot` says what stands at the foot of a page, by its number and how many there are.
    pub fn draw(mut self, document: &mut Document, foot: impl Fn(&mut Pages, usize, usize)) -> Option<()> {
        let count = self.pages.len();
        for place in 0..count {
            let mut one = Pages { pages: vec![std::mem::take(&mut self.pages[place])], y: 0.0 };
            foot(&mut one, place + 1, count);
            let mut page = document.start_page_with(PageSettings::from_wh(WIDTH, HEIGHT)?);
            let mut surface = page.surface();
            one.pages.iter().flatten().try_for_each(|mark| mark.draw(&mut surface))?;
            surface.finish();
            page.finish();
        }
        Some(())
    }
}

impl Mark {
    fn draw(&self, surface: &mut Surface) -> Option<()> {
        match self {
            Mark::Words { line, at, x, y, size, colour } => {
                fill(surface, *colour);
                line.set(surface, *at, *x, *y, *size);
            }
            Mark::Rule { left, right, y, width, colour } => {
                stroke(surface, *colour, *width);
                surface.draw_path(&straight(*left, *y, *right)?);
            }
        }
        Some(())
    }
}

/// The text in lines of at most this width: broken between words, a line break of the writer's kept, and a word that is
/// wider than a line broken where it must be. Widths are rough: whoever sets a line makes it fit.
pub fn wrapped(text: &str, hand: Hand, room: f32) -> Vec<String> {
    let width = |text: &str| hand.face.rough_width(text, hand.tracking) * hand.size;
    if !text.contains('\n') && width(text) <= room {
        return vec![text.to_owned()];
    }
    let mut lines = Vec::new();
    for paragraph in text.lines() {
        let mut line = String::new();
        for word in paragraph.split_whitespace() {
            let longer = if line.is_empty() { word.to_owned() } else { format!("{line} {word}") };
            if width(&longer) <= room {
                line = longer;
                continue;
            }
            if !line.is_empty() {
                lines.push(std::mem::take(&mut line));
            }
            for letter in word.chars() {
                if !line.is_empty() && width(&format!("{line}{letter}")) > room {
                    lines.push(std::mem::take(&mut line));
                }
                line.push(letter);
            }
        }
        lines.push(line);
    }
    lines.retain(|line| !line.is_empty());
    lines
}
