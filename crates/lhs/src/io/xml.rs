//! XML read piece by piece, as far as formats of graphs need it.
//!
//! Nothing is expanded but the five entities that XML has by itself, nothing outside of the file is looked at, and elements inside of
//! each other are neither recursed into nor kept.

use std::io::{self, BufRead, Read};
use std::path::Path;

use quick_xml::events::{BytesRef, BytesStart, Event};
use quick_xml::{Reader, XmlVersion};

use crate::error::{Error, Result};
use crate::io::npy::quoted;

/// The start of an element.
#[derive(Debug)]
pub(super) struct Element {
    /// Its name without a prefix.
    pub name: String,
    attributes: Vec<(String, String)>,
}

impl Element {
    /// The value of an attribute.
    pub fn get(&self, name: &str) -> Option<&str> {
        self.attributes.iter().find(|(own, _)| own == name).map(|(_, value)| value.as_str())
    }
}

/// A document that is being read. Who asks for a child must read it to its end, by asking for its children until there are no more,
/// for its text, or to skip it.
pub(super) struct Xml<'a> {
    path: &'a Path,
    reader: Reader<Lines<Box<dyn BufRead>>>,
    buffer: Vec<u8>,
}

enum Piece {
    Start(Element),
    End,
    Text(String),
    Over,
}

impl<'a> Xml<'a> {
    /// Opens a document and its outermost element, which must have this name.
    pub fn open(path: &'a Path, root: &str) -> Result<(Self, Element)> {
        let mut reader = Reader::from_reader(Lines { source: super::open::open(path)?, number: 1 });
        reader.config_mut().expand_empty_elements = true;
        let mut xml = Xml { path, reader, buffer: Vec::new() };
        loop {
            match xml.next()? {
                Piece::Start(element) if element.name == root => return Ok((xml, element)),
                Piece::Start(element) => {
                    let found = quoted(&element.name);
                    return Err(xml.wrong(format!("the document is a {found}, not a {root}"), ""));
                }
                Piece::Over | Piece::End => return Err(xml.too_short()),
                Piece::Text(_) => {}
            }
        }
    }

    /// The next element inside of the current one; `None` where the current one ends.
    pub fn child(&mut self) -> Result<Option<Element>> {
        loop {
            match self.next()? {
                Piece::Start(element) => return Ok(Some(element)),
                Piece::End => return Ok(None),
                Piece::Over => return Err(self.too_short()),
                Piece::Text(_) => {}
            }
        }
    }

    /// The text of the current element, without that of elements inside of it, up to its end.
    pub fn text(&mut self) -> Result<String> {
        let mut all = String::new();
        loop {
            match self.next()? {
                Piece::Text(text) => all.push_str(&text),
                Piece::Start(_) => self.skip()?,
                Piece::End => return Ok(all),
                Piece::Over => return Err(self.too_short()),
            }
        }
    }

    /// Goes to the end of the current element.
    pub fn skip(&mut self) -> Result<()> {
        let mut open = 1u64;
        while open > 0 {
            match self.next()? {
                Piece::Start(_) => open += 1,
                Piece::End => open -= 1,
                Piece::Over => return Err(self.too_short()),
                Piece::Text(_) => {}
            }
        }
        Ok(())
    }

    /// An attribute that must be there.
    pub fn need(&self, element: &Element, name: &str) -> Result<String> {
        element.get(name).map(String::from).ok_or_else(|| {
            self.wrong(
                format!("a <{}> has no `{name}`", element.name),
                format!("give every <{}> one", element.name),
            )
        })
    }

    /// An error at the line that was read last.
    pub fn wrong(&self, problem: impl Into<String>, remedy: impl Into<String>) -> Error {
        Error::input(self.path, format!("line {}", self.reader.get_ref().number), problem, remedy)
    }

    /// Says where data turned out to be wrong.
    pub fn locate(&self, error: Error) -> Error {
        match error {
            Error::Data { problem, remedy } => self.wrong(problem, remedy),
            other => other,
        }
    }

    fn too_short(&self) -> Error {
        self.wrong(
            "the document ends too early",
            "the file is damaged or was not written to its end; get it again",
        )
    }

    fn next(&mut self) -> Result<Piece> {
        loop {
            self.buffer.clear();
            let piece = match self.reader.read_event_into(&mut self.buffer) {
                Ok(Event::Start(start)) => element(&start).map(Piece::Start),
                Ok(Event::End(_)) => Ok(Piece::End),
                Ok(Event::Text(text)) => Ok(Piece::Text(text.xml10_content().into_owned())),
                Ok(Event::CData(text)) => Ok(Piece::Text(text.xml10_content().into_owned())),
                Ok(Event::GeneralRef(reference)) => resolved(&reference).map(Piece::Text),
                Ok(Event::Eof) => Ok(Piece::Over),
                Ok(_) => continue,
                Err(error) => Err(error.to_string()),
            };
            return piece.map_err(|problem| {
                self.wrong(
                    format!("this is not XML that can be read: {}", quoted(&problem)),
                    "the file is damaged, or not in UTF-8; write it again",
                )
            });
        }
    }
}

fn element(start: &BytesStart) -> std::result::Result<Element, String> {
    let name = start.local_name().as_ref().to_string();
    let mut attributes = Vec::new();
    // Looking for attributes that are there twice would take the square of their number.
    for attribute in start.attributes().with_checks(false) {
        let attribute = attribute.map_err(|error| error.to_string())?;
        let value = attribute.normalized_value(XmlVersion::Explicit1_0).map_err(|error| error.to_string())?;
        attributes.push((attribute.key.as_ref().to_string(), value.into_owned()));
    }
    Ok(Element { name, attributes })
}

fn resolved(reference: &BytesRef) -> std::result::Result<String, String> {
    if let Some(character) = reference.resolve_char_ref().map_err(|error| error.to_string())? {
        return Ok(character.to_string());
    }
    let name: &str = reference;
    quick_xml::escape::resolve_predefined_entity(name)
        .map(String::from)
        .ok_or_else(|| format!("the entity &{name}; is not one of XML's own, and no others are expanded"))
}

/// Counts the lines that have been read.
struct Lines<R> {
    source: R,
    number: u64,
}

impl<R: BufRead> Read for Lines<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let count = self.source.read(buffer)?;
        self.number += buffer[..count].iter().filter(|&&byte| byte == b'\n').count() as u64;
        Ok(count)
    }
}

impl<R: BufRead> BufRead for Lines<R> {
    fn fill_buf(&mut self) -> io::Result<&[u8]> {
        self.source.fill_buf()
    }

    fn consume(&mut self, count: usize) {
        if let Ok(buffer) = self.source.fill_buf() {
            self.number += buffer.iter().take(count).filter(|&&byte| byte == b'\n').count() as u64;
        }
        self.source.consume(count);
    }
}
