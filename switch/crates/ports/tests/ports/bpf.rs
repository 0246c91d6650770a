//! Programs that the kernel runs. They need root, and those on interfaces `ip` too; without them each test says so and
//! passes.

use std::io;
use std::os::fd::AsFd;
use std::os::unix::net::UnixDatagram;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::Ordering::Relaxed;

use crate::common::{is_root, quiet_namespace};
use ports::bpf::{Alu, Code, Compare, Instruction, Kind, Map, Program, Reg, Size, remove_filter};
use ports::namespace::Namespace;
use ports::{Port, PortSpec};
use rustix::event::{PollFd, PollFlags, Timespec, poll};

// Helpers of linux/bpf.h.
const MAP_LOOKUP: i32 = 1;
const REDIRECT: i32 = 23;
const SKB_LOAD_BYTES: i32 = 26;
/// What programs on interfaces answer.
const XDP_DROP: i32 = 1;
const TC_DROP: i32 = 2;
/// As a filter's answer: all octets of the packet.
const WHOLE: i32 = i32::MAX;
/// Where the context of a packet has its length.
const LEN: i16 = 0;

/// A network namespace with veth pairs `west` - `east` and `north` - `south`, all up; none where the machine does not let
/// us.
fn pairs() -> Option<Namespace> {
    let namespace = quiet_namespace()?;
    for (one, other) in [("west", "east"), ("north", "south")] {
        namespace.ip(&format!("link add {one} type veth peer name {other}")).unwrap();
        namespace.ip(&format!("link set {one} up")).unwrap();
        namespace.ip(&format!("link set {other} up")).unwrap();
    }
    Some(namespace)
}

fn open(namespace: &Namespace, device: &str) -> Box<dyn Port> {
    let spec: PortSpec = format!("1@{device}").parse().unwrap();
    namespace.enter(|| ports::open(&spec, 0)).unwrap().unwrap()
}

fn index(namespace: &Namespace, device: &str) -> u32 {
    let look = || rustix::net::netdevice::name_to_index(UnixDatagram::unbound().unwrap(), device);
    namespace.enter(look).unwrap().unwrap()
}

/// Sends a frame for each EtherType; answers those that come to the other port until the last one has.
fn carried(from: &mut dyn Port, to: &mut dyn Port, types: &[u16]) -> Vec<u16> {
    for ether_type in types {
        let frame = [&[2; 12][..], &ether_type.to_be_bytes(), &[0; 46]].concat();
        assert!(from.send(&frame, 0).unwrap());
    }
    from.flush(0).unwrap();
    let mut got = vec![];
    while got.last() != types.last() {
        let mut take = |frame: &[u8]| got.push(u16::from_be_bytes([frame[12], frame[13]]));
        if to.receive(100, &mut take).unwrap() == 0 {
            let mut fds = [PollFd::from_borrowed_fd(to.fd().unwrap(), PollFlags::IN)];
            if poll(&mut fds, Some(&Timespec { tv_sec: 0, tv_nsec: 300_000_000 })).unwrap() == 0 {
                break;
            }
        }
    }
    got
}

fn program(write: impl FnOnce(&mut Code)) -> Vec<Instruction> {
    let mut code = Code::new();
    write(&mut code);
    code.finish()
}

/// A program that only answers.
fn answer(number: i32) -> Vec<Instruction> {
    program(|code| {
        code.alu(Alu::Move, Reg::R0, number);
        code.exit();
    })
}

/// Runs a program once for each length of a packet.
fn run(instructions: &[Instruction], lengths: &[usize]) {
    let (from, to) = UnixDatagram::pair().unwrap();
    Program::load(Kind::SocketFilter, "test", instructions).unwrap().filter(&to).unwrap();
    for len in lengths {
        from.send(&vec![0; *len]).unwrap();
    }
}

/// R0 = the value of the map at the 32-bit key that stands at R10 - 4, and the program ends where there is none.
fn look_up(code: &mut Code, map: &Map) {
    let found = code.label();
    code.map(Reg::R1, map);
    code.alu(Alu::Move, Reg::R2, Reg::R10);
    code.alu(Alu::Add, Reg::R2, -4);
    code.call(MAP_LOOKUP);
    code.jump_if(Reg::R0, Compare::NotEqual, 0, found);
    code.exit();
    code.place(found);
}

