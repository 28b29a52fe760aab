//! Python pickles, read without running any Python.
//!
//! A pickle is a program for a stack machine, and unpickling one can run any code. This machine knows only
//! the opcodes that occur in the Planetoid files (Python 2, protocol 2) and in NumPy's arrays of texts, and six
//! globals, which it never calls: a "call" only records what was to be called with what. `numpy.rs` then looks at
//! the record.
//!
//! Values live in an arena and are shared by number, so memory grows linearly with the file: a pickle
//! cannot refer to itself over and over and unfold into something larger.

mod numpy;

use std::collections::HashMap;
use std::path::{Path, PathBuf};

use crate::error::{Error, Result};
use crate::io::npy::quoted;

pub(super) use numpy::Csr;

/// A place in the arena.
type Id = u32;

const REMEDY: &str = "only the original Planetoid files are read (github.com/kimiyoung/planetoid, data/); \
                      get them again, or convert the data to .npz";

/// The files that exist have at most 8 MB; the arena needs about 40 bytes for each byte of a hostile one.
const MAX_FILE: usize = 1 << 28;

/// What a pickle may refer to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Global {
    CsrMatrix,
    Reconstruct,
    Ndarray,
    Dtype,
    DefaultDict,
    List,
}

const GLOBALS: [(&str, &str, Global); 7] = [
    ("scipy.sparse.csr", "csr_matrix", Global::CsrMatrix),
    ("numpy.core.multiarray", "_reconstruct", Global::Reconstruct),
    ("numpy._core.multiarray", "_reconstruct", Global::Reconstruct),
    ("numpy", "ndarray", Global::Ndarray),
    ("numpy", "dtype", Global::Dtype),
    ("collections", "defaultdict", Global::DefaultDict),
    ("__builtin__", "list", Global::List),
];

enum Value<'a> {
    None,
    Bool(bool),
    Int(i64),
    Bytes(&'a [u8]),
    Tuple(Vec<Id>),
    List(Vec<Id>),
    Dict(Vec<(Id, Id)>),
    Global(Global),
    Object(Box<Object>),
}

/// The record of a call: what was to be made, of what, with which state and entries.
struct Object {
    class: Global,
    arguments: Id,
    state: Option<Id>,
    entries: Vec<(Id, Id)>,
}

/// What a pickle holds.
pub(super) struct Pickle<'a> {
    file: PathBuf,
    values: Vec<Value<'a>>,
    root: Id,
}

impl<'a> Pickle<'a> {
    /// Runs the program in `bytes`; `file` is for the errors.
    pub fn parse(file: &Path, bytes: &'a [u8]) -> Result<Self> {
        if bytes.len() > MAX_FILE {
            let problem = format!("a pickle of {} bytes is too large (limit: 256 MiB)", bytes.len());
            return Err(Error::input(file, "", problem, REMEDY));
        }
        let mut machine = Machine { bytes, ..Machine::default() };
        loop {
            let start = machine.next;
            let code = machine.bytes.get(start).copied();
            match machine.step() {
                Ok(None) => {}
                Ok(Some(root)) => {
                    return Ok(Pickle { file: file.to_path_buf(), values: machine.values, root });
                }
                Err(problem) => {
                    let opcode = code.map_or_else(|| "end of file".to_string(), opcode_name);
                    return Err(Error::input(
                        file,
                        format!("byte {start}"),
                        format!("{opcode}: {problem}"),
                        REMEDY,
                    ));
                }
            }
        }
    }
}

/// The texts in a pickled NumPy array of objects with one axis; `None` if it holds, or does, anything else.
pub(super) fn texts(bytes: &[u8]) -> Option<Vec<String>> {
    Pickle::parse(Path::new(""), bytes).ok()?.texts().ok()
}

/// The stack machine.
#[derive(Default)]
struct Machine<'a> {
    bytes: &'a [u8],
    next: usize,
    values: Vec<Value<'a>>,
    stack: Vec<Id>,
    /// Heights of the stack at the marks.
    marks: Vec<usize>,
    memo: HashMap<u32, Id>,
}

/// A problem without its place.
type Step<T> = std::result::Result<T, String>;

