//! Waivers: what a flyer has signed, and whether that suffices to fly.

use super::age;
use super::local_time::TimeZone;
use crate::moment::Moment;
use sha2::{Digest, Sha256};

/// Greatest length of a text that people sign, confirm or consent to, in characters.
pub(crate) const BODY_CHARS_MAX: usize = 20_000;
pub(crate) const TITLE_CHARS_MAX: usize = 120;
/// The greatest number of questions in a waiver, and the greatest length of each.
pub(crate) const QUESTIONS_MAX: usize = 20;
pub(crate) const QUESTION_CHARS_MAX: usize = 300;
/// Greatest length of a drawn signature, as a path.
pub(crate) const STROKES_CHARS_MAX: usize = 12_000;
/// The size of the field for a signature; strokes are in its units.
pub(crate) const FIELD_WIDTH: u32 = 600;
pub(crate) const FIELD_HEIGHT: u32 = 200;

/// The relation of the signer to the flyer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Relation {
    Own,
    Parent,
    Guardian,
    /// Another adult with a written permission, which staff has seen.
    Permission,
}

impl Relation {
    /// The name in the database.
    pub(crate) fn name(self) -> &'static str {
        ["self", "parent", "guardian", "permission"][self as usize]
    }

    pub(crate) fn parse(name: &str) -> Option<Relation> {
        [Relation::Own, Relation::Parent, Relation::Guardian, Relation::Permission]
            .into_iter()
            .find(|one| one.name() == name)
    }
}

/// Where a waiver was signed or a consent answered.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum SigningPlace {
    Kiosk,
    /// A browser of the signer's own.
    Phone,
    Desk,
    /// The members' app.
    App,
}

impl SigningPlace {
    /// The name in the database.
    pub(crate) fn name(self) -> &'static str {
        ["kiosk", "phone", "desk", "app"][self as usize]
    }

    pub(crate) fn parse(name: &str) -> Option<SigningPlace> {
        [SigningPlace::Kiosk, SigningPlace::Phone, SigningPlace::Desk, SigningPlace::App]
            .into_iter()
            .find(|one| one.name() == name)
    }
}

/// The waiver that the site demands of every flyer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Demand {
    /// The oldest version whose signature counts.
    pub(crate) version_min: i64,
    /// A signature holds to the end of this many days after its own; 0: for ever.
    pub(crate) valid_days: i64,
    /// Below this age, a guardian must sign; 0: no flyer needs a guardian.
    pub(crate) guardian_below_years: i64,
}

/// The latest waiver of a flyer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Signed {
    pub(crate) version: i64,
    /// Unix seconds.
    pub(crate) signed_at: Moment,
    /// Midnight UTC of the day of birth in the signature.
    pub(crate) born: Moment,
    pub(crate) relation: Relation,
    /// Whether a question was answered with yes.
    pub(crate) has_yes: bool,
    /// Whether the flyer may fly, by the staff's decision on the yes; `None`: undecided.
    pub(crate) decision: Option<bool>,
}

/// The state of a flyer that decides about flying.
#[derive(Debug, Clone, Copy)]
pub(crate) struct State<'z> {
    /// `None`: the site requires no waiver.
    pub(crate) demand: Option<Demand>,
    pub(crate) signed: Option<Signed>,
    /// Midnight UTC of the day of birth; `None` where the account lacks it.
    pub(crate) dob: Option<Moment>,
    /// Whether the staff lets the flyer fly without a waiver at that moment.
    pub(crate) is_overridden: bool,
    /// The moment of the flight in Unix seconds.
    pub(crate) at: Moment,
    /// The time zone of the site, by which days begin and end.
    pub(crate) zone: &'z TimeZone,
}

/// Why a flyer may not fly.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Reason {
    Unsigned,
    Expired,
    OldVersion,
    /// The flyer is a minor, and no guardian has signed.
    GuardianMissing,
    /// The flyer has come of age, and a guardian had signed.
    CameOfAge,
    /// A question was answered with yes, and the staff has not decided.
    Undecided,
    /// The staff decided that the flyer may not fly.
    Refused,
}

impl Reason {
    /// The key of the reason's text, for the flyer and for the staff.
    pub(crate) fn key(self) -> &'static str {
        match self {
            Reason::Unsigned => "waiver.unsigned",
            Reason::Expired => "waiver.expired",
            Reason::OldVersion => "waiver.old_version",
            Reason::GuardianMissing => "waiver.guardian_missing",
            Reason::CameOfAge => "waiver.came_of_age",
            Reason::Undecided => "waiver.undecided",
            Reason::Refused => "waiver.refused",
        }
    }

    /// The name of the reason in a member's profile.
    pub(crate) fn name(self) -> &'static str {
        self.key().split_at("waiver.".len()).1
    }

    /// Whether a new signature would help; otherwise the staff must decide.
    pub(crate) fn wants_signature(self) -> bool {
        !matches!(self, Reason::Undecided | Reason::Refused)
    }
}

