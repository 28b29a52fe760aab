//! NumPy's `.npy` arrays, streamed: a header in front, then the elements.
//!
//! Nothing is allocated on the word of a header: elements are decoded in small chunks, and what grows
//! does so with the data that was really there. Errors are [`Error::Data`]; who knows the file names it.

use std::io::{ErrorKind, Read, Write};

use crate::error::{Error, Result};

const MAGIC: &[u8; 6] = b"\x93NUMPY";
/// Real headers have about a hundred bytes.
const MAX_HEADER: usize = 1 << 16;
/// No array that this crate reads is larger; a header that claims more is damaged or hostile.
const MAX_BYTES: u64 = 1 << 33;
/// Arrays that are held decoded take 8 bytes per element: 2 GiB, enough for 134 million edges.
const MAX_HELD: u64 = 1 << 28;
/// A multiple of every element size.
const CHUNK: usize = 1 << 16;

/// Types of elements, little endian.
#[allow(missing_docs)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Dtype {
    Bool,
    I8,
    I16,
    I32,
    I64,
    U8,
    U16,
    U32,
    U64,
    F32,
    F64,
}

impl Dtype {
    /// From NumPy's spelling, such as `<f4` or `|b1`.
    pub fn parse(descr: &str) -> Result<Self> {
        Ok(match descr {
            "|b1" => Dtype::Bool,
            "|i1" | "<i1" => Dtype::I8,
            "<i2" => Dtype::I16,
            "<i4" => Dtype::I32,
            "<i8" => Dtype::I64,
            "|u1" | "<u1" => Dtype::U8,
            "<u2" => Dtype::U16,
            "<u4" => Dtype::U32,
            "<u8" => Dtype::U64,
            "<f4" => Dtype::F32,
            "<f8" => Dtype::F64,
            "|O" => {
                return Err(Error::data(
                    "the array holds pickled Python objects, which are never loaded: they can run any code",
                    "save it with a numeric type: numpy.savez_compressed(..., name=array.astype('float32'))",
                ));
            }
            _ => {
                return Err(Error::data(
                    format!("elements of type {} are not supported", quoted(descr)),
                    "save the array as little-endian bool, int8..int64, uint8..uint64, float32 or float64",
                ));
            }
        })
    }

    /// Bytes of one element.
    pub fn size(self) -> usize {
        match self {
            Dtype::Bool | Dtype::I8 | Dtype::U8 => 1,
            Dtype::I16 | Dtype::U16 => 2,
            Dtype::I32 | Dtype::U32 | Dtype::F32 => 4,
            Dtype::I64 | Dtype::U64 | Dtype::F64 => 8,
        }
    }
}

/// What stands in front of the elements.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Header {
    /// Type of the elements.
    pub dtype: Dtype,
    /// Whether the first index runs fastest.
    pub fortran: bool,
    /// Length of each axis.
    pub shape: Vec<usize>,
    bytes: u64,
}

impl Header {
    /// Refuses shapes that no real array has.
    pub fn new(dtype: Dtype, fortran: bool, shape: Vec<usize>) -> Result<Self> {
        let bytes = shape.iter().try_fold(dtype.size() as u64, |all, &axis| all.checked_mul(axis as u64));
        match bytes {
            Some(bytes) if bytes <= MAX_BYTES => Ok(Header { dtype, fortran, shape, bytes }),
            _ => Err(Error::data(
                format!("an array of shape {} is too large (limit: 8 GiB)", shape_text(&shape)),
                "the file is damaged, or no graph that this program can hold",
            )),
        }
    }

    /// How many bytes the elements take.
    pub fn bytes(&self) -> u64 {
        self.bytes
    }

    fn parse(text: &str) -> Result<Self> {
        let (descr, fortran, shape) = dictionary(text).ok_or_else(|| {
            Error::data(
                format!("the header of the array is not understood: {}", quoted(text)),
                "only plain arrays are read; save it again with numpy.savez_compressed",
            )
        })?;
        Header::new(Dtype::parse(&descr)?, fortran, shape)
    }
}

