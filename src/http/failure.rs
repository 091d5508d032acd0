//! The one way an operation says no, unless the contract wants the refusal as a reply.
//! Public text and hidden cause are kept apart: a cause reaches the log and never the caller.

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

/// A refusal or a fault, on its way to the error envelope.
#[derive(Debug)]
pub struct Failure(Box<Parts>);

#[derive(Debug)]
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

/// The state of the disk that a failed statement shows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum DiskFault {
    Full,
    /// A page could not be read, or is not what it must be: once, or for good.
    Unreadable,
    /// A write or a flush failed: its pages may be gone.
    Unwritable,
}

/// Whether a page is not what was written there, as the sum of it says.
pub(crate) fn is_of_bad_page(error: &rusqlite::Error) -> bool {
    error.sqlite_error().is_some_and(|e| e.extended_code == rusqlite::ffi::SQLITE_IOERR_DATA)
}

impl DiskFault {
    pub(crate) fn of(error: &rusqlite::Error) -> Option<DiskFault> {
        use rusqlite::ErrorCode::*;
        use rusqlite::ffi::{SQLITE_IOERR_DIR_FSYNC, SQLITE_IOERR_FSYNC, SQLITE_IOERR_TRUNCATE, SQLITE_IOERR_WRITE};
        let extended = error.sqlite_error()?.extended_code;
        let writes = [SQLITE_IOERR_DIR_FSYNC, SQLITE_IOERR_FSYNC, SQLITE_IOERR_TRUNCATE, SQLITE_IOERR_WRITE];
        match error.sqlite_error_code()? {
            DiskFull => Some(DiskFault::Full),
            SystemIoFailure if writes.contains(&extended) => Some(DiskFault::Unwritable),
            DatabaseCorrupt | NotADatabase | SystemIoFailure => Some(DiskFault::Unreadable),
            _ => None,
        }
    }
}

/// Until a queue is shorter, or the service manager has started the server again.
const BUSY_SECONDS: u64 = 1;
/// Until somebody has looked at the machine: nothing gets better by itself, and a client that asks each second only fills
/// the log.
const TECHNICIAN_SECONDS: u64 = 3600;
/// Codes of what only the site's technician can mend.
const NEEDS_TECHNICIAN: [&str; 5] = ["not_configured", "clock_suspect", "store_damaged", "replaced", "read_only"];

