//! The reference server: hyper on the same runtime with a constant answer, without limits, log, or threads besides
//! those of the network.

use bytes::Bytes;
use http_body_util::Full;
use hyper::body::Incoming;
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper::{Request, Response};
use hyper_util::rt::TokioIo;
use std::convert::Infallible;
use tokio::net::TcpListener;

const ANSWER: &[u8] = b"{\"status\":true}";

/// Serves until the process is killed. The first line of the output ends with the address.
pub fn serve() {
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build().expect("a runtime");
    runtime.block_on(async {
        let socket = TcpListener::bind("127.0.0.1:0").await.expect("a free port");
        println!("bare hyper on http://{}", socket.local_addr().expect("a bound socket has an address"));
        loop {
            let (stream, _) = socket.accept().await.expect("a connection");
            _ = stream.set_nodelay(true);
            let service = service_fn(|_: Request<Incoming>| async {
                Ok::<_, Infallible>(Response::new(Full::new(Bytes::from_static(ANSWER))))
            });
            tokio::spawn(http1::Builder::new().serve_connection(TokioIo::new(stream), service));
        }
    });
}
