//! The rules of a catalogue, and that the built-in one obeys them.

use super::*;
use crate::moment::Moment;
use serde_json::{Value, json};

const JSON: &str = include_str!("../../../assets/catalogue/catalogue.json");

fn key<'a>(cat_group: &'a str, cat_id: &'a str, track: &'a str) -> LevelKey<'a> {
    LevelKey { cat_group, cat_id, track }
}

fn level(cat_group: &str, cat_id: &str, track: &str) -> &'static Level {
    Catalogue::built_in().find_level(key(cat_group, cat_id, track)).unwrap()
}

#[test]
fn the_built_in_catalogue_is_sound_and_of_a_sensible_size() {
    let catalogue = Catalogue::parse(JSON).unwrap_or_else(|mistakes| panic!("{mistakes}"));
    let count = |name: &str| catalogue.find_programme(name).unwrap().levels.len();
    assert_eq!(PROGRAMMES.map(count), [11, 1, 4, 4, 1, 1, 1]);
    assert!(catalogue.levels().all(|level| (5..=12).contains(&level.skills.len())));
    for (level, skill) in catalogue.skills() {
        assert_eq!(catalogue.find_skill(&skill.skill).unwrap().0.key(), level.key());
    }
}

#[test]
fn every_mistake_is_named_at_once() {
    let mut file: Value = serde_json::from_str(JSON).unwrap();
    let flyer = &mut file["programmes"][0];
    flyer["safety"] = json!([]);
    flyer["levels"][0]["skills"][1]["skill"] = json!("10101");
    flyer["levels"][0]["skills"][2]["skill"] = json!("x1");
    flyer["levels"][1]["cat_id"] = json!("10");
    flyer["levels"][3]["requires"] = json!([{"cat_group": "Flyer", "cat_id": "5", "track": "Static"}]);
    flyer["levels"][5]["skills"] = json!([{"skill": "99", "name": " ", "required": false}]);
    flyer["levels"][6]["signed_by"] = json!([{"cat_group": "Coach", "cat_id_min": "2"}]);
    file["programmes"][6]["cat_group"] = json!("Civil");
    let mistakes = Catalogue::parse(&file.to_string()).unwrap_err();
    for mistake in [
        "programme Military: is there 0 times",
        "programme \"Civil\": is not known",
        "programme Flyer: safety needs an initial",
        "skill \"10101\": is there twice",
        "skill \"x1\": is not a number",
        "Flyer 10 Backflying: \"10\" is not a level",
        "Flyer 3 Static: requires Flyer 2, which is not there",
        "Flyer 4 Static: what it requires cannot be reached",
        "Flyer 3 Dynamic: has no required skill",
        "skill \"99\": \" \" is not a name",
        "Flyer 4 Dynamic: nobody can sign it",
    ] {
        assert!(mistakes.contains(mistake), "{mistake} is not in:\n{mistakes}");
    }
    assert!(
        Catalogue::parse(&JSON.replacen("and_holds", "and_hold", 1)).unwrap_err().contains("unknown field `and_hold`")
    );
}

#[test]
fn sign_off_follows_the_programmes() {
    let catalogue = Catalogue::built_in();
    for level in catalogue.levels() {
        for by in catalogue.levels() {
            let n = &*level.cat_id;
            let right = match (&*level.cat_group, &*by.cat_group) {
                ("Flyer", "Instructor") => &*by.cat_id >= n.min("4"),
                ("Instructor", "Trainer") => &*by.cat_id >= n,
                ("Trainer" | "Coach", "Trainer") => by.cat_id == "4",
                ("AFC", "Trainer") | ("AFC" | "Instructor" | "Trainer" | "Examiner" | "Coach", "Examiner") => true,
                _ => false,
            };
            assert_eq!(level.signable_by(&[by.key()]), right, "{level} by {by}");
        }
    }
    let military = level("Military", "1", "");
    assert!(military.signable_by(&[key("Trainer", "1", ""), key("Military", "1", "")]));
}

#[test]
fn a_level_is_held_with_its_last_required_skill() {
    let catalogue = Catalogue::built_in();
    let required: Vec<&str> = level("Flyer", "1", "").skills.iter().filter(|s| s.required).map(|s| &*s.skill).collect();
    let mut open: Vec<(&str, Moment)> = required.iter().copied().zip((100..).map(Moment)).collect();
    let last = open.pop().unwrap();
    assert!(catalogue.held(&open).is_empty());
    open.extend([last, (last.0, Moment(500)), ("10111", Moment(900)), ("no such skill", Moment(900))]);
    let held = catalogue.held(&open);
    assert_eq!((held.len(), held[0].level.key(), held[0].since), (1, key("Flyer", "1", ""), last.1));
}

