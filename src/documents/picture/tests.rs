//! Friendly and hostile pictures.

use super::*;
use image::{ImageEncoder, Rgba, RgbaImage};

fn encoded(picture: &DynamicImage, format: ImageFormat) -> Vec<u8> {
    let mut bytes = Cursor::new(Vec::new());
    picture.write_to(&mut bytes, format).unwrap();
    bytes.into_inner()
}

fn drawn(width: u32, height: u32) -> DynamicImage {
    let pixel = |x: u32, y: u32| Rgb([(x * 7 % 256) as u8, (y * 5 % 256) as u8, ((x + y) % 256) as u8]);
    DynamicImage::ImageRgb8(RgbImage::from_fn(width, height, pixel))
}

fn remake(upload: &[u8]) -> Result<Picture, Text> {
    super::remake(upload)
}

fn problem(upload: &[u8]) -> &'static str {
    remake(upload).expect_err("this is refused").key()
}

/// A PNG that says it is this large and brings nothing of it.
fn claimed_png(width: u32, height: u32) -> Vec<u8> {
    let mut bytes = encoded(&drawn(1, 1), ImageFormat::Png);
    bytes[16..20].copy_from_slice(&width.to_be_bytes());
    bytes[20..24].copy_from_slice(&height.to_be_bytes());
    let crc = crc32(&bytes[12..29]);
    bytes[29..33].copy_from_slice(&crc.to_be_bytes());
    bytes
}

fn crc32(bytes: &[u8]) -> u32 {
    !bytes.iter().fold(u32::MAX, |crc, byte| {
        (0..8).fold(crc ^ u32::from(*byte), |crc, _| if crc & 1 == 1 { crc >> 1 ^ 0xedb8_8320 } else { crc >> 1 })
    })
}

#[test]
fn every_kind_comes_out_as_a_small_jpeg() {
    for format in [ImageFormat::Jpeg, ImageFormat::Png, ImageFormat::WebP] {
        let made = remake(&encoded(&drawn(1500, 1000), format)).unwrap();
        assert_eq!((made.width, made.height), (512, 341), "{format:?}");
        assert_eq!(image::guess_format(&made.jpeg).unwrap(), ImageFormat::Jpeg);
        let again = image::load_from_memory(&made.jpeg).unwrap();
        assert_eq!((again.width(), again.height()), (512, 341));
    }
}

#[test]
fn a_small_picture_stays_as_large_as_it_is() {
    let made = remake(&encoded(&drawn(3, 200), ImageFormat::Png)).unwrap();
    assert_eq!((made.width, made.height), (3, 200));
}

#[test]
fn what_is_transparent_shows_white_paper() {
    let glass = DynamicImage::ImageRgba8(RgbaImage::from_pixel(8, 8, Rgba([0, 0, 0, 0])));
    let made = remake(&encoded(&glass, ImageFormat::Png)).unwrap();
    assert!(image::load_from_memory(&made.jpeg).unwrap().to_rgb8().pixels().all(|p| p.0.iter().all(|c| *c > 250)));
}

#[test]
fn a_picture_taken_sideways_is_set_upright_and_says_no_more_of_where_it_was_taken() {
    // Exif, little endian, one tag: orientation 6, which is a quarter turn; and words as a camera leaves them.
    let exif = b"II*\0\x08\0\0\0\x01\0\x12\x01\x03\0\x01\0\0\0\x06\0\0\0\0\0\0\0 47.5N 8.7E Jane's camera".to_vec();
    let mut bytes = Vec::new();
    let mut encoder = JpegEncoder::new(&mut bytes);
    encoder.set_exif_metadata(exif).unwrap();
    encoder.encode_image(&drawn(60, 20)).unwrap();
    assert!(bytes.windows(4).any(|four| four == b"Jane"), "the test's own picture has metadata");
    let made = remake(&bytes).unwrap();
    assert_eq!((made.width, made.height), (20, 60));
    assert!(!made.jpeg.windows(4).any(|four| four == b"Jane" || four == b"Exif"));
}

#[test]
fn what_claims_to_be_huge_is_refused_before_it_is_decoded() {
    for (width, height) in [(100_000, 100_000), (4097, 4096), (1, 20_000_000), (u32::MAX >> 1, u32::MAX >> 1)] {
        let problem = problem(&claimed_png(width, height));
        assert!(["field.picture_pixels", "field.picture"].contains(&problem), "{width}x{height}: {problem}");
    }
    assert_eq!(problem(&claimed_png(100_000, 100_000)), "field.picture_pixels");
    assert_eq!(problem(&claimed_png(4097, 4096)), "field.picture_pixels");
    let mut jpeg = encoded(&drawn(16, 16), ImageFormat::Jpeg);
    let frame = jpeg.windows(2).position(|two| two == [0xff, 0xc0]).unwrap();
    jpeg[frame + 5..frame + 9].copy_from_slice(&[0xff, 0xff, 0xff, 0xff]);
    assert_eq!(problem(&jpeg), "field.picture_pixels");
}