#[test]
fn a_maps_memory_is_shared_with_programs() {
    if !is_root() {
        return;
    }
    let map = Map::array(24, 1).unwrap();
    let memory = map.memory().unwrap();
    memory.word(0).store(40, Relaxed);
    // Adds the packet's length to what we wrote.
    let instructions = program(|code| {
        code.load(Size::Four, Reg::R2, Reg::R1, LEN);
        code.map_value(Reg::R1, &map, 0);
        code.load(Size::Eight, Reg::R3, Reg::R1, 0);
        code.alu(Alu::Add, Reg::R3, Reg::R2);
        code.map_value(Reg::R1, &map, 8);
        code.store(Size::Eight, Reg::R1, 0, Reg::R3);
        code.number(Reg::R4, 0x0102_0304_0506_0708);
        code.swap_octets(Reg::R4, Size::Eight);
        code.store(Size::Eight, Reg::R1, 8, Reg::R4);
        code.alu(Alu::Move, Reg::R0, 0);
        code.exit();
    });
    run(&instructions, &[2]);
    assert_eq!(memory.word(8).load(Relaxed), 42);
    assert_eq!(memory.word(16).load(Relaxed).to_ne_bytes(), [1, 2, 3, 4, 5, 6, 7, 8], "in the network's order");
    memory.word(0).store(90, Relaxed);
    run(&instructions, &[10]);
    assert_eq!(memory.word(8).load(Relaxed), 100);
    drop(map);
    assert_eq!(memory.word(8).load(Relaxed), 100, "memory outlives the map");
}

#[test]
fn values_of_an_array_stand_at_multiples_of_eight() {
    if !is_root() {
        return;
    }
    let map = Map::array(12, 1000).unwrap();
    let memory = map.memory().unwrap();
    map.put(&999u32.to_ne_bytes(), &[7; 12]).unwrap();
    assert_eq!(memory.word(999 * 16).load(Relaxed), 0x0707_0707_0707_0707);
    memory.word(998 * 16).store(0, Relaxed);
    assert_eq!(map.get(&998u32.to_ne_bytes()).unwrap(), Some(vec![0; 12]));
    assert_eq!(map.get(&999u32.to_ne_bytes()).unwrap(), Some(vec![7; 12]));
    assert_eq!(map.get(&1000u32.to_ne_bytes()).unwrap(), None);
    assert!(map.put(&1000u32.to_ne_bytes(), &[7; 12]).is_err());
}

#[test]
fn a_hash_map_has_what_was_put_and_not_removed() {
    if !is_root() {
        return;
    }
    let (map, result) = (Map::hash(4, 8, 2).unwrap(), Map::array(8, 1).unwrap());
    let memory = result.memory().unwrap();
    // Writes the value for the packet's length.
    let instructions = program(|code| {
        code.load(Size::Four, Reg::R2, Reg::R1, LEN);
        code.store(Size::Four, Reg::R10, -4, Reg::R2);
        look_up(code, &map);
        code.load(Size::Eight, Reg::R1, Reg::R0, 0);
        code.map_value(Reg::R2, &result, 0);
        code.store(Size::Eight, Reg::R2, 0, Reg::R1);
        code.alu(Alu::Move, Reg::R0, 0);
        code.exit();
    });
    let seen = |key: u32| {
        memory.word(0).store(0, Relaxed);
        run(&instructions, &[key as usize]);
        memory.word(0).load(Relaxed)
    };
    let put = |key: u32, value: u64| map.put(&key.to_ne_bytes(), &value.to_ne_bytes());
    put(5, 50).unwrap();
    put(6, 60).unwrap();
    put(5, 55).unwrap();
    assert_eq!([seen(5), seen(6), seen(7)], [55, 60, 0]);
    assert!(put(7, 70).is_err(), "it is full");
    assert!(map.remove(&5u32.to_ne_bytes()).unwrap());
    assert!(!map.remove(&5u32.to_ne_bytes()).unwrap());
    put(7, 70).unwrap();
    assert_eq!([seen(5), seen(6), seen(7)], [0, 60, 70]);
    assert_eq!(map.get(&5u32.to_ne_bytes()).unwrap(), None);
    assert_eq!(map.get(&7u32.to_ne_bytes()).unwrap(), Some(70u64.to_ne_bytes().to_vec()));
}

