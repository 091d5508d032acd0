//! Who hears of events: a member or a clerk by a session, a client that cannot send headers by a ticket of a session, and a partner
//! by its signature.

use super::session::{self, Member, new_token, token_hash};
use super::{limits, partner};
use crate::domain::event::Audience;
use crate::http::call::Call;
use crate::http::failure::Failure;
use crate::http::reply::{Holder, TicketHash};
use crate::i18n::language::Text;
use crate::moment::Moment;
use crate::site::Site;
use crate::store::tables::sessions::{self, TokenHash};
use crate::store::tables::{kiosks, partners};
use http::HeaderName;
use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

/// How long a ticket waits for its only use.
const TICKET_SECONDS: i64 = 60;
/// Unused tickets of one session, and of all.
const TICKETS_PER_SESSION: usize = 32;
const TICKETS_MAX: usize = 10_000;
const LAST_EVENT_ID: HeaderName = HeaderName::from_static("last-event-id");
/// A number that no event reaches.
const NEVER_GIVEN: i64 = i64::MAX / 2;

/// A caller that may hear of events.
#[derive(Debug)]
pub struct Listening {
    pub(crate) audience: Audience,
    pub(crate) holder: Holder,
    /// The ticket, if it listens by one.
    pub(crate) ticket: Option<TicketHash>,
}

/// The tickets that wait for their use, in memory alone: a restart forgets them, and the client takes a new one.
#[derive(Default)]
pub(crate) struct Tickets(Mutex<HashMap<TokenHash, Ticket>>);

struct Ticket {
    session: TokenHash,
    ends_at: Moment,
    /// Whether it was used. It is kept until its end, for a stream that is refused.
    is_used: bool,
    /// Of a request with an `Idempotency-Key`.
    asked: Option<Asked>,
}

/// A request that may come again: it gets the same ticket while that is unused.
struct Asked {
    replay_key: [u8; 32],
    body_digest: [u8; 32],
    text: String,
}

impl Tickets {
    /// Issues a ticket of a session, and says when it ends. 429 while as many wait as may.
    pub(crate) fn issue(&self, call: &Call, member: &Member, now: Moment) -> Result<(String, Moment), Failure> {
        let mut waiting = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        waiting.retain(|_, ticket| now < ticket.ends_at);
        let repeat = call.idempotency.get();
        let known = waiting.values().filter_map(|ticket| Some((ticket, ticket.asked.as_ref()?)));
        let known = known.filter(|(_, asked)| repeat.is_some_and(|repeat| repeat.replay_key == asked.replay_key));
        for (ticket, asked) in known {
            if repeat.is_some_and(|repeat| repeat.body_digest != asked.body_digest) {
                return Err(Failure::idempotency_key_reused()
                    .with_problem("Idempotency-Key", Text::new("field.idempotency_key_reused")));
            }
            if !ticket.is_used && ticket.session == *member.session() {
                return Ok((asked.text.clone(), ticket.ends_at));
            }
        }
        let own = waiting.values().filter(|ticket| !ticket.is_used && ticket.session == *member.session()).count();
        if own >= TICKETS_PER_SESSION || waiting.len() >= TICKETS_MAX {
            return Err(Failure::too_fast().retry_after(Duration::from_secs(TICKET_SECONDS as u64)));
        }
        let (text, hash) = new_token();
        let (session, ends_at) = (*member.session(), now + TICKET_SECONDS);
        let asked = repeat.map(|repeat| Asked {
            replay_key: repeat.replay_key,
            body_digest: repeat.body_digest,
            text: text.clone(),
        });
        waiting.insert(hash, Ticket { session, ends_at, is_used: false, asked });
        Ok((text, ends_at))
    }

    /// The session of a ticket, which is used up.
    fn take(&self, hash: &TicketHash, now: Moment) -> Option<TokenHash> {
        let mut waiting = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let ticket = waiting.get_mut(hash).filter(|ticket| !ticket.is_used && now < ticket.ends_at)?;
        ticket.is_used = true;
        Some(ticket.session)
    }

    /// Lets a ticket be used again whose request was refused: it opened nothing.
    pub(crate) fn give_back(&self, hash: &TicketHash) {
        let mut waiting = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        waiting.get_mut(hash).map(|ticket| ticket.is_used = false).unwrap_or_default();
    }
}

impl From<&Member> for Listening {
    fn from(member: &Member) -> Listening {
        let (member_id, staff) = (member.id(), member.role().is_staff());
        let audience = if staff { Audience::Staff } else { Audience::Member(member_id) };
        Listening { audience, holder: Holder::Session { member_id, session: *member.session(), staff }, ticket: None }
    }
}

/// The number of the last event that a client has which was cut and comes back, as browsers send it by themselves. One that this site
/// never gave is answered as one from a later state of the site, so that nothing is missed unseen.
pub(crate) fn resumed(call: &Call) -> Option<i64> {
    let id = call.header(LAST_EVENT_ID).filter(|id| !id.is_empty())?;
    Some(id.parse().ok().filter(|seq| (0..NEVER_GIVEN).contains(seq)).unwrap_or(NEVER_GIVEN))
}

/// Admits whoever may hear of events. A partner signs the whole request, and is known by what it signs beside the body.
pub(super) fn admit(site: &Site, call: &Call) -> Result<Listening, Failure> {
    if let Some(ticket) = call.query_field("ticket") {
        let hash = token_hash(&ticket);
        let session = site.state::<Tickets>().take(&hash, site.now()).ok_or_else(Failure::not_signed_in)?;
        let member = session::find_member(site, call, session)?.ok_or_else(Failure::not_signed_in)?;
        return Ok(Listening { ticket: Some(hash), ..Listening::from(&member) });
    }
    let signs = ["client-id", "x-timestamp", "x-nonce"].map(HeaderName::from_static);
    if signs.iter().any(|name| call.headers.contains_key(name)) {
        let partner = partner::admit(site, call)?;
        return Ok(Listening {
            audience: Audience::Partner(partner.id()),
            holder: Holder::Partner { partner_id: partner.id(), secret_id: partner.secret_id(), peer: call.peer },
            ticket: None,
        });
    }
    let member = session::member(site, call)?;
    limits::count_request(site, call)?;
    Ok(Listening::from(&member))
}

/// Those among these whose session or access has ended.
pub(crate) fn ended(site: &Site, holders: Vec<Holder>) -> Result<Vec<Holder>, Failure> {
    let now = site.now();
    site.store.read(|tx| {
        let mut ended = Vec::new();
        for holder in holders {
            let goes_on = match &holder {
                Holder::Session { session, staff, .. } => sessions::find(tx, session, now)?
                    .is_some_and(|found| !found.banned && (!staff || found.role.is_staff())),
                Holder::Partner { partner_id, secret_id, peer } => {
                    partners::is_secret_in_force(tx, *secret_id, now)?
                        && partner::may_call_from(tx, *partner_id, *peer)?
                }
                Holder::Board(id) => kiosks::is_in_force(tx, *id)?,
                Holder::Guest { kiosk_id, member_id } => {
                    kiosks::is_guest(tx, *kiosk_id, *member_id, now - kiosks::GUEST_SECONDS)?
                }
            };
            if !goes_on {
                ended.push(holder);
            }
        }
        Ok(ended)
    })
}
