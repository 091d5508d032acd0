//! Minutes flown today by the hour, against the average of this weekday, as SVG.

use crate::domain::local_time::TimeZone;
use crate::http::failure::Failure;
use crate::i18n::language::{Language, Text};
use crate::moment::Moment;
use crate::site::Site;
use crate::store::queries::hours;
use crate::store::tables::entries;

/// Weeks whose same weekday makes the average.
const WEEKS: i64 = 4;
const HOUR_SECONDS: i64 = 3600;
/// Hours that are always drawn.
const OPEN: std::ops::RangeInclusive<usize> = 9..=21;
const WIDTH: f64 = 340.0;
const HEIGHT: f64 = 96.0;

/// The sums and the drawing. Lengths are in units of the drawing.
pub(super) struct Chart {
    pub flown: i64,
    /// Average minutes of this weekday by this time of day.
    pub usual: i64,
    /// Text alternative of the chart.
    pub description: String,
    pub weekday: String,
    pub bars: Vec<Bar>,
    pub width: f64,
    pub height: f64,
}

/// One hour.
pub(super) struct Bar {
    pub x: String,
    pub width: String,
    pub y: String,
    pub height: String,
    /// Average minutes, as a line across the bar.
    pub usual_y: String,
    pub usual_x: String,
    pub usual_to: String,
    /// The hour, where it is labelled.
    pub label: Option<usize>,
    pub middle: String,
}

pub(super) fn draw(
    site: &Site,
    zone: &TimeZone,
    now: Moment,
    weekday: &str,
    language: Language,
) -> Result<Chart, Failure> {
    let (mut today, mut usual) = ([0; 24], [0; 24]);
    let mut usual_by_now = 0;
    site.store.read(|tx| {
        let day = zone.day(now, 0);
        // The hourly sums are by UTC hours: in time zones with a fraction of an hour, single flights are read instead.
        let by_hours = day.from.0.rem_euclid(HOUR_SECONDS) == 0;
        let list = |from, to| match by_hours {
            true => hours::list_flown(tx, site.tunnel_id, from, to)
                .map(|found| found.iter().map(|one| (one.at, one.minutes)).collect()),
            false => entries::list_flown(tx, site.tunnel_id, from, to),
        };
        for (at, minutes) in list(day.from, now + 1)? {
            today[zone.hour(at)] += minutes;
        }
        for week in 1..=WEEKS {
            let before = zone.day(now, 7 * week);
            // The earlier day may be an hour shorter (daylight saving time) than the time that has passed today.
            let by_now = (before.from + (now + 1 - day.from)).min(before.to);
            for (at, minutes) in list(before.from, by_now)? {
                usual[zone.hour(at)] += minutes;
                usual_by_now += minutes;
            }
            for (at, minutes) in list(by_now, before.to)? {
                usual[zone.hour(at)] += minutes;
            }
        }
        Ok(())
    })?;
    let flown = today.iter().sum();
    let usual_minutes = usual_by_now / WEEKS;
    let text = Text::new("desk.flown_said")
        .with_count("flown", flown)
        .with_count("usual", usual_minutes)
        .with("weekday", weekday);
    Ok(Chart {
        flown,
        usual: usual_minutes,
        description: language.say(&text),
        weekday: weekday.to_owned(),
        bars: bars(&today, &usual.map(|minutes| minutes as f64 / WEEKS as f64)),
        width: WIDTH,
        height: HEIGHT,
    })
}

fn bars(today: &[i64; 24], usual: &[f64; 24]) -> Vec<Bar> {
    let busy = |hour: &usize| today[*hour] > 0 || usual[*hour] > 0.0;
    let first = (0..24).find(busy).map_or(*OPEN.start(), |hour| hour.min(*OPEN.start()));
    let last = (0..24).rev().find(busy).map_or(*OPEN.end(), |hour| hour.max(*OPEN.end()));
    let most = (0..24).map(|hour| usual[hour].max(today[hour] as f64)).fold(30.0, f64::max);
    let step = WIDTH / (last - first + 1) as f64;
    let up = |minutes: f64| HEIGHT * (1.0 - minutes / most);
    let px = |length: f64| format!("{length:.1}");
    let one = |hour: usize| {
        let left = step * (hour - first) as f64;
        let top = up(today[hour] as f64);
        Bar {
            x: px(left + step * 0.15),
            width: px(step * 0.7),
            y: px(top),
            height: px(HEIGHT - top),
            usual_y: px(up(usual[hour])),
            usual_x: px(left + step * 0.05),
            usual_to: px(left + step * 0.95),
            label: hour.is_multiple_of(3).then_some(hour),
            middle: px(left + step / 2.0),
        }
    };
    (first..=last).map(one).collect()
}
