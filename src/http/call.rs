//! A request, whole: its body is read before an operation sees the request.

use crate::domain::audit::{Actor, ActorId};
use crate::domain::ids::{BookingId, MemberId, PartnerId};
use crate::http::accept;
use crate::http::body::{Body, ParsedBody};
use crate::http::failure::Failure;
use crate::http::field_types::{Count, Rows};
use crate::http::fields::Fields;
use crate::http::json;
pub(crate) use crate::http::network::Network;
use crate::http::row::{CallerKind, Row};
use crate::i18n::language::{Language, Text};
use bytes::Bytes;
use http::header::{self, AsHeaderName};
use http::{HeaderMap, HeaderName, Method};
use percent_encoding::percent_decode_str;
use serde_json::{Map, Value};
use std::borrow::Cow;
use std::cell::{Cell, OnceCell};
use std::net::IpAddr;

/// The most rows of a list in one answer to a `GET`.
pub(crate) const LIST_ROWS_MAX: i64 = 5_000;
/// The most rows of a report in one answer.
pub(crate) const REPORT_ROWS_MAX: i64 = 500;
/// Rows of a report in one answer, unless `limit` names another number.
const REPORT_ROWS_DEFAULT: i64 = 50;
const TAG_CHARS_MAX: usize = 64;
/// A session's token, or the digest that a partner made.
pub(crate) const TOKEN: HeaderName = HeaderName::from_static("token");
/// Some clients write a tilde before this name.
const MONITOR_USER: HeaderName = HeaderName::from_static("~monitor-user");
/// More fields than any of our forms has.
const FORM_FIELDS_MAX: usize = 100;

/// The outcome of a proof of identity, for the log: the contract answers a failed sign-in with status 200, so the status
/// alone does not show it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) enum AuthOutcome {
    /// No proof of identity was checked, or a right one opened nothing by itself: the status says the outcome.
    #[default]
    Plain,
    /// A password, code, PIN or passkey was wrong, or the name unknown.
    WrongCredentials,
    /// Refused unread, after too many failed attempts.
    Delayed,
    /// The first proof was right, and a second factor is required.
    SecondFactorDue,
    /// The proof was right, and the account is banned.
    Banned,
    SignedIn,
}

impl AuthOutcome {
    /// The word of the log: the outcome of a proof of identity, else `ok`, `refused` or `failed` by the status.
    pub(crate) fn word(self, status: u16) -> &'static str {
        match self {
            AuthOutcome::WrongCredentials => "wrong_credentials",
            AuthOutcome::Delayed => "delayed",
            AuthOutcome::SecondFactorDue => "second_factor_due",
            AuthOutcome::Banned => "banned",
            AuthOutcome::SignedIn => "signed_in",
            AuthOutcome::Plain if status < 400 => "ok",
            AuthOutcome::Plain if status < 500 => "refused",
            AuthOutcome::Plain => "failed",
        }
    }
}

/// A request whose head and body were read, on its way to an operation.
pub struct Call {
    /// The row of the table that the request matches.
    pub row: &'static Row,
    /// As received; `HEAD` is answered like `GET`.
    pub method: Method,
    /// As received, without the query.
    pub path: String,
    /// As received.
    pub headers: HeaderMap,
    /// German as the site spells it.
    pub(crate) german: Language,
    /// The query after the `?`, as received.
    pub query: String,
    /// The client's address; behind a configured proxy, the address that the proxy names.
    pub peer: IpAddr,
    /// Whether the request came over this server's own TLS.
    pub secure: bool,
    /// Whether it came by a name that the internet knows (`public_names`).
    pub(crate) from_home: bool,
    /// The client's id, where that is well-formed, else one of our own.
    pub request_id: String,
    /// Whole, within the row's limit.
    pub body: Bytes,
    /// The path's parameters, decoded, in their order.
    pub params: Vec<String>,
    /// The count of changes to the desk's pages when the request was queued: a page rendered at that count or later is fresh
    /// enough to be shared.
    pub(crate) changes_before: u64,
    /// The principal, for the log; set by [`crate::auth`].
    pub(crate) principal: Cell<PrincipalId>,
    /// Whether the server holds the answer back, because sign-ins are delayed. No thread waits meanwhile.
    pub delayed: Cell<bool>,
    /// The outcome of a proof of identity, for the log.
    pub(crate) outcome: Cell<AuthOutcome>,
    /// The `Idempotency-Key` of an authenticated request; set by [`crate::auth`].
    pub(crate) idempotency: OnceCell<IdempotentRequest>,
}