#[test]
fn keys_and_values_of_other_lengths_do_not_reach_the_kernel() {
    if !is_root() {
        return;
    }
    let panics = |map: &Map, key: &[u8], value: &[u8]| catch_unwind(AssertUnwindSafe(|| map.put(key, value))).is_err();
    let map = Map::hash(4, 8, 2).unwrap();
    assert!(panics(&map, &[0; 4], &[0; 4]) && panics(&map, &[0; 8], &[0; 8]));
    assert!(panics(&Map::per_cpu_array(8, 1).unwrap(), &[0; 4], &[0; 8]), "it has as many values as processors");
}

#[test]
fn each_processor_has_a_value_of_its_own() {
    if !is_root() {
        return;
    }
    let (own, result) = (Map::per_cpu_array(8, 1).unwrap(), Map::array(8, 1).unwrap());
    // Counts for itself, and adds its count to ours.
    let instructions = program(|code| {
        code.store(Size::Four, Reg::R10, -4, 0);
        look_up(code, &own);
        code.load(Size::Eight, Reg::R1, Reg::R0, 0);
        code.alu(Alu::Add, Reg::R1, 1);
        code.store(Size::Eight, Reg::R0, 0, Reg::R1);
        code.map_value(Reg::R2, &result, 0);
        code.load(Size::Eight, Reg::R3, Reg::R2, 0);
        code.alu(Alu::Add, Reg::R3, Reg::R1);
        code.store(Size::Eight, Reg::R2, 0, Reg::R3);
        code.alu(Alu::Move, Reg::R0, 0);
        code.exit();
    });
    run(&instructions, &[1, 1, 1]);
    // One processor counts to three; on three each counts to one.
    let sum = result.memory().unwrap().word(0).load(Relaxed);
    assert!((3..=6).contains(&sum), "{sum}");
}

#[test]
fn a_loop_ends_and_memory_is_stored_in_each_size() {
    if !is_root() {
        return;
    }
    let map = Map::array(16, 1).unwrap();
    let instructions = program(|code| {
        let again = code.label();
        code.map_value(Reg::R1, &map, 0);
        code.store(Size::Eight, Reg::R1, 8, -1);
        code.store(Size::Four, Reg::R1, 8, 0);
        code.store(Size::Two, Reg::R1, 8, 0x0201);
        code.store(Size::One, Reg::R1, 8, 3);
        code.alu(Alu::Move, Reg::R2, 0);
        code.alu(Alu::Move, Reg::R0, 0);
        code.place(again);
        code.alu(Alu::Add, Reg::R2, 1);
        code.alu(Alu::Add, Reg::R0, Reg::R2);
        code.jump_if(Reg::R2, Compare::Less, 10, again);
        code.store(Size::Eight, Reg::R1, 0, Reg::R0);
        code.exit();
    });
    run(&instructions, &[1]);
    let memory = map.memory().unwrap();
    assert_eq!(memory.word(0).load(Relaxed), 55);
    let second = 0x0201u16.to_ne_bytes()[1];
    assert_eq!(memory.word(8).load(Relaxed).to_ne_bytes(), [3, second, 0, 0, 0xff, 0xff, 0xff, 0xff]);
}

#[test]
fn a_program_that_the_verifier_refuses_is_an_error_with_its_words() {
    if !is_root() {
        return;
    }
    let instructions = program(|code| {
        code.alu(Alu::Move, Reg::R0, Reg::R3);
        code.exit();
    });
    for kind in [Kind::Xdp, Kind::Tc, Kind::SocketFilter] {
        let error = Program::load(kind, "test", &instructions).err().unwrap();
        assert_eq!(error.kind(), io::ErrorKind::PermissionDenied);
        assert!(error.to_string().ends_with("R3 !read_ok"), "{error}");
    }
    let error = Program::load(Kind::Xdp, "a name", &answer(0)).err().unwrap();
    assert_eq!(error.to_string(), "'a name' is no name of a program");
}

