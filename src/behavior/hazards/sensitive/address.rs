//! Addresses of the services that give a machine its credentials, however the number is written. Opens no connection.

use core::net::Ipv6Addr;

/// Whether a number with or without dots is such a service's version 4 address, whatever a leading zero means.
pub(super) fn is_metadata_number(word: &str) -> bool {
    [8, 10].iter().filter_map(|zero| number(word, *zero)).any(is_metadata)
}

/// An address as `inet_aton` reads it: one to four parts, each decimal, octal or hexadecimal, the last filling the rest.
fn number(word: &str, zero: u32) -> Option<u32> {
    let part = |part: &str| match part.to_ascii_lowercase().strip_prefix("0x") {
        Some(digits) => u64::from_str_radix(digits, 16).ok(),
        None => u64::from_str_radix(part, if part.starts_with('0') && part.len() > 1 { zero } else { 10 }).ok(),
    };
    let parts: Vec<u64> = word.trim_end_matches('.').split('.').map(part).collect::<Option<_>>()?;
    let (last, leading) = parts.split_last().filter(|(_, leading)| leading.len() < 4)?;
    let is_whole = *last < 1 << (8 * (4 - leading.len())) && leading.iter().all(|part| *part < 256);
    let high: u64 = leading.iter().zip([24, 16, 8]).map(|(part, shift)| part << shift).sum();
    u32::try_from(high + last).ok().filter(|_| is_whole)
}

/// The link-local block, and the fixed addresses of Alibaba, Azure and Oracle.
fn is_metadata(address: u32) -> bool {
    address >> 16 == 0xa9fe
        || [[100, 100, 100, 200], [168, 63, 129, 16], [192, 0, 0, 192]].map(u32::from_be_bytes).contains(&address)
}

/// The first version 6 address of such a service.
pub(super) fn first_of_six(text: &str) -> Option<&str> {
    text.split(|c: char| !c.is_ascii_hexdigit() && c != ':' && c != '.')
        .filter(|run| run.len() <= 45 && run.bytes().filter(|byte| *byte == b':').count() >= 2)
        .find(|run| run.trim_end_matches('.').parse().is_ok_and(is_metadata_of_six))
}

fn is_metadata_of_six(address: Ipv6Addr) -> bool {
    let parts = address.segments();
    let last = u32::from(parts[6]) << 16 | u32::from(parts[7]);
    let embedded = u32::from(parts[1]) << 16 | u32::from(parts[2]);
    // Whatever prefix carries it (mapped, translated, 6to4), the old address is what is reached.
    is_metadata(last)
        || (parts[0] == 0x2002 && is_metadata(embedded))
        || matches!((parts[0], parts[1]), (0xfd00, 0xec2) | (0xfd20, 0xce))
}
