//! Forms behind a proxy, and what the doctor says of them.

use crate::harness::{Desk, Server};

/// The status of a form that is sent with these lines in its head.
fn send(server: &Server, head: &str) -> u16 {
    let body = "username=a&password=b";
    let head = format!(
        "POST /desk/sign-in HTTP/1.1\r\n{head}Content-Type: application/x-www-form-urlencoded\r\n\
         Content-Length: {}\r\nConnection: close\r\n\r\n{body}",
        body.len()
    );
    server.raw(head.as_bytes()).unwrap().status
}

#[test]
fn a_proxy_that_hides_its_callers_is_named() {
    let desk = Desk::with_site();
    let page = "Host: localhost:443\r\nOrigin: https://localhost\r\n";
    let named = |address: &str| format!("{page}X-Forwarded-For: {address}\r\n");
    // Who the proxy says is calling is not believed before the settings know the proxy.
    let server = desk.serve();
    for head in [page.to_owned(), named("203.0.113.7")] {
        assert_ne!(send(&server, &head), 403);
        let (state, said) = desk.fact("callers").expect("it is told of");
        assert!(state == "warning" && said.contains("through the proxy 127.0.0.1 without"), "{state}: {said}");
    }
    let read = desk.run(&["doctor"]).out;
    assert!(read.lines().any(|line| line.contains("Callers") && line.contains("127.0.0.1")), "{read}");
    assert_eq!(server.stop().code, Some(0));
    let server = desk.serve_with(&[("TUNNELDESK_PROXIES", "127.0.0.1")]);
    for (head, is_told) in [
        (page.to_owned(), true),
        (named("unknown"), true),
        (named("203.0.113.7:51234"), false),
        ("Host: localhost\r\nOrigin: http://localhost\r\n".to_owned(), false),
    ] {
        assert_ne!(send(&server, &head), 403);
        assert_eq!(desk.fact("callers").is_some(), is_told, "{head}");
    }
    assert_eq!(server.stop().code, Some(0));
}

#[test]
fn a_proxy_that_passes_another_host_on_is_named_with_what_was_compared() {
    let desk = Desk::with_site();
    let server = desk.serve();
    let send = |host: &str, origin: &str| send(&server, &format!("Host: {host}\r\n{origin}"));
    // The default port is no other place, and a form that names nobody tells nothing about a proxy.
    assert_ne!(send("localhost:443", "Origin: https://localhost\r\n"), 403);
    assert_eq!(send("localhost", ""), 403);
    assert_eq!(desk.fact("forms"), None);
    for named in ["Origin: https://hall.example\r\n", "Referer: https://hall.example/desk/sign-in?to=x\r\n"] {
        assert_eq!(send("localhost:8080", named), 403, "{named}");
        let (state, said) = desk.fact("forms").expect("it is told of");
        assert!(state == "warning" && said.contains("from https://hall.example"), "{state}: {said}");
        assert!(said.contains("Host localhost:8080"), "{said}");
    }
    // Forms arrive, so no proxy is in their way: one from elsewhere was a stranger's.
    assert_ne!(send("localhost", "Origin: http://localhost\r\n"), 403);
    assert_eq!(desk.fact("forms"), None);
    assert_eq!(server.stop().code, Some(0));
}
