//! The terminal, as the environment describes it.

/// Whether output may be coloured: `NO_COLOR` is unset (no-color.org), and the terminal is not a dumb one.
pub(crate) fn wants_colour() -> bool {
    let unset = |name: &str| std::env::var_os(name).is_none_or(|value| value.is_empty());
    unset("NO_COLOR") && std::env::var_os("TERM").is_none_or(|term| term != "dumb")
}
