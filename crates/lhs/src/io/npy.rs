//! NumPy's `.npy` arrays, streamed: a header in front, then the elements.
//!
//! `npyz` reads the header and turns elements into bytes and back. Ours is what it does not promise, around it:
//! nothing is allocated on the word of a header, a file is exactly as long as its header says, and headers that
//! `npyz` could not bear are refused before it sees them (see `guarded`). Elements are decoded in small chunks,
//! and what grows does so with the data that was really there. Errors are [`Error::Data`]; who knows the file names it.

pub(super) mod texts;

use std::io::{ErrorKind, Read, Write};

use npyz::{
    AutoSerialize, DType, Deserialize, Endianness, NpyHeader, Order, TypeChar, TypeRead, TypeStr, TypeWrite,
};

use crate::error::{Error, Result};

const MAGIC: &[u8; 6] = b"\x93NUMPY";
/// Real headers have about a hundred bytes.
const MAX_HEADER: usize = 1 << 16;
/// A plain header has two.
const MAX_BRACKETS: usize = 8;
/// No array that this crate reads is larger; a header that claims more is damaged or hostile.
const MAX_BYTES: u64 = 1 << 33;
/// Arrays that are held decoded take 8 bytes per element: 2 GiB, enough for 134 million edges.
const MAX_HELD: u64 = 1 << 28;
/// A multiple of every element size.
const CHUNK: usize = 1 << 16;

/// A type of elements that is read: bool, int8..int64, uint8..uint64, float32 or float64, little endian.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Dtype(TypeStr);

impl Dtype {
    /// From NumPy's spelling, such as `<f4` or `|b1`.
    pub fn parse(descr: &str) -> Result<Self> {
        descr.parse().map_err(|_| unsupported(descr)).and_then(|plain| Dtype::of(&DType::Plain(plain)))
    }

    fn of(dtype: &DType) -> Result<Self> {
        use TypeChar::{Bool, Float, Int, Uint};
        if dtype.uses_pickled_array() {
            return Err(Error::data(
                "the array holds pickled Python objects, which are never loaded: they can run any code",
                "save it with a numeric type: numpy.savez_compressed(..., name=array.astype('float32'))",
            ));
        }
        match dtype {
            DType::Plain(plain) if plain.endianness() != Endianness::Big => {
                match (plain.type_char(), plain.size_field()) {
                    (Bool, 1) | (Int | Uint, 1 | 2 | 4 | 8) | (Float, 4 | 8) => Ok(Dtype(plain.clone())),
                    _ => Err(unsupported(&plain.to_string())),
                }
            }
            other => Err(unsupported(other.descr().trim_matches('\''))),
        }
    }

    /// Bytes of one element.
    pub fn size(&self) -> usize {
        self.0.size_field() as usize
    }
}

fn unsupported(descr: &str) -> Error {
    Error::data(
        format!("elements of type {} are not supported", quoted(descr)),
        "save the array as little-endian bool, int8..int64, uint8..uint64, float32 or float64",
    )
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
            _ => Err(too_large(format!(
                "an array of shape {} is too large (limit: 8 GiB)",
                shape_text(&shape)
            ))),
        }
    }

    /// How many bytes the elements take.
    pub fn bytes(&self) -> u64 {
        self.bytes
    }

    /// From the whole of what stands in front of the elements, magic number and all.
    fn parse(file: &mut [u8], text: usize) -> Result<Self> {
        guarded(&mut file[text..])?;
        let header = NpyHeader::from_reader(&*file).map_err(|_| not_understood(&file[text..]))?;
        let dtype = Dtype::of(&header.dtype())?;
        // What does not fit into usize is too large for `new` as well.
        let shape = header.shape().iter().map(|&axis| usize::try_from(axis).unwrap_or(usize::MAX)).collect();
        Header::new(dtype, header.order() == Order::Fortran, shape)
    }
}

