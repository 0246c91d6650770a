//! Network namespaces for tests. They need root and `ip`; without them each test says so and passes.

use ports::namespace::Namespace;

pub fn is_root() -> bool {
    let root = rustix::process::geteuid().is_root();
    if !root {
        eprintln!("skipped: needs root");
    }
    root
}

/// A fresh network namespace; none where the machine does not let us.
pub fn namespace() -> Option<Namespace> {
    if !is_root() {
        return None;
    }
    match Namespace::new() {
        Ok(namespace) => Some(namespace),
        Err(error) => {
            eprintln!("skipped: no network namespace: {error}");
            None
        }
    }
}

/// One with its loopback up, where the kernel says nothing of its own.
pub fn quiet_namespace() -> Option<Namespace> {
    let namespace = namespace()?;
    // The kernel's own IPv6 would say hello on every interface.
    namespace.enter(|| std::fs::write("/proc/sys/net/ipv6/conf/default/disable_ipv6", "1")).unwrap().unwrap();
    match namespace.ip("link set lo up") {
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => {
            eprintln!("skipped: there is no ip command");
            None
        }
        result => result.map(|()| Some(namespace)).unwrap(),
    }
}
