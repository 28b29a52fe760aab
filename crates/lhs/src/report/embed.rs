//! Data inside the page, for its script to read.

use maud::{Markup, PreEscaped, html};
use serde::Serialize;

/// A value as JSON in an element of its own, which the page's script finds by `kind`.
///
/// A browser looks for tags inside a script element, whatever it is: `</script` ends it, and `<!--<script` hides the end.
/// JSON may write every `<` as an escape, and without a `<` there is no tag.
pub fn embedded(kind: &str, value: &impl Serialize) -> Markup {
    let json = serde_json::to_string(value).unwrap_or_default().replace('<', "\\u003c");
    html! { script type="application/json" data-holds=(kind) { (PreEscaped(json)) } }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_tag_is_left_and_nothing_is_lost() {
        for text in ["<!--<script>", "</script><b>", "]]>", "a \"quoted\" \\ &amp; <\u{2028}"] {
            let element = embedded("csv", &text).into_string();
            let (head, rest) = element.split_once('>').unwrap();
            let json = rest.strip_suffix("</script>").unwrap();
            assert_eq!(head, "<script type=\"application/json\" data-holds=\"csv\"");
            assert!(!json.contains('<'));
            assert_eq!(serde_json::from_str::<String>(json).unwrap(), text);
        }
    }
}
