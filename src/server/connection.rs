//! A connection: HTTP/1.1 with limits against slow and hostile clients.

use super::head_bytes::{HeadBytes, NO_HEAD};
use super::hyper_refusal;
use super::limiter::{ConnectionState, Progress};
use super::service::{HttpService, ListenerKind, Peer};
use bytes::{Buf, Bytes};
use http::StatusCode;
use hyper::Request;
use hyper::body::Incoming;
use hyper::rt::{Read, ReadBufCursor, Write};
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper_util::rt::{TokioIo, TokioTimer};
use std::future::Future;
use std::io;
use std::mem::MaybeUninit;
use std::os::fd::RawFd;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, ready};
use std::time::Duration;
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::time::Sleep;

/// The time for a whole request head to arrive, and of an idle connection until the next one.
const HEAD_TIME_MAX: Duration = Duration::from_secs(30);
/// More than [`HttpService`] accepts, so that most heads that are too large are refused there, with our envelope.
const HEAD_BYTES_MAX: usize = 32 * 1024;
/// The bytes of one read.
const READ_BYTES: usize = 8 * 1024;
/// Request head and answer are buffered up to this.
const BUFFER_BYTES_MAX: usize = 64 * 1024;
/// The bytes that are read and discarded after a refusal, and the time for that: closing a connection with unread bytes
/// resets it, and the client loses the answer.
const REFUSED_BYTES_MAX: usize = 256 * 1024;
const REFUSED_TIME_MAX: Duration = Duration::from_secs(2);
/// The time for a client to receive some bytes of an answer.
const WRITE_TIME_MAX: Duration = Duration::from_secs(20);

/// The connection as a future that ends with it; `socket` is the descriptor under the stream.
pub(super) fn serve<S: AsyncRead + AsyncWrite + Unpin>(
    service: Arc<HttpService>,
    stream: S,
    socket: RawFd,
    peer: Peer,
    kind: ListenerKind,
    progress: Arc<Progress>,
) -> http1::Connection<
    WithWriteTimeout<S>,
    impl hyper::service::Service<
        Request<Incoming>,
        Response = super::service::Response,
        Error = std::convert::Infallible,
        Future: Send,
    >,
> {
    let peer = Arc::new(peer);
    let refuse = refusing(service.clone(), peer.clone());
    progress.stands_on(socket);
    let with_write_timeout = WithWriteTimeout::new(stream, socket, progress.clone(), refuse);
    let service = service_fn(move |request| {
        let (service, peer, progress) = (service.clone(), peer.clone(), progress.clone());
        async move {
            progress.set(ConnectionState::Receiving);
            let answer = service.answer(request, &peer, kind, &progress).await;
            progress.see_head(false);
            progress.set(ConnectionState::Sending);
            Ok(answer)
        }
    });
    limited().serve_connection(with_write_timeout, service)
}

fn refusing(service: Arc<HttpService>, peer: Arc<Peer>) -> Refuse {
    Box::new(move |status| service.refuse_malformed(status, &peer))
}

/// HTTP/1.1 with the limits on heads. Without a timer hyper ignores its time limits.
fn limited() -> http1::Builder {
    let mut builder = http1::Builder::new();
    builder
        .timer(TokioTimer::new())
        // A client that has closed its sending side still gets its answer.
        .half_close(true)
        .header_read_timeout(HEAD_TIME_MAX)
        .max_header_size(HEAD_BYTES_MAX)
        .max_buf_size(BUFFER_BYTES_MAX);
    builder
}

/// Makes our answer to a malformed request from hyper's status.
type Refuse = Box<dyn Fn(StatusCode) -> Vec<u8> + Send>;

/// A stream with a write timeout: a write fails when the client receives nothing for too long. The stream also replaces
/// hyper's bare refusals by our envelope, and ends between two requests once the connection is closing.
pub(super) struct WithWriteTimeout<S> {
    stream: TokioIo<S>,
    socket: RawFd,
    progress: Arc<Progress>,
    head: HeadBytes,
    /// Runs while a write is pending, and while bytes after a refusal are discarded.
    deadline: Option<Pin<Box<Sleep>>>,
    refuse: Refuse,
    /// The unwritten bytes of a refusal.
    refusal: Bytes,
    /// The bytes of a refused client that may still be discarded; `None`: no refusal was sent.
    leftover_bytes: Option<usize>,
}

