//! Tests of the keys.

use super::*;

#[test]
fn sealed_values_open_with_their_key_and_purpose_only() {
    let keys = Keys::from_bytes([7; 32]);
    let place = columns::PARTNER_SECRET.at([3.into(), 1.into()]);
    let sealed = keys.seal(&place, b"secret");
    assert_eq!(keys.unseal(&place, &sealed).unwrap(), b"secret");
    for other in [
        columns::PARTNER_SECRET.at([4.into(), 1.into()]),
        columns::PARTNER_SECRET.at([3.into(), 2.into()]),
        columns::SECOND_FACTOR.at([3.into()]),
        columns::PENDING_FACTOR.at([3.into()]),
    ] {
        assert!(keys.unseal(&other, &sealed).is_none(), "{other:?}");
    }
    let pending = keys.seal(&columns::PENDING_FACTOR.at([3.into()]), b"secret");
    assert!(keys.unseal(&columns::SECOND_FACTOR.at([3.into()]), &pending).is_none(), "another column of the same row");
    assert!(Keys::from_bytes([8; 32]).unseal(&place, &sealed).is_none());
    for at in 0..sealed.len() {
        let mut changed = sealed.clone();
        changed[at] ^= 1;
        assert!(keys.unseal(&place, &changed).is_none(), "byte {at}");
    }
    assert!(keys.unseal(&place, b"short").is_none());
}

#[test]
fn a_key_file_reads_as_written_with_and_without_a_chain_key() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("site.key");
    let end = Head { seq: 70_000, hash: [9; 32] };
    let old = || Keys::from_bytes([7; 32]);
    for keys in [old(), old().with_chain_key(None), old().with_chain_key(Some(end))] {
        keys.write(&path).unwrap();
        let read = Keys::open(&path).unwrap();
        assert!(read.site == keys.site && read.chain == keys.chain);
        let next = dir.path().join("next");
        let anew = keys.create_next(&next).unwrap();
        assert!(anew.site != keys.site && anew.chain == keys.chain);
        std::fs::remove_file(next).unwrap();
        std::fs::remove_file(&path).unwrap();
    }
    for line in ["audit-log", "audit-log 77", "audit 77", "audit-log 77 x 99"] {
        let line = line.replace("77", &"77".repeat(32)).replace("99", &"99".repeat(32));
        let line = if line.len() == 74 { line[..60].to_owned() } else { line };
        old().write(&path).unwrap();
        std::fs::write(&path, format!("{}\n{line}\n", "07".repeat(32))).unwrap();
        assert!(Keys::open(&path).err().unwrap().contains("second line"), "{line}");
        std::fs::remove_file(&path).unwrap();
    }
}

#[test]
fn a_partner_secret_is_decrypted_from_the_cache_too_and_a_changed_one_never() {
    let keys = Keys::from_bytes([7; 32]);
    let place = |n: usize| columns::PARTNER_SECRET.at([(n as i64).into(), 1.into()]);
    for n in 0..=OPENED_MAX {
        let secret = format!("secret {n}");
        let (place, other) = (place(n), place(n + 1));
        let mut sealed = keys.seal(&place, secret.as_bytes());
        assert_eq!(keys.unseal_partner_secret(&place, &sealed).unwrap(), secret.as_bytes());
        assert_eq!(keys.unseal_partner_secret(&place, &sealed).unwrap(), secret.as_bytes());
        assert!(keys.unseal_partner_secret(&other, &sealed).is_none(), "another row, also from the cache");
        sealed[KEY_ID_BYTES] ^= 1;
        assert!(keys.unseal_partner_secret(&place, &sealed).is_none());
    }
    assert!(keys.opened.lock().unwrap().len() <= OPENED_MAX);
}

#[test]
fn keyed_hashes_differ_by_parts_and_purpose() {
    let keys = Keys::from_bytes([7; 32]);
    assert_ne!(keys.hash(Purpose::Pin, &[b"ab", b"c"]), keys.hash(Purpose::Pin, &[b"a", b"bc"]));
    assert_ne!(keys.hash(Purpose::Pin, &[b"a"]), keys.hash(Purpose::Throttle, &[b"a"]));
}

#[test]
fn partner_digests_match_the_published_vectors() {
    for (body, digest) in [
        ("", "c9d012234073d5d59abfecded311a546c5d2801482505a44e7842ab13ea92fae"),
        ("{}", "67925189f2b49ab6a748937776bb1b6610bc92b0c419a2c090f10a73d8eb7676"),
        (r#"{"email":"a@example.com"}"#, "0d27e235404fc5872e697d5f943180b80f8b0b519b89c149f0f5ad572037bf5d"),
        (r#"{"limit":10,"offset":0}"#, "309042b1fdb688e9d4935db0c14de10cb4b051b91ef9dba5626460cc076d5f9d"),
    ] {
        assert_eq!(hex(&hmac_sha256(b"partner-secret", &[body.as_bytes()])), digest, "{body}");
    }
}

#[test]
fn hex_goes_both_ways_in_either_case() {
    assert_eq!(unhex("00FFa0").unwrap(), [0, 255, 160]);
    assert_eq!(hex(&[0, 255, 160]), "00ffa0");
    assert!(unhex("0").is_none() && unhex("zz").is_none());
}
