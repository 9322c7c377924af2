//! Numbers whose median or quantiles are wanted: kept one by one, or only counted by size. Pure.

use serde::{Deserialize, Serialize};

pub trait Numbers: Default {
    fn take(&mut self, number: u64);
}

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
