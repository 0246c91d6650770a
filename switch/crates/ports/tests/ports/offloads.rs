//! What a host of Linux leaves to its card, as ports give it on. They need root, `ip` and `ethtool`; without them each
//! test says so and passes.

use std::io;
use std::net::UdpSocket;
use std::os::fd::AsRawFd;
use std::process::Command;

use crate::common::namespace;
use ports::namespace::Namespace;
use ports::{Port, PortSpec};
use rustix::event::{PollFd, PollFlags, Timespec, poll};

const UDP_SEGMENT: libc::c_int = 103;
const SIZE: usize = 1000;
/// Where a host sends to: nobody answers there, but its neighbour entry says who would.
const DESTINATIONS: [(&str, &str, &str); 2] =
    [("10.9.0.1/24", "10.9.0.1:4000", "10.9.0.2:9"), ("fd09::1/64", "[fd09::1]:4000", "[fd09::2]:9")];

/// A host whose interface `host` ends in a port.
fn host(device: &str) -> Option<(Namespace, Box<dyn Port>)> {
    let namespace = namespace()?;
    if !device.starts_with("tap:") {
        namespace.ip("link add host type veth peer name port").unwrap();
        namespace.ip("link set port up").unwrap();
    }
    let spec: PortSpec = format!("1@{device}").parse().unwrap();
    let port = namespace.enter(|| ports::open(&spec, 0)).unwrap().unwrap();
    namespace.ip("link set host up").unwrap();
    for (address, _, _) in DESTINATIONS {
        namespace.ip(&format!("address add {address} dev host nodad")).unwrap();
    }
    for neighbour in ["10.9.0.2", "fd09::2"] {
        let there = format!("neighbour add {neighbour} lladdr 02:00:00:00:00:02 dev host nud permanent");
        namespace.ip(&there).unwrap();
    }
    Some((namespace, port))
}

/// False where there is no ethtool.
fn ethtool(namespace: &Namespace, setting: &str) -> bool {
    let mut command = Command::new("ethtool");
    command.args(["-K", "host"]).args(setting.split_whitespace());
    match namespace.enter(|| command.output()).unwrap() {
        Err(error) if error.kind() == io::ErrorKind::NotFound => {
            eprintln!("skipped: there is no ethtool");
            false
        }
        output => {
            let output = output.unwrap();
            assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
            true
        }
    }
}

/// Has the host cut what it sends into datagrams of `SIZE`, itself or by its card.
#[allow(unsafe_code)]
fn segment(socket: &UdpSocket) {
    let size = SIZE as libc::c_int;
    let len = size_of_val(&size) as libc::socklen_t;
    // SAFETY: the kernel reads one int, which lives through the call.
    let result =
        unsafe { libc::setsockopt(socket.as_raw_fd(), libc::SOL_UDP, UDP_SEGMENT, (&raw const size).cast(), len) };
    assert_eq!(result, 0, "{}", io::Error::last_os_error());
}

/// The frames that carry the host's datagrams, `count` of them.
fn datagrams(port: &mut dyn Port, count: usize) -> Vec<Vec<u8>> {
    let mut frames: Vec<Vec<u8>> = vec![];
    loop {
        let take = &mut |frame: &[u8]| {
            // From port 4000 to port 9, behind either header.
            if [34, 54].iter().any(|at| frame.get(*at..*at + 4) == Some(&[0x0f, 0xa0, 0, 9])) {
                frames.push(frame.to_vec());
            }
        };
        let got = port.receive(64, take).unwrap();
        let mut fds = [PollFd::from_borrowed_fd(port.fd().unwrap(), PollFlags::IN)];
        if frames.len() >= count || got == 0 && poll(&mut fds, Some(&Timespec { tv_sec: 2, tv_nsec: 0 })).unwrap() == 0
        {
            return frames;
        }
    }
}

fn ipv6(frame: &[u8]) -> bool {
    frame[12] == 0x86
}

/// One's complement sum of the pseudo header and the datagram: all ones if the checksum is right.
fn sum(frame: &[u8]) -> u32 {
    let (addresses, datagram) = if ipv6(frame) { (22..54, 54) } else { (26..34, 34) };
    let mut covered = frame[addresses].to_vec();
    covered.extend([0, 17]);
    covered.extend(((frame.len() - datagram) as u16).to_be_bytes());
    covered.extend(&frame[datagram..]);
    let mut sum =
        covered.chunks(2).map(|word| u32::from(word[0]) << 8 | word.get(1).map_or(0, |low| u32::from(*low))).sum();
    while sum > 0xffff {
        sum = (sum & 0xffff) + (sum >> 16);
    }
    sum
}

fn payload(len: usize) -> Vec<u8> {
    (0..len).map(|at| (at * 7 + at / 256) as u8).collect()
}

/// What the host's long datagrams become, or none where the machine does not let us try.
fn sent(device: &str, setting: Option<&str>) -> Option<Vec<Vec<u8>>> {
    let (namespace, mut port) = host(device)?;
    if setting.is_some_and(|setting| !ethtool(&namespace, setting)) {
        return None;
    }
    let mut frames = vec![];
    for (_, from, to) in DESTINATIONS {
        let socket = namespace.enter(|| UdpSocket::bind(from)).unwrap().unwrap();
        segment(&socket);
        socket.send_to(&payload(3 * SIZE + 77), to).unwrap();
        frames.extend(datagrams(&mut *port, 4));
    }
    assert_eq!(port.lost(), ports::Lost::default());
    Some(frames)
}

/// Without what no two hosts have in common: MAC addresses, the flow label, and with which identification IPv4 began.
fn comparable(frames: &[Vec<u8>]) -> Vec<Vec<u8>> {
    let identification = |frame: &[u8]| u16::from_be_bytes([frame[18], frame[19]]);
    let first = frames.iter().find(|frame| !ipv6(frame)).map_or(0, |frame| identification(frame));
    let cleared = |frame: &Vec<u8>| {
        let mut frame = frame.clone();
        frame[..12].fill(0);
        if ipv6(&frame) {
            frame[15..18].fill(0);
        } else {
            let since = identification(&frame).wrapping_sub(first);
            frame[18..20].copy_from_slice(&since.to_be_bytes());
            frame[24..26].fill(0);
        }
        frame
    };
    frames.iter().map(cleared).collect()
}

#[test]
fn segments_are_those_that_linux_makes() {
    let Some(linux) = sent("port", Some("tx-udp-segmentation off tx off")) else { return };
    assert_eq!(linux.len(), 8);
    for device in ["port", "tap:host", "xdp:port"] {
        let Some(ours) = sent(device, None) else { return };
        assert!(ours.iter().all(|frame| sum(frame) == 0xffff), "{device}: a wrong checksum");
        assert!(comparable(&ours) == comparable(&linux), "{device}: other frames than Linux's");
    }
}

#[test]
fn a_checksum_that_a_host_left_out_is_made() {
    for device in ["port", "tap:host", "xdp:port"] {
        let Some((namespace, mut port)) = host(device) else { return };
        for (_, from, to) in DESTINATIONS {
            let socket = namespace.enter(|| UdpSocket::bind(from)).unwrap().unwrap();
            socket.send_to(b"checksum", to).unwrap();
            let frames = datagrams(&mut *port, 1);
            assert!(frames.len() == 1 && frames[0].ends_with(b"checksum"), "{device}: {frames:?}");
            assert_eq!(sum(&frames[0]), 0xffff, "{device}");
        }
    }
}