#[test]
fn levels_open_one_another_and_no_track_stands_in_for_another() {
    let next = |held: &[LevelKey]| -> Vec<String> {
        Catalogue::built_in().next_levels(held).iter().map(|level| level.name.clone()).collect()
    };
    let (first, back, sit) = (key("Flyer", "1", ""), key("Flyer", "2", "Backflying"), key("Flyer", "3", "Static"));
    assert_eq!(next(&[]), ["Flyer Level 1", "Military"]);
    assert_eq!(next(&[first]), ["Backflying Level 2", "Formation Level 2", "Military"]);
    assert_eq!(
        next(&[first, back, sit]),
        ["Static Level 4", "Dynamic Level 3", "Formation Level 2", "Assistant Flight Coach", "Coach", "Military"]
    );
    assert!(level("Coach", "1", "").admits(&[key("Flyer", "3", "Formation")]));
    assert!(!level("AFC", "1", "").admits(&[key("Flyer", "4", "Formation")]));
    assert!(level("Trainer", "1", "").admits(&[key("Instructor", "4", "")]));
    assert_eq!(level("Examiner", "1", "").missing(&[key("Trainer", "2", "")]).count(), 1);
}

#[test]
fn safety_is_shared_where_the_catalogue_says_so() {
    let catalogue = Catalogue::built_in();
    let first = |programme| &*catalogue.safety(programme)[0].skill;
    assert_eq!((first("Examiner"), first("AFC")), (first("Trainer"), first("Instructor")));
    assert_eq!(catalogue.find_safety(first("Examiner")).unwrap().0.cat_group, "Trainer");
    assert!(catalogue.safety("Pilot").is_empty() && catalogue.find_safety("10101").is_none());
}

/// The published schema accepts and refuses the same files as the parser.
mod schema {
    use super::*;
    use jsonschema::Validator;

    fn schema() -> Value {
        serde_json::from_str(include_str!("../../../assets/catalogue/schema.json")).unwrap()
    }

    fn whole() -> Validator {
        jsonschema::validator_for(&schema()).unwrap()
    }

    /// The schema of a site's extension.
    fn own() -> Validator {
        let mut schema = schema();
        let fields = schema.as_object_mut().unwrap();
        fields.retain(|key, _| !["type", "additionalProperties", "required", "properties"].contains(&key.as_str()));
        fields.insert("$ref".to_owned(), json!("#/$defs/extension"));
        jsonschema::validator_for(&schema).unwrap()
    }

    fn mistakes(validator: &Validator, file: &Value) -> Vec<String> {
        validator.iter_errors(file).map(|e| format!("{}: {e}", e.instance_path())).collect()
    }

    #[test]
    fn the_built_in_catalogue_and_the_sample_keep_to_it() {
        assert_eq!(mistakes(&whole(), &serde_json::from_str(JSON).unwrap()), [""; 0]);
        let sample = include_str!("../../../packaging/catalogue.json");
        assert_eq!(mistakes(&own(), &serde_json::from_str(sample).unwrap()), [""; 0]);
    }

    #[test]
    fn what_it_refuses_the_catalogue_refuses_too() {
        for (pointer, value) in [
            ("/programmes/0/cat_group", json!("Pilot")),
            ("/programmes/0/levels/0/cat_id", json!("12")),
            ("/programmes/0/levels/0/cat_id", json!(1)),
            ("/programmes/0/levels/0/name", json!(" padded")),
            ("/programmes/0/levels/0/skills/0/skill", json!("010101")),
            ("/programmes/0/levels/0/skills/0/required", json!("yes")),
            ("/programmes/0/levels/0/skills", json!([{ "skill": "10111", "name": "Net", "required": false }])),
            ("/programmes/0/levels/0/signed_by", json!([])),
            ("/programmes/0/levels/1/requires/0/cat_group", json!("Pilot")),
            ("/programmes/0/safety/0/kind", json!("yearly")),
            ("/programmes/6", json!({ "cat_group": "Military" })),
        ] {
            let mut file: Value = serde_json::from_str(JSON).unwrap();
            *file.pointer_mut(pointer).unwrap() = value;
            assert!(!mistakes(&whole(), &file).is_empty(), "the schema takes {pointer}");
            assert!(Catalogue::parse(&file.to_string()).is_err(), "the catalogue takes {pointer}");
        }
        for (pointer, value) in [
            ("/programmes/0/levels/0/skills/0/required", json!(true)),
            ("/programmes/0/levels/0/skills/0/skill", json!("10112")),
            ("/programmes/0/levels/0/name", json!("Flyer Level One")),
            ("/programmes/0/levels/1/skills/0/skill", json!("11")),
            ("/programmes/0/safety/0/skill", json!("11")),
            ("/programmes/0/cat_group", json!("Pilot")),
        ] {
            let mut file: Value = serde_json::from_str(include_str!("../../../packaging/catalogue.json")).unwrap();
            match file.pointer_mut(pointer) {
                Some(place) => *place = value,
                None => file["programmes"][0]["levels"][0]["name"] = value,
            }
            assert!(!mistakes(&own(), &file).is_empty(), "the schema takes {pointer}");
            assert!(Catalogue::built_in().extended(&file.to_string()).is_err(), "the catalogue takes {pointer}");
        }
    }
}

#[test]
fn a_name_is_one_line_that_reads_as_it_is_written() {
    for name in ["Fly\u{202e}er", "Fly\u{2028}er", "Flyer\u{200b}", "Fly\u{7}er"] {
        let mut file: Value = serde_json::from_str(JSON).unwrap();
        file["programmes"][0]["levels"][0]["name"] = json!(name);
        assert!(Catalogue::parse(&file.to_string()).is_err(), "{name:?}");
    }
}