#[test]
fn a_socket_filter_drops_frames_until_it_is_removed() {
    let Some(namespace) = pairs() else { return };
    let (mut west, mut east) = (open(&namespace, "west"), open(&namespace, "east"));
    // Only frames of one EtherType.
    let instructions = program(|code| {
        let drop = code.label();
        code.store(Size::Eight, Reg::R10, -8, 0);
        code.alu(Alu::Move, Reg::R2, 12);
        code.alu(Alu::Move, Reg::R3, Reg::R10);
        code.alu(Alu::Add, Reg::R3, -8);
        code.alu(Alu::Move, Reg::R4, 2);
        code.call(SKB_LOAD_BYTES);
        code.load(Size::Two, Reg::R6, Reg::R10, -8);
        code.swap_octets(Reg::R6, Size::Two);
        code.alu(Alu::Move, Reg::R0, 0);
        code.jump_if(Reg::R6, Compare::NotEqual, 0x88b6, drop);
        code.alu(Alu::Move, Reg::R0, WHOLE);
        code.place(drop);
        code.exit();
    });
    let filter = Program::load(Kind::SocketFilter, "test", &instructions).unwrap();
    let types = [0x88b5, 0x88b6, 0x88b5, 0x88b6];
    filter.filter(&east.fd().unwrap()).unwrap();
    drop(filter);
    assert_eq!(carried(&mut *west, &mut *east, &types), [0x88b6, 0x88b6]);
    for _ in 0..2 {
        remove_filter(&east.fd().unwrap()).unwrap();
        assert_eq!(carried(&mut *west, &mut *east, &types), types);
    }
}

#[test]
fn a_tc_program_redirects_frames_while_it_is_linked() {
    let Some(namespace) = pairs() else { return };
    let (mut east, mut south) = (open(&namespace, "east"), open(&namespace, "south"));
    let north = index(&namespace, "north");
    let west = index(&namespace, "west");
    let attach = |instructions: &[Instruction]| {
        let program = Program::load(Kind::Tc, "test", instructions).unwrap();
        namespace.enter(|| program.attach_tc_ingress(west)).unwrap()
    };
    let redirect = program(|code| {
        code.alu(Alu::Move, Reg::R1, north as i32);
        code.alu(Alu::Move, Reg::R2, 0);
        code.call(REDIRECT);
        code.exit();
    });
    let types = [0x88b5, 0x88b6];
    let link = attach(&redirect).unwrap();
    assert_eq!(carried(&mut *east, &mut *south, &types), types);
    drop(link);
    assert_eq!(carried(&mut *east, &mut *south, &types), []);
    // The one that came last decides.
    let links = (attach(&answer(TC_DROP)).unwrap(), attach(&redirect).unwrap());
    assert_eq!(carried(&mut *east, &mut *south, &types), types);
    drop(links.1);
    assert_eq!(carried(&mut *east, &mut *south, &types), []);
    let nowhere = Program::load(Kind::Tc, "test", &redirect).unwrap();
    let error = namespace.enter(|| nowhere.attach_tc_ingress(9999)).unwrap().err().unwrap();
    assert_eq!(error.raw_os_error(), Some(rustix::io::Errno::NODEV.raw_os_error()));
}

#[test]
fn an_xdp_program_drops_frames_while_it_is_linked() {
    let Some(namespace) = pairs() else { return };
    let (mut west, mut east) = (open(&namespace, "west"), open(&namespace, "east"));
    let program = Program::load(Kind::Xdp, "test", &answer(XDP_DROP)).unwrap();
    let index = index(&namespace, "east");
    for in_driver in [false, true] {
        let link = namespace.enter(|| program.attach_xdp(index, in_driver)).unwrap().unwrap();
        assert_eq!(carried(&mut *west, &mut *east, &[0x88b5]), []);
        assert!(namespace.enter(|| program.attach_xdp(index, in_driver)).unwrap().is_err(), "it is taken");
        drop(link);
        assert_eq!(carried(&mut *west, &mut *east, &[0x88b5]), [0x88b5]);
    }
    assert!(program.as_fd().try_clone_to_owned().is_ok());
}
