//! *Settings*: what admins set in pages, made from the one list of such settings. Each change is undone by one click.

use super::PART;
use crate::app::settings::{self as effect, NewValue, NotUndone};
use crate::app::{self, Change};
use crate::auth::Clerk;
use crate::config::desk::{self, CURRENCY, DeskSetting, FEE, Group, Input};
use crate::domain::ids::ChangeId;
use crate::domain::payment::Price;
use crate::domain::till::{example_amount, parse_amount};
use crate::domain::when;
use crate::http::Answer;
use crate::http::call::{Call, host_name};
use crate::http::failure::{Failure, Stop};
use crate::http::{fields, reply};
use crate::i18n::language::Text;
use crate::site::{Site, live};
use crate::store::Read;
use crate::store::tables::settings::{self as rows, Change as Row};
use crate::store::tables::site_texts::{self, Kind};
use crate::web::{Form, Frame, form, form_status, read_form, show as shown};
use askama::Template;
use std::net::IpAddr;

const DONE: [(&str, &str); 2] = [("saved", "settings.done_saved"), ("undone", "settings.done_undone")];
const CHANGES_SHOWN: i64 = 30;
const VALUE_CHARS_MAX: usize = 500;
const SURE_CHARS_MAX: usize = 2_000;
const PATH: &str = "/desk/site/settings";

#[derive(Template)]
#[template(path = "desk/settings.html", config = "assets/templates/askama.toml")]
struct Page {
    frame: Frame,
    groups: Vec<GroupView>,
    changes: Vec<ChangeView>,
    /// The name of the group whose form was refused, or `undo`; empty without one.
    refused: String,
    odd: String,
    problem: Option<String>,
}