impl<'a> Machine<'a> {
    /// Runs one opcode; at the end, what the pickle is.
    fn step(&mut self) -> Step<Option<Id>> {
        let [code] = self.take_array()?;
        match code {
            0x80 => self.check_protocol()?,
            b'.' => return self.stop().map(Some),
            b'(' => self.marks.push(self.stack.len()),
            b'N' => self.push(Value::None),
            0x88 => self.push(Value::Bool(true)),
            0x89 => self.push(Value::Bool(false)),
            b'J' => {
                let number = i32::from_le_bytes(self.take_array()?);
                self.push(Value::Int(number.into()));
            }
            b'K' => {
                let number = u8::from_le_bytes(self.take_array()?);
                self.push(Value::Int(number.into()));
            }
            b'M' => {
                let number = u16::from_le_bytes(self.take_array()?);
                self.push(Value::Int(number.into()));
            }
            b'U' => {
                let length = u8::from_le_bytes(self.take_array()?);
                self.push_bytes(length.into())?;
            }
            b'T' => {
                let length = i32::from_le_bytes(self.take_array()?);
                self.push_bytes(usize::try_from(length).map_err(|_| format!("a string of {length} bytes"))?)?;
            }
            b'C' | 0x8c => {
                let length = u8::from_le_bytes(self.take_array()?);
                self.push_bytes(length.into())?;
            }
            b'X' | b'B' => {
                let length = u32::from_le_bytes(self.take_array()?);
                self.push_bytes(length as usize)?;
            }
            0x94 => self.memoize(self.memo.len() as u32)?,
            0x95 => {
                self.take_array::<8>()?;
            }
            b')' => self.push(Value::Tuple(Vec::new())),
            b']' => self.push(Value::List(Vec::new())),
            b'}' => self.push(Value::Dict(Vec::new())),
            0x85 => self.tuple(1)?,
            0x86 => self.tuple(2)?,
            0x87 => self.tuple(3)?,
            b't' => {
                let items = self.pop_to_mark()?;
                self.push(Value::Tuple(items));
            }
            b'a' => {
                let item = self.pop()?;
                self.list()?.push(item);
            }
            b'e' => {
                let items = self.pop_to_mark()?;
                self.list()?.extend(items);
            }
            b'u' => {
                let items = self.pop_to_mark()?;
                if items.len() % 2 == 1 {
                    return Err("a key without a value".into());
                }
                self.entries()?.extend(items.as_chunks::<2>().0.iter().map(|&[key, value]| (key, value)));
            }
            b'q' => {
                let [key] = self.take_array()?;
                self.memoize(key.into())?;
            }
            b'r' => {
                let key = u32::from_le_bytes(self.take_array()?);
                self.memoize(key)?;
            }
            b'h' => {
                let [key] = self.take_array()?;
                self.recall(key.into())?;
            }
            b'j' => {
                let key = u32::from_le_bytes(self.take_array()?);
                self.recall(key)?;
            }
            b'c' => {
                let (module, name) = (self.take_line()?, self.take_line()?);
                self.push(Value::Global(global(module, name)?));
            }
            0x93 => {
                let (name, module) = (self.pop()?, self.pop()?);
                let (Value::Bytes(module), Value::Bytes(name)) =
                    (&self.values[module as usize], &self.values[name as usize])
                else {
                    return Err("the name of a global is not a string".into());
                };
                let global = global(module, name)?;
                self.push(Value::Global(global));
            }
            b'R' => self.object(&[Global::Reconstruct, Global::Dtype, Global::DefaultDict])?,
            0x81 => self.object(&[Global::CsrMatrix])?,
            b'b' => self.build()?,
            _ => {
                return Err(
                    "this opcode does not occur in Planetoid files or arrays of texts and is not run".into(),
                );
            }
        }
        Ok(None)
    }

    fn take(&mut self, length: usize) -> Step<&'a [u8]> {
        let rest = &self.bytes[self.next..];
        let taken = rest
            .get(..length)
            .ok_or_else(|| format!("{length} bytes are needed, but the file ends after {}", rest.len()))?;
        self.next += length;
        Ok(taken)
    }

    fn take_array<const SIZE: usize>(&mut self) -> Step<[u8; SIZE]> {
        self.take(SIZE).map(|bytes| std::array::from_fn(|place| bytes[place]))
    }

    fn take_line(&mut self) -> Step<&'a [u8]> {
        let rest = &self.bytes[self.next..];
        let length = rest.iter().position(|&byte| byte == b'\n').ok_or("the line has no end")?;
        self.next += length + 1;
        Ok(&rest[..length])
    }

    fn push(&mut self, value: Value<'a>) {
        // The file is smaller than 2^32 bytes and each value takes at least one of them.
        self.stack.push(self.values.len() as Id);
        self.values.push(value);
    }

    fn push_bytes(&mut self, length: usize) -> Step<()> {
        let bytes = self.take(length)?;
        self.push(Value::Bytes(bytes));
        Ok(())
    }

    /// What lies below a mark is out of reach until the mark is gone.
    fn floor(&self) -> usize {
        self.marks.last().copied().unwrap_or(0)
    }

    fn top(&self) -> Step<Id> {
        match self.stack.last() {
            Some(&id) if self.stack.len() > self.floor() => Ok(id),
            _ => Err("the stack is empty".into()),
        }
    }

    fn pop(&mut self) -> Step<Id> {
        let id = self.top()?;
        self.stack.pop();
        Ok(id)
    }

    fn pop_to_mark(&mut self) -> Step<Vec<Id>> {
        let mark = self.marks.pop().ok_or("there is no mark on the stack")?;
        Ok(self.stack.split_off(mark))
    }

    fn tuple(&mut self, size: usize) -> Step<()> {
        if self.stack.len() < self.floor() + size {
            return Err(format!("{size} values are needed on the stack"));
        }
        let items = self.stack.split_off(self.stack.len() - size);
        self.push(Value::Tuple(items));
        Ok(())
    }

    fn list(&mut self) -> Step<&mut Vec<Id>> {
        let id = self.top()?;
        match &mut self.values[id as usize] {
            Value::List(items) => Ok(items),
            other => Err(format!("a list is needed on the stack, found {}", other.kind())),
        }
    }

    fn entries(&mut self) -> Step<&mut Vec<(Id, Id)>> {
        let id = self.top()?;
        let value = &mut self.values[id as usize];
        let kind = value.kind();
        match value {
            Value::Dict(entries) => Ok(entries),
            Value::Object(object) if object.class == Global::DefaultDict => Ok(&mut object.entries),
            _ => Err(format!("a dictionary is needed on the stack, found {kind}")),
        }
    }

    fn memoize(&mut self, key: u32) -> Step<()> {
        let id = self.top()?;
        self.memo.insert(key, id);
        Ok(())
    }

    fn recall(&mut self, key: u32) -> Step<()> {
        let id = *self.memo.get(&key).ok_or(format!("nothing is remembered as {key}"))?;
        self.stack.push(id);
        Ok(())
    }

    fn check_protocol(&mut self) -> Step<()> {
        match self.take_array()? {
            [2..=5] => Ok(()),
            [other] => Err(format!("protocol {other}, but only protocols 2 to 5 are read")),
        }
    }

    /// Records a call of one of the allowed globals.
    fn object(&mut self, allowed: &[Global]) -> Step<()> {
        let arguments = self.pop()?;
        let callee = self.pop()?;
        match self.values[callee as usize] {
            Value::Global(class) if allowed.contains(&class) => {
                let object = Object { class, arguments, state: None, entries: Vec::new() };
                self.push(Value::Object(Box::new(object)));
                Ok(())
            }
            Value::Global(class) => Err(format!("{class:?} is not to be called here")),
            ref other => Err(format!("{} cannot be called", other.kind())),
        }
    }

    fn build(&mut self) -> Step<()> {
        let state = self.pop()?;
        let target = self.top()?;
        match &mut self.values[target as usize] {
            Value::Object(object) => {
                object.state = Some(state);
                Ok(())
            }
            other => Err(format!("{} has no state to be set", other.kind())),
        }
    }

    fn stop(&mut self) -> Step<Id> {
        let root = self.pop()?;
        if !self.stack.is_empty() || !self.marks.is_empty() {
            return Err("there are values left over on the stack".into());
        }
        Ok(root)
    }
}

