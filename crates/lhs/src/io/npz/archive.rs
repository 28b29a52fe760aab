//! The arrays in a zip archive, by name.

use std::fs::File;
use std::io::BufReader;
use std::path::{Path, PathBuf};

use zip::ZipArchive;
use zip::read::ZipFile;

use crate::error::{Error, Result};
use crate::graph::Split;
use crate::io::npy;

/// An open archive. Every error that it returns names the file, and the member if there is one.
pub(in crate::io) struct Archive {
    path: PathBuf,
    zip: ZipArchive<BufReader<File>>,
}

/// How several masks stand in one array.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(in crate::io) enum MaskShape {
    /// One row per mask.
    SplitsNodes,
    /// One column per mask, as PyTorch Geometric has them.
    NodesSplits,
}

/// An array inside an archive.
pub(in crate::io) type Member<'a> = npy::Reader<ZipFile<'a, BufReader<File>>>;

impl Archive {
    pub fn open(path: &Path) -> Result<Self> {
        let file = File::open(path).map_err(Error::io("read", path))?;
        let zip = ZipArchive::new(BufReader::new(file)).map_err(|error| {
            Error::input(
                path,
                "",
                format!("this is not a whole .npz file: {error}"),
                "get the file again, or write it with numpy.savez_compressed",
            )
        })?;
        Ok(Archive { path: path.to_path_buf(), zip })
    }

    pub fn has(&self, member: &str) -> bool {
        self.zip.index_for_name(&format!("{member}.npy")).is_some()
    }

    /// Opens a member and hands it over; whatever goes wrong there is said to be wrong in this member.
    pub fn with<T>(&mut self, member: &str, take: impl FnOnce(Member<'_>) -> Result<T>) -> Result<T> {
        if !self.has(member) {
            return Err(self.missing(member));
        }
        let opened = self.zip.by_name(&format!("{member}.npy")).map_err(|error| {
            Error::data(format!("it cannot be opened: {error}"), "the file is damaged; get it again")
        });
        let result = opened.and_then(|entry| {
            let size = entry.size();
            npy::Reader::open(entry, size).and_then(take)
        });
        result.map_err(|error| self.locate(error, member))
    }

    /// Texts, or whole numbers as texts, one per element; or why they cannot be had.
    pub fn texts(&mut self, member: &str) -> Result<Vec<String>> {
        let opened = self.zip.by_name(&format!("{member}.npy"));
        let opened = opened
            .map_err(|error| Error::data(format!("it cannot be opened: {error}"), "get the file again"));
        let texts = opened.and_then(|entry| {
            let size = entry.size();
            npy::texts::read(entry, size)
        });
        match texts.map_err(|error| self.locate(error, member))? {
            Some(texts) => Ok(texts),
            None => Ok(self.integers(member, &[None], "[names]")?.iter().map(i64::to_string).collect()),
        }
    }

    /// Whole numbers in an array of this shape, row after row.
    pub fn integers(&mut self, member: &str, shape: &[Option<usize>], meaning: &str) -> Result<Vec<i64>> {
        self.with(member, |array| {
            array.expect_shape(shape, meaning)?;
            array.into_vec()
        })
    }

    /// Splits from three members with masks, `[nodes]` or [several of them](MaskShape); none when there are no such members.
    pub fn splits(&mut self, members: [&str; 3], shape: MaskShape, num_nodes: usize) -> Result<Vec<Split>> {
        if num_nodes == 0 || !members.iter().any(|member| self.has(member)) {
            return Ok(Vec::new());
        }
        let train = self.masks(members[0], shape, num_nodes)?;
        let val = self.masks(members[1], shape, num_nodes)?;
        let test = self.masks(members[2], shape, num_nodes)?;
        for (member, masks) in [(members[1], &val), (members[2], &test)] {
            if masks.len() != train.len() {
                let problem = format!("{} masks, but {} has {}", masks.len(), members[0], train.len());
                let remedy = "give one training, validation and test mask per split";
                return Err(self.locate(Error::data(problem, remedy), member));
            }
        }
        let parts = train.into_iter().zip(val).zip(test);
        Ok(parts.map(|((train, val), test)| Split { train, val, test }).collect())
    }

    /// The nodes that each mask selects.
    fn masks(&mut self, member: &str, of_many: MaskShape, num_nodes: usize) -> Result<Vec<Vec<u32>>> {
        self.with(member, |array| {
            let (shape, fortran) = (&array.header().shape, array.header().fortran);
            let (axis, expected, meaning) = match of_many {
                MaskShape::SplitsNodes => (0, [None, Some(num_nodes)], "[nodes] or [splits, nodes]"),
                MaskShape::NodesSplits => (1, [Some(num_nodes), None], "[nodes] or [nodes, splits]"),
            };
            let num_masks = if shape.len() == 2 { shape[axis] } else { 1 };
            match shape.len() {
                1 => array.expect_shape(&[Some(num_nodes)], "[nodes]")?,
                _ => array.expect_shape(&expected, meaning)?,
            }
            // Whether the masks of a node stand together, and not the nodes of a mask.
            let by_node = shape.len() == 2 && fortran != (of_many == MaskShape::NodesSplits);
            let mut masks: Vec<Vec<u32>> = Vec::new();
            let mut place = 0usize;
            array.stream(|values: &[i64]| {
                for &value in values {
                    let (mask, node) = if by_node {
                        (place % num_masks, place / num_masks)
                    } else {
                        (place / num_nodes, place % num_nodes)
                    };
                    // Masks are added as their data arrives, not on the word of the header.
                    if mask == masks.len() {
                        masks.push(Vec::new());
                    }
                    match value {
                        0 => {}
                        1 => masks[mask].push(node as u32),
                        _ => return Err(not_a_mask(value, node)),
                    }
                    place += 1;
                }
                Ok(())
            })?;
            Ok(masks)
        })
    }

    /// Says where data turned out to be wrong.
    pub fn locate(&self, error: Error, member: &str) -> Error {
        match error {
            Error::Data { problem, remedy } => {
                Error::input(&self.path, format!("member {member}"), problem, remedy)
            }
            other => other,
        }
    }

    /// An error that says what is there instead.
    pub fn missing(&self, member: &str) -> Error {
        let names = self.zip.file_names_raw().take(20).map(|name| String::from_utf8_lossy(name));
        let names = names.map(|name| name.trim_end_matches(".npy").escape_debug().to_string());
        let names = names.collect::<Vec<_>>().join(", ");
        let names = if names.is_empty() { "nothing".to_string() } else { names };
        let error = Error::data(
            format!("it is missing; the file holds {names}"),
            format!("add the array `{member}`, or check that this is the right file"),
        );
        self.locate(error, member)
    }
}

fn not_a_mask(value: i64, node: usize) -> Error {
    Error::data(
        format!("the mask holds {value} for node {node}"),
        "masks say 1 (true) or 0 (false) for each node; lists of node numbers are not masks",
    )
}