/// A principal as the log names it: numbers, never names.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash)]
pub(crate) enum PrincipalId {
    /// A caller without credentials.
    #[default]
    Anyone,
    /// A member, by number.
    Member(MemberId),
    /// The bearer of a booking's token, by the member's number.
    Booking(MemberId),
    /// A partner, by number.
    Partner(PartnerId),
    /// A third party that calls back.
    Sender(&'static str),
}

impl PrincipalId {
    /// As the log has it. Not by `write!`, which costs a good part of the line, and every request has one.
    pub(crate) fn text(self) -> Cow<'static, str> {
        let (kind, id) = match self {
            PrincipalId::Anyone => return "-".into(),
            PrincipalId::Sender(name) => return ["sender:", name].concat().into(),
            PrincipalId::Member(MemberId(id)) => ("member:", id),
            PrincipalId::Booking(MemberId(id)) => ("booking-of:", id),
            PrincipalId::Partner(PartnerId(id)) => ("partner:", id),
        };
        [kind, &id.to_string()].concat().into()
    }
}

/// A request with an `Idempotency-Key`. What came of it is kept by `app::once`.
pub(crate) struct IdempotentRequest {
    /// Of the caller, the operation and the key.
    pub replay_key: [u8; 32],
    pub body_digest: [u8; 32],
    /// The type of the outcome that is kept, if one is.
    pub kept_as: Cell<Option<&'static str>>,
    /// The hash of the token that the outcome hands out, if any.
    pub token_hash: Cell<Option<[u8; 32]>>,
    /// The booking that the outcome is about, if any: the kept outcome is void once the booking ends or moves.
    pub booking_id: Cell<Option<BookingId>>,
    /// The member whose credentials the outcome shows, if it shows any: the kept outcome is void once they change.
    pub shown_of: Cell<Option<MemberId>>,
}

/// The requested rows of a list.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Page {
    pub limit: i64,
    pub offset: i64,
}

impl Call {
    /// A header that is text, trimmed; an empty one counts as absent. Headers that every request is searched for are looked
    /// up by a constant, which costs a fraction of a lookup by name.
    pub(crate) fn header(&self, name: impl AsHeaderName) -> Option<&str> {
        self.headers.get(name)?.to_str().ok().map(str::trim).filter(|value| !value.is_empty())
    }

    /// A member as the actor of this call, for the audit log.
    pub(crate) fn actor(&self, member_id: MemberId) -> Actor {
        Actor::caller(ActorId::Member(member_id), self.peer)
    }

    /// Records the token that the outcome hands out: the kept outcome is repeated only while that token is in force.
    pub(crate) fn issues_token(&self, token_hash: &[u8; 32]) {
        if let Some(repeat) = self.idempotency.get() {
            repeat.token_hash.set(Some(*token_hash));
        }
    }

    /// Records the booking that the outcome is about: the kept outcome is repeated only until the booking ends or moves.
    pub(crate) fn is_about_booking(&self, booking_id: BookingId) {
        if let Some(repeat) = self.idempotency.get() {
            repeat.booking_id.set(Some(booking_id));
        }
    }

    /// Records the member whose credentials the outcome shows: the kept outcome is repeated only until they change.
    pub(crate) fn shows_credentials_of(&self, member_id: MemberId) {
        if let Some(repeat) = self.idempotency.get() {
            repeat.shown_of.set(Some(member_id));
        }
    }

    /// The caller's network, which limits by address count.
    pub(crate) fn network(&self) -> Network {
        self.peer.into()
    }

    /// The host name of the request, without a port.
    pub(crate) fn host(&self) -> Option<String> {
        self.header("host").map(host_name)
    }

    /// Whether the method is `GET` or `HEAD`.
    pub(crate) fn reads(&self) -> bool {
        matches!(self.method, Method::GET | Method::HEAD)
    }

