//! The progress of long work on a terminal: one bar a step.

use indicatif::ProgressStyle;

pub(crate) struct ProgressBar {
    bar: indicatif::ProgressBar,
    step: String,
}

impl ProgressBar {
    pub(crate) fn new(visible: bool) -> ProgressBar {
        let style = ProgressStyle::with_template("{msg:<28} {bar:40} {percent:>3} %").expect("the template is sound");
        let bar =
            if visible { indicatif::ProgressBar::new(1).with_style(style) } else { indicatif::ProgressBar::hidden() };
        ProgressBar { bar, step: String::new() }
    }

    pub(crate) fn set(&mut self, step: &str, done: u64, total: u64) {
        if self.step != step {
            step.clone_into(&mut self.step);
            self.bar.set_message(step.to_owned());
        }
        self.bar.set_length(total.max(1));
        self.bar.set_position(done);
    }
}

impl Drop for ProgressBar {
    fn drop(&mut self) {
        self.bar.finish_and_clear();
    }
}
