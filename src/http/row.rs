//! The part of a row of the table that describes its requests and answers, whoever may call it.

use crate::http::body::BodySchema;
use http::Method;
use std::sync::OnceLock;

/// The largest body, unless its row says otherwise.
pub(crate) const BODY_BYTES_MAX: usize = 64 * 1024;
pub(crate) const CALLBACK_BODY_BYTES_MAX: usize = 1024 * 1024;

/// Who may call: the kind of credentials that a row demands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CallerKind {
    /// None.
    Open,
    /// A member's session.
    Member,
    /// A member's session, or the token of a booking.
    Bearer,
    /// A session that may read the reports.
    Staff,
    /// A partner's signature.
    Partner,
    /// The signature of a third party.
    Callback,
    /// The standby's token.
    Standby,
    /// None, in a browser.
    Page,
    /// A session of somebody who works here, in a browser.
    Desk,
    /// A paired kiosk.
    Kiosk,
    /// A member who is signed in at a paired kiosk.
    Guest,
}

impl CallerKind {
    /// One word, as `tunneldesk routes` prints it.
    pub(crate) const fn word(self) -> &'static str {
        match self {
            CallerKind::Open => "open",
            CallerKind::Member => "member",
            CallerKind::Bearer => "bearer",
            CallerKind::Staff => "staff",
            CallerKind::Partner => "partner",
            CallerKind::Callback => "callback",
            CallerKind::Standby => "standby",
            CallerKind::Page => "page",
            CallerKind::Desk => "desk",
            CallerKind::Kiosk => "kiosk",
            CallerKind::Guest => "guest",
        }
    }
}

/// A row of the table, but for its operation.
pub struct Row {
    /// Who may call it.
    pub caller_kind: CallerKind,
    /// `HEAD` goes with `GET`.
    pub method: Method,
    /// The prefix of `path`: `/api` for the contract.
    pub base: &'static str,
    /// Behind the base, with `{name}` for each part that varies.
    pub path: &'static str,
    /// Runs on the few threads for password hashing, so that a flood of sign-ins leaves the others alone.
    pub hashes: bool,
    /// Runs on the few threads for pictures, documents and tables, which take long and hold up no sign-in.
    pub draws: bool,
    /// Its only write is the last thing that it does, and makes the answer.
    pub ends_in_write: bool,
    /// Answers go out on a beat, so that the time they take says nothing of what was found.
    pub constant_time: bool,
    /// A partner must say who it is by `client-id`.
    pub client_id: bool,
    /// A longer body is answered with 413.
    pub body_bytes_max: usize,
    /// Of the desk, for admins alone.
    pub admins: bool,
    /// Beside the contract.
    pub ours: bool,
    /// Answers over a plain connection too, where everything else is sent over to https.
    pub in_clear: bool,
    /// Goes on while the disk is full, though it is no `GET`: it signs in or out, or only looks.
    pub when_full: bool,
    /// See [`Row::compresses`].
    pub compressed: bool,
    /// A good answer is the beginning of a stream that tells of changes.
    pub live: bool,
    /// The JSON body that it reads.
    pub body: Option<BodySchema>,
}

/// The rows of the table in its order, for what shows or counts them from below it. Empty before a server starts.
static ROWS: OnceLock<Vec<&'static Row>> = OnceLock::new();

/// Makes the table's rows known to [`rows`]; a second call changes nothing.
pub(crate) fn make_known(rows: impl Iterator<Item = &'static Row>) {
    _ = ROWS.get_or_init(|| rows.collect());
}

pub(crate) fn rows() -> &'static [&'static Row] {
    ROWS.get().map_or(&[], Vec::as_slice)
}

impl Row {
    pub(crate) const fn new(caller_kind: CallerKind, method: Method, path: &'static str) -> Row {
        let body_bytes_max = match caller_kind {
            CallerKind::Callback => CALLBACK_BODY_BYTES_MAX,
            _ => BODY_BYTES_MAX,
        };
        Row {
            caller_kind,
            method,
            base: "/api",
            path,
            hashes: false,
            draws: false,
            ends_in_write: false,
            constant_time: false,
            client_id: false,
            body_bytes_max,
            admins: false,
            ours: false,
            in_clear: false,
            when_full: false,
            compressed: false,
            live: false,
            body: None,
        }
    }

    /// One word for who may call.
    pub fn caller(&self) -> &'static str {
        self.caller_kind.word()
    }

    /// Whether the port for metrics answers it too.
    pub(crate) fn is_health(&self) -> bool {
        self.base.is_empty() && ["/healthz", "/readyz"].contains(&self.path)
    }

    /// Whether a large answer may go out compressed.
    ///
    /// The length of a compressed text tells whether a part of it repeats another. An attacker who can put words beside
    /// a secret, has its owner's browser ask for both again and again, and sees the length of the answers, learns the
    /// secret letter by letter (BREACH). A browser sends cookies by itself, and cookies open pages; so no page is
    /// compressed. A foreign page cannot send the token that opens the API, and a read of the API tells no secret: the
    /// operations that make one (a session, a PIN, recovery codes) are no `GET`. Beside the reads are the two reports,
    /// which a `POST` asks for, and the files of the pages, which are the same for everybody.
    pub fn compresses(&self) -> bool {
        let reads_by_token = matches!(
            self.caller_kind,
            CallerKind::Open | CallerKind::Member | CallerKind::Bearer | CallerKind::Staff | CallerKind::Partner
        );
        self.compressed || reads_by_token && self.method == Method::GET
    }

    /// Whether the answer is the same for everybody.
    pub(crate) fn is_public(&self) -> bool {
        self.caller_kind == CallerKind::Open
    }

    /// Whether it is for browsers, refusals included.
    pub fn is_page(&self) -> bool {
        matches!(self.caller_kind, CallerKind::Page | CallerKind::Desk | CallerKind::Kiosk | CallerKind::Guest)
    }
}
