//! Random numbers that can be repeated.

use std::hash::{DefaultHasher, Hash, Hasher};

/// A SplitMix64 generator.
pub struct Dice(u64);

impl Dice {
    /// The same seed and name give the same numbers.
    pub fn new(seed: u64, name: &str) -> Dice {
        let mut hasher = DefaultHasher::new();
        (seed, name).hash(&mut hasher);
        Dice(hasher.finish())
    }

    pub fn roll(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        mixed ^ (mixed >> 31)
    }

    pub fn below(&mut self, bound: usize) -> usize {
        (self.roll() % bound.max(1) as u64) as usize
    }

    /// True once in `times` draws, on average.
    pub fn one_in(&mut self, times: usize) -> bool {
        self.below(times) == 0
    }

    pub fn pick<'a, T: ?Sized>(&mut self, from: &[&'a T]) -> &'a T {
        from[self.below(from.len())]
    }

    pub fn bytes(&mut self, most: usize) -> Vec<u8> {
        (0..self.below(most)).map(|_| self.roll() as u8).collect()
    }
}
