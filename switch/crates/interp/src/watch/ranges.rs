//! Comparisons of the packet's length and of numbers in it: what they come to is the same within a range, so neither need be
//! part of the key.

use flow_cache::Range;
use ir::CompareOp;

use super::Watcher;
use super::shadow::{Shadow, Sum, Term};

impl Watcher {
    /// The shadow of what a comparison came to.
    pub fn compared(&mut self, op: CompareOp, shadows: [Shadow; 2], values: [u128; 2]) -> Shadow {
        if self.has_form(shadows) {
            return self.compared_forms(op, shadows, values);
        }
        match self.range(op, shadows, values) {
            Some(range) => {
                self.narrow(range);
                Shadow::default()
            }
            None => self.sets.join(shadows),
        }
    }

    /// The packets for which it comes to the same, where the length is compared with a number in the packet, or one of them
    /// with what is the same for all packets of the way.
    fn range(&self, op: CompareOp, shadows: [Shadow; 2], values: [u128; 2]) -> Option<Range> {
        let [a, b] = shadows.map(|shadow| self.sets.sum(shadow));
        let length_is_first = match (a, b) {
            (Some(Sum { of: Term::Length, .. }), _) | (None, Some(Sum { of: Term::Number(_), .. })) => true,
            (_, Some(Sum { of: Term::Length, .. })) | (Some(Sum { of: Term::Number(_), .. }), None) => false,
            _ => return None,
        };
        // On one side the length, on the other one the number; on one of them there may be only a constant.
        let fixed = |side: usize| {
            let is_fixed = shadows[side].is_fixed();
            is_fixed.then(|| i64::try_from(values[side]).ok()).flatten()
        };
        let (length, number, length_side) = if length_is_first { (a, b, 0) } else { (b, a, 1) };
        let (of_length, before) = match length {
            Some(Sum { of: Term::Length, constant }) => (true, constant),
            // Which number it equals is a matter of its bits.
            None if matches!(op, CompareOp::LtU | CompareOp::LeU) => (false, fixed(length_side)?),
            _ => return None,
        };
        let (less, behind) = match number {
            Some(Sum { of: Term::Number(number), constant }) => (Some(number), constant),
            None => (None, fixed(1 - length_side)?),
            _ => return None,
        };
        // Of the length less the number, as the comparison is of integers that never wrap.
        let bound = behind - before;
        let (least, most) = match (op, length_is_first, values[0] < values[1], values[0] == values[1]) {
            (CompareOp::Eq | CompareOp::Ne, _, _, true) => (bound, bound),
            (CompareOp::LtU, true, true, _) | (CompareOp::LeU, false, false, false) => (i64::MIN, bound - 1),
            (CompareOp::LtU, true, false, _) | (CompareOp::LeU, false, _, _) => (bound, i64::MAX),
            (CompareOp::LtU, false, true, _) | (CompareOp::LeU, true, false, false) => (bound + 1, i64::MAX),
            (CompareOp::LtU, false, false, _) | (CompareOp::LeU, true, _, _) => (i64::MIN, bound),
            _ => return None,
        };
        Some(Range { of_length, less, least, most })
    }

    /// Adds a range to those that packets of the way are in.
    fn narrow(&mut self, range: Range) {
        match self.ranges.iter_mut().find(|known| (known.of_length, known.less) == (range.of_length, range.less)) {
            Some(known) => {
                known.least = known.least.max(range.least);
                known.most = known.most.min(range.most);
            }
            None => self.ranges.push(range),
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
            let Some(range) = watcher.range(op, shadows, values) else {
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
    fn a_range_has_the_numbers_for_which_a_comparison_with_a_constant_comes_to_the_same() {
        for (op, number, constant, swapped) in [CompareOp::LtU, CompareOp::LeU]
            .into_iter()
            .flat_map(|op| (0..9).flat_map(move |number| (0..9).map(move |constant| (op, number, constant))))
            .flat_map(|(op, number, constant)| [(op, number, constant, false), (op, number, constant, true)])
        {
            let mut watcher = Watcher::default();
            let copy = Shadow::copy(0, 8);
            let order = |number: u128| if swapped { [constant, number] } else { [number, constant] };
            let compare = |[a, b]: [u128; 2]| if op == CompareOp::LtU { a < b } else { a <= b };
            let shadows = if swapped { [Shadow::default(), copy] } else { [copy, Shadow::default()] };
            let range = watcher.range(op, shadows, order(number)).expect("one of them is a constant");
            for other in 0..9u8 {
                let same = compare(order(other.into())) == compare(order(number));
                assert_eq!(range.holds(&[other]), same, "{op:?} {:?} {range:?}: {other}", order(number));
            }
            assert!(watcher.compared(CompareOp::Eq, shadows, order(number)) != Shadow::default());
        }
    }

    #[test]
    fn ranges_of_the_same_number_are_one() {
        let mut watcher = Watcher::default();
        watcher.compared(CompareOp::LtU, [Shadow::LENGTH, Shadow::default()], [60, 100]);
        watcher.compared(CompareOp::LeU, [Shadow::default(), Shadow::LENGTH], [60, 60]);
        assert_eq!(watcher.ranges, [Range { of_length: true, less: None, least: 60, most: 99 }]);
        let signed = watcher.compared(CompareOp::LtS, [Shadow::LENGTH, Shadow::default()], [60, 100]);
        assert!(!signed.is_fixed());
    }
}
