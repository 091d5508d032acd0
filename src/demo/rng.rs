//! A random generator whose numbers repeat for the same seed: SplitMix64 (Steele, Lea and Flood, 2014). Never for anything secret.

pub(super) struct Rng(u64);

impl Rng {
    pub(super) fn new(seed: u64) -> Rng {
        Rng(seed)
    }

    pub(super) fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    /// A number from 0 to below `n`; 0 if `n` is 0.
    pub(super) fn below(&mut self, n: u64) -> u64 {
        ((u128::from(self.next()) * u128::from(n)) >> 64) as u64
    }

    /// A number from `least` to `most`, both included; `least` if it is the larger one.
    pub(super) fn between(&mut self, least: i64, most: i64) -> i64 {
        least + self.below((most - least).max(0) as u64 + 1) as i64
    }

    pub(super) fn percent(&mut self, chance: u64) -> bool {
        self.below(100) < chance
    }

    pub(super) fn pick<T: Copy>(&mut self, from: &[T]) -> T {
        from[self.below(from.len() as u64) as usize]
    }

    /// Picks one of them, each as likely as its weight.
    pub(super) fn weighted<'a, T>(&mut self, from: &'a [T], weight: impl Fn(&T) -> u64) -> &'a T {
        let mut at = self.below(from.iter().map(&weight).sum());
        from.iter().find(|one| at.checked_sub(weight(one)).map(|rest| at = rest).is_none()).unwrap_or(&from[0])
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_published_sequence_comes_out() {
        let mut rng = Rng(1_234_567);
        assert_eq!([rng.next(), rng.next()], [6_457_827_717_110_365_317, 3_203_168_211_198_807_973]);
    }

    #[test]
    fn everything_in_range_turns_up_and_nothing_else() {
        let mut rng = Rng::new(1);
        let mut seen = [0; 3];
        for _ in 0..3000 {
            seen[rng.weighted(&[(0, 1), (1, 0), (2, 2)], |(_, weight)| *weight).0] += 1;
            assert!((-2..=2).contains(&rng.between(-2, 2)) && rng.below(7) < 7);
        }
        assert!((800..1200).contains(&seen[0]) && seen[1] == 0, "{seen:?}");
        assert_eq!((rng.below(0), rng.between(5, 1)), (0, 5));
    }
}
