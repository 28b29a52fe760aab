//! What is said when there is nothing to load under a name.

use std::path::Path;

use super::cache;
use crate::error::Error;

/// No dataset can be loaded from `source`.
pub(super) fn error(source: &Path) -> Error {
    let name = source.to_string_lossy();
    if source.is_dir() {
        return Error::input(source, "", format!("no such dataset: {}", contents(source)), FORMS);
    }
    let here =
        std::env::current_dir().map_or_else(|_| "this folder".into(), |folder| folder.display().to_string());
    let is_name = source.components().count() == 1 && source.extension().is_none();
    let fetched = match cache::cache_folder() {
        Some(folder) if is_name => format!(" and among the fetched graphs in {}", folder.display()),
        _ => String::new(),
    };
    let looked = if source.is_absolute() { String::new() } else { format!(" (looked in {here}{fetched})") };
    let remedy = if cache::PUBLIC_GRAPHS.contains(&name.as_ref()) {
        format!("fetch this public graph first: lhs data fetch {name}")
    } else if let Some(near) = near(&name, &cache::PUBLIC_GRAPHS).filter(|_| is_name) {
        format!("did you mean `{near}`? it is a public graph: lhs data fetch {near}")
    } else if let Some(near) = neighbour(source) {
        format!("did you mean `{near}`?")
    } else {
        FORMS.to_string()
    };
    Error::input(source, "", format!("no such dataset{looked}"), remedy)
}

const FORMS: &str = "give a file (.npz, GraphML, GEXF, MatrixMarket, node-link JSON or a table of edges), a folder with edges.csv, a \
     Geom-GCN or OGB folder, a Planetoid prefix such as data/ind.cora, or the name of a public graph that was fetched (lhs data fetch cora)";

/// The one name that differs by a slip of the fingers.
fn near<'n>(wrong: &str, names: &[&'n str]) -> Option<&'n str> {
    let wrong = wrong.to_lowercase();
    let distance = |name: &str| strsim::osa_distance(&wrong, &name.to_lowercase());
    let best = names.iter().copied().min_by_key(|name| distance(name))?;
    (distance(best) <= (best.chars().count() / 4).max(1)).then_some(best)
}

/// Something of nearly that name in the same folder.
fn neighbour(source: &Path) -> Option<String> {
    let folder = source.parent().filter(|parent| !parent.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let wrong = source.file_name()?.to_string_lossy();
    let names = names_in(folder);
    let near = near(&wrong, &names.iter().map(String::as_str).collect::<Vec<_>>())?;
    Some(source.with_file_name(near).display().to_string())
}

fn contents(folder: &Path) -> String {
    match &names_in(folder)[..] {
        [] => "the folder is empty".to_string(),
        names => {
            let more = if names.len() > 8 { ", …" } else { "" };
            format!("the folder holds {}{more}", names[..names.len().min(8)].join(", "))
        }
    }
}

/// What a folder holds, in the order of names.
fn names_in(folder: &Path) -> Vec<String> {
    let entries = std::fs::read_dir(folder).into_iter().flatten().take(10_000);
    let mut names: Vec<_> = entries.filter_map(|entry| entry.ok()?.file_name().into_string().ok()).collect();
    names.sort();
    names
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn suggestions_are_near_or_there_are_none() {
        assert_eq!(near("croa", &cache::PUBLIC_GRAPHS), Some("cora"));
        assert_eq!(near("Squirel", &cache::PUBLIC_GRAPHS), Some("squirrel"));
        assert_eq!(near("payments", &cache::PUBLIC_GRAPHS), None);
        assert_eq!(near("data", &cache::PUBLIC_GRAPHS), None);
    }

    #[test]
    fn a_known_name_says_how_to_fetch_it_and_where_it_was_looked_for() {
        let message = error(Path::new("cora")).to_string();
        assert!(message.contains("looked in ") && message.ends_with("lhs data fetch cora"), "{message}");
    }

    #[test]
    fn a_file_of_nearly_that_name_is_offered() {
        let folder = tempfile::tempdir().unwrap();
        std::fs::write(folder.path().join("accounts.graphml"), "").unwrap();
        let message = error(&folder.path().join("acounts.graphml")).to_string();
        assert!(message.ends_with("accounts.graphml`?"), "{message}");
        let message = error(folder.path()).to_string();
        assert!(message.contains("no such dataset: the folder holds accounts.graphml"), "{message}");
    }
}
