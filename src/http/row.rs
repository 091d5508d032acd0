//! The part of a row of the table that describes its requests and answers.

use crate::http::answer::Operation;
use crate::http::body::BodySchema;
use http::Method;
use std::sync::OnceLock;

/// The largest body, unless its row says otherwise.
pub(crate) const BODY_BYTES_MAX: usize = 64 * 1024;
pub(crate) const CALLBACK_BODY_BYTES_MAX: usize = 1024 * 1024;

/// Who may call a row: the kind of credentials that it requires.
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
    /// A member's session or a ticket of one, or a partner's signature, to hear of events.
    Listening,
    /// A partner's signature.
    Partner,
    /// The signature of a third party.
    Callback,
    /// The standby's token.
    Standby,
    /// None, in a browser.
    Page,
    /// A session of a member of the staff, in a browser.
    Desk,
    /// A paired kiosk.
    Kiosk,
    /// A paired board.
    Board,
    /// A member who is signed in at a paired kiosk.
    Guest,
    /// A member's session for the own pages, in a browser.
    Own,
}

impl CallerKind {
    /// One word, as `tunneldesk routes` prints it.
    pub(crate) const fn word(self) -> &'static str {
        match self {
            CallerKind::Open => "open",
            CallerKind::Member => "member",
            CallerKind::Bearer => "bearer",
            CallerKind::Staff => "staff",
            CallerKind::Listening => "listening",
            CallerKind::Partner => "partner",
            CallerKind::Callback => "callback",
            CallerKind::Standby => "standby",
            CallerKind::Page => "page",
            CallerKind::Desk => "desk",
            CallerKind::Kiosk => "kiosk",
            CallerKind::Board => "board",
            CallerKind::Guest => "guest",
            CallerKind::Own => "own",
        }
    }
}

/// A row of the table, without its operation.
pub struct Row {
    /// The kind of credentials that it requires.
    pub caller_kind: CallerKind,
    /// `HEAD` goes with `GET`.
    pub method: Method,
    /// The prefix of `path`: `/api` for the contract.
    pub base: &'static str,
    /// After the base, with `{name}` for each parameter.
    pub path: &'static str,
    /// Runs on the threads for password hashing, so that a flood of sign-ins does not delay other operations.
    pub hashes: bool,
    /// Runs on the threads for pictures, documents and tables, which take long.
    pub draws: bool,
    /// The operation ends with its only write, so that several operations can share a flush.
    pub ends_in_write: bool,
    /// Answers are sent at fixed intervals, so that their time does not tell what was found.
    pub constant_time: bool,
    /// A partner must send `client-id`.
    pub client_id: bool,
    /// A partner signs the whole request, with a time and a nonce, and uses each signature once.
    pub signs_request: bool,
    /// A longer body is answered with 413.
    pub body_bytes_max: usize,
    /// A row of the desk for admins alone.
    pub admins: bool,
    /// A row of the desk that changes who may do what, or hands out what must not get out: the clerk has proved the own identity
    /// within the last ten minutes. A stolen cookie alone is not enough.
    pub proven: bool,
    /// Not part of the contract.
    pub ours: bool,
    /// Answers over plain HTTP too, where other rows redirect to https.
    pub in_clear: bool,
    /// Answers under the names by which members come from home (`public_names`), where other rows do not exist.
    pub from_home: bool,
    /// Works while the disk is full, though it is no `GET`: it signs in or out, or only reads.
    pub when_full: bool,
    /// See [`Row::compresses`].
    pub compressed: bool,
    /// A 200 begins an event stream about changes.
    pub live: bool,
    /// The JSON body that it reads.
    pub body: Option<BodySchema>,
    /// What the API description says of it.
    pub operation: Option<&'static Operation>,
    /// The path of the page that has this form, where that is not the nearest page above.
    pub form_page: Option<&'static str>,
}

/// The rows of the table in its order, for the modules below the table. Empty before a server starts.
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
            signs_request: false,
            body_bytes_max,
            admins: false,
            proven: false,
            ours: false,
            in_clear: false,
            from_home: false,
            when_full: false,
            compressed: false,
            live: false,
            body: None,
            operation: None,
            form_page: None,
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
    /// The length of a compressed text reveals repetitions in it. An attacker who can put words beside a secret, make its
    /// owner's browser request both again and again, and observe the length of the answers, learns the secret letter by
    /// letter (BREACH). Browsers send cookies by themselves, and cookies open pages, so no page is compressed. A foreign
    /// page cannot send the token of the API, and reads of the API contain no secrets: the operations that make them (a
    /// session, a PIN, recovery codes) are no `GET`. Also compressed are the two reports, which are read by `POST`, and
    /// the files of the pages, which are the same for every client.
    pub fn compresses(&self) -> bool {
        let reads_by_token = matches!(
            self.caller_kind,
            CallerKind::Open | CallerKind::Member | CallerKind::Bearer | CallerKind::Staff | CallerKind::Partner
        );
        self.compressed || reads_by_token && self.method == Method::GET
    }

    /// Whether the answer is the same for every caller.
    pub(crate) fn is_public(&self) -> bool {
        self.caller_kind == CallerKind::Open
    }

    /// Whether the row is for browsers, which get refusals as pages.
    pub fn is_page(&self) -> bool {
        use CallerKind::{Desk, Guest, Kiosk, Own, Page};
        matches!(self.caller_kind, Page | Desk | Kiosk | Guest | Own)
    }
}
