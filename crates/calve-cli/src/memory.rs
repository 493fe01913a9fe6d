//! How much memory a run may use.

use std::path::Path;

/// Share of the memory there is that statements may use together; the rest is for what is not counted.
const SHARE_PERCENT: u64 = 60;

/// 60% of the machine's memory, or of its container's if that is smaller; `None` if neither is known.
pub fn default_limit() -> Option<u64> {
    let machine = std::fs::read_to_string("/proc/meminfo").ok().and_then(|text| total_memory(&text));
    let container = control_group_limit();
    let bytes = machine.into_iter().chain(container).min()?;
    Some(bytes / 100 * SHARE_PERCENT)
}

/// The line `MemTotal: n kB` of `/proc/meminfo`, in bytes.
fn total_memory(meminfo: &str) -> Option<u64> {
    let line = meminfo.lines().find_map(|line| line.strip_prefix("MemTotal:"))?;
    let kib: u64 = line.trim().strip_suffix("kB")?.trim().parse().ok()?;
    kib.checked_mul(1024)
}

/// The smallest limit of the control groups around this process: version 2's, or the one file that version 1 shows in containers.
fn control_group_limit() -> Option<u64> {
    let root = Path::new("/sys/fs/cgroup");
    let groups = std::fs::read_to_string("/proc/self/cgroup").unwrap_or_default();
    let own = groups.lines().find_map(|line| line.strip_prefix("0::/")).unwrap_or_default();
    let around = Path::new(own).ancestors().map(|group| root.join(group).join("memory.max"));
    let files = around.chain([root.join("memory/memory.limit_in_bytes")]);
    // version 2 writes `max` where there is no limit, version 1 a number near 2^63
    files.filter_map(|file| std::fs::read_to_string(file).ok()?.trim().parse().ok()).min()
}

/// Bytes of `2g`, `512m`, `64k` or a plain number; a final `b` and upper case are fine, as in Flink's memory sizes.
///
/// # Errors
/// A sentence saying what is wrong with the text.
pub fn parse_size(text: &str) -> Result<u64, String> {
    let lower = text.trim().to_ascii_lowercase();
    let digits = lower.chars().take_while(char::is_ascii_digit).count();
    let (number, unit) = lower.split_at(digits);
    let factor: u64 = match unit.trim() {
        "" | "b" | "bytes" => 1,
        "k" | "kb" | "kib" => 1 << 10,
        "m" | "mb" | "mib" => 1 << 20,
        "g" | "gb" | "gib" => 1 << 30,
        "t" | "tb" | "tib" => 1 << 40,
        _ => return Err("expected a size such as 512m or 2g".to_owned()),
    };
    let number: u64 = number.parse().map_err(|_| "expected a size such as 512m or 2g".to_owned())?;
    match number.checked_mul(factor) {
        Some(0) => Err("the size must be more than zero".to_owned()),
        Some(bytes) => Ok(bytes),
        None => Err("the size is too large".to_owned()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_default_comes_from_the_machine() {
        assert_eq!(total_memory("MemTotal:       16 kB\nMemFree:  1 kB\n"), Some(16 * 1024));
        assert_eq!(total_memory("MemFree: 1 kB"), None);
        assert!(default_limit().is_none_or(|bytes| bytes > 1 << 20));
    }

    #[test]
    fn sizes() {
        assert_eq!(parse_size("2g"), Ok(2 << 30));
        assert_eq!(parse_size("512M"), Ok(512 << 20));
        assert_eq!(parse_size(" 64 kb "), Ok(64 << 10));
        assert_eq!(parse_size("1000"), Ok(1000));
        for bad in ["", "g", "2.5g", "-1m", "2x", "0", "99999999999999999999", "99999999999t"] {
            assert!(parse_size(bad).is_err(), "{bad}");
        }
    }
}
