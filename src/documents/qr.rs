//! A QR code as a picture that a page can show without asking for another file.

use crate::store::write_scope;
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use qrcodegen::{QrCode, QrCodeEcc};
use std::fmt::Write;

/// White squares around the code, so that a camera finds its edge.
const QUIET_SQUARES: i32 = 4;

/// SVG as a data URL; `None` where the text is longer than a QR code can be.
pub(crate) fn data_url(text: &str) -> Option<String> {
    Some(format!("data:image/svg+xml;base64,{}", STANDARD.encode(svg(text)?)))
}

/// SVG, to stand in a page; `None` where the text is longer than a QR code can be.
pub(crate) fn svg(text: &str) -> Option<String> {
    write_scope::forbid("a QR code");
    encode(text).map(|code| svg_of(&code))
}

/// The code of a text, at error correction level M.
pub(crate) fn encode(text: &str) -> Option<QrCode> {
    QrCode::encode_text(text, QrCodeEcc::Medium).ok()
}

/// The dark squares of a code, as runs of neighbours in one row: column, row and length. A run is drawn as one rectangle, so
/// that no hairline shows inside it.
pub(crate) fn dark_runs(code: &QrCode) -> Vec<(i32, i32, i32)> {
    let mut runs = Vec::new();
    for row in 0..code.size() {
        let mut column = 0;
        while column < code.size() {
            let length = (column..code.size()).take_while(|at| code.get_module(*at, row)).count() as i32;
            if length > 0 {
                runs.push((column, row, length));
            }
            column += length.max(1);
        }
    }
    runs
}

fn svg_of(code: &QrCode) -> String {
    let side = code.size() + 2 * QUIET_SQUARES;
    let mut path = String::new();
    for (column, row, length) in dark_runs(code) {
        _ = write!(path, "M{} {}h{length}v1h-{length}z", column + QUIET_SQUARES, row + QUIET_SQUARES);
    }
    format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {side} {side}\" shape-rendering=\"crispEdges\">\
         <path fill=\"#fff\" d=\"M0 0h{side}v{side}H0z\"/><path fill=\"#000\" d=\"{path}\"/></svg>"
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Paints the picture's own path on squares, as a browser would.
    fn painted(svg: &str, side: i32) -> Vec<Vec<bool>> {
        let mut squares = vec![vec![false; side as usize]; side as usize];
        let path = svg.rsplit_once(" d=\"").unwrap().1.split_once('"').unwrap().0;
        for run in path.split('M').skip(1) {
            let (at, rest) = run.split_once('h').unwrap();
            let (x, y) = at.split_once(' ').unwrap();
            let (x, y): (usize, usize) = (x.parse().unwrap(), y.parse().unwrap());
            let length: usize = rest.split_once('v').unwrap().0.parse().unwrap();
            squares[y][x..x + length].fill(true);
        }
        squares
    }

    #[test]
    fn the_picture_has_the_code_s_squares_and_a_white_edge() {
        let code =
            QrCode::encode_text("otpauth://totp/Windwerk:jane?secret=GEZDGNBVGY3TQOJQ", QrCodeEcc::Medium).unwrap();
        let side = code.size() + 2 * QUIET_SQUARES;
        let squares = painted(&svg_of(&code), side);
        for (y, row) in (0..).zip(&squares) {
            for (x, dark) in (0..).zip(row) {
                // Outside the code `get_module` is light.
                assert_eq!(*dark, code.get_module(x - QUIET_SQUARES, y - QUIET_SQUARES), "{x} {y}");
            }
        }
    }

    #[test]
    fn a_text_that_is_too_long_has_no_code() {
        assert!(data_url("short").unwrap().starts_with("data:image/svg+xml;base64,"));
        assert_eq!(data_url(&"x".repeat(3_000)), None);
    }
}
