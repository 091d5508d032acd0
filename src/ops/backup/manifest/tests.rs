//! Tests of manifests and their signatures.

use super::*;
use crate::moment::Moment;

fn manifest() -> Manifest {
    Manifest {
        version: "0.1.0".to_owned(),
        site_id: "ab".to_owned(),
        schema: 7,
        files: BTreeMap::from([(SiteFile::Key, FileDigest { bytes: 65, sha256: "5a".repeat(32) })]),
        rows: Rows::from([("members".to_owned(), 3)]),
        ..Manifest::blank(Moment(1_800_000_000))
    }
}

#[test]
fn no_bit_of_a_manifest_changes_unnoticed_and_the_beginning_of_one_is_an_unfinished_backup() {
    let manifest = Manifest { zone: Some("Europe/Zurich".to_owned()), ..manifest() };
    let bytes = manifest.text().into_bytes();
    assert_eq!(Manifest::parse(&bytes, None).unwrap(), manifest);
    for bit in 0..bytes.len() * 8 {
        let mut flipped = bytes.clone();
        flipped[bit / 8] ^= 1 << (bit % 8);
        let read = Manifest::parse(&flipped, None);
        assert!(read.is_err(), "bit {bit}: {}", String::from_utf8_lossy(&flipped));
        assert!(!is_cut(&flipped), "bit {bit}: a damaged backup would be removed");
    }
    assert!((0..bytes.len() - 2).all(|length| is_cut(&bytes[..length])));
}

#[test]
fn a_manifest_names_files_of_a_site_alone_and_no_number_that_cannot_be() {
    let text = serde_json::to_string(&manifest()).unwrap();
    for name in ["../../x", "/etc/x", "other", "", "site.key.age"] {
        let forged = text.replacen("site.key", name, 1);
        assert!(Manifest::parse(forged.as_bytes(), None).is_err(), "{name}");
    }
    for file in [SiteFile::Key, SiteFile::Database] {
        let names = [serde_json::to_string(&file), serde_json::to_string(&file.sealed())].map(Result::unwrap);
        assert_eq!(names, [Object::Site(file), Object::Sealed(file.sealed())].map(|name| format!("\"{name}\"")));
    }
    let origin = ChainOrigin {
        lineage: "ab".to_owned(),
        moment: Moment(1_800_000_000),
        salt: String::new(),
        frame: 0,
        page_bytes: 4096,
        pages: 2,
        checksum: String::new(),
        tick_bytes_max: None,
    };
    let digest = |bytes| FileDigest { bytes, sha256: String::new() };
    let with = |bytes, change: fn(&mut Manifest)| {
        let mut forged = Manifest { chain: Some(origin.clone()), ..manifest() };
        forged.files.insert(SiteFile::Database, digest(bytes));
        change(&mut forged);
        Manifest::parse(forged.text().as_bytes(), None).map(drop)
    };
    assert_eq!(with(8192, |_| ()), Ok(()));
    assert!(with(4096, |_| ()).is_err() && with(1 << 60, |_| ()).is_err());
    let forgeries: [fn(&mut Manifest); 6] = [
        |forged| forged.made_at = Moment::FIRST,
        |forged| forged.made_at = Moment(MOMENT_MAX + 1),
        |forged| forged.site_id = "../ab".to_owned(),
        |forged| _ = forged.rows.insert("members".to_owned(), i64::MAX),
        |forged| forged.chain.as_mut().unwrap().moment = Moment::LAST,
        |forged| forged.audit = Some(AuditHead { seq: -1, hash: String::new() }),
    ];
    for (nth, forgery) in forgeries.into_iter().enumerate() {
        assert!(with(8192, forgery).is_err(), "forgery {nth}");
    }
}

#[test]
fn a_manifest_of_an_earlier_version_is_read_without_a_checksum() {
    let old = serde_json::to_vec_pretty(&manifest()).unwrap();
    assert_eq!(Manifest::parse(&old, None).unwrap(), manifest());
    let odd = String::from_utf8(old).unwrap().replacen("\"schema\"", "\"schemb\": 1, \"schema\"", 1);
    assert!(Manifest::parse(odd.as_bytes(), None).is_err());
}

fn read(text: &str, name: &str) -> Manifest {
    Manifest::parse_named(text.as_bytes(), "place", Some(name)).unwrap()
}

/// The text with another checksum, as somebody without the key can write it.
fn summed(text: &str) -> String {
    let manifest: Manifest = serde_json::from_str(text).unwrap();
    Manifest { checksum: String::new(), ..manifest }.text()
}

#[test]
fn a_signed_manifest_is_of_one_key_one_name_and_one_text() {
    let (ours, theirs) = (Signer::new(), Signer::new());
    let signed = Manifest::blank(Moment(1_800_000_000)).signed("day", &ours.after(&[theirs.public()]), None);
    let key = signed.signature.as_ref().unwrap().key;
    let text = signed.text();
    assert_eq!(read(&text, "day"), signed);
    assert_eq!((signed.signed_by(), signed.keys()), (Some(&key), vec![key, theirs.public()]));
    assert_eq!(read(&text, "other").signed_by(), None, "an older backup under a new name");
    for (from, to) in [
        ("1800000000", "1800000001"),
        ("\"schema\": 1", "\"schema\": 2"),
        (&key.to_string(), &theirs.public().to_string()),
        (&theirs.public().to_string(), &Signer::new().public().to_string()),
    ] {
        let forged = summed(&text.replacen(from, to, 1));
        assert_ne!(forged, text);
        let forged = read(&forged, "day");
        assert!(forged.signed_by().is_none() && forged.keys().is_empty() && forged.erased().is_none(), "{from}");
    }
    assert_eq!(read(&Manifest::blank(Moment(7)).text(), "day").signed_by(), None);
}
