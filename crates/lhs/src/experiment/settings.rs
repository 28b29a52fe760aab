//! Where a model's settings come from: built-in defaults, then layers over them, each key checked.
//!
//! `defaults ← configs/DATASET.toml ← --config FILE ← --set key=value`. A key that the defaults do not
//! have, or a value of another type, is an error that names where it stands and the nearest valid name.

use std::path::{Path, PathBuf};

use toml::{Table, Value};

use crate::error::{Error, Result, nearest};
use crate::metrics::Metric;
use crate::models::{self, ModelKind};
use crate::training::ClassWeights;

/// The last part of the name of a setting that may be a table, a list or a text.
const CLASS_WEIGHTS: &str = "class_weights";

/// Settings that are laid over others, and where they come from.
#[derive(Clone, Debug)]
pub struct Layer {
    origin: Origin,
    table: Table,
}

#[derive(Clone, Debug)]
enum Origin {
    File(PathBuf),
    CommandLine,
}

impl Layer {
    /// The section `[MODEL]` of a settings file's text; `None` if there is none. All its sections are
    /// checked, not only the one asked for.
    pub fn from_config(text: &str, file: &Path, kind: &ModelKind) -> Result<Option<Layer>> {
        let document: Table = text
            .parse()
            .map_err(|error: toml::de::Error| Error::input(file, place(text, &error), error.message(), ""))?;
        let origin = Origin::File(file.to_path_buf());
        let mut found = None;
        for (name, section) in document {
            // Which data the file is about is no model.
            if name == super::found_settings::DATA {
                continue;
            }
            let known = if name == kind.name { kind } else { model_of_section(&name, file)? };
            let Value::Table(table) = section else {
                return Err(Error::input(
                    file,
                    "",
                    format!("`{name}` is not a section"),
                    sections_hint(kind),
                ));
            };
            let layer = Layer { origin: origin.clone(), table };
            layered(known, std::slice::from_ref(&layer))?;
            if name == kind.name {
                found = Some(layer);
            }
        }
        Ok(found)
    }

    /// As [`Layer::from_config`], from a file that the user named: it must have the section.
    pub fn from_file(file: &Path, kind: &ModelKind) -> Result<Layer> {
        let text = std::fs::read_to_string(file).map_err(Error::io("read", file))?;
        Self::from_config(&text, file, kind)?
            .ok_or_else(|| Error::input(file, "", format!("no section [{}]", kind.name), sections_hint(kind)))
    }

    /// One `--set a.b=c`; the value is read as TOML, and as plain text if it is not that.
    pub fn from_assignment(assignment: &str) -> Result<Layer> {
        let wrong = |problem| Error::setting(assignment, problem, "write it as key=value");
        let (path, value) = assignment.split_once('=').ok_or_else(|| wrong("no `=`"))?;
        let (path, value) = (path.trim(), value.trim());
        if path.split('.').any(str::is_empty) {
            return Err(wrong("no name before the `=`"));
        }
        let value: Value = value.parse().unwrap_or_else(|_| Value::String(value.to_string()));
        let mut table = Table::new();
        insert(&mut table, path, value);
        Ok(Layer { origin: Origin::CommandLine, table })
    }

    /// Settings that stand in some table of the user's.
    pub fn from_table(table: Table) -> Layer {
        Layer { origin: Origin::CommandLine, table }
    }

    /// The same settings, which stand in a file.
    pub fn in_file(self, file: &Path) -> Layer {
        Layer { origin: Origin::File(file.to_path_buf()), ..self }
    }

    /// Whether a model has all these settings.
    pub fn fits(&self, kind: &ModelKind) -> bool {
        let defaults = (kind.defaults)();
        self.keys().iter().all(|key| get(&defaults, key).is_some())
    }

    /// The dotted names of the settings in this layer.
    pub fn keys(&self) -> Vec<String> {
        leaves(&self.table).into_iter().map(|(key, _)| key).collect()
    }
}

/// The setting with which early stopping looks at a metric.
pub fn watched_by(metric: Metric) -> Layer {
    let mut table = Table::new();
    insert(&mut table, "training.monitor", metric.name().into());
    Layer::from_table(table)
}

/// The defaults of a model. Those that are `f32` inside read 0.01, not 0.009999999776482582.
pub fn defaults(kind: &ModelKind) -> Table {
    let mut defaults = (kind.defaults)();
    for (key, value) in leaves(&defaults.clone()) {
        if let Value::Float(number) = value
            && f64::from(*number as f32) == *number
            && let Ok(short) = (*number as f32).to_string().parse()
        {
            insert(&mut defaults, &key, Value::Float(short));
        }
    }
    defaults
}

/// The defaults of a model with the layers over them, later ones on top.
pub fn layered(kind: &ModelKind, layers: &[Layer]) -> Result<Table> {
    layered_over(&defaults(kind), layers)
}

