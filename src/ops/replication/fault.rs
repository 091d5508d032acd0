//! Injected faults of the off-site copy, by which tests show that they notice a loss. In debug builds alone.

use super::Replica;
use crate::ops::outside::FOLLOWS_LINKS;
use crate::ops::signature::BELIEVES_ALL;
use crate::site::Site;
use std::sync::atomic::Ordering;

/// A fault of the off-site copy.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Fault {
    /// Checkpoints do not wait for confirmation.
    Gate,
    /// A tick counts as confirmed without being sent.
    Confirmation,
    /// Files outside are opened through links.
    Links,
    /// Every signature counts as right.
    Signatures,
}

impl Fault {
    /// Reads the name on the command line.
    pub(crate) fn parse(name: &str) -> Result<Fault, String> {
        match name {
            "gate" => Ok(Fault::Gate),
            "confirmation" => Ok(Fault::Confirmation),
            "links" => Ok(Fault::Links),
            "signatures" => Ok(Fault::Signatures),
            _ => Err("must be gate, confirmation, links or signatures".to_owned()),
        }
    }

    /// Injects the fault into the server of this site.
    pub(crate) fn begin(self, site: &Site) {
        match self {
            Fault::Gate => site.store.writer().capture.disable_gate(),
            Fault::Confirmation => site.state::<Replica>().confirms_unsent.store(true, Ordering::Release),
            Fault::Links => FOLLOWS_LINKS.store(true, Ordering::Relaxed),
            Fault::Signatures => BELIEVES_ALL.store(true, Ordering::Relaxed),
        }
    }
}
