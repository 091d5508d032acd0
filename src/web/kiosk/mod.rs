//! The kiosk: a touch screen at which members help themselves. No personal data stays on the screen: URLs and titles contain
//! none, pages are not cached, and an idle screen returns to the start page.

pub(crate) mod book;
pub(crate) mod brief;
pub(crate) mod certificates;
pub(crate) mod children;
pub(crate) mod family;
pub(crate) mod home;
pub(crate) mod join;
pub(crate) mod offline_check_in;
pub(crate) mod offline_page;
pub(crate) mod photo;
pub(crate) mod progression;
pub(crate) mod sign_in;
pub(crate) mod sign_off;
pub(crate) mod start;
pub(crate) mod time;
pub(crate) mod waiver;

use super::{Frame, refused, show};
use crate::app::RankedActor;
use crate::auth::Guest;
use crate::domain::role::Role;
use crate::http::call::Call;
use crate::http::failure::Failure;
use crate::http::reply::Reply;
use crate::i18n::language::Text;
use crate::site::Site;
use crate::store::tables::kiosks::GUEST_IDLE_SECONDS;
use crate::store::tables::members;
use askama::Template;

/// Seconds without a touch after which a guest who has finished something is signed out; the last ten are counted down.
const DONE_IDLE_SECONDS: i64 = 25;

/// The frame around every page of a kiosk.
pub(crate) struct Screen {
    frame: Frame,
    /// Name of the guest who is signed in.
    pub guest: Option<String>,
}

impl Screen {
    /// For a page before sign-in.
    fn outside(site: &Site, call: &Call) -> Result<Screen, Failure> {
        Ok(Screen { frame: Frame::outside(site, call)?, guest: None })
    }

    /// For a page of a signed-in guest.
    fn of(site: &Site, call: &Call, guest: &Guest) -> Result<Screen, Failure> {
        let profile = site.store.read(|tx| Ok(members::find(tx, guest.member_id())?))?;
        let name = profile.map(|p| if p.screen_name.is_empty() { p.username } else { p.screen_name });
        Ok(Screen { guest: name, ..Screen::outside(site, call)? })
    }

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

    /// On an error page, the page of the form that was refused.
    pub(crate) fn form_page(&self) -> Option<&str> {
        Some(self.frame.address.as_str()).filter(|page| !page.is_empty())
    }

    pub(crate) fn asset(&self, name: &str) -> String {
        self.frame.asset(name)
    }

    /// Seconds without a touch after which the guest is signed out.
    pub(crate) fn idle_seconds(&self) -> i64 {
        GUEST_IDLE_SECONDS
    }

    /// As [`Screen::idle_seconds`], where the guest has just finished: the next person may stand behind.
    pub(crate) fn idle_seconds_when_done(&self) -> i64 {
        DONE_IDLE_SECONDS
    }

    /// The text before and after the number of seconds that are left, which a script counts down.
    pub(crate) fn ending(&self) -> [String; 2] {
        let text = self.frame.tell(&Text::new("kiosk.ends_in").with("seconds", '\u{0}'));
        let (before, after) = text.split_once('\u{0}').unwrap_or((&text, ""));
        [before, after].map(str::to_owned)
    }
}

#[derive(Template)]
#[template(path = "kiosk/refusal.html", config = "assets/templates/askama.toml")]
struct Refusal {
    screen: Screen,
    /// Key of the heading.
    title: &'static str,
    message: String,
    problems: Vec<String>,
}

/// A failure as a page of the kiosk.
pub(crate) fn refusal(failure: &Failure, frame: Frame, request_id: &str) -> Reply {
    let language = frame.language();
    let screen = Screen { frame, guest: None };
    let page = Refusal {
        screen,
        title: super::refusal_title(failure, "kiosk.refused"),
        message: super::failure_text(failure, language),
        problems: super::mistakes(failure, language),
    };
    refused(failure, language, request_id, &page)
}

/// The guest as the actor of a change, in the role of a member whatever role the account has.
fn actor(call: &Call, guest: &Guest) -> RankedActor {
    RankedActor::account(guest.member_id(), Role::Member, &call.actor(guest.member_id()))
}
