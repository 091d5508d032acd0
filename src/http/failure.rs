//! The failure of an operation, unless the contract wants a refusal as a reply. Public text and hidden cause are kept apart:
//! a cause reaches the log and never the caller.

use crate::i18n::language::Text;
use http::StatusCode;
use std::time::Duration;

/// A fault of one field of a request.
#[derive(Debug, Clone)]
pub struct Problem {
    /// The field's name, as the client sent it.
    pub field: String,
    /// What is wrong with it.
    pub text: Text,
}

/// A refusal or a fault, which becomes the error envelope or an error page.
#[derive(Debug, Clone)]
pub struct Failure(Box<Parts>);

#[derive(Debug, Clone)]
struct Parts {
    status: StatusCode,
    code: &'static str,
    text: Text,
    problems: Vec<Problem>,
    retry_after: Option<Duration>,
    allow: Option<String>,
    location: Option<String>,
    cause: Option<String>,
    disk_fault: Option<DiskFault>,
}

/// The fault of the disk that a failed statement shows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum DiskFault {
    Full,
    /// A page could not be read or is damaged, perhaps only once.
    Unreadable,
    /// A write or a flush failed; its pages may be lost.
    Unwritable,
}

/// `Retry-After` while a queue is full or the server restarts.
const BUSY_SECONDS: u64 = 1;
/// `Retry-After` where only a technician helps: frequent retries would only fill the log.
const TECHNICIAN_SECONDS: u64 = 3600;
/// The codes of faults that only the site's technician can repair.
const NEEDS_TECHNICIAN: [&str; 5] = ["not_configured", "clock_suspect", "store_damaged", "replaced", "read_only"];

/// One constructor for each kind of failure: its status, and its stable code, which is also the key of its text. The comment is
/// the code's text in the API description.
macro_rules! kinds {
    ($($(#[doc = $doc:expr])* $name:ident = $status:ident;)*) => {
        /// Each code with its status and the lines of its text.
        pub(crate) const KINDS: &'static [(&'static str, StatusCode, &'static [&'static str])] =
            &[$((stringify!($name), StatusCode::$status, &[$($doc),*])),*];

        $(
            $(#[doc = $doc])*
            pub fn $name() -> Failure { Failure::new(StatusCode::$status, stringify!($name)) }
        )*
    };
}

