//! What was found, in a sentence or two.

use super::quality::ShownAnswers;
use crate::experiment::CellRecord;
use crate::experiment::table::{AccuracyTable, Entry};

/// Differences with a smaller p-value are called more than chance.
const SURE: f64 = 0.05;
/// So many datasets and states are named one by one; of more, only counts are told.
const NAMED: usize = 6;

/// What a run found: how often the model is right, held against the most frequent class; classes that it never finds.
pub fn of_run(model: &str, dataset: &str, answers: &ShownAnswers<'_>, results: &[CellRecord]) -> Vec<String> {
    let confusion = answers.confusion();
    let Some(accuracy) = confusion.accuracy() else {
        return vec![format!(
            "No test node of {dataset} has a label: there is nothing to hold {model} against."
        )];
    };
    let mut found = vec![format!(
        "{model} is right at {:.1} % of the test nodes of {dataset}{}{}.",
        100.0 * accuracy,
        over_majority(answers, accuracy),
        over_splits(results),
    )];
    let missed: Vec<String> = (0..answers.classes.len())
        .filter_map(|class| {
            let nodes: usize = (0..answers.classes.len()).map(|other| confusion.get(class, other)).sum();
            let never = nodes > 0 && confusion.get(class, class) == 0;
            never.then(|| format!("{} ({})", answers.classes[class], nodes))
        })
        .collect();
    if !missed.is_empty() {
        found.push(format!("It finds no test node of: {}.", missed.join(", ")));
    }
    found
}

fn over_majority(answers: &ShownAnswers<'_>, accuracy: f64) -> String {
    let Some(majority) = answers.majority() else { return String::new() };
    let (confusion, count) = (answers.confusion(), answers.classes.len());
    let nodes: usize = (0..count).map(|other| confusion.get(majority, other)).sum();
    let points = 100.0 * (accuracy - nodes as f64 / confusion.total().max(1) as f64);
    let name = &answers.classes[majority];
    match format!("{:.1}", points.abs()).as_str() {
        "0.0" => format!(", as often as always answering the most frequent class, {name}"),
        by if points > 0.0 => format!(", {by} points above always answering the most frequent class, {name}"),
        by => format!(", {by} points below always answering the most frequent class, {name}"),
    }
}

fn over_splits(results: &[CellRecord]) -> String {
    let accuracy =
        |record: &CellRecord| Some(((record.id.split, 0, 0), record.result.as_ref()?.scores.test_accuracy?));
    let all = Entry::of_accuracies(results.iter().filter_map(accuracy));
    if all.cells() > 1 { format!("; over {} splits, at {all} %", all.cells()) } else { String::new() }
}

/// Who is ahead on a dataset in some state.
struct Lead {
    line: usize,
    best: usize,
    second: usize,
    points: f64,
    p: Option<f64>,
}

/// What a suite found: who is ahead where, by how much, and whether that may be chance.
pub fn of_suite(table: &AccuracyTable) -> Vec<String> {
    let leads: Vec<Lead> = (0..table.lines.len()).filter_map(|line| lead(table, line)).collect();
    let (clean, attacked): (Vec<&Lead>, Vec<&Lead>) =
        leads.iter().partition(|lead| table.lines[lead.line].attack.is_none());
    let mut found: Vec<String> = [("Without attack", clean), ("Under attack", attacked)]
        .into_iter()
        .filter(|(_, leads)| !leads.is_empty())
        .map(|(when, leads)| group(table, when, &leads))
        .collect();
    if !leads.is_empty() && leads.iter().all(|lead| lead.p.is_none()) {
        found.push("Whether the differences are chance cannot be told: fewer than six pairs each.".into());
    }
    found
}

/// The best and the second of a line.
fn lead(table: &AccuracyTable, line: usize) -> Option<Lead> {
    let mut ranked: Vec<(usize, f64)> =
        table.entries(line).filter_map(|(column, entry)| Some((column, entry.mean()?))).collect();
    ranked.sort_by(|a, b| b.1.total_cmp(&a.1).then(a.0.cmp(&b.0)));
    let [(best, first), (second, next), ..] = ranked[..] else { return None };
    let p = table.entry(line, second).p_value_against(table.entry(line, best));
    Some(Lead { line, best, second, points: first - next, p })
}

