//! Ports on interfaces of the kernel, in network namespaces of their own. They need root and `ip`; without them each
//! test says so and passes.

use std::io;
use std::process::Command;
use std::time::{Duration, Instant};

use crate::common::quiet_namespace;
use ports::namespace::Namespace;
use ports::{Port, PortSpec};
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::thread::{CpuSet, sched_getaffinity, sched_setaffinity};

/// A network namespace with a veth pair `west` - `east`, both up; none where the machine does not let us.
fn pair() -> Option<Namespace> {
    let namespace = quiet_namespace()?;
    namespace.ip("link add west type veth peer name east").unwrap();
    for end in ["west", "east"] {
        namespace.ip(&format!("link set {end} up")).unwrap();
    }
    Some(namespace)
}

fn open(namespace: &Namespace, device: &str) -> io::Result<Box<dyn Port>> {
    let spec: PortSpec = format!("1@{device}").parse().unwrap();
    namespace.enter(|| ports::open(&spec, 0)).unwrap()
}

/// The next `count` frames, or as many as come before nothing has come for a while.
fn receive(port: &mut dyn Port, count: usize) -> Vec<Vec<u8>> {
    let mut frames = vec![];
    while frames.len() < count {
        let left = count - frames.len();
        if port.receive(left, &mut |frame| frames.push(frame.to_vec())).unwrap() == 0 && !wait(port) {
            break;
        }
    }
    frames
}

fn wait(port: &dyn Port) -> bool {
    let mut fds = [PollFd::from_borrowed_fd(port.fd().unwrap(), PollFlags::IN)];
    poll(&mut fds, Some(&Timespec { tv_sec: 2, tv_nsec: 0 })).unwrap() > 0
}

/// Until the link is as wished; false if that takes too long.
fn link_becomes(port: &dyn Port, up: bool) -> bool {
    let end = Instant::now() + Duration::from_secs(2);
    while port.is_up() != up {
        if Instant::now() > end {
            return false;
        }
        std::thread::yield_now();
    }
    true
}

/// A frame of this length, all of whose bytes depend on its number.
fn frame(number: usize, len: usize) -> Vec<u8> {
    let mut frame = vec![2, 0, 0, 0, 0, 2, 2, 0, 0, 0, 0, 1, 0x88, 0xb5];
    frame.extend((frame.len()..len).map(|at| (number.wrapping_mul(31) + at) as u8));
    frame
}

fn send_all(port: &mut dyn Port, frames: &[Vec<u8>]) {
    for frame in frames {
        assert!(port.send(frame, 0).unwrap(), "no room");
    }
    port.flush(0).unwrap();
}

/// Frames of many lengths, up to the MTU, from one port to the other.
fn carry(from: &mut dyn Port, to: &mut dyn Port) {
    let mut frames: Vec<_> = [14, 60, 64, 118, 1000, 1514].iter().map(|len| frame(*len, *len)).collect();
    // With a VLAN tag the longest frame has four bytes more. The kernel takes the tag off before AF_PACKET sees it.
    let mut tagged = frame(7, 1514);
    tagged.splice(12..12, [0x81, 0x00, 0x60, 0x2a]);
    frames.push(tagged);
    send_all(from, &frames);
    let got = receive(to, frames.len());
    assert_eq!(got.len(), frames.len());
    assert!(got == frames, "frames changed on their way");
}

fn comes_up(a: &str, b: &str) {
    let Some(namespace) = quiet_namespace() else { return };
    namespace.ip("link add west type veth peer name east").unwrap();
    // As after a start of the machine: nobody has it up yet.
    let (a, b) = (open(&namespace, a).unwrap(), open(&namespace, b).unwrap());
    assert!(link_becomes(&*a, true) && link_becomes(&*b, true));
    // What an operator takes down later stays down.
    namespace.ip("link set west down").unwrap();
    assert!(link_becomes(&*a, false));
}

#[test]
fn an_interface_that_is_down_comes_up() {
    comes_up("west", "east");
}

#[test]
fn an_xdp_interface_that_is_down_comes_up() {
    comes_up("xdp:west", "xdp:east");
}

fn frames_both_ways(a: &str, b: &str) {
    let Some(namespace) = pair() else { return };
    let (mut a, mut b) = (open(&namespace, a).unwrap(), open(&namespace, b).unwrap());
    assert!(a.is_up() && b.is_up());
    carry(&mut *a, &mut *b);
    carry(&mut *b, &mut *a);
}

#[test]
fn interface_carries_frames_both_ways() {
    frames_both_ways("west", "east");
}

#[test]
fn xdp_carries_frames_both_ways() {
    frames_both_ways("xdp:west", "east");
    frames_both_ways("xdp:west", "xdp:east");
}

