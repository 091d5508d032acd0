//! The fields of a skill entry that say nothing by themselves.

use crate::http::field_types::Line;

/// Longer than the longest name of a skill, a level or a person.
pub(super) const ECHO_CHARS_MAX: usize = 200;

crate::body! {
    /// Fields that only repeat what others say.
    // Not shown in the contract: what a number means as `cat_group` or `cat_id` (text on create, numbers on edit). `skill`
    // alone says which skill is meant, and with it programme and level, because no two levels share one; so clients may
    // count their programmes as they like.
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
