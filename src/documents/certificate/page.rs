//! The sheet: a panel of rising air around the level on the left, the words on the right.

use super::Certificate;
use super::streamlines::Streamlines;
use crate::documents::paint::{BRONZE, INK, SOFT, colour, fill, qr_code, rectangle, straight, stroke};
use crate::documents::typesetting::{Align, ITALIC, Letters, Line, ROMAN, Typeface, describe};
use crate::i18n::language::Text;
use krilla::Document;
use krilla::action::LinkAction;
use krilla::annotation::{Annotation, LinkAnnotation, LinkBorder, Target};
use krilla::geom::{Path, PathBuilder, Rect};
use krilla::page::PageSettings;
use krilla::paint::FillRule;
use krilla::surface::Surface;

/// A4, lying, in points; the origin is above on the left.
const WIDTH: f32 = 841.89;
const HEIGHT: f32 = 595.28;
const FRAME_INSET: f32 = 24.0;
/// The panel, between these edges.
const PANEL: [f32; 4] = [33.0, 33.0, 223.0, HEIGHT - 33.0];
const STREAM_GAP: f32 = 6.6;
const EMBLEM_Y: f32 = 238.0;
const EMBLEM_RADIUS: f32 = 50.0;
/// The words, between these edges.
const LEFT: f32 = 268.0;
const RIGHT: f32 = 786.0;
const QR_SIDE: f32 = 78.0;
const QR_TOP: f32 = 428.0;
const COLUMN: f32 = 190.0;

const DEEP: [u8; 3] = [16, 42, 74];
const AIR: [u8; 3] = [150, 198, 232];

/// The certificate as a PDF.
pub(crate) fn draw(certificate: &Certificate, letters: &Letters) -> Result<Vec<u8>, String> {
    let mut document = Document::new();
    let title = format!("{}, {}", certificate.holder.name, certificate.level_name);
    let about = describe(title, &certificate.site_name, certificate.language);
    document.set_metadata(about.document_id(certificate.number.clone()));
    let size = PageSettings::from_wh(WIDTH, HEIGHT).ok_or("a page of no size")?;
    let mut page = document.start_page_with(size);
    page.add_annotation(link(certificate).ok_or("a link of no size")?);
    let mut surface = page.surface();
    draw_frame(&mut surface).ok_or("a frame of no size")?;
    draw_panel(&mut surface, letters, &certificate.emblem).ok_or("a panel of no size")?;
    draw_holder(&mut surface, letters, certificate);
    draw_level(&mut surface, letters, certificate);
    draw_foot(&mut surface, letters, certificate).ok_or("the address of this site is too long for a QR code")?;
    surface.finish();
    page.finish();
    document.finish().map_err(|e| format!("{e:?}"))
}

fn link(certificate: &Certificate) -> Option<Annotation> {
    let place = Rect::from_xywh(RIGHT - QR_SIDE, QR_TOP, QR_SIDE, QR_SIDE)?;
    let target = Target::Action(LinkAction::new(certificate.verify_url.clone()).into());
    let seamless = LinkBorder::new(0.0, colour(INK).into());
    Some(Annotation::new_link(LinkAnnotation::new(place, target).with_border(seamless), None))
}

fn draw_frame(surface: &mut Surface) -> Option<()> {
    let inner = FRAME_INSET + 3.0;
    stroke(surface, BRONZE, 1.1);
    surface.draw_path(&rectangle(FRAME_INSET, FRAME_INSET, WIDTH - FRAME_INSET, HEIGHT - FRAME_INSET)?);
    stroke(surface, BRONZE, 0.35);
    surface.draw_path(&rectangle(inner, inner, WIDTH - inner, HEIGHT - inner)?);
    Some(())
}

