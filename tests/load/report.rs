//! The results as tables, and as a chart.

use crate::bars::{Figures, Measured};
use std::fmt::Write;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// The time, the machine and the extent of a run.
pub struct About {
    pub date: String,
    pub machine: String,
    pub product: String,
    pub runs: String,
}

impl Figures {
    pub fn as_markdown(&self, about: &About) -> String {
        let mut text = format!("# Load, {}\n\n{}\n\n{}; {}.\n\n", about.date, about.machine, about.product, about.runs);
        text.push_str(
            "| 64 connections | a second | p50 | p99 | p99.9 | CPU of the server each |\n|---|---:|---:|---:|---:|---:|\n",
        );
        for what in self.seen.keys() {
            let times = |of: fn(&crate::generator::Seen) -> Duration| shown(self.time(*what, of));
            let (p50, p99, p999) = (times(|seen| seen.p50), times(|seen| seen.p99), times(|seen| seen.p999));
            let cpu = micros(self.time(*what, |seen| seen.cpu).as_secs_f64() * 1e6);
            let per_second = whole(self.per_second(*what));
            _ = writeln!(text, "| {} | {per_second} | {p50} | {p99} | {p999} | {cpu} |", what.name());
        }
        text.push_str(&self.as_table_of_stations());
        text.push_str("\n| bar | target | reached | |\n|---|---:|---:|---|\n");
        for bar in self.bars() {
            let verdict = if bar.met { "met" } else { "**missed**" };
            _ = writeln!(text, "| {} | {} | {} | {verdict} |", bar.text, bar.target, bar.reached);
        }
        _ = writeln!(text, "\nIdle again after all of it: {:.1} MB.", self.idle_again_kib as f64 / 1024.0);
        text
    }

    /// A chart with one horizontal bar for each measurement, as long as its answers in a second.
    pub fn as_svg(&self, about: &About) -> String {
        const ROW: usize = 26;
        let rows: Vec<(Measured, f64)> = self.seen.keys().map(|what| (*what, self.per_second(*what))).collect();
        let most = rows.iter().map(|row| row.1).fold(1.0, f64::max);
        let mut svg = format!(
            "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 760 {}\" font-family=\"sans-serif\" font-size=\"13\">\n\
             <rect width=\"100%\" height=\"100%\" fill=\"#fff\"/>\n<text x=\"12\" y=\"24\" font-size=\"15\">Answers a second, {}</text>\n",
            rows.len() * ROW + 52,
            about.date
        );
        for (place, (what, per_second)) in rows.iter().enumerate() {
            let (y, width) = (place * ROW + 42, (per_second / most * 440.0).max(1.0));
            let colour = if *what == Measured::Bare { "#9aa5b1" } else { "#2f6f9f" };
            _ = writeln!(
                svg,
                "<text x=\"212\" y=\"{}\" text-anchor=\"end\">{}</text><rect x=\"220\" y=\"{y}\" width=\"{width:.1}\" height=\"18\" \
                 fill=\"{colour}\"/><text x=\"{:.1}\" y=\"{}\">{}</text>",
                y + 14,
                what.name(),
                width + 226.0,
                y + 14,
                whole(*per_second)
            );
        }
        svg + "</svg>\n"
    }
}

/// Saves the tables and the chart beside the benchmark.
pub fn keep(figures: &Figures, about: &About) -> Result<PathBuf, String> {
    let file = place_of("", about)?;
    let picture = file.with_extension("svg");
    let name = picture.file_name().unwrap_or_default().to_string_lossy().into_owned();
    let text = figures.as_markdown(about) + &format!("\n![Answers a second]({name})\n");
    std::fs::write(&file, text).and_then(|()| std::fs::write(&picture, figures.as_svg(about))).map_err(not_kept)?;
    Ok(file)
}

/// Saves one table beside the benchmark, named by the day and `part`.
pub fn keep_text(part: &str, about: &About, text: &str) -> Result<PathBuf, String> {
    let file = place_of(part, about)?;
    std::fs::write(&file, text).map_err(not_kept)?;
    Ok(file)
}

/// A file name that no earlier run of the day has.
fn place_of(part: &str, about: &About) -> Result<PathBuf, String> {
    let dir = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/load/results");
    std::fs::create_dir_all(&dir).map_err(not_kept)?;
    let later = (2..).map(|run| format!("{}{part}-run{run}.md", about.date));
    let mut names = std::iter::once(format!("{}{part}.md", about.date)).chain(later).map(|name| dir.join(name));
    Ok(names.find(|file| !file.exists()).expect("there is always another number"))
}

fn not_kept(e: std::io::Error) -> String {
    format!("the result was not kept: {e}")
}

/// A number with its thousands separated.
pub fn whole(number: f64) -> String {
    let digits = format!("{number:.0}");
    let groups: Vec<&str> =
        digits.as_bytes().rchunks(3).rev().map(|group| std::str::from_utf8(group).unwrap_or("")).collect();
    groups.join(",")
}

pub fn micros(micros: f64) -> String {
    match micros {
        0.0 => "–".to_owned(),
        few if few < 10.0 => format!("{few:.1} µs"),
        micros => format!("{micros:.0} µs"),
    }
}

fn shown(time: Duration) -> String {
    match time.as_secs_f64() * 1e3 {
        0.0 => "–".to_owned(),
        ms if ms < 10.0 => format!("{ms:.2} ms"),
        ms => format!("{ms:.0} ms"),
    }
}
