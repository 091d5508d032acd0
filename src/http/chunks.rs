//! A long text in chunks: the first chunks are made with the answer, the others while the client receives it, so that a long
//! text is never in memory as a whole.

use crate::http::failure::Failure;
use bytes::Bytes;
use std::fmt::{self, Debug, Formatter};
use std::ops::ControlFlow;

/// A text of up to this many bytes is answered whole, with its length and its ETag.
const WHOLE_BYTES_MAX: usize = 256 * 1024;

/// Appends the next chunk to the text, and breaks with the last one. A chunk has a limited size, and between two chunks no
/// snapshot of the database stays open.
type Next = Box<dyn FnMut(&mut String) -> Result<ControlFlow<()>, Failure> + Send>;

/// The chunks of a text that are not made yet: at least one.
pub(crate) struct Chunks(Next);

impl Debug for Chunks {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        f.write_str("Chunks")
    }
}

impl Chunks {
    /// Makes chunks until the text is longer than [`WHOLE_BYTES_MAX`]; the others are made later.
    pub(crate) fn begin(
        mut text: String,
        next: impl FnMut(&mut String) -> Result<ControlFlow<()>, Failure> + Send + 'static,
    ) -> Result<(Bytes, Option<Chunks>), Failure> {
        let mut chunks = Chunks(Box::new(next));
        while text.len() <= WHOLE_BYTES_MAX {
            if (chunks.0)(&mut text)?.is_break() {
                return Ok((text.into(), None));
            }
        }
        Ok((text.into(), Some(chunks)))
    }

    /// Makes the next chunk, and returns it with the remaining ones.
    pub(crate) fn make(mut self) -> Result<(Bytes, Option<Chunks>), Failure> {
        let mut text = String::new();
        let step = (self.0)(&mut text)?;
        Ok((text.into(), step.is_continue().then_some(self)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A text of `count` chunks with this many bytes each.
    fn chunks(count: usize, bytes: usize) -> (Bytes, Option<Chunks>) {
        let mut made = 0;
        let next = move |text: &mut String| {
            made += 1;
            text.push_str(&"x".repeat(bytes));
            Ok(if made == count { ControlFlow::Break(()) } else { ControlFlow::Continue(()) })
        };
        Chunks::begin("heading".to_owned(), next).unwrap()
    }

    #[test]
    fn a_short_text_is_whole_and_a_long_one_is_made_chunk_by_chunk() {
        let (whole, rest) = chunks(3, 100);
        assert_eq!((whole.len(), rest.is_none()), ("heading".len() + 300, true));
        let (first, mut rest) = chunks(100, WHOLE_BYTES_MAX / 10);
        assert!(first.len() <= WHOLE_BYTES_MAX + WHOLE_BYTES_MAX / 10, "{}", first.len());
        let mut length = first.len();
        while let Some(chunks) = rest {
            let (piece, others) = chunks.make().unwrap();
            assert_eq!(piece.len(), WHOLE_BYTES_MAX / 10);
            (length, rest) = (length + piece.len(), others);
        }
        assert_eq!(length, "heading".len() + 100 * (WHOLE_BYTES_MAX / 10));
    }
}