/// The three entries of a header such as `{'descr': '<f4', 'fortran_order': False, 'shape': (3, 2), }`.
fn dictionary(text: &str) -> Option<(String, bool, Vec<usize>)> {
    let (mut descr, mut fortran, mut shape) = (None, None, None);
    let mut rest = text.trim().strip_prefix('{')?.strip_suffix('}')?.trim();
    while !rest.is_empty() {
        let (key, after) = rest.strip_prefix('\'')?.split_once('\'')?;
        let value = after.trim_start().strip_prefix(':')?.trim_start();
        rest = match key {
            "descr" => {
                let (name, after) = value.strip_prefix('\'')?.split_once('\'')?;
                descr = Some(name.to_string());
                after
            }
            "fortran_order" => {
                let no = value.strip_prefix("False");
                fortran = Some(no.is_none());
                no.or_else(|| value.strip_prefix("True"))?
            }
            "shape" => {
                let (axes, after) = value.strip_prefix('(')?.split_once(')')?;
                // Python 2 wrote long integers as `12L`.
                let axes = axes.split(',').map(|axis| axis.trim().trim_end_matches('L'));
                shape = Some(axes.filter(|a| !a.is_empty()).map(|a| a.parse().ok()).collect::<Option<_>>()?);
                after
            }
            _ => return None,
        };
        rest = rest.trim_start();
        rest = rest.strip_prefix(',').unwrap_or(rest).trim_start();
    }
    Some((descr?, fortran?, shape?))
}

/// A type that elements are decoded into.
pub trait Element: Copy {
    /// Appends the elements in `bytes` to `out`.
    fn decode(dtype: Dtype, bytes: &[u8], out: &mut Vec<Self>) -> Result<()>;
}

impl Element for f32 {
    fn decode(dtype: Dtype, bytes: &[u8], out: &mut Vec<f32>) -> Result<()> {
        match dtype {
            Dtype::Bool => each(bytes, out, |[b]| f32::from(b != 0)),
            Dtype::I8 => each(bytes, out, |b| i8::from_le_bytes(b).into()),
            Dtype::I16 => each(bytes, out, |b| i16::from_le_bytes(b).into()),
            Dtype::I32 => each(bytes, out, |b| i32::from_le_bytes(b) as f32),
            Dtype::I64 => each(bytes, out, |b| i64::from_le_bytes(b) as f32),
            Dtype::U8 => each(bytes, out, |b| u8::from_le_bytes(b).into()),
            Dtype::U16 => each(bytes, out, |b| u16::from_le_bytes(b).into()),
            Dtype::U32 => each(bytes, out, |b| u32::from_le_bytes(b) as f32),
            Dtype::U64 => each(bytes, out, |b| u64::from_le_bytes(b) as f32),
            Dtype::F32 => each(bytes, out, f32::from_le_bytes),
            Dtype::F64 => each(bytes, out, |b| f64::from_le_bytes(b) as f32),
        }
        Ok(())
    }
}

impl Element for i64 {
    fn decode(dtype: Dtype, bytes: &[u8], out: &mut Vec<i64>) -> Result<()> {
        match dtype {
            Dtype::Bool => each(bytes, out, |[b]| i64::from(b != 0)),
            Dtype::I8 => each(bytes, out, |b| i8::from_le_bytes(b).into()),
            Dtype::I16 => each(bytes, out, |b| i16::from_le_bytes(b).into()),
            Dtype::I32 => each(bytes, out, |b| i32::from_le_bytes(b).into()),
            Dtype::I64 => each(bytes, out, i64::from_le_bytes),
            Dtype::U8 => each(bytes, out, |b| u8::from_le_bytes(b).into()),
            Dtype::U16 => each(bytes, out, |b| u16::from_le_bytes(b).into()),
            Dtype::U32 => each(bytes, out, |b| u32::from_le_bytes(b).into()),
            // Beyond i64 a number is out of every range that is checked later, so its exact value is free.
            Dtype::U64 => each(bytes, out, |b| u64::from_le_bytes(b).try_into().unwrap_or(i64::MAX)),
            Dtype::F32 | Dtype::F64 => {
                return Err(Error::data(
                    "the array holds floating-point numbers where whole numbers are needed",
                    "save it as integers: array.astype('int64')",
                ));
            }
        }
        Ok(())
    }
}

fn each<const SIZE: usize, T>(bytes: &[u8], out: &mut Vec<T>, decode: impl Fn([u8; SIZE]) -> T) {
    out.extend(bytes.as_chunks::<SIZE>().0.iter().map(|&element| decode(element)));
}

