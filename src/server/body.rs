//! Reads all of a request's body, within limits of size and time.

use super::body_room::{BodyShare, SMALL_BYTES};
use crate::http::failure::Failure;
use bytes::Bytes;
use http_body_util::BodyExt;
use hyper::body::Body;
use std::error::Error;
use std::time::Duration;

const BODY_TIME_MAX: Duration = Duration::from_secs(20);
/// The bytes of a refused body that are read and discarded, unless more are announced: many clients read the answer only after
/// they have sent everything. A chunked body announces no length, and even an empty one may arrive after its head.
const REFUSED_BYTES_MAX: u64 = 32 * 1024 * 1024;
/// The time for that: some clients wait for the answer before they send.
const REFUSED_TIME_MAX: Duration = Duration::from_secs(2);

/// Refuses a body whose announced size is too large.
pub(super) fn check_size(body: &impl Body, bytes_max: usize) -> Result<(), Failure> {
    if body.size_hint().lower() > bytes_max as u64 { Err(Failure::larger_than(bytes_max)) } else { Ok(()) }
}

/// Reads a body whose size was checked. `share`: the room of a body that may be larger than [`SMALL_BYTES`].
pub(super) async fn read<B>(mut body: B, bytes_max: usize, share: Option<&BodyShare>) -> Result<Bytes, Failure>
where
    B: Body<Data = Bytes, Error: Into<Box<dyn Error + Send + Sync>>> + Unpin,
{
    if body.is_end_stream() {
        return Ok(Bytes::new());
    }
    let dropped = async {
        match share {
            Some(share) => share.dropped.notified().await,
            None => std::future::pending().await,
        }
    };
    let read = tokio::select! {
        read = tokio::time::timeout(BODY_TIME_MAX, collect(&mut body, bytes_max, share)) => read,
        () = dropped => Ok(Err(no_room())),
    };
    read.unwrap_or_else(|_| Err(Failure::too_slow()))
}

/// Collects a body in one buffer, which grows with the bytes that have arrived, whatever was announced.
async fn collect<B>(body: &mut B, bytes_max: usize, share: Option<&BodyShare>) -> Result<Bytes, Failure>
where
    B: Body<Data = Bytes, Error: Into<Box<dyn Error + Send + Sync>>> + Unpin,
{
    let announced = usize::try_from(body.size_hint().lower()).unwrap_or(bytes_max).min(SMALL_BYTES);
    let mut all = Vec::new();
    while let Some(frame) = body.frame().await {
        let frame = frame.map_err(|e| Failure::bad_request().because(e.into()))?;
        let Ok(data) = frame.into_data() else { continue };
        let length = all.len() + data.len();
        if length > bytes_max {
            return Err(Failure::larger_than(bytes_max));
        }
        if length > all.capacity() {
            let capacity = length.next_power_of_two().max(announced).min(bytes_max);
            if capacity > SMALL_BYTES && share.is_some_and(|share| !share.grow_to(capacity)) {
                return Err(no_room());
            }
            all.reserve_exact(capacity - all.len());
        }
        all.extend_from_slice(&data);
    }
    share.inspect(|share| share.keep());
    Ok(all.into())
}

fn no_room() -> Failure {
    Failure::overloaded().because("large bodies take all the room there is for them")
}

/// Reads and discards a refused body, because unread bytes would break the connection under the client's next request.
/// `client_waits`: the client sends the body only once the reading begins. Then nothing is read, and the connection must end
/// with the answer: `true`.
pub(super) async fn discard<B: Body<Data = Bytes> + Unpin>(mut body: B, client_waits: bool) -> bool {
    if client_waits {
        return true;
    }
    if body.size_hint().exact().is_some_and(|bytes| bytes > REFUSED_BYTES_MAX) {
        return false;
    }
    let mut left = REFUSED_BYTES_MAX;
    let to_the_end = async {
        while let Some(Ok(frame)) = body.frame().await
            && left > 0
        {
            left = left.saturating_sub(frame.data_ref().map_or(0, |data| data.len() as u64));
        }
    };
    // The answer is the same after a time-out.
    _ = tokio::time::timeout(REFUSED_TIME_MAX, to_the_end).await;
    false
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::http::row::BODY_BYTES_MAX;
    use hyper::body::Frame;
    use std::convert::Infallible;
    use std::pin::Pin;
    use std::task::{Context, Poll};
    use tokio::time::{Instant, Interval, interval};

    /// A byte now and then, for ever.
    struct Drip(Interval);

    impl Body for Drip {
        type Data = Bytes;
        type Error = Infallible;

        fn poll_frame(
            mut self: Pin<&mut Self>,
            cx: &mut Context<'_>,
        ) -> Poll<Option<Result<Frame<Bytes>, Infallible>>> {
            self.0.poll_tick(cx).map(|_| Some(Ok(Frame::data(Bytes::from_static(b"x")))))
        }
    }

    #[tokio::test(start_paused = true)]
    async fn a_slow_body_ends_in_a_time_out_and_a_large_one_at_its_limit() {
        let start = Instant::now();
        let slow = read(Drip(interval(Duration::from_secs(1))), BODY_BYTES_MAX, None).await.unwrap_err();
        assert_eq!((slow.status().as_u16(), start.elapsed()), (408, BODY_TIME_MAX));
        let large = read(Drip(interval(Duration::from_nanos(1))), 1000, None).await.unwrap_err();
        assert_eq!(large.status().as_u16(), 413);
    }

    #[tokio::test(start_paused = true)]
    async fn a_refused_body_is_read_for_a_limited_time() {
        let start = Instant::now();
        discard(Drip(interval(Duration::from_millis(100))), false).await;
        assert_eq!(start.elapsed(), REFUSED_TIME_MAX);
    }
}
