//! XML written piece by piece, with any text in it.

use std::borrow::Cow;
use std::fmt::{self, Arguments, Display, Formatter};
use std::fs::File;
use std::io::{BufWriter, Write};
use std::path::Path;

use super::{Column, Export, check};
use crate::error::{Error, Result};
use crate::io::atomic;

/// A document in the making.
pub(super) struct Document<'a> {
    path: &'a Path,
    out: &'a mut BufWriter<File>,
}

impl Document<'_> {
    /// Makes the file of an export at once or not at all.
    pub fn create(
        export: &Export,
        path: &Path,
        fill: impl FnOnce(&mut Document) -> Result<()>,
    ) -> Result<()> {
        check::ids(export.node_ids.iter().map(|id| cleaned(id))).map_err(|error| error.in_file(path))?;
        atomic::write(path, |out| {
            let mut document = Document { path, out };
            document.put(format_args!("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n"))?;
            fill(&mut document)
        })
    }

    pub fn put(&mut self, piece: Arguments) -> Result<()> {
        self.out.write_fmt(piece).map_err(Error::io("write", self.path))
    }
}

/// The type of a column's values, which GraphML and GEXF call the same.
pub(super) fn kind(column: &Column) -> &'static str {
    match column {
        Column::Text(_) => "string",
        Column::Integer(_) => "long",
        Column::Number(_) => "double",
    }
}

/// A text as it stands in an attribute or between tags.
pub(super) struct Escaped<'a>(pub &'a str);

impl Display for Escaped<'_> {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        let mut done = 0;
        for (place, c) in self.0.char_indices() {
            let instead = match c {
                '&' => "&amp;",
                '<' => "&lt;",
                '>' => "&gt;",
                '"' => "&quot;",
                // As they are, a parser would turn these into blanks, or a line feed.
                '\t' => "&#9;",
                '\n' => "&#10;",
                '\r' => "&#13;",
                c if !is_allowed(c) => "\u{fffd}",
                _ => continue,
            };
            f.write_str(&self.0[done..place])?;
            f.write_str(instead)?;
            done = place + c.len_utf8();
        }
        f.write_str(&self.0[done..])
    }
}

/// A text as a parser gives it back: characters that XML cannot hold, not even escaped, are replaced.
pub(super) fn cleaned(text: &str) -> Cow<'_, str> {
    if text.chars().all(is_allowed) {
        return text.into();
    }
    text.replace(|c| !is_allowed(c), "\u{fffd}").into()
}

fn is_allowed(c: char) -> bool {
    !matches!(c, '\0'..='\x08' | '\x0b' | '\x0c' | '\x0e'..='\x1f' | '\u{fffe}' | '\u{ffff}')
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn markup_is_escaped_and_what_xml_cannot_hold_replaced() {
        let text = Escaped("a<b> & \"c\"\t\r\n\0\u{1b}é\u{ffff}]]>").to_string();
        assert_eq!(text, "a&lt;b&gt; &amp; &quot;c&quot;&#9;&#13;&#10;\u{fffd}\u{fffd}é\u{fffd}]]&gt;");
    }

    proptest! {
        #[test]
        fn a_parser_gives_back_the_cleaned_text(text in any::<String>()) {
            let escaped = Escaped(&text).to_string();
            prop_assert!(!escaped.contains(['<', '>', '"', '\t', '\r', '\n']));
            let named = [("&lt;", "<"), ("&gt;", ">"), ("&quot;", "\""), ("&#9;", "\t"), ("&#10;", "\n"),
                ("&#13;", "\r"), ("&amp;", "&")];
            let parsed = named.iter().fold(escaped, |text, (name, c)| text.replace(name, c));
            prop_assert_eq!(parsed, cleaned(&text));
        }
    }
}