impl Failure {
    kinds! {
        /// The body is not JSON, or not text in UTF-8.
        bad_json = BAD_REQUEST;
        /// The request cannot be read as HTTP.
        bad_request = BAD_REQUEST;
        /// The state of a deletion was requested without its code.
        code_missing = BAD_REQUEST;
        /// No session, or one that is over.
        not_signed_in = UNAUTHORIZED;
        /// `token` is not the HMAC of this body under one of the partner's secrets, or a callback's signature is
        /// missing or wrong.
        bad_signature = UNAUTHORIZED;
        /// `generate-token` without the header `client-id`.
        client_id_missing = UNAUTHORIZED;
        /// The signature was used before. Sign anew.
        signature_repeated = UNAUTHORIZED;
        /// A third party's signature is missing, wrong or too old.
        bad_callback = UNAUTHORIZED;
        /// `x-timestamp`, which a strict partner and some operations need, is missing, or more than 300 seconds from
        /// now.
        bad_timestamp = UNAUTHORIZED;
        /// `x-nonce` is missing where it is needed, or is no nonce.
        bad_nonce = UNAUTHORIZED;
        /// The caller may not do this. Also the answer for a member who does not exist.
        not_allowed = FORBIDDEN;
        /// On pages alone: a form of another origin.
        foreign_form = FORBIDDEN;
        /// This partner does not call from this address.
        address_not_allowed = FORBIDDEN;
        /// The request changes credentials, and the session's last proof of identity (a sign-in, or reauthenticate) is
        /// more than ten minutes ago.
        reauthentication_needed = FORBIDDEN;
        /// Desk and admin accounts keep their second factor.
        second_factor_required = FORBIDDEN;
        /// There is no such record, or none of yours.
        not_found = NOT_FOUND;
        /// A plain connection to a site with https; `Location` has the address.
        insecure = PERMANENT_REDIRECT;
        /// There is no such operation.
        unknown_path = NOT_FOUND;
        /// The path knows other methods; `Allow` names them.
        method_not_allowed = METHOD_NOT_ALLOWED;
        /// The body did not arrive in time.
        too_slow = REQUEST_TIMEOUT;
        /// The address is in use already.
        email_taken = CONFLICT;
        /// Another member has this username.
        username_taken = CONFLICT;
        /// The registration belongs to a booking of another member.
        booking_of_another_member = CONFLICT;
        /// A signed entry is part of the record: it can be suspended and not deleted.
        entry_signed = CONFLICT;
        /// The member has this skill, or has requested it.
        skill_taken = CONFLICT;
        /// The entry is in a state from which this does not go.
        entry_state = CONFLICT;
        /// The booking is in a state from which this does not go.
        booking_state = CONFLICT;
        /// The flyer has signed no waiver that is in force here, so there is neither a check-in nor flight time.
        waiver_missing = CONFLICT;
        /// The text has changed since it was shown to the signer.
        waiver_changed = CONFLICT;
        /// The entry has changed since it was shown to the signer.
        entry_changed = CONFLICT;
        /// Sign-off, or a telephone number, waits until the member's e-mail address is confirmed.
        email_not_confirmed = CONFLICT;
        /// Browsers offer no passkeys where this call came from.
        passkeys_need_https = CONFLICT;
        /// The member has as many passkeys as one may have.
        passkeys_full = CONFLICT;
        /// On pages alone: a partner whose access has ended for good.
        partner_revoked = CONFLICT;
        /// What was to be made is there already.
        exists = CONFLICT;
        /// The logbook has as many entries as one may have.
        logbook_full = CONFLICT;
        /// There is no second factor to do this with.
        second_factor_off = CONFLICT;
        /// The member has no confirmed address or number that a passcode could go to.
        nothing_confirmed = CONFLICT;
        /// Events after the one that was named are missing here: they were kept for 30 days, or the site was put back to an earlier
        /// state. Read what you need anew, and go on after the number in the header `x-event-seq`.
        events_gone = GONE;
        /// More than 64 KiB; 1 MiB for callbacks, 5 MiB for a picture.
        body_too_large = PAYLOAD_TOO_LARGE;
        /// The path with its query has more than 8 KiB.
        uri_too_long = URI_TOO_LONG;
        /// The headers have more than 16 KiB, or are more than 100.
        headers_too_large = REQUEST_HEADER_FIELDS_TOO_LARGE;
        /// The body is not `application/json` (nor, for a callback, a form).
        unsupported_type = UNSUPPORTED_MEDIA_TYPE;
        /// The body is compressed (`Content-Encoding`).
        unsupported_encoding = UNSUPPORTED_MEDIA_TYPE;
        /// The body is not `image/jpeg`, `image/png` or `image/webp`.
        unsupported_picture = UNSUPPORTED_MEDIA_TYPE;
        /// `Host` is none of the site's names.
        unknown_host = MISDIRECTED_REQUEST;
        /// Fields are missing or wrong; `errors` names every one.
        invalid_fields = UNPROCESSABLE_ENTITY;
        /// The `Idempotency-Key` came before with another body, or before an update of the site after which its answer
        /// cannot be given again.
        idempotency_key_reused = UNPROCESSABLE_ENTITY;
        /// Too many requests or failed attempts; `Retry-After` says when to retry.
        too_fast = TOO_MANY_REQUESTS;
        /// The address had its share of passcodes this hour.
        passcode_too_many = TOO_MANY_REQUESTS;
        /// Something broke here; the site's log knows it by `request_id`.
        broken = INTERNAL_SERVER_ERROR;
        /// The site is busy.
        overloaded = SERVICE_UNAVAILABLE;
        /// A callback whose key is not configured; nothing was stored.
        not_configured = SERVICE_UNAVAILABLE;
        /// The site's clock is wrong, so signed times cannot be checked.
        clock_suspect = SERVICE_UNAVAILABLE;
        /// The site takes no writes until it is started again.
        store_stopped = SERVICE_UNAVAILABLE;
        /// The site's data is damaged; a backup must be restored.
        store_damaged = SERVICE_UNAVAILABLE;
        /// Another machine has replaced this one, which writes no more.
        replaced = SERVICE_UNAVAILABLE;
        /// The standby does not confirm, and the site writes nothing without it. The write may or may not exist: repeat
        /// the request with its `Idempotency-Key`.
        standby_away = SERVICE_UNAVAILABLE;
        /// The site's disk does not answer; reading goes on. The write may or may not be made: repeat the request with
        /// its `Idempotency-Key`.
        disk_hangs = SERVICE_UNAVAILABLE;
        /// The write did not end in time, behind others. It may or may not be made: repeat the request with its
        /// `Idempotency-Key`.
        outcome_unknown = SERVICE_UNAVAILABLE;
        /// The site's disk takes no writes; reading goes on.
        read_only = SERVICE_UNAVAILABLE;
        /// The disk is full; reading and signing in go on.
        disk_full = INSUFFICIENT_STORAGE;
    }

    fn new(status: StatusCode, code: &'static str) -> Failure {
        Failure(Box::new(Parts {
            status,
            code,
            text: Text::new(code),
            problems: Vec::new(),
            retry_after: None,
            allow: None,
            location: None,
            cause: None,
            disk_fault: None,
        }))
    }

    /// 413 naming the limit.
    pub(crate) fn larger_than(bytes_max: usize) -> Failure {
        let kib = bytes_max / 1024;
        let max = if kib.is_multiple_of(1024) { format!("{} MiB", kib / 1024) } else { format!("{kib} KiB") };
        Failure::body_too_large().saying(Text::new("body_too_large").with("max", max))
    }

    /// 422 naming every bad field.
    pub(crate) fn invalid(problems: Vec<Problem>) -> Failure {
        let mut failure = Failure::invalid_fields();
        failure.0.problems = problems;
        failure
    }

