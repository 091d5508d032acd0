//! One session of several students, recorded by the instructor who watched: for all of them or for none.

use super::requests;
use super::rules::Request;
use crate::app::Change;
use crate::domain::ids::MemberId;
use crate::http::failure::Failure;
use crate::i18n::language::Text;
use crate::moment::Moment;
use crate::store::Read;
use crate::store::tables::{joins, members};

/// Students under one proof.
pub(crate) const STUDENTS_MAX: usize = 20;

pub(crate) struct Student {
    pub(crate) member_id: MemberId,
    /// The name that other members see.
    pub(crate) screen_name: String,
    /// The name that the staff sees.
    pub(crate) display_name: String,
}

/// What the students showed, when, and what the instructor says of it.
pub(crate) struct Session {
    /// Numbers of the students, each once.
    pub(crate) students: Vec<MemberId>,
    pub(crate) skill: &'static str,
    pub(crate) date: String,
    pub(crate) moment: Moment,
    pub(crate) comment: String,
}

/// The members whom the numbers name; 422 that tells a number that nobody has.
pub(crate) fn find_students(tx: &Read, session: &Session) -> Result<Vec<Student>, Failure> {
    let mut students: Vec<Student> = Vec::new();
    for number in &session.students {
        let found = members::find(tx, joins::survivor_of(tx, *number)?)?;
        let unknown = || Failure::field("students", Text::new("me.nobody_has").with("number", *number));
        let profile = found.ok_or_else(unknown)?;
        // Two numbers of one person are one student.
        if students.iter().any(|known| known.member_id == profile.member_id) {
            continue;
        }
        students.push(Student {
            member_id: profile.member_id,
            display_name: profile.display_name().to_owned(),
            screen_name: if profile.screen_name.is_empty() { profile.username } else { profile.screen_name },
        });
    }
    Ok(students)
}

/// Records the session for every student, signed by the actor. `reach` is called with each student before a rule may refuse.
pub(crate) fn record<'s>(
    cx: &Change,
    session: &Session,
    students: &'s [Student],
    reach: impl Fn(&'s Student),
) -> Result<(), Failure> {
    for student in students {
        reach(student);
        let request = Request {
            skill: session.skill.to_owned(),
            entry_date: session.moment,
            minutes: 0,
            tunnel_id: cx.site.tunnel_id,
            comment: String::new(),
        };
        requests::record_seen(cx, student.member_id, &request, None, &session.comment)?;
    }
    Ok(())
}