    /// The language of the answer.
    pub(crate) fn language(&self) -> Language {
        self.asked_language().unwrap_or_default()
    }

    /// The language that the request asks for; `None` where it names none of the product's.
    pub(crate) fn asked_language(&self) -> Option<Language> {
        accept::language(&self.headers).map(|language| language.spelt_as(self.german))
    }

    /// The language of a tag, as the site spells it.
    pub(crate) fn find_language(&self, tag: &str) -> Option<Language> {
        Language::find(tag).map(|language| language.spelt_as(self.german))
    }

    pub(crate) fn say(&self, key: &'static str) -> String {
        self.language().say(&Text::new(key))
    }

    /// A parameter of the path, by its position in the pattern.
    pub(crate) fn param(&self, index: usize) -> &str {
        &self.params[index]
    }

    /// A parameter of the path as the number of a row; `None` where it is no positive number.
    pub(crate) fn param_id<T: From<i64>>(&self, index: usize) -> Option<T> {
        self.param(index).parse().ok().filter(|id| *id > 0).map(T::from)
    }

    /// The fields of a JSON body. An empty body counts as an empty object.
    pub(crate) fn fields(&self) -> Result<Fields, Failure> {
        if json::without_mark(&self.body).iter().all(u8::is_ascii_whitespace) {
            return Ok(Fields::new(Map::new()));
        }
        let has_type =
            self.headers.get(header::CONTENT_TYPE).is_some_and(|kind| !kind.as_bytes().trim_ascii().is_empty());
        if has_type && !self.header(header::CONTENT_TYPE).is_some_and(is_json) {
            let takes_forms = self.row.caller_kind == CallerKind::Callback;
            let text = Text::new(if takes_forms { "unsupported_type.callback" } else { "unsupported_type" });
            return Err(Failure::unsupported_type().saying(text));
        }
        match json::parse(&self.body) {
            Ok(Value::Object(map)) => Ok(Fields::new(map)),
            Ok(_) => Err(Failure::field("body", Text::new("field.not_object"))),
            Err(e) => Err(json::refusal(&self.body, &e)),
        }
    }

    /// Reads and validates the body that the operation's row declares.
    pub(crate) fn body<B: Body>(&self) -> Result<B, Failure> {
        self.parse_body()?.finish()
    }

    /// Reads the body without validating it yet, for an operation with rules of its own.
    pub(crate) fn parse_body<B: Body>(&self) -> Result<ParsedBody<B>, Failure> {
        Ok(self.parse_body_from(self.fields()?))
    }

    /// As [`Call::parse_body`], of fields that the operation has prepared.
    pub(crate) fn parse_body_from<B: Body>(&self, fields: Fields) -> ParsedBody<B> {
        debug_assert_eq!(self.row.body.map(|body| body.name), Some(B::NAME), "the row declares another body");
        ParsedBody::read(fields)
    }

    /// The names and values of a form, in their order; `None` where the body is no form.
    pub(crate) fn form(&self) -> Result<Option<Vec<(String, String)>>, Failure> {
        if !self.header("content-type").is_some_and(is_form) {
            return Ok(None);
        }
        let text = std::str::from_utf8(&self.body).map_err(|e| json::not_utf8(&e))?;
        let pairs: Vec<_> = pairs(text).take(FORM_FIELDS_MAX + 1).collect();
        if pairs.len() > FORM_FIELDS_MAX {
            return Err(
                Failure::body_too_large().saying(Text::new("body_too_large.fields").with("max", FORM_FIELDS_MAX))
            );
        }
        Ok(Some(pairs))
    }

    /// The fields of a body that is a form or JSON.
    pub(crate) fn fields_or_form(&self) -> Result<Fields, Failure> {
        match self.form()? {
            Some(pairs) => Ok(Fields::new(pairs.into_iter().map(|(name, text)| (name, Value::String(text))).collect())),
            None => self.fields(),
        }
    }

    /// The query's fields.
    pub(crate) fn query(&self) -> Fields {
        Fields::new(pairs(&self.query).map(|(name, text)| (name, Value::String(text))).collect())
    }

