//! The fields of a request for a skill entry, as a body brings them.

use crate::app::logbook::COMMENT_CHARS_MAX;
use crate::app::logbook::rules::PartialRequest;
use crate::domain::minutes::MINUTES;
use crate::http::fields::{self, Fields, Unjudged};

/// Longer than the longest name of a skill, a level or a person.
const ECHO_CHARS_MAX: usize = 200;

/// Fields that only repeat what others say.
///
/// Not shown in the contract: what a number means as `cat_group` or `cat_id` (text on create, numbers on edit). `skill`
/// alone says which skill is meant, and with it programme and level, because no two levels share one; so clients may
/// count their programmes as they like.
const ECHOES: [&str; 5] = ["cat_group", "cat_id", "cat_name", "skill_name", "tunnel_name"];

/// The fields that create and edit have in common, each as it was given.
pub struct Common {
    pub entry_date: Unjudged<Option<i64>>,
    pub minutes: Unjudged<Option<i64>>,
    pub tunnel: Unjudged<Option<i64>>,
    pub comment: Unjudged<Option<String>>,
    pub instructor: Unjudged<Option<i64>>,
    pub skill: Unjudged<Option<String>>,
    pub comments_instructor: Unjudged<Option<String>>,
    pub comment_denial: Unjudged<Option<String>>,
    pub status: Unjudged<Option<String>>,
}

impl Common {
    pub fn read(body: &mut Fields) -> Common {
        for echo in ECHOES.into_iter().chain(["instructor_name", "author_id"]) {
            _ = body.optional(echo, fields::line(ECHO_CHARS_MAX));
        }
        Common {
            entry_date: body.optional("entry_date", fields::moment),
            minutes: body.optional("time", fields::minutes_up_to(*MINUTES.end())),
            tunnel: body.optional("tunnel", fields::id),
            comment: body.optional_even_empty("comment", fields::lines(COMMENT_CHARS_MAX)),
            instructor: body.optional("instructor", fields::id),
            skill: body.optional("skill", fields::line(ECHO_CHARS_MAX)),
            comments_instructor: body.optional("comments_instructor", fields::lines(COMMENT_CHARS_MAX)),
            comment_denial: body.optional("comment_denial", fields::lines(COMMENT_CHARS_MAX)),
            status: body.optional("status", fields::line(ECHO_CHARS_MAX)),
        }
    }

    /// The fields that could be read; one that was not given is as in `known`.
    pub fn partial<'a>(&'a self, known: PartialRequest<'a>) -> PartialRequest<'a> {
        PartialRequest {
            entry_date: self.entry_date.peek().and_then(|date| date.or(known.entry_date)),
            tunnel_id: self.tunnel.peek().and_then(|id| id.or(known.tunnel_id)),
            skill: self.skill.peek().and_then(|skill| skill.as_deref().or(known.skill)),
            instructor_id: self.instructor.peek().and_then(|id| id.or(known.instructor_id)),
        }
    }
}