/// The same over any defaults, such as those of an attack.
pub fn layered_over(defaults: &Table, layers: &[Layer]) -> Result<Table> {
    let mut settings = defaults.clone();
    for layer in layers {
        for (key, value) in given(&layer.table) {
            let value = checked(defaults, &key, value).map_err(|error| layer.origin.name(error))?;
            insert(&mut settings, &key, value);
        }
    }
    Ok(settings)
}

/// The settings that differ from a model's defaults.
pub fn changed(kind: &ModelKind, settings: &Table) -> Table {
    let defaults = defaults(kind);
    let mut changed = Table::new();
    for (key, value) in leaves(settings) {
        if get(&defaults, &key) != Some(value) {
            insert(&mut changed, &key, value.clone());
        }
    }
    changed
}

/// Every setting with its dotted name, in order.
pub fn leaves(table: &Table) -> Vec<(String, &Value)> {
    let mut out = Vec::new();
    for (key, value) in table {
        match value {
            Value::Table(inner) => {
                out.extend(leaves(inner).into_iter().map(|(rest, value)| (format!("{key}.{rest}"), value)));
            }
            value => out.push((key.clone(), value)),
        }
    }
    out
}

/// The same, but a table of class weights is one value: names of classes are not names of settings.
fn given(table: &Table) -> Vec<(String, &Value)> {
    let mut out = Vec::new();
    for (key, value) in table {
        match value {
            Value::Table(inner) if key != CLASS_WEIGHTS => {
                let rest = given(inner).into_iter();
                out.extend(rest.map(|(rest, value)| (format!("{key}.{rest}"), value)));
            }
            value => out.push((key.clone(), value)),
        }
    }
    out
}

/// The value at a dotted name.
pub fn get<'a>(table: &'a Table, path: &str) -> Option<&'a Value> {
    match path.split_once('.') {
        None => table.get(path),
        Some((first, rest)) => get(table.get(first)?.as_table()?, rest),
    }
}

/// Puts a value at a dotted name; what stood in its way is replaced.
pub fn insert(table: &mut Table, path: &str, value: Value) {
    let Some((first, rest)) = path.split_once('.') else {
        table.insert(path.to_string(), value);
        return;
    };
    if !table.get(first).is_some_and(Value::is_table) {
        table.insert(first.to_string(), Value::Table(Table::new()));
    }
    if let Some(Value::Table(inner)) = table.get_mut(first) {
        insert(inner, rest, value);
    }
}

/// The value in the type of its default, whole numbers being welcome as fractions.
fn checked(defaults: &Table, key: &str, value: &Value) -> Result<Value> {
    match (get(defaults, key), value) {
        (Some(Value::Table(inner)), _) => {
            let names: Vec<String> =
                leaves(inner).into_iter().map(|(rest, _)| format!("{key}.{rest}")).collect();
            Err(Error::setting(
                key,
                "this is a group of settings",
                format!("choose one of: {}", names.join(", ")),
            ))
        }
        (Some(Value::Float(_)), Value::Integer(number)) => Ok(Value::Float(*number as f64)),
        (Some(default), value) if default.same_type(value) => Ok(value.clone()),
        // Such a setting is chosen from the data unless a value is given.
        (Some(Value::String(default)), value) if default == "auto" => Ok(value.clone()),
        // In one form, whichever it came in.
        (Some(Value::String(_)), value @ (Value::Array(_) | Value::Table(_))) if is_class_weights(key) => {
            ClassWeights::try_from(value.clone()).map(Value::from)
        }
        (Some(default), value) => Err(Error::setting(
            key,
            format!("{value} is {}", type_name(value)),
            format!("give {}, such as the default {default}", type_name(default)),
        )),
        (None, _) => {
            let leaves = leaves(defaults);
            let names: Vec<&str> = leaves.iter().map(|(name, _)| name.as_str()).collect();
            let remedy = match models::renamed(key).filter(|new| names.contains(new)) {
                Some(new) => format!("it is called `{new}` now"),
                None if names.is_empty() => "this model has no settings".into(),
                None => nearest(key, &names),
            };
            Err(Error::setting(key, "there is no such setting", remedy))
        }
    }
}

fn is_class_weights(key: &str) -> bool {
    key.rsplit('.').next() == Some(CLASS_WEIGHTS)
}

/// What a value is, for a sentence.
pub fn type_name(value: &Value) -> &'static str {
    match value {
        Value::String(_) => "a text",
        Value::Integer(_) => "a whole number",
        Value::Float(_) => "a number",
        Value::Boolean(_) => "true or false",
        Value::Datetime(_) => "a date",
        Value::Array(_) => "a list",
        Value::Table(_) => "a group of settings",
    }
}

impl Origin {
    /// Says in which file a setting stands.
    fn name(&self, error: Error) -> Error {
        match (self, error) {
            (Origin::File(file), Error::Setting { key, problem, remedy }) => {
                Error::input(file, format!("setting `{key}`"), problem, remedy)
            }
            (_, error) => error,
        }
    }
}

