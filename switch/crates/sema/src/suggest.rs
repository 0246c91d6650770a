//! "Did you mean ...?": the nearest of the names in sight.

/// The candidate nearest to `name`, if one is near enough to be a slip of the keyboard.
pub fn nearest<'a>(name: &str, candidates: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let limit = (name.chars().count() / 3).clamp(1, 3);
    candidates
        .into_iter()
        .filter(|candidate| *candidate != name && !candidate.is_empty())
        .map(|candidate| (distance(name, candidate), candidate))
        .filter(|(d, candidate)| *d <= limit && *d < candidate.chars().count())
        .min()
        .map(|(_, candidate)| candidate)
}

/// Edit distance in which a swap of two neighbours, the commonest slip, counts once.
fn distance(a: &str, b: &str) -> usize {
    let a: Vec<char> = a.to_lowercase().chars().collect();
    let b: Vec<char> = b.to_lowercase().chars().collect();
    let mut before: Vec<usize> = Vec::new();
    let mut last: Vec<usize> = (0..=b.len()).collect();
    for i in 0..a.len() {
        let mut row = vec![i + 1; b.len() + 1];
        for j in 0..b.len() {
            let replaced = last[j] + usize::from(a[i] != b[j]);
            row[j + 1] = replaced.min(last[j + 1] + 1).min(row[j] + 1);
            if i > 0 && j > 0 && a[i] == b[j - 1] && a[i - 1] == b[j] {
                row[j + 1] = row[j + 1].min(before[j - 1] + 1);
            }
        }
        before = std::mem::replace(&mut last, row);
    }
    last[b.len()]
}

#[cfg(test)]
mod tests {
    use super::nearest;

    #[test]
    fn finds_slips() {
        assert_eq!(nearest("dstAdr", ["srcAddr", "dstAddr", "ttl"]), Some("dstAddr"));
        assert_eq!(nearest("tlt", ["srcAddr", "dstAddr", "ttl"]), Some("ttl"));
        assert_eq!(nearest("Ipv4", ["ipv4", "ipv6"]), Some("ipv4"));
    }

    #[test]
    fn keeps_silent_when_nothing_is_near() {
        assert_eq!(nearest("checksum", ["dstAddr", "ttl"]), None);
        assert_eq!(nearest("x", ["y", "z"]), None);
    }
}
