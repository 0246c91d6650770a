//! What is wanted of the figures, and whether they show it.

use std::fmt;

#[derive(Clone, Copy, Debug, PartialEq)]
enum Bound {
    AtMost(f64),
    AtLeast(f64),
}

/// A goal and the figure that was found.
struct Judged {
    what: String,
    found: f64,
    bound: Bound,
    write: fn(f64) -> String,
}

impl Judged {
    /// No number meets nothing.
    fn met(&self) -> bool {
        match self.bound {
            Bound::AtMost(most) => self.found <= most,
            Bound::AtLeast(least) => self.found >= least,
        }
    }
}

impl fmt::Display for Judged {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let verdict = if self.met() { "met" } else { "MISSED" };
        let (word, bound) = match self.bound {
            Bound::AtMost(most) => ("at most", most),
            Bound::AtLeast(least) => ("at least", least),
        };
        write!(f, "{verdict}: {}: {}; {word} {} wanted", self.what, (self.write)(self.found), (self.write)(bound))
    }
}

/// All that was judged so far.
#[derive(Default)]
pub struct Goals {
    judged: Vec<Judged>,
    /// What could not be measured here, with the reason.
    unmeasured: Vec<String>,
}

impl Goals {
    pub fn at_most(&mut self, most: f64, what: impl Into<String>, found: f64, write: fn(f64) -> String) {
        self.judge(Bound::AtMost(most), what.into(), found, write);
    }

    pub fn at_least(&mut self, least: f64, what: impl Into<String>, found: f64, write: fn(f64) -> String) {
        self.judge(Bound::AtLeast(least), what.into(), found, write);
    }

    pub fn unmeasured(&mut self, what: &str, why: &str) {
        self.unmeasured.push(format!("not measured: {what}: {why}"));
    }

    fn judge(&mut self, bound: Bound, what: String, found: f64, write: fn(f64) -> String) {
        let judged = Judged { what, found, bound, write };
        println!("  {judged}");
        self.judged.push(judged);
    }

    pub fn all_met(&self) -> bool {
        self.judged.iter().all(Judged::met)
    }

    /// How many were met, what was missed, and what was not measured.
    pub fn summary(&self) -> Vec<String> {
        let missed: Vec<String> = self.judged.iter().filter(|one| !one.met()).map(ToString::to_string).collect();
        let all = self.judged.len();
        let counted = format!("{} of {all} goals met", all - missed.len());
        [counted].into_iter().chain(missed).chain(self.unmeasured.iter().cloned()).collect()
    }
}

/// A ratio, with one digit more than `Spread` writes: which side of a goal it is on must be seen.
pub fn ratio(value: f64) -> String {
    format!("{value:.3}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_goal_is_met_up_to_its_bound_and_missed_beyond() {
        let mut goals = Goals::default();
        goals.at_most(1.3, "slow", 1.3, ratio);
        goals.at_least(0.9, "fast", 0.9, ratio);
        assert!(goals.all_met());
        assert_eq!(goals.summary(), ["2 of 2 goals met"]);
        goals.at_most(1.3, "slower", 1.31, ratio);
        goals.at_least(0.9, "less fast", 0.89, ratio);
        assert!(!goals.all_met());
        assert_eq!(
            goals.summary(),
            [
                "2 of 4 goals met",
                "MISSED: slower: 1.310; at most 1.300 wanted",
                "MISSED: less fast: 0.890; at least 0.900 wanted"
            ]
        );
    }

    #[test]
    fn what_no_draw_measured_is_missed() {
        let mut goals = Goals::default();
        goals.at_most(1.3, "empty", f64::NAN, ratio);
        assert!(!goals.all_met());
    }

    #[test]
    fn what_cannot_be_measured_is_said_and_not_missed() {
        let mut goals = Goals::default();
        goals.unmeasured("BMv2", "it is not installed");
        assert!(goals.all_met());
        assert_eq!(goals.summary(), ["0 of 0 goals met", "not measured: BMv2: it is not installed"]);
    }
}
