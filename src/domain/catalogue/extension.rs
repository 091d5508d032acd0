//! A site's extension of the catalogue: optional skills, safety records and levels of its own. An extension cannot
//! change a built-in level, because a level means the same at every tunnel.

use super::checks::Check;
use super::{Catalogue, Level, LevelKey, Programme, Requirement, Safety, Signer, Skill};
use serde::Deserialize;

/// A site's ids have at least this many digits, more than those of the built-in catalogue, so that no later version of
/// the catalogue uses one of them.
const OWN_DIGITS_MIN: usize = 6;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Extension {
    /// A comment for people who read the file.
    #[serde(default, rename = "comment")]
    _comment: String,
    programmes: Vec<More>,
}

/// Additions to an existing programme.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct More {
    cat_group: String,
    #[serde(default, rename = "comment")]
    _comment: String,
    #[serde(default)]
    safety: Vec<Safety>,
    #[serde(default)]
    levels: Vec<MoreLevel>,
}

/// A new level in full; or an existing level, by its number and track, with additional skills.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct MoreLevel {
    cat_id: String,
    #[serde(default)]
    track: String,
    name: Option<String>,
    requires: Option<Vec<Requirement>>,
    signed_by: Option<Vec<Signer>>,
    skills: Vec<Skill>,
}

/// The merged catalogue, which must still be checked as a whole, and the checks of the extension itself.
pub(super) fn merged(base: &Catalogue, extension: Extension) -> (Catalogue, Vec<Check>) {
    let (mut whole, mut checks) = (base.clone(), Vec::new());
    for more in extension.programmes {
        let ids = more.safety.iter().map(|one| &one.skill);
        let ids = ids.chain(more.levels.iter().flat_map(|level| level.skills.iter().map(|skill| &skill.skill)));
        let long = |id: &&String| id.len() >= OWN_DIGITS_MIN;
        checks.extend(ids.map(|id| {
            (long(&id), format!("skill {id:?}: a site's own skills have numbers of at least {OWN_DIGITS_MIN} digits"))
        }));
        match whole.programmes.iter_mut().find(|programme| programme.cat_group == more.cat_group) {
            Some(programme) => {
                programme.safety.extend(more.safety);
                more.levels.into_iter().for_each(|level| checks.extend(add(base, programme, level)));
            }
            None => checks.push((false, format!("programme {:?}: is not there to be extended", more.cat_group))),
        }
    }
    (whole, checks)
}

