//! The tables of the page.

use maud::{Markup, display, html};

use super::view::WrongAnswer;
use crate::experiment::CellRecord;
use crate::experiment::table::{AccuracyTable, Column, Entry, Published};
use crate::metrics::Scores;

/// Accuracies: the paper's figure and the difference below ours, and how sure the difference to LHS is.
pub fn accuracies(table: &AccuracyTable) -> Markup {
    html! {
        div.scroll {
            table {
                thead {
                    tr {
                        th { "data" }
                        th { "state" }
                        @for column in &table.columns { th.number { (display(column)) } }
                    }
                }
                tbody { @for line in 0..table.lines.len() { (accuracy_line(table, line)) } }
            }
        }
    }
}

fn accuracy_line(table: &AccuracyTable, line: usize) -> Markup {
    html! {
        tr {
            th { (table.lines[line].dataset) }
            td { (table.state(line)) }
            @for (column, entry) in table.entries(line) {
                td.number {
                    @if table.is_best(line, column) { b { (display(entry)) } } @else { (display(entry)) }
                    @if let (Some(paper), Some(mean)) = (entry.paper, entry.mean()) { (against(paper, mean)) }
                    @if let Some(p) = table.p_value(line, column) {
                        small title="paired permutation test against lhs" { "p " (p_value(p)) }
                    }
                    (missing(entry))
                }
            }
        }
    }
}

/// The paper's figure and how far ours is from it.
fn against(paper: Published, mean: f64) -> Markup {
    let class = if mean >= paper.mean { "up" } else { "down" };
    html! {
        small {
            "paper " (format_args!("{:.2}", paper.mean)) " "
            span class=(class) { (format_args!("{:+.2}", mean - paper.mean)) }
        }
    }
}

/// Says so where a mean leaves out cells that failed.
fn missing(entry: &Entry) -> Markup {
    let cells = entry.cells() + entry.failed;
    html! {
        @if entry.failed > 0 && entry.cells() > 0 { small.down { (entry.failed) " of " (cells) " failed" } }
    }
}

fn p_value(p: f64) -> String {
    if p < 0.001 { "< 0.001".into() } else { format!("{p:.3}") }
}

/// Time to train a model on clean data, and the most memory that the process had needed by then.
pub fn costs(table: &AccuracyTable) -> Markup {
    let clean = (0..table.lines.len()).filter(|&line| table.lines[line].attack.is_none());
    let rows: Vec<(usize, usize, f64)> = clean
        .flat_map(|line| table.entries(line).map(move |(column, entry)| (line, column, entry)))
        .filter_map(|(line, column, entry)| Some((line, column, entry.train_seconds_mean()?)))
        .collect();
    html! {
        @if !rows.is_empty() {
            details {
                summary { "Time and memory" }
                p {
                    "Seconds to train on one split; the most memory that the whole process had needed by then, which "
                    "several models at once may share."
                }
                div.scroll {
                    table {
                        thead { tr { th { "data" } th { "model" } th.number { "seconds" } th.number { "MB" } } }
                        tbody { @for (line, column, seconds) in rows { (cost_line(table, line, column, seconds)) } }
                    }
                }
            }
        }
    }
}

fn cost_line(table: &AccuracyTable, line: usize, column: usize, seconds: f64) -> Markup {
    let memory = table.entry(line, column).peak_memory_bytes;
    html! {
        tr {
            td { (table.lines[line].dataset) }
            td { (display(&table.columns[column])) }
            td.number { (format_args!("{seconds:.2}")) }
            td.number { @if let Some(bytes) = memory { (format_args!("{:.0}", bytes as f64 / 1e6)) } }
        }
    }
}

/// Cells that failed, and why.
pub fn failures(records: &[CellRecord]) -> Markup {
    let failed: Vec<(&CellRecord, &String)> =
        records.iter().filter_map(|record| Some((record, record.error.as_ref()?))).collect();
    html! {
        @if !failed.is_empty() {
            details {
                summary { (failed.len()) " cells failed" }
                ul {
                    @for (record, error) in failed {
                        li {
                            (display(Column::of(&record.id))) " on " (record.id.dataset) ", split " (record.id.split)
                            ": " (error)
                        }
                    }
                }
            }
        }
    }
}

/// The scores of all splits of a run.
pub fn splits(results: &[CellRecord]) -> Markup {
    let heads = ["train", "validation", "test", "macro-F1", "epochs", "seconds"];
    let accuracy =
        |record: &CellRecord| Some(((record.id.split, 0, 0), record.result.as_ref()?.scores.test_accuracy?));
    let all = Entry::of_accuracies(results.iter().filter_map(accuracy));
    html! {
        div.scroll {
            table {
                thead { tr { th { "split" } @for head in heads { th.number { (head) } } } }
                tbody {
                    @for result in results { (split_line(result)) }
                    @if all.cells() > 1 {
                        tr { th { "mean" } td {} td {} td.number { b { (display(all)) } } td {} td {} td {} }
                    }
                }
            }
        }
    }
}

/// The wrong answers that a model was surest of, each with a link to the explorer of its run.
pub(super) fn errors(errors: &[WrongAnswer], address: impl Fn(&str) -> String) -> Markup {
    let h = |h: Option<f64>| h.map_or_else(|| "–".into(), |h| format!("{h:.2}"));
    let latent = errors.iter().any(|error| error.h[1].is_some());
    html! {
        @if !errors.is_empty() {
            h3 { "Worst errors" }
            p {
                "Test nodes that the model was surest of, and wrong. H: the share of neighbours of another class."
            }
            div.scroll {
                table {
                    thead {
                        tr {
                            th { "node" } th { "class" } th { "predicted" } th.number { "sure, %" }
                            th.number { "H given" } @if latent { th.number { "H latent" } }
                        }
                    }
                    tbody {
                        @for error in errors {
                            tr {
                                td { a href=(address(&error.id)) { (error.id) } }
                                td { (error.truth) } td { (error.predicted) }
                                td.number { (format_args!("{:.1}", 100.0 * error.confidence)) }
                                td.number { (h(error.h[0])) }
                                @if latent { td.number { (h(error.h[1])) } }
                            }
                        }
                    }
                }
            }
        }
    }
}

fn split_line(record: &CellRecord) -> Markup {
    html! {
        @if let Some(measured) = &record.result {
            tr {
                td { (record.id.split) }
                @for share in shares(&measured.scores) {
                    td.number { @if let Some(share) = share { (format_args!("{share:.2}")) } }
                }
                td.number { (measured.epochs) }
                td.number { (format_args!("{:.1}", measured.train_seconds)) }
            }
        }
    }
}

fn shares(scores: &Scores) -> [Option<f64>; 4] {
    [Some(scores.train_accuracy), Some(scores.val_accuracy), scores.test_accuracy, scores.test_macro_f1]
}
