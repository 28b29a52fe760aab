//! What a pickle holds, looked at as NumPy arrays, SciPy matrices and Python's dictionaries of lists.

use super::{Global, Id, Object, Pickle, REMEDY, Value};
use crate::error::{Error, Result};
use crate::io::npy::{Dtype, Element, Header, Reader};

/// A sparse matrix, checked: bounds ascend, columns are in range.
#[derive(Debug, PartialEq)]
pub(in crate::io) struct Csr {
    pub rows: usize,
    pub cols: usize,
    pub indptr: Vec<usize>,
    pub indices: Vec<u32>,
    pub values: Vec<f32>,
}

impl Csr {
    /// Columns and values of one row, in the order of the file.
    pub fn row(&self, row: usize) -> impl Iterator<Item = (u32, f32)> + '_ {
        let range = self.indptr[row]..self.indptr[row + 1];
        self.indices[range.clone()].iter().copied().zip(self.values[range].iter().copied())
    }
}

impl<'a> Pickle<'a> {
    /// The pickle as a `scipy.sparse.csr_matrix`.
    pub fn csr_matrix(&self) -> Result<Csr> {
        let object = self.object(self.root, Global::CsrMatrix)?;
        let state = object.state.ok_or_else(|| self.problem("the matrix is empty"))?;
        let Value::Dict(state) = self.value(state) else {
            return Err(self.expected("the fields of a matrix", state));
        };
        let field = |name: &str| {
            let is_it = |key: Id| matches!(self.value(key), Value::Bytes(bytes) if *bytes == name.as_bytes());
            let found = state.iter().rev().find(|(key, _)| is_it(*key)).map(|(_, value)| *value);
            found.ok_or_else(|| self.problem(format!("the matrix has no `{name}`")))
        };
        let (rows, cols) = match self.lengths(field("_shape")?)?[..] {
            [rows, cols] if u32::try_from(cols).is_ok() => (rows, cols),
            _ => return Err(self.problem("`_shape` is not that of a matrix")),
        };
        let (_, indptr) = self.array::<i64>(field("indptr")?)?;
        let (_, indices) = self.array::<i64>(field("indices")?)?;
        let (_, values) = self.array::<f32>(field("data")?)?;
        let closed = indptr.first() == Some(&0) && indptr.last() == Some(&(indices.len() as i64));
        if !closed || !indptr.is_sorted() || indptr.len() - 1 != rows || values.len() != indices.len() {
            let (bounds, entries) = (indptr.len(), indices.len());
            return Err(self.problem(format!(
                "{bounds} bounds, {entries} columns and {} values do not make {rows} rows",
                values.len()
            )));
        }
        if let Some(col) = indices.iter().find(|col| !(0..cols as i64).contains(col)) {
            return Err(self.problem(format!("column {col} out of range (columns = {cols})")));
        }
        let indptr = indptr.into_iter().map(|bound| bound as usize).collect();
        let indices = indices.into_iter().map(|col| col as u32).collect();
        Ok(Csr { rows, cols, indptr, indices, values })
    }

    /// The pickle as a two-dimensional `numpy.ndarray` of whole numbers: its rows.
    pub fn integer_rows(&self) -> Result<Vec<Vec<i64>>> {
        let (shape, values) = self.array::<i64>(self.root)?;
        match shape[..] {
            [_, cols] if cols > 0 => Ok(values.chunks(cols).map(<[i64]>::to_vec).collect()),
            _ => Err(self.problem("a table with one row per node is needed")),
        }
    }

    /// The pickle as a `defaultdict(list)` of numbers.
    pub fn lists(&self) -> Result<Vec<(i64, Vec<i64>)>> {
        let object = self.object(self.root, Global::DefaultDict)?;
        // Each number stands in the file once; a list that is referred to again and again could unfold into far
        // more than the file has.
        let mut left = self.values.len();
        let list = |&(key, value): &(Id, Id)| {
            let Value::List(items) = self.value(value) else { return Err(self.expected("a list", value)) };
            left = left.checked_sub(items.len()).ok_or_else(|| self.problem("a list is repeated"))?;
            let items = items.iter().map(|&item| self.int(item)).collect::<Result<_>>()?;
            Ok((self.int(key)?, items))
        };
        object.entries.iter().map(list).collect()
    }

