//! The memory of large bodies. A body is read before its sender is known, so strangers may send large ones, and slowly. Where
//! all memory is taken, a body that still arrives is dropped: of the network whose bodies take the most, the one that began
//! first. A sender that is slow on purpose therefore keeps no other sender out.

use crate::http::call::Network;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use tokio::sync::Notify;

/// A body needs room beyond this size; the limit on connections bounds the smaller ones.
pub(super) const SMALL_BYTES: usize = crate::http::row::BODY_BYTES_MAX;
/// The room of all large bodies together, until each is answered.
const BYTES_MAX: usize = 32 * 1024 * 1024;

/// The large bodies of a server.
#[derive(Default)]
pub(super) struct BodyRoom(Mutex<Bodies>);

#[derive(Default)]
struct Bodies {
    begun: u64,
    /// The one that began first is first.
    all: Vec<LargeBody>,
}

struct LargeBody {
    number: u64,
    network: Network,
    bytes: usize,
    /// Tells the reader of a body that still arrives to drop it; `None` once all of it is there.
    on_drop: Option<Arc<Notify>>,
}

/// The share of the room that one body takes, given back on drop.
pub(super) struct BodyShare {
    room: Arc<BodyRoom>,
    number: u64,
    /// Notified when the body is to be dropped.
    pub dropped: Arc<Notify>,
}

impl BodyRoom {
    /// A share without bytes, for a body from this network.
    pub(super) fn enter(self: &Arc<BodyRoom>, network: Network) -> BodyShare {
        let dropped = Arc::new(Notify::new());
        let mut bodies = self.lock();
        bodies.begun += 1;
        let number = bodies.begun;
        bodies.all.push(LargeBody { number, network, bytes: 0, on_drop: Some(dropped.clone()) });
        BodyShare { room: self.clone(), number, dropped }
    }

    fn lock(&self) -> MutexGuard<'_, Bodies> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl BodyShare {
    /// Grows to `bytes` in all; `false`: there is no room, or the body was dropped meanwhile.
    pub(super) fn grow_to(&self, bytes: usize) -> bool {
        self.room.lock().grow(self.number, bytes)
    }

    /// All of the body is there, so it is not dropped any more.
    pub(super) fn keep(&self) {
        if let Some(body) = self.room.lock().find(self.number) {
            body.on_drop = None;
        }
    }
}

impl Drop for BodyShare {
    fn drop(&mut self) {
        self.room.lock().all.retain(|body| body.number != self.number);
    }
}

impl Bodies {
    fn find(&mut self, number: u64) -> Option<&mut LargeBody> {
        self.all.iter_mut().find(|body| body.number == number)
    }

    fn grow(&mut self, number: u64, bytes: usize) -> bool {
        loop {
            let others: usize = self.all.iter().filter(|body| body.number != number).map(|body| body.bytes).sum();
            let Some(own) = self.find(number) else { return false };
            if others + bytes <= BYTES_MAX {
                own.bytes = bytes;
                return true;
            }
            if !self.drop_one() {
                return false;
            }
        }
    }

    /// `false`: every body has arrived, or holds nothing.
    fn drop_one(&mut self) -> bool {
        let of = |network: Network| -> usize {
            self.all.iter().filter(|body| body.network == network).map(|body| body.bytes).sum()
        };
        let arriving = self.all.iter().enumerate().filter(|(_, body)| body.on_drop.is_some() && body.bytes > 0);
        let chosen = arriving.max_by_key(|(place, body)| (of(body.network), std::cmp::Reverse(*place)));
        let Some((place, _)) = chosen else { return false };
        self.all.remove(place).on_drop.inspect(|reader| reader.notify_one());
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn network(last: u8) -> Network {
        std::net::IpAddr::from([10, 0, 0, last]).into()
    }

    async fn is_dropped(share: &BodyShare) -> bool {
        tokio::time::timeout(std::time::Duration::from_millis(1), share.dropped.notified()).await.is_ok()
    }

    #[tokio::test(start_paused = true)]
    async fn where_all_room_is_taken_the_oldest_body_of_the_largest_network_is_dropped() {
        let room = Arc::<BodyRoom>::default();
        let enter = |from, bytes| {
            let share = room.enter(network(from));
            share.grow_to(bytes).then_some(share)
        };
        let honest = enter(2, BYTES_MAX / 8).unwrap();
        let slow: Vec<BodyShare> = (0..3).map(|_| enter(1, BYTES_MAX / 4).unwrap()).collect();
        let newcomer = enter(3, BYTES_MAX / 4).unwrap();
        assert!(is_dropped(&slow[0]).await && !slow[0].grow_to(1));
        let of_the_same = enter(1, BYTES_MAX / 4).unwrap();
        assert!(is_dropped(&slow[1]).await);
        for kept in [&honest, &slow[2], &newcomer, &of_the_same] {
            assert!(!is_dropped(kept).await);
        }
        drop((honest, slow, newcomer, of_the_same));
        assert!(room.lock().all.is_empty());
    }

    #[tokio::test(start_paused = true)]
    async fn a_whole_body_is_not_dropped_and_no_more_than_the_limit_is_held() {
        let room = Arc::<BodyRoom>::default();
        let whole = room.enter(network(1));
        assert!(!whole.grow_to(BYTES_MAX + 1));
        let whole = room.enter(network(1));
        assert!(whole.grow_to(BYTES_MAX));
        whole.keep();
        let other = room.enter(network(2));
        assert!(!other.grow_to(1) && !is_dropped(&whole).await);
        drop(whole);
        assert!(other.grow_to(1));
    }
}
