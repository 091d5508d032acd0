//! The QR code as one path of squares.

use krilla::geom::{Path, PathBuilder, Rect};
use qrcodegen::{QrCode, QrCodeEcc};

/// The code with its upper left corner at `x`, `y`, as wide as `side`; `None` where the text is too long for one.
pub(crate) fn squares(text: &str, x: f32, y: f32, side: f32) -> Option<Path> {
    let code = QrCode::encode_text(text, QrCodeEcc::Medium).ok()?;
    let module = side / code.size() as f32;
    let mut path = PathBuilder::new();
    for row in 0..code.size() {
        // Neighbours are one rectangle, so that no hairline shows between them.
        let mut column = 0;
        while column < code.size() {
            let dark = (column..code.size()).take_while(|at| code.get_module(*at, row)).count() as i32;
            if dark > 0 {
                let (left, top) = (x + column as f32 * module, y + row as f32 * module);
                path.push_rect(Rect::from_xywh(left, top, dark as f32 * module, module)?);
            }
            column += dark.max(1);
        }
    }
    path.finish()
}
