//! What happened: one row for each event, for the streams, for webhooks, and for the partners' history, which is a filter of it.

use crate::domain::event::{Audience, Choice, Concerned};
use crate::domain::ids::{BookingId, MemberId, PartnerId};
use crate::moment::Moment;
use crate::store::joining::{AS_IT_WAS, stays};
use crate::store::personal::{Expiry, OUR_WORD, Rows, Seen, Table, not_personal};
use crate::store::{Read, Write};
use rusqlite::{Result, named_params};

/// How long an event is kept that is not part of the partners' history.
pub(crate) const KEPT_SECONDS: i64 = 30 * 86_400;
/// The events that one statement looks through: whoever hears only of few reads on in steps.
const WINDOW: i64 = 20_000;

/// What an erasure does to these tables.
pub(crate) const PERSONAL: &[Table] = &[Table::new(
    "events",
    "",
    &[not_personal("type", OUR_WORD), not_personal("data", "numbers, moments, and words of the product's own")],
    &[
        Rows::kept(
            "events",
            "member_id = :id",
            "append-only; numbers and moments, and the number leads to nobody any more",
        ),
        Rows::others(
            "events_as_signer",
            "signer_id = :id AND member_id IS NOT :id",
            "others' entries; numbers and moments",
        )
        .only(&["seq", "at", "type"]),
    ],
)
.seen(Seen::InReports)
.expires(&[Expiry::after("seq", "at", KEPT_SECONDS).only("history_seq IS NULL")])
.joins(&[stays("member_id", AS_IT_WAS), stays("signer_id", AS_IT_WAS)])];

