//! Another machine that has this site and another key, or somebody who pretends to be one.

use super::{Replica, Replicator, lock};
use crate::site::Site;
use std::sync::atomic::Ordering;

/// Notes an epoch that may be that of another machine with this site, which was restored from off site and so has another key. It
/// may as well be anybody's, so writes go on. Nothing is copied until its file is gone: a person has to look.
pub(crate) fn note_stranger(site: &Site, epoch: Option<u64>) {
    site.state::<Replica>().strange_epoch.store(epoch.unwrap_or_default(), Ordering::Release);
}

impl Replicator<'_> {
    /// See [`note_stranger`].
    pub(super) fn stop_for_stranger(&mut self, epoch: u64) {
        let cause = format!(
            "epoch {epoch} of this site is in {} and is not signed by a key that this machine knows: another machine that was \
             restored from there may have taken this one's place; stop one of the two, or remove the file if there is no other",
            self.off_site.target()
        );
        lock(&self.replica.report).other_machine = Some(cause.clone());
        self.give_up_chain(cause);
    }
}
