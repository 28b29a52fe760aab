//! The feature table: a row of raw columns per node, which are prepared on the way; long and sparse,
//! `node,column,value`; or a JSON object of lists.

use std::collections::HashSet;
use std::path::Path;

use super::attributes::Attributes;
use super::header::FirstRow;
use super::ids::{Ids, Order};
use super::roles::{ColumnNames, Header};
use super::rows::{NODE, Rows, is_called};
use super::{json_lists, labels};
use crate::error::{Error, Result};
use crate::graph::Features;
use crate::graph::preparation::{
    Missing, Preparation, PreparationConfig, Profile, Raw, Refused, Rule, is_gap,
};
use crate::io::LoadOptions;
use crate::linalg::{Mat, SparseMat};

/// More columns than this are a mistake, such as a node id in the place of the column.
const MOST_COLUMNS: u32 = 1 << 26;

/// Features under provisional node numbers, before the edges have named the rest of the nodes.
pub(super) enum Table {
    /// One row for each of the first nodes; without a name there is no preparation.
    Dense { columns: usize, values: Vec<f32>, preparation: Preparation },
    /// Node, column, value; whatever is not there is 0.
    Sparse { columns: usize, entries: Vec<(u32, u32, f32)> },
}

/// What a table of features holds.
pub(super) struct Found {
    pub table: Table,
    /// Classes, where the table has a column of them.
    pub labels: Option<labels::Table>,
    pub attributes: Attributes,
    pub notes: Vec<String>,
}

pub(super) fn read(path: &Path, options: &LoadOptions, ids: &mut Ids) -> Result<Found> {
    let bare = |table| Found { table, labels: None, attributes: Attributes::default(), notes: Vec::new() };
    if json_lists::is_here(path)? {
        return json_lists::read(path, ids).map(bare);
    }
    let mut rows = Rows::open(path)?;
    if rows.names().is_none() {
        rows.first()?;
    }
    let names = rows.names().map_or_else(|| rows.cells(), <[String]>::to_vec);
    if is_long_form(&names) {
        return read_sparse(path, rows, ids).map(bare);
    }
    read_dense(path, rows, options, ids)
}

impl Table {
    /// One row per node in the final order. Only the sparse form may leave nodes out, unless gaps are filled.
    pub fn arrange(
        self,
        path: &Path,
        order: &Order,
        options: &LoadOptions,
    ) -> Result<(Features, Vec<String>)> {
        let num_nodes = order.rank.len();
        match self {
            Table::Dense { columns, mut values, preparation } => {
                let rows = values.len() / columns.max(1);
                let mut notes = Vec::new();
                if rows < num_nodes && columns > 0 {
                    if options.prepare.missing == Missing::Error {
                        return Err(missing_rows(path, rows, order));
                    }
                    let empty = empty_row(&preparation, path)?;
                    (rows..num_nodes).for_each(|_| values.extend_from_slice(&empty));
                    notes.push(format!(
                        "{} nodes have no row of features: they count as gaps",
                        num_nodes - rows
                    ));
                }
                let mut mat = Mat::scratch(num_nodes, columns);
                for (row, &node) in values.chunks_exact(columns.max(1)).zip(&order.rank) {
                    mat.row_mut(node as usize).copy_from_slice(row);
                }
                Ok((Features::from_dense(mat), notes))
            }
            Table::Sparse { columns, mut entries } => {
                for entry in &mut entries {
                    entry.0 = order.rank[entry.0 as usize];
                }
                entries.sort_by_key(|&(node, column, _)| (node, column));
                check_repeats(path, &entries, order)?;
                entries.dedup_by_key(|entry| (entry.0, entry.1));
                // Columns that are zero at all nodes here are columns all the same.
                let columns = columns.max(options.feature_columns.unwrap_or(0));
                Ok((Features::from_sparse(SparseMat::from_triplets(num_nodes, columns, entries)), Vec::new()))
            }
        }
    }
}

fn is_long_form(names: &[String]) -> bool {
    names.len() == 3
        && ["node", "column", "value"].iter().zip(names).all(|(name, own)| is_called(own, &[name]))
}

/// A table of raw columns, and what each of them is.
struct Wide<'a> {
    path: &'a Path,
    names: Vec<String>,
    node: usize,
    label: Option<usize>,
    /// Columns that become features.
    raw: Vec<usize>,
}

