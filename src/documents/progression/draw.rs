//! The picture: cards in rows, edges between them, a legend, and the open levels. A state has a shape and a word as well as a
//! colour.

use super::Progression;
use super::map::{Cell, Edge, Map};
use crate::documents::markup::escape;
use crate::domain::catalogue::Level;
use crate::domain::catalogue::names;
use crate::domain::progression::{State, Step};
use crate::domain::when;
use crate::i18n::language::Text;
use std::fmt::Write;

const MARGIN: i32 = 40;
const HEAD: i32 = 128;
const FOOT: i32 = 46;
/// Around the map where it stands alone, and between cards beside each other where it is turned.
const MAP_MARGIN: i32 = 8;
const TURNED_GAP: i32 = 12;
const CARD_WIDTH: i32 = 122;
const CARD_HEIGHT: i32 = 88;
const CELL_WIDTH: i32 = CARD_WIDTH + 26;
const CELL_HEIGHT: i32 = CARD_HEIGHT + 20;
/// The panel of open levels stands at the right of at most this number of rows, where enough columns are free.
const PANEL_ROWS: usize = 3;
const PANEL_COLUMNS: usize = 4;
const PANEL_LEVELS: usize = 4;
const PANEL_SKILLS: usize = 3;
/// Letters of a name that fit a card at its usual size, and pixels of one that is longer.
const NAME_CHARS: usize = 13;
const NAME_WIDTH: i32 = CARD_WIDTH - 22;
/// Letters of the holder's name and of the site's, and of a skill's.
const HOLDER_CHARS_MAX: usize = 48;
const SITE_CHARS_MAX: usize = 100;
const SKILL_CHARS_MAX: usize = 66;

const INK: &str = "#12263f";
const SOFT: &str = "#55657a";
const GROUND: &str = "#fbfcfe";
const BLUE: &str = "#1f5c94";
const BRONZE: &str = "#8a5a14";
const PALE: &str = "#eef2f6";

/// The picture as SVG.
pub(crate) fn draw(progression: &Progression) -> String {
    let levels: Vec<&Level> = progression.steps.iter().map(|step| step.level).collect();
    let map = Map::of(&levels);
    let width = 2 * MARGIN + map.columns as i32 * CELL_WIDTH - (CELL_WIDTH - CARD_WIDTH);
    let height = HEAD + map.rows as i32 * CELL_HEIGHT + FOOT;
    let mut svg = progression.begin(width, height);
    progression.draw_head(&mut svg, width);
    progression.draw_cards(&mut svg, &map, Grid { left: MARGIN, top: HEAD, turned: false });
    if map.free_at_the_right(PANEL_ROWS) >= PANEL_COLUMNS && map.rows >= PANEL_ROWS {
        progression.draw_panel(&mut svg, width);
    }
    let foot = format!(
        "{} · {}",
        clipped(&progression.site_name, SITE_CHARS_MAX),
        when::day(progression.language, &progression.zone, progression.at)
    );
    text(&mut svg, MARGIN, height - 18, 13, SOFT, "", &foot);
    svg.push_str("</svg>\n");
    svg
}

/// The map alone, as large as it can be on a screen that shows nothing else: from left to right, or `turned` from top to
/// bottom.
pub(crate) fn draw_map(progression: &Progression, turned: bool) -> String {
    let levels: Vec<&Level> = progression.steps.iter().map(|step| step.level).collect();
    let map = Map::of(&levels);
    let grid = Grid { left: MAP_MARGIN, top: MAP_MARGIN, turned };
    let (across, down) = if turned { (map.rows, map.columns) } else { (map.columns, map.rows) };
    let (cell_width, cell_height) = grid.cell();
    let width = 2 * MAP_MARGIN + across as i32 * cell_width - (cell_width - CARD_WIDTH);
    let height = 2 * MAP_MARGIN + down as i32 * cell_height - (cell_height - CARD_HEIGHT);
    let mut svg = progression.begin(width, height);
    progression.draw_cards(&mut svg, &map, grid);
    svg.push_str("</svg>\n");
    svg
}

/// Where the cards stand.
#[derive(Debug, Clone, Copy)]
struct Grid {
    left: i32,
    top: i32,
    /// Whether the edges lead down, not to the right.
    turned: bool,
}

