//! How much memory the process has needed.

/// The largest resident size so far, in bytes; `None` where the system does not say (it does on Linux).
pub fn peak_bytes() -> Option<u64> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"))?;
    line.trim().strip_suffix("kB")?.trim().parse::<u64>().ok().map(|kib| kib * 1024)
}

#[cfg(test)]
mod tests {
    #[test]
    #[cfg(target_os = "linux")]
    fn a_process_needs_some_memory() {
        assert!(super::peak_bytes().unwrap() > 1 << 20);
    }
}
