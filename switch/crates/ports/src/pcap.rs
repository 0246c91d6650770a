//! Capture files (the classic pcap format): packets in from one, packets out to another.

use std::fs::{File, OpenOptions};
use std::io::{self, BufReader, BufWriter, Read, Write};
use std::os::fd::BorrowedFd;
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;

use crate::{MAX_FRAME, Port};

/// Classic pcap, times in microseconds or nanoseconds.
const MAGIC_MICROS: u32 = 0xa1b2_c3d4;
const MAGIC_NANOS: u32 = 0xa1b2_3c4d;
const ETHERNET: u32 = 1;

/// Writes packets with their times in nanoseconds.
pub struct Writer<W: Write> {
    out: W,
}

impl Writer<BufWriter<File>> {
    /// A new file for its owner only, since it has what others sent; an old one is replaced.
    pub fn create(path: &Path) -> io::Result<Self> {
        let file = OpenOptions::new().write(true).create(true).truncate(true).mode(0o600).open(path)?;
        Self::new(BufWriter::new(file))
    }
}

impl<W: Write> Writer<W> {
    /// Writes the file's header.
    pub fn new(mut out: W) -> io::Result<Self> {
        for word in [MAGIC_NANOS, 2 | 4 << 16, 0, 0, MAX_FRAME as u32, ETHERNET] {
            out.write_all(&word.to_le_bytes())?;
        }
        Ok(Self { out })
    }

    /// Appends a packet seen at `at` nanoseconds.
    pub fn write(&mut self, frame: &[u8], at: u64) -> io::Result<()> {
        let len = frame.len() as u32;
        for word in [(at / 1_000_000_000) as u32, (at % 1_000_000_000) as u32, len, len] {
            self.out.write_all(&word.to_le_bytes())?;
        }
        self.out.write_all(frame)
    }

    pub fn flush(&mut self) -> io::Result<()> {
        self.out.flush()
    }
}

/// Reads packets and their times in nanoseconds.
pub struct Reader<R: Read> {
    input: R,
    nanos: bool,
    big_endian: bool,
}

impl Reader<BufReader<File>> {
    pub fn open(path: &Path) -> io::Result<Self> {
        Self::new(BufReader::new(File::open(path)?))
    }
}

impl<R: Read> Reader<R> {
    /// Reads the file's header.
    pub fn new(mut input: R) -> io::Result<Self> {
        let mut header = [0; 24];
        input.read_exact(&mut header).map_err(|_| invalid("is too short to be a capture file"))?;
        let magic = [header[0], header[1], header[2], header[3]];
        let (nanos, big_endian) = match (u32::from_le_bytes(magic), u32::from_be_bytes(magic)) {
            (MAGIC_MICROS, _) => (false, false),
            (MAGIC_NANOS, _) => (true, false),
            (_, MAGIC_MICROS) => (false, true),
            (_, MAGIC_NANOS) => (true, true),
            _ => return Err(invalid("is not a classic pcap file (pcapng must be converted: editcap -F pcap)")),
        };
        let reader = Self { input, nanos, big_endian };
        if reader.word(&header[20..]) != ETHERNET {
            return Err(invalid("holds no Ethernet frames"));
        }
        Ok(reader)
    }

    fn word(&self, bytes: &[u8]) -> u32 {
        let bytes = [bytes[0], bytes[1], bytes[2], bytes[3]];
        if self.big_endian { u32::from_be_bytes(bytes) } else { u32::from_le_bytes(bytes) }
    }

