//! The settings of the off-site target: a directory, or a bucket of an S3 service.

use super::Settings;
use super::sync::is_this_machine;
use std::fmt::{self, Display, Formatter};
use std::path::PathBuf;

const SCHEME: &str = "s3://";

/// The off-site target.
#[derive(Debug, Clone, PartialEq)]
pub enum OffSiteLocation {
    /// A directory on another disk or a share.
    Directory(PathBuf),
    /// A bucket of an S3 service.
    Bucket(Bucket),
}

/// A bucket of a service with Amazon's S3 protocol, and how it is reached.
#[derive(Debug, Clone, PartialEq)]
pub struct Bucket {
    /// Scheme, host and port, without a slash at its end.
    pub endpoint: String,
    /// The region, as the service names it; part of the signature.
    pub region: String,
    /// The bucket's name.
    pub bucket: String,
    /// The prefix of all names, without slashes at its ends.
    pub prefix: String,
    /// Whether the bucket is part of the host name, not of the path.
    pub bucket_in_host: bool,
    /// The id of the access key.
    pub key_id: String,
    /// The file with the secret, read again for each request.
    pub secret_file: PathBuf,
    /// The authority of the service's certificate in PEM, trusted instead of the public ones.
    pub authority: Option<Vec<u8>>,
}

impl Display for OffSiteLocation {
    fn fmt(&self, f: &mut Formatter) -> fmt::Result {
        match self {
            OffSiteLocation::Directory(dir) => dir.display().fmt(f),
            OffSiteLocation::Bucket(Bucket { bucket, prefix, .. }) if prefix.is_empty() => {
                write!(f, "{SCHEME}{bucket}")
            }
            OffSiteLocation::Bucket(Bucket { bucket, prefix, .. }) => write!(f, "{SCHEME}{bucket}/{prefix}"),
        }
    }
}

impl Bucket {
    /// Origin, host and path of the object `key`, or of the bucket if the key is empty.
    pub(crate) fn address(&self, key: &str) -> (String, String, String) {
        let (scheme, host) = self.endpoint.split_once("://").unwrap_or(("https", &self.endpoint));
        match self.bucket_in_host {
            true => {
                let host = format!("{}.{host}", self.bucket);
                (format!("{scheme}://{host}"), host, format!("/{key}"))
            }
            false => {
                let slash = if key.is_empty() { "" } else { "/" };
                (self.endpoint.clone(), host.to_owned(), format!("/{}{slash}{key}", self.bucket))
            }
        }
    }
}

impl Settings {
    /// Checks all settings, also where no bucket is named.
    pub(super) fn off_site(&mut self) -> Option<OffSiteLocation> {
        let named = self.text("backup.off_site", |text| Ok(text.to_owned())).unwrap_or_default();
        let region = self.text("replica.region", region).unwrap_or_default();
        let endpoint = self.text("replica.endpoint", endpoint).flatten();
        let bucket_in_host = self.truth("replica.bucket_in_host");
        let key_id = self.text("replica.key_id", key_id).unwrap_or_default();
        let secret_file = self.readable("replica.secret_file");
        let pem = |text: &str| Ok(Some(text).filter(|text| !text.is_empty()).map(PathBuf::from));
        let authority = self.text("replica.ca_file", pem).flatten().and_then(|path| self.pem("replica.ca_file", &path));
        let Some(rest) = named.strip_prefix(SCHEME) else {
            return match named.as_str() {
                "" => None,
                dir if dir.starts_with('/') => Some(OffSiteLocation::Directory(PathBuf::from(dir))),
                _ => {
                    let what =
                        "must be a path from the root, like /mnt/backup, or a bucket, like s3://backups/tunnel-1";
                    self.mistake("backup.off_site", what);
                    None
                }
            };
        };
        let Some((bucket, prefix)) = bucket(rest) else {
            let what = "must be s3://BUCKET/FOLDER: a bucket of 3 to 63 small letters, digits, - and ., and a folder of \
                        letters, digits, -, _, . and /";
            self.mistake("backup.off_site", what);
            return None;
        };
        if key_id.is_empty() {
            self.mistake("replica.key_id", "must be the id of the access key that the store gave you");
        }
        if secret_file.is_none() {
            self.mistake("replica.secret_file", "must name the file that holds the secret of the access key");
        }
        let endpoint = endpoint.unwrap_or_else(|| format!("https://s3.{region}.amazonaws.com"));
        let secret_file = secret_file?;
        let bucket = Bucket { endpoint, region, bucket, prefix, bucket_in_host, key_id, secret_file, authority };
        Some(OffSiteLocation::Bucket(bucket))
    }
}

