//! The terminal, as the environment describes it.

/// Not where somebody asked for none (no-color.org), nor on a terminal that has none.
pub(crate) fn wants_colour() -> bool {
    let unset = |name: &str| std::env::var_os(name).is_none_or(|value| value.is_empty());
    unset("NO_COLOR") && std::env::var_os("TERM").is_none_or(|term| term != "dumb")
}
