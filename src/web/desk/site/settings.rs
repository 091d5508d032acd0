//! *Settings*: what admins set in pages, made from the one list of such settings. Each change is undone by one click.

use super::PART;
use crate::app::settings::{self as effect, NewValue};
use crate::app::{self, Change};
use crate::auth::Clerk;
use crate::config::desk::{self, DeskSetting, Group, Input};
use crate::domain::ids::ChangeId;
use crate::domain::payment::Price;
use crate::domain::till::parse_amount;
use crate::domain::when;
use crate::http::Answer;
use crate::http::call::{Call, host_name};
use crate::http::failure::Failure;
use crate::http::{fields, reply};
use crate::i18n::language::Text;
use crate::site::{Site, live};
use crate::store::tables::settings::{self as rows, Change as Row};
use crate::web::{Form, Frame, form, form_status, read_form, show as shown};
use askama::Template;
use std::net::IpAddr;

const DONE: [(&str, &str); 2] = [("saved", "settings.done_saved"), ("undone", "settings.done_undone")];
const CHANGES_SHOWN: i64 = 30;
const VALUE_CHARS_MAX: usize = 500;
const PATH: &str = "/desk/site/settings";
const CURRENCY: &str = "membership.currency";

#[derive(Template)]
#[template(path = "desk/settings.html", config = "assets/templates/askama.toml")]
struct Page {
    frame: Frame,
    groups: Vec<GroupView>,
    changes: Vec<ChangeView>,
    /// The name of the group whose form was refused, or `undo`; empty without one.
    refused: String,
    problem: Option<String>,
}

struct GroupView {
    name: &'static str,
    heading: String,
    guarded: bool,
    /// Whether a setting can be saved: not all stand in the file.
    open: bool,
    fields: Vec<FieldView>,
}

struct FieldView {
    key: &'static str,
    label: String,
    /// How the field is shown: `number`, `text`, `secret`, `truth` or `choice`.
    kind: &'static str,
    value: String,
    least: i64,
    most: i64,
    /// Value and word of each choice.
    choices: Vec<(String, String)>,
    /// Where the value stands, if that place wins over this page.
    fixed: Option<String>,
}

struct ChangeView {
    change_id: ChangeId,
    at: String,
    admin: String,
    what: String,
    /// Whether it can be undone: no later change of the same setting stands.
    is_last: bool,
}

