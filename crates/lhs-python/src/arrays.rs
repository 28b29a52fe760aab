//! NumPy arrays in and out. Python has made sure of types and of rows that stand one after the other; sizes and values are checked here,
//! or by the library.

use std::sync::Arc;

use lhs::graph::{Features, Graph};
use lhs::linalg::{Mat, Pattern, SparseMat};
use lhs::{Error, Result};
use numpy::ndarray::{ArrayView1, ArrayView2};
use numpy::{PyArray1, PyArray2, PyArrayMethods, PyReadonlyArray1, PyReadonlyArray2, PyUntypedArrayMethods};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::IntoPyDict;

use crate::errors::OrRaise;

/// A sparse matrix in rows: where each begins, the column of each entry, its value.
pub type Csr<'py> = (Bound<'py, PyArray1<i64>>, Bound<'py, PyArray1<i32>>, Bound<'py, PyArray1<f32>>);

/// The same from Python, with the number of columns.
pub type CsrIn<'py> =
    (PyReadonlyArray1<'py, i64>, PyReadonlyArray1<'py, i64>, PyReadonlyArray1<'py, f32>, usize);

/// The entries of an array whose rows stand one after the other.
pub fn entries<'a, T: numpy::Element>(array: &'a PyReadonlyArray1<'_, T>) -> PyResult<&'a [T]> {
    array.as_slice().map_err(out_of_order)
}

fn out_of_order(error: impl std::fmt::Display) -> PyErr {
    PyValueError::new_err(error.to_string())
}

/// An array of Python's as entries of a matrix, which keeps it.
struct Kept {
    _array: Py<PyArray2<f32>>,
    entries: *const f32,
    len: usize,
}

// SAFETY: the entries are only read, and the array is only let go, for which any thread will do.
unsafe impl Send for Kept {}
// SAFETY: as above.
unsafe impl Sync for Kept {}

impl AsRef<[f32]> for Kept {
    fn as_ref(&self) -> &[f32] {
        // SAFETY: NumPy does not move the entries of an array that somebody keeps; where they are and how many was asked of it. Whoever
        // writes into them all the same, against what the documentation says, changes numbers that any value is welcome in.
        unsafe { std::slice::from_raw_parts(self.entries, self.len) }
    }
}

/// Dense features, read where they are.
pub fn dense(array: &PyReadonlyArray2<'_, f32>) -> PyResult<Features> {
    let values = array.as_slice().map_err(out_of_order)?;
    let &[rows, columns] = array.shape() else { unreachable!("the array has two dimensions") };
    let kept = Kept { _array: (**array).clone().unbind(), entries: values.as_ptr(), len: values.len() };
    Ok(Features::from_dense(Mat::shared(rows, columns, Arc::new(kept))))
}

/// Sparse features; what is out of place is named.
pub fn sparse((bounds, columns, values, width): &CsrIn<'_>) -> PyResult<Features> {
    let (bounds, columns, values) = (entries(bounds)?, entries(columns)?, entries(values)?);
    pattern(bounds, columns, *width)
        .and_then(|pattern| match values.len() == pattern.nnz() {
            true => Ok(Features::from_sparse(SparseMat::new(pattern.into(), values.to_vec()))),
            false => Err(damaged(format!("{} values for {} entries", values.len(), pattern.nnz()))),
        })
        .or_raise()
}

fn pattern(bounds: &[i64], columns: &[i64], width: usize) -> Result<Pattern> {
    let rising = bounds.windows(2).all(|pair| pair[0] <= pair[1]);
    if bounds.first() != Some(&0) || bounds.last() != Some(&(columns.len() as i64)) || !rising {
        return Err(damaged("its rows do not follow one another".into()));
    }
    let bounds: Vec<usize> = bounds.iter().map(|&bound| bound as usize).collect();
    for row in bounds.windows(2) {
        let row = &columns[row[0]..row[1]];
        if row.windows(2).any(|pair| pair[0] >= pair[1]) {
            return Err(damaged("the columns of a row do not ascend".into()));
        }
        if let Some(outside) = row.iter().find(|&&column| column < 0 || column >= width as i64) {
            return Err(damaged(format!("column {outside} out of range ({width} columns)")));
        }
    }
    let columns = columns.iter().map(|&column| column as u32).collect();
    Ok(Pattern::new(bounds.len() - 1, width, bounds, columns))
}

fn damaged(problem: String) -> Error {
    Error::data(
        format!("the sparse matrix is damaged: {problem}"),
        "build it again, with SciPy's own methods",
    )
}

/// Pairs of nodes; a number that no node can have is named as the library names those that are too large.
pub fn pairs(sources: &[i64], targets: &[i64], num_nodes: usize) -> Result<Vec<(u32, u32)>> {
    if sources.len() != targets.len() {
        return Err(Error::data(
            format!("{} sources for {} targets of edges", sources.len(), targets.len()),
            "give both ends of every edge",
        ));
    }
    let ends = sources.iter().zip(targets).enumerate();
    ends.map(|(edge, (&a, &b))| match (u32::try_from(a), u32::try_from(b)) {
        (Ok(a), Ok(b)) => Ok((a, b)),
        (first, _) => {
            let node = if first.is_err() { a } else { b };
            Err(Error::data(
                format!("edge {edge} ({a}, {b}): node {node} out of range (num_nodes = {num_nodes})"),
                "node numbers start at 0; every end of an edge must be a node",
            ))
        }
    })
    .collect()
}

/// The memory behind an array that Python holds.
#[pyclass(frozen, module = "lhs_graph._lhs")]
struct Held {
    _mat: Mat,
}

/// A matrix for Python, which takes it over without a copy.
pub fn matrix(py: Python<'_>, mut mat: Mat) -> PyResult<Bound<'_, PyArray2<f32>>> {
    let (shape, values) = (mat.shape(), mat.as_mut_slice().as_mut_ptr());
    let owner = Bound::new(py, Held { _mat: mat })?.into_any();
    // SAFETY: the buffer stays where it is while the owner, which nobody else can reach, is kept by the array.
    Ok(unsafe {
        let view = ArrayView2::from_shape_ptr(shape, values);
        PyArray2::borrow_from_array(&view, owner)
    })
}

/// A list that belongs to something that does not change, read-only, without a copy.
pub fn borrowed<'py, T: numpy::Element>(
    values: &[T],
    owner: Bound<'py, PyAny>,
) -> PyResult<Bound<'py, PyArray1<T>>> {
    let py = owner.py();
    // SAFETY: the owner is frozen, so the values stay where they are as long as it lives, which the array makes sure of.
    let array = unsafe { PyArray1::borrow_from_array(&ArrayView1::from(values), owner) };
    read_only(py, array.as_any())?;
    Ok(array)
}

