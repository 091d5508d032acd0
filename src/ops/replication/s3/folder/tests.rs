//! A store as it answers, and what the site makes of it.

use super::*;
use crate::config::Bucket as Settings;
use std::io::{BufRead, BufReader};
use std::net::TcpListener;
use std::sync::Mutex;
use std::time::Duration;

/// A store that answers each request with the next status, and one for a file with this one; and the heads of the requests.
fn answering(statuses: &'static [u16], file: &'static str) -> (Folder, Arc<Mutex<Vec<String>>>, tempfile::TempDir) {
    let (listener, heads) = (TcpListener::bind("127.0.0.1:0").unwrap(), Arc::<Mutex<Vec<String>>>::default());
    let (port, heard) = (listener.local_addr().unwrap().port(), heads.clone());
    std::thread::spawn(move || {
        for (status, stream) in statuses.iter().zip(listener.incoming()) {
            let mut stream = BufReader::new(stream.unwrap());
            stream.get_ref().set_read_timeout(Some(Duration::from_secs(10))).unwrap();
            let mut head = String::new();
            while !head.ends_with("\r\n\r\n") {
                assert!(stream.read_line(&mut head).unwrap() > 0);
            }
            let length = head.lines().find_map(|line| line.strip_prefix("content-length: "));
            let length: u64 = length.map_or(0, |length| length.parse().unwrap());
            io::copy(&mut (&mut stream).take(length), &mut io::sink()).unwrap();
            let text = if head.starts_with("GET ") { file } else { "" };
            heard.lock().unwrap().push(head);
            let answer = format!(
                "HTTP/1.1 {status} So\r\nconnection: close\r\netag: \"7\"\r\ncontent-length: {}\r\n\r\n{text}",
                text.len()
            );
            stream.get_mut().write_all(answer.as_bytes()).unwrap();
        }
    });
    let dir = tempfile::tempdir().unwrap();
    let secret_file = dir.path().join("secret");
    std::fs::write(&secret_file, "opensesame").unwrap();
    let settings = Settings {
        endpoint: format!("http://127.0.0.1:{port}"),
        region: "us-east-1".to_owned(),
        bucket: "box".to_owned(),
        prefix: "one".to_owned(),
        bucket_in_host: false,
        key_id: "AK".to_owned(),
        secret_file,
        authority: None,
    };
    (Folder::new(Arc::new(S3Client::new(&settings, dir.path()))), heads, dir)
}

fn put(folder: &Folder) -> io::Result<u64> {
    folder.put(Object::Epoch(1), &mut None, &mut |to| to.write_all(b"tick"))
}

#[test]
fn a_store_that_keeps_the_first_of_two_files_is_told_from_one_that_does_not() {
    let (folder, heads, _dir) = answering(&[200, 412, 204, 200], "another");
    folder.probe().unwrap();
    assert!(folder.keeps_first() && put(&folder).is_ok());
    let heads = heads.lock().unwrap();
    assert!(
        heads[3].starts_with("PUT /box/one/0000000001 HTTP/1.1") && heads[3].contains("if-none-match: *"),
        "{heads:?}"
    );
    assert!(heads[3].contains("SignedHeaders=host;if-none-match;x-amz-content-sha256;x-amz-date"), "{heads:?}");

    // It replaces: the site looks before each file, and takes no name that another file has.
    let (folder, heads, _dir) = answering(&[200, 200, 204, 404, 200, 200, 200], "another");
    folder.probe().unwrap();
    assert!(!folder.keeps_first() && put(&folder).is_ok());
    assert_eq!(put(&folder).unwrap_err().kind(), io::ErrorKind::AlreadyExists);
    let methods: Vec<String> = heads.lock().unwrap().iter().map(|head| head[..4].trim().to_owned()).collect();
    assert_eq!(methods, ["PUT", "PUT", "DELE", "HEAD", "PUT", "HEAD", "GET"]);

    // A store that does not know the header: the site looks before each file as well.
    let (folder, heads, _dir) = answering(&[501, 200, 200, 204, 404, 200], "another");
    folder.probe().unwrap();
    assert!(!folder.keeps_first() && put(&folder).is_ok());
    assert!(heads.lock().unwrap()[1..].iter().all(|head| !head.contains("if-none-match")));
}

