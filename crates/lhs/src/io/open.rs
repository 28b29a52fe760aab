//! Files opened for reading, unpacked on the way if they are gzipped.

use std::fs::File;
use std::io::{self, BufRead, BufReader, Read};
use std::path::Path;

use flate2::bufread::MultiGzDecoder;

use crate::error::{Error, Result};

/// How gzipped files begin.
pub(super) const GZIP: &[u8] = &[0x1f, 0x8b];

/// So much may come out of any file.
const HARMLESS: u64 = 1 << 28;
/// Beyond that, so many times the size of the file: tables shrink to a tenth, and a file of one repeated byte to a thousandth.
const MOST_TIMES: u64 = 400;

/// Opens a file; a gzipped one is unpacked while it is read.
pub(super) fn open(path: &Path) -> Result<Box<dyn BufRead>> {
    let file = File::open(path).map_err(Error::io("read", path))?;
    let size = file.metadata().map_err(Error::io("read", path))?.len();
    let mut packed = BufReader::with_capacity(1 << 18, file);
    if !packed.fill_buf().map_err(Error::io("read", path))?.starts_with(GZIP) {
        return Ok(Box::new(packed));
    }
    let limit = HARMLESS.max(size.saturating_mul(MOST_TIMES));
    let unpacked = Unpacked { source: MultiGzDecoder::new(packed), left: limit };
    Ok(Box::new(BufReader::with_capacity(1 << 18, unpacked)))
}

/// A stream that ends with an error where no honest file would go on.
struct Unpacked<R> {
    source: R,
    left: u64,
}

impl<R: Read> Read for Unpacked<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let count = self.source.read(buffer)?;
        self.left = self.left.checked_sub(count as u64).ok_or_else(|| {
            io::Error::other(format!("it unpacks to more than {MOST_TIMES} times its size, as no table does"))
        })?;
        Ok(count)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use flate2::Compression;
    use flate2::write::GzEncoder;
    use std::io::Write;

    #[test]
    fn gzipped_or_not_the_text_is_the_same() {
        let folder = tempfile::tempdir().unwrap();
        let (plain, packed) = (folder.path().join("a"), folder.path().join("b"));
        std::fs::write(&plain, "hello\n").unwrap();
        let mut encoder = GzEncoder::new(File::create(&packed).unwrap(), Compression::fast());
        encoder.write_all(b"hello\n").unwrap();
        encoder.finish().unwrap();
        for path in [plain, packed] {
            assert_eq!(io::read_to_string(open(&path).unwrap()).unwrap(), "hello\n");
        }
    }

    #[test]
    fn what_unpacks_without_end_is_stopped() {
        let mut endless = Unpacked { source: io::repeat(7), left: 1000 };
        let error = io::copy(&mut endless, &mut io::sink()).unwrap_err().to_string();
        assert!(error.contains("400 times"), "{error}");
    }
}
