//! The arrows between the modules point one way: each may import only from those on its left.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

/// Each module with the modules that it may import from.
const MAY_IMPORT: &[(&str, &[&str])] = &[
    ("error", &[]),
    ("linalg", &["error"]),
    ("autograd", &["error", "linalg"]),
    ("graph", &["error", "linalg"]),
    ("io", &["error", "linalg", "graph"]),
    ("quality", &["error", "linalg"]),
    ("training", &["error", "linalg", "autograd", "graph", "quality"]),
    ("structure", &["error", "linalg", "autograd", "graph", "io", "training"]),
    ("models", &["error", "linalg", "autograd", "graph", "io", "quality", "training", "structure"]),
    ("attacks", &["error", "linalg", "autograd", "graph", "training", "structure", "models"]),
    ("certify", &["error", "linalg", "graph", "quality", "training", "models"]),
    ("explain", &["error", "linalg", "graph", "training", "structure", "models"]),
    (
        "metrics",
        &[
            "error",
            "linalg",
            "autograd",
            "graph",
            "io",
            "quality",
            "training",
            "structure",
            "models",
            "attacks",
        ],
    ),
    ("cluster", &["error", "linalg", "graph", "training", "structure", "models"]),
    (
        "experiment",
        &[
            "error",
            "linalg",
            "graph",
            "io",
            "training",
            "structure",
            "models",
            "attacks",
            "metrics",
            "cluster",
        ],
    ),
    (
        "report",
        &["error", "linalg", "graph", "training", "structure", "models", "certify", "metrics", "experiment"],
    ),
];

fn source_files(folder: &Path, found: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            source_files(&path, found);
        } else if path.extension().is_some_and(|e| e == "rs") {
            found.push(path);
        }
    }
}

/// The modules named after `crate::` in a file's code, comments aside.
fn imports(text: &str) -> BTreeSet<String> {
    let code = text.lines().filter(|line| !line.trim_start().starts_with("//"));
    let mut found = BTreeSet::new();
    for line in code {
        for (place, _) in line.match_indices("crate::") {
            let rest = &line[place + "crate::".len()..];
            let name: String = rest.chars().take_while(|c| c.is_alphanumeric() || *c == '_').collect();
            found.insert(name);
        }
    }
    found
}

#[test]
fn arrows_point_one_way() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    let mut files = Vec::new();
    source_files(&root, &mut files);
    let mut checked = 0;
    for file in files {
        let relative = file.strip_prefix(&root).unwrap();
        let module = relative.iter().next().unwrap().to_str().unwrap().trim_end_matches(".rs");
        if ["lib", "prelude"].contains(&module) {
            continue;
        }
        let (_, allowed) = MAY_IMPORT
            .iter()
            .find(|(name, _)| *name == module)
            .unwrap_or_else(|| panic!("{module} has no place in the order of the modules: give it one"));
        for import in imports(&fs::read_to_string(&file).unwrap()) {
            // Items re-exported at the root (`crate::Result`) start with a capital.
            let is_module = import.chars().next().is_some_and(char::is_lowercase);
            assert!(
                !is_module || import == module || allowed.contains(&import.as_str()),
                "{}: {module} must not import from {import}",
                relative.display()
            );
            checked += 1;
        }
    }
    assert!(checked > 50, "only {checked} imports found: does the test still read the code?");
}

#[test]
fn imports_are_found_in_code_and_not_in_comments() {
    let text = "use crate::linalg::Mat;\n// crate::models\nlet x = crate::graph::Graph;";
    assert_eq!(imports(text), BTreeSet::from(["graph".to_string(), "linalg".to_string()]));
}
