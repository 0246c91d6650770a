//! Carriers: those of links that ports are on, and those that TAP devices show to Linux.

use std::fs::{File, read_to_string};
use std::io;
use std::os::fd::AsRawFd;
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};

use crate::device::Device;

/// The carrier of a network interface, for a thread that may wait.
pub struct Carrier {
    device: Device,
    changes: Option<Changes>,
}

impl Carrier {
    pub(crate) fn of(device: &Device) -> io::Result<Self> {
        Ok(Self { device: device.try_clone()?, changes: Changes::of(device, Path::new("/sys/class/net")) })
    }

    /// Whether it is there now. Where `/sys` does not show the interface, it waits while others change links or routes.
    pub fn is_there(&mut self) -> bool {
        if !self.device.is_enabled() {
            return false;
        }
        let counted = self.changes.as_mut().and_then(Changes::has_carrier);
        counted.unwrap_or_else(|| self.device.has_carrier())
    }
}

/// The number of times that a carrier came or went. Of all that Linux says of a carrier, this alone changes with it and
/// is read without a lock: what asks the driver waits while the kernel goes through its routes, as it does for each link
/// that fails.
struct Changes {
    folder: PathBuf,
    count: File,
    /// Whether the number is even while there is a carrier; none as long as that is not known.
    even_with_carrier: Option<bool>,
}

impl Changes {
    /// None where `/sys` shows another network namespace than the interface's: that in which it was mounted.
    fn of(device: &Device, interfaces: &Path) -> Option<Self> {
        let folder = interfaces.join(device.name()?);
        let shown = |file| read_to_string(folder.join(file)).ok();
        let mac = device.mac().ok()?.map(|octet| format!("{octet:02x}")).join(":");
        if shown("ifindex")?.trim() != device.index.to_string() || shown("address")?.trim() != mac {
            return None;
        }
        let count = File::open(folder.join("carrier_changes")).ok()?;
        Some(Self { folder, count, even_with_carrier: None })
    }

    /// None where it cannot be known: the interface is down, or gone.
    fn has_carrier(&mut self) -> Option<bool> {
        let even = self.is_even()?;
        if let Some(with_carrier) = self.even_with_carrier {
            return Some(even == with_carrier);
        }
        let up = read_to_string(self.folder.join("carrier")).ok()?.trim() == "1";
        if self.is_even()? == even {
            self.even_with_carrier = Some(even == up);
        }
        Some(up)
    }

    fn is_even(&self) -> Option<bool> {
        let mut text = [0; 16];
        let len = self.count.read_at(&mut text, 0).ok()?;
        let number: u32 = str::from_utf8(&text[..len]).ok()?.trim().parse().ok()?;
        Some(number.is_multiple_of(2))
    }
}

/// The carrier that a TAP device shows to Linux, for a thread that may wait.
pub struct ShownCarrier(pub(crate) File);

impl ShownCarrier {
    /// Shows one, or none. Waits while others change links or routes.
    #[allow(unsafe_code)]
    pub fn set(&self, up: bool) -> io::Result<()> {
        let carrier = libc::c_int::from(up);
        // SAFETY: TUNSETCARRIER reads one `int`, which lives through the call.
        let result = unsafe { libc::ioctl(self.0.as_raw_fd(), libc::TUNSETCARRIER as _, std::ptr::from_ref(&carrier)) };
        if result < 0 { Err(io::Error::last_os_error()) } else { Ok(()) }
    }
}

#[cfg(test)]
mod tests {
    use std::fs::{create_dir_all, remove_dir_all, write};

    use super::*;

    /// A folder like `/sys/class/net`, which shows the loopback.
    struct Shown(PathBuf);

    impl Shown {
        fn new(name: &str, index: u32) -> Self {
            let shown = Self(std::env::temp_dir().join(format!("wayname-carrier-{name}-{}", std::process::id())));
            create_dir_all(shown.0.join("lo")).unwrap();
            shown.put("ifindex", &index.to_string());
            shown.put("address", "00:00:00:00:00:00");
            shown.put("carrier_changes", "3");
            shown
        }

        fn put(&self, file: &str, text: &str) {
            write(self.0.join("lo").join(file), format!("{text}\n")).unwrap();
        }
    }

    impl Drop for Shown {
        fn drop(&mut self) {
            let _ = remove_dir_all(&self.0);
        }
    }

    #[test]
    fn each_change_is_a_carrier_that_came_or_went() {
        let loopback = Device::open("lo").unwrap();
        let shown = Shown::new("changes", loopback.index);
        let mut changes = Changes::of(&loopback, &shown.0).unwrap();
        assert_eq!(changes.has_carrier(), None, "an interface that is down does not say");
        shown.put("carrier", "1");
        assert_eq!(changes.has_carrier(), Some(true));
        shown.put("carrier_changes", "4");
        assert_eq!(changes.has_carrier(), Some(false), "whatever the flag still says");
        shown.put("carrier_changes", "7");
        assert_eq!(changes.has_carrier(), Some(true));
    }

    #[test]
    fn an_interface_of_another_namespace_is_not_asked() {
        let loopback = Device::open("lo").unwrap();
        let shown = Shown::new("namespace", loopback.index + 1);
        assert!(Changes::of(&loopback, &shown.0).is_none());
        shown.put("ifindex", &loopback.index.to_string());
        shown.put("address", "02:00:00:00:00:01");
        assert!(Changes::of(&loopback, &shown.0).is_none());
    }
}