/// A form that was refused: its group, what was typed, and why.
struct Refused {
    group: String,
    typed: Vec<(&'static str, String)>,
    problem: String,
}

/// `GET /desk/site/settings`
pub(crate) fn show(site: &Site, call: &Call, clerk: &Clerk) -> Answer {
    page(site, call, clerk, None)
}

fn page(site: &Site, call: &Call, clerk: &Clerk, refused: Option<Refused>) -> Answer {
    let (frame, zone, language) =
        (Frame::after_action(site, call, clerk, PART, &DONE)?, site.time_zone()?, call.language());
    let (set, changes, currency) = site.store.read(|tx| {
        let currency = site.fee(tx)?.currency.unwrap_or_default();
        Ok((live::read(&site.keys, tx)?, rows::list(tx, CHANGES_SHOWN)?, currency))
    })?;
    let typed = |key: &str| {
        let typed = refused.as_ref().and_then(|refused| refused.typed.iter().find(|(known, _)| *known == key));
        typed.map(|(_, text)| text.clone())
    };
    let group = |group: Group| {
        let fields: Vec<FieldView> =
            group.settings().map(|one| field(site, call, one, typed(one.key), &set, &currency)).collect();
        GroupView {
            name: group.name(),
            heading: call.say(group.key()),
            guarded: group.is_guarded(),
            open: fields.iter().any(|field| field.fixed.is_none()),
            fields,
        }
    };
    let change = |row: Row| {
        let setting = desk::find(&row.key);
        ChangeView {
            change_id: row.change_id,
            at: when::moment(language, &zone, row.set_at),
            what: told(site, call, &row, setting, &currency),
            is_last: row.is_last && setting.is_some(),
            admin: row.admin,
        }
    };
    let (group_name, problem) = refused
        .as_ref()
        .map_or((String::new(), None), |refused| (refused.group.clone(), Some(refused.problem.clone())));
    let page = Page {
        groups: Group::ALL.map(group).into(),
        changes: changes.into_iter().map(change).collect(),
        refused: group_name,
        problem,
        frame,
    };
    Ok(shown(form_status(page.problem.is_some()), language, &page))
}

/// The value of a setting as text: what an admin set, else how the site began.
fn text_in_force(site: &Site, set: &[(String, String)], setting: &DeskSetting) -> String {
    let known = set.iter().find(|(key, _)| key == setting.key && site.config.fixed_by(setting.key).is_none());
    known.map_or_else(|| site.config.text_at_start(setting.key), |(_, value)| value.clone())
}

/// An amount as it is typed, for a stored number of its smallest units.
fn amount(stored: &str, currency: &str) -> String {
    let price = stored.parse().map(|cents| Price { cents, currency: currency.to_owned() }.to_string());
    price.ok().and_then(|price| price.split(' ').next().map(str::to_owned)).unwrap_or_default()
}

fn field(
    site: &Site,
    call: &Call,
    setting: &'static DeskSetting,
    typed: Option<String>,
    set: &[(String, String)],
    currency: &str,
) -> FieldView {
    let stored = text_in_force(site, set, setting);
    let say = |key: &'static str| call.say(key);
    let yes_or_no = [("true", "settings.yes"), ("false", "settings.no")];
    let (kind, least, most) = match setting.input {
        Input::Whole(least, most) => ("number", least, most),
        Input::Truth => ("choice", 0, 0),
        Input::Choice(_) => ("choice", 0, 0),
        Input::Secret => ("secret", 0, 0),
        Input::Money | Input::Line | Input::List => ("text", 0, 0),
    };
    let value = match setting.input {
        Input::Secret => String::new(),
        Input::Money => amount(&stored, currency),
        _ => stored,
    };
    FieldView {
        key: setting.key,
        label: say(setting.label),
        kind,
        value: typed.filter(|_| setting.input != Input::Secret).unwrap_or(value),
        least,
        most,
        choices: match setting.input {
            Input::Truth => yes_or_no.map(|(value, key)| (value.to_owned(), say(key))).into(),
            Input::Choice(values) => values.iter().map(|one| ((*one).to_owned(), (*one).to_owned())).collect(),
            _ => Vec::new(),
        },
        fixed: site
            .config
            .fixed_by(setting.key)
            .map(|place| call.language().say(&Text::new("settings.fixed").with("place", place))),
    }
}

/// A change in words: the setting and its new value. Secrets are not shown.
fn told(site: &Site, call: &Call, row: &Row, setting: Option<&'static DeskSetting>, currency: &str) -> String {
    let Some(setting) = setting else { return row.key.clone() };
    let value = match (setting.input, row.value(&site.keys)) {
        (_, None) => call.say("settings.default"),
        (Input::Secret, _) => call.say("settings.secret"),
        (Input::Money, Some(value)) => amount(&value, currency),
        (Input::Truth, Some(value)) => call.say(if value == "true" { "settings.yes" } else { "settings.no" }),
        (_, Some(value)) if value.is_empty() => call.say("settings.nothing"),
        (_, Some(value)) => value,
    };
    call.language().labelled(&call.say(setting.label), &value)
}

/// `POST /desk/site/settings/{group}`: saves a group.
pub(crate) fn save(site: &Site, call: &Call, clerk: &Clerk) -> Answer {
    let group = Group::parse(call.param(0)).ok_or_else(Failure::not_found)?;
    let mut sent = form(call)?;
    let mut typed: Vec<(&'static str, String)> = Vec::new();
    for setting in group.settings() {
        if sent.has(setting.key) || setting.input != Input::Secret {
            typed.push((setting.key, sent.line(setting.key, VALUE_CHARS_MAX)));
        }
    }
    sent.finish()?;
    let refuse = |problem: String| {
        page(site, call, clerk, Some(Refused { group: group.name().to_owned(), typed: typed.clone(), problem }))
    };
    // An amount is in the currency that the same form names, unless the file names another.
    let named = typed.iter().find(|(key, _)| *key == CURRENCY && site.config.fixed_by(key).is_none());
    let named = named.map(|(_, currency)| currency.to_ascii_uppercase());
    let (set, currency) = site.store.read(|tx| {
        let currency = match &named {
            Some(named) => site.currency(tx, Some(&**named).filter(|named| !named.is_empty()))?,
            None => site.fee(tx)?.currency,
        };
        Ok((live::read(&site.keys, tx)?, currency.unwrap_or_default()))
    })?;
    let mut values: Vec<NewValue> = Vec::new();
    for (key, text) in &typed {
        let Some(setting) = desk::find(key).filter(|_| site.config.fixed_by(key).is_none()) else { continue };
        let value = match setting.input {
            Input::Money => match parse_amount(text, &currency) {
                Some(cents) => cents.to_string(),
                None => return refuse(call.say("till.no_amount")),
            },
            _ => text.clone(),
        };
        if setting.input == Input::Secret || value != text_in_force(site, &set, setting) {
            values.push((setting, Some(value)));
        }
    }
    if let Some(names) = typed.iter().find(|(key, _)| *key == "names").map(|(_, names)| names)
        && !reaches(call, names)
    {
        return refuse(call.say("settings.own_name"));
    }
    match change(site, call, clerk, |_| Ok(Some(values.clone())))? {
        Ok(()) => Ok(reply::see_other(&format!("{PATH}?done=saved#{}", group.name()))),
        Err(problem) => refuse(problem),
    }
}

/// Whether the page that is being read stays reachable under these names.
fn reaches(call: &Call, names: &str) -> bool {
    let Some(host) = call.host().map(|host| host_name(&host)) else { return true };
    let is_address = host.trim_start_matches('[').trim_end_matches(']').parse::<IpAddr>().is_ok();
    is_address || host == "localhost" || names.split(',').any(|name| name.trim().eq_ignore_ascii_case(&host))
}

/// `POST /desk/site/setting-changes/undo`: sets the value from before a change.
pub(crate) fn undo(site: &Site, call: &Call, clerk: &Clerk) -> Answer {
    let change_id = read_form(call, |form: &mut Form| form.required("change", fields::id))?;
    let back = |cx: &Change| Ok(effect::undoing(cx, change_id)?.map(|value| vec![value]));
    match change(site, call, clerk, back)? {
        Ok(()) => Ok(reply::see_other(&format!("{PATH}?done=undone#changes"))),
        Err(problem) => page(site, call, clerk, Some(Refused { group: "undo".to_owned(), typed: Vec::new(), problem })),
    }
}

/// Sets values and puts them in force. The error is a problem in words.
fn change(
    site: &Site,
    call: &Call,
    clerk: &Clerk,
    values: impl Fn(&Change) -> Result<Option<Vec<NewValue>>, Failure>,
) -> Result<Result<(), String>, Failure> {
    let asked = app::change(site, clerk, call.language(), |cx| {
        let Some(values) = values(cx)? else { return Ok(Err(call.say("settings.changed_since"))) };
        Ok(effect::set(cx, &values)?.map_err(|mistakes| in_words(call, &mistakes)))
    })?;
    if asked.is_ok() {
        site.load_settings()?;
    }
    Ok(asked)
}

/// The first mistake, after the label of its setting.
fn in_words(call: &Call, mistakes: &[String]) -> String {
    let Some(first) = mistakes.first() else { return String::new() };
    let label = Group::ALL
        .into_iter()
        .flat_map(Group::settings)
        .filter(|setting| {
            first.contains(&format!(": {} =", setting.key)) || first.contains(&format!(": {}:", setting.key))
        })
        .max_by_key(|setting| setting.key.len());
    let what = first.rsplit_once(": ").map_or(first.as_str(), |(_, what)| what);
    let text = Text::new("settings.mistake").with("label", label.map(|one| call.say(one.label)).unwrap_or_default());
    call.language().say(&text.with("what", what))
}
