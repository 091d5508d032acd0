//! The settings that admins change in pages. What the file, the environment or a flag says wins over them.

use super::{Config, Setting, Settings, typed_like};
use std::collections::BTreeMap;
use toml::Value;

/// The origin of what an admin set in pages.
const ORIGIN: &str = "the pages";
/// Origins that a setting of the pages replaces.
const REPLACED: [&str; 2] = ["the defaults", "--demo"];

/// How a setting is typed on the page.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Input {
    /// A whole number between these.
    Whole(i64, i64),
    /// An amount in the currency of the fee, stored in its smallest unit.
    Money,
    Truth,
    Line,
    /// Several words, separated by commas.
    List,
    Choice(&'static [&'static str]),
    /// Never shown; an empty field leaves it as it is.
    Secret,
}

/// The settings that a page shows and saves together.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Group {
    Membership,
    Flying,
    Waiver,
    Papers,
    Board,
    Reminders,
    Mail,
    Sms,
    Addresses,
}

impl Group {
    pub(crate) const ALL: [Group; 9] = [
        Group::Membership,
        Group::Flying,
        Group::Waiver,
        Group::Papers,
        Group::Board,
        Group::Reminders,
        Group::Mail,
        Group::Sms,
        Group::Addresses,
    ];

    /// The name in addresses and forms.
    pub(crate) fn name(self) -> &'static str {
        ["membership", "flying", "waiver", "papers", "board", "reminders", "mail", "sms", "addresses"][self as usize]
    }

    /// The key of the heading.
    pub(crate) fn key(self) -> &'static str {
        [
            "settings.membership",
            "settings.flying",
            "settings.waiver",
            "settings.papers",
            "settings.board",
            "settings.reminders",
            "settings.mail",
            "settings.sms",
            "settings.addresses",
        ][self as usize]
    }

    pub(crate) fn parse(name: &str) -> Option<Group> {
        Group::ALL.into_iter().find(|group| group.name() == name)
    }

    /// Whether a thief could divert codes and links by a change, so that every admin is told.
    pub(crate) fn is_guarded(self) -> bool {
        matches!(self, Group::Mail | Group::Sms | Group::Addresses)
    }

    /// The settings of the group, in the order of the page.
    pub(crate) fn settings(self) -> impl Iterator<Item = &'static DeskSetting> {
        DESK.iter().filter(move |one| one.group == self)
    }
}

/// A setting that admins change in pages.
pub(crate) struct DeskSetting {
    pub(crate) group: Group,
    /// As in the file.
    pub(crate) key: &'static str,
    /// The key of its label.
    pub(crate) label: &'static str,
    pub(crate) input: Input,
    /// Takes the checked value over.
    take: fn(&mut Config, &Config),
}

macro_rules! desk_settings {
    ($($group:ident $key:literal $input:expr => $($field:ident).+;)*) => {
        /// Every setting of the pages.
        static DESK: &[DeskSetting] = &[$(DeskSetting {
            group: Group::$group,
            key: $key,
            label: concat!("setting.", $key),
            input: $input,
            take: |to, from| to.$($field).+.clone_from(&from.$($field).+),
        }),*];
    };
}