/// Refuses headers that npyz 0.9 cannot bear, and blanks the `L` of Python 2's long integers (`(12L, 3L)`), which it
/// does not know.
///
/// It multiplies the axes unchecked: a panic, or without overflow checks a wrong product. And the time its parser takes
/// doubles with every bracket inside of another one. So the brackets are few, the numbers are plain, and their product
/// fits: numbers are words that start with a digit, and without signs nothing else can become an axis.
fn guarded(text: &mut [u8]) -> Result<()> {
    let is_word = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'_';
    let brackets = text.iter().filter(|byte| b"([{".contains(byte)).count();
    if brackets > MAX_BRACKETS || text.iter().any(|byte| b"+-".contains(byte)) {
        return Err(not_understood(text));
    }
    let (mut place, mut product) = (0, 1u64);
    while place < text.len() {
        let length = text[place..].iter().position(|&byte| !is_word(byte)).unwrap_or(text.len() - place);
        let word = &mut text[place..place + length];
        if word.first().is_some_and(u8::is_ascii_digit) {
            if let Some(suffix) = word.last_mut().filter(|last| **last == b'L') {
                *suffix = b' ';
            }
            let Ok(number) = std::str::from_utf8(word.trim_ascii_end()) else {
                return Err(not_understood(text));
            };
            if !number.bytes().all(|byte| byte.is_ascii_digit()) {
                return Err(not_understood(text));
            }
            let axis = number.parse::<u64>().ok();
            product = axis.and_then(|axis| product.checked_mul(axis.max(1))).ok_or_else(|| {
                let said = quoted(&String::from_utf8_lossy(text));
                too_large(format!("an array with the header {said} is too large (limit: 8 GiB)"))
            })?;
        }
        place += length + 1;
    }
    Ok(())
}

fn not_understood(text: &[u8]) -> Error {
    Error::data(
        format!("the header of the array is not understood: {}", quoted(&String::from_utf8_lossy(text))),
        "only plain arrays are read; save it again with numpy.savez_compressed",
    )
}

fn too_large(problem: String) -> Error {
    Error::data(problem, "the file is damaged, or no graph that this program can hold")
}

/// A type that elements are decoded into.
pub trait Element: Copy {
    /// Appends the elements in `bytes` to `out`.
    fn decode(dtype: &Dtype, bytes: &[u8], out: &mut Vec<Self>) -> Result<()>;
}

impl Element for f32 {
    fn decode(dtype: &Dtype, bytes: &[u8], out: &mut Vec<f32>) -> Result<()> {
        match (dtype.0.type_char(), dtype.size()) {
            (TypeChar::Bool, _) => each(dtype, bytes, out, |b: bool| f32::from(u8::from(b))),
            (TypeChar::Int, 1) => each(dtype, bytes, out, |i: i8| i.into()),
            (TypeChar::Int, 2) => each(dtype, bytes, out, |i: i16| i.into()),
            (TypeChar::Int, 4) => each(dtype, bytes, out, |i: i32| i as f32),
            (TypeChar::Int, _) => each(dtype, bytes, out, |i: i64| i as f32),
            (TypeChar::Uint, 1) => each(dtype, bytes, out, |u: u8| u.into()),
            (TypeChar::Uint, 2) => each(dtype, bytes, out, |u: u16| u.into()),
            (TypeChar::Uint, 4) => each(dtype, bytes, out, |u: u32| u as f32),
            (TypeChar::Uint, _) => each(dtype, bytes, out, |u: u64| u as f32),
            (_, 4) => each(dtype, bytes, out, |f: f32| f),
            (_, _) => each(dtype, bytes, out, |f: f64| f as f32),
        }
    }
}

impl Element for f64 {
    fn decode(dtype: &Dtype, bytes: &[u8], out: &mut Vec<f64>) -> Result<()> {
        match (dtype.0.type_char(), dtype.size()) {
            (TypeChar::Float, 8) => each(dtype, bytes, out, |f: f64| f),
            (TypeChar::Float, _) => each(dtype, bytes, out, |f: f32| f.into()),
            _ => {
                let mut whole = Vec::new();
                i64::decode(dtype, bytes, &mut whole)?;
                out.extend(whole.into_iter().map(|number| number as f64));
                Ok(())
            }
        }
    }
}

impl Element for i64 {
    fn decode(dtype: &Dtype, bytes: &[u8], out: &mut Vec<i64>) -> Result<()> {
        match (dtype.0.type_char(), dtype.size()) {
            (TypeChar::Bool, _) => each(dtype, bytes, out, |b: bool| b.into()),
            (TypeChar::Int, 1) => each(dtype, bytes, out, |i: i8| i.into()),
            (TypeChar::Int, 2) => each(dtype, bytes, out, |i: i16| i.into()),
            (TypeChar::Int, 4) => each(dtype, bytes, out, |i: i32| i.into()),
            (TypeChar::Int, _) => each(dtype, bytes, out, |i: i64| i),
            (TypeChar::Uint, 1) => each(dtype, bytes, out, |u: u8| u.into()),
            (TypeChar::Uint, 2) => each(dtype, bytes, out, |u: u16| u.into()),
            (TypeChar::Uint, 4) => each(dtype, bytes, out, |u: u32| u.into()),
            // Beyond i64 a number is out of every range that is checked later, so its exact value is free.
            (TypeChar::Uint, _) => each(dtype, bytes, out, |u: u64| u.try_into().unwrap_or(i64::MAX)),
            _ => Err(Error::data(
                "the array holds floating-point numbers where whole numbers are needed",
                "save it as integers: array.astype('int64')",
            )),
        }
    }
}

