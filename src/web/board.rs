//! The board: a television in the hall that shows who flies next, by quarter of an hour, with initials. It is paired like a kiosk,
//! reads itself anew at each change, and says how old it is when the site does not answer. Loaded without the site, it waits for it.

use super::kiosk::start::pairing_page;
use super::{Frame, query_text, show as shown, worker as workers};
use crate::app;
use crate::auth::board;
use crate::auth::kiosk::{self, Paired};
use crate::domain::board::Named;
use crate::http::Answer;
use crate::http::call::Call;
use crate::http::reply;
use crate::i18n::language::{Language, Text};
use crate::moment::Moment;
use crate::site::Site;
use crate::store::queries::board::{self as flyers, Flyer};
use crate::store::tables::bookings;
use crate::store::tables::kiosks::Kind;
use crate::web::form;
use askama::Template;
use http::StatusCode;

const QUARTER_SECONDS: i64 = 900;
const CODE_CHARS_MAX: usize = 20;
/// Flyers of a day beyond these are only counted.
const FLYERS_MAX: i64 = 500;
/// What a screen has room for without scrolling, in letters that are read at eight metres: lines, and the width of a line and of
/// a letter as parts of the letters' height. With a message there is a line less.
const LINES_MAX: usize = 7;
const LINE_WIDTH: f64 = 20.5;
const LETTER_WIDTH: f64 = 0.66;
const FLYER_WIDTH: f64 = 1.5;

#[derive(Template)]
#[template(path = "board.html", config = "assets/templates/askama.toml")]
struct Page {
    frame: Frame,
    clock: String,
    message: String,
    /// The free minutes of the next hour; `None`: the site does not count them.
    free: Option<String>,
    lines: Vec<Line>,
    /// The text without a line.
    empty: &'static str,
    /// How many come later than those that are shown; empty: nobody.
    later: String,
    /// The text of an outage before and after the minutes that the page is old.
    away: [String; 2],
}

/// A line of the screen. A quarter with many flyers has several; the later ones have no time.
#[derive(Debug, PartialEq)]
struct Line {
    clock: String,
    is_now: bool,
    flyers: Vec<Shown>,
    /// Flyers of this quarter that have no room; 0: none.
    more: usize,
    free: String,
}

#[derive(Debug, Clone, PartialEq)]
struct Shown {
    name: String,
    is_here: bool,
}

/// A quarter of an hour with its flyers.
struct Quarter {
    clock: String,
    is_now: bool,
    flyers: Vec<Shown>,
    free: String,
}

/// The language of `?language=` or of the screen.
fn language(call: &Call) -> Language {
    call.find_language(&query_text(call, "language")).unwrap_or_else(|| call.language())
}

/// `GET /board`: who flies next, or the form for pairing.
pub(crate) fn show(site: &Site, call: &Call) -> Answer {
    if board::find(site, call)?.is_none() {
        return unpaired(site, call, None);
    }
    let (zone, language, now) = (site.time_zone()?, language(call), site.now());
    let config = &site.config;
    let begins = now.rounded_down(QUARTER_SECONDS);
    let until = zone.day(now, 0).to;
    let has = config.minutes_per_quarter_hour;
    let (found, load) = site.store.read(|tx| {
        let found = flyers::list_flyers(tx, site.tunnel_id, (begins, until), FLYERS_MAX)?;
        Ok((found, bookings::list_load(tx, site.tunnel_id, (begins, until), QUARTER_SECONDS)?))
    })?;
    let booked = |quarter: i64| load.iter().find(|(number, _)| *number == quarter).map_or(0, |(_, minutes)| *minutes);
    let free_of = |quarter: i64| (has - booked(quarter)).max(0);
    let say_free = |key, minutes: i64| language.say(&Text::new(key).with_count("minutes", minutes));
    let mut quarters: Vec<(i64, Quarter)> = Vec::new();
    for flyer in &found {
        let number = (flyer.flight_date - begins) / QUARTER_SECONDS;
        let shown = Shown { name: name(flyer, config.board.first_names, now), is_here: flyer.is_here };
        match quarters.last_mut().filter(|(last, _)| *last == number) {
            Some((_, quarter)) => quarter.flyers.push(shown),
            None => quarters.push((
                number,
                Quarter {
                    clock: zone.clock(begins + number * QUARTER_SECONDS),
                    is_now: number == 0,
                    flyers: vec![shown],
                    free: if has > 0 { say_free("board.free", free_of(number)) } else { String::new() },
                },
            )),
        }
    }
    let message = config.board.message.clone();
    let room = LINES_MAX - usize::from(!message.is_empty());
    let (lines, left) = lay_out(quarters.into_iter().map(|(_, quarter)| quarter), room);
    let page = Page {
        frame: Frame::named(site.name()?, language),
        clock: zone.clock(now),
        message,
        free: (has > 0).then(|| say_free("board.free_hour", (0..4).map(free_of).sum())),
        lines,
        empty: "board.nobody",
        later: if left > 0 { language.say(&Text::new("board.later").with_count("count", left)) } else { String::new() },
        away: away(language, &zone.clock(now)),
    };
    Ok(shown(StatusCode::OK, language, &page))
}

