//! Addresses of the services that give a machine its credentials, however the number is written. Opens no connection.

use core::net::Ipv6Addr;

/// Whether a word, in lower case, is such a service's host name or version 4 address.
pub(super) fn is_metadata_host(word: &str) -> bool {
    if word.starts_with(|c: char| c.is_ascii_digit())
        && [Zero::Octal, Zero::Decimal].iter().filter_map(|zero| number(word, *zero)).any(is_metadata)
    {
        return true;
    }
    // Public name services answer with the address in the name.
    let carried = || ["169.254.", "169-254-", "a9fe"].iter().any(|part| word.contains(part));
    HOSTS.contains(&word) || (word.ends_with("ip.io") && carried())
}

const HOSTS: &[&str] = &[
    "metadata.google.internal", "metadata.goog", "metadata.azure.internal", "metadata.tencentyun.com",
    "metadata.packet.net", "metadata.platformequinix.com", "metadata.oraclecloud.com", "metadata.ec2.internal",
    "instance-data.ec2.internal",
];

/// How a leading zero is read.
#[derive(Clone, Copy)]
enum Zero {
    Octal,
    Decimal,
}

/// An address as `inet_aton` reads it: one to four parts, each decimal, octal or hexadecimal, the last filling the rest.
fn number(word: &str, zero: Zero) -> Option<u32> {
    let mut parts = [0_u64; 4];
    let mut count = 0;
    for part in word.split('.') {
        *parts.get_mut(count)? = match (part.strip_prefix("0x"), zero) {
            (Some(digits), _) => u64::from_str_radix(digits, 16).ok()?,
            (None, Zero::Octal) if part.len() > 1 && part.starts_with('0') => u64::from_str_radix(part, 8).ok()?,
            (None, Zero::Octal | Zero::Decimal) => part.parse().ok()?,
        };
        count += 1;
    }
    let (last, leading) = parts[..count].split_last()?;
    let mut address = *last;
    if address >= 1 << (8 * (4 - leading.len())) {
        return None;
    }
    for (part, shift) in leading.iter().zip([24, 16, 8]) {
        if *part > 255 {
            return None;
        }
        address |= part << shift;
    }
    u32::try_from(address).ok()
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
