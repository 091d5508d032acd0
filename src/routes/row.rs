//! What a row of the table is: who may call, what its answers are like, and the words that a row is written in.

use crate::auth::{Bearer, Callback, Clerk, Guest, Kiosk, Member, Partner, Staff};
use crate::http::call::Call;
use crate::http::failure::Failure;
use crate::http::reply::Reply;
use crate::site::Site;
use http::Method;

pub type Answer = Result<Reply, Failure>;

/// Who may call, as the type of the operation.
pub enum Access {
    Open(fn(&Site, &Call) -> Answer),
    Member(fn(&Site, &Call, &Member) -> Answer),
    /// A member's session, or the token of a booking.
    Bearer(fn(&Site, &Call, &Bearer) -> Answer),
    Staff(fn(&Site, &Call, &Staff) -> Answer),
    Partner(fn(&Site, &Call, &Partner) -> Answer),
    /// A third party, by the signature of its own scheme.
    Callback(Callback),
    /// A browser, whoever sits before it. What changes something must come from a page of ours.
    Page(fn(&Site, &Call) -> Answer),
    /// A browser in which somebody of the desk is signed in; everybody else is sent to sign in.
    Desk(fn(&Site, &Call, &Clerk) -> Answer),
    /// A browser that was paired as a kiosk; every other is told how that is done.
    Kiosk(fn(&Site, &Call, &Kiosk) -> Answer),
    /// A kiosk at which a member is signed in; where nobody is, it begins anew.
    Guest(fn(&Site, &Call, &Guest) -> Answer),
}

/// What a body may have, unless its row says otherwise.
pub const BODY_BYTES_MAX: usize = 64 * 1024;
pub const CALLBACK_BODY_BYTES_MAX: usize = 1024 * 1024;
/// A whole body in a form, in which each byte may take three.
pub(super) const PASTED_BYTES_MAX: usize = 4 * BODY_BYTES_MAX;
/// A picture as a camera leaves it.
pub(super) const PICTURE_BYTES_MAX: usize = 5 * 1024 * 1024;

pub struct Route {
    pub access: Access,
    pub method: Method,
    /// What comes before `path`: `/api` for the contract.
    pub base: &'static str,
    pub path: &'static str,
    /// Runs on the few threads for password hashing, so that a flood of sign-ins leaves the others alone.
    pub hashes: bool,
    /// Runs on the few threads for pictures, documents and tables, which take long and hold up no sign-in.
    pub draws: bool,
    /// Answers go out on a beat, so that the time they take says nothing of what was found.
    pub on_the_beat: bool,
    /// A partner must say who it is by `client-id`.
    pub client_id: bool,
    pub body_bytes_max: usize,
    /// Beside the contract.
    pub ours: bool,
    /// Answers over a plain connection too, where everything else is sent over to https.
    pub in_clear: bool,
    /// Goes on while the disk is full, though it is no `GET`: it signs in or out, or only looks.
    pub when_full: bool,
    /// See [`Route::compresses`].
    pub compressed: bool,
}

const fn route(access: Access, method: Method, path: &'static str) -> Route {
    let body_bytes_max = match access {
        Access::Callback(..) => CALLBACK_BODY_BYTES_MAX,
        _ => BODY_BYTES_MAX,
    };
    Route {
        access,
        method,
        base: "/api",
        path,
        hashes: false,
        draws: false,
        on_the_beat: false,
        client_id: false,
        body_bytes_max,
        ours: false,
        in_clear: false,
        when_full: false,
        compressed: false,
    }
}

pub(super) const fn open(method: Method, path: &'static str, operation: fn(&Site, &Call) -> Answer) -> Route {
    route(Access::Open(operation), method, path)
}

pub(super) const fn member(
    method: Method,
    path: &'static str,
    operation: fn(&Site, &Call, &Member) -> Answer,
) -> Route {
    route(Access::Member(operation), method, path)
}

pub(super) const fn bearer(
    method: Method,
    path: &'static str,
    operation: fn(&Site, &Call, &Bearer) -> Answer,
) -> Route {
    route(Access::Bearer(operation), method, path)
}

pub(super) const fn staff(method: Method, path: &'static str, operation: fn(&Site, &Call, &Staff) -> Answer) -> Route {
    route(Access::Staff(operation), method, path)
}

