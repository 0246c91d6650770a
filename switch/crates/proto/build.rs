//! Compiles the P4Runtime .proto files that the `finsy` wheel ships, and our own. No protoc is needed.

use std::error::Error;
use std::path::{Path, PathBuf};
use std::{env, fs, process};

use prost::Message;

const OURS: &str = "wayname/trace/v1/trace.proto";
const FILES: [&str; 7] = [
    "p4/v1/p4runtime.proto",
    "p4/v1/p4data.proto",
    "p4/config/v1/p4info.proto",
    "p4/config/v1/p4types.proto",
    "google/rpc/status.proto",
    "google/rpc/code.proto",
    "stratum1/p4_role_config.proto",
];

fn main() -> Result<(), Box<dyn Error>> {
    println!("cargo:rerun-if-changed=build.rs");
    println!("cargo:rerun-if-env-changed=WAYNAME_PROTO_DIR");
    let Some(folder) = proto_folder() else {
        eprintln!(
            "no P4Runtime .proto files: run `make venv`, or set WAYNAME_PROTO_DIR to a folder with p4/v1/p4runtime.proto"
        );
        process::exit(1);
    };
    for file in FILES {
        println!("cargo:rerun-if-changed={}", folder.join(file).display());
    }

    let here = PathBuf::from(env!("CARGO_MANIFEST_DIR"));
    println!("cargo:rerun-if-changed={}", here.join(OURS).display());
    let descriptors = protox::compile(FILES.into_iter().chain([OURS]), [&folder, &here])?;
    fs::write(PathBuf::from(env::var("OUT_DIR")?).join("descriptors.bin"), descriptors.encode_to_vec())?;
    tonic_prost_build::configure()
        // Maps in key order, so the bytes of a message depend on nothing but its content.
        .btree_map(".")
        // The files' comments hold drawings that rustdoc would take for code.
        .disable_comments(["."])
        .compile_fds(descriptors)?;
    Ok(())
}

/// `WAYNAME_PROTO_DIR`, or the wheel in the repository's own virtual environment.
fn proto_folder() -> Option<PathBuf> {
    let has_files = |folder: &PathBuf| folder.join(FILES[0]).is_file();
    if let Some(folder) = env::var_os("WAYNAME_PROTO_DIR") {
        return Some(PathBuf::from(folder)).filter(has_files);
    }
    let repository = Path::new(env!("CARGO_MANIFEST_DIR")).ancestors().nth(3)?;
    let mut folders: Vec<PathBuf> = fs::read_dir(repository.join(".venv/lib"))
        .ok()?
        .flatten()
        .map(|python| python.path().join("site-packages/finsy/proto"))
        .filter(has_files)
        .collect();
    folders.sort();
    folders.pop()
}
