//! Programs inside the host, a file each.

mod connection;
mod datagram;
mod meter;
mod pattern;
mod ping;
mod spread;
mod stream;
mod tcp_echo;
mod tcp_request;
mod tcp_send;
mod tcp_serve;
mod tcp_sink;
mod udp_echo;
mod udp_receive;
mod udp_send;

use smoltcp::wire::Ipv6Address;

pub use ping::Ping;
pub use tcp_request::TcpRequest;
pub use tcp_send::TcpSend;
pub use tcp_serve::TcpServe;
pub use udp_echo::UdpEcho;
pub use udp_receive::UdpReceive;
pub use udp_send::UdpSend;

/// One of the host's addresses; the best one for the destination if none is given.
type Source = Option<Ipv6Address>;

/// Where programs meet unless told otherwise.
const PORT: u16 = 5001;
/// Enough for 100 Mbit/s over 80 ms.
const BUFFER: usize = 1 << 20;
/// Seconds of silence after which connections are given up.
const TIMEOUT: f64 = 60.0;

/// Whether packets can be sent there.
fn check_destination(to: Ipv6Address) -> Result<(), String> {
    if to.is_unspecified() {
        return Err("the command does not say where to; give \"to\", an IPv6 address".into());
    }
    Ok(())
}

fn check_port(port: u16) -> Result<(), String> {
    if port == 0 {
        return Err("a \"port\" of 0 is none; it is from 1 to 65535".into());
    }
    Ok(())
}

/// Whether a time makes sense: at least a microsecond, below a year.
fn check_seconds(key: &str, seconds: f64) -> Result<(), String> {
    if (1e-6..3e7).contains(&seconds) {
        return Ok(());
    }
    Err(format!("\"{key}\" is {seconds}; give a positive number of seconds"))
}
