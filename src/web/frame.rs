//! The frame of every page: site name, menu, signed-in clerk, notices and the texts of the language.

use crate::auth::{Clerk, origin};
use crate::domain::ids::MemberId;
use crate::http::assets;
use crate::http::call::Call;
use crate::http::failure::Failure;
use crate::i18n::language::{Language, Text};
use crate::i18n::number::grouped;
use crate::site::{CachedName, Site};
use crate::store::tables::members;
use crate::web::desk::sign_in::safe_target;

/// A part of the desk: an item of the menu.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Part {
    pub path: &'static str,
    /// Key of the label.
    pub key: &'static str,
    /// Whether only admins see the part.
    pub admins: bool,
}

/// In the order of the menu.
pub(super) static PARTS: [Part; 9] = [
    Part { path: "/desk", key: "desk.today", admins: false },
    Part { path: "/desk/members", key: "desk.members", admins: false },
    Part { path: "/desk/sign-offs", key: "desk.sign_offs", admins: false },
    Part { path: "/desk/till", key: "till.title", admins: false },
    Part { path: "/desk/partners", key: "desk.partners", admins: true },
    Part { path: "/desk/messages", key: "desk.messages", admins: false },
    Part { path: "/desk/reports", key: "desk.reports", admins: false },
    Part { path: "/desk/kiosks", key: "kiosk.desk_title", admins: false },
    Part { path: "/desk/site", key: "desk.site", admins: true },
];

/// A page for admins that is no part of the menu.
const TEXTS: &str = "/desk/texts";

pub(crate) struct Frame {
    language: Language,
    /// Empty where the name is not known.
    pub site_name: String,
    /// Path of the part that the page belongs to.
    pub part: &'static str,
    /// Name of the signed-in clerk.
    pub clerk: Option<String>,
    /// Member ID of the signed-in clerk; 0 where there is none.
    pub clerk_id: MemberId,
    /// Whether the clerk is an admin, who sees all parts.
    pub admin: bool,
    /// Path to return to after a change of clerk: this page if it is a GET, else the first page of the part.
    pub(crate) here: String,
    /// Where the page answers a form: its own address, from which parts that refresh themselves are read; on an error
    /// page, the address of the page with the form. Empty where the page answers a GET.
    pub(crate) address: String,
    /// Whether the page is read under a name by which the desk is not reached.
    pub from_home: bool,
    /// Message about the action that was just done.
    pub done: Option<String>,
}

/// The page from which a form was sent: one of the same part of the site.
fn origin_of_form(call: &Call) -> Option<String> {
    let page = origin::page_of(call)?;
    let part = |path: &str| path.split(['/', '?']).nth(1).map(str::to_owned);
    if call.path.starts_with("/desk/") {
        Some(safe_target(&page))
    } else {
        (part(&page) == part(&call.path)).then_some(page)
    }
}

impl Frame {
    /// Whether the signed-in clerk may open the page at `path`, of a part or below one.
    pub(crate) fn opens(&self, path: &str) -> bool {
        let mut for_admins = PARTS.iter().filter(|part| part.admins).map(|part| part.path).chain([TEXTS]);
        self.admin || !for_admins.any(|part| super::is_below(path, part))
    }

    /// For a page or fragment without a menu and without a site name.
    pub(crate) fn bare(language: Language) -> Frame {
        Frame {
            language,
            site_name: String::new(),
            part: "",
            clerk: None,
            clerk_id: MemberId(0),
            admin: false,
            here: String::new(),
            address: String::new(),
            from_home: false,
            done: None,
        }
    }

    /// For a page with a site name and without a menu.
    pub(crate) fn named(site_name: String, language: Language) -> Frame {
        Frame { site_name, ..Frame::bare(language) }
    }

    /// For an error page. The site's name comes from memory where the database cannot be read.
    pub(crate) fn of_failure(site: &Site, language: Language) -> Frame {
        let site_name = site.name().unwrap_or_else(|_| site.state::<CachedName>().get());
        site.store.release();
        Frame::named(site_name, language)
    }

    /// For the error page of a request. A form that was refused leads back to its page.
    pub(crate) fn of_refused_call(site: &Site, call: &Call) -> Frame {
        let page = if call.reads() { None } else { origin_of_form(call) };
        Frame { address: page.unwrap_or_default(), ..Frame::of_failure(site, call.language()) }
    }

    /// For a page before sign-in.
    pub(crate) fn outside(site: &Site, call: &Call) -> Result<Frame, Failure> {
        Ok(Frame { site_name: site.name()?, from_home: call.from_home, ..Frame::bare(call.language()) })
    }

    /// For a page of the desk, in the part with this path.
    pub(crate) fn of(site: &Site, call: &Call, clerk: &Clerk, part: &'static str) -> Result<Frame, Failure> {
        let profile = site.store.read(|tx| Ok(members::find(tx, clerk.id())?))?;
        let name = profile.map(|p| if p.screen_name.is_empty() { p.username } else { p.screen_name });
        let here = if call.reads() { call.path.clone() } else { part.to_owned() };
        let address = if call.reads() { String::new() } else { part.to_owned() };
        let admin = clerk.check_admin().is_ok();
        Ok(Frame { part, clerk: name, clerk_id: clerk.id(), admin, here, address, ..Frame::outside(site, call)? })
    }

    /// [`Frame::of`], with the message about the action that the query names as done.
    pub(crate) fn after_action(
        site: &Site,
        call: &Call,
        clerk: &Clerk,
        part: &'static str,
        messages: &[(&str, &'static str)],
    ) -> Result<Frame, Failure> {
        Ok(Frame { done: super::done(call, messages), ..Frame::of(site, call, clerk, part)? })
    }

    pub(crate) fn language(&self) -> Language {
        self.language
    }

    /// ISO 639-1.
    pub(crate) fn tag(&self) -> &'static str {
        self.language.tag()
    }

    /// The text of a key.
    pub(crate) fn say(&self, key: &'static str) -> String {
        self.language.say(&Text::new(key))
    }

    /// A text with values filled in.
    pub(crate) fn tell(&self, text: &Text) -> String {
        self.language.say(text)
    }

    /// The colon between a label and its value.
    pub(crate) fn colon(&self) -> &'static str {
        self.language.colon()
    }

    /// A number with the thousands separators of the language.
    pub(crate) fn count(&self, number: &i64) -> String {
        grouped(self.language, *number)
    }

    /// A new idempotency number for a form.
    pub(crate) fn form_number(&self) -> i64 {
        super::new_form_number()
    }

    /// URL path of an asset.
    pub(crate) fn asset(&self, name: &str) -> String {
        assets::path(name)
    }

    /// The parts that the clerk may see.
    pub(crate) fn parts(&self) -> impl Iterator<Item = &'static Part> {
        PARTS.iter().filter(|part| self.admin || !part.admins)
    }
}
