//! Where public graphs are kept, so that a bare name such as `cora` finds one.

use std::path::{Component, Path, PathBuf};

use etcetera::base_strategy::{BaseStrategy, choose_native_strategy};

/// The public graphs that can be fetched: the nine of the paper, then four more that the field measures on.
pub const PUBLIC_GRAPHS: [&str; 13] = [
    "texas",
    "cornell",
    "wisconsin",
    "chameleon",
    "squirrel",
    "actor",
    "cora",
    "citeseer",
    "pubmed",
    "chameleon_filtered",
    "squirrel_filtered",
    "minesweeper",
    "tolokers",
];

/// The file of a fetched graph, if `name` is the bare name of one.
pub fn fetched(name: &Path) -> Option<PathBuf> {
    let mut components = name.components();
    let (Some(Component::Normal(bare)), None) = (components.next(), components.next()) else { return None };
    let mut file = bare.to_os_string();
    file.push(".npz");
    cache_folder().map(|folder| folder.join(file)).filter(|path| path.is_file())
}

/// Where fetched graphs are kept: `$LHS_CACHE`, or `lhs` in the platform's folder for such things.
pub fn cache_folder() -> Option<PathBuf> {
    if let Some(named) = std::env::var_os("LHS_CACHE").filter(|folder| !folder.is_empty()) {
        return Some(named.into());
    }
    choose_native_strategy().ok().map(|platform| platform.cache_dir().join("lhs"))
}
