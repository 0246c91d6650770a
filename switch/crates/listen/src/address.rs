//! Where a server listens: `ADDR:PORT` or `unix:PATH`.

use std::fmt::{self, Display};
use std::io::{self, ErrorKind};
use std::net::SocketAddr;
use std::os::unix::fs::FileTypeExt;
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};
use std::str::FromStr;

use rustix::fs::{Mode, fchmod};
use rustix::net::{AddressFamily, SocketAddrUnix, SocketFlags, SocketType};
use tokio::net::UnixListener;

/// Connections that may wait to be accepted: who connects to a Unix socket with as many is refused at once.
const BACKLOG: i32 = 1024;

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Address {
    Tcp(SocketAddr),
    Unix(PathBuf),
}

#[derive(Debug, thiserror::Error)]
pub enum BindError {
    #[error("{address} is in use by another process; end it or choose another address with {flag}")]
    InUse { address: Address, flag: &'static str },
    #[error("{address}: {error}; choose an address of this machine with {flag}")]
    Other { address: Address, flag: &'static str, error: io::Error },
}

impl Address {
    /// Whether only this machine reaches it.
    pub fn is_local(&self) -> bool {
        match self {
            Self::Tcp(address) => address.ip().to_canonical().is_loopback(),
            Self::Unix(_) => true,
        }
    }

    pub(crate) fn error(&self, flag: &'static str, error: io::Error) -> BindError {
        let address = self.clone();
        match error.kind() {
            ErrorKind::AddrInUse => BindError::InUse { address, flag },
            _ => BindError::Other { address, flag, error },
        }
    }
}

impl FromStr for Address {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        match text.strip_prefix("unix:") {
            Some("") => Err("unix: needs a path behind it, as in unix:/run/wayname/p4runtime".to_owned()),
            Some(path) => Ok(Self::Unix(path.into())),
            None => {
                let address = text.parse().map_err(|_| "write ADDR:PORT or unix:PATH, as in 127.0.0.1:9559")?;
                Ok(Self::Tcp(address))
            }
        }
    }
}

impl Display for Address {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Tcp(address) => address.fmt(f),
            Self::Unix(path) => write!(f, "unix:{}", path.display()),
        }
    }
}

/// Listens at `path`, for this user alone; a socket left behind by a process that was killed is replaced.
pub fn listen_unix(path: &Path) -> io::Result<UnixListener> {
    let is_socket = std::fs::symlink_metadata(path).is_ok_and(|found| found.file_type().is_socket());
    if is_socket {
        match UnixStream::connect(path) {
            Err(error) if error.kind() == ErrorKind::ConnectionRefused => std::fs::remove_file(path)?,
            _ => return Err(ErrorKind::AddrInUse.into()),
        }
    }
    let flags = SocketFlags::CLOEXEC | SocketFlags::NONBLOCK;
    let socket = rustix::net::socket_with(AddressFamily::UNIX, SocketType::STREAM, flags, None)?;
    // The file gets the mode of the socket, from its first moment on.
    fchmod(&socket, Mode::RUSR | Mode::WUSR)?;
    rustix::net::bind(&socket, &SocketAddrUnix::new(path)?)?;
    rustix::net::listen(&socket, BACKLOG)?;
    UnixListener::from_std(socket.into())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_are_read_as_they_are_written() {
        for text in ["127.0.0.1:9559", "[::1]:9559", "unix:/run/p4runtime", "unix:here"] {
            assert_eq!(text.parse::<Address>().unwrap().to_string(), text);
        }
        for text in ["", "unix:", "localhost:9559", "9559", "::1:9559"] {
            text.parse::<Address>().unwrap_err();
        }
    }

    #[test]
    fn only_loopback_and_paths_are_local() {
        let local = |text: &str| text.parse::<Address>().unwrap().is_local();
        assert!(local("127.0.0.1:1") && local("127.9.9.9:1") && local("[::1]:1") && local("unix:/a"));
        assert!(local("[::ffff:127.0.0.1]:1"));
        assert!(!local("0.0.0.0:1") && !local("[::]:1") && !local("192.0.2.1:1") && !local("[2001:db8::1]:1"));
    }
}