fn burst(from: &str, to: &str) {
    let Some(namespace) = pair() else { return };
    let (mut a, mut b) = (open(&namespace, from).unwrap(), open(&namespace, to).unwrap());
    let frames: Vec<_> = (0..4000).map(|number| frame(number, 118)).collect();
    for round in 0..3 {
        send_all(&mut *a, &frames);
        let got = receive(&mut *b, frames.len());
        assert_eq!(got.len(), frames.len(), "round {round}");
        assert!(got == frames, "frames changed or overtook each other");
    }
}

#[test]
fn interface_takes_a_burst_without_loss() {
    burst("west", "east");
}

#[test]
fn xdp_sends_a_burst_without_loss() {
    burst("xdp:west", "east");
}

#[test]
fn xdp_receives_a_burst_without_loss() {
    burst("west", "xdp:east");
}

fn lengths_at_the_limits(from: &str, to: &str) {
    let Some(namespace) = pair() else { return };
    let (mut a, mut b) = (open(&namespace, from).unwrap(), open(&namespace, to).unwrap());
    // The longest that the MTU lets pass has a VLAN tag; longer ones are lost, whatever memory has room for.
    let mut longest = frame(1, 1514);
    longest.splice(12..12, [0x81, 0x00, 0x60, 0x2a]);
    let longer = [1519, 2048, 2049, 4096, 9000].map(|len| frame(len, len));
    let mut frames = vec![frame(0, 14), longest.clone()];
    frames.extend(longer);
    frames.push(frame(2, 15));
    send_all(&mut *a, &frames);
    let got = receive(&mut *b, 3);
    assert_eq!(got.iter().map(Vec::len).collect::<Vec<_>>(), [14, 1518, 15]);
    assert!(got == [frame(0, 14), longest, frame(2, 15)], "frames changed on their way");
}

#[test]
fn what_the_mtu_does_not_let_pass_is_lost_and_nothing_else() {
    lengths_at_the_limits("west", "east");
    lengths_at_the_limits("xdp:west", "east");
    lengths_at_the_limits("west", "xdp:east");
    lengths_at_the_limits("xdp:west", "xdp:east");
}

/// More than the receiver's ring holds, while nobody takes anything out: the first stay, what came later is lost, and
/// afterwards all is as it was.
fn full_ring(from: &str, to: &str) {
    let Some(namespace) = pair() else { return };
    let (mut a, mut b) = (open(&namespace, from).unwrap(), open(&namespace, to).unwrap());
    for round in 0..2 {
        let frames: Vec<_> = (0..10_000).map(|number| frame(number, 60 + number % 1000)).collect();
        for batch in frames.chunks(1000) {
            send_all(&mut *a, batch);
        }
        let mut got = vec![];
        while b.receive(1000, &mut |frame| got.push(frame.to_vec())).unwrap() > 0 {}
        assert!((4000..5000).contains(&got.len()), "{} in round {round}", got.len());
        assert!(got[..] == frames[..got.len()], "round {round}: frames changed, or the wrong ones were lost");
    }
    carry(&mut *a, &mut *b);
    carry(&mut *b, &mut *a);
}

#[test]
fn a_full_ring_loses_what_comes_last_and_recovers() {
    full_ring("west", "east");
    full_ring("xdp:west", "east");
    full_ring("west", "xdp:east");
    full_ring("xdp:west", "xdp:east");
}

fn link_goes_down_and_comes_back(device: &str) {
    let Some(namespace) = pair() else { return };
    let (mut a, mut b) = (open(&namespace, device).unwrap(), open(&namespace, "east").unwrap());
    namespace.ip("link set west down").unwrap();
    assert!(link_becomes(&*a, false));
    // More than the rings hold: a link that is down loses frames and refuses none.
    for _ in 0..3 {
        let lost: Vec<_> = (0..4000).map(|number| frame(number, 64)).collect();
        send_all(&mut *a, &lost);
    }
    assert!(a.next_wakeup().is_none(), "a frame waits for the link");
    namespace.ip("link set west up").unwrap();
    assert!(link_becomes(&*a, true));
    carry(&mut *a, &mut *b);
    carry(&mut *b, &mut *a);
}

fn a_carrier_is_known_at_once(device: &str) {
    let Some(namespace) = pair() else { return };
    let mut carrier = open(&namespace, device).unwrap().carrier().unwrap().unwrap();
    // The kernel's flag follows once a second at most: of changes like these it shows the first at once, and few others.
    for _ in 0..5 {
        assert!(carrier.is_there());
        namespace.ip("link set east down").unwrap();
        assert!(!carrier.is_there(), "the far end is down");
        namespace.ip("link set east up").unwrap();
    }
    namespace.ip("link set west down").unwrap();
    assert!(!carrier.is_there(), "a link that is down has none");
    namespace.ip("link delete west").unwrap();
    assert!(!carrier.is_there(), "a link that is gone has none");
}

