//! Colours, lines and shapes of the PDF documents.

use super::qr;
use krilla::color::rgb::Color;
use krilla::geom::{Path, PathBuilder, Rect};
use krilla::num::NormalizedF32;
use krilla::paint::{Fill, FillRule, Stroke};
use krilla::surface::Surface;

pub(crate) const INK: [u8; 3] = [18, 38, 63];
pub(crate) const SOFT: [u8; 3] = [88, 104, 124];
pub(crate) const BRONZE: [u8; 3] = [164, 126, 72];

pub(crate) fn colour(rgb: [u8; 3]) -> Color {
    Color::new(rgb[0], rgb[1], rgb[2])
}

pub(crate) fn fill(surface: &mut Surface, rgb: [u8; 3]) {
    surface.set_stroke(None);
    surface.set_fill(Some(Fill { paint: colour(rgb).into(), opacity: NormalizedF32::ONE, rule: FillRule::NonZero }));
}

pub(crate) fn stroke(surface: &mut Surface, rgb: [u8; 3], width: f32) {
    surface.set_fill(None);
    surface.set_stroke(Some(Stroke { paint: colour(rgb).into(), width, ..Stroke::default() }));
}

pub(crate) fn rectangle(left: f32, top: f32, right: f32, bottom: f32) -> Option<Path> {
    let mut path = PathBuilder::new();
    path.push_rect(Rect::from_ltrb(left, top, right, bottom)?);
    path.finish()
}

pub(crate) fn straight(left: f32, y: f32, right: f32) -> Option<Path> {
    let mut path = PathBuilder::new();
    path.move_to(left, y);
    path.line_to(right, y);
    path.finish()
}

/// A line through points; `None` where there is but one.
pub(crate) fn through(points: &[(f32, f32)]) -> Option<Path> {
    let (first, rest) = points.split_first().filter(|(_, rest)| !rest.is_empty())?;
    let mut path = PathBuilder::new();
    path.move_to(first.0, first.1);
    rest.iter().for_each(|point| path.line_to(point.0, point.1));
    path.finish()
}

/// A QR code with its upper left corner at `x`, `y`, as wide as `side`; `None` where the text is too long for one.
pub(crate) fn qr_code(text: &str, x: f32, y: f32, side: f32) -> Option<Path> {
    let code = qr::encode(text)?;
    let square = side / code.size() as f32;
    let mut path = PathBuilder::new();
    for (column, row, length) in qr::dark_runs(&code) {
        let (left, top) = (x + column as f32 * square, y + row as f32 * square);
        path.push_rect(Rect::from_xywh(left, top, length as f32 * square, square)?);
    }
    path.finish()
}
