//! What packets wrote into registers and counters, for the process that goes on with the program (hot restart).
//!
//! ```text
//!   array:  length of its name, name, pages      page:  number, words, the words
//! ```
//!
//! Numbers have 64 bits, the lowest octet first. Pages that were never touched are left out.

use std::sync::atomic::Ordering::Relaxed;

use crate::cells::Counters;
use crate::device::Device;
use crate::paged::Paged;
use crate::registers::Registers;
use tables::sync::AtomicU64;

impl Device {
    /// The registers and counters of now. No packet may run meanwhile.
    pub fn carried(&self) -> Vec<u8> {
        let mut bytes = vec![];
        for (array, _) in self.arrays() {
            number(&mut bytes, array.name.len());
            bytes.extend(array.name.as_bytes());
            let pages: Vec<_> = array.touched().collect();
            number(&mut bytes, pages.len());
            for (page, words) in pages {
                number(&mut bytes, page);
                number(&mut bytes, words.len());
                bytes.extend(words.iter().flat_map(|word| word.load(Relaxed).to_le_bytes()));
            }
        }
        bytes
    }

    /// Goes on from those of the same program; false if they are of another, whose arrays that differ are left out.
    pub fn carry_on(&self, bytes: &[u8]) -> bool {
        let all = self.fill_arrays(bytes);
        self.registers.iter().for_each(Registers::show_all);
        all
    }

    fn fill_arrays(&self, bytes: &[u8]) -> bool {
        let arrays: Vec<_> = self.arrays().collect();
        let mut rest = Rest(bytes);
        let mut all = true;
        while let Some(len) = rest.number() {
            let name = rest.take(len);
            let array = arrays.iter().find(|(array, _)| Some(array.name.as_bytes()) == name);
            for _ in 0..rest.number().unwrap_or(0) {
                let (Some(page), Some(words)) = (rest.number(), rest.number()) else { return false };
                let Some(words) = words.checked_mul(8).and_then(|len| rest.take(len)) else { return false };
                all &= array.is_some_and(|(array, stride)| array.fill(page, *stride, words));
            }
        }
        all && rest.0.is_empty()
    }

    /// Each with the words of a cell.
    fn arrays(&self) -> impl Iterator<Item = (&Paged<AtomicU64>, usize)> {
        self.registers.iter().map(Registers::words).chain(self.counters.iter().map(Counters::words))
    }
}

fn number(bytes: &mut Vec<u8>, number: usize) {
    bytes.extend((number as u64).to_le_bytes());
}

struct Rest<'a>(&'a [u8]);

impl<'a> Rest<'a> {
    fn number(&mut self) -> Option<usize> {
        let (number, rest) = self.0.split_first_chunk::<8>()?;
        self.0 = rest;
        usize::try_from(u64::from_le_bytes(*number)).ok()
    }

    fn take(&mut self, len: usize) -> Option<&'a [u8]> {
        let (taken, rest) = self.0.split_at_checked(len)?;
        self.0 = rest;
        Some(taken)
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use ir::{Counter, CounterId, Handle, Program, Register, RegisterId};
    use num_bigint::BigUint;

    use super::*;
    use crate::entry::CounterData;

    fn device(size: u64) -> Device {
        let mut program = Program::default();
        for (name, width) in [("narrow", 16), ("wide", 200)] {
            program.registers.push(Register { name: name.into(), size, width, ..Register::default() });
        }
        program.counters.push(Counter { name: "counter".into(), size, ..Default::default() });
        Device::new(Arc::new(program)).unwrap()
    }

    #[test]
    fn another_device_of_the_program_goes_on_with_registers_and_counters() {
        let (first, second) = (device(10_000), device(10_000));
        let wide = (BigUint::from(1u8) << 199) + 5u8;
        first.set_register(RegisterId::new(0), 9_999, &BigUint::from(7u8)).unwrap();
        first.set_register(RegisterId::new(1), 0, &wide).unwrap();
        let counted = CounterData { packets: 3, bytes: 400 };
        first.set_counter(CounterId::new(0), 4096, counted).unwrap();
        let bytes = first.carried();
        assert!(bytes.len() < 8 * (4096 * (1 + 4 + 2) + 50), "pages that were not touched are not in it");
        assert!(second.carry_on(&bytes));
        assert_eq!(second.register(RegisterId::new(0), 9_999), Ok(BigUint::from(7u8)));
        assert_eq!(second.register(RegisterId::new(1), 0), Ok(wide));
        assert_eq!(second.counter(CounterId::new(0), 4096), Ok(counted));
        assert_eq!(second.carried(), bytes);
    }

    #[test]
    fn what_does_not_fit_is_left_out_and_told() {
        let first = device(10_000);
        first.set_register(RegisterId::new(0), 9_999, &BigUint::from(7u8)).unwrap();
        first.set_register(RegisterId::new(0), 1, &BigUint::from(8u8)).unwrap();
        let bytes = first.carried();
        let shorter = device(100);
        assert!(!shorter.carry_on(&bytes));
        assert_eq!(shorter.register(RegisterId::new(0), 1), Ok(BigUint::ZERO));
        assert!(!device(10_000).carry_on(&bytes[..bytes.len() - 1]));
    }
}