impl Grid {
    /// The width and height of a card with the gap behind it.
    fn cell(self) -> (i32, i32) {
        if self.turned {
            (CARD_WIDTH + TURNED_GAP, CARD_HEIGHT + CELL_WIDTH - CARD_WIDTH)
        } else {
            (CELL_WIDTH, CELL_HEIGHT)
        }
    }

    /// The upper left corner of a card.
    fn corner(self, cell: &Cell) -> (i32, i32) {
        let (column, row) = if self.turned { (cell.row, cell.column) } else { (cell.column, cell.row) };
        let (width, height) = self.cell();
        (self.left + column as i32 * width, self.top + row as i32 * height)
    }
}

impl Progression<'_> {
    /// The picture up to its ground.
    fn begin(&self, width: i32, height: i32) -> String {
        let mut svg = String::with_capacity(24 * 1024);
        svg.push_str("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n");
        _ = writeln!(
            svg,
            "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {width} {height}\" role=\"img\" xml:lang=\"{}\" \
             font-family=\"system-ui, 'Segoe UI', Roboto, 'Noto Sans', 'DejaVu Sans', sans-serif\" fill=\"{INK}\">",
            self.language.tag()
        );
        let title = format!("{}: {}", self.say("progression.title"), clipped(&self.holder, HOLDER_CHARS_MAX));
        _ = writeln!(svg, "<title>{}</title>", escape(&title));
        _ = writeln!(svg, "<rect width=\"{width}\" height=\"{height}\" fill=\"{GROUND}\"/>");
        svg
    }

    fn draw_cards(&self, svg: &mut String, map: &Map, grid: Grid) {
        for edge in &map.edges {
            draw_edge(svg, map, edge, &self.steps, grid);
        }
        for (step, cell) in self.steps.iter().zip(&map.cells) {
            self.draw_card(svg, step, grid.corner(cell));
        }
    }

    /// A name of the catalogue.
    fn name(&self, english: &str) -> String {
        names::say(self.language, english).to_owned()
    }

    fn say(&self, key: &'static str) -> String {
        self.language.say(&Text::new(key))
    }

    fn draw_head(&self, svg: &mut String, width: i32) {
        text(
            svg,
            MARGIN,
            46,
            15,
            BRONZE,
            " font-weight=\"600\" letter-spacing=\"2\"",
            &self.say("progression.title").to_uppercase(),
        );
        text(svg, MARGIN, 84, 34, INK, " font-weight=\"700\"", &clipped(&self.holder, HOLDER_CHARS_MAX));
        // The legend, from the right.
        let mut right = width - MARGIN;
        for shape in [Shape::Later, Shape::Next, Shape::Open, Shape::Lapsed, Shape::Held] {
            let count = self.steps.iter().filter(|step| Shape::of(step.state) == shape).count();
            if shape == Shape::Lapsed && count == 0 {
                continue;
            }
            let said = format!("{} {count}", self.say(shape.key()));
            right -= 9 * said.chars().count() as i32;
            text(svg, right, 47, 15, INK, "", &said);
            shape.draw(svg, right - 17, 42, shape.colour());
            right -= 48;
        }
    }

    fn draw_card(&self, svg: &mut String, step: &Step, (x, y): (i32, i32)) {
        let shape = Shape::of(step.state);
        let (fill, border, ink, small) = match shape {
            Shape::Held => (BLUE, format!("stroke=\"{BLUE}\" stroke-width=\"2\""), "#ffffff", "#ffffff"),
            Shape::Lapsed => ("#ffffff", format!("stroke=\"{BLUE}\" stroke-width=\"2\""), INK, BLUE),
            Shape::Open => ("#ffffff", format!("stroke=\"{BRONZE}\" stroke-width=\"3\""), INK, BRONZE),
            Shape::Next => {
                ("#ffffff", format!("stroke=\"{SOFT}\" stroke-width=\"1.5\" stroke-dasharray=\"5 4\""), INK, SOFT)
            }
            Shape::Later => (PALE, "stroke=\"none\"".to_owned(), SOFT, SOFT),
        };
        let word = self.say(shape.key());
        let detail = self.detail(step);
        let level = self.name(&step.level.name);
        _ = writeln!(svg, "<g><title>{}</title>", escape(format!("{level}: {word} {detail}").trim()));
        _ = writeln!(
            svg,
            "<rect x=\"{x}\" y=\"{y}\" width=\"{CARD_WIDTH}\" height=\"{CARD_HEIGHT}\" rx=\"9\" fill=\"{fill}\" {border}/>"
        );
        for (line, name) in broken(&level).into_iter().enumerate() {
            let squeezed = if name.chars().count() > NAME_CHARS {
                format!(" font-weight=\"600\" textLength=\"{NAME_WIDTH}\" lengthAdjust=\"spacingAndGlyphs\"")
            } else {
                " font-weight=\"600\"".to_owned()
            };
            text(svg, x + 11, y + 23 + 17 * line as i32, 15, ink, &squeezed, &name);
        }
        shape.draw(svg, x + 17, y + 57, small);
        text(svg, x + 29, y + 61, 13, small, " font-weight=\"600\"", &word);
        text(svg, x + 11, y + 77, 12, small, "", &detail);
        if shape == Shape::Open && step.signed() > 0 {
            let full = CARD_WIDTH - 22;
            let part = full * step.signed() as i32 / step.required().max(1) as i32;
            _ = writeln!(
                svg,
                "<rect x=\"{}\" y=\"{}\" width=\"{full}\" height=\"3\" fill=\"{PALE}\"/>",
                x + 11,
                y + 81
            );
            _ = writeln!(
                svg,
                "<rect x=\"{}\" y=\"{}\" width=\"{part}\" height=\"3\" fill=\"{BRONZE}\"/>",
                x + 11,
                y + 81
            );
        }
        svg.push_str("</g>\n");
    }

    /// Since when it is held, or how much of it is signed.
    fn detail(&self, step: &Step) -> String {
        match step.state {
            State::Held(since) | State::Lapsed(since) => self.zone.date(since),
            State::Open => {
                let text =
                    Text::new("progression.signed").with("signed", step.signed()).with("required", step.required());
                self.language.say(&text)
            }
            State::Next | State::Later => String::new(),
        }
    }

    /// Draws the open levels, furthest first, each with the skills that are missing.
    fn draw_panel(&self, svg: &mut String, width: i32) {
        let mut open: Vec<&Step> = self.steps.iter().filter(|step| step.state == State::Open).collect();
        open.sort_by_key(|step| std::cmp::Reverse(100 * step.signed() / step.required().max(1)));
        let x = width - MARGIN - PANEL_COLUMNS as i32 * CELL_WIDTH + (CELL_WIDTH - CARD_WIDTH) / 2;
        let mut y = HEAD + 14;
        text(
            svg,
            x,
            y,
            13,
            BRONZE,
            " font-weight=\"600\" letter-spacing=\"1\"",
            &self.say("progression.now").to_uppercase(),
        );
        if open.is_empty() {
            text(svg, x, y + 24, 14, SOFT, "", &self.say("progression.nothing"));
        }
        for step in open.iter().take(PANEL_LEVELS) {
            y += 22;
            text(
                svg,
                x,
                y,
                15,
                INK,
                " font-weight=\"600\"",
                &format!("{} · {}", self.name(&step.level.name), self.detail(step)),
            );
            for skill in step.missing.iter().take(PANEL_SKILLS) {
                y += 16;
                shape_dot(svg, x + 4, y - 4);
                text(svg, x + 14, y, 13, SOFT, "", &clipped(&self.name(&skill.name), SKILL_CHARS_MAX));
            }
        }
    }
}

