//! The kiosk's camera, in a real Chromium with a recorded video: a member's code signs in; without a camera the page
//! says what to do instead.

use super::kiosk_screens::{judge, pair};
use super::{Clerk, demo};
use crate::harness::{Browser, Site};
use http::Method;
use qrcodegen::{QrCode, QrCodeEcc};
use serde_json::json;
use std::path::Path;

const WIDTH: usize = 640;
const HEIGHT: usize = 480;
/// The width of a module of the code, in pixels.
const MODULE: f64 = 7.3;
/// The angle at which the phone is turned, in radians.
const TURNED: f64 = 0.35;

/// Writes a video of one frame: a code on a phone before the camera, turned and with a shadow on it.
fn film(path: &Path, text: Option<&str>) {
    let code = text.map(|text| QrCode::encode_text(text, QrCodeEcc::Medium).unwrap());
    let brightness = |x: usize, y: usize| {
        let (left, up) = (x as f64 - WIDTH as f64 / 2.0, y as f64 - HEIGHT as f64 / 2.0);
        let shadow = 1.0 - 0.4 * x as f64 / WIDTH as f64;
        let hall = 90.0 + 40.0 * ((x / 40 + y / 40) % 2) as f64;
        let Some(code) = &code else { return hall * shadow };
        let middle = f64::from(code.size()) / 2.0;
        let (sin, cos) = TURNED.sin_cos();
        let (column, row) = ((cos * left + sin * up) / MODULE + middle, (cos * up - sin * left) / MODULE + middle);
        let outside = column.min(row) < -4.0 || column.max(row) > 2.0 * middle + 4.0;
        let lit = if outside {
            hall
        } else if code.get_module(column.floor() as i32, row.floor() as i32) {
            40.0
        } else {
            220.0
        };
        lit * shadow
    };
    let mut frame = format!("YUV4MPEG2 W{WIDTH} H{HEIGHT} F10:1 Ip A1:1 C420jpeg\nFRAME\n").into_bytes();
    frame.extend((0..WIDTH * HEIGHT).map(|place| brightness(place % WIDTH, place / WIDTH) as u8));
    frame.extend(std::iter::repeat_n(128, WIDTH * HEIGHT / 2));
    std::fs::write(path, frame).unwrap();
}

/// A kiosk whose camera shows this video, or that has no camera.
fn a_kiosk(site: &Site, film: Option<&Path>) -> Browser {
    let camera = film.map(|film| format!("--use-file-for-fake-video-capture={}", film.display()));
    let fake = camera.is_some().then(|| "--use-fake-device-for-media-stream".to_owned());
    // The camera was allowed once, when the kiosk was set up.
    let switches = ["--use-fake-ui-for-media-stream".to_owned()].into_iter().chain(fake).chain(camera);
    let browser = Browser::open_with(&switches.collect::<Vec<_>>());
    pair(site, &browser);
    browser.go(&format!("{}/kiosk/scan", site.origin()));
    browser
}

fn look(browser: &Browser) {
    browser.wait("return document.getElementById('view').classList.contains('ready')");
    browser.run("document.getElementById('look').focus()", json!([]));
    browser.press("\u{E007}");
}

#[test]
fn a_member_signs_in_with_a_code_before_the_camera() {
    let site = demo();
    let jane = site.flyer("jane");
    let made = jane.ask(Method::POST, "/account/profile/kiosk-code").send().ok().json();
    let dir = tempfile::tempdir().unwrap();
    let (first, used) = (dir.path().join("code.y4m"), made["code"].as_str().unwrap());
    film(&first, Some(used));
    let browser = a_kiosk(&site, Some(&first));
    look(&browser);
    browser.wait("return location.pathname === '/kiosk/home'");
    assert!(browser.text().contains("jane"), "{}", browser.text());
    // The same code again is refused with the next step to take.
    browser.run("document.querySelector('.foot form button').click()", json!([]));
    browser.wait("return location.pathname === '/kiosk'");
    browser.go(&format!("{}/kiosk/scan", site.origin()));
    look(&browser);
    browser.wait("return !!document.getElementById('problem')");
    assert!(browser.text().contains("Make a new one on your own pages"), "{}", browser.text());
    let broken: Vec<String> = browser
        .complaints()
        .into_iter()
        .filter(|line| !line.contains("422") && !line.contains("Cleared data types"))
        .collect();
    assert_eq!(broken, [""; 0]);
}

#[test]
fn the_camera_keeps_searching_until_it_sees_a_code() {
    let site = demo();
    let dir = tempfile::tempdir().unwrap();
    let hall = dir.path().join("hall.y4m");
    film(&hall, None);
    let browser = a_kiosk(&site, Some(&hall));
    look(&browser);
    browser.wait("const video = document.getElementById('camera'); return !video.hidden && video.currentTime > 1");
    assert_eq!(browser.path(), "/kiosk/scan");
    assert_eq!(browser.run("return document.getElementById('code').value", json!([])), "");
    judge(&browser, "kiosk-camera");
}

#[test]
fn without_a_camera_or_when_it_is_refused_the_next_step_is_shown() {
    let site = demo();
    let browser = a_kiosk(&site, None);
    let refused = |browser: &Browser| {
        look(browser);
        browser.wait("return !document.getElementById('no-camera').hidden");
        assert!(browser.text().contains("The camera cannot be used here"), "{}", browser.text());
    };
    refused(&browser);
    judge(&browser, "kiosk-no-camera");
    let camera = json!({ "descriptor": { "name": "camera" }, "state": "denied" });
    browser.order("/permissions", camera);
    browser.go(&format!("{}/kiosk/scan", site.origin()));
    refused(&browser);
    browser.run("document.querySelector('#no-camera a').click()", json!([]));
    browser.wait("return location.pathname === '/kiosk/number'");
    // A hand scanner types the code, and needs no camera.
    let jane = site.flyer("jane");
    let made = jane.ask(Method::POST, "/account/profile/kiosk-code").send().ok().json();
    browser.go(&format!("{}/kiosk/scan", site.origin()));
    browser.press(&format!("{}\u{E007}", made["code"].as_str().unwrap()));
    browser.wait("return location.pathname === '/kiosk/home'");
}

#[test]
fn a_reader_may_end_with_enter_with_tab_or_with_nothing_and_type_slowly() {
    let site = demo();
    let browser = Browser::open();
    pair(&site, &browser);
    let jane = site.flyer("jane");
    let desk = Clerk::at(&site, &site.desk());
    desk.post(&format!("/desk/members/{}/card", jane.id), &[("card", "*04a23f91*")]);
    // Milliseconds between two keys, and the last key.
    for (interval, last) in [(5, "Enter"), (5, "Tab"), (5, ""), (120, "Tab"), (120, "")] {
        browser.go(&format!("{}/kiosk", site.origin()));
        let script = "const [interval, last] = arguments, keys = [...'*04a23f91*', ...last ? [last] : []];
            keys.forEach((key, at) => setTimeout(() => document.body.dispatchEvent(
                new KeyboardEvent('keydown', { key, bubbles: true, cancelable: true })), at * interval))";
        browser.run(script, json!([interval, last]));
        let filled = format!("return document.querySelector('[name=number]')?.value === '{}'", jane.id);
        browser.wait(&filled);
    }
}