/// `GET /board/away`: the board without the site. Its script shows the rest as soon as the site answers.
pub(crate) fn show_away(site: &Site, call: &Call) -> Answer {
    let language = language(call);
    let page = Page {
        frame: Frame::named(site.name()?, language),
        clock: String::new(),
        message: String::new(),
        free: None,
        lines: Vec::new(),
        empty: "board.unreachable",
        later: String::new(),
        away: Default::default(),
    };
    Ok(shown(StatusCode::OK, language, &page))
}

/// `GET /board/worker.js`: the service worker, which shows that page where the board is loaded without the site.
pub(crate) fn worker(_: &Site, _: &Call) -> Answer {
    Ok(workers::serve("/board", "/board/away", &["board.js", "page.js", "board.css"], &[]))
}

fn away(language: Language, clock: &str) -> [String; 2] {
    let text = language.say(&Text::new("board.away").with("clock", clock).with("minutes", '\u{0}'));
    let (before, after) = text.split_once('\u{0}').unwrap_or((&text, ""));
    [before, after].map(str::to_owned)
}

fn name(flyer: &Flyer, first_names: bool, now: Moment) -> String {
    let Flyer { member_id, ref real_name, dob, by_number, .. } = *flyer;
    Named { member_id, real_name, dob, by_number }.on_board(first_names, now)
}

/// The lines of these quarters as far as the screen has room, and how many flyers have none in a quarter that is not shown.
fn lay_out(quarters: impl Iterator<Item = Quarter>, mut room: usize) -> (Vec<Line>, usize) {
    let (mut lines, mut left) = (Vec::new(), 0);
    for quarter in quarters {
        if room == 0 {
            left += quarter.flyers.len();
            continue;
        }
        let mut rest = &quarter.flyers[..];
        let mut is_first = true;
        while !rest.is_empty() && room > 0 {
            room -= 1;
            let fitting = count_fitting(rest);
            // The last line of all leaves a place for the number of those that have none.
            let is_cut = room == 0 && fitting < rest.len();
            let taken = if is_cut { fitting.saturating_sub(1).max(1) } else { fitting };
            let (now, later) = rest.split_at(taken);
            rest = later;
            lines.push(Line {
                clock: if is_first { quarter.clock.clone() } else { String::new() },
                is_now: quarter.is_now,
                flyers: now.to_vec(),
                more: if is_cut { rest.len() } else { 0 },
                free: if is_first { quarter.free.clone() } else { String::new() },
            });
            is_first = false;
        }
    }
    (lines, left)
}

/// How many of these have room in one line; one at least.
fn count_fitting(flyers: &[Shown]) -> usize {
    let mut width = 0.0;
    let fits = |one: &&Shown| {
        width += FLYER_WIDTH + LETTER_WIDTH * one.name.chars().count() as f64;
        width <= LINE_WIDTH
    };
    flyers.iter().take_while(fits).count().max(1)
}

fn unpaired(site: &Site, call: &Call, problem: Option<&'static str>) -> Answer {
    let frame = Frame::named(site.name()?, language(call));
    Ok(pairing_page(frame, (["board.pair_title", "board.pair_first"], "/board/pair"), problem))
}

/// `POST /board/pair`: pairs this browser as a board, with a code of the desk.
pub(crate) fn pair(site: &Site, call: &Call) -> Answer {
    let code = form(call)?.line("code", CODE_CHARS_MAX);
    match app::change_by_stranger(site, call, |cx| kiosk::pair(site, call, cx.tx, Kind::Board, &code))? {
        Paired::Right(key) => Ok(board::KEY.set(site, call, reply::see_other("/board"), &key)),
        Paired::OfOtherKind => unpaired(site, call, Some("board.pair_is_kiosk")),
        Paired::Wrong => unpaired(site, call, Some("kiosk.pair_wrong")),
        Paired::Delayed => unpaired(site, call, Some("kiosk.wait")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn quarter(clock: &str, name: &str, count: usize) -> Quarter {
        let flyers = vec![Shown { name: name.to_owned(), is_here: false }; count];
        Quarter { clock: clock.to_owned(), is_now: false, flyers, free: "free".to_owned() }
    }

    /// Time, flyers and the number of those without room of each line; and those of quarters that are not shown.
    fn lines(quarters: Vec<Quarter>, room: usize) -> (Vec<(String, usize, usize)>, usize) {
        let (lines, left) = lay_out(quarters.into_iter(), room);
        (lines.into_iter().map(|line| (line.clock, line.flyers.len(), line.more)).collect(), left)
    }

    #[test]
    fn a_board_has_no_more_lines_than_its_room_and_counts_everybody() {
        let row = |clock: &str, flyers, more| (clock.to_owned(), flyers, more);
        assert_eq!(lines(vec![], 7), (vec![], 0));
        let one = lines(vec![quarter("14:00", "AB", 3), quarter("14:15", "CD", 1)], 7);
        assert_eq!(one, (vec![row("14:00", 3, 0), row("14:15", 1, 0)], 0));
        assert_eq!(lines(vec![quarter("14:00", "AB", 9)], 7).0, [row("14:00", 7, 0), row("", 2, 0)]);
        let (cut, left) = lines(vec![quarter("14:00", "AB", 40), quarter("14:15", "CD", 5)], 3);
        assert_eq!((cut, left), (vec![row("14:00", 7, 0), row("", 7, 0), row("", 6, 20)], 5));
        assert_eq!(lines(vec![quarter("14:00", "#123456", 4)], 1).0, [row("14:00", 2, 2)], "a number is wider");
    }
}
