//! Reads a list as spreadsheets write it: commas, semicolons or tabs, any line ends, with or without a byte order mark;
//! without the empty cells at the end of a line, and with empty columns that have no heading. Errors name the line and the
//! column.

mod headings;
mod mojibake;

use super::{Refusal, cell};
use crate::i18n::language::{Language, Text};
use csv::{ByteRecord, ReaderBuilder};
use serde_json::{Map, Value};
use std::cell::{Cell, RefCell};
use std::collections::VecDeque;
use std::io::{self, Chain, Cursor, Read};
use std::rc::Rc;

/// Greatest length of one line: a longer one has a quote that is never closed.
const LINE_BYTES_MAX: u64 = 256 * 1024;
/// Greatest length of a cell; longer than any field may be.
const CELL_BYTES_MAX: usize = 32 * 1024;
const LIST_BYTES_MAX: u64 = 512 * 1024 * 1024;
/// Bytes that are read after the end of a list: a record of their own, unless a quote is still open.
const END: &[u8] = b"\n\0\n";
/// How files of spreadsheet programs begin: .xlsx and .ods, and .xls.
const WORKBOOKS: [&[u8]; 2] = [b"PK\x03\x04", b"\xd0\xcf\x11\xe0"];
/// Greatest length of a value that a mistake repeats, in characters.
const SHOWN_CHARS_MAX: usize = 40;

pub(super) struct Column {
    pub name: &'static str,
    /// A list without this column is refused.
    pub needed: bool,
}

/// A mistake in the list, and its position.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Mistake {
    /// Counted from 1, including the line of headings.
    pub line: u64,
    /// The number of the column, from 1, and its heading; `None` where the whole line is wrong.
    pub column: Option<(usize, String)>,
    /// The value as the list has it.
    pub value: String,
    /// The field that is wrong, where the list has no column for it.
    pub field: Option<String>,
    pub text: Text,
}

impl Mistake {
    fn new(line: u64, column: Option<(usize, String)>, text: Text) -> Mistake {
        Mistake { line, column, value: String::new(), field: None, text }
    }

    /// What is wrong, without its place.
    pub(crate) fn say(&self, language: Language) -> String {
        let text = language.say(&self.text);
        self.field.as_ref().map_or(text.clone(), |field| format!("{field}: {text}"))
    }
}

impl std::fmt::Display for Mistake {
    fn fmt(&self, f: &mut std::fmt::Formatter) -> std::fmt::Result {
        write!(f, "line {}", self.line)?;
        if let Some((number, name)) = &self.column {
            write!(f, ", column {number} ({name})")?;
        }
        if !self.value.is_empty() {
            let long = self.value.chars().count() > SHOWN_CHARS_MAX;
            let shown: String = self.value.chars().take(SHOWN_CHARS_MAX).collect();
            write!(f, ", {shown:?}{}", if long { "…" } else { "" })?;
        }
        write!(f, ": {}", self.say(Language::English))
    }
}

/// One line: its cells by the names of their columns.
pub(super) struct Row {
    line: u64,
    cells: Vec<(usize, &'static str, String)>,
}

impl Row {
    pub(super) fn line(&self) -> u64 {
        self.line
    }

    /// Whether the list has a value for this column.
    pub(super) fn has(&self, name: &str) -> bool {
        self.cells.iter().any(|(_, known, text)| *known == name && !text.trim().is_empty())
    }

    /// The cells as the fields of an operation.
    pub(super) fn fields(&self) -> Map<String, Value> {
        self.cells.iter().map(|(_, name, text)| ((*name).to_owned(), Value::from(text.as_str()))).collect()
    }

    pub(super) fn mistake(&self, field: &str, text: Text) -> Mistake {
        let cell = self.cells.iter().find(|(_, name, _)| *name == field);
        let column = cell.map(|(place, name, _)| (place + 1, (*name).to_owned()));
        let field = column.is_none().then(|| field.to_owned());
        let value = cell.map(|(.., value)| value.clone()).unwrap_or_default();
        Mistake { value, field, ..Mistake::new(self.line, column, text) }
    }

