//! Points of a curve: a name, and packets that meet what the name says.

use std::path::Path;

use anyhow::{Context, Result};

pub struct Point {
    pub name: String,
    pub packets: Vec<Vec<u8>>,
}

/// The points of a file, in its order; packets of a point stand together.
pub fn read(path: &Path) -> Result<Vec<Point>> {
    let text = std::fs::read_to_string(path).with_context(|| path.display().to_string())?;
    let mut points: Vec<Point> = vec![];
    for (number, line) in text.lines().enumerate() {
        let (name, packet) = line
            .split_once('\t')
            .and_then(|(name, hex)| Some((name, octets(hex)?)))
            .with_context(|| format!("{}:{}: not a name, a tab, and octets in hex", path.display(), number + 1))?;
        match points.last_mut() {
            Some(point) if point.name == name => point.packets.push(packet),
            _ => points.push(Point { name: name.into(), packets: vec![packet] }),
        }
    }
    Ok(points)
}

fn octets(hex: &str) -> Option<Vec<u8>> {
    let digits = hex.as_bytes().chunks(2);
    digits.map(|pair| u8::from_str_radix(std::str::from_utf8(pair).ok()?, 16).ok()).collect()
}
