//! The Planetoid files `ind.NAME.{x,tx,allx,y,ty,ally,graph,test.index}`: citation graphs as Python pickles.
//!
//! Rows of `allx` and `ally` are the first nodes; row i of `tx` and `ty` is the node on line i of
//! `test.index`. Numbers in that range which `test.index` leaves out (15 in Citeseer) are nodes without
//! any feature. They have no class either, but the fixed Geom-GCN splits contain them, and all published
//! results count them as class 0; so that is what they get here, as in the `.npz` version of the data.
//!
//! The one split is Planetoid's own: the rows of `y` for training, the next 500 for validation, the nodes
//! of `test.index` for testing.
//!
//! `graph` lists the neighbours of each node, undirected: [`LoadOptions::directed`] changes nothing.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use super::LoadOptions;
use super::pickle::{Csr, Pickle};
use crate::error::{Error, Result};
use crate::graph::{Dataset, DatasetParts, Features, Graph, Labels, Repairs, Split};
use crate::linalg::SparseMat;

const ENDINGS: [&str; 8] = ["x", "tx", "allx", "y", "ty", "ally", "graph", "test.index"];
/// Validation nodes of the split that all published results use.
const VALIDATION: usize = 500;

/// Whether `source` looks like this format.
pub fn is_here(source: &Path) -> bool {
    !candidates(source).is_empty()
}

/// Reads a dataset from `FOLDER/ind.NAME`, `FOLDER/NAME`, or a folder with one set of files.
pub fn read(source: &Path, options: &LoadOptions) -> Result<Dataset> {
    let _ = options;
    let files = Files::find(source)?;
    let known = files.matrix("allx")?;
    let tested = files.matrix("tx")?;
    let order = Order::read(&files, known.rows, tested.rows)?;
    let (graph, repairs) = read_graph(&files, &order)?;
    let parts = DatasetParts {
        name: files.name.clone(),
        graph,
        repairs,
        features: features(&files, &order, &known, &tested)?,
        labels: read_labels(&files, &order)?,
        node_ids: None,
        splits: public_split(&files, &order)?.into_iter().collect(),
        details: Default::default(),
    };
    Dataset::new(parts).map_err(|error| error.in_file(source))
}

/// One set of files.
struct Files {
    folder: PathBuf,
    name: String,
}

impl Files {
    fn find(source: &Path) -> Result<Self> {
        match &candidates(source)[..] {
            [(folder, name)] => Ok(Files { folder: folder.clone(), name: name.clone() }),
            [] => Err(Error::input(
                source,
                "",
                "there are no Planetoid files here",
                "give the common beginning of the files, such as data/ind.cora",
            )),
            several => {
                let names: Vec<_> = several.iter().map(|(_, name)| format!("ind.{name}")).collect();
                Err(Error::input(
                    source,
                    "",
                    format!("the folder holds several graphs: {}", names.join(", ")),
                    format!("name one of them, such as {}", source.join(&names[0]).display()),
                ))
            }
        }
    }

    fn path(&self, ending: &str) -> PathBuf {
        self.folder.join(format!("ind.{}.{ending}", self.name))
    }

    fn bytes(&self, ending: &str) -> Result<Vec<u8>> {
        let path = self.path(ending);
        if !path.is_file() {
            return Err(Error::input(
                path,
                "",
                "this file is missing",
                format!("a Planetoid graph needs all of {}", ENDINGS.join(", ")),
            ));
        }
        fs::read(&path).map_err(Error::io("read", &path))
    }

    fn matrix(&self, ending: &str) -> Result<Csr> {
        Pickle::parse(&self.path(ending), &self.bytes(ending)?)?.csr_matrix()
    }

    fn integer_rows(&self, ending: &str) -> Result<Vec<Vec<i64>>> {
        Pickle::parse(&self.path(ending), &self.bytes(ending)?)?.integer_rows()
    }

    fn lists(&self, ending: &str) -> Result<Vec<(i64, Vec<i64>)>> {
        Pickle::parse(&self.path(ending), &self.bytes(ending)?)?.lists()
    }

    fn error(&self, ending: &str, place: impl Into<String>, problem: String) -> Error {
        Error::input(self.path(ending), place, problem, "the files do not belong together; get them again")
    }
}

/// The sets of files that `source` may mean, as folder and name.
fn candidates(source: &Path) -> Vec<(PathBuf, String)> {
    if source.is_dir() {
        let mut names = BTreeSet::new();
        for entry in fs::read_dir(source).into_iter().flatten().flatten() {
            let file = entry.file_name().to_string_lossy().into_owned();
            let name =
                ENDINGS.iter().find_map(|e| file.strip_prefix("ind.")?.strip_suffix(e)?.strip_suffix('.'));
            names.extend(name.filter(|name| !name.is_empty()).map(String::from));
        }
        return names.into_iter().map(|name| (source.to_path_buf(), name)).collect();
    }
    let Some(name) = source.file_name() else { return Vec::new() };
    let name = name.to_string_lossy();
    let files = Files {
        folder: source.parent().unwrap_or(Path::new("")).to_path_buf(),
        name: name.strip_prefix("ind.").unwrap_or(&name).to_string(),
    };
    match ENDINGS.iter().any(|ending| files.path(ending).is_file()) {
        true => vec![(files.folder, files.name)],
        false => Vec::new(),
    }
}

/// Which row of which file is which node.
struct Order {
    num_known: usize,
    /// The node of each row of `tx`.
    tested: Vec<u32>,
    num_nodes: usize,
}