fn read_dense(path: &Path, mut rows: Rows<'_>, options: &LoadOptions, ids: &mut Ids) -> Result<Found> {
    let mut notes = Vec::new();
    let mut names = rows.names().map_or_else(|| rows.cells(), <[String]>::to_vec);
    if names.len() < 2 {
        rows.expect_columns(2, "a node and its features")?;
    }
    let has_header = rows.names().is_some() || {
        let decision = check_header(path, &names, options)?;
        notes.extend(decision.1);
        decision.0
    };
    if !has_header {
        names = (0..names.len())
            .map(|column| if column == 0 { "node".into() } else { format!("f{column}") })
            .collect();
    }
    let header = Header { path, names: &names };
    let mut attributes = Attributes::in_table(&header, &options.columns);
    let wide = Wide::of(&header, &options.columns, &attributes, options.preparation.as_ref())?;
    let (preparation, said) = match &options.preparation {
        Some(preparation) => (preparation.clone(), wide.matched(preparation)?),
        None => wide.fit(&options.prepare, has_header)?,
    };
    notes.extend(said);
    // From raw column to rule; raw columns without a rule are left out.
    let places: Vec<usize> = (preparation.columns.iter())
        .filter_map(|rule| wide.raw.iter().copied().find(|&column| wide.names[column] == rule.name))
        .collect();
    if !has_header {
        rows.hold_back();
    }
    let (width, columns) = (wide.names.len(), preparation.width());
    let meaning = format!("a node and its {} features", width - 1);
    let mut values: Vec<f32> = Vec::new();
    let mut table = wide.label.map(|_| labels::Table::default());
    let mut unseen = 0;
    let mut any = false;
    while rows.advance()? {
        rows.expect_columns(width, &meaning)?;
        any = true;
        let (known, node) = (ids.len(), super::node(&rows, wide.node, ids)?);
        if let (Some(table), Some(column)) = (&mut table, wide.label) {
            table.add(&rows, node, column, ids.len())?;
        }
        attributes.add(&rows, node)?;
        let start = values.len();
        for (rule, &column) in preparation.columns.iter().zip(&places) {
            let (text, from) = (rows.field(column), values.len());
            values.resize(from + rule.width(), 0.0);
            rule.write(Raw::of(text), &mut values[from..])
                .map_err(|refused| wrong(&rows, column, &rule.name, refused))?;
            unseen += usize::from(!is_gap(text) && !rule.knows(text));
        }
        let node = node as usize;
        if node < known {
            let (earlier, again) = values.split_at(start);
            if earlier[node * columns..][..columns] != *again {
                return Err(twice(&rows, wide.node));
            }
            values.truncate(start);
        }
    }
    if !any {
        return Err(no_rows(path));
    }
    if unseen > 0 && options.preparation.is_some() {
        let words = if unseen == 1 { "1 word was".into() } else { format!("{unseen} words were") };
        notes.push(format!("{words} never seen in training"));
    }
    notes.extend(table.as_ref().and_then(|table| table.note(path)));
    Ok(Found { table: Table::Dense { columns, values, preparation }, labels: table, attributes, notes })
}

impl<'a> Wide<'a> {
    fn of(
        header: &Header<'a>,
        columns: &ColumnNames,
        attributes: &Attributes,
        preparation: Option<&Preparation>,
    ) -> Result<Self> {
        let mut seen = HashSet::new();
        if let Some(name) = header.names.iter().find(|name| !seen.insert(name.as_str())) {
            return Err(Error::input(
                header.path,
                "line 1",
                format!("two columns are called `{name}`"),
                "give every column a name of its own",
            ));
        }
        let node = header.given(columns.id.as_ref(), "the ids of the nodes")?;
        let node = node.or_else(|| header.called(NODE)).unwrap_or(0);
        let label = header.named(columns.label.as_ref());
        let mut ignored = Vec::new();
        for name in &columns.ignored {
            // Data to predict on may lack what was ignored in training.
            match preparation {
                Some(_) => ignored.extend(header.named(Some(name))),
                None => ignored.extend(header.given(Some(name), "to be ignored")?),
            }
        }
        let used: Vec<usize> =
            [node].into_iter().chain(label).chain(attributes.columns()).chain(ignored).collect();
        let raw = (0..header.names.len()).filter(|column| !used.contains(column)).collect();
        Ok(Wide { path: header.path, names: header.names.to_vec(), node, label, raw })
    }