/// The same of a matrix.
pub fn borrowed_matrix<'py>(mat: &Mat, owner: Bound<'py, PyAny>) -> PyResult<Bound<'py, PyArray2<f32>>> {
    let py = owner.py();
    // SAFETY: as for lists.
    let array = unsafe {
        let view = ArrayView2::from_shape_ptr(mat.shape(), mat.as_slice().as_ptr());
        PyArray2::borrow_from_array(&view, owner)
    };
    read_only(py, array.as_any())?;
    Ok(array)
}

fn read_only(py: Python<'_>, array: &Bound<'_, PyAny>) -> PyResult<()> {
    array.call_method("setflags", (), Some(&[("write", false)].into_py_dict(py)?)).map(drop)
}

/// A graph as a sparse matrix: both directions of every undirected edge.
pub fn adjacency<'py>(py: Python<'py>, graph: &Graph) -> Csr<'py> {
    let pattern = graph.adjacency();
    let weights = graph.weights().map_or_else(|| vec![1.0; pattern.nnz()], <[f32]>::to_vec);
    csr(py, pattern, weights)
}

/// A sparse matrix for Python.
pub fn csr<'py>(py: Python<'py>, pattern: &Pattern, values: Vec<f32>) -> Csr<'py> {
    (
        PyArray1::from_iter(py, pattern.indptr().iter().map(|&bound| bound as i64)),
        PyArray1::from_iter(py, pattern.indices().iter().map(|&column| column as i32)),
        PyArray1::from_vec(py, values),
    )
}

/// Pairs as two columns.
pub fn two_columns<'py>(py: Python<'py>, pairs: &[(u32, u32)]) -> PyResult<Bound<'py, PyArray2<i64>>> {
    let flat: Vec<i64> = pairs.iter().flat_map(|&(a, b)| [i64::from(a), i64::from(b)]).collect();
    PyArray1::from_vec(py, flat).reshape([pairs.len(), 2])
}
