//! NumPy's arrays of texts: `<U12`, as wide as the longest, or `|S12` in UTF-8. Pickled texts are read without running anything.

use std::io::Read;

use npyz::{DType, Endianness, NpyHeader, TypeChar};

use super::{expect_end, fill, guarded, head, not_understood, shape_text, unsupported};
use crate::error::{Error, Result};
use crate::io::pickle;

/// Names of nodes are shorter by far.
const MOST_BYTES: u64 = 1 << 31;

/// The texts of an array with at most one axis; `None` if it holds something else. `size` is what the container says the whole file has.
pub(in crate::io) fn read<R: Read>(mut source: R, size: u64) -> Result<Option<Vec<String>>> {
    let (mut file, text) = head(&mut source)?;
    guarded(&mut file[text..])?;
    let header = NpyHeader::from_reader(&*file).map_err(|_| not_understood(&file[text..]))?;
    let rest = size.saturating_sub(file.len() as u64);
    if header.dtype().uses_pickled_array() {
        return pickled(source, rest).map(Some);
    }
    let DType::Plain(plain) = header.dtype() else { return Ok(None) };
    let unit = match plain.type_char() {
        TypeChar::UnicodeStr => 4,
        TypeChar::ByteStr => 1,
        _ => return Ok(None),
    };
    let width = plain.size_field().saturating_mul(unit);
    let shape: Vec<usize> = header.shape().iter().map(|&axis| axis as usize).collect();
    // Texts without a width would be any number of them in no space at all.
    let count = match header.shape() {
        [] if width > 0 => 1,
        [count] if width > 0 => *count,
        _ => {
            return Err(Error::data(
                format!("texts in the shape {} are not read", shape_text(&shape)),
                "give one text per entry",
            ));
        }
    };
    if plain.endianness() == Endianness::Big {
        return Err(unsupported(&plain.to_string()));
    }
    if count.checked_mul(width) != Some(rest) || rest > MOST_BYTES {
        return Err(Error::data(
            format!("{count} texts of {width} bytes do not make {rest} bytes"),
            "the file is damaged; get it again",
        ));
    }
    let mut buffer = vec![0u8; width as usize];
    let mut texts = Vec::new();
    for _ in 0..count {
        fill(&mut source, &mut buffer)?;
        texts.push(if unit == 4 {
            utf32(&buffer)
        } else {
            String::from_utf8_lossy(&buffer).trim_end_matches('\0').to_string()
        });
    }
    expect_end(&mut source)?;
    Ok(Some(texts))
}

fn utf32(bytes: &[u8]) -> String {
    let codes = bytes.as_chunks::<4>().0.iter().map(|code| u32::from_le_bytes(*code));
    let text: String =
        codes.map(|code| char::from_u32(code).unwrap_or(char::REPLACEMENT_CHARACTER)).collect();
    text.trim_end_matches('\0').to_string()
}

fn pickled(source: impl Read, rest: u64) -> Result<Vec<String>> {
    const MOST: u64 = 1 << 26;
    let refused = || {
        Error::data(
            "the array holds pickled Python objects other than texts, which are never loaded: they can run any code",
            "save it as texts: numpy.savez(..., name=numpy.array(names, dtype=str))",
        )
    };
    if rest > MOST {
        return Err(refused());
    }
    let mut bytes = Vec::new();
    source.take(MOST + 1).read_to_end(&mut bytes).map_err(super::damaged)?;
    pickle::texts(&bytes).ok_or_else(refused)
}
