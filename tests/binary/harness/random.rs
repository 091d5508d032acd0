//! Random numbers that can be repeated: the same seed gives the same numbers (SplitMix64).

const SUITE: u64 = 20_260_528;
/// The variables that set the length of a campaign.
const CAMPAIGNS: &[&str] = &[
    "TUNNELDESK_KILLS",
    "TUNNELDESK_FAULTS",
    "TUNNELDESK_BURSTS",
    "TUNNELDESK_DAMAGES",
    "TUNNELDESK_POWER_CUTS",
    "TUNNELDESK_CHECKPOINT_KILLS",
    "TUNNELDESK_CHECKPOINT_CUTS",
    "TUNNELDESK_STORM_SECONDS",
    "TUNNELDESK_DISK_LOSSES",
    "TUNNELDESK_SECONDS",
    "TUNNELDESK_HOSTILE_PLACES",
];

pub struct Random(u64);

impl Random {
    pub fn new(seed: u64) -> Random {
        Random(seed)
    }

    /// The seed: `TUNNELDESK_SEED`, otherwise in a campaign a new one each time. The suite always has the same seed, so
    /// that its verdict on a change does not depend on chance.
    pub fn seed() -> u64 {
        let given = std::env::var("TUNNELDESK_SEED").ok();
        match given.map(|seed| seed.parse().expect("TUNNELDESK_SEED is a number")) {
            Some(seed) => seed,
            None if CAMPAIGNS.iter().any(|rounds| std::env::var_os(rounds).is_some()) => {
                u64::from(u32::from_be_bytes(tunneldesk::keys::random::<4>()))
            }
            None => SUITE,
        }
    }

    pub fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    /// A number from 0 to `end`, exclusive.
    pub fn below(&mut self, end: u64) -> u64 {
        self.next() % end
    }

    pub fn one_of<'a, T>(&mut self, all: &'a [T]) -> Option<&'a T> {
        if all.is_empty() { None } else { all.get(self.below(all.len() as u64) as usize) }
    }
}