/// Declares the types of events, with the list of them.
macro_rules! events {
    ($($(#[$doc:meta])* $variant:ident = $text:literal,)+) => {
        named! {
            /// Something that happened.
            pub enum Event { $($(#[$doc])* $variant = $text,)+ }
        }

        /// The types of all events.
        pub const TYPES: &[&str] = &[$($text),+];
    };
}

events! {
    /// A user record was created.
    UserCreated = "user.created",
    /// The address of a user record was changed.
    UserEdited = "user.edited",
    /// A user record was deleted for the partner.
    UserDeleted = "user.deleted",
    /// A booking token was issued.
    TokenIssued = "token.issued",
    /// No booking token was issued; the data has the reason.
    TokenRefused = "token.refused",
    /// A booking was sent for the first time.
    BookingRecorded = "booking.recorded",
    /// A booking was sent again with other values.
    BookingChanged = "booking.changed",
    /// The desk gave a booking another time or length.
    BookingMoved = "booking.moved",
    /// A booking was cancelled, by whomever.
    BookingCancelled = "booking.cancelled",
    /// The member did not come.
    BookingMissed = "booking.no_show",
    /// A cancellation or a no-show was undone.
    BookingRestored = "booking.restored",
    /// The member came.
    BookingCheckedIn = "booking.checked_in",
    /// A check-in was undone.
    CheckInUndone = "booking.check_in_undone",
    /// A signature is asked for, anew, or of another signer.
    EntryRequested = "entry.requested",
    /// The signer is no longer asked.
    EntryWithdrawn = "entry.withdrawn",
    /// An entry was signed.
    EntrySigned = "entry.signed",
    /// The signer refused.
    EntryDenied = "entry.denied",
    /// An admin paused a signed entry.
    EntrySuspended = "entry.suspended",
    /// The pause is over.
    EntryReinstated = "entry.reinstated",
    /// Flight time was entered, by whomever or by a booking.
    TimeCreated = "time.created",
    /// Flight time was corrected.
    TimeChanged = "time.changed",
    /// Flight time was deleted.
    TimeDeleted = "time.deleted",
    /// A currency is about to lapse.
    CurrencyDue = "currency.due",
    /// A currency has lapsed.
    CurrencyLapsed = "currency.lapsed",
    /// A currency that had lapsed is back.
    CurrencyRestored = "currency.restored",
    /// A payment counts: the membership lasts longer.
    PaymentSucceeded = "payment.succeeded",
    /// A payment counts no longer.
    PaymentRefunded = "payment.refunded",
    /// A member has a new notice.
    NoticeCreated = "notice.created",
    /// Two accounts of one person were joined; the member is the one that stays.
    MemberJoined = "member.joined",
    /// The join was undone.
    MemberUnjoined = "member.unjoined",
    /// A member was erased.
    MemberErased = "member.erased",
    /// A part of the site changed its state.
    SiteStatus = "site.status",
    /// The site was restored to an earlier moment, so that rows which the receiver has are gone here.
    SiteRestored = "site.restored",
}

/// What an event is about, and its data.
#[derive(Debug, Default, Clone, Copy)]
pub struct About<'a> {
    /// Partner, member and signer. With a partner the event is part of the partners' history.
    pub concerned: Concerned,
    /// The user record of the partner.
    pub user_id: Option<i64>,
    /// The booking.
    pub booking_id: Option<BookingId>,
    /// The changed row, as a JSON object.
    pub data: Option<&'a str>,
}

impl About<'_> {
    /// About a member.
    pub fn member(member_id: MemberId) -> About<'static> {
        let concerned = Concerned { member_id: Some(member_id), ..Concerned::default() };
        About { concerned, ..About::default() }
    }

    /// About a partner.
    pub fn partner(partner_id: PartnerId) -> About<'static> {
        let concerned = Concerned { partner_id: Some(partner_id), ..Concerned::default() };
        About { concerned, ..About::default() }
    }
}

row! {
    /// An event, as those who listen get it.
    #[derive(Debug)]
    pub(crate) struct EventRow in "e." {
        pub seq: i64,
        pub at: Moment,
        pub name: String = "e.type",
        pub partner_id: Option<PartnerId>,
        pub client_id: Option<String> = "p.client_id",
        pub user_id: Option<i64>,
        pub member_id: Option<MemberId>,
        pub signer_id: Option<MemberId>,
        pub booking_id: Option<BookingId>,
        pub data: String,
    }
}

/// The range of the events that are there.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Range {
    /// From this number on none is missing.
    pub oldest: i64,
    /// The highest number that was given; 0: none.
    pub last: i64,
}

/// Events after a number, and how far the statement looked.
#[derive(Debug)]
pub(crate) struct Step {
    pub rows: Vec<EventRow>,
    pub looked_to: i64,
    pub range: Range,
}

impl EventRow {
    /// The event as it goes out: its id, which is known everywhere, its type, its moment, and the data with all numbers.
    pub(crate) fn envelope(&self, site_id: &str) -> String {
        let EventRow { seq, at, name, data, .. } = self;
        let mut inside = String::with_capacity(data.len() + 64);
        let mut add = |key: &str, value: Option<String>| {
            if let Some(value) = value {
                inside += &format!("\"{key}\":{value},");
            }
        };
        add("client_id", self.client_id.as_ref().and_then(|id| serde_json::to_string(id).ok()));
        let numbers = [
            self.user_id,
            self.member_id.map(i64::from),
            self.signer_id.map(i64::from),
            self.booking_id.map(i64::from),
        ];
        for (key, number) in ["user_id", "member_id", "signer_id", "booking_id"].into_iter().zip(numbers) {
            add(key, number.map(|number| number.to_string()));
        }
        inside += data.trim().strip_prefix('{').and_then(|data| data.strip_suffix('}')).unwrap_or_default();
        let inside = inside.trim_end_matches(',');
        format!("{{\"id\":\"{site_id}-{seq}\",\"type\":\"{name}\",\"at\":{at},\"data\":{{{inside}}}}}")
    }

    pub(crate) fn concerned(&self) -> Concerned {
        Concerned { partner_id: self.partner_id, member_id: self.member_id, signer_id: self.signer_id }
    }
}

