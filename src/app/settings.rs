//! Settings that admins change in pages: each change is a row, is audited, and is undone by another. What could divert codes
//! or links is told to every admin.

use super::{Change, notice};
use crate::config::desk::{self, DeskSetting};
use crate::domain::audit::{Detail, Subject};
use crate::domain::ids::ChangeId;
use crate::http::failure::{Failure, Stop};
use crate::site::live;
use crate::store::tables::settings;

/// The notice to every admin about a change of mail, SMS or addresses.
const WARNING: &str = "notice.settings_changed";

/// A setting with the value that it gets; `None`: the default.
pub(crate) type NewValue = (&'static DeskSetting, Option<String>);

/// Why settings stay as they are: one line a mistake.
pub(crate) type Mistakes = Vec<String>;

/// Sets values that differ from those in force. All are checked together; with a mistake none is set. Audited. 403 unless the
/// actor is an admin, and for mail, SMS and addresses also without a proof of identity since the sign-in. After the commit [`Site::load_settings`] puts them in force.
pub(crate) fn set(cx: &Change, values: &[NewValue]) -> Result<(), Stop<Mistakes>> {
    cx.check_admin()?;
    let before = live::read(&cx.site.keys, cx.tx)?;
    let mut after = before.clone();
    let mut changed = Vec::new();
    for (setting, value) in values {
        let known = before.iter().find(|(key, _)| key == setting.key).map(|(_, value)| value);
        if known == value.as_ref() || cx.site.config.fixed_by(setting.key).is_some() {
            continue;
        }
        after.retain(|(key, _)| key != setting.key);
        after.extend(value.clone().map(|value| (setting.key.to_owned(), value)));
        changed.push((*setting, value));
    }
    cx.site.config.start().with_desk(&after).map_err(Stop::Denied)?;
    let is_guarded = changed.iter().any(|(setting, _)| setting.group.is_guarded());
    if is_guarded {
        cx.check_proven_anew()?;
    }
    for (setting, value) in &changed {
        let change_id = settings::insert(cx.tx, &cx.site.keys, setting.key, value.as_deref(), cx.member_id())?;
        let detail = Detail::none().number("change_id", change_id).word("key", setting.key);
        cx.record("setting.changed", &Subject::Site, &detail)?;
    }
    if is_guarded {
        notice::tell_admins(cx, WARNING)?;
    }
    Ok(())
}

/// The setting that a change was about, with the value before it. `None` where a later change of the same setting stands, or
/// where the pages do not change the setting any more.
pub(crate) fn undoing(cx: &Change, change_id: ChangeId) -> Result<Option<NewValue>, Failure> {
    let change = settings::find(cx.tx, change_id)?.ok_or_else(Failure::not_found)?;
    let Some(setting) = desk::find(&change.key).filter(|_| change.is_last) else { return Ok(None) };
    let before = settings::find_before(cx.tx, change_id, &change.key)?;
    Ok(Some((setting, before.and_then(|before| before.value(&cx.site.keys)))))
}
