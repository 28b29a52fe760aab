//! Which of the classes is the one that is looked for.

use crate::error::{Error, Result, nearest};

/// Pairs of names of which the latter is what is looked for.
const PAIRS: [(&str, &str); 4] = [("0", "1"), ("-1", "1"), ("false", "true"), ("no", "yes")];

/// The positive class of `names`: the one that was named, else, of two classes, the one whose name says so (1 of 0 and 1,
/// of -1 and 1; true; yes), else the rarer among the classes of the training nodes, of equals the last. Of three or more
/// classes there is none unless named.
pub fn positive_class(names: &[String], named: Option<u32>, train: &[u32]) -> Option<u32> {
    let [first, second] = names else { return named };
    named.or_else(|| by_name(first, second)).or_else(|| {
        let ones = train.iter().filter(|class| **class == 1).count();
        Some(u32::from(ones <= train.len() - ones))
    })
}

fn by_name(first: &str, second: &str) -> Option<u32> {
    let (first, second) = (first.to_lowercase(), second.to_lowercase());
    PAIRS.iter().find_map(|&(no, yes)| {
        if (first.as_str(), second.as_str()) == (no, yes) {
            Some(1)
        } else if (second.as_str(), first.as_str()) == (no, yes) {
            Some(0)
        } else {
            None
        }
    })
}

/// The number of the class of that name; the error names the nearest.
pub fn class_named(name: &str, names: &[String]) -> Result<u32> {
    let found = names.iter().position(|known| known == name);
    found.map(|place| place as u32).ok_or_else(|| {
        let names: Vec<&str> = names.iter().map(String::as_str).collect();
        Error::data(format!("there is no class `{name}`"), nearest(name, &names))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(names: &[&str]) -> Vec<String> {
        names.iter().map(|name| name.to_string()).collect()
    }

    #[test]
    fn names_say_which_or_else_the_rarer_is_it() {
        let of = |pair: [&str; 2], train: &[u32]| positive_class(&names(&pair), None, train);
        assert_eq!(of(["0", "1"], &[1, 1, 0]), Some(1));
        assert_eq!(of(["1", "-1"], &[0]), Some(0));
        assert_eq!((of(["True", "FALSE"], &[]), of(["No", "yes"], &[])), (Some(0), Some(1)));
        assert_eq!(of(["fraud", "ok"], &[1, 1, 0]), Some(0));
        assert_eq!(of(["ok", "fraud"], &[0, 0, 1]), Some(1));
        assert_eq!(of(["a", "b"], &[0, 1]), Some(1), "of equals the last");
        assert_eq!(positive_class(&names(&["0", "1"]), Some(0), &[0]), Some(0), "whoever is named is it");
    }

    #[test]
    fn of_many_classes_none_is_unless_named() {
        let many = names(&["a", "b", "c"]);
        assert_eq!(positive_class(&many, None, &[0, 1, 2]), None);
        assert_eq!(positive_class(&many, Some(2), &[0, 1, 2]), Some(2));
        assert_eq!(class_named("b", &many).unwrap(), 1);
        let problem = class_named("fruad", &names(&["ok", "fraud"])).unwrap_err().to_string();
        assert!(problem.contains("did you mean `fraud`?"), "{problem}");
    }
}