/// An array whose header is read and whose elements are still to come.
pub struct Reader<R> {
    header: Header,
    source: R,
}

impl<R: Read> Reader<R> {
    /// Reads the header of a `.npy` file; `size` is what the container says the whole file has.
    pub fn open(mut source: R, size: u64) -> Result<Self> {
        let mut start = [0u8; 8];
        fill(&mut source, &mut start)?;
        if &start[..6] != MAGIC {
            return Err(Error::data("this is not a NumPy array", "save it with numpy.savez_compressed"));
        }
        let length_size = if start[6] == 1 { 2 } else { 4 };
        let mut length = [0u8; 4];
        fill(&mut source, &mut length[..length_size])?;
        let length = u32::from_le_bytes(length) as usize;
        if !(1..=3).contains(&start[6]) || length > MAX_HEADER {
            return Err(Error::data(
                format!("version {} with a header of {length} bytes is not a NumPy array", start[6]),
                "save it again with numpy.savez_compressed",
            ));
        }
        let mut text = vec![0u8; length];
        fill(&mut source, &mut text)?;
        let header = Header::parse(&String::from_utf8_lossy(&text))?;
        let needed = (start.len() + length_size + length) as u64 + header.bytes;
        if size != needed {
            return Err(Error::data(
                format!("shape {} needs {needed} bytes, but there are {size}", shape_text(&header.shape)),
                "the file is damaged; get it again",
            ));
        }
        Ok(Reader { header, source })
    }

    /// Elements without a header of their own.
    pub fn bare(header: Header, source: R) -> Self {
        Reader { header, source }
    }

    /// The header.
    pub fn header(&self) -> &Header {
        &self.header
    }

    /// Refuses any other shape; `None` stands for any length.
    pub fn expect_shape(&self, expected: &[Option<usize>], meaning: &str) -> Result<()> {
        let shape = &self.header.shape;
        let fits = shape.len() == expected.len()
            && shape.iter().zip(expected).all(|(found, expected)| expected.is_none_or(|e| e == *found));
        if fits {
            return Ok(());
        }
        let axes = expected.iter().map(|axis| axis.map_or_else(|| "any".to_string(), |a| a.to_string()));
        let axes = axes.collect::<Vec<_>>().join(", ");
        Err(Error::data(
            format!("the array has shape {}, expected [{axes}]", shape_text(shape)),
            format!("the shape must be {meaning}"),
        ))
    }

    /// Hands the elements over in the order of the file, chunk by chunk, and checks that they end there.
    pub fn stream<T: Element>(mut self, mut take: impl FnMut(&[T]) -> Result<()>) -> Result<()> {
        let mut bytes = vec![0u8; CHUNK];
        let mut elements = Vec::with_capacity(CHUNK / self.header.dtype.size());
        let mut left = self.header.bytes;
        while left > 0 {
            let chunk = &mut bytes[..left.min(CHUNK as u64) as usize];
            fill(&mut self.source, chunk)?;
            elements.clear();
            T::decode(self.header.dtype, chunk, &mut elements)?;
            take(&elements)?;
            left -= chunk.len() as u64;
        }
        expect_end(&mut self.source)
    }

    /// All elements, row after row (of an array with at most two axes).
    pub fn into_vec<T: Element>(self) -> Result<Vec<T>> {
        let Header { fortran, shape, dtype, bytes } = self.header.clone();
        if bytes / dtype.size() as u64 > MAX_HELD {
            return Err(Error::data(
                format!("an array of shape {} is too large (limit: 2^28 numbers)", shape_text(&shape)),
                "the file is damaged, or no graph that this program can hold",
            ));
        }
        let mut out = Vec::new();
        self.stream(|elements| {
            out.extend_from_slice(elements);
            Ok(())
        })?;
        Ok(match shape[..] {
            [rows, cols] if fortran => {
                (0..rows * cols).map(|place| out[place % cols * rows + place / cols]).collect()
            }
            _ => out,
        })
    }
}

fn fill(source: &mut impl Read, buffer: &mut [u8]) -> Result<()> {
    source.read_exact(buffer).map_err(|error| match error.kind() {
        ErrorKind::UnexpectedEof => {
            Error::data("the data ends too early", "the file is damaged; get it again")
        }
        _ => damaged(error),
    })
}

