//! Skills and safety records, each signed by somebody who might on that day.

use super::cast::ADMIN;
use super::diary::{Diary, HOUR};
use super::events::What;
use super::people::{Climb, End};
use crate::domain::catalogue::{SafetyKind, Skill};
use crate::domain::entry::{Kind, Status};
use crate::store::engine::bulk::Signed;
use crate::store::tables::moves;
use rusqlite::Result;

impl Diary<'_> {
    pub(super) fn sign(&mut self, at: i64, who: usize, what: What) -> Result<()> {
        let people = self.world.people;
        match what {
            What::Brief => self.record_safety(at, who, self.world.ladder.way(FLYER_1)[0], SafetyKind::Initial),
            What::Training(n) => {
                let (level, _) = people[who].trainings[n];
                let known = people[who].trainings[..n].iter().any(|(before, _)| *before == level);
                self.record_safety(at, who, level, if known { SafetyKind::Recurrent } else { SafetyKind::Initial })
            }
            What::Half(n, half) => {
                let climb = &people[who].climbs[n];
                for (place, skill) in self.world.ladder.skills(climb, half).into_iter().enumerate() {
                    let first = place == 0 && half == 1;
                    let end = if first || (half == 1 && climb.end == End::Pending) { climb.end } else { End::Held };
                    self.record_skill(at, who, climb, skill, end)?;
                }
                Ok(())
            }
        }
    }

    pub(super) fn brief_again(&mut self, at: i64, who: usize) -> Result<()> {
        self.record_safety(at, who, self.world.ladder.way(FLYER_1)[0], SafetyKind::Recurrent)
    }

    fn record_safety(&mut self, at: i64, who: usize, level: usize, kind: SafetyKind) -> Result<()> {
        let Some((logbook, record)) = self.world.ladder.safety(level, kind) else { return Ok(()) };
        let signer = self.world.signers.pick(level, self.day, who, &mut self.rng);
        self.made.entries += 1;
        let entry_id = self.bulk.insert_signed(&Signed {
            member_id: number(who),
            kind: Kind::Safety,
            status: Status::Open,
            entry_date: at,
            tunnel_id: self.world.tunnel_id,
            author_id: number(signer.unwrap_or(ADMIN)),
            cat_group: logbook,
            cat_id: "",
            skill: &record.skill,
            instructor_id: signer.map(number),
            comments_instructor: "",
            comment_denial: "",
            approval_date: Some(at),
        })?;
        // Whoever held it wrote it down and signed it in one.
        self.step(entry_id, at, signer.unwrap_or(ADMIN), None, Status::Open)
    }

    /// Asked for, then signed, refused or withdrawn; what is suspended was signed before.
    fn record_skill(&mut self, at: i64, who: usize, climb: &Climb, skill: &Skill, end: End) -> Result<()> {
        let level = self.world.ladder.level(climb.level);
        let signer = self.world.signers.pick(climb.level, self.day, who, &mut self.rng);
        let (status, denial) = match end {
            End::Held | End::Training => (Status::Open, ""),
            End::Pending => (Status::Pending, ""),
            End::Denied => (Status::Denied, *self.rng.pick(&DENIALS)),
            End::Suspended => (Status::Suspended, ""),
            End::Cancelled => (Status::Cancelled, ""),
        };
        let signed = status.is_signed();
        let comment = if signed && self.rng.percent(15) { *self.rng.pick(&PRAISE) } else { "" };
        let approval = at + self.rng.between(HOUR / 4, 2 * HOUR);
        self.made.entries += 1;
        let entry_id = self.bulk.insert_signed(&Signed {
            member_id: number(who),
            kind: Kind::Skill,
            status,
            entry_date: at,
            tunnel_id: self.world.tunnel_id,
            author_id: number(who),
            cat_group: &level.cat_group,
            cat_id: &level.cat_id,
            skill: &skill.skill,
            instructor_id: signer.map(number),
            comments_instructor: comment,
            comment_denial: denial,
            approval_date: signed.then_some(approval),
        })?;
        self.step(entry_id, at, who, None, Status::Pending)?;
        let signer = signer.unwrap_or(ADMIN);
        let pending = Some(Status::Pending);
        match status {
            Status::Pending => Ok(()),
            Status::Cancelled => self.step(entry_id, approval, who, pending, status),
            Status::Open | Status::Denied => self.step(entry_id, approval, signer, pending, status),
            Status::Suspended => {
                self.step(entry_id, approval, signer, pending, Status::Open)?;
                self.step(entry_id, approval + HOUR / 2, ADMIN, Some(Status::Open), status)
            }
        }
    }

    fn step(&self, entry_id: i64, at: i64, by: usize, from: Option<Status>, to: Status) -> Result<()> {
        moves::insert(&self.bulk.at(at), entry_id, number(by), from, moves::To::Status(to)).map(|_| ())
    }
}

fn number(who: usize) -> i64 {
    who as i64 + 1
}

const FLYER_1: &[super::ladder::Target] = &[("Flyer", "1", "")];
const DENIALS: [&str; 4] = [
    "Drifts to the wall; one more session on heading.",
    "Stops are late. Please show it again next week.",
    "Entry was too fast for this level.",
    "Good start, not stable yet at full wind.",
];
const PRAISE: [&str; 5] =
    ["Clean.", "Well prepared.", "Steady and calm.", "Keep the chin up.", "Ready for the next step."];
