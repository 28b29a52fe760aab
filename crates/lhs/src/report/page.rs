//! The page itself: sections, tables, figures with their downloads, and the explorer.

use std::collections::BTreeMap;
use std::fmt::Write;

use super::figures::{self, Figure};
use super::svg::{COLOURS, escaped};
use super::tables::contestant;
use super::view::RunView;
use super::{Report, SuiteResults};
use crate::bench::CellRecord;
use crate::eval::metrics;
use crate::eval::shipped::slug;

/// The whole document. Its policy lets no request leave it, whatever the names in the data contain.
pub fn page(report: &Report) -> String {
    let mut html = String::from(
        "<!doctype html><html lang=\"en\"><head><meta charset=\"utf-8\">\
         <meta name=\"viewport\" content=\"width=device-width,initial-scale=1\">\
         <meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src 'unsafe-inline'; \
         script-src 'unsafe-inline'\"><title>lhs report</title><style>",
    );
    html.push_str(include_str!("page.css"));
    html.push_str("</style></head><body><h1>lhs report</h1><nav>");
    for (id, title) in sections(report) {
        let _ = write!(html, "<a href=\"#{id}\">{}</a>", escaped(&title));
    }
    html.push_str("</nav>");
    report.suites.iter().for_each(|suite| html.push_str(&suite_section(suite)));
    report.runs.iter().enumerate().for_each(|(number, run)| html.push_str(&run_section(run, number)));
    html.push_str("<script>");
    html.push_str(include_str!("page.js"));
    html + "</script></body></html>\n"
}

fn sections(report: &Report) -> Vec<(String, String)> {
    let suites =
        report.suites.iter().map(|suite| (format!("suite-{}", slug(&suite.name)), suite.name.clone()));
    let runs = report.runs.iter().enumerate().map(|(n, run)| (format!("run-{n}"), run.title()));
    suites.chain(runs).collect()
}

fn suite_section(results: &SuiteResults) -> String {
    let suite = &results.suite;
    let table = results.table();
    let mut html =
        format!("<section id=\"suite-{}\"><h2>{}</h2>", slug(&results.name), escaped(&suite.title));
    html.push_str(&protocol(results));
    let _ = write!(
        html,
        "<div data-name=\"{0}-accuracy\"><h3>Test accuracy, %</h3><p>Mean ± standard deviation over splits, seeds and \
         repeats; the best in bold. p: paired permutation test against lhs over the same splits.</p>{1}\
         <script type=\"text/csv\">{2}</script><p><button data-save=\"csv\">CSV</button></p></div>",
        slug(&results.name),
        table.html(),
        in_script(&table.csv())
    );
    let groups = [
        ("Accuracy against strength", figures::strengths(&results.records)),
        ("Right-shift against loss", figures::shift_against_loss(&results.records).into_iter().collect()),
        ("Heterophily of the nodes", figures::heterophily(&results.records)),
        ("While training", figures::curves(&results.records)),
    ];
    for (title, figures) in &groups {
        html.push_str(&figure_group(title, figures));
    }
    html.push_str(&costs(&results.records));
    html.push_str(&failures(&results.records));
    html + "</section>"
}

/// What was run and with which settings, one click away.
fn protocol(results: &SuiteResults) -> String {
    let suite = toml::to_string_pretty(&results.suite).unwrap_or_default();
    let mut settings: BTreeMap<String, String> = BTreeMap::new();
    for record in &results.records {
        let key = format!("{} on {}", contestant(record), record.id.dataset);
        settings.entry(key).or_insert_with(|| record.settings.to_string());
    }
    let mut text = String::new();
    for (key, value) in &settings {
        let value = if value.trim().is_empty() { "defaults\n" } else { value.as_str() };
        let _ = writeln!(text, "# {key}\n{value}");
    }
    let splits = match &results.suite.splits {
        None => "all splits that come with the data".to_string(),
        Some(splits) => format!("splits {splits:?} of those that come with the data"),
    };
    format!(
        "<p>{} cells, lhs {}; {splits}; settings chosen by validation accuracy alone, test labels used for scoring \
         and for crafting attacks.</p><details><summary>Suite</summary><pre>{}</pre></details>\
         <details><summary>Settings that differ from the defaults</summary><pre>{}</pre></details>",
        results.records.len(),
        escaped(&results.version),
        escaped(&suite),
        escaped(&text)
    )
}