    /// Looks at all rows, and decides what becomes of each column.
    fn fit(&self, config: &PreparationConfig, has_header: bool) -> Result<(Preparation, Vec<String>)> {
        let raw_name = |column: usize| &self.names[column];
        if let Some(name) =
            config.as_words.iter().find(|name| !self.raw.iter().any(|&c| raw_name(c) == *name))
        {
            let names: Vec<&str> = self.raw.iter().map(|&column| raw_name(column).as_str()).collect();
            let remedy = crate::error::nearest(name, &names);
            return Err(Error::input(self.path, "", format!("there is no feature column `{name}`"), remedy));
        }
        let mut profiles: Vec<(String, Profile)> = (self.raw.iter())
            .map(|&column| {
                (raw_name(column).clone(), Profile::new(config.as_words.contains(raw_name(column))))
            })
            .collect();
        self.each_row(has_header, |rows| {
            for (&column, (_, profile)) in self.raw.iter().zip(&mut profiles) {
                profile.observe(Raw::of(rows.field(column)), rows.number());
            }
        })?;
        let mut fitted = Preparation::fit(&profiles, config).map_err(|error| error.in_file(self.path))?;
        let wanted = fitted.preparation.wants_values();
        if !wanted.is_empty() {
            let mut values: Vec<Vec<f64>> = vec![Vec::new(); wanted.len()];
            let columns: Vec<(usize, crate::graph::preparation::Written)> = wanted
                .iter()
                .filter_map(|&place| {
                    let rule = &fitted.preparation.columns[place];
                    let column = self.raw.iter().copied().find(|&column| *raw_name(column) == rule.name)?;
                    match rule.rule {
                        Rule::Number { written, .. } => Some((column, written)),
                        Rule::Words { .. } => None,
                    }
                })
                .collect();
            self.each_row(has_header, |rows| {
                for ((column, written), values) in columns.iter().zip(&mut values) {
                    values.extend(written.read(rows.field(*column)));
                }
            })?;
            for (place, values) in wanted.into_iter().zip(values) {
                fitted.preparation.complete(place, values);
            }
        }
        Ok((fitted.preparation, fitted.notes))
    }