#[test]
fn interface_knows_its_carrier_at_once() {
    a_carrier_is_known_at_once("west");
}

#[test]
fn xdp_knows_its_carrier_at_once() {
    a_carrier_is_known_at_once("xdp:west");
}

#[test]
fn interface_outlives_its_link() {
    link_goes_down_and_comes_back("west");
}

#[test]
fn xdp_outlives_its_link() {
    link_goes_down_and_comes_back("xdp:west");
}

#[test]
fn an_interface_that_goes_away_is_down_and_loses_frames() {
    for device in ["west", "xdp:west"] {
        let Some(namespace) = pair() else { return };
        let mut port = open(&namespace, device).unwrap();
        namespace.ip("link delete west").unwrap();
        assert!(link_becomes(&*port, false));
        send_all(&mut *port, &[frame(0, 64)]);
        assert_eq!(port.receive(1, &mut |_| {}).unwrap(), 0);
    }
}

#[test]
fn xdp_leaves_nothing_on_the_interface() {
    let Some(namespace) = pair() else { return };
    let first = open(&namespace, "xdp:west").unwrap();
    let busy = open(&namespace, "xdp:west").err().unwrap();
    assert_eq!(busy.to_string(), "queue 0 is in use by another AF_XDP socket");
    drop(first);
    let (mut a, mut b) = (open(&namespace, "xdp:west").unwrap(), open(&namespace, "east").unwrap());
    carry(&mut *a, &mut *b);
    drop(a);
    // The kernel, and with it AF_PACKET, has the interface again.
    let mut a = open(&namespace, "west").unwrap();
    carry(&mut *b, &mut *a);
}

/// The kernel sends on the queue of the processor that it runs on, and veth receives on the queue of the same number.
#[test]
fn xdp_takes_all_queues() {
    let Some(namespace) = quiet_namespace() else { return };
    let queues = "numrxqueues 3 numtxqueues 3";
    namespace.ip(&format!("link add west {queues} type veth peer name east {queues}")).unwrap();
    for end in ["west", "east"] {
        namespace.ip(&format!("link set {end} up")).unwrap();
    }
    let (mut a, mut b) = (open(&namespace, "xdp:west").unwrap(), open(&namespace, "east").unwrap());
    let allowed = sched_getaffinity(None).unwrap();
    for cpu in (0..CpuSet::MAX_CPU).filter(|cpu| allowed.is_set(*cpu)).take(3) {
        let mut one = CpuSet::new();
        one.set(cpu);
        sched_setaffinity(None, &one).unwrap();
        carry(&mut *a, &mut *b);
        carry(&mut *b, &mut *a);
    }
}

#[test]
fn xdp_says_what_it_cannot_do() {
    let Some(namespace) = pair() else { return };
    namespace.ip("link set west mtu 9000").unwrap();
    let error = |device| open(&namespace, device).err().unwrap().to_string();
    assert_eq!(
        error("xdp:west"),
        "an MTU of 9000 is too long for AF_XDP; set it to at most 3822, or take the interface without xdp:"
    );
    assert_eq!(error("xdp:none"), "there is no interface 'none'; `ip link` lists them");
}

#[test]
fn interface_carries_jumbo_frames() {
    let Some(namespace) = pair() else { return };
    for end in ["west", "east"] {
        namespace.ip(&format!("link set {end} mtu 9000")).unwrap();
    }
    let (mut a, mut b) = (open(&namespace, "west").unwrap(), open(&namespace, "east").unwrap());
    let jumbo = frame(3, 9014);
    send_all(&mut *a, std::slice::from_ref(&jumbo));
    assert!(receive(&mut *b, 1) == [jumbo]);
}

#[test]
fn tap_carries_frames_to_and_from_the_kernel() {
    let Some(namespace) = quiet_namespace() else { return };
    let mut tap = match open(&namespace, "tap:tap7") {
        Err(error) if error.kind() == io::ErrorKind::NotFound => {
            eprintln!("skipped: there is no /dev/net/tun");
            return;
        }
        tap => tap.unwrap(),
    };
    assert!(tap.send(&frame(0, 64), 0).unwrap(), "a frame for an interface that is down is lost, not refused");
    namespace.ip("link set tap7 up").unwrap();
    let mut kernel = open(&namespace, "tap7").unwrap();
    carry(&mut *tap, &mut *kernel);
    carry(&mut *kernel, &mut *tap);
}