    /// The value of a column; empty where there is none.
    pub(super) fn value(&self, name: &str) -> &str {
        self.cells.iter().find(|(_, known, _)| *known == name).map_or("", |(.., text)| text.trim())
    }
}

/// The lines of a list, after its headings.
pub(super) struct Rows<'r> {
    reader: csv::Reader<Chain<Counted<'r>, &'static [u8]>>,
    /// The name of each column; empty: the column has no heading and may have no cells.
    columns: Vec<&'static str>,
    /// Lines that ended before the last record read; the line number of the CSV reader is off by one where lines end in
    /// CRLF.
    passed: u64,
    so_far: Rc<SoFar>,
}

/// The bytes and lines read so far.
#[derive(Default)]
struct SoFar {
    bytes: Cell<u64>,
    /// Bytes read since the last record.
    since_line: Cell<u64>,
    /// Positions of line feeds that the CSV reader has not reached.
    ends: RefCell<VecDeque<u64>>,
}

/// A list that counts the bytes and line feeds read from it. Fails beyond [`LINE_BYTES_MAX`] and [`LIST_BYTES_MAX`].
struct Counted<'r> {
    text: Box<dyn Read + 'r>,
    so_far: Rc<SoFar>,
}

impl Read for Counted<'_> {
    fn read(&mut self, to: &mut [u8]) -> io::Result<usize> {
        let read = self.text.read(to)?;
        let SoFar { bytes, since_line, ends } = &*self.so_far;
        let line_ends = (bytes.get()..).zip(&to[..read]).filter(|(_, byte)| **byte == b'\n');
        ends.borrow_mut().extend(line_ends.map(|(place, _)| place));
        bytes.set(bytes.get() + read as u64);
        since_line.set(since_line.get() + read as u64);
        // Bytes that the CSV reader buffers ahead count for the record before them.
        if since_line.get() > LINE_BYTES_MAX {
            return Err(io::Error::other("is longer than 256 KiB: a quote is opened there and never closed"));
        }
        if bytes.get() > LIST_BYTES_MAX {
            return Err(io::Error::other("is too far down: a list has at most 512 MiB; import it in parts"));
        }
        Ok(read)
    }
}

