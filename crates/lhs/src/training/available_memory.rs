//! How much memory is free: what the machine has, or what a container allows if that is less.

use std::fs;
use std::path::Path;

/// Bytes that can still be had; `None` where the system does not say (it does on Linux).
pub fn available_bytes() -> Option<u64> {
    let machine = mem_available(&fs::read_to_string("/proc/meminfo").ok()?)?;
    let groups = fs::read_to_string("/proc/self/cgroup").unwrap_or_default();
    let limits = groups.lines().flat_map(|line| group_limits(line, Path::new("/sys/fs/cgroup")));
    Some(limits.fold(machine, u64::min))
}

fn mem_available(text: &str) -> Option<u64> {
    let line = text.lines().find_map(|line| line.strip_prefix("MemAvailable:"))?;
    line.trim().strip_suffix("kB")?.trim().parse::<u64>().ok().map(|kib| kib.saturating_mul(1024))
}

/// What a control group and those around it leave, from a line such as `0::/user` or `4:memory:/user`.
fn group_limits(line: &str, root: &Path) -> Vec<u64> {
    let mut fields = line.splitn(3, ':');
    let (Some(_), Some(controllers), Some(path)) = (fields.next(), fields.next(), fields.next()) else {
        return Vec::new();
    };
    let (root, limit, usage, cache) = match controllers {
        "" => (root.to_path_buf(), "memory.max", "memory.current", "inactive_file"),
        _ if controllers.split(',').any(|name| name == "memory") => {
            (root.join("memory"), "memory.limit_in_bytes", "memory.usage_in_bytes", "total_inactive_file")
        }
        _ => return Vec::new(),
    };
    let path = Path::new(path.trim_start_matches('/'));
    let left = |group: &Path| {
        let folder = root.join(group);
        let number = |file: &str| fs::read_to_string(folder.join(file)).ok()?.trim().parse::<u64>().ok();
        // Files that were read are forgotten when memory is short.
        let stat = fs::read_to_string(folder.join("memory.stat")).unwrap_or_default();
        let forgettable = stat.lines().find_map(|line| line.strip_prefix(cache)?.trim().parse::<u64>().ok());
        let used = number(usage)?.saturating_sub(forgettable.unwrap_or(0));
        Some(number(limit)?.saturating_sub(used))
    };
    path.ancestors().filter_map(left).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_smallest_limit_counts() {
        assert_eq!(mem_available("MemTotal: 9 kB\nMemAvailable:    1024 kB\n"), Some(1 << 20));
        assert_eq!(mem_available("MemTotal: 9 kB\n"), None);
        let root = tempfile::tempdir().unwrap();
        let group = root.path().join("outer/inner");
        fs::create_dir_all(&group).unwrap();
        fs::write(group.join("memory.max"), "max\n").unwrap();
        fs::write(group.join("memory.current"), "10\n").unwrap();
        fs::write(root.path().join("outer/memory.max"), "1000\n").unwrap();
        fs::write(root.path().join("outer/memory.current"), "300\n").unwrap();
        fs::write(root.path().join("outer/memory.stat"), "anon 200\ninactive_file 100\n").unwrap();
        assert_eq!(group_limits("0::/outer/inner", root.path()), [800], "max is no limit");
        assert!(group_limits("7:cpu:/outer", root.path()).is_empty());
        assert!(group_limits("nonsense", root.path()).is_empty());
    }
}
