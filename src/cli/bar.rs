//! Long work as people see it: one bar a step, on a terminal only.

use indicatif::{ProgressBar, ProgressStyle};

pub(crate) struct Bar {
    bar: ProgressBar,
    step: String,
}

impl Bar {
    pub(crate) fn new(visible: bool) -> Bar {
        let style = ProgressStyle::with_template("{msg:<28} {bar:40} {percent:>3} %").expect("the template is sound");
        let bar = if visible { ProgressBar::new(1).with_style(style) } else { ProgressBar::hidden() };
        Bar { bar, step: String::new() }
    }

    pub(crate) fn tell(&mut self, step: &str, done: u64, total: u64) {
        if self.step != step {
            step.clone_into(&mut self.step);
            self.bar.set_message(step.to_owned());
        }
        self.bar.set_length(total.max(1));
        self.bar.set_position(done);
    }
}

impl Drop for Bar {
    fn drop(&mut self) {
        self.bar.finish_and_clear();
    }
}
