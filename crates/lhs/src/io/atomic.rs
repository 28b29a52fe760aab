//! Files that are either there and whole, or not there.

use std::fs::{self, File};
use std::io::{BufWriter, Write};
use std::path::{Path, PathBuf};

use crate::error::{Error, Result};

/// Writes a file through a temporary neighbour: synced, then renamed into place. Whatever fails, an old
/// file stays as it was and no half-written one is left behind.
pub fn write(path: &Path, fill: impl FnOnce(&mut BufWriter<File>) -> Result<()>) -> Result<()> {
    let temporary = Temporary { path: beside(path) };
    let file = File::create(&temporary.path).map_err(Error::io("create", path))?;
    let mut writer = BufWriter::with_capacity(1 << 16, file);
    fill(&mut writer)?;
    let file = writer.into_inner().map_err(|e| Error::io("write", path)(e.into_error()))?;
    file.sync_all().map_err(Error::io("write", path))?;
    fs::rename(&temporary.path, path).map_err(Error::io("write", path))
}

/// Writes bytes that are already in memory.
pub fn write_bytes(path: &Path, bytes: &[u8]) -> Result<()> {
    write(path, |writer| writer.write_all(bytes).map_err(Error::io("write", path)))
}

/// A name in the same folder (so that the rename stays on one disk), unique to this process.
fn beside(path: &Path) -> PathBuf {
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    path.with_file_name(format!(".{name}.{}.tmp", std::process::id()))
}

/// Removes the temporary file, unless the rename has already taken it away.
struct Temporary {
    path: PathBuf,
}

impl Drop for Temporary {
    fn drop(&mut self) {
        let _ = fs::remove_file(&self.path);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_failed_write_leaves_the_old_file_and_nothing_else() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.txt");
        write_bytes(&path, b"old").unwrap();
        let failed = write(&path, |writer| {
            writer.write_all(b"new").unwrap();
            Err(Error::data("stop", ""))
        });
        assert!(failed.is_err());
        assert_eq!(fs::read(&path).unwrap(), b"old");
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1);
    }
}