/// Checks whether the flyer may fly.
pub(crate) fn may_fly(state: &State) -> Result<(), Reason> {
    let Some(demand) = state.demand else { return Ok(()) };
    if state.is_overridden {
        return Ok(());
    }
    let signed = state.signed.ok_or(Reason::Unsigned)?;
    // A refusal stays in force until a newer waiver is signed and decided on.
    if signed.has_yes && signed.decision == Some(false) {
        return Err(Reason::Refused);
    }
    if signed.version < demand.version_min {
        return Err(Reason::OldVersion);
    }
    if ends_at(&demand, &signed, state.zone).is_some_and(|end| state.at > end) {
        return Err(Reason::Expired);
    }
    let noon_utc = state.zone.noon_utc(state.at);
    match (is_minor(&demand, state.dob.unwrap_or(signed.born), noon_utc), signed.relation) {
        (true, Relation::Own) => return Err(Reason::GuardianMissing),
        (false, Relation::Parent | Relation::Guardian | Relation::Permission) => return Err(Reason::CameOfAge),
        _ => {}
    }
    if signed.has_yes && signed.decision.is_none() {
        return Err(Reason::Undecided);
    }
    Ok(())
}

/// The last second at which a signature holds; `None` where the site demands no other one after some time.
pub(crate) fn ends_at(demand: &Demand, signed: &Signed, zone: &TimeZone) -> Option<Moment> {
    (demand.valid_days > 0).then(|| zone.end_of_day(signed.signed_at, demand.valid_days))
}

/// Whether a flyer needs a guardian on a day. `dob` and `noon_utc` as in [`age::on`].
pub(crate) fn is_minor(demand: &Demand, dob: Moment, noon_utc: Moment) -> bool {
    age::on(dob, noon_utc).is_some_and(|age| i64::from(age.years) < demand.guardian_below_years)
}

/// A text as it is printed and hashed: title, body and questions, separated by blank lines, with one line feed at the
/// end of each line.
pub(crate) fn printed(title: &str, body: &str, questions: &str) -> String {
    let parts = [title, body, questions].map(|part| part.replace("\r\n", "\n").trim().to_owned());
    let parts: Vec<String> = parts.into_iter().filter(|part| !part.is_empty()).collect();
    parts.join("\n\n") + "\n"
}

/// SHA-256 of a printed text in UTF-8, which anyone with the printed text can compute.
pub(crate) fn text_hash(title: &str, body: &str, questions: &str) -> [u8; 32] {
    Sha256::digest(printed(title, body, questions)).into()
}

/// The questions of a text: its non-empty lines.
pub(crate) fn questions(text: &str) -> impl Iterator<Item = &str> {
    text.lines().map(str::trim).filter(|line| !line.is_empty())
}

/// Whether a text is a valid signature: `M x y L x y …` in whole units of the field, and not only a dot.
pub(crate) fn are_strokes(text: &str) -> bool {
    if text.is_empty() || text.len() > STROKES_CHARS_MAX {
        return false;
    }
    let mut words = text.split(' ');
    let (mut lines, mut first) = (0, true);
    while let Some(word) = words.next() {
        match word {
            "M" => {}
            "L" if !first => lines += 1,
            _ => return false,
        }
        first = false;
        let mut within = |max: u32| words.next().and_then(|n| n.parse::<u32>().ok()).is_some_and(|n| n <= max);
        if !(within(FIELD_WIDTH) && within(FIELD_HEIGHT)) {
            return false;
        }
    }
    lines >= 2
}

/// The lines of valid strokes.
pub(crate) fn lines(strokes: &str) -> Vec<Vec<(u32, u32)>> {
    let mut lines: Vec<Vec<(u32, u32)>> = Vec::new();
    let words: Vec<&str> = strokes.split(' ').collect();
    for step in words.chunks_exact(3) {
        let point = (step[1].parse().unwrap_or(0), step[2].parse().unwrap_or(0));
        match lines.last_mut() {
            Some(line) if step[0] == "L" => line.push(point),
            _ => lines.push(vec![point]),
        }
    }
    lines
}

#[cfg(test)]
mod tests;
