//! Pictures as people upload them.

use image::{DynamicImage, ImageFormat, Rgb, RgbImage};
use std::io::Cursor;

/// A striped picture.
pub fn drawn(width: u32, height: u32) -> DynamicImage {
    let pixel = |x: u32, y: u32| Rgb([(x * 7 % 256) as u8, (y * 5 % 256) as u8, ((x + y) % 256) as u8]);
    DynamicImage::ImageRgb8(RgbImage::from_fn(width, height, pixel))
}

pub fn encoded(picture: &DynamicImage, format: ImageFormat) -> Vec<u8> {
    let mut bytes = Cursor::new(Vec::new());
    picture.write_to(&mut bytes, format).unwrap();
    bytes.into_inner()
}

pub fn png(width: u32, height: u32) -> Vec<u8> {
    encoded(&drawn(width, height), ImageFormat::Png)
}
