//! The site's own certificate authority: it signs certificates for the site's local names, which no public authority would,
//! and its name constraints allow no other names.

use crate::moment::Moment;
use rcgen::{
    BasicConstraints, CertificateParams, CidrSubnet, DnType, Error, ExtendedKeyUsagePurpose, GeneralSubtree, IsCa,
    Issuer, KeyPair, KeyUsagePurpose, NameConstraints,
};
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

const DAY: i64 = 86_400;
pub(crate) const AUTHORITY_DAYS: i64 = 3_650;
/// Browsers accept no more than 398 days.
pub(crate) const SERVER_DAYS: i64 = 397;
/// A kiosk's clock may be slow.
const EARLY_DAYS: i64 = 1;

/// A certificate and its key.
pub(crate) struct IssuedCertificate {
    /// PEM.
    pub certificate: String,
    /// PKCS#8.
    pub key: Vec<u8>,
    /// Unix seconds, a midnight.
    pub ends_at: Moment,
}

/// An authority for these host names and addresses, and for nothing else.
pub(crate) fn make(subject: &str, names: &[String], now: Moment) -> Result<IssuedCertificate, Error> {
    let mut params = with_subject(subject);
    params.is_ca = IsCa::Ca(BasicConstraints::Constrained(0));
    params.key_usages = vec![KeyUsagePurpose::KeyCertSign, KeyUsagePurpose::CrlSign];
    params.name_constraints = Some(constraints(names));
    let ends_at = set_life(&mut params, now, AUTHORITY_DAYS);
    let key = KeyPair::generate()?;
    Ok(IssuedCertificate { certificate: params.self_signed(&key)?.pem(), key: key.serialize_der(), ends_at })
}

/// A server's certificate with a key of its own, signed by the authority of that subject and key.
pub(crate) fn sign(
    subject: &str,
    authority_key: &[u8],
    names: &[String],
    now: Moment,
) -> Result<IssuedCertificate, Error> {
    let issuer = Issuer::new(with_subject(subject), KeyPair::try_from(authority_key)?);
    let mut params = CertificateParams::new(names)?;
    params.distinguished_name.push(DnType::CommonName, names.first().map_or("", String::as_str));
    params.key_usages = vec![KeyUsagePurpose::DigitalSignature];
    params.extended_key_usages = vec![ExtendedKeyUsagePurpose::ServerAuth];
    params.use_authority_key_identifier_extension = true;
    let ends_at = set_life(&mut params, now, SERVER_DAYS);
    let key = KeyPair::generate()?;
    Ok(IssuedCertificate { certificate: params.signed_by(&key, &issuer)?.pem(), key: key.serialize_der(), ends_at })
}

fn with_subject(subject: &str) -> CertificateParams {
    let mut params = CertificateParams::default();
    params.distinguished_name.push(DnType::CommonName, subject);
    params
}

/// Constraints to these names and addresses. Without an address all addresses are excluded, because a constraint on
/// names alone would allow any address.
fn constraints(names: &[String]) -> NameConstraints {
    let subtree = |name: &String| match name.parse::<IpAddr>() {
        Ok(address) => {
            GeneralSubtree::IpAddress(CidrSubnet::from_addr_prefix(address, if address.is_ipv4() { 32 } else { 128 }))
        }
        Err(_) => GeneralSubtree::DnsName(name.clone()),
    };
    let none = |v4: bool| !names.iter().filter_map(|name| name.parse::<IpAddr>().ok()).any(|a| a.is_ipv4() == v4);
    let any_v4 = none(true).then(|| CidrSubnet::from_addr_prefix(Ipv4Addr::UNSPECIFIED.into(), 0));
    let any_v6 = none(false).then(|| CidrSubnet::from_addr_prefix(Ipv6Addr::UNSPECIFIED.into(), 0));
    NameConstraints {
        permitted_subtrees: names.iter().map(subtree).collect(),
        excluded_subtrees: any_v4.into_iter().chain(any_v6).map(GeneralSubtree::IpAddress).collect(),
    }
}

/// Sets the validity to whole days from yesterday on, and returns its end.
fn set_life(params: &mut CertificateParams, now: Moment, days: i64) -> Moment {
    let today = now.0.div_euclid(DAY);
    let midnight = |day: i64| {
        let date = jiff::Timestamp::from_second(day * DAY).unwrap_or_default().to_zoned(jiff::tz::TimeZone::UTC).date();
        rcgen::date_time_ymd(i32::from(date.year()), date.month() as u8, date.day() as u8)
    };
    (params.not_before, params.not_after) = (midnight(today - EARLY_DAYS), midnight(today - EARLY_DAYS + days));
    Moment((today - EARLY_DAYS + days) * DAY)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::path::Path;
    use std::process::Command;

    const NOW: Moment = Moment(1_800_000_000);

    fn names(names: &[&str]) -> Vec<String> {
        names.iter().map(|name| (*name).to_owned()).collect()
    }

    /// Verifies a certificate with OpenSSL.
    fn verdict(authority: &IssuedCertificate, server: &IssuedCertificate, at: Moment) -> (bool, String) {
        let dir = tempfile::tempdir().unwrap();
        let put = |name: &str, text: &str| std::fs::write(dir.path().join(name), text).unwrap();
        put("authority", &authority.certificate);
        put("server", &server.certificate);
        let path = |name: &str| Path::join(dir.path(), name).display().to_string();
        let args = [
            "verify",
            "-x509_strict",
            "-purpose",
            "sslserver",
            "-attime",
            &at.to_string(),
            "-CAfile",
            &path("authority"),
            &path("server"),
        ];
        let ran = Command::new("openssl").args(args).output().unwrap();
        (
            ran.status.success(),
            String::from_utf8_lossy(&ran.stderr).into_owned() + &String::from_utf8_lossy(&ran.stdout),
        )
    }

    #[test]
    fn openssl_accepts_certificates_of_the_authority_for_its_own_names() {
        let ours = names(&["tunnel.example.org", "kiosk.tunnel.example.org", "10.0.0.5", "fd00::5"]);
        let authority = make("Windwerk", &ours, NOW).unwrap();
        let server = sign("Windwerk", &authority.key, &ours, NOW).unwrap();
        for at in [NOW - 3_600, NOW, server.ends_at - 1] {
            let (fine, said) = verdict(&authority, &server, at);
            assert!(fine, "{said}");
        }
        assert!(!verdict(&authority, &server, server.ends_at + 86_400).0);
        assert!(server.ends_at - NOW <= SERVER_DAYS * DAY && authority.ends_at - NOW > 3_600 * DAY);
    }

    #[test]
    fn openssl_rejects_certificates_of_the_authority_for_other_names_and_addresses() {
        let authority = make("Windwerk", &names(&["tunnel.example.org"]), NOW).unwrap();
        for foreign in ["bank.example.com", "example.org", "10.0.0.5", "fd00::5"] {
            let server = sign("Windwerk", &authority.key, &names(&[foreign]), NOW).unwrap();
            let (fine, said) = verdict(&authority, &server, NOW);
            assert!(!fine && said.contains("subtree"), "{foreign}: {said}");
        }
    }
}
