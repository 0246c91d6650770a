//! Open files and sockets: a process may have so many.

use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};

/// Under this the switch cannot hold its ports, its clients and what it reads.
const LEAST: u64 = 64;

#[derive(Debug, thiserror::Error)]
#[error(
    "this process may have {0} files and sockets open, and the switch needs {least}; raise the limit (`ulimit -Hn`, \
     LimitNOFILE= of systemd)",
    least = LEAST
)]
pub struct TooFew(u64);

/// Takes as many as the system lets us have, and says how many that are.
pub fn raise_limit() -> Result<u64, TooFew> {
    let Rlimit { current, maximum } = getrlimit(Resource::Nofile);
    let raised = Rlimit { current: maximum, maximum };
    let limit = if setrlimit(Resource::Nofile, raised).is_ok() { maximum } else { current };
    match limit.unwrap_or(u64::MAX) {
        limit if limit < LEAST => Err(TooFew(limit)),
        limit => Ok(limit),
    }
}
