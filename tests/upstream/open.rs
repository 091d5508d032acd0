//! The tests' receiver as a process of its own, for the technician's walk: `receiver ADDRESS DIR SECRET`, over TLS with the
//! certificate in the directory. For each line that it reads it prints the rows that it holds, as one.

#![allow(unreachable_pub, clippy::too_many_lines, reason = "nothing imports from here; tables of cases are long")]

#[allow(dead_code)] // It offers what the suites need, too.
mod book;
#[allow(dead_code)] // Likewise.
mod receiver;

use receiver::Receiver;
use std::path::Path;

fn main() {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let [address, dir, secret] = &words[..] else { panic!("receiver ADDRESS DIR SECRET") };
    let receiver = Receiver::open_tls_at(address, Path::new(dir));
    receiver.state().secrets = vec![secret.clone()];
    for _ in std::io::stdin().lines() {
        println!("{}", serde_json::Value::from(receiver.state().book.rows.clone()));
    }
}
