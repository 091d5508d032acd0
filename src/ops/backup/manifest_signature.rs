//! The signature of a manifest: by which machine, under which name, and how many members were erased by then.

use crate::keys::{hex, unhex};
use crate::ops::signature::{Kind, PublicKey, SIGNATURE_BYTES, Signer};
use crate::store::queries::erasure::Tombstone;
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};
use std::collections::BTreeSet;

/// In a manifest. Its text is signed with zeros in place of the checksum and of the value.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) struct ManifestSignature {
    /// The name of the backup: under another name it is no backup.
    pub name: String,
    pub key: PublicKey,
    /// The site's earlier keys.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub earlier: Vec<PublicKey>,
    /// The members who had been erased; in off-site copies alone.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub erased: Option<ErasedMark>,
    /// Hex.
    value: String,
    #[serde(skip)]
    is_valid: bool,
}

/// The number of members who had been erased at a moment, and a digest of their numbers, by which a list of tombstones that lacks
/// one is recognised.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) struct ErasedMark {
    pub count: usize,
    /// SHA-256 of their numbers (hex).
    digest: String,
}

impl ErasedMark {
    pub(crate) fn of(all: &[Tombstone]) -> ErasedMark {
        let all: BTreeSet<[i64; 2]> = all.iter().map(|one| [one.member_id.0, one.join_date.0]).collect();
        let mut digest = Sha256::new();
        all.iter().flatten().for_each(|part| digest.update(part.to_be_bytes()));
        ErasedMark { count: all.len(), digest: hex(&digest.finalize()) }
    }

    /// Whether a later list can have all tombstones of this one.
    pub(crate) fn is_in(&self, later: &[Tombstone]) -> bool {
        let later = ErasedMark::of(later);
        later.count > self.count || later == *self
    }
}

impl ManifestSignature {
    /// A signature without its value, as it stands in the text that is signed.
    pub(super) fn begin(name: &str, signer: &Signer, erased: Option<ErasedMark>) -> ManifestSignature {
        let (name, key, earlier) = (name.to_owned(), signer.public(), signer.earlier().to_vec());
        ManifestSignature { name, key, earlier, erased, value: unsigned(), is_valid: true }
    }

    pub(super) fn sign(&mut self, text: &str, signer: &Signer) {
        self.value = hex(&signer.sign(Kind::Manifest, &[text.as_bytes()]));
    }

    /// Notes whether the signature is that of this text, which has zeros in place of its checksum, and of a backup of this name;
    /// `None`: of any.
    pub(super) fn verify(&mut self, unsummed: &str, name: Option<&str>) {
        let text = unsummed.replacen(&self.value, &unsigned(), 1);
        self.is_valid = name.is_none_or(|name| name == self.name)
            && unhex(&self.value).is_some_and(|value| self.key.verifies(Kind::Manifest, &[text.as_bytes()], &value));
    }

    pub(super) fn is_valid(&self) -> bool {
        self.is_valid
    }
}

/// Stands for the value while the text is signed.
fn unsigned() -> String {
    "0".repeat(2 * SIGNATURE_BYTES)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::ids::MemberId;
    use crate::moment::Moment;

    #[test]
    fn a_list_that_lacks_an_erased_member_or_has_another_in_the_place_shows() {
        let [one, two, three] = [(9, 100), (7, 200), (8, 300)].map(|(member_id, erased_at)| Tombstone {
            member_id: MemberId(member_id),
            join_date: Moment(1),
            erased_at: Moment(erased_at),
        });
        let mark = ErasedMark::of(&[two, one]);
        assert!(mark.is_in(&[one, two]) && mark.is_in(&[three, two, one]));
        assert!(!mark.is_in(&[one]) && !mark.is_in(&[one, three]) && !mark.is_in(&[one, one]) && !mark.is_in(&[]));
        assert!(ErasedMark::of(&[]).is_in(&[]));
    }
}