    /// One field of the query, decoded; the last of that name.
    pub(crate) fn query_field(&self, field: &str) -> Option<String> {
        pairs(&self.query).filter(|(name, _)| name == field).map(|(_, text)| text).last()
    }

    /// `limit` and `offset` of a `GET` that answers a list; the whole list by default.
    pub(crate) fn page(&self) -> Result<Page, Failure> {
        let ListQuery { limit, offset } = ParsedBody::read(self.query()).finish()?;
        Ok(Page { limit: limit.unwrap_or(LIST_ROWS_MAX), offset: offset.unwrap_or(0) })
    }

    /// The request's path and query with another `limit` and `offset`.
    pub(crate) fn path_of_page(&self, page: Page) -> String {
        let is_other = |pair: &&str| pairs(pair).next().is_some_and(|(name, _)| name != "limit" && name != "offset");
        let others: String = self.query.split('&').filter(is_other).map(|pair| format!("{pair}&")).collect();
        format!("{}?{others}limit={}&offset={}", self.path, page.limit, page.offset)
    }

    /// Whether the client prefers HTML to JSON, as browsers do and programs that accept anything do not.
    pub(crate) fn prefers_page(&self) -> bool {
        accept::prefers_page(&self.headers)
    }

    /// The opaque tag that some clients send for the log.
    pub(crate) fn monitor_user(&self) -> Option<&str> {
        self.header(MONITOR_USER)
            .filter(|tag| tag.len() <= TAG_CHARS_MAX && tag.bytes().all(|b| b.is_ascii_graphic() || b == b' '))
    }
}

crate::body! {
    /// The query of a list that a `GET` answers.
    pub(crate) struct ListQuery {
        limit: Option<Rows<LIST_ROWS_MAX>>,
        offset: Option<Count>,
    }
}

impl Page {
    /// The page of a report, with its default limit.
    pub(crate) fn of_report(limit: Option<i64>, offset: Option<i64>) -> Page {
        Page { limit: limit.unwrap_or(REPORT_ROWS_DEFAULT), offset: offset.unwrap_or(0) }
    }
}

/// The name in a `Host`: lower case, without a port or a final dot.
pub(crate) fn host_name(host: &str) -> String {
    let name = match host.rsplit_once(':') {
        Some((name, port)) if port.bytes().all(|b| b.is_ascii_digit()) => name,
        _ => host,
    };
    name.trim_end_matches('.').to_ascii_lowercase()
}

fn media_type(content_type: &str) -> String {
    content_type.split(';').next().unwrap_or("").trim().to_ascii_lowercase()
}

fn is_form(content_type: &str) -> bool {
    media_type(content_type) == "application/x-www-form-urlencoded"
}

/// The pairs of a query or a form, decoded.
fn pairs(text: &str) -> impl Iterator<Item = (String, String)> {
    form_urlencoded::parse(text.as_bytes()).into_owned()
}

fn is_json(content_type: &str) -> bool {
    let kind = media_type(content_type);
    kind == "application/json" || (kind.starts_with("application/") && kind.ends_with("+json"))
}

/// A part of a path, percent-decoded. Bytes that are no text become U+FFFD.
pub(crate) fn decode(part: &str) -> String {
    percent_decode_str(part).decode_utf8_lossy().into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn percent_signs_are_decoded_and_broken_ones_stay() {
        let query: Vec<_> = pairs("a%20b+c%C3%A9=%zz%4&&%=%ff").collect();
        let read = |name: &str, value: &str| (name.to_owned(), value.to_owned());
        assert_eq!(query, [read("a b cé", "%zz%4"), read("%", "\u{fffd}")]);
        assert_eq!(decode("a+b%20c"), "a+b c");
        assert_eq!(decode("%"), "%");
        assert_eq!(decode("%zz%4"), "%zz%4");
        assert_eq!(decode("%ff"), "\u{fffd}");
    }

    #[test]
    fn json_is_json_with_or_without_a_charset() {
        assert!(
            is_json("application/json")
                && is_json("Application/JSON; charset=utf-8")
                && is_json("application/problem+json")
        );
        assert!(!is_json("text/plain") && !is_json("application/x-www-form-urlencoded"));
    }
}
