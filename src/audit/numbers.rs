//! Numbers whose median or quantiles are wanted: kept one by one, or only counted by size. Pure.

use serde::{Deserialize, Serialize};

/// What takes numbers one by one.
pub trait Numbers: Default {
    fn take(&mut self, number: u64);
}

/// Every number.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Exact(Vec<u64>);

/// Numbers counted by size, four steps to a doubling, in bounded room: a quantile is right to a fifth.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Histogram {
    /// Empty until the first number.
    counts: Vec<u32>,
    all: u64,
}

const STEPS: u32 = 4;

impl Numbers for Exact {
    fn take(&mut self, number: u64) {
        self.0.push(number);
    }
}

impl Exact {
    /// The least number that `percent` of all numbers do not exceed; `None` when there is none.
    pub fn quantile(&self, percent: usize) -> Option<u64> {
        let rank = (self.0.len() * percent).div_ceil(100).max(1);
        (!self.0.is_empty()).then(|| self.at(rank - 1))
    }

    /// The number in the middle, or the mean of the two in the middle; `None` when there is none.
    #[expect(clippy::cast_precision_loss, reason = "that many microseconds are 285 years")]
    pub fn median(&self) -> Option<f64> {
        let last = self.0.len().checked_sub(1)?;
        Some(f64::midpoint(self.at(last / 2) as f64, self.at(last.div_ceil(2)) as f64))
    }

    /// The number at this place of the sorted ones; the largest beyond.
    fn at(&self, at: usize) -> u64 {
        let mut numbers = self.0.clone();
        let last = numbers.len().saturating_sub(1);
        *numbers.select_nth_unstable(at.min(last)).1
    }
}

impl Numbers for Histogram {
    fn take(&mut self, number: u64) {
        if self.counts.is_empty() {
            self.counts = vec![0; (64 * STEPS) as usize];
        }
        let octave = number.max(1).ilog2();
        let within = if octave < 2 { 0 } else { (number >> (octave - 2)) & 3 };
        let at = (octave * STEPS) as usize + usize::try_from(within).unwrap_or(0);
        if let Some(count) = self.counts.get_mut(at) {
            *count = count.saturating_add(1);
        }
        self.all += 1;
    }
}

impl Histogram {
    /// The number that `percent` of all numbers do not exceed by more than a step; `None` when there is none.
    pub fn quantile(&self, percent: u64) -> Option<u64> {
        let rank = (self.all * percent).div_ceil(100).max(1);
        let mut seen = 0;
        for (at, count) in (0_u32..).zip(&self.counts) {
            seen += u64::from(*count);
            if seen >= rank {
                let (octave, within) = (at / STEPS, u64::from(at % STEPS));
                return Some((1_u64 << octave) + if octave < 2 { 0 } else { within << (octave - 2) });
            }
        }
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_histogram_tells_the_middle_to_a_fifth() {
        let mut histogram = Histogram::default();
        assert_eq!(histogram.quantile(50), None);
        for number in 0..10_000 {
            histogram.take(number);
        }
        for percent in [10, 50, 95, 100] {
            let (said, is) = (histogram.quantile(percent).unwrap(), percent * 100);
            assert!(said <= is && said * 5 >= is * 4, "{percent}%: {said} for {is}");
        }
    }

    #[test]
    fn quantiles_are_numbers_that_were_taken_and_a_median_is_the_middle() {
        let exact = Exact((1..=100).rev().collect());
        assert_eq!((exact.quantile(50), exact.quantile(95), exact.median()), (Some(50), Some(95), Some(50.5)));
        let mut histogram = Histogram::default();
        [8, 32].into_iter().for_each(|number| histogram.take(number));
        assert_eq!((Exact(vec![8, 32]).quantile(50), histogram.quantile(50)), (Some(8), Some(8)));
        assert_eq!((Exact(vec![7]).quantile(95), Exact(vec![7, 9, 8]).median()), (Some(7), Some(8.0)));
        assert_eq!((Exact::default().quantile(50), Exact::default().median()), (None, None));
    }
}