/// Reading on at the end is also what makes a zip archive compare its checksum.
fn expect_end(source: &mut impl Read) -> Result<()> {
    match source.read(&mut [0u8]) {
        Ok(0) => Ok(()),
        Ok(_) => {
            Err(Error::data("there is more data than the shape needs", "the file is damaged; get it again"))
        }
        Err(error) => Err(damaged(error)),
    }
}

fn damaged(error: std::io::Error) -> Error {
    Error::data(format!("the data cannot be read: {error}"), "the file is damaged; get it again")
}

/// A shape as the user knows it, cut short when it is absurd.
pub fn shape_text(shape: &[usize]) -> String {
    let axes: Vec<_> = shape.iter().take(8).map(usize::to_string).collect();
    format!("[{}{}]", axes.join(", "), if shape.len() > 8 { ", …" } else { "" })
}

/// Foreign text, made safe for a terminal and cut short.
pub fn quoted(text: &str) -> String {
    let cut: String = text.chars().take(120).collect();
    format!("{cut:?}{}", if cut.len() < text.len() { "…" } else { "" })
}

/// A type that elements are written from.
pub trait Stored {
    /// NumPy's spelling of the type.
    const DESCR: &'static str;
    /// Appends the element's bytes.
    fn put(self, out: &mut Vec<u8>);
}

macro_rules! stored {
    ($($kind:ty = $descr:literal),*) => {$(
        impl Stored for $kind {
            const DESCR: &'static str = $descr;
            fn put(self, out: &mut Vec<u8>) {
                out.extend_from_slice(&self.to_le_bytes());
            }
        }
    )*};
}
stored!(f32 = "<f4", f64 = "<f8", i64 = "<i8", u32 = "<u4", u8 = "|u1");

impl Stored for bool {
    const DESCR: &'static str = "|b1";
    fn put(self, out: &mut Vec<u8>) {
        out.push(self.into());
    }
}

/// Writes a whole `.npy` file; there must be as many values as the shape needs.
pub fn write<T: Stored>(
    out: &mut impl Write,
    shape: &[usize],
    values: impl IntoIterator<Item = T>,
) -> std::io::Result<()> {
    let mut bytes = header(T::DESCR, shape);
    for value in values {
        value.put(&mut bytes);
        if bytes.len() >= CHUNK {
            out.write_all(&bytes)?;
            bytes.clear();
        }
    }
    out.write_all(&bytes)
}