fn draw_panel(surface: &mut Surface, letters: &Letters, emblem: &str) -> Option<()> {
    let [left, top, right, bottom] = PANEL;
    let panel = rectangle(left, top, right, bottom)?;
    fill(surface, DEEP);
    surface.draw_path(&panel);
    let middle = (left + right) / 2.0;
    let stream = Streamlines { centre_x: middle, centre_y: EMBLEM_Y, radius: EMBLEM_RADIUS, top, bottom };
    surface.push_clip_path(&panel, &FillRule::NonZero);
    let lines = ((right - left) / 2.0 / STREAM_GAP) as i32;
    for far in (0..=lines).flat_map(|n| [n as f32 + 0.5, -(n as f32) - 0.5]) {
        // The air is brightest where it meets the body.
        let share = 1.0 - 0.85 * far.abs() / (lines as f32 + 1.0);
        stroke(surface, between(DEEP, AIR, share), 0.75);
        surface.draw_path(&stream.line(far * STREAM_GAP)?);
    }
    surface.pop();
    fill(surface, DEEP);
    surface.draw_path(&circle(middle, EMBLEM_Y, EMBLEM_RADIUS - 1.0)?);
    for (radius, width) in [(EMBLEM_RADIUS - 3.0, 1.2), (EMBLEM_RADIUS - 7.0, 0.4)] {
        stroke(surface, BRONZE, width);
        surface.draw_path(&circle(middle, EMBLEM_Y, radius)?);
    }
    fill(surface, [255, 255, 255]);
    let numeral = ROMAN.line(letters, emblem, 0.0);
    // The figure's middle is a third of its size above its foot.
    numeral.set(surface, Align::Centre, middle, EMBLEM_Y + 18.5, 56.0);
    Some(())
}

fn draw_holder(surface: &mut Surface, letters: &Letters, certificate: &Certificate) {
    let say = |key: &'static str| certificate.language.say(&Text::new(key));
    let site = match certificate.site_city.as_str() {
        city if certificate.site_name.contains(city) => certificate.site_name.clone(),
        city => format!("{} · {city}", certificate.site_name),
    };
    fill(surface, SOFT);
    fitted(letters, &ROMAN, &site.to_uppercase(), 0.16).set(surface, 84.0, 10.5);
    fill(surface, BRONZE);
    fitted(letters, &ROMAN, &say("certificate.title").to_uppercase(), 0.24).set(surface, 146.0, 27.0);
    fill(surface, SOFT);
    fitted(letters, &ITALIC, &say("certificate.certifies"), 0.0).set(surface, 190.0, 16.0);
    fill(surface, INK);
    let lines = broken(letters, &letters.name(&certificate.holder), RIGHT - LEFT, NAME_SIZE, NAME_SIZE_MIN);
    match lines.as_slice() {
        [one] => one.set(surface, Align::Left, LEFT - 1.0, 246.0, one.size_within(RIGHT - LEFT, NAME_SIZE)),
        many => {
            let size =
                many.iter().map(|line| line.size_within(RIGHT - LEFT, NAME_SIZE_OF_TWO)).fold(NAME_SIZE, f32::min);
            let feet = [226.0, 226.0 + size * 1.1];
            many.iter().zip(feet).for_each(|(line, foot)| line.set(surface, Align::Left, LEFT - 1.0, foot, size));
        }
    }
}

const NAME_SIZE: f32 = 50.0;
const NAME_SIZE_OF_TWO: f32 = 32.0;
/// Below this a name is set in two lines.
const NAME_SIZE_MIN: f32 = 30.0;

/// Sizes of the signer's name and the date.
const FOOT_SIZE: f32 = 17.0;
const FOOT_SIZE_MIN: f32 = 10.0;

/// A name in one line, or in two where one would be smaller than `size_min`: broken at the space nearest to its middle, and a single
/// word of that length in its middle.
fn broken(letters: &Letters, name: &str, room: f32, size: f32, size_min: f32) -> Vec<Line> {
    let whole = ROMAN.line(letters, name, 0.0);
    if whole.size_within(room, size) >= size_min {
        return vec![whole];
    }
    let nearest = |wanted: fn(char) -> bool| {
        let places = name.char_indices().skip(1).filter(|(_, c)| wanted(*c)).map(|(at, _)| at);
        places.min_by_key(|at| at.abs_diff(name.len() / 2))
    };
    let middle = nearest(char::is_whitespace).or_else(|| nearest(char::is_alphanumeric)).unwrap_or(name.len());
    let (first, second) = name.split_at(middle);
    vec![ROMAN.line(letters, first.trim(), 0.0), ROMAN.line(letters, second.trim(), 0.0)]
}

