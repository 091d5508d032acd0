//! Pictures from strangers, made harmless: decoded within bounds, drawn small, encoded anew as JPEG. Not a byte of the
//! upload survives, so neither do its metadata or whatever else it is at the same time.

use crate::i18n::language::Text;
use image::codecs::jpeg::JpegEncoder;
use image::imageops::FilterType;
use image::metadata::Orientation;
use image::{DynamicImage, ImageDecoder, ImageFormat, ImageReader, Limits, Rgb, RgbImage};
use std::io::Cursor;

/// The most pixels of a picture: as many as a phone's camera makes.
const PIXELS_MAX: u64 = 16 * 1024 * 1024;
const DECODED_BYTES_MAX: u64 = 48 * 1024 * 1024;
/// The decoded picture with what its decoder keeps beside it: a progressive JPEG has all of its coefficients in memory, up to
/// twice the picture. Cameras make none.
const WORKING_BYTES_MAX: u64 = 64 * 1024 * 1024;
const COEFFICIENT_BYTES: u64 = 2;
/// The longer side of what is kept.
const SIDE_MAX: u32 = 512;
const QUALITY: u8 = 85;
/// The brightness of the paper behind a transparent picture.
const PAPER: u8 = 255;

/// A picture that this site made.
#[derive(Debug)]
pub(crate) struct Picture {
    pub jpeg: Vec<u8>,
    pub width: u32,
    pub height: u32,
}

/// The picture in a JPEG, PNG or WebP file, upright and at most 512 pixels wide and high. Says what is wrong with it
/// otherwise. Of a moving picture the first frame is taken. A decoded picture is some fifty megabytes: see
/// [`crate::site::drawing`].
pub(crate) fn remake(upload: &[u8]) -> Result<Picture, Text> {
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
    let beside = if format == ImageFormat::Jpeg { coefficient_bytes(upload) } else { 0 };
    if decoder.total_bytes() + beside > WORKING_BYTES_MAX {
        return Err(Text::new("field.picture_memory"));
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

/// The bytes of coefficients that the decoder of a JPEG holds beside the picture, by the file's headers: none where one
/// scan has the whole picture. A file whose headers cannot be read is left to the decoder.
fn coefficient_bytes(jpeg: &[u8]) -> u64 {
    const QUANTISED_IN_ONE_SCAN: [u8; 2] = [0xC0, 0xC1];
    let (mut rest, mut frame) = (jpeg.get(2..).unwrap_or_default(), None);
    while let [0xFF, marker, following @ ..] = rest {
        let marker = *marker;
        if marker == 0xFF {
            rest = &rest[1..];
            continue;
        }
        let Some(length) = following.first_chunk::<2>().map(|two| usize::from(u16::from_be_bytes(*two))) else { break };
        let Some(segment) = following.get(2..length.max(2)) else { break };
        match marker {
            0xC4 | 0xC8 | 0xCC => {}
            0xC0..=0xCF => frame = Frame::read(segment).map(|frame| (marker, frame)),
            // The first scan: what it lacks is kept until later ones come.
            0xDA => {
                return frame.map_or(0, |(marker, frame)| {
                    let whole = segment.first() == Some(&frame.components);
                    if whole && QUANTISED_IN_ONE_SCAN.contains(&marker) {
                        0
                    } else {
                        frame.coefficients * COEFFICIENT_BYTES
                    }
                });
            }
            _ => {}
        }
        rest = &following[length.max(2)..];
    }
    0
}

/// The head of a JPEG's frame.
struct Frame {
    components: u8,
    /// The number of coefficients of all components; a component may be sampled at fewer pixels than the picture has.
    coefficients: u64,
}

impl Frame {
    /// Precision, height, width, and three bytes a component, of which the second has its sampling in both directions.
    fn read(segment: &[u8]) -> Option<Frame> {
        let [_, high, low, left, right, components, rest @ ..] = segment else { return None };
        let (height, width) = (u16::from_be_bytes([*high, *low]), u16::from_be_bytes([*left, *right]));
        let samplings = rest.chunks_exact(3).take(usize::from(*components));
        let samplings: Vec<(u64, u64)> =
            samplings.map(|one| (u64::from(one[1] >> 4), u64::from(one[1] & 15))).collect();
        let across = samplings.iter().map(|(across, _)| *across).max()?.max(1);
        let down = samplings.iter().map(|(_, down)| *down).max()?.max(1);
        let blocks = u64::from(width).div_ceil(8 * across) * u64::from(height).div_ceil(8 * down);
        let each: u64 = samplings.iter().map(|(across, down)| across * down * 64).sum();
        Some(Frame { components: *components, coefficients: blocks * each })
    }
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

/// Pixels of a figure's side.
const FIGURE_SIDE: u32 = 160;
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

/// A flyer with a helmet in two colours as JPEG, by a number: for people of a demo, and nobody's likeness.
pub(crate) fn draw_figure(number: usize) -> Vec<u8> {
    let [ground, suit, helmet] = COLOURS[number % COLOURS.len()].map(Rgb);
    // Another number, another head: a little higher, lower, wider or narrower.
    let (high, wide) = ((number / 6 % 3) as i64 * 4 - 4, (number / 18 % 3) as i64 * 3);
    let inside = |x: u32, y: u32, (middle_x, middle_y): (i64, i64), (across, down): (i64, i64)| {
        let (dx, dy) = (i64::from(x) - middle_x, i64::from(y) - middle_y);
        dx * dx * down * down + dy * dy * across * across <= across * across * down * down
    };
    let pixels = RgbImage::from_fn(FIGURE_SIDE, FIGURE_SIDE, |x, y| {
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

#[cfg(test)]
mod tests;