fn header(descr: &str, shape: &[usize]) -> Vec<u8> {
    let axes: String = shape.iter().map(|axis| format!("{axis},")).collect();
    let text = format!("{{'descr': '{descr}', 'fortran_order': False, 'shape': ({axes}), }}");
    // NumPy wants the elements to start at a multiple of 64 and the header to end in a line feed.
    let length = (10 + text.len() + 1).next_multiple_of(64) - 10;
    let mut bytes = MAGIC.to_vec();
    bytes.extend_from_slice(&[1, 0]);
    bytes.extend_from_slice(&(length as u16).to_le_bytes());
    bytes.extend_from_slice(format!("{text:<width$}\n", width = length - 1).as_bytes());
    bytes
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read<T: Element>(bytes: &[u8]) -> Result<Vec<T>> {
        Reader::open(bytes, bytes.len() as u64)?.into_vec()
    }

    fn file(header: &str, data: &[u8]) -> Vec<u8> {
        let mut bytes = MAGIC.to_vec();
        bytes.extend_from_slice(&[1, 0]);
        bytes.extend_from_slice(&(header.len() as u16).to_le_bytes());
        bytes.extend_from_slice(header.as_bytes());
        bytes.extend_from_slice(data);
        bytes
    }

    fn message<T: Element + std::fmt::Debug>(bytes: &[u8]) -> String {
        read::<T>(bytes).unwrap_err().to_string()
    }

    #[test]
    fn what_is_written_is_read() {
        let mut bytes = Vec::new();
        write(&mut bytes, &[2, 3], [1.5f32, 0.0, -2.0, 3.0, f32::MIN, 5.0]).unwrap();
        assert_eq!((bytes.len() - 24) % 64, 0);
        let reader = Reader::open(bytes.as_slice(), bytes.len() as u64).unwrap();
        assert_eq!(reader.header().shape, [2, 3]);
        assert_eq!(reader.into_vec::<f32>().unwrap(), [1.5, 0.0, -2.0, 3.0, f32::MIN, 5.0]);
        let mut bytes = Vec::new();
        write(&mut bytes, &[], [true]).unwrap();
        assert_eq!(read::<i64>(&bytes).unwrap(), [1]);
    }

    #[test]
    fn fortran_order_is_turned_round() {
        let bytes = file("{'descr': '|u1', 'fortran_order': True, 'shape': (2, 3)}", &[1, 4, 2, 5, 3, 6]);
        assert_eq!(read::<i64>(&bytes).unwrap(), [1, 2, 3, 4, 5, 6]);
    }

    #[test]
    fn every_type_is_decoded() {
        let array = |descr: &str, data: &[u8]| {
            file(&format!("{{'descr': '{descr}', 'fortran_order': False, 'shape': (1L,), }}"), data)
        };
        for (descr, data) in [
            ("|b1", &[1u8][..]),
            ("|i1", &1i8.to_le_bytes()),
            ("<i2", &1i16.to_le_bytes()),
            ("<i4", &1i32.to_le_bytes()),
            ("<i8", &1i64.to_le_bytes()),
            ("|u1", &1u8.to_le_bytes()),
            ("<u2", &1u16.to_le_bytes()),
            ("<u4", &1u32.to_le_bytes()),
            ("<u8", &1u64.to_le_bytes()),
            ("<f4", &1f32.to_le_bytes()),
            ("<f8", &1f64.to_le_bytes()),
        ] {
            assert_eq!(read::<f32>(&array(descr, data)).unwrap(), [1.0], "{descr}");
            if !descr.contains('f') {
                assert_eq!(read::<i64>(&array(descr, data)).unwrap(), [1], "{descr}");
            }
        }
        assert!(message::<i64>(&array("<f4", &[0; 4])).contains("floating-point"));
        assert!(message::<f32>(&array(">f4", &[0; 4])).contains("type \">f4\" are not supported"));
        assert!(message::<f32>(&array("|O", &[0; 8])).contains("pickled Python objects"));
    }

    #[test]
    fn lies_about_the_size_are_found_before_anything_is_allocated() {
        let claim =
            |shape: &str| file(&format!("{{'descr': '<f4', 'fortran_order': False, 'shape': {shape}}}"), &[]);
        assert!(message::<f32>(&claim("(1000000,)")).contains("shape [1000000] needs"));
        assert!(message::<f32>(&claim("(99999999999, 99999999999)")).contains("too large"));
        assert!(message::<f32>(&claim("(8589934592,)")).contains("too large"));
        assert!(message::<f32>(&claim("(-1,)")).contains("not understood"));
        let zeros = file("{'descr': '|u1', 'fortran_order': False, 'shape': (999999999,)}", &[]);
        let reader = Reader::open(zeros.as_slice(), zeros.len() as u64 + 999_999_999).unwrap();
        assert!(
            reader.into_vec::<i64>().unwrap_err().to_string().contains("too large (limit: 2^28 numbers)")
        );
        let short = claim("(1000000,)");
        let reader = Reader::open(short.as_slice(), short.len() as u64 + 4_000_000).unwrap();
        assert!(reader.into_vec::<f32>().unwrap_err().to_string().contains("ends too early"));
    }

    #[test]
    fn other_bytes_are_refused() {
        assert!(message::<f32>(b"PK\x03\x04 nothing like it").contains("not a NumPy array"));
        assert!(message::<f32>(b"\x93NUM").contains("ends too early"));
        assert!(message::<f32>(&file("[1, 2, \x1b]", &[])).contains("not understood: \"[1, 2, \\u{1b}]\""));
        let long = file(
            &format!("{{'descr': '<f4', 'fortran_order': False, 'shape': ({})}}", "1,".repeat(99)),
            &[0; 4],
        );
        let reader = Reader::open(long.as_slice(), long.len() as u64).unwrap();
        let error = reader.expect_shape(&[Some(3), None], "[nodes, columns]").unwrap_err().to_string();
        assert!(
            error.contains("1, …], expected [3, any]\n  hint: the shape must be [nodes, columns]"),
            "{error}"
        );
    }
}
