//! The memory of large bodies. A body is read before its sender is known, so strangers may send large ones, and slowly. Where
//! all memory is taken, a body that still arrives is given up: of the network whose bodies take the most, the one that began
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
    all: Vec<Held>,
}

struct Held {
    number: u64,
    network: Network,
    bytes: usize,
    /// The order to give up a body that still arrives; `None` once it is whole.
    give_up: Option<Arc<Notify>>,
}

/// The part of the room that one body holds, given back on drop.
pub(super) struct Part {
    room: Arc<BodyRoom>,
    number: u64,
    /// Notified when the body is to be given up.
    pub given_up: Arc<Notify>,
}

impl BodyRoom {
    /// A part without bytes, for a body from this network.
    pub(super) fn enter(self: &Arc<BodyRoom>, network: Network) -> Part {
        let given_up = Arc::new(Notify::new());
        let mut bodies = self.lock();
        bodies.begun += 1;
        let number = bodies.begun;
        bodies.all.push(Held { number, network, bytes: 0, give_up: Some(given_up.clone()) });
        Part { room: self.clone(), number, given_up }
    }

    fn lock(&self) -> MutexGuard<'_, Bodies> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Part {
    /// Grows to so many bytes in all; `false`: there is no room, or the body was given up meanwhile.
    pub(super) fn grow_to(&self, bytes: usize) -> bool {
        self.room.lock().grow(self.number, bytes)
    }

    /// The body is whole, and is not given up any more.
    pub(super) fn is_whole(&self) {
        if let Some(held) = self.room.lock().find(self.number) {
            held.give_up = None;
        }
    }
}

impl Drop for Part {
    fn drop(&mut self) {
        self.room.lock().all.retain(|held| held.number != self.number);
    }
}

impl Bodies {
    fn find(&mut self, number: u64) -> Option<&mut Held> {
        self.all.iter_mut().find(|held| held.number == number)
    }

    fn grow(&mut self, number: u64, bytes: usize) -> bool {
        loop {
            let others: usize = self.all.iter().filter(|held| held.number != number).map(|held| held.bytes).sum();
            let Some(own) = self.find(number) else { return false };
            if others + bytes <= BYTES_MAX {
                own.bytes = bytes;
                return true;
            }
            if !self.give_one_up() {
                return false;
            }
        }
    }

    /// `false`: every body is whole, or holds nothing.
    fn give_one_up(&mut self) -> bool {
        let of = |network: Network| -> usize {
            self.all.iter().filter(|held| held.network == network).map(|held| held.bytes).sum()
        };
        let arriving = self.all.iter().enumerate().filter(|(_, held)| held.give_up.is_some() && held.bytes > 0);
        let chosen = arriving.max_by_key(|(place, held)| (of(held.network), std::cmp::Reverse(*place)));
        let Some((place, _)) = chosen else { return false };
        self.all.remove(place).give_up.inspect(|order| order.notify_one());
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn network(last: u8) -> Network {
        std::net::IpAddr::from([10, 0, 0, last]).into()
    }

    async fn is_given_up(part: &Part) -> bool {
        tokio::time::timeout(std::time::Duration::from_millis(1), part.given_up.notified()).await.is_ok()
    }

    #[tokio::test(start_paused = true)]
    async fn where_all_room_is_taken_the_oldest_body_of_the_largest_network_is_given_up() {
        let room = Arc::<BodyRoom>::default();
        let enter = |from, bytes| {
            let part = room.enter(network(from));
            part.grow_to(bytes).then_some(part)
        };
        let honest = enter(2, BYTES_MAX / 8).unwrap();
        let slow: Vec<Part> = (0..3).map(|_| enter(1, BYTES_MAX / 4).unwrap()).collect();
        let newcomer = enter(3, BYTES_MAX / 4).unwrap();
        assert!(is_given_up(&slow[0]).await && !slow[0].grow_to(1));
        let of_the_same = enter(1, BYTES_MAX / 4).unwrap();
        assert!(is_given_up(&slow[1]).await);
        for kept in [&honest, &slow[2], &newcomer, &of_the_same] {
            assert!(!is_given_up(kept).await);
        }
        drop((honest, slow, newcomer, of_the_same));
        assert!(room.lock().all.is_empty());
    }

    #[tokio::test(start_paused = true)]
    async fn a_whole_body_is_not_given_up_and_no_more_than_the_limit_is_held() {
        let room = Arc::<BodyRoom>::default();
        let whole = room.enter(network(1));
        assert!(!whole.grow_to(BYTES_MAX + 1));
        let whole = room.enter(network(1));
        assert!(whole.grow_to(BYTES_MAX));
        whole.is_whole();
        let other = room.enter(network(2));
        assert!(!other.grow_to(1) && !is_given_up(&whole).await);
        drop(whole);
        assert!(other.grow_to(1));
    }
}
