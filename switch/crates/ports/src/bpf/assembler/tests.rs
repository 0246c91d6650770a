use super::*;

/// Code, registers, offset and immediate of each instruction.
fn encoded(write: impl FnOnce(&mut Code)) -> Vec<(u8, u8, i16, i32)> {
    let mut code = Code::new();
    write(&mut code);
    let plain = |one: &Instruction| (one.code, one.registers, one.offset, one.immediate);
    code.finish().iter().map(plain).collect()
}

fn pair(destination: u8, source: u8) -> u8 {
    registers(destination, source)
}

#[test]
fn an_instruction_has_eight_octets() {
    assert_eq!(size_of::<Instruction>(), 8);
    let expected = if cfg!(target_endian = "little") { 0xa3 } else { 0x3a };
    assert_eq!(registers(3, 10), expected);
}

#[test]
fn memory_is_loaded_and_stored_in_each_size() {
    let sizes = [Size::One, Size::Two, Size::Four, Size::Eight];
    let loads = encoded(|code| sizes.iter().for_each(|size| code.load(*size, Reg::R2, Reg::R1, 16)));
    assert_eq!(loads, [0x71, 0x69, 0x61, 0x79].map(|code| (code, pair(2, 1), 16, 0)));
    let stores = encoded(|code| sizes.iter().for_each(|size| code.store(*size, Reg::R10, -8, Reg::R0)));
    assert_eq!(stores, [0x73, 0x6b, 0x63, 0x7b].map(|code| (code, pair(10, 0), -8, 0)));
    let numbers = encoded(|code| sizes.iter().for_each(|size| code.store(*size, Reg::R10, -8, -1)));
    assert_eq!(numbers, [0x72, 0x6a, 0x62, 0x7a].map(|code| (code, pair(10, 0), -8, -1)));
}

#[test]
fn registers_are_computed_with_registers_and_numbers() {
    let operations = [
        (Alu::Add, 0x07),
        (Alu::Sub, 0x17),
        (Alu::Mul, 0x27),
        (Alu::Div, 0x37),
        (Alu::Or, 0x47),
        (Alu::And, 0x57),
        (Alu::ShiftLeft, 0x67),
        (Alu::ShiftRight, 0x77),
        (Alu::Xor, 0xa7),
        (Alu::Move, 0xb7),
    ];
    for (operation, code) in operations {
        assert_eq!(encoded(|to| to.alu(operation, Reg::R9, -5)), [(code, pair(9, 0), 0, -5)], "{operation:?}");
        let with_register = encoded(|to| to.alu(operation, Reg::R9, Reg::R4));
        assert_eq!(with_register, [(code + 8, pair(9, 4), 0, 0)], "{operation:?}");
    }
}

#[test]
fn octets_are_swapped_in_each_size() {
    for (size, bits) in [(Size::Two, 16), (Size::Four, 32), (Size::Eight, 64)] {
        assert_eq!(encoded(|code| code.swap_octets(Reg::R3, size)), [(0xdc, pair(3, 0), 0, bits)]);
    }
    assert_eq!(encoded(|code| code.swap_octets(Reg::R3, Size::One)), [(0x57, pair(3, 0), 0, 0xff)]);
}

#[test]
fn a_number_takes_two_instructions_where_it_must() {
    let number = |number| encoded(|code| code.number(Reg::R1, number));
    assert_eq!(number(0), [(0xb7, pair(1, 0), 0, 0)]);
    assert_eq!(number(0x7fff_ffff), [(0xb7, pair(1, 0), 0, i32::MAX)]);
    assert_eq!(number(u64::MAX), [(0xb7, pair(1, 0), 0, -1)]);
    assert_eq!(number(0xffff_ffff_8000_0000), [(0xb7, pair(1, 0), 0, i32::MIN)]);
    // Its sign would make it another number.
    assert_eq!(number(0x8000_0000), [(0x18, pair(1, 0), 0, i32::MIN), (0, 0, 0, 0)]);
    assert_eq!(number(0x0123_4567_89ab_cdef), [(0x18, pair(1, 0), 0, 0x89ab_cdef_u32 as i32), (0, 0, 0, 0x0123_4567)]);
}

#[test]
fn helpers_are_called_and_programs_end() {
    assert_eq!(encoded(|code| code.call(51)), [(0x85, 0, 0, 51)]);
    assert_eq!(encoded(Code::exit), [(0x95, 0, 0, 0)]);
}

#[test]
fn jumps_compare_with_registers_and_numbers() {
    let comparisons = [
        (Compare::Equal, 0x15),
        (Compare::Greater, 0x25),
        (Compare::GreaterOrEqual, 0x35),
        (Compare::NotEqual, 0x55),
        (Compare::Less, 0xa5),
        (Compare::LessOrEqual, 0xb5),
    ];
    for (compare, code) in comparisons {
        let jumps = encoded(|to| {
            let here = to.label();
            to.jump_if(Reg::R6, compare, 7, here);
            to.jump_if(Reg::R6, compare, Reg::R7, here);
            to.place(here);
        });
        assert_eq!(jumps, [(code, pair(6, 0), 1, 7), (code + 8, pair(6, 7), 0, 0)], "{compare:?}");
    }
}

#[test]
fn jumps_lead_forwards_and_backwards() {
    let jumps = encoded(|code| {
        let (start, end) = (code.label(), code.label());
        code.place(start);
        code.alu(Alu::Add, Reg::R1, 1);
        code.jump(end);
        // Two instructions to jump over.
        code.number(Reg::R2, 1 << 40);
        code.jump_if(Reg::R1, Compare::Less, 3, start);
        code.jump(start);
        code.place(end);
        code.exit();
    });
    assert_eq!(jumps[1], (0x05, 0, 4, 0));
    assert_eq!(jumps[4], (0xa5, pair(1, 0), -5, 3));
    assert_eq!(jumps[5], (0x05, 0, -6, 0));
    assert_eq!(jumps.len(), 7);
}

fn far(between: usize) -> Vec<Instruction> {
    let mut code = Code::new();
    let end = code.label();
    code.jump(end);
    (0..between).for_each(|_| code.exit());
    code.place(end);
    code.exit();
    code.finish()
}

#[test]
fn a_jump_leads_as_far_as_its_offset() {
    assert_eq!(far(32767)[0].offset, i16::MAX);
}

#[test]
#[should_panic(expected = "is 32768 instructions away")]
fn a_jump_that_leads_too_far_is_a_bug() {
    far(32768);
}

#[test]
#[should_panic(expected = "is not placed")]
fn a_label_that_was_forgotten_is_a_bug() {
    let mut code = Code::new();
    let end = code.label();
    code.jump(end);
    code.finish();
}