/// The shape of a state.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Shape {
    Held,
    Lapsed,
    Open,
    Next,
    Later,
}

impl Shape {
    fn of(state: State) -> Shape {
        match state {
            State::Held(_) => Shape::Held,
            State::Lapsed(_) => Shape::Lapsed,
            State::Open => Shape::Open,
            State::Next => Shape::Next,
            State::Later => Shape::Later,
        }
    }

    fn key(self) -> &'static str {
        match self {
            Shape::Held => "progression.held",
            Shape::Lapsed => "progression.lapsed",
            Shape::Open => "progression.open",
            Shape::Next => "progression.next",
            Shape::Later => "progression.later",
        }
    }

    fn colour(self) -> &'static str {
        match self {
            Shape::Held | Shape::Lapsed => BLUE,
            Shape::Open => BRONZE,
            Shape::Next | Shape::Later => SOFT,
        }
    }

    /// A tick, a warning triangle, a half-filled disc, an arrow, a dot; around this middle.
    fn draw(self, svg: &mut String, x: i32, y: i32, colour: &str) {
        let line = format!(
            "fill=\"none\" stroke=\"{colour}\" stroke-width=\"2\" stroke-linecap=\"round\" stroke-linejoin=\"round\""
        );
        _ = match self {
            Shape::Held => writeln!(svg, "<path d=\"M{} {}l4 4 7-9\" {line}/>", x - 5, y),
            Shape::Lapsed => writeln!(svg, "<path d=\"M{x} {}l7 12h-14zM{x} {}v4m0 2.5v.1\" {line}/>", y - 7, y - 3),
            Shape::Open => writeln!(
                svg,
                "<circle cx=\"{x}\" cy=\"{y}\" r=\"6\" {line}/><path d=\"M{x} {}a6 6 0 0 1 0 12z\" fill=\"{colour}\"/>",
                y - 6
            ),
            Shape::Next => writeln!(svg, "<path d=\"M{} {y}h11m-4-4 4 4-4 4\" {line}/>", x - 6),
            Shape::Later => writeln!(svg, "<circle cx=\"{x}\" cy=\"{y}\" r=\"2.5\" fill=\"{colour}\"/>"),
        };
    }
}

