//! The picture as text: the same again, small, sound, and true.

use super::*;
use crate::documents::markup::escape;
use crate::domain::catalogue::{Catalogue, LevelKey, names};
use crate::domain::currency::{Currencies, Currency};
use crate::domain::progression;
use crate::moment::Moment;

const HELD: [(LevelKey, Moment); 3] = [
    (LevelKey { cat_group: "Flyer", cat_id: "1", track: "" }, Moment(1_740_000_000)),
    (LevelKey { cat_group: "Flyer", cat_id: "2", track: "Backflying" }, Moment(1_750_000_000)),
    (LevelKey { cat_group: "Coach", cat_id: "1", track: "" }, Moment(1_760_000_000)),
];
const SIGNED: [&str; 5] = ["11301", "11302", "11303", "13201", "20101"];

fn picture(catalogue: &Catalogue, holder: &str, language: Language) -> String {
    draw(&progression_of(catalogue, holder, language))
}

fn progression_of<'a>(catalogue: &'a Catalogue, holder: &str, language: Language) -> Progression<'a> {
    let flyer = Currency { current: true, renewal: Some(Moment(9)) };
    let currency = Currencies { flyer, ..Currencies::default() };
    Progression {
        site_name: "Windwerk & Söhne".to_owned(),
        holder: holder.to_owned(),
        at: Moment(1_780_000_000),
        zone: TimeZone::UTC,
        steps: progression::of(catalogue, &HELD, &SIGNED, &currency),
        language,
    }
}

/// Align arm's length letters are read from 17 pixels on; a card's name has 15 units.
#[test]
fn the_map_alone_is_large_enough_for_the_screens_of_a_site() {
    let own = progression_of(Catalogue::built_in(), "Jane", Language::Italian);
    for (turned, screen_pixels, ratio) in [(false, 1_850.0, 1470.0 / 644.0), (true, 1_020.0, 808.0 / 1130.0)] {
        let svg = draw_map(&own, turned);
        let sides = svg.split("viewBox=\"0 0 ").nth(1).unwrap().split('"').next().unwrap();
        let (width, height) = sides.split_once(' ').unwrap();
        let (width, height): (f64, f64) = (width.parse().unwrap(), height.parse().unwrap());
        assert!(15.0 * screen_pixels / width >= 17.0, "{width} units across");
        assert!(
            (width / height - ratio).abs() < 0.02,
            "the style sheet leaves room for {ratio}, not {width} by {height}"
        );
        assert!(svg.contains("Statico Livello 3") && !svg.contains("Static Level"), "names are translated");
    }
}

#[test]
fn days_are_those_of_the_clock_of_the_site() {
    let own = progression_of(Catalogue::built_in(), "Jane", Language::English);
    for (zone, held, drawn) in [("UTC", "2025-02-19", "28 May 2026"), ("Pacific/Auckland", "2025-02-20", "29 May 2026")]
    {
        let svg = draw(&Progression { zone: TimeZone::named(zone), ..own.clone() });
        assert!(svg.contains(&format!(">{held}<")) && svg.contains(drawn), "{zone}");
    }
}

#[test]
fn the_same_progression_is_the_same_bytes_and_small() {
    let extended = Catalogue::built_in().extended(include_str!("../../../packaging/catalogue.json")).unwrap();
    for language in Language::ALL {
        for catalogue in [Catalogue::built_in(), &extended] {
            let svg = picture(catalogue, "Jane", language);
            assert_eq!(svg, picture(catalogue, "Jane", language));
            assert!(svg.len() < 60_000, "{} bytes", svg.len());
            assert!(
                catalogue
                    .levels()
                    .all(|level| svg.contains(&format!("<title>{}", escape(names::say(language, &level.name)))))
            );
        }
    }
}

#[test]
fn every_state_is_said_in_words() {
    let svg = picture(Catalogue::built_in(), "Jane", Language::English);
    for said in [
        "Flyer Level 1: held 2025-02-19",
        "Coach: not current 2025-10-09",
        "Static Level 3: open 3 of 8 signed",
        "Static Level 4: next",
        "Static Level 5: later",
    ] {
        assert!(svg.contains(said), "{said}");
    }
    assert!(svg.contains("Sit forward and backward"), "what is missing of what is open");
    assert!(picture(Catalogue::built_in(), "Jane", Language::German).contains("Statik Stufe 3: offen"));
}

#[test]
fn the_words_of_the_states_fit_a_card_in_every_language() {
    for language in Language::ALL {
        for key in ["held", "lapsed", "open", "next", "later"] {
            let said = &language.texts()[&format!("progression.{key}")];
            assert!(said.chars().count() <= 11, "{said}");
        }
    }
}

#[test]
fn a_name_is_text_whatever_is_in_it() {
    let svg = picture(Catalogue::built_in(), "</text><script>alert('1')</script>\u{7}&", Language::English);
    assert!(!svg.contains("<script") && svg.contains("&lt;script&gt;") && svg.contains("Windwerk &amp; Söhne"));
    assert!(picture(Catalogue::built_in(), &"W".repeat(200), Language::English).contains('…'));
}

/// With `SHEETS=<directory>` the pictures are written there, to be looked at.
#[test]
fn pictures_to_look_at() {
    let Some(dir) = std::env::var_os("SHEETS").map(std::path::PathBuf::from) else { return };
    let extended = Catalogue::built_in().extended(include_str!("../../../packaging/catalogue.json")).unwrap();
    for (place, language) in Language::ALL.into_iter().enumerate() {
        let catalogue = if place == 3 { &extended } else { Catalogue::built_in() };
        let svg = picture(catalogue, "Jane Fairweather", language);
        std::fs::write(dir.join(format!("progression-{}.svg", language.tag())), svg).unwrap();
    }
}

#[test]
fn a_long_name_makes_no_long_picture() {
    let catalogue = Catalogue::built_in();
    let (short, long) = ("J".to_owned(), "\u{1fa82}".repeat(100_000));
    let [short, long] = [short, long].map(|name| picture(catalogue, &name, Language::English).len());
    assert!(long <= short + 2 * 4 * 48, "{short} bytes, {long} bytes");
}