#[test]
fn a_picture_that_is_cut_off_is_refused_or_drawn_and_never_a_panic() {
    for format in [ImageFormat::Jpeg, ImageFormat::Png, ImageFormat::WebP] {
        let whole = encoded(&drawn(24, 24), format);
        for length in (0..whole.len()).step_by(7) {
            _ = remake(&whole[..length]);
        }
        assert_eq!(problem(&whole[..20]), "field.picture", "{format:?}");
    }
    assert_eq!(problem(&encoded(&drawn(64, 64), ImageFormat::Png)[..400]), "field.picture");
}

#[test]
fn a_flipped_byte_is_never_a_panic() {
    for format in [ImageFormat::Jpeg, ImageFormat::Png, ImageFormat::WebP] {
        let whole = encoded(&drawn(24, 24), format);
        for place in 0..whole.len() {
            let mut damaged = whole.clone();
            damaged[place] ^= 0xa5;
            _ = remake(&damaged);
        }
    }
}

#[test]
fn what_a_file_is_besides_a_picture_is_lost() {
    for format in [ImageFormat::Jpeg, ImageFormat::Png, ImageFormat::WebP] {
        let mut bytes = encoded(&drawn(64, 64), format);
        bytes.extend_from_slice(b"<script>alert(1)</script>PK\x03\x04");
        let made = remake(&bytes).unwrap();
        assert!(!made.jpeg.windows(7).any(|seven| seven == b"<script"), "{format:?}");
    }
}

#[test]
fn drawings_in_words_and_other_formats_are_no_pictures_here() {
    let mut gif = b"GIF89a\x01\0\x01\0\0\0\0;".to_vec();
    for upload in [&b"<svg xmlns='http://www.w3.org/2000/svg'/>"[..], b"<!doctype html>", b"", b"BM", b"%PDF-1.7"] {
        assert_eq!(problem(upload), "field.picture");
    }
    gif.extend_from_slice(&encoded(&drawn(4, 4), ImageFormat::Png));
    assert_eq!(problem(&gif), "field.picture");
}

#[test]
fn sixteen_bits_a_colour_are_fine() {
    let deep = DynamicImage::ImageRgb8(drawn(40, 40).to_rgb8()).to_rgb16();
    let mut bytes = Vec::new();
    let raw: Vec<u8> = deep.iter().flat_map(|colour| colour.to_ne_bytes()).collect();
    let encoder = image::codecs::png::PngEncoder::new(&mut bytes);
    encoder.write_image(&raw, 40, 40, image::ExtendedColorType::Rgb16).unwrap();
    assert_eq!(remake(&bytes).unwrap().width, 40);
}

/// The head of a JPEG: a frame of this kind and size with three components, and a first scan of the given number of them.
fn jpeg_head(frame: u8, (width, height): (u16, u16), sampling: u8, in_first_scan: u8) -> Vec<u8> {
    let [(left, right), (high, low)] = [width, height].map(|side| (side.to_be_bytes()[0], side.to_be_bytes()[1]));
    let start = [0xFF, 0xD8, 0xFF, frame, 0, 17, 8, high, low, left, right, 3];
    let components = [1, sampling, 0, 2, 0x11, 0, 3, 0x11, 0];
    let scan: Vec<u8> = (1..=in_first_scan).flat_map(|id| [id, 0]).collect();
    let scan_bytes = 6 + 2 * in_first_scan;
    [&start[..], &components, &[0xFF, 0xDA, 0, scan_bytes, in_first_scan], &scan, &[0, 63, 0]].concat()
}

#[test]
fn what_a_jpeg_needs_beside_the_picture_is_read_from_its_head() {
    let size = (4000, 3000);
    let pixels = 4000 * 3000;
    for (frame, sampling, in_first_scan, wanted) in [
        (0xC0, 0x22, 3, 0),
        (0xC1, 0x11, 3, 0),
        (0xC0, 0x11, 1, 6 * pixels),
        (0xC2, 0x11, 3, 6 * pixels),
        (0xC2, 0x11, 1, 6 * pixels),
    ] {
        let head = jpeg_head(frame, size, sampling, in_first_scan);
        assert_eq!(coefficient_bytes(&head), wanted, "{frame:x} {sampling:x} {in_first_scan}");
    }
    let halved = coefficient_bytes(&jpeg_head(0xC2, size, 0x22, 3));
    assert!((3 * pixels..4 * pixels).contains(&halved), "{halved}");
    for length in 0..jpeg_head(0xC2, size, 0x11, 3).len() {
        _ = coefficient_bytes(&jpeg_head(0xC2, size, 0x11, 3)[..length]);
    }
}

#[test]
fn a_progressive_jpeg_that_would_fill_the_memory_is_refused_by_its_head() {
    let mut head = jpeg_head(0xC2, (4000, 4000), 0x11, 3);
    head.extend([0xFF, 0xD9]);
    assert_eq!(problem(&head), "field.picture_memory");
}
