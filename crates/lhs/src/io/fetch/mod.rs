//! Public graphs by name, brought over the network once and kept.
//!
//! Every file is pinned by its SHA-256 ([`pinned`]) and downloaded next to its place, so under its final
//! name a file is always whole and right. One process at a time fetches a graph into a folder: it holds the
//! lock file `.NAME.lock`, others wait for it and then find the graph there.

mod catalogue;
mod download;
pub mod pinned;

use std::borrow::Cow;
use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::time::Duration;

use serde::Serialize;

use super::{LoadOptions, geom_gcn, npz, planetoid};
use crate::error::{Error, Result};
pub use catalogue::NAMES;
use catalogue::{Parts, parts, url};

/// A file with the bytes it must have.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PinnedFile {
    /// Its path in a mirror, such as `texas.npz`.
    pub path: Cow<'static, str>,
    /// Its size.
    pub bytes: u64,
    /// Its SHA-256, in lower-case hexadecimal.
    pub sha256: Cow<'static, str>,
}

/// How far a download is.
#[derive(Clone, Copy, Debug)]
pub struct Progress<'a> {
    /// The file's path in a mirror.
    pub file: &'a str,
    /// Bytes on disk.
    pub done: u64,
    /// Bytes in all.
    pub total: u64,
}

/// A graph that is there.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Fetched {
    /// Its name.
    pub name: String,
    /// Its file.
    pub path: PathBuf,
    /// Bytes that came over the network; 0 if it was there already.
    pub downloaded: u64,
}

/// Where graphs are fetched from and to.
#[derive(Clone, Debug)]
pub struct Fetcher {
    /// The folder they are kept in.
    pub dest: PathBuf,
    /// A place to ask instead of the files' homes: `MIRROR/texas.npz`, `MIRROR/raw/planetoid/ind.cora.x`,
    /// `MIRROR/raw/geom-gcn/splits/cora_split_0.6_0.2_0.npz`.
    pub mirror: Option<String>,
    /// The bytes that every file must have.
    pub files: Cow<'static, [PinnedFile]>,
    /// How often a failing download is tried, at least once.
    pub attempts: u32,
    /// The pause before the second attempt; it doubles before each of the next.
    pub backoff: Duration,
    /// How long the network may be silent.
    pub timeout: Duration,
}

impl Fetcher {
    /// From the files' homes to a folder, with patience for an ordinary network.
    pub fn new(dest: impl Into<PathBuf>) -> Self {
        Fetcher {
            dest: dest.into(),
            mirror: None,
            files: Cow::Borrowed(pinned::FILES),
            attempts: 4,
            backoff: Duration::from_millis(500),
            timeout: Duration::from_secs(30),
        }
    }

    /// Makes sure that a graph is in the folder, as `NAME.npz`, and tells `watch` how it goes.
    pub fn fetch(&self, name: &str, watch: &mut dyn FnMut(Progress)) -> Result<Fetched> {
        let parts = parts(name)?;
        fs::create_dir_all(&self.dest).map_err(Error::io("create", &self.dest))?;
        let _lock = self.lock(name)?;
        let path = self.dest.join(format!("{name}.npz"));
        let downloaded = match parts {
            Parts::Npz(file) => self.bring(&file, watch)?,
            // Written in one go by ourselves, so if it is there, it is whole.
            Parts::Planetoid(_) if path.is_file() => 0,
            Parts::Planetoid(files) => {
                let mut downloaded = 0;
                for file in files {
                    downloaded += self.bring(&file, watch)?;
                }
                assemble(&self.dest, name, &path)?;
                downloaded
            }
        };
        Ok(Fetched { name: name.to_string(), path, downloaded })
    }

    /// Downloads a file, unless it is there and right.
    fn bring(&self, path: &str, watch: &mut dyn FnMut(Progress)) -> Result<u64> {
        let file = self.files.iter().find(|file| file.path == path).ok_or_else(|| {
            Error::data(format!("no SHA-256 is known for {path}"), "add the file to the pinned ones")
        })?;
        let target = self.dest.join(path);
        if target.is_file() && download::sha256(&target)? == *file.sha256 {
            return Ok(0);
        }
        download::download(self, file, url(path, self.mirror.as_deref()), &target, watch)
    }

    /// Waits until no other process fetches this graph; the lock ends with the file handle.
    fn lock(&self, name: &str) -> Result<File> {
        let path = self.dest.join(format!(".{name}.lock"));
        let file = File::create(&path).map_err(Error::io("create", &path))?;
        match file.lock() {
            // Some network disks know no locks. The hashes still keep wrong bytes out.
            Err(error) if error.kind() != std::io::ErrorKind::Unsupported => {
                Err(Error::io("lock", &path)(error))
            }
            _ => Ok(file),
        }
    }
}

/// Puts a Planetoid graph together with the fixed splits that everybody measures on.
fn assemble(dest: &Path, name: &str, target: &Path) -> Result<()> {
    let prefix = dest.join(catalogue::PLANETOID_FOLDER).join(format!("ind.{name}"));
    let dataset = planetoid::read(&prefix, &LoadOptions::default())?;
    let splits = geom_gcn::read_splits(&dest.join(catalogue::SPLITS_FOLDER), name, dataset.num_nodes())?;
    npz::write(&dataset.with_splits(splits)?, target, npz::FeatureLayout::default())
}
