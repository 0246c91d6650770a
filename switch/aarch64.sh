#!/usr/bin/env bash
# The embedded switch for aarch64, built on another machine and run under qemu-user: native code beside the interpreter.
set -euo pipefail
cd "$(dirname "$0")"

target=aarch64-unknown-linux-gnu
linker=aarch64-linux-gnu-gcc
emulator=qemu-aarch64

skip() {
    echo "skipped: $1"
    exit 0
}

command -v "$emulator" >/dev/null || skip "$emulator is not there (Debian's qemu-user)"
command -v "$linker" >/dev/null || skip "$linker is not there (Debian's gcc-aarch64-linux-gnu and libc6-dev-arm64-cross)"
libraries="$("${RUSTC:-rustc}" --print target-libdir --target "$target")"
compgen -G "$libraries/libstd-*.rlib" >/dev/null ||
    skip "Rust's library for $target is not there (rustup target add $target, or docs/switch.md#aarch64)"

export CARGO_TARGET_AARCH64_UNKNOWN_LINUX_GNU_LINKER="$linker"
export CARGO_TARGET_AARCH64_UNKNOWN_LINUX_GNU_RUNNER="$emulator -L /usr/aarch64-linux-gnu"

echo "== the pipeline's cases on every engine, for aarch64"
"${CARGO:-cargo}" run --release --locked --target "$target" -p stf --bin conformance -- \
    --verbose --goal 100 --only "${ONLY:-}" -I ../p4src --program ../p4src/v1model/main.p4 ../p4src/tests