impl<'r> Rows<'r> {
    /// Reads and validates the headings.
    pub(super) fn open(text: &'r mut dyn Read, columns: &'static [Column]) -> Result<Rows<'r>, Refusal> {
        let unreadable = |e: io::Error| Refusal::Unreadable(Text::new("list_file.unreadable").with("cause", e));
        let mut start = Vec::new();
        (&mut *text).take(64 * 1024).read_to_end(&mut start).map_err(unreadable)?;
        if start.starts_with(&[0xff, 0xfe]) || start.starts_with(&[0xfe, 0xff]) {
            return Err(Refusal::Unreadable(Text::new("list_file.utf16")));
        }
        if WORKBOOKS.iter().any(|begin| start.starts_with(begin)) {
            return Err(Refusal::Unreadable(Text::new("list_file.workbook")));
        }
        let mut begin = if start.starts_with("\u{feff}".as_bytes()) { 3 } else { 0 };
        let (delimiter, skipped) = match delimiter_line(&start[begin..]) {
            Some((delimiter, bytes)) => {
                begin += bytes;
                (delimiter, 1)
            }
            None => (delimiter(&start[begin..]), 0),
        };
        let so_far = Rc::new(SoFar::default());
        let text = Box::new(Cursor::new(start.split_off(begin)).chain(text));
        let counted = Counted { text, so_far: so_far.clone() };
        let reader =
            ReaderBuilder::new().delimiter(delimiter).flexible(true).has_headers(false).from_reader(counted.chain(END));
        let mut rows = Rows { reader, columns: Vec::new(), passed: skipped, so_far };
        let mut headings = ByteRecord::new();
        while is_empty(&headings) {
            if !rows.read(&mut headings)? {
                return Err(Refusal::Unreadable(Text::new("list_file.empty")));
            }
        }
        let line = rows.line_of(&headings);
        rows.columns = judge_headings(&headings, columns, line)?;
        Ok(rows)
    }

    /// Bytes of the list read so far.
    pub(super) fn bytes(&self) -> u64 {
        self.so_far.bytes.get()
    }

    /// Reads up to `most` lines, fewer at the end. Empty lines are skipped.
    pub(super) fn take(&mut self, most: usize) -> Result<Vec<Result<Row, Vec<Mistake>>>, Refusal> {
        let (mut rows, mut record) = (Vec::with_capacity(most), ByteRecord::new());
        while rows.len() < most {
            if !self.read(&mut record)? {
                break;
            }
            let line = self.line_of(&record);
            if !is_empty(&record) {
                rows.push(self.row(line, &record));
            }
        }
        Ok(rows)
    }

    /// Reads the next record; `false` at the end of the list.
    fn read(&mut self, record: &mut ByteRecord) -> Result<bool, Refusal> {
        let more = self.reader.read_byte_record(record).map_err(|e| {
            let cause = match e.into_kind() {
                csv::ErrorKind::Io(e) => e.to_string(),
                other => format!("{other:?}"),
            };
            Refusal::Unreadable(Text::new("list_file.after_line").with("line", self.passed + 1).with("cause", cause))
        });
        self.so_far.since_line.set(0);
        if record.as_slice().ends_with(END) {
            return Err(self.unclosed_quote(record));
        }
        if record.as_slice() == END.trim_ascii() {
            record.clear();
            return Ok(false);
        }
        more
    }

    /// The mistake of the last record, whose last cell begins with a quote and has no end.
    fn unclosed_quote(&mut self, record: &ByteRecord) -> Refusal {
        let place = record.len() - 1;
        let cell = record[place].strip_suffix(END).unwrap_or_default();
        let within = cell.iter().filter(|byte| **byte == b'\n').count() as u64;
        let line = self.passed + 1 + self.so_far.ends.borrow().len() as u64 - within;
        let column = self.columns.get(place).map(|name| (place + 1, (*name).to_owned()));
        Refusal::Mistakes(vec![Mistake::new(line, column, Text::new("list.quote_open"))], 1)
    }

    /// The line in which the record just read begins.
    fn line_of(&mut self, record: &ByteRecord) -> u64 {
        // The line feed that ends the record itself is not counted: it is the last byte read, or, after CRLF, the byte
        // that follows.
        let end = self.reader.position().byte().saturating_sub(1);
        let mut ends = self.so_far.ends.borrow_mut();
        while ends.front().is_some_and(|place| *place < end) {
            ends.pop_front();
            self.passed += 1;
        }
        let within = record.as_slice().iter().filter(|byte| **byte == b'\n').count() as u64;
        self.passed + 1 - within
    }

    /// A record as a row, or every mistake in it: more cells than headings, a cell too long, not in UTF-8 or read as another
    /// encoding. A spreadsheet leaves out empty cells at the end of a line, sometimes from the seventeenth line on.
    fn row(&self, line: u64, record: &ByteRecord) -> Result<Row, Vec<Mistake>> {
        let (wanted, found) = (self.columns.len(), record.len());
        let beyond = record.iter().skip(wanted).any(|cell| !cell.trim_ascii().is_empty());
        if beyond {
            let text = Text::new("list.cells_beyond").with("found", found).with("wanted", wanted);
            return Err(vec![Mistake::new(line, None, text)]);
        }
        let (mut cells, mut wrong) = (Vec::with_capacity(wanted), Vec::new());
        for (place, name) in self.columns.iter().enumerate() {
            let bytes = record.get(place).unwrap_or_default();
            let mut mistake = |value: String, text: Text| {
                let column = Some((place + 1, (*name).to_owned()));
                wrong.push(Mistake { value, ..Mistake::new(line, column, text) });
            };
            match std::str::from_utf8(bytes) {
                Err(_) => mistake(String::from_utf8_lossy(bytes).into_owned(), Text::new("list.not_utf8")),
                Ok(text) if bytes.len() > CELL_BYTES_MAX => mistake(text.to_owned(), Text::new("list.cell_long")),
                Ok(text) if name.is_empty() && !text.trim().is_empty() => {
                    mistake(text.to_owned(), Text::new("list.no_heading"));
                }
                Ok(text) => match mojibake::find(text) {
                    Some(meant) => mistake(text.to_owned(), mojibake::say(&meant)),
                    None => cells.push((place, *name, cell::read(text))),
                },
            }
        }
        if wrong.is_empty() { Ok(Row { line, cells }) } else { Err(wrong) }
    }
}

