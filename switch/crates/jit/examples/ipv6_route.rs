//! How long compiled code takes to route an IPv6 packet: `cargo run --release -p jit --example ipv6_route`.
//! With `--listing` it prints the machine code instead.

use std::hint::black_box;
use std::sync::Arc;
use std::time::Instant;

use ir::Program;
use jit::Jit;
use runtime::{Backend, Context, Device};

const ROUNDS: u32 = 2_000_000;

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

    let device = Device::new(program.clone());
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
        let best = (0..5).map(|_| {
            let start = Instant::now();
            for _ in 0..ROUNDS {
                context.cursor = 0;
                context.out.clear();
                context.frame.bytes_mut(43, 1)[0] = 64;
                for function in functions {
                    jit.run(*function, black_box(&mut context));
                }
            }
            start.elapsed().as_secs_f64() * 1e9 / f64::from(ROUNDS)
        });
        println!("{name}: {:.1} ns", best.fold(f64::INFINITY, f64::min));
    }
    assert_eq!(context.out.len(), 54);
    assert_eq!(context.out[..6], [2, 0, 0, 0, 0, 2]);
    assert_eq!(context.out[21], 63);
}