desk_settings! {
    Membership "membership.yearly_fee_cents" Input::Money => yearly_fee_cents;
    Membership "membership.currency" Input::Line => fee_currency;
    Flying "tunnel.minutes_per_quarter_hour" Input::Whole(0, 600) => minutes_per_quarter_hour;
    Flying "tunnel.usual_minutes" Input::List => usual_minutes;
    Flying "tunnel.kiosk_minutes" Input::List => kiosk_minutes;
    Flying "tunnel.cancel_hours" Input::Whole(0, 8_760) => cancel_hours;
    Flying "tunnel.evening_until_hour" Input::Whole(0, 12) => evening_until_hour;
    Waiver "waiver.required" Input::Truth => waiver.required;
    Waiver "waiver.valid_days" Input::Whole(0, 36_500) => waiver.valid_days;
    Waiver "waiver.guardian_below_years" Input::Whole(0, 99) => waiver.guardian_below_years;
    Papers "papers.name" Input::Line => papers.name;
    Papers "papers.address" Input::Line => papers.address;
    Papers "papers.tax_number" Input::Line => papers.tax_number;
    Board "board.first_names" Input::Truth => board.first_names;
    Board "board.message" Input::Line => board.message;
    Reminders "reminders.enabled" Input::Truth => reminders.enabled;
    Reminders "reminders.from_hour" Input::Whole(0, 23) => reminders.from_hour;
    Reminders "reminders.until_hour" Input::Whole(1, 24) => reminders.until_hour;
    Mail "mail.server" Input::Line => mail;
    Mail "mail.security" Input::Choice(&["starttls", "tls", "none"]) => mail;
    Mail "mail.username" Input::Line => mail;
    Mail "mail.password" Input::Secret => mail;
    Mail "mail.from" Input::Line => mail;
    Mail "mail.reply_to" Input::Line => mail;
    Mail "mail.contact_to" Input::Line => contact_to;
    Sms "sms.url" Input::Line => sms;
    Sms "sms.body" Input::Line => sms;
    Sms "sms.token" Input::Secret => sms;
    Sms "sms.calling_codes" Input::List => calling_codes;
    Addresses "names" Input::List => names;
    Addresses "public_url" Input::Line => public_url;
}

/// The amount of a year's fee, and the currency that it is in: neither says anything without the other.
pub(crate) const FEE: &str = "membership.yearly_fee_cents";
pub(crate) const CURRENCY: &str = "membership.currency";

impl DeskSetting {
    /// Whether a value is so unusual that it is asked about once: a slip of the finger closes a hall, or makes it free. `units`: of
    /// the currency, in its smallest.
    pub(crate) fn is_odd(&self, value: &str, units: i64) -> bool {
        let each = || value.split(',').filter_map(|one| one.trim().parse::<i64>().ok());
        let beyond = |usual: std::ops::RangeInclusive<i64>| each().any(|number| !usual.contains(&number));
        match self.key {
            "membership.yearly_fee_cents" => beyond(units..=1_000 * units.max(100)),
            "tunnel.minutes_per_quarter_hour" => beyond(5..=60),
            "tunnel.usual_minutes" | "tunnel.kiosk_minutes" => beyond(1..=60),
            "tunnel.cancel_hours" => beyond(0..=168),
            "waiver.valid_days" => beyond(1..=1_830),
            "waiver.guardian_below_years" => beyond(14..=21),
            _ => false,
        }
    }
}

/// The setting of this key.
pub(crate) fn find(key: &str) -> Option<&'static DeskSetting> {
    DESK.iter().find(|one| one.key == key)
}

/// The settings as they were typed when the site began. They are no part of what a configuration is equal to, and are not shown.
#[derive(Clone, Default)]
pub struct Typed(BTreeMap<String, Setting>);

impl PartialEq for Typed {
    fn eq(&self, _: &Typed) -> bool {
        true
    }
}

impl std::fmt::Debug for Typed {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Typed")
    }
}

impl Typed {
    pub(super) fn of(settings: &BTreeMap<String, Setting>) -> Typed {
        Typed(settings.clone())
    }
}

/// Whether a setting of the pages wins over what has this origin.
fn is_replaced(origin: &str) -> bool {
    REPLACED.iter().any(|replaced| origin.starts_with(replaced))
}

/// The text of a value of the pages as it may leave the site's process: a secret is not shown.
pub(crate) fn hidden(key: &str, text: String) -> String {
    if super::SECRETS.contains(&key) && !text.is_empty() { super::HIDDEN.to_owned() } else { text }
}

impl Settings {
    /// Adds what admins set in pages, keys and values, where neither the file, the environment nor a flag says otherwise. Returns
    /// the settings that it was.
    pub(crate) fn add_desk(&mut self, set: &[(String, String)]) -> Vec<&'static DeskSetting> {
        let mut added = Vec::new();
        for (key, text) in set {
            let Some((setting, typed)) = find(key).zip(self.typed.get(key)) else { continue };
            if is_replaced(&typed.origin) {
                let value = typed_like(&typed.value, text);
                self.set(key, value, &format!("{ORIGIN}: {key}"));
                added.push(setting);
            }
        }
        added
    }
}

