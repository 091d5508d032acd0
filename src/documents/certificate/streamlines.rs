//! The decoration of a certificate: air that rises past a round body, as the streamlines of a potential flow.

use krilla::geom::{Path, PathBuilder};

/// A flow between two heights around a round body.
pub(super) struct Streamlines {
    pub centre_x: f32,
    pub centre_y: f32,
    pub radius: f32,
    pub top: f32,
    pub bottom: f32,
}

impl Streamlines {
    /// The streamline that is `far` from the middle before it meets the body. Smooth: the points are joined by cubic
    /// curves along their tangents.
    pub(super) fn line(&self, far: f32) -> Option<Path> {
        let points: Vec<(f32, f32)> =
            self.heights().map(|y| (self.centre_x + self.x(far, y), self.centre_y + y)).collect();
        let mut path = PathBuilder::new();
        let (first, _) = points.split_first()?;
        path.move_to(first.0, first.1);
        for at in 1..points.len() {
            let (from, to) = (points[at - 1], points[at]);
            let (before, after) = (points[at.saturating_sub(2)], points[(at + 1).min(points.len() - 1)]);
            let lean = |a: (f32, f32), b: (f32, f32)| (b.0 - a.0) / (b.1 - a.1).max(1.0);
            let (third, out, back) = ((to.1 - from.1) / 3.0, lean(before, to), lean(from, after));
            path.cubic_to(from.0 + out * third, from.1 + third, to.0 - back * third, to.1 - third, to.0, to.1);
        }
        path.finish()
    }

    /// From top to bottom, in short steps beside the body and in long ones far from it.
    fn heights(&self) -> impl Iterator<Item = f32> {
        let (mut next, end, radius) = (Some(self.top - self.centre_y), self.bottom - self.centre_y, self.radius);
        std::iter::from_fn(move || {
            let y = next?;
            let step = if y.abs() < radius * 2.5 { radius / 5.0 } else { radius / 1.5 };
            next = (y < end).then(|| (y + step).min(end));
            Some(y)
        })
    }

    /// How far the streamline is from the middle at height `y`: the root of x (1 − r²/(x² + y²)) = far, which grows
    /// with x outside the body. Halving needs nothing but the four operations, so every machine finds the same.
    fn x(&self, far: f32, y: f32) -> f32 {
        let square = self.radius * self.radius;
        let (mut low, mut high) = (far.abs(), far.abs() + 2.0 * self.radius);
        for _ in 0..30 {
            let middle = (low + high) / 2.0;
            let stream = middle * (1.0 - square / (middle * middle + y * y));
            if stream < far.abs() { low = middle } else { high = middle }
        }
        high.copysign(far)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const STREAM: Streamlines = Streamlines { centre_x: 0.0, centre_y: 0.0, radius: 50.0, top: -400.0, bottom: 400.0 };

    #[test]
    fn the_air_goes_around_the_body_and_comes_together_behind_it() {
        for far in [1.0_f32, 10.0, 40.0, 90.0] {
            assert!(STREAM.x(far, 0.0) > 50.0, "at the side of the body");
            assert!((STREAM.x(far, 4000.0) - far).abs() < 0.1, "far from it");
            assert_eq!(STREAM.x(-far, 20.0), -STREAM.x(far, 20.0));
            for y in [-60.0_f32, -30.0, 0.0, 45.0] {
                let x = STREAM.x(far, y);
                assert!(x * x + y * y > 49.9 * 49.9, "never through it: {far} at {y} is {x}");
            }
        }
        assert!(STREAM.x(10.0, 7.0) < STREAM.x(20.0, 7.0), "lines do not cross");
    }
}
