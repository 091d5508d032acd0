//! The profile picture: valid ones, hostile ones, and access to them.

use crate::harness::pictures::{drawn, encoded, png};
use crate::harness::{Caller, Reply, Site};
use http::Method;
use image::ImageFormat;

const MEDIA: &str = "/account/profile/media";

fn upload(member: &Caller, kind: &str, bytes: Vec<u8>) -> Reply {
    member.ask(Method::POST, MEDIA).header("content-type", kind).body(bytes).send()
}

#[test]
fn a_picture_comes_back_small_and_as_this_site_drew_it() {
    let site = Site::open();
    let jane = site.member("jane");
    jane.get(MEDIA).refused(404);
    for (kind, format) in
        [("image/jpeg", ImageFormat::Jpeg), ("image/png", ImageFormat::Png), ("Image/WebP; q=1", ImageFormat::WebP)]
    {
        let made = upload(&jane, kind, encoded(&drawn(800, 400), format)).ok();
        assert_eq!((made.status, &made.json()["width"], &made.json()["height"]), (201, &512.into(), &256.into()));
        let shown = jane.get(MEDIA).ok();
        assert_eq!(shown.header("content-type"), Some("image/jpeg"));
        assert_eq!(shown.header("content-security-policy"), Some("default-src 'none'; sandbox"));
        assert_eq!(shown.header("x-content-type-options"), Some("nosniff"));
        assert!(shown.header("cache-control").unwrap().contains("private") && shown.header("etag").is_some());
        let picture = image::load_from_memory_with_format(&shown.body, ImageFormat::Jpeg).unwrap();
        assert_eq!((picture.width(), picture.height()), (512, 256));
    }
}

#[test]
fn a_picture_is_private_to_its_member_and_can_be_removed() {
    let site = Site::open();
    let (jane, mark) = (site.member("jane"), site.member("mark"));
    upload(&jane, "image/png", png(30, 30)).ok();
    mark.get(MEDIA).refused(404);
    mark.ask(Method::POST, "/account/profile/remove-media").send().ok();
    let first = jane.get(MEDIA).ok();
    upload(&jane, "image/png", png(31, 30)).ok();
    assert_ne!(jane.get(MEDIA).ok().header("etag"), first.header("etag"));
    assert_eq!(site.rows()["media"], 1, "the new picture is in place of the old one");
    for _ in 0..2 {
        jane.ask(Method::POST, "/account/profile/remove-media").send().ok();
        jane.get(MEDIA).refused(404);
    }
    assert_eq!(site.rows()["media"], 0);
}

#[test]
fn an_upload_says_that_it_is_a_picture_and_is_one() {
    let site = Site::open();
    let jane = site.member("jane");
    for kind in ["application/json", "image/svg+xml", "image/gif", "text/html", "multipart/form-data", "image/*"] {
        let reply = upload(&jane, kind, png(8, 8)).refused(415);
        assert!(reply.json()["message"].as_str().unwrap().contains("image/webp"), "{reply}");
    }
    jane.ask(Method::POST, MEDIA).body(png(8, 8)).send().refused(415);
    for bytes in [
        &b"<svg xmlns=\"http://www.w3.org/2000/svg\"><script>alert(1)</script></svg>"[..],
        b"GIF89a<script>",
        b"%PDF-1.7",
        b"",
        b"\x89PNG\r\n\x1a\n",
        b"\xff\xd8\xff\xe0\0\x10JFIF",
        b"RIFF\xff\xff\xff\xffWEBPVP8X",
        &png(64, 64)[..200],
    ] {
        let reply = upload(&jane, "image/png", bytes.to_vec()).refused(422);
        assert_eq!(reply.bad_fields(), ["body"], "{reply}");
    }
    assert_eq!(site.rows()["media"], 0);
}

/// A PNG of a few bytes that decodes to `side` × `side` pixels.
fn bomb(side: u32) -> Vec<u8> {
    let mut bytes = Vec::new();
    let grey = vec![0; (side * side) as usize];
    let encoder = image::codecs::png::PngEncoder::new(&mut bytes);
    image::ImageEncoder::write_image(encoder, &grey, side, side, image::ExtendedColorType::L8).unwrap();
    bytes
}

#[test]
fn a_decompression_bomb_is_refused_and_the_largest_allowed_picture_is_accepted() {
    let site = Site::open();
    let jane = site.member("jane");
    let bytes = bomb(8000);
    assert!(bytes.len() < 1_000_000, "a bomb is small: {}", bytes.len());
    let reply = upload(&jane, "image/png", bytes).refused(422);
    assert!(reply.json()["errors"][0]["message"].as_str().unwrap().contains("16"), "{reply}");
    upload(&jane, "image/png", bomb(4096)).ok();
}

#[test]
fn a_picture_that_is_a_program_as_well_comes_back_as_a_picture_alone() {
    let site = Site::open();
    let jane = site.member("jane");
    let script = b"<script>alert('polyglot')</script>PK\x05\x06";
    for (kind, format) in
        [("image/jpeg", ImageFormat::Jpeg), ("image/png", ImageFormat::Png), ("image/webp", ImageFormat::WebP)]
    {
        upload(&jane, kind, [&encoded(&drawn(40, 40), format)[..], script].concat()).ok();
        let shown = jane.get(MEDIA).ok();
        assert!(!shown.body.windows(8).any(|eight| eight == b"polyglot"), "{format:?}");
        assert!(shown.body.starts_with(b"\xff\xd8\xff"), "{format:?}");
    }
    assert!(site.holds_text("polyglot").is_empty());
}

#[test]
fn five_mebibytes_fit_and_not_a_byte_more() {
    let site = Site::open();
    let jane = site.member("jane");
    let padded = |bytes: usize| {
        let mut picture = png(20, 20);
        picture.resize(bytes, 0);
        upload(&jane, "image/png", picture)
    };
    padded(5 * 1024 * 1024).ok();
    padded(5 * 1024 * 1024 + 1).refused(413);
}

#[test]
fn many_uploads_at_once_are_accepted_or_refused_and_the_site_stays_ready() {
    let site = Site::open();
    let jane = site.member("jane");
    site.expects_faults();
    let picture = encoded(&drawn(1200, 900), ImageFormat::Jpeg);
    let statuses: Vec<u16> = std::thread::scope(|scope| {
        let uploads: Vec<_> =
            (0..24).map(|_| scope.spawn(|| upload(&jane, "image/jpeg", picture.clone()).status)).collect();
        uploads.into_iter().map(|one| one.join().unwrap()).collect()
    });
    assert!(statuses.iter().all(|status| [201, 503].contains(status)), "{statuses:?}");
    assert!(statuses.contains(&201), "{statuses:?}");
    upload(&jane, "image/png", png(9, 9)).ok();
    assert_eq!(site.rows()["media"], 1);
}