impl Order {
    fn read(files: &Files, num_known: usize, num_tested: usize) -> Result<Self> {
        let text = String::from_utf8_lossy(&files.bytes("test.index")?).into_owned();
        let mut seen = BTreeSet::new();
        let mut tested = Vec::new();
        for (number, line) in (1..).zip(text.lines()).filter(|(_, line)| !line.trim().is_empty()) {
            let node = line.trim().parse::<u32>().ok().filter(|&node| node as usize >= num_known);
            match node {
                Some(node) if seen.insert(node) => tested.push(node),
                _ => {
                    let problem =
                        format!("{:?} is not a new node above those of allx ({num_known})", cut(line));
                    return Err(files.error("test.index", format!("line {number}"), problem));
                }
            }
        }
        if tested.len() != num_tested {
            let problem = format!("{} test nodes, but tx has {num_tested} rows", tested.len());
            return Err(files.error("test.index", "", problem));
        }
        let num_nodes = seen.last().map_or(num_known, |&last| last as usize + 1);
        Ok(Order { num_known, tested, num_nodes })
    }

    /// Every row of the two parts, with its node.
    fn nodes(&self) -> (impl Iterator<Item = (usize, u32)>, impl Iterator<Item = (usize, u32)> + '_) {
        ((0..self.num_known).map(|row| (row, row as u32)), self.tested.iter().copied().enumerate())
    }
}

fn cut(line: &str) -> String {
    line.chars().take(40).collect()
}

/// Each edge is listed at both of its ends, which is no double edge; twice in one list is.
fn read_graph(files: &Files, order: &Order) -> Result<(Graph, Repairs)> {
    let num_nodes = order.num_nodes;
    let lists = files.lists("graph")?;
    if lists.len() < num_nodes {
        let problem = format!("{} nodes, but test.index goes up to node {}", lists.len(), num_nodes - 1);
        return Err(files.error("graph", "", problem));
    }
    let mut repairs = Repairs::default();
    let mut edges = Vec::new();
    for (node, mut neighbours) in lists {
        neighbours.sort_unstable();
        let listed = neighbours.len();
        neighbours.dedup();
        repairs.duplicates += listed - neighbours.len();
        for neighbour in neighbours {
            match [node, neighbour].map(|end| u32::try_from(end).ok().filter(|&e| (e as usize) < num_nodes)) {
                [Some(a), Some(b)] if a == b => repairs.self_loops += 1,
                [Some(a), Some(b)] => edges.push((a.min(b), a.max(b))),
                _ => {
                    let problem =
                        format!("edge ({node}, {neighbour}) out of range (num_nodes = {num_nodes})");
                    return Err(files.error("graph", "", problem));
                }
            }
        }
    }
    edges.sort_unstable();
    edges.dedup();
    let (graph, _) = Graph::from_edges(num_nodes, &edges).map_err(|e| e.in_file(&files.path("graph")))?;
    Ok((graph, repairs))
}

fn features(files: &Files, order: &Order, known: &Csr, tested: &Csr) -> Result<Features> {
    if known.cols != tested.cols {
        let problem = format!("{} columns, but allx has {}", tested.cols, known.cols);
        return Err(files.error("tx", "", problem));
    }
    let (known_nodes, tested_nodes) = order.nodes();
    let mut triplets = Vec::with_capacity(known.values.len() + tested.values.len());
    for (row, node) in known_nodes {
        triplets.extend(known.row(row).map(|(col, value)| (node, col, value)));
    }
    for (row, node) in tested_nodes {
        triplets.extend(tested.row(row).map(|(col, value)| (node, col, value)));
    }
    Ok(Features::from_sparse(SparseMat::from_triplets(order.num_nodes, known.cols, triplets)))
}

fn read_labels(files: &Files, order: &Order) -> Result<Labels> {
    let known = files.integer_rows("ally")?;
    let tested = files.integer_rows("ty")?;
    for (ending, found, expected) in
        [("ally", known.len(), order.num_known), ("ty", tested.len(), order.tested.len())]
    {
        if found != expected {
            return Err(files.error(ending, "", format!("{found} rows, but there are {expected} nodes")));
        }
    }
    let mut classes = vec![Some(0); order.num_nodes];
    let (known_nodes, tested_nodes) = order.nodes();
    for (row, node) in known_nodes {
        classes[node as usize] = Some(class(&known[row]));
    }
    for (row, node) in tested_nodes {
        classes[node as usize] = Some(class(&tested[row]));
    }
    let num_classes = known.iter().chain(&tested).map(Vec::len).max().unwrap_or(0);
    let names = (0..num_classes).map(|class| class.to_string()).collect();
    Labels::new(classes, names).map_err(|error| error.in_file(&files.path("ally")))
}

/// The first of the largest entries, as NumPy's argmax has it.
fn class(row: &[i64]) -> u32 {
    let largest = row.iter().max();
    row.iter().position(|entry| Some(entry) == largest).unwrap_or(0) as u32
}

/// Planetoid's split; none when the data is too small to have validation nodes.
fn public_split(files: &Files, order: &Order) -> Result<Option<Split>> {
    let num_train = files.integer_rows("y")?.len();
    let rows = files.matrix("x")?.rows;
    if rows != num_train || num_train > order.num_known {
        let known = order.num_known;
        return Err(files.error("x", "", format!("{rows} rows, but y has {num_train} and allx {known}")));
    }
    let end_val = (num_train + VALIDATION).min(order.num_known);
    let (train, val) =
        ((0..num_train as u32).collect(), (num_train as u32..end_val as u32).collect::<Vec<_>>());
    let mut test = order.tested.clone();
    test.sort_unstable();
    let complete = num_train > 0 && !val.is_empty() && !test.is_empty();
    Ok(complete.then_some(Split { train, val, test }))
}

#[cfg(test)]
mod tests;