    /// The pickle as a one-dimensional `numpy.ndarray` of texts.
    pub fn texts(&self) -> Result<Vec<String>> {
        let object = self.object(self.root, Global::Reconstruct)?;
        let [_version, shape, _dtype, _fortran, items] = self.state(self.root, object)?;
        let Value::List(items) = self.value(items) else { return Err(self.expected("a list", items)) };
        if self.lengths(shape)? != [items.len()] {
            return Err(self.problem("the list has not the length of the array"));
        }
        // A text that is referred to again and again could unfold into far more than the file has.
        let mut left = 64 * self.values.len();
        let text = |&item: &Id| {
            let bytes = self.bytes(item)?;
            left = left.checked_sub(bytes.len() / 16).ok_or_else(|| self.problem("a text is repeated"))?;
            String::from_utf8(bytes.to_vec()).map_err(|_| self.problem("a text is not UTF-8"))
        };
        items.iter().map(text).collect()
    }

    /// Shape and elements (row after row) of an array.
    fn array<T: Element>(&self, id: Id) -> Result<(Vec<usize>, Vec<T>)> {
        let object = self.object(id, Global::Reconstruct)?;
        let [_version, shape, dtype, fortran, data] = self.state(id, object)?;
        let Value::Bool(fortran) = *self.value(fortran) else {
            return Err(self.expected("true or false", fortran));
        };
        let shape = self.lengths(shape)?;
        if shape.len() > 2 {
            return Err(self.problem("an array has more than two axes"));
        }
        let elements = Header::new(self.dtype(dtype)?, fortran, shape.clone())
            .and_then(|header| Reader::bare(header, self.bytes(data)?).into_vec());
        Ok((shape, elements.map_err(|error| error.in_file(&self.file))?))
    }

    fn dtype(&self, id: Id) -> Result<Dtype> {
        let object = self.object(id, Global::Dtype)?;
        let [_version, order, ..]: [Id; 8] = self.state(id, object)?;
        let [name, ..]: [Id; 3] = self.tuple(object.arguments)?;
        let name = [self.bytes(order)?, self.bytes(name)?].concat();
        Dtype::parse(&String::from_utf8_lossy(&name)).map_err(|error| error.in_file(&self.file))
    }

    fn value(&self, id: Id) -> &Value<'a> {
        &self.values[id as usize]
    }

    fn object(&self, id: Id, class: Global) -> Result<&Object> {
        match self.value(id) {
            Value::Object(object) if object.class == class => Ok(object),
            _ => Err(self.expected(&format!("an object of {class:?}"), id)),
        }
    }

    fn state<const SIZE: usize>(&self, id: Id, object: &Object) -> Result<[Id; SIZE]> {
        self.tuple(object.state.ok_or_else(|| self.expected("an object with its state", id))?)
    }

    fn tuple<const SIZE: usize>(&self, id: Id) -> Result<[Id; SIZE]> {
        let items = match self.value(id) {
            Value::Tuple(items) => items.as_slice().try_into().ok(),
            _ => None,
        };
        items.ok_or_else(|| self.expected(&format!("a tuple of {SIZE}"), id))
    }

    fn lengths(&self, id: Id) -> Result<Vec<usize>> {
        let Value::Tuple(items) = self.value(id) else { return Err(self.expected("a shape", id)) };
        let length =
            |&item: &Id| usize::try_from(self.int(item)?).map_err(|_| self.expected("a length", item));
        items.iter().map(length).collect()
    }

    fn int(&self, id: Id) -> Result<i64> {
        match *self.value(id) {
            Value::Int(number) => Ok(number),
            _ => Err(self.expected("a number", id)),
        }
    }

    fn bytes(&self, id: Id) -> Result<&'a [u8]> {
        match *self.value(id) {
            Value::Bytes(bytes) => Ok(bytes),
            _ => Err(self.expected("a string", id)),
        }
    }

    fn expected(&self, what: &str, id: Id) -> Error {
        self.problem(format!("{what} is needed, found {}", self.value(id).kind()))
    }

    fn problem(&self, problem: impl Into<String>) -> Error {
        Error::input(&self.file, "", problem, REMEDY)
    }
}