    /// The next packet and its time, or none at the end of the file.
    pub fn next_packet(&mut self) -> io::Result<Option<(u64, Vec<u8>)>> {
        let mut header = [0; 16];
        match self.input.read_exact(&mut header) {
            Ok(()) => {}
            Err(error) if error.kind() == io::ErrorKind::UnexpectedEof => return Ok(None),
            Err(error) => return Err(error),
        }
        let fraction = u64::from(self.word(&header[4..])) * if self.nanos { 1 } else { 1000 };
        let at = u64::from(self.word(&header)) * 1_000_000_000 + fraction;
        let len = self.word(&header[8..]) as usize;
        if len > MAX_FRAME {
            return Err(invalid(&format!("holds a frame of {len} bytes; the most is {MAX_FRAME}")));
        }
        let mut frame = vec![0; len];
        self.input.read_exact(&mut frame).map_err(|_| invalid("ends in the middle of a frame"))?;
        Ok(Some((at, frame)))
    }
}

fn invalid(what: &str) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, what.to_string())
}

/// A port that takes its packets from one file and writes what leaves to another; either may be missing.
pub struct PcapPort {
    input: Option<Reader<BufReader<File>>>,
    output: Option<Writer<BufWriter<File>>>,
}

impl PcapPort {
    pub fn new(input: Option<&Path>, output: Option<&Path>) -> io::Result<Self> {
        Ok(Self { input: input.map(Reader::open).transpose()?, output: output.map(Writer::create).transpose()? })
    }
}

impl Port for PcapPort {
    /// As fast as they are taken: times in the file do not hold packets back.
    fn receive(&mut self, max: usize, take: &mut dyn FnMut(&[u8])) -> io::Result<usize> {
        let mut count = 0;
        while count < max {
            let Some(reader) = &mut self.input else { break };
            match reader.next_packet()? {
                Some((_, frame)) => take(&frame),
                None => self.input = None,
            }
            count += 1;
        }
        Ok(count)
    }

    fn send(&mut self, frame: &[u8], now: u64) -> io::Result<bool> {
        if let Some(writer) = &mut self.output {
            writer.write(frame, now)?;
        }
        Ok(true)
    }

    fn flush(&mut self, _now: u64) -> io::Result<()> {
        self.output.as_mut().map_or(Ok(()), Writer::flush)
    }

    fn next_wakeup(&self) -> Option<u64> {
        self.input.is_some().then_some(0)
    }

    fn fd(&self) -> Option<BorrowedFd<'_>> {
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn packets_come_back_with_their_times() {
        let mut file = vec![];
        let mut writer = Writer::new(&mut file).unwrap();
        writer.write(&[1, 2, 3], 5_000_000_007).unwrap();
        writer.write(&[], 6_000_000_000).unwrap();
        let mut reader = Reader::new(&file[..]).unwrap();
        assert_eq!(reader.next_packet().unwrap(), Some((5_000_000_007, vec![1, 2, 3])));
        assert_eq!(reader.next_packet().unwrap(), Some((6_000_000_000, vec![])));
        assert_eq!(reader.next_packet().unwrap(), None);
    }

    #[test]
    fn a_big_endian_file_in_microseconds_is_read() {
        let mut file = vec![];
        for word in [MAGIC_MICROS, 2 << 16 | 4, 0, 0, 65535, 1, 1, 2, 1, 1] {
            file.extend_from_slice(&word.to_be_bytes());
        }
        file.push(9);
        assert_eq!(Reader::new(&file[..]).unwrap().next_packet().unwrap(), Some((1_000_002_000, vec![9])));
    }

    #[test]
    fn what_is_not_a_capture_is_said() {
        let error = |bytes: &[u8]| Reader::new(bytes).err().map(|error| error.to_string());
        assert_eq!(error(&[1; 4]).as_deref(), Some("is too short to be a capture file"));
        assert!(error(&[0x0a; 24]).is_some_and(|text| text.contains("editcap")));
    }

    #[test]
    fn a_cut_file_is_an_error() {
        let mut file = vec![];
        Writer::new(&mut file).unwrap().write(&[1, 2, 3], 0).unwrap();
        file.pop();
        assert_eq!(
            Reader::new(&file[..]).unwrap().next_packet().unwrap_err().to_string(),
            "ends in the middle of a frame"
        );
    }
}
