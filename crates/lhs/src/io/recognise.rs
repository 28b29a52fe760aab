//! What a file is, by its content and not by its name; what cannot be read is called by its name, with a way out.

mod json;
mod refusal;

use std::fs::File;
use std::io::Read;
use std::path::Path;

use zip::ZipArchive;

use super::open::{self, GZIP};
use crate::error::{Error, Result};

/// What a file holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::io) enum Kind {
    /// A zip archive of NumPy arrays.
    Npz,
    /// GraphML, also gzipped.
    GraphMl,
    /// GEXF, also gzipped.
    Gexf,
    /// A MatrixMarket file, also gzipped.
    MatrixMarket,
    /// A JSON object with `nodes` and `links` or `edges`, also gzipped.
    NodeLink,
    /// Other JSON: an object or list, or one per line.
    Json,
    /// Parquet.
    Parquet,
    /// Gzipped text or JSON.
    Gzip,
    /// Text that is none of the others, such as a table.
    Text,
    /// Nothing at all.
    Empty,
    PyTorch,
    Pickle,
    Hdf5,
    Excel,
    OldOffice,
    Npy,
    RData,
    Sqlite,
    Arrow,
    Zstd,
    SevenZip,
    Xz,
    Bzip2,
    Tar,
    Pdf,
    Html,
    LfsPointer,
    Utf16,
    Matlab,
    Zip,
    OtherXml,
    GraphJson,
    Gml,
    Pajek,
    /// Gzipped, but nothing that is read.
    OtherGzip,
    /// None of these.
    Binary,
}

/// Enough to see what a file is.
const HEAD: usize = 4096;

/// Looks at a file.
pub(in crate::io) fn recognise(path: &Path) -> Result<Kind> {
    let file = File::open(path).map_err(Error::io("read", path))?;
    let mut head = Vec::new();
    file.take(HEAD as u64).read_to_end(&mut head).map_err(Error::io("read", path))?;
    if head.starts_with(GZIP) {
        return Ok(inside_gzip(path));
    }
    if head.starts_with(b"PK\x03\x04") || head.starts_with(b"PK\x05\x06") {
        return Ok(inside_zip(path));
    }
    Ok(of_head(path, &head))
}

/// Whether a file is of this kind.
pub(super) fn is_kind(path: &Path, kind: Kind) -> bool {
    path.is_file() && recognise(path).is_ok_and(|found| found == kind)
}

