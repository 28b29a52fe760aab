//! Settings files, edited in place: one section is replaced, every other byte stays as it was.

use std::ops::Range;
use std::path::Path;

use toml::de::DeTable;
use toml::{Table, Value};

use crate::error::{Error, Result};
use crate::io::atomic;

/// Writes the section `[MODEL]`, with comment lines above it, into a settings file that may be there already.
pub fn write_section(file: &Path, model: &str, comments: &[String], settings: &Table) -> Result<()> {
    let old = match std::fs::read_to_string(file) {
        Ok(text) => text,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => String::new(),
        Err(error) => return Err(Error::io("read", file)(error)),
    };
    let new = with_section(&old, model, comments, settings).map_err(|error| error.in_file(file))?;
    if let Some(folder) = file.parent().filter(|folder| !folder.as_os_str().is_empty()) {
        std::fs::create_dir_all(folder).map_err(Error::io("create", folder))?;
    }
    atomic::write_bytes(file, new.as_bytes())
}

/// The text with the section `[MODEL]` (and the comment lines right above it) replaced, or added at the end.
pub fn with_section(text: &str, model: &str, comments: &[String], settings: &Table) -> Result<String> {
    let section = section_text(model, comments, settings);
    let new = match section_range(text, model)? {
        Some(range) => {
            let gap = if range.end == text.len() { "" } else { "\n" };
            format!("{}{section}{gap}{}", &text[..range.start], &text[range.end..])
        }
        None if text.is_empty() => section,
        None => {
            format!("{}\n{section}", if text.ends_with('\n') { text.into() } else { format!("{text}\n") })
        }
    };
    check_others_kept(text, &new, model)?;
    Ok(new)
}

fn section_text(model: &str, comments: &[String], settings: &Table) -> String {
    let mut text: String = comments.iter().map(|line| format!("# {line}\n")).collect();
    let section = Table::from_iter([(model.to_string(), Value::Table(settings.clone()))]).to_string();
    text.push_str(section.trim_end());
    text.push('\n');
    text
}

/// From the comments above the section to those above the next one.
fn section_range(text: &str, model: &str) -> Result<Option<Range<usize>>> {
    let document =
        DeTable::parse(text).map_err(|error| Error::data(error.message(), "mend or move the file"))?;
    let mut starts: Vec<(usize, bool)> = document
        .get_ref()
        .iter()
        .map(|(name, _)| (start_with_comments(text, name.span().start), name.get_ref() == model))
        .collect();
    starts.sort_unstable();
    let Some(place) = starts.iter().position(|(_, ours)| *ours) else { return Ok(None) };
    let end = starts.get(place + 1).map_or(text.len(), |(start, _)| *start);
    Ok(Some(starts[place].0..end))
}

/// The start of the line at `offset`, or of the comment lines directly above it.
fn start_with_comments(text: &str, offset: usize) -> usize {
    let line_start = |end: usize| text[..end].rfind('\n').map_or(0, |newline| newline + 1);
    let mut start = line_start(offset);
    while start > 0 {
        let above = line_start(start - 1);
        if !text[above..start].trim_start().starts_with('#') {
            break;
        }
        start = above;
    }
    start
}

/// Sections in parts (`[a]`, `[b]`, `[a.c]`) cannot be told apart by their first lines: better refuse.
fn check_others_kept(old: &str, new: &str, model: &str) -> Result<()> {
    let without_model = |text: &str| {
        text.parse::<Table>().map(|mut document| {
            document.remove(model);
            document
        })
    };
    match (without_model(old), without_model(new)) {
        (Ok(old), Ok(new)) if old == new => Ok(()),
        _ => Err(Error::data(
            format!("section [{model}] cannot be replaced without changing others"),
            "keep the parts of a section together, or write to another file",
        )),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn replaced(text: &str) -> Result<String> {
        with_section(
            text,
            "gcn",
            &["found so".to_string()],
            &"hidden = 8\n[deep]\nx = 1.5\n".parse().unwrap(),
        )
    }

    const SECTION: &str = "# found so\n[gcn]\nhidden = 8\n\n[gcn.deep]\nx = 1.5\n";

    #[test]
    fn a_section_is_added_at_the_end() {
        assert_eq!(replaced("").unwrap(), SECTION);
        assert_eq!(
            replaced("# head\n\n[mlp]\na = 1").unwrap(),
            format!("# head\n\n[mlp]\na = 1\n\n{SECTION}")
        );
    }

    #[test]
    fn only_the_section_is_replaced() {
        let before = "# Settings of cora.\n\n# by hand\n[mlp]\nx = [\n  1, # one\n]\n\n";
        let after = "# more\n#  more\n[lhs]\ny  =  '[gcn]'\n";
        let old = "# old\n# remarks\n[gcn]\nhidden = 64 # wide\n[gcn.deep]\nx = 2.0\n";
        assert_eq!(
            replaced(&format!("{before}{old}\n{after}")).unwrap(),
            format!("{before}{SECTION}\n{after}")
        );
        assert_eq!(replaced(&format!("{before}{old}")).unwrap(), format!("{before}{SECTION}"));
        assert_eq!(replaced(&replaced(before).unwrap()).unwrap(), replaced(before).unwrap());
    }

    #[test]
    fn a_scattered_section_is_refused() {
        assert!(replaced("[gcn]\nhidden = 1\n[mlp]\n[gcn.deep]\nx = 1.0\n").is_err());
        assert!(replaced("[gcn\n").is_err());
    }

    #[test]
    fn an_empty_section_keeps_its_name() {
        let text = with_section("", "gcn", &[], &Table::new()).unwrap();
        assert_eq!(text, "[gcn]\n");
    }
}
