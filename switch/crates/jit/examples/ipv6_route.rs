//! How long compiled code takes to route an IPv6 packet: `cargo run --release -p jit --example ipv6_route`.
//! With `--listing` it prints the machine code instead.

use std::hint::black_box;
use std::sync::Arc;
use std::time::Instant;

use ir::{Handle, Program, TableId};
use jit::Jit;
use runtime::{Backend, BitString, Context, Device};

/// Where the hop limit stands in the frame.
const HOPS: u32 = 43;
/// Packets a batch: short enough that some batches run undisturbed on a busy machine.
const ROUNDS: u32 = 10_000;
const BATCHES: u32 = 500;

fn main() {
    let program: Program = include_str!("ipv6_route.ir").parse().expect("the program is well-formed");
    let program = Arc::new(program);
    if std::env::args().any(|arg| arg == "--listing") {
        print!("{}", Jit::listing(program).expect("the program compiles"));
        return;
    }
    let start = Instant::now();
    let jit = Jit::compile(program.clone()).expect("the program compiles");
    println!("compiled in {:.1} ms", start.elapsed().as_secs_f64() * 1e3);

    let device = Device::new(program.clone()).expect("its entries are right");
    let mut context = Context::new(&device, 0);
    let mut packet = vec![0u8; 64];
    packet[12..14].copy_from_slice(&[0x86, 0xdd]);
    packet[14] = 0x60;
    packet[21] = 64;
    packet[38..42].copy_from_slice(&[0x20, 0x01, 0x0d, 0xb8]);
    context.packet.refill(64, &packet);
    let blocks = &program.blocks;
    for (name, functions) in [
        ("parser", &[blocks.parser][..]),
        ("ingress with its lookup", &[blocks.ingress]),
        ("deparser", &[blocks.deparser]),
        ("all", &[blocks.parser, blocks.verify_checksum, blocks.ingress, blocks.egress, blocks.deparser]),
    ] {
        let time = fastest(|| {
            context.cursor = 0;
            context.out.clear();
            context.frame.bytes_mut(HOPS, 1)[0] = 64;
            for function in functions {
                jit.run(*function, black_box(&mut context));
            }
        });
        println!("{name}: {time:.1} ns");
    }
    let key: [u8; 16] = packet[38..54].try_into().expect("16 bytes");
    let none = BitString::new();
    let time = fastest(|| {
        black_box(context.lookup(TableId::new(0), black_box(&key), &none));
    });
    println!("the lookup alone: {time:.1} ns");

    assert_eq!(context.out.len(), 54);
    assert_eq!(context.out[..6], [2, 0, 0, 0, 0, 2]);
    assert_eq!(context.out[21], 63);
}

/// Nanoseconds that `work` takes, in the fastest batch.
fn fastest(mut work: impl FnMut()) -> f64 {
    let batches = (0..BATCHES).map(|_| {
        let start = Instant::now();
        (0..ROUNDS).for_each(|_| work());
        start.elapsed().as_secs_f64() * 1e9 / f64::from(ROUNDS)
    });
    batches.fold(f64::INFINITY, f64::min)
}