impl Config {
    /// Where the value of a setting of the pages stands, if that place wins over the pages: a file, the environment, a flag.
    pub(crate) fn fixed_by(&self, key: &str) -> Option<String> {
        let origin = &self.typed.0.get(key)?.origin;
        (!is_replaced(origin)).then(|| origin.rsplit_once(": ").map_or(origin.as_str(), |(file, _)| file).to_owned())
    }

    /// The text of a setting as it began, without what admins set, for a field of the page. A secret is not shown.
    pub(crate) fn text_at_start(&self, key: &str) -> String {
        let shown = self.typed.0.get(key).filter(|_| !super::SECRETS.contains(&key));
        shown.map_or_else(String::new, |setting| text_of(&setting.value))
    }

    /// This configuration, as the site began with it, with what admins set in pages: keys and values. The error is one line a
    /// mistake.
    pub(crate) fn with_desk(&self, set: &[(String, String)]) -> Result<Config, Vec<String>> {
        let mut settings = Settings::new();
        let sections = |key: &str| find(key).is_some() || key.starts_with("mail.") || key.starts_with("sms.");
        for (key, setting) in self.typed.0.iter().filter(|(key, _)| sections(key)) {
            settings.typed.insert(key.clone(), setting.clone());
        }
        let added = settings.add_desk(set);
        let checked = settings.check()?;
        let mut config = self.clone();
        for setting in added {
            (setting.take)(&mut config, &checked);
        }
        Ok(config)
    }
}

/// A value as it is typed into a field.
fn text_of(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        Value::Array(items) => items.iter().map(text_of).collect::<Vec<_>>().join(", "),
        value => value.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn set(key: &str, value: &str) -> (String, String) {
        (key.to_owned(), value.to_owned())
    }

    #[test]
    fn what_an_admin_sets_counts_unless_the_file_says_otherwise() {
        let start = crate::config::with("[tunnel]\ncancel_hours = 12").unwrap();
        let rows =
            [set("tunnel.cancel_hours", "3"), set("tunnel.kiosk_minutes", "2, 5"), set("waiver.required", "true")];
        let now = start.with_desk(&rows).unwrap();
        assert_eq!((now.cancel_hours, &now.kiosk_minutes, now.waiver.required), (12, &vec![2, 5], true));
        assert_eq!(start.fixed_by("tunnel.cancel_hours").as_deref(), Some("t.toml"));
        assert_eq!(start.fixed_by("tunnel.kiosk_minutes"), None);
    }

    #[test]
    fn a_slip_of_the_finger_is_odd_and_what_halls_set_is_not() {
        let odd = |key: &str, value: &str| find(key).is_some_and(|setting| setting.is_odd(value, 100));
        for (key, usual, slip) in [
            ("membership.yearly_fee_cents", "4500", "0"),
            ("membership.yearly_fee_cents", "100000", "100000000"),
            ("tunnel.minutes_per_quarter_hour", "15", "500"),
            ("tunnel.kiosk_minutes", "2, 5, 10", "2, 500"),
            ("waiver.valid_days", "365", "0"),
        ] {
            assert!(!odd(key, usual) && odd(key, slip), "{key}");
        }
    }

    #[test]
    fn a_mistake_of_an_admin_is_named_and_changes_nothing() {
        let start = Config::defaults();
        for (key, value) in [
            ("mail.server", "mail.example.org"),
            ("mail.server", "mail.example.org:587"),
            ("tunnel.cancel_hours", "many"),
            ("names", "https://x"),
            ("membership.currency", "FRANCS"),
        ] {
            assert!(start.with_desk(&[set(key, value)]).is_err(), "{key} {value}");
        }
    }

    #[test]
    fn every_setting_of_the_pages_is_one_of_the_file() {
        let start = Config::defaults();
        for setting in DESK {
            assert!(start.typed.0.contains_key(setting.key), "{}", setting.key);
            assert!(
                (setting.input == Input::Secret) == crate::config::SECRETS.contains(&setting.key),
                "{}",
                setting.key
            );
        }
    }
}
