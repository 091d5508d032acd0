//! Reads a request's body whole: so many bytes, in so much time.

use crate::failure::Failure;
use bytes::Bytes;
use http_body_util::{BodyExt, LengthLimitError, Limited};
use hyper::body::{Body, Incoming};
use std::time::Duration;

const BODY_TIME_MAX: Duration = Duration::from_secs(20);

pub async fn read(body: Incoming, bytes_max: usize) -> Result<Bytes, Failure> {
    if body.is_end_stream() {
        return Ok(Bytes::new());
    }
    if body.size_hint().lower() > bytes_max as u64 {
        return Err(Failure::body_too_large());
    }
    match tokio::time::timeout(BODY_TIME_MAX, Limited::new(body, bytes_max).collect()).await {
        Err(_) => Err(Failure::too_slow()),
        Ok(Ok(collected)) => Ok(collected.to_bytes()),
        Ok(Err(e)) if e.is::<LengthLimitError>() => Err(Failure::body_too_large()),
        Ok(Err(e)) => Err(Failure::bad_request().because(e)),
    }
}