fn shape_dot(svg: &mut String, x: i32, y: i32) {
    _ = writeln!(svg, "<circle cx=\"{x}\" cy=\"{y}\" r=\"2\" fill=\"{SOFT}\"/>");
}

/// From the right edge of one card to the left edge of another: across, down in the gap before it, across. Turned, from the
/// lower edge to the upper one.
fn draw_edge(svg: &mut String, map: &Map, edge: &Edge, steps: &[Step], grid: Grid) {
    let (from, to) = (grid.corner(&map.cells[edge.from]), grid.corner(&map.cells[edge.to]));
    // `x` leads on and `y` aside.
    let ((x1, y1), (x2, y2)) = if grid.turned {
        ((from.1 + CARD_HEIGHT, from.0 + CARD_WIDTH / 2), (to.1, to.0 + CARD_WIDTH / 2))
    } else {
        ((from.0 + CARD_WIDTH, from.1 + CARD_HEIGHT / 2), (to.0, to.1 + CARD_HEIGHT / 2))
    };
    let reached = matches!(steps[edge.from].state, State::Held(_) | State::Lapsed(_));
    let (colour, width) = if reached { (BLUE, "2.5") } else { ("#a9b6c4", "2") };
    // Edges with a choice run beside the others, and into each other.
    let gap = x2 - if edge.any { 8 } else { 15 };
    let bend = 6 * (y2 - y1).signum();
    let (on, aside) = (gap - 6, y2 - bend);
    let path = match (grid.turned, bend) {
        (false, 0) => format!("M{x1} {y1}H{x2}"),
        (true, 0) => format!("M{y1} {x1}V{x2}"),
        (false, _) => format!("M{x1} {y1}H{on}q6 0 6 {bend}V{aside}q0 {bend} 6 {bend}H{x2}"),
        (true, _) => format!("M{y1} {x1}V{on}q0 6 {bend} 6H{aside}q{bend} 0 {bend} 6V{x2}"),
    };
    _ = writeln!(svg, "<path d=\"{path}\" fill=\"none\" stroke=\"{colour}\" stroke-width=\"{width}\"/>");
}

/// `more` is markup of ours; the words are anybody's.
fn text(svg: &mut String, x: i32, y: i32, size: i32, colour: &str, more: &str, words: &str) {
    if !words.is_empty() {
        _ = writeln!(
            svg,
            "<text x=\"{x}\" y=\"{y}\" font-size=\"{size}\" fill=\"{colour}\"{more}>{}</text>",
            escape(words)
        );
    }
}

/// In two lines of about the same length where one is too long for a card.
fn broken(name: &str) -> Vec<String> {
    let longest = |at: &usize| name[..*at].chars().count().max(name[*at..].trim_start().chars().count());
    let spaces = name.char_indices().filter(|(_, c)| *c == ' ').map(|(at, _)| at);
    match spaces.min_by_key(longest) {
        Some(at) => vec![name[..at].to_owned(), name[at..].trim_start().to_owned()],
        None => vec![name.to_owned()],
    }
}

/// At most this number of letters, with a sign where there were more.
fn clipped(words: &str, chars_max: usize) -> String {
    if words.chars().count() <= chars_max {
        return words.to_owned();
    }
    words.chars().take(chars_max - 1).chain(['…']).collect()
}
