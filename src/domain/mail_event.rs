//! Events that a mail provider reports about a mail after accepting it.

/// Seconds for which events are stored and recognised as repeats. Older events are refused, because the provider's
/// signature covers no time.
pub(crate) const KEPT_SECONDS: i64 = 90 * 86_400;

/// The fate of a mail, ordered by precedence: events arrive in any order, and a bounce outranks `Sent`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Delivery {
    Deferred,
    Sent,
    SoftBounced,
    Opened,
    Clicked,
    Unsubscribed,
    Complained,
    Rejected,
    Bounced,
}

/// An event about one mail.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Kind {
    /// The provider's name of the event.
    pub name: &'static str,
    pub delivery: Delivery,
    /// Whether the event suppresses the address: no further mail is sent there.
    pub marks: bool,
}

#[rustfmt::skip]
const KINDS: [Kind; 9] = [
    Kind { name: "send",        delivery: Delivery::Sent,         marks: false },
    Kind { name: "deferral",    delivery: Delivery::Deferred,     marks: false },
    Kind { name: "soft_bounce", delivery: Delivery::SoftBounced,  marks: false },
    Kind { name: "open",        delivery: Delivery::Opened,       marks: false },
    Kind { name: "click",       delivery: Delivery::Clicked,      marks: false },
    Kind { name: "hard_bounce", delivery: Delivery::Bounced,      marks: true },
    Kind { name: "spam",        delivery: Delivery::Complained,   marks: true },
    Kind { name: "unsub",       delivery: Delivery::Unsubscribed, marks: true },
    Kind { name: "reject",      delivery: Delivery::Rejected,     marks: true },
];

impl Kind {
    pub(crate) fn parse(name: &str) -> Option<Kind> {
        KINDS.into_iter().find(|kind| kind.name == name)
    }
}

impl Delivery {
    const NAMES: [&str; 9] =
        ["deferred", "sent", "soft_bounced", "opened", "clicked", "unsubscribed", "complained", "rejected", "bounced"];
    const ALL: [Delivery; 9] = [
        Delivery::Deferred,
        Delivery::Sent,
        Delivery::SoftBounced,
        Delivery::Opened,
        Delivery::Clicked,
        Delivery::Unsubscribed,
        Delivery::Complained,
        Delivery::Rejected,
        Delivery::Bounced,
    ];

    pub(crate) fn name(self) -> &'static str {
        Delivery::NAMES[self as usize]
    }

    pub(crate) fn parse(name: &str) -> Option<Delivery> {
        Delivery::ALL.into_iter().find(|delivery| delivery.name() == name)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_bounce_outweighs_whatever_else_was_said() {
        let said = KINDS.map(|kind| kind.delivery);
        assert_eq!(said.into_iter().max(), Some(Delivery::Bounced));
        assert!(Kind::parse("send").unwrap().delivery > Kind::parse("deferral").unwrap().delivery);
        assert_eq!(Kind::parse("inbound"), None);
    }

    #[test]
    fn names_go_both_ways() {
        assert!(Delivery::ALL.into_iter().all(|delivery| Delivery::parse(delivery.name()) == Some(delivery)));
        assert_eq!(Delivery::parse(""), None);
    }
}
