//! Comparisons with the packet's length: what they come to is the same for all lengths of a range, so the length itself need
//! not be part of the key.

use flow_cache::LengthRange;
use ir::CompareOp;

use super::Watcher;
use super::shadow::{Shadow, Sum, Term};

impl Watcher {
    /// The shadow of what a comparison came to.
    pub fn compared(&mut self, op: CompareOp, shadows: [Shadow; 2], values: [u128; 2]) -> Shadow {
        match self.length_range(op, shadows, values) {
            Some(range) => {
                self.narrow(range);
                Shadow::default()
            }
            None => self.sets.join(shadows),
        }
    }

    /// The lengths for which it comes to the same, where the length is compared with a number in the packet or with what is
    /// the same for all packets of the way.
    fn length_range(&self, op: CompareOp, shadows: [Shadow; 2], values: [u128; 2]) -> Option<LengthRange> {
        let [a, b] = shadows.map(|shadow| self.sets.sum(shadow));
        let (length, number, length_is_first) = match (a, b) {
            (Some(length @ Sum { of: Term::Length, .. }), number) => (length, number, true),
            (number, Some(length @ Sum { of: Term::Length, .. })) => (length, number, false),
            _ => return None,
        };
        let other = usize::from(length_is_first);
        let (less, constant) = match number {
            Some(Sum { of: Term::Number(number), constant }) => (Some(number), constant),
            None if shadows[other].is_fixed() => (None, i64::try_from(values[other]).ok()?),
            _ => return None,
        };
        // Of the length less the number, as the comparison is of integers that never wrap.
        let bound = constant - length.constant;
        let (least, most) = match (op, length_is_first, values[0] < values[1], values[0] == values[1]) {
            (CompareOp::Eq | CompareOp::Ne, _, _, true) => (bound, bound),
            (CompareOp::LtU, true, true, _) | (CompareOp::LeU, false, false, false) => (i64::MIN, bound - 1),
            (CompareOp::LtU, true, false, _) | (CompareOp::LeU, false, _, _) => (bound, i64::MAX),
            (CompareOp::LtU, false, true, _) | (CompareOp::LeU, true, false, false) => (bound + 1, i64::MAX),
            (CompareOp::LtU, false, false, _) | (CompareOp::LeU, true, _, _) => (i64::MIN, bound),
            _ => return None,
        };
        Some(LengthRange { less, least, most })
    }

    /// Adds a range to those that the length has to be in.
    fn narrow(&mut self, range: LengthRange) {
        match self.lengths.iter_mut().find(|known| known.less == range.less) {
            Some(known) => {
                known.least = known.least.max(range.least);
                known.most = known.most.min(range.most);
            }
            None => self.lengths.push(range),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use flow_cache::Number;

    /// By trial: a length is in the range if and only if the comparison comes to the same for it.
    #[test]
    fn a_range_has_the_lengths_for_which_a_comparison_comes_to_the_same() {
        let number = Number { first: 0, width: 8 };
        let compare = |op, a: u128, b: u128| match op {
            CompareOp::Eq => a == b,
            CompareOp::Ne => a != b,
            CompareOp::LtU => a < b,
            _ => a <= b,
        };
        for (op, length, field, swapped) in [CompareOp::Eq, CompareOp::Ne, CompareOp::LtU, CompareOp::LeU]
            .into_iter()
            .flat_map(|op| (0..9).flat_map(move |length| (0..3).map(move |field| (op, length, field))))
            .flat_map(|(op, length, field)| [(op, length, field, false), (op, length, field, true)])
        {
            let mut watcher = Watcher::default();
            let sum = watcher.sets.plus(Shadow::copy(0, 8), 3, 32);
            let order = |length: u128, field: u128| if swapped { [field + 3, length] } else { [length, field + 3] };
            let shadows = if swapped { [sum, Shadow::LENGTH] } else { [Shadow::LENGTH, sum] };
            let values = order(length, field);
            let came_to = compare(op, values[0], values[1]);
            let Some(range) = watcher.length_range(op, shadows, values) else {
                assert!(matches!(op, CompareOp::Eq | CompareOp::Ne) && values[0] != values[1]);
                continue;
            };
            assert_eq!(range.less, Some(number));
            for (length, field) in (0..9).flat_map(|length| (0..3).map(move |field| (length, field))) {
                let [a, b] = order(length, field);
                let is_in = (range.least..=range.most).contains(&(length as i64 - field as i64));
                assert_eq!(is_in, compare(op, a, b) == came_to, "{op:?} {values:?} {range:?}: {length}, {field}");
            }
        }
    }

    #[test]
    fn ranges_of_the_same_number_are_one() {
        let mut watcher = Watcher::default();
        watcher.compared(CompareOp::LtU, [Shadow::LENGTH, Shadow::default()], [60, 100]);
        watcher.compared(CompareOp::LeU, [Shadow::default(), Shadow::LENGTH], [60, 60]);
        assert_eq!(watcher.lengths, [LengthRange { less: None, least: 60, most: 99 }]);
        let signed = watcher.compared(CompareOp::LtS, [Shadow::LENGTH, Shadow::default()], [60, 100]);
        assert!(!signed.is_fixed());
    }
}
