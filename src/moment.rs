//! Moments: points in time, which differ from lengths of time by their type.

use serde::{Deserialize, Serialize};
use std::fmt::{self, Debug, Display};
use std::ops::{Add, AddAssign, Sub};

/// A moment in Unix seconds. Seconds are added to it and subtracted from it; the difference of two moments is in seconds.
#[derive(Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Moment(pub i64);

impl Moment {
    /// Earlier than every other moment.
    pub const FIRST: Moment = Moment(i64::MIN);
    /// Later than every other moment.
    pub const LAST: Moment = Moment(i64::MAX);

    /// The last moment until this one that is a multiple of `seconds` since 1970: the hour's begin for 3,600.
    pub(crate) fn rounded_down(self, seconds: i64) -> Moment {
        self - self.0.rem_euclid(seconds)
    }
}

impl Add<i64> for Moment {
    type Output = Moment;

    fn add(self, seconds: i64) -> Moment {
        Moment(self.0 + seconds)
    }
}

impl AddAssign<i64> for Moment {
    fn add_assign(&mut self, seconds: i64) {
        self.0 += seconds;
    }
}

impl Sub<i64> for Moment {
    type Output = Moment;

    fn sub(self, seconds: i64) -> Moment {
        Moment(self.0 - seconds)
    }
}

impl Sub for Moment {
    type Output = i64;

    fn sub(self, earlier: Moment) -> i64 {
        self.0 - earlier.0
    }
}

impl Display for Moment {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        Display::fmt(&self.0, f)
    }
}

impl Debug for Moment {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        Debug::fmt(&self.0, f)
    }
}

impl From<i64> for Moment {
    fn from(seconds: i64) -> Moment {
        Moment(seconds)
    }
}

impl From<Moment> for i64 {
    fn from(moment: Moment) -> i64 {
        moment.0
    }
}