struct GroupView {
    name: &'static str,
    heading: String,
    guarded: bool,
    /// A text about the group, with the address where its work is done.
    hint: Option<(String, &'static str)>,
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
    /// The value in force, which the form carries along: somebody else may change it meanwhile.
    seen: String,
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
#[derive(Default)]
struct Refused {
    group: String,
    typed: Vec<(&'static str, String)>,
    problem: String,
    /// The unusual values that the admin is asked about; the same form sent again keeps them.
    odd: String,
}

/// `GET /desk/site/settings`
pub(crate) fn show(site: &Site, call: &Call, clerk: &Clerk) -> Answer {
    page(site, call, clerk, None)
}

fn page(site: &Site, call: &Call, clerk: &Clerk, refused: Option<Refused>) -> Answer {
    let (frame, zone, language) =
        (Frame::after_action(site, call, clerk, PART, &DONE)?, site.time_zone()?, call.language());
    let (set, changes, currency, lacks_text) = site.store.read(|tx| {
        let currency = site.fee(tx)?.currency.unwrap_or_default();
        // A site that requires no waiver reads nothing of them.
        let lacks_text = site.config.waiver.required && site_texts::find_in_force(tx, Kind::Waiver)?.is_none();
        let change = |row: Row| {
            let setting = desk::find(&row.key);
            Ok::<_, Failure>(ChangeView {
                change_id: row.change_id,
                at: when::moment(language, &zone, row.set_at),
                what: told(site, tx, call, &row, setting)?,
                is_last: row.is_last && setting.is_some(),
                admin: row.admin,
            })
        };
        let changes = rows::list(tx, CHANGES_SHOWN)?.into_iter().map(change);
        Ok((live::read(&site.keys, tx)?, changes.collect::<Result<Vec<_>, Failure>>()?, currency, lacks_text))
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
            hint: (group == Group::Waiver && lacks_text)
                .then(|| (call.say("settings.waiver_no_text"), "/desk/texts?kind=waiver")),
            open: fields.iter().any(|field| field.fixed.is_none()),
            fields,
        }
    };
    let (group_name, odd, problem) = refused.as_ref().map_or_else(Default::default, |refused| {
        (refused.group.clone(), refused.odd.clone(), Some(refused.problem.clone()))
    });
    let page = Page { groups: Group::ALL.map(group).into(), changes, refused: group_name, odd, problem, frame };
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

/// A stored value as its field shows it.
fn shown_in_field(setting: &DeskSetting, stored: &str, currency: &str) -> String {
    if setting.input == Input::Money { amount(stored, currency) } else { stored.to_owned() }
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
        _ => shown_in_field(setting, &stored, currency),
    };
    FieldView {
        seen: value.clone(),
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
fn told(
    site: &Site,
    tx: &Read,
    call: &Call,
    row: &Row,
    setting: Option<&'static DeskSetting>,
) -> Result<String, Failure> {
    let Some(setting) = setting else { return Ok(row.key.clone()) };
    let value = match (setting.input, row.value(&site.keys)) {
        (_, None) => call.say("settings.default"),
        (Input::Secret, _) => call.say("settings.secret"),
        // In the currency of then: another later does not change what was meant.
        (Input::Money, Some(value)) => {
            let currency = effect::currency_at(site, tx, row.change_id)?;
            value.parse().map_or(value, |cents| Price { cents, currency }.in_words(call.language()))
        }
        (Input::Truth, Some(value)) => call.say(if value == "true" { "settings.yes" } else { "settings.no" }),
        (_, Some(value)) if value.is_empty() => call.say("settings.nothing"),
        (_, Some(value)) => value,
    };
    Ok(call.language().labelled(&call.say(setting.label), &value))
}

/// What a form of a group says.
struct Sent {
    typed: Vec<(&'static str, String)>,
    /// The label of each setting that somebody else changed since the page was made, with its value of now.
    changed: Vec<String>,
    /// The unusual values that the admin was asked about.
    sure: String,
}

/// Reads the form. A setting that was left as the page showed it keeps its value, which somebody else may have changed since.
fn read(site: &Site, call: &Call, group: Group) -> Result<Sent, Failure> {
    let mut form = form(call)?;
    let (set, currency) =
        site.store.read(|tx| Ok((live::read(&site.keys, tx)?, site.fee(tx)?.currency.unwrap_or_default())))?;
    let mut sent = Sent { typed: Vec::new(), changed: Vec::new(), sure: form.line("sure", SURE_CHARS_MAX) };
    let carries_seen = form.has("seen");
    for setting in group.settings() {
        if !form.has(setting.key) && setting.input == Input::Secret {
            continue;
        }
        let mut text = form.line(setting.key, VALUE_CHARS_MAX);
        if carries_seen && setting.input != Input::Secret {
            let seen = form.line(&format!("seen_{}", setting.key), VALUE_CHARS_MAX);
            let now = shown_in_field(setting, &text_in_force(site, &set, setting), &currency);
            if text == seen {
                text = now;
            } else if seen != now && text != now {
                sent.changed.push(call.language().labelled(&call.say(setting.label), &now));
            }
        }
        sent.typed.push((setting.key, text));
    }
    form.finish()?;
    Ok(sent)
}

/// `POST /desk/site/settings/{group}`: saves a group.
pub(crate) fn save(site: &Site, call: &Call, clerk: &Clerk) -> Answer {
    let group = Group::parse(call.param(0)).ok_or_else(Failure::not_found)?;
    let Sent { typed, changed, sure } = read(site, call, group)?;
    let refuse = |problem: String, odd: String| {
        page(site, call, clerk, Some(Refused { group: group.name().to_owned(), typed: typed.clone(), problem, odd }))
    };
    if !changed.is_empty() {
        let text = Text::new("desk.changed_meanwhile").with("now", changed.join(" · "));
        return refuse(call.language().say(&text), String::new());
    }
    let (values, odd) = match judge(site, call, &typed) {
        Ok(judged) => judged,
        Err(stop) => return refuse(stop.denial()?, String::new()),
    };
    if !odd.is_empty() && odd != sure {
        return refuse(call.language().say(&Text::new("settings.sure").with("values", &odd)), odd);
    }
    match change(site, call, clerk, |cx| effect::set(cx, &values)) {
        Ok(()) => Ok(reply::see_other(&format!("{PATH}?done=saved#{}", group.name()))),
        Err(stop) => refuse(in_words(call, &stop.denial()?), String::new()),
    }
}

/// The values that differ from those in force, and the unusual ones among them in words; or what is wrong.
fn judge(site: &Site, call: &Call, typed: &[(&'static str, String)]) -> Result<(Vec<NewValue>, String), Stop<String>> {
    // An amount is in the currency that the same form names, unless the file names another.
    let named = typed.iter().find(|(key, _)| *key == CURRENCY && site.config.fixed_by(key).is_none());
    let named = named.map(|(_, currency)| currency.to_ascii_uppercase());
    let (set, currency, is_renamed) = site.store.read(|tx| {
        let now = site.fee(tx)?.currency;
        let currency = match &named {
            Some(named) => site.currency(tx, Some(&**named).filter(|named| !named.is_empty()))?,
            None => now.clone(),
        };
        let is_renamed = currency != now;
        Ok((live::read(&site.keys, tx)?, currency.unwrap_or_default(), is_renamed))
    })?;
    let unit = parse_amount("1", &currency).unwrap_or(1);
    let (mut values, mut odd): (Vec<NewValue>, Vec<String>) = Default::default();
    for (key, text) in typed {
        let Some(setting) = desk::find(key).filter(|_| site.config.fixed_by(key).is_none()) else { continue };
        let value = match setting.input {
            Input::Money => match parse_amount(text, &currency) {
                Some(cents) => cents.to_string(),
                None => {
                    let example = example_amount(call.language(), &currency);
                    return Err(Stop::Denied(
                        call.language().say(&Text::new("till.no_amount").with("example", example)),
                    ));
                }
            },
            _ => text.clone(),
        };
        let is_amount = setting.input == Input::Money;
        if setting.input != Input::Secret && !(is_amount && is_renamed) && value == text_in_force(site, &set, setting) {
            continue;
        }
        if setting.is_odd(&value, unit) {
            odd.push(call.language().labelled(&call.say(setting.label), text));
        }
        values.push((setting, Some(value)));
    }
    let names = typed.iter().find(|(key, _)| *key == "names").map(|(_, names)| names);
    if names.is_some_and(|names| !reaches(call, names)) {
        return Err(Stop::Denied(call.say("settings.own_name")));
    }
    Ok((values, odd.join(" · ")))
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
    let stop = match change(site, call, clerk, |cx| effect::undo(cx, change_id)) {
        Ok(()) => return Ok(reply::see_other(&format!("{PATH}?done=undone#changes"))),
        Err(stop) => stop.denial()?,
    };
    let of_undo = |problem| Refused { group: "undo".to_owned(), problem, ..Refused::default() };
    let refused = match stop {
        NotUndone::ChangedSince => of_undo(call.say("settings.changed_since")),
        NotUndone::Mistakes(mistakes) => of_undo(in_words(call, &mistakes)),
        // The form of the group has both as they were, to be saved.
        NotUndone::Fee(price) => Refused {
            group: Group::Membership.name().to_owned(),
            problem: call
                .language()
                .say(&Text::new("settings.fee_together").with("amount", price.in_words(call.language()))),
            typed: vec![(FEE, amount(&price.cents.to_string(), &price.currency)), (CURRENCY, price.currency)],
            odd: String::new(),
        },
    };
    page(site, call, clerk, Some(refused))
}

/// Sets values and puts them in force.
fn change<D>(
    site: &Site,
    call: &Call,
    clerk: &Clerk,
    set: impl Fn(&Change) -> Result<(), Stop<D>>,
) -> Result<(), Stop<D>> {
    app::try_change(site, clerk, call.language(), set)?;
    Ok(site.load_settings()?)
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