impl<S> WithWriteTimeout<S> {
    fn new(stream: S, socket: RawFd, progress: Arc<Progress>, refuse: Refuse) -> WithWriteTimeout<S> {
        let stream = TokioIo::new(stream);
        WithWriteTimeout {
            stream,
            socket,
            progress,
            head: HeadBytes::default(),
            deadline: None,
            refuse,
            refusal: Bytes::new(),
            leftover_bytes: None,
        }
    }

    /// Whether the stream ends here: the connection is closing, and no request has begun, not even in the system's buffer.
    fn ends(&self) -> bool {
        self.progress.is_closing() && self.progress.state() == ConnectionState::Idle && !has_unread_bytes(self.socket)
    }

    /// Turns a write that is pending for too long into an error.
    fn within_time<T>(&mut self, cx: &mut Context<'_>, progress: Poll<io::Result<T>>) -> Poll<io::Result<T>> {
        if progress.is_ready() {
            self.deadline = None;
            return progress;
        }
        let deadline = self.deadline.get_or_insert_with(|| Box::pin(tokio::time::sleep(WRITE_TIME_MAX)));
        deadline.as_mut().poll(cx).map(|()| Err(io::ErrorKind::TimedOut.into()))
    }

    /// Replaces a bare refusal of hyper's by ours; `false`: the bytes are something else.
    fn replaces(&mut self, written: &[u8]) -> bool {
        let Some(status) = hyper_refusal::bare_status(written) else { return false };
        self.refusal = (self.refuse)(status).into();
        self.leftover_bytes = Some(REFUSED_BYTES_MAX);
        true
    }
}

impl<S: AsyncRead + AsyncWrite + Unpin> WithWriteTimeout<S> {
    fn poll_refusal(&mut self, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        while !self.refusal.is_empty() {
            let written = Pin::new(&mut self.stream).poll_write(cx, &self.refusal);
            match ready!(self.within_time(cx, written))? {
                0 => return Poll::Ready(Err(io::ErrorKind::WriteZero.into())),
                written => self.refusal.advance(written),
            }
        }
        Poll::Ready(Ok(()))
    }

    /// Discards what a refused client still sends, within the limits.
    fn poll_leftover(&mut self, cx: &mut Context<'_>) -> Poll<()> {
        let mut scratch = [0; 4096];
        while let Some(left @ 1..) = self.leftover_bytes {
            let mut buffer = ReadBuf::new(&mut scratch);
            match Pin::new(self.stream.inner_mut()).poll_read(cx, &mut buffer) {
                Poll::Ready(Ok(())) if !buffer.filled().is_empty() => {
                    self.leftover_bytes = Some(left.saturating_sub(buffer.filled().len()));
                }
                Poll::Ready(_) => break,
                Poll::Pending => {
                    let deadline = self.deadline.get_or_insert_with(|| Box::pin(tokio::time::sleep(REFUSED_TIME_MAX)));
                    ready!(deadline.as_mut().poll(cx));
                    break;
                }
            }
        }
        self.leftover_bytes = None;
        Poll::Ready(())
    }
}

impl<S: AsyncRead + Unpin> Read for WithWriteTimeout<S> {
    fn poll_read(mut self: Pin<&mut Self>, cx: &mut Context<'_>, mut buf: ReadBufCursor<'_>) -> Poll<io::Result<()>> {
        let mut scratch = [MaybeUninit::uninit(); READ_BYTES];
        let room = buf.remaining().min(READ_BYTES);
        let mut read = ReadBuf::uninit(&mut scratch[..room]);
        match Pin::new(self.stream.inner_mut()).poll_read(cx, &mut read) {
            Poll::Pending if self.ends() => Poll::Ready(Ok(())),
            Poll::Pending => Poll::Pending,
            Poll::Ready(outcome) => {
                if self.progress.state() == ConnectionState::Idle {
                    self.head.begin();
                    self.progress.see_head(true);
                }
                self.progress.set(ConnectionState::Receiving);
                let is_refused = self.head.add(read.filled());
                buf.put_slice(if is_refused { NO_HEAD } else { read.filled() });
                Poll::Ready(outcome)
            }
        }
    }
}

