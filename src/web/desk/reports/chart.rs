//! A bar chart over days, as SVG. Lengths are in units of the drawing.

use crate::i18n::language::Language;
use crate::i18n::number::grouped;

const WIDTH: f64 = 560.0;
const HEIGHT: f64 = 180.0;
/// Width of the scale at the left.
const LEFT: f64 = 48.0;
/// Days that are labelled.
const LABELS: usize = 6;
/// Most bars that are drawn one by one, with a tooltip each; more are drawn as one path.
const SINGLE_BARS_MAX: usize = 120;

pub(super) struct Chart {
    pub id: &'static str,
    pub title: String,
    /// Text alternative of the chart.
    pub description: String,
    pub width: f64,
    pub height: f64,
    pub bars: Vec<Bar>,
    /// All bars as one path, where there are more than [`SINGLE_BARS_MAX`].
    pub path: String,
    /// Lines of the scale: vertical position and value.
    pub scale: Vec<(String, String)>,
    /// Labels of days: horizontal position and text.
    pub labels: Vec<(String, String)>,
    pub left: f64,
}

pub(super) struct Bar {
    pub x: String,
    pub y: String,
    pub width: String,
    pub height: String,
    /// Tooltip.
    pub tooltip: String,
}

impl Chart {
    /// One bar a day. `days` has a short label and the value of each.
    pub(super) fn bars(
        id: &'static str,
        title: String,
        description: String,
        days: &[(&str, i64)],
        language: Language,
    ) -> Chart {
        let most = round_up(days.iter().map(|(_, value)| *value).max().unwrap_or(0));
        let step = (WIDTH - LEFT) / days.len().max(1) as f64;
        let up = |value: i64| HEIGHT * (1.0 - value as f64 / most as f64);
        let px = |length: f64| format!("{length:.1}");
        let bar = |(place, (date, value)): (usize, &(&str, i64))| Bar {
            x: px(LEFT + step * (place as f64 + 0.1)),
            y: px(up(*value)),
            width: px(step * 0.8),
            height: px(HEIGHT - up(*value)),
            tooltip: format!("{date}: {}", grouped(language, *value)),
        };
        let seen = || days.iter().enumerate().filter(|(_, (_, value))| *value > 0);
        let pointed = days.len() <= SINGLE_BARS_MAX;
        let stroke = |(place, (_, value)): (usize, &(&str, i64))| {
            format!("M{:.1} {HEIGHT}V{:.1}h{:.1}V{HEIGHT}z", LEFT + step * (place as f64 + 0.1), up(*value), step * 0.8)
        };
        let every = days.len().div_ceil(LABELS).max(1);
        let label =
            |(place, (date, _)): (usize, &(&str, i64))| (px(LEFT + step * (place as f64 + 0.5)), (*date).to_owned());
        Chart {
            id,
            title,
            description,
            width: WIDTH,
            height: HEIGHT,
            bars: if pointed { seen().map(bar).collect() } else { Vec::new() },
            path: if pointed { String::new() } else { seen().map(stroke).collect() },
            scale: [0, most / 2, most].iter().map(|value| (px(up(*value)), grouped(language, *value))).collect(),
            labels: days.iter().enumerate().step_by(every).map(label).collect(),
            left: LEFT,
        }
    }
}

/// The end of a scale: the next even multiple of a power of ten, at least 10.
fn round_up(value: i64) -> i64 {
    let mut step = 1;
    while value > 10 * step {
        step *= 10;
    }
    let even = 2 * step;
    ((value + even - 1) / even * even).max(10)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_scale_ends_with_a_round_number_above_all_bars() {
        for (most, end) in [(0, 10), (7, 10), (11, 20), (99, 100), (101, 200), (730, 800), (9_100, 10_000)] {
            assert_eq!(round_up(most), end, "{most}");
        }
    }

    #[test]
    fn bars_stand_on_the_ground_and_are_as_tall_as_their_values() {
        let days = [("20 Nov", 0), ("21 Nov", 10), ("22 Nov", 5)];
        let chart = Chart::bars("x", String::new(), String::new(), &days, Language::English);
        let tall: Vec<_> = chart.bars.iter().map(|bar| (bar.y.as_str(), bar.height.as_str())).collect();
        assert_eq!(tall, [("0.0", "180.0"), ("90.0", "90.0")]);
        assert_eq!(chart.labels[0].1, "20 Nov");
        assert!(Chart::bars("x", String::new(), String::new(), &[], Language::English).bars.is_empty());
    }
}
