//! The fields of a skill entry that only repeat others.

use crate::http::field_types::Line;

/// Longer than the longest name of a skill, a level or a person.
pub(super) const ECHO_CHARS_MAX: usize = 200;

crate::body! {
    /// Fields that only repeat others.
    // Not shown in the contract: the meaning of numbers in `cat_group` and `cat_id` (text on create, numbers on edit).
    // `skill` alone identifies skill, level and programme, because no two levels share a skill; so clients may number
    // programmes as they like.
    pub(crate) struct Echoes {
        /// The client's echo: `skill` alone says which programme and level are meant.
        cat_group: Option<Line<ECHO_CHARS_MAX>>,
        /// The client's echo: `skill` alone says which programme and level are meant.
        cat_id: Option<Line<ECHO_CHARS_MAX>>,
        /// The client's echo: `skill` alone says which programme and level are meant.
        cat_name: Option<Line<ECHO_CHARS_MAX>>,
        /// The client's echo: `skill` alone says which programme and level are meant.
        skill_name: Option<Line<ECHO_CHARS_MAX>>,
        /// The client's echo: `skill` alone says which programme and level are meant.
        tunnel_name: Option<Line<ECHO_CHARS_MAX>>,
        /// The client's echo: `skill` alone says which programme and level are meant.
        instructor_name: Option<Line<ECHO_CHARS_MAX>>,
        /// The client's echo: `skill` alone says which programme and level are meant.
        author_id: Option<Line<ECHO_CHARS_MAX>>,
    }
}
