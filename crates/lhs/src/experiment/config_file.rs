//! Settings files, edited in place: one section is replaced, every other byte stays as it was.
//!
//! `toml_edit` says where the section stands, and the text is cut there. Its own `DocumentMut` would lose bytes of the
//! other sections: carriage returns, and the order of dotted keys (`a.x`, `b`, `a.y`).

use std::ops::Range;
use std::path::Path;

use toml::{Table, Value};
use toml_edit::{Document, Item};

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
            let rest = &text[range.end..];
            let gap = if rest.is_empty() || rest.starts_with(['\n', '\r']) { "" } else { "\n" };
            format!("{}{section}{gap}{rest}", &text[..range.start])
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

/// From the comments right above the section to the end of its last line.
fn section_range(text: &str, model: &str) -> Result<Option<Range<usize>>> {
    let document =
        Document::parse(text).map_err(|error| Error::data(error.message(), "mend or move the file"))?;
    let mut spans = Vec::new();
    document.get(model).into_iter().for_each(|item| add_spans(text, item, &mut spans));
    let (start, end) = (spans.iter().map(|span| span.start).min(), spans.iter().map(|span| span.end).max());
    let line_end = |end: usize| text[end..].find('\n').map_or(text.len(), |newline| end + newline + 1);
    Ok(start.zip(end).map(|(start, end)| start..line_end(end)))
}

/// Where the headers (with the comments above them) and values of an item stand.
fn add_spans(text: &str, item: &Item, spans: &mut Vec<Range<usize>>) {
    let tables = match item {
        Item::Table(table) => vec![table],
        Item::ArrayOfTables(tables) => tables.iter().collect(),
        Item::Value(value) => {
            let line = |span: Range<usize>| start_with_comments(text, span.start, span.start)..span.end;
            spans.extend(value.span().map(line));
            return;
        }
        Item::None => return,
    };
    for table in tables {
        if let Some(header) = table.span().filter(|_| !table.is_implicit() && !table.is_dotted()) {
            let above = table.decor().prefix().and_then(|prefix| prefix.span());
            let above = above.map_or(header.start, |above| above.start);
            spans.push(start_with_comments(text, header.start, above)..header.end);
        }
        table.iter().for_each(|(_, item)| add_spans(text, item, spans));
    }
}

/// The start of the line at `offset`, or of the comment lines directly above it that do not start before `floor`.
fn start_with_comments(text: &str, offset: usize, floor: usize) -> usize {
    let line_start = |end: usize| text[..end].rfind('\n').map_or(0, |newline| newline + 1);
    let mut start = line_start(offset);
    while start > floor {
        let above = line_start(start - 1);
        if above < floor || !text[above..start].trim_start().starts_with('#') {
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
    fn comments_and_formatting_of_other_sections_survive_byte_for_byte() {
        let before = "# Head of the file.\r\n\r\ntop.b = 1 # dotted\nother  =  0x1F\ntop . a = 'x'\n\n\n\
                      \t# indented remark\n[ mlp ]   # after the header\r\nx = [ 1,\n  2, # two\n\n ]\n\
                      text = \"\"\"\n[gcn]\n# not a comment\"\"\"\n# detached, of nobody\n\n";
        let after = "\n\n# detached as well\n\n# of lhs\n[lhs]\ny = { a=1 ,b = 2}#tight\n\n\
                     [[lhs.list]]\n[[lhs.list]]\nz = 1_000.0\n\n# the end, without a line feed";
        let old =
            "# old\n  # remarks\n  [gcn] # narrow\nhidden = 64 # wide\n[gcn.deep]\nx = [\n 1,\n] # last\n";
        let new = replaced(&format!("{before}{old}{after}")).unwrap();
        assert_eq!(new, format!("{before}{SECTION}{after}"));
        assert_eq!(replaced(&new).unwrap(), new);
        let (text, rest) = ("[mlp]\ntext = \"\"\"\n# not a comment\"\"\"\n", "[lhs]\n");
        assert_eq!(
            replaced(&format!("{text}[gcn.deep]\n{rest}")).unwrap(),
            format!("{text}{SECTION}\n{rest}")
        );
        assert_eq!(replaced("gcn = { hidden = 1 }\n# end\n").unwrap(), format!("{SECTION}\n# end\n"));
    }

    #[test]
    fn a_scattered_section_is_refused() {
        assert!(replaced("gcn.hidden = 1\nother = 2\n").is_err());
        assert!(replaced("[gcn]\nhidden = 1\n[mlp]\n[gcn.deep]\nx = 1.0\n").is_err());
        assert!(replaced("[gcn\n").is_err());
    }

    #[test]
    fn an_empty_section_keeps_its_name() {
        let text = with_section("", "gcn", &[], &Table::new()).unwrap();
        assert_eq!(text, "[gcn]\n");
    }
}