fn is_empty(record: &ByteRecord) -> bool {
    record.iter().all(|cell| cell.trim_ascii().is_empty())
}

/// The name of each column in order, or every mistake in the headings.
fn judge_headings(found: &ByteRecord, columns: &'static [Column], line: u64) -> Result<Vec<&'static str>, Refusal> {
    let names = || columns.iter().map(|column| column.name).collect::<Vec<_>>().join(", ");
    let (mut known, mut wrong): (Vec<&'static str>, Vec<Mistake>) = (Vec::new(), Vec::new());
    for (place, heading) in found.iter().enumerate() {
        let heading = String::from_utf8_lossy(heading).trim().to_lowercase();
        let exact = columns.iter().find(|column| column.name == heading);
        let column = exact.or_else(|| columns.iter().find(|column| headings::means(&heading, column.name)));
        let mut mistake = |text: Text| wrong.push(Mistake::new(line, Some((place + 1, heading.clone())), text));
        match column {
            None if heading.is_empty() => {}
            None if headings::is_part_of_name(&heading) && columns.iter().any(|one| one.name == "real_name") => {
                mistake(Text::new("list.name_in_parts"));
            }
            None => mistake(Text::new("list.no_such_column").with("names", names())),
            Some(column) if known.contains(&column.name) => mistake(Text::new("list.column_twice")),
            Some(_) => {}
        }
        known.push(column.map_or("", |column| column.name));
    }
    let missing = columns.iter().filter(|column| column.needed && !known.contains(&column.name));
    let missing: Vec<_> = missing.map(|column| column.name).collect();
    if !missing.is_empty() {
        let text = Text::new("list.column_missing").with("name", missing.join(", ")).with("names", names());
        wrong.push(Mistake::new(line, None, text));
    }
    let count = wrong.len() as u64;
    if wrong.is_empty() { Ok(known) } else { Err(Refusal::Mistakes(wrong, count)) }
}

/// Parses a first line `sep=;`, which a spreadsheet writes for itself: the delimiter, and the length of the line in
/// bytes.
fn delimiter_line(text: &[u8]) -> Option<(u8, usize)> {
    let rest = text.strip_prefix(b"sep=")?;
    let (delimiter, end) = rest.split_first()?;
    let end = if end.starts_with(b"\r\n") { 2 } else { 1 };
    Some((*delimiter, 5 + end))
}

/// The delimiter that is most frequent in the first line that says anything.
fn delimiter(text: &[u8]) -> u8 {
    let says = |line: &&[u8]| line.iter().any(u8::is_ascii_alphanumeric);
    let first = text.split(|byte| *byte == b'\n').find(says).unwrap_or(text);
    let count = |delimiter: &u8| first.iter().filter(|byte| *byte == delimiter).count();
    [b'\t', b';', b','].into_iter().max_by_key(count).unwrap_or(b',')
}

#[cfg(test)]
mod tests;
