//! Pictures from strangers, made harmless: decoded within bounds, drawn small, encoded anew as JPEG. Not a byte of the
//! upload survives, so neither do its metadata or whatever else it is at the same time.

use crate::language::Text;
use image::codecs::jpeg::JpegEncoder;
use image::imageops::FilterType;
use image::metadata::Orientation;
use image::{DynamicImage, ImageDecoder, ImageFormat, ImageReader, Limits, Rgb, RgbImage};
use std::io::Cursor;
use std::sync::{Mutex, PoisonError};

/// What a phone's camera makes, and no more.
const PIXELS_MAX: u64 = 16 * 1024 * 1024;
const DECODED_BYTES_MAX: u64 = 48 * 1024 * 1024;
/// The longer side of what is kept.
const SIDE_MAX: u32 = 512;
const QUALITY: u8 = 85;
/// What is seen through a transparent picture.
const PAPER: u8 = 255;

/// A picture that this site made.
#[derive(Debug)]
pub struct Picture {
    pub jpeg: Vec<u8>,
    pub width: u32,
    pub height: u32,
}

/// The picture in a JPEG, PNG or WebP file, upright and at most 512 pixels wide and high. Says what is wrong with it
/// otherwise. Of a moving picture the first frame is taken. One at a time, by `turn`: a decoded picture is some fifty
/// megabytes.
pub fn remake(upload: &[u8], turn: &Mutex<()>) -> Result<Picture, Text> {
    let _alone = turn.lock().unwrap_or_else(PoisonError::into_inner);
    let small = upright(upload)?;
    let flat = flatten(&small);
    let mut jpeg = Vec::new();
    JpegEncoder::new_with_quality(&mut jpeg, QUALITY).encode_image(&flat).map_err(|_| unreadable())?;
    Ok(Picture { jpeg, width: flat.width(), height: flat.height() })
}

/// The size is judged by what the file says of itself, before anything is decoded; the decoder holds it to that.
fn upright(upload: &[u8]) -> Result<DynamicImage, Text> {
    let format = image::guess_format(upload).ok().filter(is_taken).ok_or_else(unreadable)?;
    let mut limits = Limits::default();
    limits.max_alloc = Some(DECODED_BYTES_MAX);
    let mut reader = ImageReader::with_format(Cursor::new(upload), format);
    reader.limits(limits);
    let mut decoder = reader.into_decoder().map_err(|e| if is_limit(&e) { too_large() } else { unreadable() })?;
    let (width, height) = decoder.dimensions();
    if u64::from(width) * u64::from(height) > PIXELS_MAX || decoder.total_bytes() > DECODED_BYTES_MAX {
        return Err(too_large());
    }
    let orientation = decoder.orientation().unwrap_or(Orientation::NoTransforms);
    let whole =
        DynamicImage::from_decoder(decoder).map_err(|e| if is_limit(&e) { too_large() } else { unreadable() })?;
    // The fine filter works in floating point on all it is given, so a coarse one goes before it: half the memory.
    let coarse = if width.max(height) > 4 * SIDE_MAX { whole.thumbnail(2 * SIDE_MAX, 2 * SIDE_MAX) } else { whole };
    let mut small =
        if width.max(height) > SIDE_MAX { coarse.resize(SIDE_MAX, SIDE_MAX, FilterType::CatmullRom) } else { coarse };
    small.apply_orientation(orientation);
    Ok(small)
}

fn is_taken(format: &ImageFormat) -> bool {
    matches!(format, ImageFormat::Jpeg | ImageFormat::Png | ImageFormat::WebP)
}

fn is_limit(error: &image::ImageError) -> bool {
    matches!(error, image::ImageError::Limits(_))
}

fn unreadable() -> Text {
    Text::new("field.picture")
}

fn too_large() -> Text {
    Text::new("field.picture_pixels").with("max", PIXELS_MAX / 1_000_000)
}

fn flatten(picture: &DynamicImage) -> RgbImage {
    let pixels = picture.to_rgba8();
    RgbImage::from_fn(pixels.width(), pixels.height(), |x, y| {
        let [red, green, blue, alpha] = pixels.get_pixel(x, y).0.map(u32::from);
        let over = |colour: u32| ((colour * alpha + u32::from(PAPER) * (255 - alpha) + 127) / 255) as u8;
        Rgb([over(red), over(green), over(blue)])
    })
}

#[cfg(test)]
mod tests;