#[test]
fn a_tap_device_is_in_linux_what_it_is_to_be() {
    let Some(namespace) = quiet_namespace() else { return };
    let tap = match open(&namespace, "tap:wan0?mac=02:00:00:00:00:05&mtu=1400") {
        Err(error) if error.kind() == io::ErrorKind::NotFound => {
            eprintln!("skipped: there is no /dev/net/tun");
            return;
        }
        tap => tap.unwrap(),
    };
    namespace.ip("link set wan0 up").unwrap();
    let seen = || {
        let output = namespace.enter(|| Command::new("ip").args(["-o", "link", "show", "wan0"]).output());
        String::from_utf8(output.unwrap().unwrap().stdout).unwrap()
    };
    let link = seen();
    assert!(link.contains("mtu 1400") && link.contains("link/ether 02:00:00:00:00:05"), "{link}");
    assert!(link.contains("LOWER_UP"), "{link}");
    let carrier = tap.shown_carrier().unwrap().unwrap();
    carrier.set(false).unwrap();
    assert!(seen().contains("NO-CARRIER"), "{}", seen());
    carrier.set(true).unwrap();
    assert!(seen().contains("LOWER_UP"), "{}", seen());
    drop((tap, carrier));
    assert!(!seen().contains("wan0"), "it ends with the switch");
}

#[test]
fn a_tap_device_may_stay_and_be_in_another_namespace() {
    let Some(here) = quiet_namespace() else { return };
    let name = format!("wayname-test-{}", std::process::id());
    here.ip(&format!("netns add {name}")).unwrap();
    let device = format!("tap:wan0?namespace={name}&persist=yes");
    let opened = open(&here, &device).map(drop);
    let stays = here.ip(&format!("-n {name} link show wan0"));
    let again = open(&here, &device).map(drop);
    here.ip(&format!("netns delete {name}")).unwrap();
    if opened.as_ref().is_err_and(|error| error.kind() == io::ErrorKind::NotFound) {
        eprintln!("skipped: there is no /dev/net/tun");
        return;
    }
    opened.unwrap();
    stays.unwrap();
    again.unwrap();
    let gone = open(&here, &device).err().map(|error| error.to_string());
    assert_eq!(gone, Some(format!("there is no network namespace '{name}'; make it by `ip netns add {name}`")));
}

#[test]
fn ends_of_an_interface_share_flows_out_and_keep_their_order() {
    let Some(namespace) = pair() else { return };
    let spec: PortSpec = "1@east".parse().unwrap();
    let mut ends = namespace.enter(|| ports::open_ends(&spec, 2, 0)).unwrap().unwrap();
    let mut sender = open(&namespace, "west").unwrap();
    let (flows, rounds) = (50u8, 20u8);
    for round in 0..rounds {
        for flow in 0..flows {
            let mut frame = vec![2; 12];
            // UDP in IPv6, from a port for each flow.
            frame.extend([0x86, 0xdd, 0x60, 0, 0, 0, 0, 10, 17, 64]);
            frame.extend([[1; 16], [2; 16]].concat());
            frame.extend([16, flow, 0, 9, 0, 10, 0, 0, flow, round]);
            assert!(sender.send(&frame, 0).unwrap());
        }
        sender.flush(0).unwrap();
    }
    let received: Vec<Vec<Vec<u8>>> = ends.iter_mut().map(|end| receive(&mut **end, 10_000)).collect();
    let mut expected: Vec<(u8, Vec<u8>)> = vec![];
    for frames in &received {
        assert!(!frames.is_empty(), "each end has flows");
        for flow in 0..flows {
            let of_flow = frames.iter().filter(|frame| frame[62] == flow).map(|frame| frame[63]);
            expected.extend(Some((flow, of_flow.collect::<Vec<u8>>())).filter(|(_, rounds)| !rounds.is_empty()));
        }
    }
    expected.sort();
    let all: Vec<u8> = (0..rounds).collect();
    assert_eq!(expected, (0..flows).map(|flow| (flow, all.clone())).collect::<Vec<_>>());
}

#[test]
fn what_the_host_itself_sends_out_of_an_interface_is_not_seen() {
    for count in [1, 2] {
        let Some(namespace) = pair() else { return };
        namespace.ip("address add 192.0.2.1/24 dev east").unwrap();
        namespace.ip("neighbour add 192.0.2.2 lladdr 02:00:00:00:00:02 dev east").unwrap();
        let spec: PortSpec = "1@east".parse().unwrap();
        let mut ends = namespace.enter(|| ports::open_ends(&spec, count, 0)).unwrap().unwrap();
        let mut west = open(&namespace, "west").unwrap();
        let send = || std::net::UdpSocket::bind("192.0.2.1:0")?.send_to(b"out", "192.0.2.2:9");
        namespace.enter(send).unwrap().unwrap();
        assert_eq!(receive(&mut *west, 1).len(), 1);
        assert!(ends.iter_mut().all(|end| receive(&mut **end, 1).is_empty()), "{count} ends");
    }
}