fn add(base: &Catalogue, programme: &mut Programme, more: MoreLevel) -> Vec<Check> {
    let MoreLevel { cat_id, track, name, requires, signed_by, skills } = more;
    let place = format!("{} {cat_id} {track}", programme.cat_group).trim_end().to_owned();
    let key = LevelKey { cat_group: &programme.cat_group, cat_id: &cat_id, track: &track };
    if base.find_level(key).is_some() {
        let bare = name.is_none() && requires.is_none() && signed_by.is_none();
        let optional = skills.iter().all(|skill| !skill.required);
        let known = programme.levels.iter_mut().find(|level| level.cat_id == cat_id && level.track == track);
        known.into_iter().for_each(|level| level.skills.extend(skills.iter().cloned()));
        return vec![
            (bare, format!("{place}: is there already and takes skills only, no name, requires or signed_by")),
            (optional, format!("{place}: is held with the same skills everywhere: what is added is not required")),
        ];
    }
    let (Some(name), Some(requires), Some(signed_by)) = (name, requires, signed_by) else {
        return vec![(false, format!("{place}: is new, so it needs name, requires and signed_by"))];
    };
    let level = Level { cat_group: programme.cat_group.clone(), cat_id, track, name, requires, signed_by, skills };
    let after = programme.levels.iter().rposition(|one| one.track == level.track);
    programme.levels.insert(after.map_or(programme.levels.len(), |last| last + 1), level);
    Vec::new()
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::{Value, json};

    /// The example in the package.
    const SAMPLE: &str = include_str!("../../../packaging/catalogue.json");

    #[test]
    fn the_sample_adds_a_level_a_skill_and_a_safety_record() {
        let (base, whole) = (Catalogue::built_in(), Catalogue::built_in().extended(SAMPLE).unwrap());
        let own: Vec<&str> =
            whole.levels().filter(|level| base.find_level(level.key()).is_none()).map(|l| &*l.name).collect();
        assert_eq!(own, ["Wingsuit Level 4"]);
        assert!(whole.skills().count() > base.skills().count() + own.len());
        assert!(whole.safety("Flyer").len() > base.safety("Flyer").len());
        let stays = |level: &Level| {
            let then = whole.find_level(level.key()).unwrap();
            then.required().eq(level.required())
                && (&then.requires, &then.signed_by) == (&level.requires, &level.signed_by)
        };
        assert!(base.levels().all(stays), "what was there means what it meant");
    }

    #[test]
    fn the_built_in_catalogue_leaves_the_long_numbers_to_the_sites() {
        let catalogue = Catalogue::built_in();
        let safety = catalogue.programmes().iter().flat_map(|programme| &programme.safety).map(|one| &one.skill);
        assert!(catalogue.skills().map(|(_, one)| &one.skill).chain(safety).all(|id| id.len() < OWN_DIGITS_MIN));
    }

    fn mistakes(levels: Value) -> String {
        let file = json!({ "programmes": [{ "cat_group": "Flyer", "levels": levels }] });
        Catalogue::built_in().extended(&file.to_string()).unwrap_err()
    }

    #[test]
    fn every_mistake_is_named_at_once() {
        let skill = |id: &str, required| json!({ "skill": id, "name": "Something", "required": required });
        let named = mistakes(json!([
            { "cat_id": "1", "name": "Flyer Level One", "skills": [skill("900001", true)] },
            { "cat_id": "4", "track": "Wingsuit", "skills": [skill("900002", true)] },
            { "cat_id": "5", "track": "Wingsuit", "name": "Wingsuit Level 5", "skills": [skill("10102", true), skill("900001", true)],
              "requires": [{ "cat_group": "Flyer", "cat_id": "9" }], "signed_by": [{ "cat_group": "Pilot", "cat_id_min": "1" }] },
        ]));
        for mistake in [
            "Flyer 1: is there already",
            "Flyer 1: is held with the same skills everywhere",
            "Flyer 4 Wingsuit: is new, so it needs name",
            "skill \"10102\": a site's own skills",
            "skill \"10102\": is there twice",
            "skill \"900001\": is there twice",
            "Flyer 5 Wingsuit: requires Flyer 9, which is not there",
            "Flyer 5 Wingsuit: nobody can sign it",
        ] {
            assert!(named.contains(mistake), "{mistake} is not in:\n{named}");
        }
        let elsewhere = json!({ "programmes": [{ "cat_group": "Pilot" }] });
        let named = Catalogue::built_in().extended(&elsewhere.to_string()).unwrap_err();
        assert!(named.contains("programme \"Pilot\": is not there"), "{named}");
        assert!(Catalogue::built_in().extended("{\"programs\": []}").unwrap_err().contains("`programs`"));
    }

    #[test]
    fn a_level_of_one_s_own_stands_behind_the_others_of_its_track() {
        let level = json!({ "cat_id": "5", "track": "Formation", "name": "Formation Level 5",
            "requires": [{ "cat_group": "Flyer", "cat_id": "4", "track": "Formation" }],
            "signed_by": [{ "cat_group": "Instructor", "cat_id_min": "4" }],
            "skills": [{ "skill": "900001", "name": "Eight-way blocks", "required": true }] });
        let file = json!({ "programmes": [{ "cat_group": "Flyer", "levels": [level] }] });
        let whole = Catalogue::built_in().extended(&file.to_string()).unwrap();
        let names: Vec<&str> = whole.levels().map(|level| &*level.name).collect();
        let place = names.iter().position(|name| *name == "Formation Level 5").unwrap();
        assert_eq!(names[place - 1], "Formation Level 4");
    }
}