fn draw_level(surface: &mut Surface, letters: &Letters, certificate: &Certificate) {
    let key = if certificate.track.is_empty() { "certificate.programme" } else { "certificate.programme_track" };
    let programme = Text::new(key).with("programme", &certificate.cat_group).with("track", &certificate.track);
    fill(surface, SOFT);
    let reached = certificate.language.say(&Text::new("certificate.reached"));
    fitted(letters, &ITALIC, &reached, 0.0).set(surface, 302.0, 16.0);
    fill(surface, INK);
    fitted(letters, &ROMAN, &certificate.level_name, 0.0).set(surface, 344.0, 34.0);
    fill(surface, SOFT);
    fitted(letters, &ROMAN, &certificate.language.say(&programme), 0.02).set(surface, 368.0, 13.0);
}

/// Date, signer, number and QR code.
fn draw_foot(surface: &mut Surface, letters: &Letters, certificate: &Certificate) -> Option<()> {
    let say = |key: &'static str| certificate.language.say(&Text::new(key));
    let columns = [
        (LEFT, certificate.day.clone(), say("certificate.date")),
        (LEFT + COLUMN + 24.0, letters.name(&certificate.signer), say("certificate.signer")),
    ];
    for (left, value, label) in columns {
        fill(surface, INK);
        let lines = broken(letters, &value, COLUMN, FOOT_SIZE, FOOT_SIZE_MIN);
        let size = lines.iter().map(|line| line.size_within(COLUMN, FOOT_SIZE)).fold(FOOT_SIZE, f32::min);
        for (above, line) in lines.iter().rev().enumerate() {
            line.set(surface, Align::Left, left, 481.0 - above as f32 * size * 1.1, size);
        }
        stroke(surface, BRONZE, 0.5);
        surface.draw_path(&straight(left, 489.0, left + COLUMN)?);
        fill(surface, SOFT);
        ROMAN.line(letters, &label.to_uppercase(), 0.14).set(surface, Align::Left, left, 502.0, 8.0);
    }
    fill(surface, INK);
    surface.draw_path(&qr_code(&certificate.verify_url, RIGHT - QR_SIDE, QR_TOP, QR_SIDE)?);
    fill(surface, SOFT);
    ROMAN.line(letters, &certificate.number, 0.08).set(surface, Align::Left, LEFT, 536.0, 9.0);
    ITALIC.line(letters, &say("certificate.check"), 0.0).set(
        surface,
        Align::Right,
        RIGHT,
        QR_TOP + QR_SIDE + 14.0,
        10.0,
    );
    Some(())
}

/// A line at the left edge of the words, made smaller where it would pass the right one.
struct Fitted(Line);

fn fitted(letters: &Letters, typeface: &'static Typeface, text: &str, tracking: f32) -> Fitted {
    Fitted(typeface.line(letters, text, tracking))
}

impl Fitted {
    fn set(&self, surface: &mut Surface, y: f32, size: f32) {
        self.0.set(surface, Align::Left, LEFT, y, self.0.size_within(RIGHT - LEFT, size));
    }
}

/// A colour on the way from one to another.
fn between(from: [u8; 3], to: [u8; 3], share: f32) -> [u8; 3] {
    [0, 1, 2].map(|part| (f32::from(from[part]) + (f32::from(to[part]) - f32::from(from[part])) * share) as u8)
}

/// Four cubic curves, which differ from a circle by less than anybody can print.
fn circle(x: f32, y: f32, radius: f32) -> Option<Path> {
    let (r, k) = (radius, radius * 0.552_285);
    let mut path = PathBuilder::new();
    path.move_to(x + r, y);
    path.cubic_to(x + r, y + k, x + k, y + r, x, y + r);
    path.cubic_to(x - k, y + r, x - r, y + k, x - r, y);
    path.cubic_to(x - r, y - k, x - k, y - r, x, y - r);
    path.cubic_to(x + k, y - r, x + r, y - k, x + r, y);
    path.close();
    path.finish()
}