#[test]
fn a_file_with_nothing_in_it_is_filled_and_any_other_stays() {
    let (folder, heads, _dir) = answering(&[412, 200, 200], "");
    put(&folder).unwrap();
    let heads = heads.lock().unwrap();
    assert!(heads[2].starts_with("PUT ") && heads[2].contains("if-match: \"7\""), "{heads:?}");
    // Somebody was quicker than this site, or this site itself.
    let (folder, _heads, _dir) = answering(&[412, 200, 412, 200], "");
    assert_eq!(put(&folder).unwrap_err().kind(), io::ErrorKind::AlreadyExists);
    let (folder, heads, _dir) = answering(&[412, 200], "another");
    assert_eq!(put(&folder).unwrap_err().kind(), io::ErrorKind::AlreadyExists);
    assert_eq!(heads.lock().unwrap().len(), 2);
    let (folder, heads, _dir) = answering(&[412, 200], "tick");
    assert!(put(&folder).is_ok() && heads.lock().unwrap().len() == 2);
}

#[test]
fn a_store_that_refuses_is_not_asked_again_and_its_reason_is_told() {
    let (folder, heads, _dir) = answering(&[403], "another");
    let said = folder.probe().unwrap_err();
    assert!(said.starts_with("cannot write to s3://box/one: ") && said.contains("allowed to read, write"), "{said}");
    assert!(!said.contains("opensesame") && heads.lock().unwrap().len() == 1);
    let (folder, heads, _dir) = answering(&[503, 200], "another");
    assert!(put(&folder).is_ok() && heads.lock().unwrap().len() == 2);
}

#[test]
fn a_file_that_is_larger_than_it_may_be_is_an_error_and_no_further_byte_is_taken() {
    let (folder, _, _dir) = answering(&[200, 200], "another");
    let text = |bytes_max| folder.client.text("one/0000000001", bytes_max);
    assert_eq!(text(7).unwrap().map(|(text, _)| text).as_deref(), Some("another"));
    let Err(Trouble::TooLarge(cause)) = text(6) else { panic!("six bytes hold seven") };
    assert!(cause.contains("larger than the 6 bytes"), "{cause}");
    // As [`Target`] reads it, whatever the store says of its size.
    let (folder, _, _dir) = answering(&[200, 200], "another");
    let target = crate::ops::replication::target::Target::S3(folder);
    let read = |bytes_max| {
        let mut bytes = Vec::new();
        target.open(Object::Epoch(1), bytes_max)?.read_to_end(&mut bytes).map(|_| bytes)
    };
    assert_eq!(read(7).unwrap(), b"another");
    assert_eq!(read(6).unwrap_err().kind(), io::ErrorKind::FileTooLarge);
}

#[test]
fn a_service_that_answers_every_request_with_success_replaces_no_machine() {
    use crate::ops::replication::target::Target;
    use crate::ops::signature::{Signer, Trust};
    use crate::ops::standby::epoch::{claim, find_higher};
    let (signer, there) = (Signer::new(), tempfile::tempdir().unwrap());
    let trust = Trust::Keys(signer.keys());
    let find = |file| {
        let (folder, _, _dir) = answering(&[200; 8], file);
        find_higher(&Target::S3(folder), "ab", 0, &trust).ok().and_then(|higher| higher.believed)
    };
    assert_eq!(find("<html>Welcome to our guest network</html>"), None);
    assert_eq!(find(""), None);
    let content = "00112233445566778899aabbccddeeff";
    assert_eq!(find(content), None, "a file that nobody signed");
    claim(&Target::directory(there.path().to_owned()), "ab", 1, content, &signer).unwrap();
    let file = std::fs::read_to_string(there.path().join("epochs-ab/0000000001")).unwrap();
    assert_eq!(find(file.leak()), Some(1), "the file of a promotion");
}
