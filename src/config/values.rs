//! Checks of single values; each error says what the value must be like.

use super::{LogAddresses, LogFormat};

pub(crate) fn host_name(text: &str) -> Result<String, &'static str> {
    let sound = |label: &str| {
        (1..=63).contains(&label.len())
            && !label.starts_with('-')
            && label.chars().all(|c| c.is_ascii_alphanumeric() || c == '-')
    };
    if text.len() <= 253 && text.split('.').all(sound) {
        Ok(text.to_ascii_lowercase())
    } else {
        Err("is not a host name like tunnel.example.org (no scheme, no port)")
    }
}

pub(super) fn public_url(text: &str) -> Result<Option<String>, &'static str> {
    let text = text.trim_end_matches('/');
    let rest = text.strip_prefix("https://").or_else(|| text.strip_prefix("http://"));
    match rest {
        None if text.is_empty() => Ok(None),
        Some(host) if !host.is_empty() && !host.contains(['/', '?', '#', '@', ' ']) => Ok(Some(text.to_owned())),
        _ => Err("must be like https://tunnel.example.org, without a path"),
    }
}

/// An origin: `scheme://host` or `scheme://host:port`, in lower case. Apps have schemes of their own.
pub(super) fn origin(text: &str) -> Result<String, &'static str> {
    let text = text.trim().to_ascii_lowercase();
    let is_scheme = |scheme: &str| {
        scheme.starts_with(|c: char| c.is_ascii_lowercase())
            && scheme.bytes().all(|b| b.is_ascii_alphanumeric() || b"+-.".contains(&b))
    };
    let is_place =
        |place: &str| !place.is_empty() && place.bytes().all(|b| b.is_ascii_alphanumeric() || b"-._:[]".contains(&b));
    let sound = text.split_once("://").is_some_and(|(scheme, place)| is_scheme(scheme) && is_place(place));
    if sound { Ok(text) } else { Err("must be like https://app.example.org, without a path; * is not taken") }
}

pub(super) fn address(text: &str) -> Result<Option<String>, &'static str> {
    if text.is_empty() {
        return Ok(None);
    }
    crate::domain::email::parse(text).map(Some).map_err(|_| "is not an address like desk@example.org")
}

pub(super) fn currency(text: &str) -> Result<Option<String>, &'static str> {
    match crate::domain::payment::money_of(text) {
        Some(known) => Ok(Some(known)),
        None if text.is_empty() => Ok(None),
        None => Err("is not the code of a currency, for instance CHF"),
    }
}

pub(super) fn log_addresses(text: &str) -> Result<LogAddresses, &'static str> {
    match text {
        "whole" => Ok(LogAddresses::Whole),
        "network" => Ok(LogAddresses::Network),
        "none" => Ok(LogAddresses::None),
        _ => Err("is not one of whole, network, none"),
    }
}

pub(super) fn calling_code(text: &str) -> Result<u16, &'static str> {
    let code = text.trim_start_matches('+').parse().ok();
    code.filter(|code| crate::domain::phone::is_calling_code(*code)).ok_or("is not a country's calling code like +41")
}

pub(super) fn flight_minutes(text: &str) -> Result<i64, &'static str> {
    let minutes = text.parse().ok().filter(|minutes| crate::domain::minutes::MINUTES.contains(minutes));
    minutes.ok_or("is not minutes of a flight, from 1 to 600")
}

pub(super) fn log_format(text: &str) -> Result<LogFormat, &'static str> {
    match text {
        "auto" => Ok(LogFormat::Auto),
        "text" => Ok(LogFormat::Text),
        "json" => Ok(LogFormat::Json),
        _ => Err("is not one of auto, text, json"),
    }
}