pub(super) const fn partner(
    method: Method,
    path: &'static str,
    operation: fn(&Site, &Call, &Partner) -> Answer,
) -> Route {
    route(Access::Partner(operation), method, path)
}

pub(super) const fn callback(method: Method, path: &'static str, operation: Callback) -> Route {
    route(Access::Callback(operation), method, path)
}

pub(super) const fn page(method: Method, path: &'static str, page: fn(&Site, &Call) -> Answer) -> Route {
    route(Access::Page(page), method, path).ours().at_root()
}

pub(super) const fn desk(method: Method, path: &'static str, page: fn(&Site, &Call, &Clerk) -> Answer) -> Route {
    route(Access::Desk(page), method, path).ours().at_root()
}

pub(super) const fn kiosk(method: Method, path: &'static str, page: fn(&Site, &Call, &Kiosk) -> Answer) -> Route {
    route(Access::Kiosk(page), method, path).ours().at_root()
}

pub(super) const fn guest(method: Method, path: &'static str, page: fn(&Site, &Call, &Guest) -> Answer) -> Route {
    route(Access::Guest(page), method, path).ours().at_root()
}

impl Route {
    pub(super) const fn hashing(mut self) -> Route {
        self.hashes = true;
        self
    }

    pub(super) const fn drawing(mut self) -> Route {
        self.draws = true;
        self
    }

    pub(super) const fn on_the_beat(mut self) -> Route {
        self.on_the_beat = true;
        self
    }

    pub(super) const fn taking(mut self, body_bytes_max: usize) -> Route {
        self.body_bytes_max = body_bytes_max;
        self
    }

    pub(super) const fn with_client_id(mut self) -> Route {
        self.client_id = true;
        self
    }

    pub(super) const fn ours(mut self) -> Route {
        self.ours = true;
        self
    }

    pub(super) const fn in_clear(mut self) -> Route {
        self.in_clear = true;
        self
    }

    pub(super) const fn when_full(mut self) -> Route {
        self.when_full = true;
        self
    }

    pub(super) const fn compressed(mut self) -> Route {
        self.compressed = true;
        self
    }

    pub(super) const fn at_root(mut self) -> Route {
        self.base = "";
        self
    }

    /// Whether the port for figures answers it too.
    pub fn is_health(&self) -> bool {
        self.base.is_empty() && ["/healthz", "/readyz"].contains(&self.path)
    }

    /// Whether a large answer may go out compressed.
    ///
    /// How long a text is after compression says whether a part of it repeats another. Whoever puts words of his own beside
    /// a secret, has its owner's browser ask for both again and again, and sees the length of the answers, learns the secret
    /// letter by letter (BREACH). A browser asks by itself with cookies, which open pages; so no page is compressed. What
    /// a token opens no foreign page can ask for, and a read of the API tells no secret: the operations that make one
    /// (a session, a PIN, recovery codes) are no `GET`. Beside the reads are the two reports, which a `POST` asks for, and
    /// the files of the pages, which are the same for everybody.
    pub fn compresses(&self) -> bool {
        self.compressed
            || match self.access {
                Access::Open(_) | Access::Member(_) | Access::Bearer(_) | Access::Staff(_) | Access::Partner(_) => {
                    self.method == Method::GET
                }
                Access::Callback(_) | Access::Page(_) | Access::Desk(_) | Access::Kiosk(_) | Access::Guest(_) => false,
            }
    }

    /// Whether the answer is the same for everybody.
    pub fn is_public(&self) -> bool {
        matches!(self.access, Access::Open(_))
    }

    /// Whether it is for browsers, refusals included.
    pub fn is_page(&self) -> bool {
        matches!(self.access, Access::Page(_) | Access::Desk(_) | Access::Kiosk(_) | Access::Guest(_))
    }

    /// One word for who may call.
    pub fn caller(&self) -> &'static str {
        match self.access {
            Access::Open(_) => "open",
            Access::Member(_) => "member",
            Access::Bearer(_) => "bearer",
            Access::Staff(_) => "staff",
            Access::Partner(_) => "partner",
            Access::Callback(..) => "callback",
            Access::Page(_) => "page",
            Access::Desk(_) => "desk",
            Access::Kiosk(_) => "kiosk",
            Access::Guest(_) => "guest",
        }
    }
}