fn bucket(text: &str) -> Option<(String, String)> {
    let (bucket, prefix) = text.split_once('/').unwrap_or((text, ""));
    let is_end = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit();
    let sound = (3..=63).contains(&bucket.len())
        && bucket.chars().all(|c| is_end(c) || c == '-' || c == '.')
        && bucket.starts_with(is_end)
        && bucket.ends_with(is_end);
    let prefix = prefix.trim_end_matches('/');
    let is_part = |part: &str| {
        let known = |c: char| c.is_ascii_alphanumeric() || "-_.".contains(c);
        !part.is_empty() && !part.starts_with('.') && part.chars().all(known)
    };
    let sound = sound && prefix.len() <= 200 && (prefix.is_empty() || prefix.split('/').all(is_part));
    sound.then(|| (bucket.to_owned(), prefix.to_owned()))
}

/// The address of the service; `None`: Amazon's own.
fn endpoint(text: &str) -> Result<Option<String>, &'static str> {
    let what = "is not an address like https://minio.example.org:9000";
    let text = text.trim_end_matches('/');
    if text.is_empty() {
        return Ok(None);
    }
    let uri: http::Uri = text.parse().map_err(|_| what)?;
    let host = uri.host().ok_or(what)?;
    match uri.scheme_str() {
        _ if !matches!(uri.path(), "" | "/") || uri.query().is_some() || text.contains('@') => Err(what),
        Some("https") => Ok(Some(text.to_owned())),
        Some("http") if is_this_machine(host) => Ok(Some(text.to_owned())),
        Some("http") => Err("must be https://, unless it is this machine"),
        _ => Err(what),
    }
}

fn region(text: &str) -> Result<String, &'static str> {
    let known = |c: char| c.is_ascii_alphanumeric() || c == '-' || c == '_';
    match (1..=40).contains(&text.len()) && text.chars().all(known) {
        true => Ok(text.to_owned()),
        false => Err("must be the name of a region, like eu-central-1"),
    }
}

fn key_id(text: &str) -> Result<String, &'static str> {
    match text.len() <= 128 && text.chars().all(|c| c.is_ascii_graphic() && !"/,=".contains(c)) {
        true => Ok(text.to_owned()),
        false => Err("must be 128 letters and digits at most, without spaces, /, comma and ="),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::Config;

    fn with(place: &str, lines: &str) -> Result<Config, Vec<String>> {
        let mut settings = Settings::new();
        settings.add_file(&format!("[backup]\noff_site = {place:?}\n[replica]\n{lines}"), "t.toml");
        settings.check()
    }

    #[test]
    fn the_off_site_target_is_a_directory_or_a_bucket() {
        let secret = tempfile::NamedTempFile::new().unwrap();
        std::fs::write(secret.path(), "opensesame\n").unwrap();
        let key = format!("key_id = \"AK\"\nsecret_file = {:?}", secret.path().to_str().unwrap());
        let place = |place, lines: &str| with(place, lines).unwrap().backup.off_site;
        assert_eq!(place("", ""), None);
        assert_eq!(place("/mnt/b", ""), Some(OffSiteLocation::Directory(PathBuf::from("/mnt/b"))));
        let Some(OffSiteLocation::Bucket(bucket)) = place("s3://box", &key) else { panic!("no bucket") };
        let address = |host: &str, path: &str| (format!("https://{host}"), host.to_owned(), path.to_owned());
        assert_eq!(bucket.address(""), address("s3.us-east-1.amazonaws.com", "/box"));
        let lines = format!("{key}\nendpoint = \"https://s3.example.org:9000/\"\nbucket_in_host = true");
        let Some(store) = place("s3://box/tunnels/one/", &lines) else { panic!("no bucket") };
        assert_eq!(store.to_string(), "s3://box/tunnels/one");
        assert!(!format!("{store:?}").contains("opensesame"));
        let OffSiteLocation::Bucket(store) = store else { panic!("no bucket") };
        assert_eq!(store.address("a/b"), address("box.s3.example.org:9000", "/a/b"));
        for (place, lines, part) in [
            ("mnt/backup", String::new(), "must be a path from the root"),
            ("s3://Box", key.clone(), "must be s3://BUCKET/FOLDER"),
            ("s3://box/../x", key.clone(), "must be s3://BUCKET/FOLDER"),
            ("s3://box/a//b", key.clone(), "must be s3://BUCKET/FOLDER"),
            ("s3://box", String::new(), "the id of the access key"),
            ("s3://box", "key_id = \"AK\"".to_owned(), "holds the secret of the access key"),
            ("s3://box", format!("{key}\nendpoint = \"http://s3.example.org\""), "must be https"),
            ("s3://box", format!("{key}\nendpoint = \"https://s3.example.org/path\""), "is not an address like"),
            ("", "endpoint = \"ftp://s3.example.org\"".to_owned(), "is not an address like"),
            ("", "region = \"\"".to_owned(), "the name of a region"),
            ("", "key_id = \"a b\"".to_owned(), "without spaces"),
            ("", "ca_file = \"/nowhere/at/all\"".to_owned(), "cannot be read"),
        ] {
            let mistakes = with(place, &lines).unwrap_err();
            assert!(mistakes.iter().any(|mistake| mistake.contains(part)), "{place} {lines}: {mistakes:?}");
            assert!(!format!("{mistakes:?}").contains("opensesame"));
        }
    }
}