    fn each_row(&self, has_header: bool, mut look: impl FnMut(&Rows<'_>)) -> Result<()> {
        let mut rows = Rows::open(self.path)?;
        if rows.names().is_none() && has_header {
            rows.first()?;
        }
        while rows.advance()? {
            rows.expect_columns(
                self.names.len(),
                &format!("a node and its {} features", self.names.len() - 1),
            )?;
            look(&rows);
        }
        Ok(())
    }

    /// Holds the columns against those that a model learned from.
    fn matched(&self, preparation: &Preparation) -> Result<Vec<String>> {
        let here: Vec<&String> = self.raw.iter().map(|&column| &self.names[column]).collect();
        let expected: Vec<&String> = preparation.columns.iter().map(|column| &column.name).collect();
        let quoted = |names: Vec<&&String>| {
            names.iter().map(|name| format!("`{name}`")).collect::<Vec<_>>().join(", ")
        };
        let missing: Vec<&&String> = expected.iter().filter(|name| !here.contains(name)).collect();
        let known = |name: &&&String| expected.contains(name) || preparation.left_out.contains(name);
        let additional: Vec<&&String> = here.iter().filter(|name| !known(name)).collect();
        if !missing.is_empty() || !additional.is_empty() {
            let mut problems = Vec::new();
            if !missing.is_empty() {
                problems.push(format!("these columns are missing: {}", quoted(missing)));
            }
            if !additional.is_empty() {
                problems.push(format!("these were not there in training: {}", quoted(additional)));
            }
            return Err(Error::input(
                self.path,
                "",
                problems.join("; "),
                "give the columns that the model learned from, by their names, in any order; ignore others by name",
            ));
        }
        let order: Vec<&&String> = here.iter().filter(|name| expected.contains(name)).collect();
        let same = order.iter().zip(&expected).all(|(here, expected)| *here == expected);
        let file = self.path.file_name().unwrap_or_default().to_string_lossy();
        Ok(if same {
            Vec::new()
        } else {
            vec![format!("{file}: columns were matched by name, their order differs")]
        })
    }
}

/// Whether there is a header, and a remark. A table of numbers only could have lost its header or never had one; guessing
/// would lose a node.
fn check_header(path: &Path, first: &[String], options: &LoadOptions) -> Result<(bool, Option<String>)> {
    let header = Header { path, names: first };
    let columns = &options.columns;
    let named = [&columns.id, &columns.label, &columns.time, &columns.group];
    let named = named.into_iter().any(|name| header.named(name.as_ref()).is_some());
    if let Some(told) = options.header.or(named.then_some(true)) {
        return Ok((told, None));
    }
    if is_called(&first[0], NODE) || header.called(NODE).is_some() {
        return Ok((true, None));
    }
    if first[1..].iter().all(|cell| cell.parse::<f64>().is_ok()) {
        return Err(Error::input(
            path,
            "line 1, column 1",
            "the header is missing",
            "begin the table with the line `node,f1,f2,…`",
        ));
    }
    let recurring: Vec<usize> = (1..first.len()).collect();
    let known = Ids::default();
    let first_row = FirstRow {
        path,
        told: None,
        known: &known,
        id_columns: &[0],
        recognised: false,
        recurring: &recurring,
    };
    let decision = first_row.decide()?;
    Ok((decision.header, decision.note))
}

fn wrong(rows: &Rows<'_>, column: usize, name: &str, refused: Refused) -> Error {
    let text = rows.field(column);
    match refused {
        Refused::Gap => rows.wrong(
            column,
            format!("column `{name}` is empty; in training it had no gaps"),
            "fill it, or train with gaps filled (`missing`: mean, median, zero or flag)",
        ),
        Refused::NotANumber => rows.wrong(
            column,
            format!("`{text}` in column `{name}` is not a finite number"),
            "write numbers like 0.5 or -3e2, and gaps as nothing",
        ),
    }
}

/// The features of a node of which nothing is known.
fn empty_row(preparation: &Preparation, path: &Path) -> Result<Vec<f32>> {
    let mut row = Vec::new();
    for rule in &preparation.columns {
        let from = row.len();
        row.resize(from + rule.width(), 0.0);
        rule.write(Raw::Gap, &mut row[from..]).map_err(|_| {
            Error::input(
                path,
                "",
                format!("column `{}` has gaps here; in training it had none", rule.name),
                "train with gaps filled (`missing`: mean, median, zero or flag)",
            )
        })?;
    }
    Ok(row)
}

fn read_sparse(path: &Path, mut rows: Rows<'_>, ids: &mut Ids) -> Result<Table> {
    let mut entries: Vec<(u32, u32, f32)> = Vec::new();
    let mut columns = 0;
    while rows.advance()? {
        rows.expect_columns(3, "a node, a column number and a value")?;
        let node = super::node(&rows, 0, ids)?;
        let column = column_number(&rows)?;
        columns = columns.max(column as usize + 1);
        entries.push((node, column, rows.finite(2, "the feature")?));
    }
    if entries.is_empty() {
        return Err(no_rows(path));
    }
    Ok(Table::Sparse { columns, entries })
}

fn column_number(rows: &Rows<'_>) -> Result<u32> {
    rows.field(1).parse().ok().filter(|&column| column < MOST_COLUMNS).ok_or_else(|| {
        rows.wrong(
            1,
            format!("`{}` is not a column number", rows.field(1)),
            format!("number the feature columns 0, 1, 2, … (below {MOST_COLUMNS})"),
        )
    })
}

fn twice(rows: &Rows<'_>, column: usize) -> Error {
    rows.wrong(
        column,
        format!("node `{}` has a second row with other features", rows.field(column)),
        "keep one row per node",
    )
}

fn no_rows(path: &Path) -> Error {
    Error::input(
        path,
        "",
        "the table has a header and no rows",
        "leave the file out if there are no features",
    )
}

fn check_repeats(path: &Path, sorted: &[(u32, u32, f32)], order: &Order) -> Result<()> {
    let same_place = |pair: &&[(u32, u32, f32)]| (pair[0].0, pair[0].1) == (pair[1].0, pair[1].1);
    match sorted.windows(2).filter(same_place).find(|pair| pair[0].2 != pair[1].2) {
        None => Ok(()),
        Some(pair) => Err(Error::input(
            path,
            "",
            format!(
                "column {} of node `{}` is both {} and {}",
                pair[0].1,
                order.name(pair[0].0),
                pair[0].2,
                pair[1].2
            ),
            "give each node one value per column",
        )),
    }
}

fn missing_rows(path: &Path, rows: usize, order: &Order) -> Error {
    let missing = order.rank.len() - rows;
    let first = order.name(order.rank[rows..].iter().copied().min().unwrap_or(0));
    let (nodes, verb) = if missing == 1 { ("node", "has") } else { ("nodes", "have") };
    Error::input(
        path,
        "",
        format!("{missing} {nodes} of the other tables {verb} no row here, the first is `{first}`"),
        "add the rows, say how gaps are filled (`missing`: mean, median, zero or flag), or use the long form \
         `node,column,value`, where what is left out is 0",
    )
}