    /// 422 naming one bad field.
    pub(crate) fn field(field: &str, text: Text) -> Failure {
        Failure::invalid(vec![Problem { field: field.to_owned(), text }])
    }

    /// Adds the cause for the log, which callers never see.
    pub(crate) fn because(mut self, cause: impl std::fmt::Display) -> Failure {
        self.0.cause = Some(cause.to_string());
        self
    }

    /// Adds the fault of the disk that caused it.
    pub(crate) fn with_disk_fault(mut self, fault: Option<DiskFault>) -> Failure {
        self.0.disk_fault = fault;
        self
    }

    /// Replaces the public text; the code stays.
    pub(crate) fn saying(mut self, text: Text) -> Failure {
        self.0.text = text;
        self
    }

    /// Adds a `Retry-After`.
    pub(crate) fn retry_after(mut self, wait: Duration) -> Failure {
        self.0.retry_after = Some(wait);
        self
    }

    /// Adds the methods of the path, for `Allow`.
    pub(crate) fn allow(mut self, methods: String) -> Failure {
        self.0.allow = Some(methods);
        self
    }

    /// Adds a `Location`.
    pub fn at(mut self, location: String) -> Failure {
        self.0.location = Some(location);
        self
    }

    pub(crate) fn with_problem(mut self, field: &str, text: Text) -> Failure {
        self.0.problems.push(Problem { field: field.to_owned(), text });
        self
    }

    /// The status of the answer.
    pub fn status(&self) -> StatusCode {
        self.0.status
    }

    /// The stable word of the answer's `code`.
    pub fn code(&self) -> &'static str {
        self.0.code
    }

    /// Whether this is a failure of the kind that `kind` makes.
    pub(crate) fn is(&self, kind: fn() -> Failure) -> bool {
        self.0.code == kind().0.code
    }

    /// The public message.
    pub fn text(&self) -> &Text {
        &self.0.text
    }

    /// The bad fields; empty unless the status is 422.
    pub fn problems(&self) -> &[Problem] {
        &self.0.problems
    }

    pub(crate) fn cause(&self) -> Option<&str> {
        self.0.cause.as_deref()
    }

    pub(crate) fn disk_fault(&self) -> Option<DiskFault> {
        self.0.disk_fault
    }

    pub(crate) fn allowed_methods(&self) -> Option<&str> {
        self.0.allow.as_deref()
    }

    /// The target of a redirect.
    pub fn location(&self) -> Option<&str> {
        self.0.location.as_deref()
    }

    /// Seconds for `Retry-After`: as set, else a default for the code or status, if it has one.
    pub(crate) fn retry_after_seconds(&self) -> Option<u64> {
        let busy = matches!(self.0.status, StatusCode::SERVICE_UNAVAILABLE | StatusCode::TOO_MANY_REQUESTS);
        match self.0.retry_after {
            Some(wait) => Some(wait.as_millis().div_ceil(1000).max(1) as u64),
            None if NEEDS_TECHNICIAN.contains(&self.0.code) => Some(TECHNICIAN_SECONDS),
            // In another second the timestamp, and with it the signature, is another.
            None if self.0.code == "signature_repeated" => Some(BUSY_SECONDS),
            None => busy.then_some(BUSY_SECONDS),
        }
    }
}

impl std::fmt::Display for Failure {
    /// For the log and the shell: the code, the bad fields and the cause.
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}", self.0.code)?;
        for problem in &self.0.problems {
            write!(f, "; {}: {}", problem.field, problem.text.in_english())?;
        }
        match &self.0.cause {
            Some(cause) => write!(f, ": {cause}"),
            None => Ok(()),
        }
    }
}

impl std::error::Error for Failure {}

/// Why something does not take place.
#[derive(Debug)]
pub(crate) enum Stop<D> {
    /// A rule denies it, for a reason that the edge words.
    Denied(D),
    Failed(Failure),
}

impl<D> Stop<D> {
    /// The reason of a denial; a failure goes on.
    pub(crate) fn denial(self) -> Result<D, Failure> {
        match self {
            Stop::Denied(why) => Ok(why),
            Stop::Failed(failure) => Err(failure),
        }
    }

    /// The failure; a denial becomes one.
    pub(crate) fn into_failure(self, word: impl FnOnce(D) -> Failure) -> Failure {
        match self {
            Stop::Denied(why) => word(why),
            Stop::Failed(failure) => failure,
        }
    }

    /// The same with another reason, such as that of a wider effect.
    pub(crate) fn map<E>(self, reword: impl FnOnce(D) -> E) -> Stop<E> {
        match self {
            Stop::Denied(why) => Stop::Denied(reword(why)),
            Stop::Failed(failure) => Stop::Failed(failure),
        }
    }
}

/// Whatever becomes a failure: `?` takes it out of a function that may deny too.
impl<D, E: Into<Failure>> From<E> for Stop<D> {
    fn from(error: E) -> Stop<D> {
        Stop::Failed(error.into())
    }
}
