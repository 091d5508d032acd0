//! What the joining of two accounts of one person does to the tables, declared beside each table's rows: for every column
//! that has a member's number, whether it passes to the account that survives. A test walks the schema and fails on a
//! column without a declaration. What opens or reaches an account stays: whoever signs up in another's name and asks to be
//! joined gets nothing by it.

/// What a join does to one column that has a member's number.
#[derive(Debug)]
pub(crate) struct Join {
    pub column: &'static str,
    pub on_join: OnJoin,
    /// When two accounts cannot be joined: the SQL condition of a row, and the key of the reason.
    pub refused: Option<(&'static str, &'static str)>,
}

#[derive(Debug, Clone, Copy)]
pub(crate) enum OnJoin {
    /// The survivor's number takes the place of the joined account's in the rows with this key, but those of the SQL
    /// condition, beside which the survivor's own row stands. In conditions the row is `t`, and the two members are
    /// `:joined` and `:survivor`.
    Moves { key: &'static str, unless: &'static str },
    /// Stays with the joined account, for this reason.
    Stays(#[cfg_attr(not(test), expect(dead_code, reason = "whoever reads the declaration needs it"))] &'static str),
    /// Computed anew from what moved.
    Derived,
}

/// Reasons to stay.
pub(crate) const OPENS: &str = "it opens the account or reaches its owner: it never moves";
pub(crate) const WHO_DID: &str = "who did it then";
pub(crate) const AS_IT_WAS: &str = "append-only: what was said then";
pub(crate) const ITS_OWN: &str = "about that account alone";

pub(crate) const fn moves(column: &'static str, key: &'static str) -> Join {
    moves_unless(column, key, "0")
}

pub(crate) const fn moves_unless(column: &'static str, key: &'static str, unless: &'static str) -> Join {
    Join { column, on_join: OnJoin::Moves { key, unless }, refused: None }
}

pub(crate) const fn stays(column: &'static str, why: &'static str) -> Join {
    Join { column, on_join: OnJoin::Stays(why), refused: None }
}

pub(crate) const fn derived(column: &'static str) -> Join {
    Join { column, on_join: OnJoin::Derived, refused: None }
}

impl Join {
    pub(crate) const fn refused_where(self, condition: &'static str, key: &'static str) -> Join {
        Join { refused: Some((condition, key)), ..self }
    }
}