/// How files begin that say what they are.
const SIGNATURES: [(&[u8], Kind); 21] = [
    (b"PAR1", Kind::Parquet),
    (b"ARROW1", Kind::Arrow),
    (b"FEA1", Kind::Arrow),
    (b"\x93NUMPY", Kind::Npy),
    (b"\x89HDF\r\n\x1a\n", Kind::Hdf5),
    (b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1", Kind::OldOffice),
    (b"RDX2\n", Kind::RData),
    (b"RDX3\n", Kind::RData),
    (b"RDA2\n", Kind::RData),
    (b"RDA3\n", Kind::RData),
    (b"X\n\0\0\0\x02", Kind::RData),
    (b"X\n\0\0\0\x03", Kind::RData),
    (b"SQLite format 3\0", Kind::Sqlite),
    (b"\x28\xb5\x2f\xfd", Kind::Zstd),
    (b"7z\xbc\xaf\x27\x1c", Kind::SevenZip),
    (b"\xfd7zXZ\0", Kind::Xz),
    (b"BZh", Kind::Bzip2),
    (b"%PDF-", Kind::Pdf),
    (b"MATLAB 5.0 MAT-file", Kind::Matlab),
    (b"\xff\xfe", Kind::Utf16),
    (b"\xfe\xff", Kind::Utf16),
];

/// The number that PyTorch wrote in front of its files before version 1.6, as a pickle.
const OLD_PYTORCH: &[u8] = b"\x80\x02\x8a\nl\xfc\x9cF\xf9 j\xa8P\x19.";

fn of_head(path: &Path, head: &[u8]) -> Kind {
    if head.is_empty() {
        return Kind::Empty;
    }
    if head.starts_with(OLD_PYTORCH) {
        return Kind::PyTorch;
    }
    if let Some((_, kind)) = SIGNATURES.iter().find(|(start, _)| head.starts_with(start)) {
        return *kind;
    }
    if head.get(257..262) == Some(b"ustar") {
        return Kind::Tar;
    }
    // The protocol in front of a pickle, and what no text begins with.
    if let [0x80, 2..=5, ..] = head {
        return Kind::Pickle;
    }
    if is_utf16_without_mark(head) {
        return Kind::Utf16;
    }
    if head.iter().any(|&byte| byte < 9 || (14..32).contains(&byte) && byte != 27) {
        return Kind::Binary;
    }
    of_text(path, &String::from_utf8_lossy(head))
}

fn of_text(path: &Path, head: &str) -> Kind {
    let text = head.trim_start_matches('\u{feff}').trim_start();
    let starts = |what: &str| text.get(..what.len()).is_some_and(|start| start.eq_ignore_ascii_case(what));
    if text.is_empty() {
        return if head.len() < HEAD { Kind::Empty } else { Kind::Text };
    }
    if starts("%%MatrixMarket") {
        return Kind::MatrixMarket;
    }
    if text.starts_with("version https://git-lfs.github.com/spec/") {
        return Kind::LfsPointer;
    }
    if text.starts_with('<') {
        return of_markup(text);
    }
    if text.starts_with(['{', '[']) {
        return json::kind(path);
    }
    if starts("*vertices") || starts("*network") {
        return Kind::Pajek;
    }
    let mut words = text.split_whitespace();
    if starts("graph") && words.next() == Some("graph") && words.next() == Some("[") {
        return Kind::Gml;
    }
    Kind::Text
}

/// The outermost element, behind whatever may stand in front of it.
fn of_markup(text: &str) -> Kind {
    let lower = text.to_ascii_lowercase();
    let mut rest = lower.as_str();
    loop {
        rest = rest.trim_start();
        let end = match rest {
            _ if rest.starts_with("<!--") => "-->",
            _ if rest.starts_with("<!doctype html") => return Kind::Html,
            // A document type may declare entities, which end with the same sign.
            _ if rest.starts_with("<!doctype") && rest.find('[') < rest.find('>') && rest.contains('[') => {
                "]>"
            }
            _ if rest.starts_with("<?") || rest.starts_with("<!") => ">",
            _ => break,
        };
        match rest.find(end) {
            Some(place) => rest = &rest[place + end.len()..],
            // An edge table may begin with anything.
            None => return if text.len() < HEAD { Kind::Text } else { Kind::OtherXml },
        }
    }
    let name = rest
        .trim_start_matches('<')
        .split(|c: char| !c.is_ascii_alphanumeric() && c != ':')
        .next()
        .unwrap_or_default();
    match name.rsplit(':').next().unwrap_or_default() {
        "graphml" => Kind::GraphMl,
        "gexf" => Kind::Gexf,
        "html" | "head" | "body" => Kind::Html,
        _ if text.starts_with("<?xml")
            || text.lines().next().is_some_and(|line| line.trim_end().ends_with('>')) =>
        {
            Kind::OtherXml
        }
        _ => Kind::Text,
    }
}

fn is_utf16_without_mark(head: &[u8]) -> bool {
    let pairs = head.as_chunks::<2>().0;
    let halves =
        |place: usize| pairs.iter().filter(|pair| pair[place] == 0 && pair[1 - place].is_ascii()).count();
    pairs.len() >= 4
        && (halves(0) == pairs.len() || halves(1) == pairs.len())
        && pairs.iter().any(|pair| pair[0] != pair[1])
}

fn inside_gzip(path: &Path) -> Kind {
    let mut head = Vec::new();
    let unpacked = open::open(path).map(|source| source.take(HEAD as u64).read_to_end(&mut head));
    if !matches!(unpacked, Ok(Ok(_))) && head.is_empty() {
        return Kind::OtherGzip;
    }
    match of_head(path, &head) {
        kind @ (Kind::GraphMl | Kind::Gexf | Kind::MatrixMarket | Kind::NodeLink | Kind::RData) => kind,
        Kind::Text | Kind::Json | Kind::Empty => Kind::Gzip,
        _ => Kind::OtherGzip,
    }
}

fn inside_zip(path: &Path) -> Kind {
    let Ok(file) = File::open(path) else { return Kind::Zip };
    // A damaged archive is most likely meant to be read: whoever reads it says what is wrong.
    let Ok(zip) = ZipArchive::new(std::io::BufReader::new(file)) else { return Kind::Npz };
    let any = |is: &dyn Fn(&[u8]) -> bool| zip.file_names_raw().any(is);
    if any(&|name| name.ends_with(b"data.pkl")) {
        Kind::PyTorch
    } else if any(&|name| name.starts_with(b"xl/")) {
        Kind::Excel
    } else if any(&|name| name.ends_with(b".npy")) || zip.is_empty() {
        Kind::Npz
    } else {
        Kind::Zip
    }
}

#[cfg(test)]
mod tests;
