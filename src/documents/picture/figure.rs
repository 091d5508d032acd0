//! A flyer with a helmet in two colours: what people of a demo have for a picture, and nobody's likeness.

use super::QUALITY;
use image::codecs::jpeg::JpegEncoder;
use image::{Rgb, RgbImage};

/// Pixels of a side.
const SIDE: u32 = 160;
/// Ground, suit and helmet.
const COLOURS: [[[u8; 3]; 3]; 6] = [
    [[214, 232, 244], [10, 92, 143], [17, 38, 60]],
    [[252, 239, 212], [138, 90, 20], [117, 70, 0]],
    [[226, 243, 232], [20, 96, 58], [9, 60, 36]],
    [[252, 232, 230], [155, 34, 38], [99, 18, 22]],
    [[236, 230, 246], [88, 62, 140], [52, 34, 92]],
    [[228, 240, 240], [38, 110, 116], [18, 66, 72]],
];
const VISOR: Rgb<u8> = Rgb([235, 242, 248]);

/// The picture of a number as JPEG; the same each time.
pub(crate) fn draw(number: usize) -> Vec<u8> {
    let [ground, suit, helmet] = COLOURS[number % COLOURS.len()].map(Rgb);
    // Another number, another head: a little higher, lower, wider or narrower.
    let (high, wide) = ((number / 6 % 3) as i64 * 4 - 4, (number / 18 % 3) as i64 * 3);
    let inside = |x: u32, y: u32, (middle_x, middle_y): (i64, i64), (across, down): (i64, i64)| {
        let (dx, dy) = (i64::from(x) - middle_x, i64::from(y) - middle_y);
        dx * dx * down * down + dy * dy * across * across <= across * across * down * down
    };
    let pixels = RgbImage::from_fn(SIDE, SIDE, |x, y| {
        if inside(x, y, (80, 66 + high), (22 + wide, 13)) {
            VISOR
        } else if inside(x, y, (80, 62 + high), (32 + wide, 35)) {
            helmet
        } else if inside(x, y, (80, 160), (60, 70)) {
            suit
        } else {
            ground
        }
    });
    let mut jpeg = Vec::new();
    // Writing to memory fails nowhere.
    _ = JpegEncoder::new_with_quality(&mut jpeg, QUALITY).encode_image(&pixels);
    jpeg
}