impl Range {
    /// Whether somebody who has read up to a number can read on without a gap.
    pub(crate) fn goes_on_after(&self, seq: i64) -> bool {
        (self.oldest - 1..=self.last).contains(&seq)
    }
}

/// Adds an event; returns its number. For [`crate::app::events`] alone, and for the notices.
pub fn insert(tx: &Write, event: Event, about: &About) -> Result<i64> {
    let Concerned { partner_id, member_id, signer_id } = about.concerned;
    let next = sql!("UPDATE site SET history_seq = history_seq + 1 RETURNING history_seq");
    let history_seq: Option<i64> = partner_id.map(|_| tx.get(next, [])).transpose()?;
    insert!(tx.insert, "INSERT INTO events" {
        at: tx.now(), type: event.name(), partner_id, user_id: about.user_id, member_id, signer_id,
        booking_id: about.booking_id, data: about.data.unwrap_or("{}"), history_seq,
    })
}

/// The events that are there.
pub(crate) fn range(tx: &Read) -> Result<Range> {
    let sql =
        sql!("SELECT s.events_from, coalesce((SELECT seq FROM sqlite_sequence WHERE name = 'events'), 0) FROM site s");
    let (oldest, last) = tx.get(sql, [])?;
    Ok(Range { oldest, last })
}

/// One event.
pub(crate) fn find(tx: &Read, seq: i64) -> Result<Option<EventRow>> {
    let sql = sql!(
        "SELECT ",
        EventRow::COLUMNS,
        " FROM events e LEFT JOIN partners p ON p.partner_id = e.partner_id WHERE e.seq = ?1"
    );
    tx.find(sql, [seq])
}

/// The next events after a number that an audience hears, oldest first, at most `limit`. A step may have none, and yet not have
/// looked to the end.
pub(crate) fn step(tx: &Read, audience: Audience, choice: &Choice, after: i64, limit: i64) -> Result<Step> {
    let range = range(tx)?;
    let (to, types) = (after.saturating_add(WINDOW), choice.text());
    let (member, partner) = match audience {
        Audience::Staff => (None, None),
        Audience::Member(id) => (Some(id), None),
        Audience::Partner(id) => (None, Some(id)),
    };
    // In the order of the key, without another index: whoever reads on begins near the end.
    let sql = sql!(
        "SELECT ",
        EventRow::COLUMNS,
        " FROM events e LEFT JOIN partners p ON p.partner_id = e.partner_id
         WHERE e.seq > :after AND e.seq <= :to
           AND (:member IS NULL OR e.member_id = :member OR e.signer_id = :member)
           AND (:partner IS NULL OR (e.partner_id = :partner AND e.type GLOB 'booking.*'))
           AND (:types IS NULL OR instr(:types, ',' || e.type || ',') > 0)
         ORDER BY e.seq LIMIT :limit"
    );
    let params = named_params! {
        ":after": after, ":to": to, ":member": member, ":partner": partner, ":types": types, ":limit": limit,
    };
    let rows: Vec<EventRow> = tx.list(sql, params)?;
    let looked_to = match rows.last() {
        Some(last) if rows.len() as i64 == limit => last.seq,
        _ => to.min(range.last.max(after)),
    };
    Ok(Step { rows, looked_to, range })
}

/// Ensures that new events get numbers above this one, and that whoever has read others under these numbers begins anew.
pub(crate) fn begin_anew_after(tx: &Write, number: i64) -> Result<()> {
    let sql = sql!("UPDATE sqlite_sequence SET seq = max(seq, ?1) WHERE name = 'events'");
    if tx.run(sql, [number])? == 0 {
        insert!(tx.run, "INSERT INTO sqlite_sequence" { name: "events", seq: number })?;
    }
    tx.run(sql!("UPDATE site SET events_from = max(events_from, ?1 + 1)"), [number])?;
    Ok(())
}
