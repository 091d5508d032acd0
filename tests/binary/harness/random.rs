//! Chance that can be repeated: the same seed, the same numbers (SplitMix64).

pub struct Random(u64);

impl Random {
    pub fn new(seed: u64) -> Random {
        Random(seed)
    }

    /// `TUNNELDESK_SEED`, else another one each time.
    pub fn seed() -> u64 {
        let given =
            std::env::var("TUNNELDESK_SEED").ok().map(|seed| seed.parse().expect("TUNNELDESK_SEED is a number"));
        given.unwrap_or_else(|| u64::from(u32::from_be_bytes(tunneldesk::keys::random::<4>())))
    }

    pub fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    /// From 0 to `end`, without it.
    pub fn below(&mut self, end: u64) -> u64 {
        self.next() % end
    }

    pub fn one_of<'a, T>(&mut self, all: &'a [T]) -> Option<&'a T> {
        if all.is_empty() { None } else { all.get(self.below(all.len() as u64) as usize) }
    }
}