fn model_of_section(name: &str, file: &Path) -> Result<&'static ModelKind> {
    models::kind(name).map_err(|error| match error {
        Error::Setting { remedy, .. } => {
            Error::input(file, format!("section [{name}]"), "there is no such model", remedy)
        }
        other => other,
    })
}

fn sections_hint(kind: &ModelKind) -> String {
    format!("settings stand in one section per model, such as [{}]", kind.name)
}

/// The line of a text that could not be read.
pub(crate) fn place(text: &str, error: &toml::de::Error) -> String {
    let before = error.span().and_then(|span| text.get(..span.start));
    before.map_or_else(String::new, |before| format!("line {}", before.matches('\n').count() + 1))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::models::SearchSpace;

    fn kind() -> ModelKind {
        ModelKind {
            name: "toy",
            summary: "",
            defaults: || {
                "hidden = 64\ndropout = 0.5\nmode = \"fast\"\n[refiner]\ntemperature = 1.0\n".parse().unwrap()
            },
            build: |_| Err(Error::data("not built", "")),
            restore: |_| Err(Error::data("not loaded", "")),
            search: || vec![("hidden", SearchSpace::Uniform(1.0, 2.0))],
            published: &[],
            transductive: false,
            remembers_nodes: false,
            reads_direction: false,
            learns_from_copies: false,
        }
    }

    fn set(assignments: &[&str]) -> Result<Table> {
        let layers: Vec<Layer> =
            assignments.iter().map(|a| Layer::from_assignment(a)).collect::<Result<_>>()?;
        layered(&kind(), &layers)
    }

    fn problem(assignment: &str) -> String {
        set(&[assignment]).unwrap_err().to_string()
    }

    #[test]
    fn later_layers_win() {
        let file = Layer::from_config("[toy]\nhidden = 8\ndropout = 0\n", Path::new("a.toml"), &kind());
        let layers = [
            file.unwrap().unwrap(),
            Layer::from_assignment("refiner.temperature = 2").unwrap(),
            Layer::from_assignment("hidden=16").unwrap(),
        ];
        let settings = layered(&kind(), &layers).unwrap();
        let expected = "hidden = 16\ndropout = 0.0\nmode = \"fast\"\n[refiner]\ntemperature = 2.0\n";
        assert_eq!(settings, expected.parse().unwrap());
        assert_eq!(
            changed(&kind(), &settings),
            "hidden = 16\ndropout = 0.0\n[refiner]\ntemperature = 2.0\n".parse().unwrap()
        );
    }

    #[test]
    fn single_precision_defaults_are_short() {
        let kind = ModelKind {
            defaults: || Table::from_iter([("rate".to_string(), Value::Float(f64::from(0.01f32)))]),
            ..kind()
        };
        assert_eq!(defaults(&kind)["rate"].to_string(), "0.01");
        assert!(changed(&kind, &layered(&kind, &[]).unwrap()).is_empty());
    }

    #[test]
    fn plain_text_needs_no_quotes() {
        let settings = set(&["mode=slow and steady"]).unwrap();
        assert_eq!(settings["mode"].as_str(), Some("slow and steady"));
        assert_eq!(set(&["mode=\"slow\""]).unwrap()["mode"].as_str(), Some("slow"));
    }

    #[test]
    fn wrong_assignments_say_what_is_right() {
        assert!(problem("hiden=3").contains("did you mean `hidden`?"));
        assert!(problem("refiner.temprature=3").contains("did you mean `refiner.temperature`?"));
        assert!(problem("refiner=3").contains("choose one of: refiner.temperature"));
        assert!(problem("hidden.size=3").contains("did you mean `hidden`?"));
        assert!(problem("hidden=3.5").contains("give a whole number"));
        assert!(problem("dropout=high").contains("\"high\" is a text"));
        assert!(problem("hidden").contains("write it as key=value"));
        assert!(problem("=3").contains("write it as key=value"));
        assert!(problem("a..b=3").contains("write it as key=value"));
    }

    #[test]
    fn errors_in_a_file_name_the_file() {
        let problem = |text| Layer::from_config(text, Path::new("my.toml"), &kind()).unwrap_err().to_string();
        assert!(
            problem("[toy]\nhiden = 3\n").starts_with("my.toml: setting `hiden`: there is no such setting")
        );
        assert!(problem("[toy]\nhidden = 3\n = 4\n").starts_with("my.toml: line 3: "));
        assert!(problem("hidden = 3\n").starts_with("my.toml: section [hidden]: there is no such model"));
        assert!(problem("toy = 3\n").contains("`toy` is not a section"));
        assert!(Layer::from_config("", Path::new("my.toml"), &kind()).unwrap().is_none());
    }
}