impl<S: AsyncRead + AsyncWrite + Unpin> Write for WithWriteTimeout<S> {
    fn poll_write(mut self: Pin<&mut Self>, cx: &mut Context<'_>, buf: &[u8]) -> Poll<io::Result<usize>> {
        if self.replaces(buf) {
            return Poll::Ready(Ok(buf.len()));
        }
        let progress = Pin::new(&mut self.stream).poll_write(cx, buf);
        self.within_time(cx, progress)
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        ready!(self.poll_refusal(cx))?;
        let flushed = Pin::new(&mut self.stream).poll_flush(cx);
        if flushed.is_ready() && self.progress.state() == ConnectionState::Sending {
            self.progress.set(ConnectionState::Idle);
            if self.progress.is_closing() {
                // The next read ends the connection.
                cx.waker().wake_by_ref();
            }
        }
        self.within_time(cx, flushed)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        ready!(self.poll_refusal(cx))?;
        let progress = Pin::new(&mut self.stream).poll_shutdown(cx);
        if self.leftover_bytes.is_none() {
            return self.within_time(cx, progress);
        }
        ready!(progress)?;
        self.poll_leftover(cx).map(Ok)
    }

    fn is_write_vectored(&self) -> bool {
        self.stream.is_write_vectored()
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        bufs: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        if let [head] = bufs
            && self.replaces(head)
        {
            return Poll::Ready(Ok(head.len()));
        }
        let progress = Pin::new(&mut self.stream).poll_write_vectored(cx, bufs);
        self.within_time(cx, progress)
    }
}

/// Whether the system has received bytes that were not read yet. The runtime learns of bytes later.
fn has_unread_bytes(socket: RawFd) -> bool {
    let mut byte = 0_u8;
    // SAFETY: the kernel writes at most the one byte; a descriptor that is none is an error.
    let read = unsafe {
        libc::recv(socket, (&raw mut byte).cast(), 1, libc::MSG_PEEK | libc::MSG_DONTWAIT | libc::MSG_NOSIGNAL)
    };
    read > 0
}

#[cfg(test)]
mod tests {
    use super::*;
    use http_body_util::Full;
    use tokio::io::{AsyncReadExt, AsyncWriteExt, DuplexStream};

    const NO_SOCKET: RawFd = -1;

    fn with_write_timeout(stream: DuplexStream) -> WithWriteTimeout<DuplexStream> {
        WithWriteTimeout::new(stream, NO_SOCKET, Arc::default(), Box::new(|_| Vec::new()))
    }

    #[tokio::test(start_paused = true)]
    async fn a_client_that_receives_nothing_is_disconnected() {
        let (ours, _theirs): (DuplexStream, DuplexStream) = tokio::io::duplex(4);
        let mut with_write_timeout = with_write_timeout(ours);
        let start = tokio::time::Instant::now();
        let outcome = std::future::poll_fn(|cx| {
            loop {
                match Pin::new(&mut with_write_timeout).poll_write(cx, b"four") {
                    Poll::Ready(Ok(_)) => continue,
                    other => return other,
                }
            }
        })
        .await;
        assert_eq!(outcome.unwrap_err().kind(), io::ErrorKind::TimedOut);
        assert_eq!(start.elapsed(), WRITE_TIME_MAX);
    }

    /// How long the connection of a client lasts that sends this and then nothing, and the number of its answers.
    async fn lifetime(sent: &str) -> (Duration, usize) {
        let (ours, mut theirs) = tokio::io::duplex(4096);
        let answer =
            service_fn(async |_| Ok::<_, std::convert::Infallible>(hyper::Response::new(Full::<Bytes>::default())));
        let connection = tokio::spawn(limited().serve_connection(with_write_timeout(ours), answer));
        theirs.write_all(sent.as_bytes()).await.unwrap();
        let start = tokio::time::Instant::now();
        let mut got = String::new();
        theirs.read_to_string(&mut got).await.unwrap();
        _ = connection.await.unwrap();
        (start.elapsed(), got.matches("HTTP/1.1 200").count())
    }

    #[tokio::test(start_paused = true)]
    async fn a_client_that_is_idle_or_slow_with_its_head_is_disconnected() {
        assert_eq!(lifetime("").await, (HEAD_TIME_MAX, 0));
        assert_eq!(lifetime("GET / HTTP/1.1\r\nhost: a").await, (HEAD_TIME_MAX, 0));
        let whole = "GET / HTTP/1.1\r\nhost: a\r\n\r\n";
        assert_eq!(lifetime(whole).await, (HEAD_TIME_MAX, 1), "idle after an answer");
        assert_eq!(lifetime(&format!("{whole}{whole}GET")).await, (HEAD_TIME_MAX, 2), "slow with the third");
    }
}
