//! Programs inside the host, a file each.

mod ping;
mod spread;

pub use ping::Ping;

use smoltcp::wire::Ipv6Address;

/// Whether packets can be sent there.
fn check_destination(to: Ipv6Address) -> Result<(), String> {
    if to.is_unspecified() {
        return Err("the command does not say where to; give \"to\", an IPv6 address".into());
    }
    Ok(())
}

/// Whether a time makes sense: at least a microsecond, below a year.
fn check_seconds(key: &str, seconds: f64) -> Result<(), String> {
    if (1e-6..3e7).contains(&seconds) {
        return Ok(());
    }
    Err(format!(
        "\"{key}\" is {seconds}; give a positive number of seconds"
    ))
}
