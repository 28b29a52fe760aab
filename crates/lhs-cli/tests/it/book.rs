//! The README and the book: their commands run, their links lead somewhere, and no page is forgotten.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// All Markdown pages of the book, and those at the root.
fn pages() -> Vec<PathBuf> {
    let mut found: Vec<PathBuf> =
        ["README.md", "CONTRIBUTING.md", "CHANGELOG.md"].map(|name| root().join(name)).into();
    let mut folders = vec![root().join("book/src")];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                folders.push(path);
            } else if path.extension().is_some_and(|ending| ending == "md") {
                found.push(path);
            }
        }
    }
    found.sort();
    assert!(found.len() > 25, "does the test still find the book?");
    found
}

/// The lines of a page, each with the fence that it stands in, if any: the word behind the backticks.
fn lines(text: &str) -> Vec<(Option<String>, &str)> {
    let mut fence: Option<String> = None;
    let mut found = Vec::new();
    for line in text.lines() {
        match (line.strip_prefix("```"), &fence) {
            (Some(_), Some(_)) => fence = None,
            (Some(language), None) => fence = Some(language.trim().to_string()),
            (None, _) => found.push((fence.clone(), line)),
        }
    }
    assert!(fence.is_none(), "a fence is not closed");
    found
}

/// Runs the `sh` fences of a page, in order, in an empty folder, with `lhs` on the path.
fn run(page: &Path) {
    let text = fs::read_to_string(page).unwrap();
    let commands: Vec<&str> = lines(&text)
        .into_iter()
        .filter(|(fence, _)| fence.as_deref() == Some("sh"))
        .map(|(_, line)| line)
        .collect();
    if commands.is_empty() {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let binary = Path::new(env!("CARGO_BIN_EXE_lhs"));
    let path =
        format!("{}:{}", binary.parent().unwrap().display(), std::env::var("PATH").unwrap_or_default());
    let output = Command::new("bash")
        .args(["-eu", "-o", "pipefail", "-c", &commands.join("\n")])
        .current_dir(folder.path())
        .env("PATH", path)
        .env("LHS_CACHE", folder.path().join("cache"))
        .output()
        .unwrap();
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{}: {said}", page.display());
}

#[test]
#[cfg(unix)]
fn every_command_of_the_readme_and_the_guide_runs() {
    pages().iter().for_each(|page| run(page));
}

/// The anchor of a heading, as mdBook and GitHub make it.
fn anchor(heading: &str) -> String {
    let kept = heading.trim().chars().filter(|c| c.is_alphanumeric() || " -_".contains(*c));
    kept.map(|c| if c == ' ' { '-' } else { c.to_ascii_lowercase() }).collect()
}

fn anchors(page: &Path) -> BTreeSet<String> {
    let text = fs::read_to_string(page).unwrap();
    let headings = lines(&text).into_iter().filter(|(fence, line)| fence.is_none() && line.starts_with('#'));
    headings.map(|(_, line)| anchor(line.trim_start_matches('#'))).collect()
}

/// The targets of the links of a page, code aside.
fn links(text: &str) -> Vec<String> {
    let outside: Vec<&str> =
        lines(text).into_iter().filter(|(fence, _)| fence.is_none()).map(|(_, line)| line).collect();
    let text = outside.join("\n");
    // Every second piece between backticks is code.
    let prose: String =
        text.split('`').enumerate().filter(|(n, _)| n % 2 == 0).map(|(_, piece)| piece).collect();
    let ends = prose.match_indices("](").map(|(place, _)| &prose[place + 2..]);
    ends.filter_map(|rest| Some(rest.split_once(')')?.0.to_string())).collect()
}

#[test]
fn every_link_leads_somewhere() {
    let mut checked = 0;
    for page in pages() {
        let text = fs::read_to_string(&page).unwrap();
        for link in links(&text).iter().filter(|link| !link.contains("://")) {
            let (file, heading) = link.split_once('#').unwrap_or((link, ""));
            let target = if file.is_empty() { page.clone() } else { page.parent().unwrap().join(file) };
            assert!(target.exists(), "{}: {link} leads nowhere", page.display());
            let known = heading.is_empty() || anchors(&target).contains(heading);
            assert!(known, "{}: there is no heading for {link}", page.display());
            checked += 1;
        }
    }
    assert!(checked > 50, "only {checked} links found: does the test still read the book?");
}

#[test]
fn every_page_of_the_book_is_in_its_summary() {
    let source = root().join("book/src");
    let summary = fs::read_to_string(source.join("SUMMARY.md")).unwrap();
    let named: BTreeSet<PathBuf> = links(&summary).iter().map(|link| source.join(link)).collect();
    for page in pages().into_iter().filter(|page| page.starts_with(&source) && !page.ends_with("SUMMARY.md"))
    {
        assert!(named.contains(&page), "{} is not in SUMMARY.md", page.display());
    }
}

#[test]
fn the_readme_is_short() {
    let text = fs::read_to_string(root().join("README.md")).unwrap();
    assert!(text.lines().count() <= 120, "the README has {} lines", text.lines().count());
}

#[test]
fn every_model_attack_and_suite_is_in_the_reference() {
    let read = |page: &str| fs::read_to_string(root().join("book/src/reference").join(page)).unwrap();
    let (models, attacks) = (read("models.md"), read("attacks.md"));
    for kind in lhs::models::kinds() {
        assert!(models.contains(&format!("`{}`", kind.name)), "the reference has no model {}", kind.name);
    }
    for kind in lhs::attacks::kinds() {
        assert!(attacks.contains(&format!("`{}`", kind.name)), "the reference has no attack {}", kind.name);
    }
    let suites = read("suites.md");
    for (name, _) in lhs::experiment::shipped::SUITES {
        assert!(suites.contains(&format!("`{name}`")), "the reference has no suite {name}");
    }
}
