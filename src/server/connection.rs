//! One connection: HTTP/1.1 with a limit on everything a slow or hostile client could drag out.

use super::front::{Door, Front};
use hyper::Request;
use hyper::body::Incoming;
use hyper::rt::{Read, ReadBufCursor, Write};
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper_util::rt::{TokioIo, TokioTimer};
use std::future::Future;
use std::io;
use std::net::IpAddr;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Duration;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::time::Sleep;

/// For a whole request head to arrive, and for an idle connection until the next one.
const HEAD_TIME_MAX: Duration = Duration::from_secs(30);
const HEAD_BYTES_MAX: usize = 16 * 1024;
/// Request head and answer are buffered up to this.
const BUFFER_BYTES_MAX: usize = 64 * 1024;
/// For a client to take some of an answer.
const WRITE_TIME_MAX: Duration = Duration::from_secs(20);

/// The connection as a future that ends with it.
pub fn serve<S: AsyncRead + AsyncWrite + Unpin>(
    front: Arc<Front>,
    stream: S,
    peer: IpAddr,
    door: Door,
) -> http1::Connection<
    Patient<S>,
    impl hyper::service::Service<
        Request<Incoming>,
        Response = super::front::Response,
        Error = std::convert::Infallible,
        Future: Send,
    >,
> {
    let service = service_fn(move |request| {
        let front = front.clone();
        async move { Ok(front.answer(request, peer, door).await) }
    });
    limited().serve_connection(Patient::new(stream), service)
}

/// HTTP/1.1 with the limits on heads; without a timer hyper would keep none of the times.
fn limited() -> http1::Builder {
    let mut builder = http1::Builder::new();
    builder
        .timer(TokioTimer::new())
        // A client that has said all it will say still gets its answer.
        .half_close(true)
        .header_read_timeout(HEAD_TIME_MAX)
        .max_header_size(HEAD_BYTES_MAX)
        .max_buf_size(BUFFER_BYTES_MAX);
    builder
}

/// A stream whose writes fail when the other side takes nothing for too long.
pub struct Patient<S> {
    stream: TokioIo<S>,
    /// Runs while a write waits.
    deadline: Option<Pin<Box<Sleep>>>,
}

impl<S> Patient<S> {
    fn new(stream: S) -> Patient<S> {
        Patient { stream: TokioIo::new(stream), deadline: None }
    }

    /// Passes progress on, and turns waiting for too long into an error.
    fn within_time<T>(&mut self, cx: &mut Context<'_>, progress: Poll<io::Result<T>>) -> Poll<io::Result<T>> {
        if progress.is_ready() {
            self.deadline = None;
            return progress;
        }
        let deadline = self.deadline.get_or_insert_with(|| Box::pin(tokio::time::sleep(WRITE_TIME_MAX)));
        deadline.as_mut().poll(cx).map(|()| Err(io::ErrorKind::TimedOut.into()))
    }
}

impl<S> Read for Patient<S>
where
    TokioIo<S>: Read + Unpin,
{
    fn poll_read(mut self: Pin<&mut Self>, cx: &mut Context<'_>, buf: ReadBufCursor<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_read(cx, buf)
    }
}

impl<S> Write for Patient<S>
where
    TokioIo<S>: Write + Unpin,
{
    fn poll_write(mut self: Pin<&mut Self>, cx: &mut Context<'_>, buf: &[u8]) -> Poll<io::Result<usize>> {
        let progress = Pin::new(&mut self.stream).poll_write(cx, buf);
        self.within_time(cx, progress)
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        let progress = Pin::new(&mut self.stream).poll_flush(cx);
        self.within_time(cx, progress)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        let progress = Pin::new(&mut self.stream).poll_shutdown(cx);
        self.within_time(cx, progress)
    }

    fn is_write_vectored(&self) -> bool {
        self.stream.is_write_vectored()
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        bufs: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        let progress = Pin::new(&mut self.stream).poll_write_vectored(cx, bufs);
        self.within_time(cx, progress)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use bytes::Bytes;
    use http_body_util::Full;
    use tokio::io::{AsyncReadExt, AsyncWriteExt, DuplexStream};

    #[tokio::test(start_paused = true)]
    async fn a_client_that_takes_nothing_is_given_up() {
        let (ours, _theirs): (DuplexStream, DuplexStream) = tokio::io::duplex(4);
        let mut patient = Patient::new(ours);
        let start = tokio::time::Instant::now();
        let outcome = std::future::poll_fn(|cx| {
            loop {
                match Pin::new(&mut patient).poll_write(cx, b"four") {
                    Poll::Ready(Ok(_)) => continue,
                    other => return other,
                }
            }
        })
        .await;
        assert_eq!(outcome.unwrap_err().kind(), io::ErrorKind::TimedOut);
        assert_eq!(start.elapsed(), WRITE_TIME_MAX);
    }

    /// How long a client is kept who sends this and then nothing, and how many answers it got.
    async fn kept(sent: &str) -> (Duration, usize) {
        let (ours, mut theirs) = tokio::io::duplex(4096);
        let answer =
            service_fn(async |_| Ok::<_, std::convert::Infallible>(hyper::Response::new(Full::<Bytes>::default())));
        let connection = tokio::spawn(limited().serve_connection(Patient::new(ours), answer));
        theirs.write_all(sent.as_bytes()).await.unwrap();
        let start = tokio::time::Instant::now();
        let mut got = String::new();
        theirs.read_to_string(&mut got).await.unwrap();
        _ = connection.await.unwrap();
        (start.elapsed(), got.matches("HTTP/1.1 200").count())
    }

    #[tokio::test(start_paused = true)]
    async fn a_client_that_is_slow_with_its_head_or_idle_is_let_go() {
        assert_eq!(kept("").await, (HEAD_TIME_MAX, 0));
        assert_eq!(kept("GET / HTTP/1.1\r\nhost: a").await, (HEAD_TIME_MAX, 0));
        let whole = "GET / HTTP/1.1\r\nhost: a\r\n\r\n";
        assert_eq!(kept(whole).await, (HEAD_TIME_MAX, 1), "idle after an answer");
        assert_eq!(kept(&format!("{whole}{whole}GET")).await, (HEAD_TIME_MAX, 2), "slow with the third");
    }
}
