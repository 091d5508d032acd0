//! What every page of a signed-in member has: the site's name, the menu, the message about what was just done.

use crate::auth::Member;
use crate::domain::ids::MemberId;
use crate::http::call::Call;
use crate::http::failure::Failure;
use crate::i18n::language::Text;
use crate::site::Site;
use crate::store::tables::{members, notices};
use crate::web::{Frame, done};

/// An item of the menu.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Part {
    pub path: &'static str,
    /// Key of the label.
    pub key: &'static str,
    /// The outline of its icon, in a square of 24.
    pub icon: &'static str,
}

/// The part that the logbook, its forms and papers belong to.
pub(super) const LOGBOOK: &str = "/me/logbook";

/// In the order of the menu.
static PARTS: [Part; 5] = [
    Part { path: "/me", key: "me.home", icon: "M4 11l8-7 8 7v9h-5v-6H9v6H4z" },
    Part { path: LOGBOOK, key: "me.part_logbook", icon: "M5 4h11a3 3 0 0 1 3 3v13H8a3 3 0 0 1-3-3zM9 9h6M9 13h6" },
    Part { path: "/me/bookings", key: "me.part_bookings", icon: "M4 6h16v14H4zM4 10h16M8 3v4M16 3v4" },
    Part { path: "/me/card", key: "me.card", icon: "M3 5h18v14H3zM3 10h18M7 15h4" },
    Part {
        path: "/me/account",
        key: "me.account",
        icon: "M12 12a4 4 0 1 0 0-8 4 4 0 0 0 0 8zM4 21c0-4 4-6 8-6s8 2 8 6",
    },
];

/// The frame around every page of a signed-in member.
pub(crate) struct Shell {
    frame: Frame,
    /// Path of the part that the page belongs to.
    pub part: &'static str,
    /// For what the browser keeps of the pages: it is one member's.
    pub member_id: MemberId,
    /// Whose pages they are.
    pub name: String,
    /// For the browser's store of passwords.
    pub username: String,
    /// Notices that were not read.
    pub unread: i64,
    pub done: Option<String>,
}

impl Shell {
    /// For a page in the part with this path.
    pub(super) fn of(site: &Site, call: &Call, member: &Member, part: &'static str) -> Result<Shell, Failure> {
        Shell::after_action(site, call, member, part, &[])
    }

    /// [`Shell::of`], with the message about the action that the query names as done.
    pub(super) fn after_action(
        site: &Site,
        call: &Call,
        member: &Member,
        part: &'static str,
        messages: &[(&str, &'static str)],
    ) -> Result<Shell, Failure> {
        let (profile, unread) = site.store.read(|tx| {
            let profile = members::find(tx, member.id())?.ok_or_else(Failure::not_signed_in)?;
            Ok((profile, notices::counts(tx, member.id())?.1))
        })?;
        let username = profile.username;
        let name = if profile.screen_name.is_empty() { username.clone() } else { profile.screen_name };
        Ok(Shell {
            frame: Frame::outside(site, call)?,
            part,
            member_id: member.id(),
            name,
            username,
            unread,
            done: done(call, messages),
        })
    }

    /// ISO 639-1.
    pub(crate) fn tag(&self) -> &'static str {
        self.frame.tag()
    }

    pub(crate) fn site_name(&self) -> &str {
        &self.frame.site_name
    }

    pub(crate) fn say(&self, key: &'static str) -> String {
        self.frame.say(key)
    }

    pub(crate) fn tell(&self, text: &Text) -> String {
        self.frame.tell(text)
    }

    /// Since when a page was kept, for the script to fill in.
    pub(crate) fn kept_text(&self) -> String {
        self.frame.tell(&Text::new("me.kept").with("when", "{when}"))
    }

    /// How many notices were not read.
    pub(crate) fn unread_text(&self) -> String {
        self.frame.tell(&Text::new("me.unread").with("unread", self.unread))
    }

    /// The colon between a label and its value.
    pub(crate) fn colon(&self) -> &'static str {
        self.frame.colon()
    }

    pub(crate) fn asset(&self, name: &str) -> String {
        self.frame.asset(name)
    }

    /// A new idempotency number for a form.
    pub(crate) fn form_number(&self) -> i64 {
        self.frame.form_number()
    }

    pub(crate) fn parts(&self) -> impl Iterator<Item = &'static Part> {
        PARTS.iter()
    }
}
