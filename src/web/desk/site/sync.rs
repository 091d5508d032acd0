//! The sync upstream: its status, and a button that runs it now.

use super::{PART, tone};
use crate::auth::Clerk;
use crate::domain::local_time::TimeZone;
use crate::domain::when;
use crate::http::Answer;
use crate::http::call::Call;
use crate::http::failure::Failure;
use crate::http::reply;
use crate::i18n::language::Text;
use crate::jobs::sync;
use crate::jobs::sync::on_demand::SyncNow;
use crate::ops::on_demand;
use crate::site::Site;

/// The status of the sync, in words.
pub(crate) struct Upstream {
    /// Empty where the settings name no receiver.
    pub receiver: String,
    pub text: String,
    /// CSS class and text of the outcome of the last manual run.
    pub last_run: Option<(&'static str, String)>,
}

pub(crate) fn status(site: &Site, call: &Call, zone: &TimeZone) -> Result<Upstream, Failure> {
    // Read before the counts, so that rows reported as sent are not counted as waiting.
    let last_run = on_demand::last::<SyncNow>(site);
    let status = sync::status(site)?;
    let text = match (status.upstream.is_empty(), status.taken_at) {
        (true, _) => Text::new("site.sync_none"),
        (false, None) => Text::new("site.sync_never"),
        (false, Some(at)) => Text::new("site.sync_taken")
            .with("cursor", status.cursor)
            .with("at", when::moment(call.language(), zone, at)),
    };
    let last_run = last_run.map(|run| {
        let text = match &run.outcome {
            None => Text::new("site.sync_under_way").with("at", when::moment(call.language(), zone, run.began_at)),
            Some(Ok(rows)) => Text::new("site.sync_made").with_count("rows", rows.parse::<i64>().unwrap_or_default()),
            Some(Err(why)) => Text::new("site.sync_failed").with("why", why),
        };
        (tone(Some(&run)), call.language().say(&text))
    });
    let mut text = call.language().say(&text);
    if status.waiting_rows > 0 {
        text = format!(
            "{text} {}",
            call.language().say(&Text::new("site.sync_waits").with_count("rows", status.waiting_rows))
        );
    }
    Ok(Upstream { receiver: status.upstream, text, last_run })
}

/// `POST /desk/site/sync`
pub(crate) fn now(site: &Site, _: &Call, _: &Clerk) -> Answer {
    if site.config.sync.is_none() {
        return Err(Failure::not_configured().saying(Text::new("site.sync_none_next")));
    }
    let word = if sync::on_demand::begin(site) { "begun" } else { "busy" };
    Ok(reply::see_other(&format!("{PART}?done={word}#upstream")))
}
