//! Forms behind a proxy, and what the doctor says of them.

use crate::harness::Desk;

#[test]
fn a_proxy_that_passes_another_host_on_is_named_with_what_was_compared() {
    let desk = Desk::with_site();
    let server = desk.serve();
    let send = |host: &str, origin: &str| {
        let body = "username=a&password=b";
        let head = format!(
            "POST /desk/sign-in HTTP/1.1\r\nHost: {host}\r\n{origin}Content-Type: application/x-www-form-urlencoded\r\n\
             Content-Length: {}\r\nConnection: close\r\n\r\n{body}",
            body.len()
        );
        server.raw(head.as_bytes()).unwrap().status
    };
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