/// One constructor a kind: its status and its stable code, which is also the key of its text.
macro_rules! kinds {
    ($($(#[$doc:meta])* $name:ident = $status:ident;)*) => {$(
        $(#[$doc])*
        pub fn $name() -> Failure { Failure::new(StatusCode::$status, stringify!($name)) }
    )*};
}

impl Failure {
    kinds! {
        /// The body is not JSON, or not text.
        bad_json = BAD_REQUEST;
        /// The request line or a header cannot be read.
        bad_request = BAD_REQUEST;
        /// No credential, or one that is not known (any more).
        not_signed_in = UNAUTHORIZED;
        /// A partner's digest is missing or wrong.
        bad_signature = UNAUTHORIZED;
        /// `generate-token` without the header that says which partner calls.
        client_id_missing = UNAUTHORIZED;
        /// A strict partner's signature was used before.
        signature_repeated = UNAUTHORIZED;
        /// A third party's signature is missing, wrong or too old.
        bad_callback = UNAUTHORIZED;
        /// A strict partner's timestamp is missing or too far from our time.
        bad_timestamp = UNAUTHORIZED;
        /// A known caller who may not do this.
        not_allowed = FORBIDDEN;
        /// A form that no page of ours sent.
        foreign_form = FORBIDDEN;
        /// A partner calling from an address that is not on its list.
        address_not_allowed = FORBIDDEN;
        /// A change of what opens an account, by a session whose last proof is too long ago.
        reauthentication_needed = FORBIDDEN;
        /// The account's role does not go without a second factor.
        second_factor_required = FORBIDDEN;
        /// No such object, or none that is the caller's.
        not_found = NOT_FOUND;
        /// A plain connection that somebody could listen to, where https is to be had.
        insecure = PERMANENT_REDIRECT;
        /// No such operation.
        unknown_path = NOT_FOUND;
        /// The path knows other methods.
        method_not_allowed = METHOD_NOT_ALLOWED;
        /// The body did not arrive in time.
        too_slow = REQUEST_TIMEOUT;
        /// The partner has a record of this address already.
        email_taken = CONFLICT;
        /// Somebody has this username.
        username_taken = CONFLICT;
        /// The registration belongs to a booking of another member.
        booking_of_another_member = CONFLICT;
        /// A signed entry is part of the record: it can be suspended and not deleted.
        entry_signed = CONFLICT;
        /// The member has this skill, or has asked for it.
        skill_taken = CONFLICT;
        /// The entry is in a state from which this does not go.
        entry_state = CONFLICT;
        /// The booking is in a state from which this does not go.
        booking_state = CONFLICT;
        /// The flyer has signed no waiver that is in force here, so there is neither a check-in nor flight time.
        waiver_missing = CONFLICT;
        /// The text is not the one any more that the signer was shown.
        waiver_changed = CONFLICT;
        /// The entry is not the one any more that the signer was shown.
        entry_changed = CONFLICT;
        /// Sign-off waits until the member's e-mail address is confirmed.
        email_not_confirmed = CONFLICT;
        /// Browsers offer no passkeys where this call came from.
        passkeys_need_https = CONFLICT;
        /// The member has as many passkeys as one may have.
        passkeys_full = CONFLICT;
        /// A partner whose access has ended for good.
        partner_revoked = CONFLICT;
        /// A client, account or value of that name is there already.
        exists = CONFLICT;
        /// A logbook has as many entries as one may have.
        logbook_full = CONFLICT;
        /// There is no second factor to do this with.
        second_factor_off = CONFLICT;
        /// The member has no confirmed address that a passcode could go to.
        nothing_confirmed = CONFLICT;
        /// The body is larger than the operation takes.
        body_too_large = PAYLOAD_TOO_LARGE;
        /// The address of a request is longer than any of ours.
        uri_too_long = URI_TOO_LONG;
        /// The headers of a request are larger than any client needs.
        headers_too_large = REQUEST_HEADER_FIELDS_TOO_LARGE;
        /// The body is of a type that the operation does not take.
        unsupported_type = UNSUPPORTED_MEDIA_TYPE;
        /// An upload that does not say it is a picture of a kind we read.
        unsupported_picture = UNSUPPORTED_MEDIA_TYPE;
        /// `Host` is none of the site's names.
        unknown_host = MISDIRECTED_REQUEST;
        /// Fields are missing or wrong; each is named.
        invalid_fields = UNPROCESSABLE_ENTITY;
        /// An `Idempotency-Key` came again with another body.
        idempotency_key_reused = UNPROCESSABLE_ENTITY;
        /// Too many requests of this caller.
        too_fast = TOO_MANY_REQUESTS;
        /// An address had its share of passcodes this hour.
        passcode_too_many = TOO_MANY_REQUESTS;
        /// Something broke; the cause is in the log under the request id.
        broken = INTERNAL_SERVER_ERROR;
        /// The queue is full, or the request waited in it too long.
        overloaded = SERVICE_UNAVAILABLE;
        /// A callback whose key is not configured.
        not_configured = SERVICE_UNAVAILABLE;
        /// The clock is behind what this file has seen, and the check at hand needs the right time.
        clock_suspect = SERVICE_UNAVAILABLE;
        /// The store takes no writes until it is started again.
        store_stopped = SERVICE_UNAVAILABLE;
        /// A page of the file is not what it must be.
        store_damaged = SERVICE_UNAVAILABLE;
        /// Another machine has taken this one's place: nothing is written here any more.
        replaced = SERVICE_UNAVAILABLE;
        /// The standby does not confirm, and `replica.wait` says that nothing is written without it.
        standby_away = SERVICE_UNAVAILABLE;
        /// The file system takes no writes: the file is served as it is.
        read_only = SERVICE_UNAVAILABLE;
        /// The disk is full: reads and sign-in go on.
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

    /// Adds what the log shall say; callers never see it.
    pub(crate) fn because(mut self, cause: impl std::fmt::Display) -> Failure {
        self.0.cause = Some(cause.to_string());
        self
    }

    /// Says it in other words than the kind's own; the code stays.
    pub(crate) fn saying(mut self, text: Text) -> Failure {
        self.0.text = text;
        self
    }

    /// Tells the caller when to come back.
    pub(crate) fn retry_after(mut self, wait: Duration) -> Failure {
        self.0.retry_after = Some(wait);
        self
    }

    /// The methods that the path does know.
    pub(crate) fn allow(mut self, methods: String) -> Failure {
        self.0.allow = Some(methods);
        self
    }

    /// Where the same is to be had.
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

    /// Where a browser is sent on to.
    pub fn location(&self) -> Option<&str> {
        self.0.location.as_deref()
    }

    /// Seconds for `Retry-After`: as told, else as long as it takes to be otherwise, where the status calls for that.
    pub(crate) fn retry_after_seconds(&self) -> Option<u64> {
        let busy = matches!(self.0.status, StatusCode::SERVICE_UNAVAILABLE | StatusCode::TOO_MANY_REQUESTS);
        match self.0.retry_after {
            Some(wait) => Some(wait.as_millis().div_ceil(1000).max(1) as u64),
            None if NEEDS_TECHNICIAN.contains(&self.0.code) => Some(TECHNICIAN_SECONDS),
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

impl From<rusqlite::Error> for Failure {
    /// A failed statement is our fault, or the disk's, or the load's; never "not found".
    fn from(error: rusqlite::Error) -> Failure {
        use rusqlite::ErrorCode::*;
        let failure = match error.sqlite_error_code() {
            Some(DiskFull) => Failure::disk_full(),
            Some(DatabaseCorrupt | NotADatabase) => Failure::store_damaged(),
            Some(SystemIoFailure) if is_of_bad_page(&error) => Failure::store_damaged(),
            Some(OperationInterrupted | DatabaseBusy | DatabaseLocked) => Failure::overloaded(),
            _ => Failure::broken(),
        };
        let mut failure = failure.because(&error);
        failure.0.disk_fault = DiskFault::of(&error);
        failure
    }
}