fn global(module: &[u8], name: &[u8]) -> Step<Global> {
    let known = GLOBALS.iter().find(|g| g.0.as_bytes() == module && g.1.as_bytes() == name);
    known.map(|found| found.2).ok_or_else(|| {
        let [module, name] = [module, name].map(|part| quoted(&String::from_utf8_lossy(part)));
        format!("global {module} {name} is not one of the six that are allowed")
    })
}

impl Value<'_> {
    fn kind(&self) -> String {
        match self {
            Value::None => "None".into(),
            Value::Bool(_) => "a boolean".into(),
            Value::Int(_) => "a number".into(),
            Value::Bytes(_) => "a string".into(),
            Value::Tuple(_) => "a tuple".into(),
            Value::List(_) => "a list".into(),
            Value::Dict(_) => "a dictionary".into(),
            Value::Global(global) => format!("the global {global:?}"),
            Value::Object(object) => format!("an object of {:?}", object.class),
        }
    }
}

/// Python's name of an opcode: those that are run, and those that other pickles are likely to stumble over.
fn opcode_name(code: u8) -> String {
    let name = match code {
        0x80 => "PROTO",
        b'.' => "STOP",
        b'(' => "MARK",
        b'N' => "NONE",
        0x88 => "NEWTRUE",
        0x89 => "NEWFALSE",
        b'J' => "BININT",
        b'K' => "BININT1",
        b'M' => "BININT2",
        b'U' => "SHORT_BINSTRING",
        b'T' => "BINSTRING",
        b')' => "EMPTY_TUPLE",
        b']' => "EMPTY_LIST",
        b'}' => "EMPTY_DICT",
        0x85 => "TUPLE1",
        0x86 => "TUPLE2",
        0x87 => "TUPLE3",
        b't' => "TUPLE",
        b'a' => "APPEND",
        b'e' => "APPENDS",
        b'u' => "SETITEMS",
        b'q' => "BINPUT",
        b'r' => "LONG_BINPUT",
        b'h' => "BINGET",
        b'c' => "GLOBAL",
        b'R' => "REDUCE",
        0x81 => "NEWOBJ",
        b'b' => "BUILD",
        b'i' => "INST",
        b'o' => "OBJ",
        b'P' => "PERSID",
        b'Q' => "BINPERSID",
        0x82..=0x84 => "EXT",
        0x93 => "STACK_GLOBAL",
        0x92 => "NEWOBJ_EX",
        0x94 => "MEMOIZE",
        0x95 => "FRAME",
        b'X' | 0x8c | 0x8d => "BINUNICODE",
        b'B' | b'C' | 0x8e => "BINBYTES",
        b'G' => "BINFLOAT",
        0x8a | 0x8b => "LONG",
        b'j' => "LONG_BINGET",
        _ => "unknown",
    };
    format!("opcode {name} (0x{code:02x})")
}

#[cfg(test)]
pub(super) mod tests;