fn each<S: Deserialize, T>(
    dtype: &Dtype,
    mut bytes: &[u8],
    out: &mut Vec<T>,
    convert: impl Fn(S) -> T,
) -> Result<()> {
    let reader = S::reader(&DType::Plain(dtype.0.clone())).map_err(damaged)?;
    while !bytes.is_empty() {
        out.push(convert(reader.read_one(&mut bytes).map_err(damaged)?));
    }
    Ok(())
}

/// An array whose header is read and whose elements are still to come.
pub struct Reader<R> {
    header: Header,
    source: R,
}

impl<R: Read> Reader<R> {
    /// Reads the header of a `.npy` file; `size` is what the container says the whole file has.
    pub fn open(mut source: R, size: u64) -> Result<Self> {
        let (mut file, text) = head(&mut source)?;
        let header = Header::parse(&mut file, text)?;
        let needed = file.len() as u64 + header.bytes;
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
            T::decode(&self.header.dtype, chunk, &mut elements)?;
            take(&elements)?;
            left -= chunk.len() as u64;
        }
        expect_end(&mut self.source)
    }

    /// All elements, row after row (of an array with at most two axes).
    pub fn into_vec<T: Element>(self) -> Result<Vec<T>> {
        let Header { fortran, shape, dtype, bytes } = self.header.clone();
        if bytes / dtype.size() as u64 > MAX_HELD {
            let shape = shape_text(&shape);
            return Err(too_large(format!("an array of shape {shape} is too large (limit: 2^28 numbers)")));
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

/// What stands in front of the elements, magic number and all, and where its text begins.
fn head(source: &mut impl Read) -> Result<(Vec<u8>, usize)> {
    let mut file = vec![0u8; 8];
    fill(source, &mut file)?;
    if !file.starts_with(MAGIC) {
        return Err(Error::data("this is not a NumPy array", "save it with numpy.savez_compressed"));
    }
    let (version, minor) = (file[6], file[7]);
    let text = if version == 1 { 10 } else { 12 };
    file.resize(text, 0);
    fill(source, &mut file[8..])?;
    let length = file[8..].iter().rev().fold(0, |length, &byte| length << 8 | usize::from(byte));
    if !(1..=3).contains(&version) || minor != 0 || length > MAX_HEADER {
        return Err(Error::data(
            format!("version {version}.{minor} with a header of {length} bytes is not a NumPy array"),
            "save it again with numpy.savez_compressed",
        ));
    }
    file.resize(text + length, 0);
    fill(source, &mut file[text..])?;
    Ok((file, text))
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

fn damaged(error: impl std::fmt::Display) -> Error {
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

/// Writes a whole `.npy` file, little endian on any machine; there must be as many values as the shape needs.
pub fn write<T: AutoSerialize>(
    out: &mut impl Write,
    shape: &[usize],
    values: impl IntoIterator<Item = T>,
) -> std::io::Result<()> {
    let descr = T::default_dtype().descr().replace('>', "<");
    let dtype = descr.trim_matches('\'').parse().map_err(std::io::Error::other)?;
    let writer = T::writer(&DType::Plain(dtype)).map_err(std::io::Error::other)?;
    let mut bytes = header(&descr, shape);
    for value in values {
        writer.write_one(&mut bytes, &value)?;
        if bytes.len() >= CHUNK {
            out.write_all(&bytes)?;
            bytes.clear();
        }
    }
    out.write_all(&bytes)
}

/// By hand, since npyz lets the elements start at a multiple of 16: NumPy wants one of 64, for files that are mapped.
fn header(descr: &str, shape: &[usize]) -> Vec<u8> {
    let axes: String = shape.iter().map(|axis| format!("{axis},")).collect();
    let text = format!("{{'descr': {descr}, 'fortran_order': False, 'shape': ({axes}), }}");
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
        for descr in [">f4", ">i8", "<f2", "<c8", "<U5", "|S3", "|V4", "<M8[ns]", "<f16"] {
            let expected = format!("elements of type {descr:?} are not supported\n  hint: save the array as");
            assert!(message::<f32>(&array(descr, &[0; 8])).contains(&expected), "{descr}");
            assert!(message::<i64>(&array(descr, &[0; 8])).contains(&expected), "{descr}");
        }
        for descr in ["f4", "|f4", "<f3", "", "<"] {
            assert!(message::<f32>(&array(descr, &[0; 4])).contains("not understood"), "{descr}");
        }
        assert!(Dtype::parse("f4").unwrap_err().to_string().contains("type \"f4\" are not supported"));
        assert!(message::<i64>(&array("|b1", &[2])).contains("invalid value for bool: 2"));
        let record = |descr: &str| {
            file(&format!("{{'descr': {descr}, 'fortran_order': False, 'shape': (1,), }}"), &[0; 8])
        };
        assert!(
            message::<f32>(&record("[('a', '<f4'), ('b', '<f4')]"))
                .contains("elements of type \"[('a', '<f4'), ('b', '<f4'), ]\" are not supported")
        );
        assert!(message::<f32>(&record("[('a', '<f4'), ('b', '|O')]")).contains("pickled Python objects"));
    }

    #[test]
    fn the_bytes_of_a_file_are_fixed() {
        let mut bytes = Vec::new();
        write(&mut bytes, &[2, 1], [1u32, 0xfedc_ba98]).unwrap();
        let text = "{'descr': '<u4', 'fortran_order': False, 'shape': (2,1,), }";
        let expected = file(&format!("{text:<117}\n"), &[1, 0, 0, 0, 0x98, 0xba, 0xdc, 0xfe]);
        assert_eq!(bytes, expected);
    }

    #[test]
    fn every_version_of_the_format_is_read_and_no_other() {
        let text = "{'descr': '|u1', 'fortran_order': False, 'shape': (2,), }";
        let versioned = |major: u8, minor: u8, length: u32| {
            let mut bytes = MAGIC.to_vec();
            bytes.extend_from_slice(&[major, minor]);
            bytes.extend_from_slice(&length.to_le_bytes());
            bytes.extend_from_slice(text.as_bytes());
            bytes.extend_from_slice(&[7, 8]);
            bytes
        };
        assert_eq!(read::<i64>(&file(text, &[7, 8])).unwrap(), [7, 8]);
        for major in [2, 3] {
            assert_eq!(read::<i64>(&versioned(major, 0, text.len() as u32)).unwrap(), [7, 8]);
        }
        for (major, minor) in [(0, 0), (4, 0), (2, 1)] {
            let message = message::<i64>(&versioned(major, minor, text.len() as u32));
            assert!(message.contains(&format!("version {major}.{minor} with a header")), "{message}");
        }
        assert!(message::<i64>(&versioned(2, 0, u32::MAX)).contains("a header of 4294967295 bytes"));
    }

    #[test]
    fn lies_about_the_size_are_found_before_anything_is_allocated() {
        let claim =
            |shape: &str| file(&format!("{{'descr': '<f4', 'fortran_order': False, 'shape': {shape}}}"), &[]);
        assert!(message::<f32>(&claim("(1000000,)")).contains("shape [1000000] needs"));
        assert!(message::<f32>(&claim("(99999999999, 99999999999)")).contains("too large"));
        assert!(message::<f32>(&claim("(8589934592,)")).contains("too large"));
        assert!(message::<f32>(&claim("(-1,)")).contains("not understood"));
        assert!(message::<f32>(&claim("(0, 99999999999, 99999999999)")).contains("too large"));
        assert!(message::<f32>(&claim("(99999999999999999999, )")).contains("too large"));
        assert!(message::<f32>(&claim("[99999999999, 99999999999L]")).contains("too large"));
        assert!(read::<f32>(&claim("(0, 7)")).unwrap().is_empty());
        let nested = format!("{}1{}", "[".repeat(60), "]".repeat(60));
        for shape in ["(0xffffffffff, 0xffffffffff)", "(9_9,)", "(1e5,)", "(1+1,)", "(1j,)", "7", &nested] {
            assert!(message::<f32>(&claim(shape)).contains("not understood"), "{shape}");
        }
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