fn group(table: &AccuracyTable, when: &str, leads: &[&Lead]) -> String {
    let mut bests: Vec<usize> = leads.iter().map(|lead| lead.best).collect();
    bests.sort_unstable();
    bests.dedup();
    let count = |best: usize| leads.iter().filter(|lead| lead.best == best).count();
    bests.sort_by_key(|&best| std::cmp::Reverse(count(best)));
    let few = leads.len() <= NAMED;
    let said = bests.into_iter().map(|best| {
        let own: Vec<&Lead> = leads.iter().copied().filter(|lead| lead.best == best).collect();
        let where_to = if few { one_by_one(table, &own) } else { counted(&own, leads.len()) };
        format!("{} is ahead {where_to}", table.columns[best])
    });
    format!("{when}, {}.", said.collect::<Vec<_>>().join("; "))
}

fn one_by_one(table: &AccuracyTable, leads: &[&Lead]) -> String {
    let said = leads.iter().map(|lead| {
        let line = &table.lines[lead.line];
        let place =
            if line.attack.is_none() && !line.inductive { line.dataset.clone() } else { line.to_string() };
        let sure = match lead.p {
            None => String::new(),
            Some(p) if p < SURE => format!(", p {p:.3}"),
            Some(p) => format!(", p {p:.2}: may be chance"),
        };
        let second = &table.columns[lead.second];
        match format!("{:.1}", lead.points).as_str() {
            "0.0" => format!("on {place} (level with {second})"),
            points => format!("on {place} ({points} points before {second}{sure})"),
        }
    });
    said.collect::<Vec<_>>().join(", ")
}

fn counted(leads: &[&Lead], all: usize) -> String {
    let mean = leads.iter().map(|lead| lead.points).sum::<f64>() / leads.len() as f64;
    let tested = leads.iter().filter_map(|lead| lead.p);
    let sure = tested.clone().filter(|p| *p < SURE).count();
    let chance = match tested.count() {
        0 => String::new(),
        _ => format!(", in {sure} of them by more than chance (p < {SURE})"),
    };
    format!("in {} of {all} lines of the table, by {mean:.1} points on average{chance}", leads.len())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::experiment::table::made_up::{record, suite};
    use crate::graph::Split;
    use crate::linalg::Mat;

    #[test]
    fn a_run_is_held_against_the_most_frequent_class() {
        let classes = ["good".to_string(), "fraud".to_string()];
        let probabilities = Mat::from_slice(4, 2, &[0.9, 0.1, 0.8, 0.2, 0.7, 0.3, 0.9, 0.1]);
        let split = Split { train: vec![0], val: vec![], test: vec![1, 2, 3] };
        let truth = vec![Some(0), Some(0), Some(0), Some(1)];
        let answers = ShownAnswers::new(&classes, &probabilities, truth, &split);
        assert_eq!(
            of_run("gcn", "bank", &answers, &[]),
            [
                "gcn is right at 66.7 % of the test nodes of bank, as often as always answering the most frequent \
                 class, good.",
                "It finds no test node of: fraud (1)."
            ]
        );
    }

    #[test]
    fn chance_is_spoken_of_from_six_pairs_on() {
        let records = |splits: usize| {
            let of = |model, accuracy| {
                (0..splits).map(move |split| record("a", (model, None), split, None, accuracy))
            };
            of("mlp", 50.0).chain(of("lhs", 60.0)).collect::<Vec<_>>()
        };
        let said = |splits| of_suite(&AccuracyTable::new(&suite(), &records(splits)));
        assert_eq!(said(6), ["Without attack, lhs is ahead on a (10.0 points before mlp, p 0.031)."]);
        let few = said(5);
        assert_eq!(few[0], "Without attack, lhs is ahead on a (10.0 points before mlp).");
        assert!(few[1].contains("fewer than six pairs"));
    }
}