fn figure_group(title: &str, figures: &[Figure]) -> String {
    if figures.is_empty() {
        return String::new();
    }
    let mut html = format!("<h3>{}</h3><div class=\"figures\">", escaped(title));
    figures.iter().for_each(|figure| html.push_str(&figure_html(figure)));
    html + "</div>"
}

fn figure_html(figure: &Figure) -> String {
    format!(
        "<figure data-name=\"{}\"><figcaption>{}</figcaption>{}<script type=\"text/csv\">{}</script>\
         <button data-save=\"csv\">CSV</button> <button data-save=\"svg\">SVG</button></figure>",
        slug(&figure.title.replace([':', ',', ' '], "-")),
        escaped(&figure.title),
        figure.svg,
        in_script(&figure.csv)
    )
}

/// Text inside a script element, which ends at the first `</script`.
fn in_script(text: &str) -> String {
    text.replace("</", "<\\/")
}

/// Time to train a model, and the most memory that the process had needed by then.
fn costs(records: &[CellRecord]) -> String {
    let mut rows: BTreeMap<(String, String), (Vec<f64>, u64)> = BTreeMap::new();
    for record in records.iter().filter(|record| record.id.attack.is_none()) {
        let Some(measured) = &record.result else { continue };
        let row = rows.entry((record.id.dataset.clone(), contestant(record))).or_default();
        row.0.push(measured.train_seconds);
        row.1 = row.1.max(measured.peak_memory_bytes.unwrap_or(0));
    }
    if rows.is_empty() {
        return String::new();
    }
    let mut html =
        "<details><summary>Time and memory</summary><p>Seconds to train on one split; the most memory that \
                    the whole process had needed by then, which several models at once may share.</p>\
                    <div class=\"scroll\"><table><thead><tr><th>data<th>model<th>seconds<th>MB<tbody>"
            .to_string();
    for ((dataset, model), (seconds, memory)) in &rows {
        let _ = write!(
            html,
            "<tr><td>{}<td>{}<td class=\"number\">{:.2}<td class=\"number\">{:.0}",
            escaped(dataset),
            escaped(model),
            metrics::mean(seconds),
            *memory as f64 / 1e6
        );
    }
    html + "</table></div></details>"
}

fn failures(records: &[CellRecord]) -> String {
    let failed: Vec<&CellRecord> = records.iter().filter(|record| record.error.is_some()).collect();
    if failed.is_empty() {
        return String::new();
    }
    let mut html = format!("<details><summary>{} cells failed</summary><ul>", failed.len());
    for record in failed {
        let error = record.error.as_deref().unwrap_or_default();
        let _ = write!(
            html,
            "<li>{} on {}, split {}: {}",
            escaped(&contestant(record)),
            escaped(&record.id.dataset),
            record.id.split,
            escaped(error)
        );
    }
    html + "</ul></details>"
}

fn run_section(run: &RunView, number: usize) -> String {
    let mut html = format!("<section id=\"run-{number}\"><h2>{}</h2>", escaped(&run.title()));
    run.remarks.iter().for_each(|remark| {
        let _ = write!(html, "<p>{}</p>", escaped(remark));
    });
    html.push_str(&run.splits_html());
    html.push_str(&figure_group("What was learned", &run.figures));
    if let Some(explorer) = &run.explorer {
        let mut key = String::new();
        for (place, class) in run.classes.iter().enumerate() {
            let colour = COLOURS[place % COLOURS.len()];
            let _ = write!(key, "<span><i style=\"background:{colour}\"></i>{}</span>", escaped(class));
        }
        let _ = write!(
            html,
            "<div class=\"explorer\"><h3>Walk through the graphs</h3><p>Type a node, or click on a neighbour: left the \
             given graph, right the latent one, coloured by class.</p><form><input aria-label=\"node\"> \
             <button>show</button></form><p><output></output></p><p class=\"key\">{key}</p><div class=\"pair\">\
             <figure><figcaption>given</figcaption><svg viewBox=\"0 0 320 320\"></svg></figure>\
             <figure><figcaption>latent</figcaption><svg viewBox=\"0 0 320 320\"></svg></figure></div>\
             <script type=\"application/json\">{}</script></div>",
            in_script(&explorer.to_string())
        );
    }
    html + "</section>"
}
