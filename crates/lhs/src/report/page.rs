//! The page itself: sections, tables, figures with their downloads, and the explorer.

use std::collections::BTreeMap;
use std::fmt::Write;

use maud::{DOCTYPE, Markup, PreEscaped, html};

use super::embed::embedded;
use super::figures::{self, Figure};
use super::view::RunView;
use super::{Report, SuiteResults, certificate, summary, tables};
use crate::certify::CertificateRecord;
use crate::experiment::found_settings::slug;
use crate::experiment::table::{AccuracyTable, Column};

/// Lets no request leave the page, whatever the names in the data contain.
const POLICY: &str = "default-src 'none'; style-src 'unsafe-inline'; script-src 'unsafe-inline'";

/// The script, by what its parts are about.
const SCRIPT: &str = concat!(
    include_str!("page/base.js"),
    include_str!("page/figures.js"),
    include_str!("page/explorer.js"),
    include_str!("page/map.js"),
);

/// The whole document.
pub fn page(report: &Report) -> String {
    let document = html! {
        (DOCTYPE)
        html lang="en" {
            head {
                meta charset="utf-8";
                meta name="viewport" content="width=device-width,initial-scale=1";
                meta http-equiv="Content-Security-Policy" content=(POLICY);
                title { "lhs report" }
                style { (PreEscaped(include_str!("page/style.css"))) }
            }
            body {
                h1 { "lhs report" }
                nav { @for (id, title) in sections(report) { a href={ "#" (id) } { (title) } } }
                @for suite in &report.suites { (suite_section(suite)) }
                @for (number, run) in report.runs.iter().enumerate() { (run_section(run, number, report.runs.len())) }
                @for (number, record) in report.certificates.iter().enumerate() { (certificate_section(record, number)) }
                script { (PreEscaped(SCRIPT)) }
            }
        }
    };
    document.into_string() + "\n"
}

/// Id and title of each section.
fn sections(report: &Report) -> Vec<(String, String)> {
    let suites = report.suites.iter().map(|suite| (suite_id(suite), suite.name.clone()));
    let runs = report.runs.iter().enumerate().map(|(number, run)| (run_id(number), run.title()));
    let certificates = report.certificates.iter().enumerate();
    let certificates =
        certificates.map(|(number, record)| (certificate_id(number), certificate_title(record)));
    suites.chain(runs).chain(certificates).collect()
}

fn suite_id(suite: &SuiteResults) -> String {
    format!("suite-{}", slug(&suite.name))
}

fn certificate_id(number: usize) -> String {
    format!("certificate-{number}")
}

fn certificate_title(record: &CertificateRecord) -> String {
    format!("{} on {}, certified", record.model, record.dataset)
}

fn run_id(number: usize) -> String {
    format!("run-{number}")
}

fn suite_section(results: &SuiteResults) -> Markup {
    let (table, records) = (results.table(), &results.records);
    html! {
        section id=(suite_id(results)) {
            h2 { (results.suite.title) }
            (found(&summary::of_suite(&table)))
            (results.facts.html())
            (protocol(results))
            (accuracy(&slug(&results.name), &table))
            (figure_group("Accuracy against strength", &figures::strengths(&table)))
            (figure_group("Right-shift against loss", figures::shift_against_loss(records).as_slice()))
            (figure_group("Heterophily of the nodes", &figures::heterophily(records)))
            (figure_group("While training", &figures::curves(records)))
            (tables::costs(&table))
            (tables::failures(records))
        }
    }
}

/// The accuracies with their download.
fn accuracy(name: &str, table: &AccuracyTable) -> Markup {
    let p_values =
        |line: usize| table.entries(line).filter_map(move |(column, _)| table.p_value(line, column));
    let tested = (0..table.lines.len()).any(|line| p_values(line).next().is_some());
    html! {
        div data-name={ (name) "-accuracy" } {
            h3 { "Test accuracy, %" }
            p {
                "Mean ± standard deviation over splits, seeds and repeats; the best in bold."
                @if tested { " p: paired permutation test against lhs over the same splits." }
            }
            (tables::accuracies(table))
            (embedded("csv", &table.csv()))
            p { button data-save="csv" { "CSV" } }
        }
    }
}

/// What was run and with which settings, one click away.
fn protocol(results: &SuiteResults) -> Markup {
    let splits = match &results.suite.splits {
        None => "all splits that come with the data".to_string(),
        Some(splits) => format!("splits {splits}"),
    };
    html! {
        p {
            (results.records.len()) " cells; " (splits) "; settings chosen by validation "
            "accuracy alone, test labels used for scoring and for crafting attacks."
        }
        details {
            summary { "Suite" }
            pre { (toml::to_string_pretty(&results.suite).unwrap_or_default()) }
        }
        details {
            summary { "Settings that differ from the defaults" }
            pre { (settings(results)) }
        }
    }
}

/// The settings of each model and variant on each dataset.
fn settings(results: &SuiteResults) -> String {
    let mut settings: BTreeMap<String, String> = BTreeMap::new();
    for record in &results.records {
        let key = format!("{} on {}", Column::of(&record.id), record.id.dataset);
        settings.entry(key).or_insert_with(|| record.settings.to_string());
    }
    let mut text = String::new();
    for (key, value) in &settings {
        let value = if value.trim().is_empty() { "defaults\n" } else { value.as_str() };
        let _ = writeln!(text, "# {key}\n{value}");
    }
    text
}

fn figure_group(title: &str, figures: &[Figure]) -> Markup {
    html! {
        @if !figures.is_empty() {
            h3 { (title) }
            div.figures { @for figure in figures { (figure_html(figure)) } }
        }
    }
}

/// A figure with the downloads of its picture and its numbers.
fn figure_html(figure: &Figure) -> Markup {
    html! {
        figure data-name=(slug(&figure.title)) {
            figcaption { (figure.title) }
            (figure.svg)
            (embedded("csv", &figure.csv))
            button data-save="csv" { "CSV" } " " button data-save="svg" { "SVG" }
        }
    }
}

/// What was found, before anything else.
fn found(sentences: &[String]) -> Markup {
    html! { @for sentence in sentences { p.finding { (sentence) } } }
}

fn certificate_section(record: &CertificateRecord, number: usize) -> Markup {
    html! {
        section id=(certificate_id(number)) {
            h2 { (certificate_title(record)) }
            (found(certificate::finding(record).as_slice()))
            (figure_group("What no attacker can change", certificate::figure(record).as_slice()))
        }
    }
}

fn run_section(run: &RunView, number: usize, runs: usize) -> Markup {
    let address = |id: &str| node_address((runs > 1).then_some(number), id);
    html! {
        section id=(run_id(number)) data-run=(number) {
            h2 { (run.title()) }
            (found(&run.found))
            (run.facts.html())
            @if !run.remarks.is_empty() {
                details open { summary { "What the model decided" } ul { @for remark in &run.remarks { li { (remark) } } } }
            }
            h3 { "Scores by split, %" }
            (tables::splits(&run.results))
            (figure_group("How good the answers are", &run.quality))
            (tables::errors(&run.errors, address))
            (figure_group("What no attacker can change", run.certified.as_slice()))
            (figure_group("What was learned", &run.figures))
            (run.explorer.html())
        }
    }
}

/// The address, within the page, of a node; of which run is said where there are several.
fn node_address(run: Option<usize>, id: &str) -> String {
    let mut address = run.map_or_else(|| "#node=".into(), |run| format!("#run={run}&node="));
    for byte in id.bytes() {
        match byte {
            b'A'..=b'Z' | b'a'..=b'z' | b'0'..=b'9' | b'-' | b'_' | b'.' => address.push(byte as char),
            other => {
                let _ = write!(address, "%{other:02X}");
            }
        }
    }
    address
}

#[cfg(test)]
mod tests {
    use serde_json::Value;

    use super::super::explorer::Explorer;
    use super::super::facts::{DataFacts, Facts};
    use super::super::quality::ShownAnswers;
    use super::super::view::WrongAnswer;
    use super::*;
    use crate::experiment::table::made_up::{failed, record, suite};
    use crate::graph::Split;
    use crate::linalg::Mat;

    const NODE: &str = "<!--<script>";
    const CLASS: &str = "</script><b>";
    const MODEL: &str = "\" onload=x";

    /// A page in which every name is an attempt to break it.
    fn hostile() -> String {
        let mut suite = suite();
        suite.title = CLASS.into();
        let records = vec![
            record(NODE, ("lhs", Some(CLASS)), 0, None, 50.0),
            record(NODE, ("lhs", None), 0, None, 60.0),
            failed(CLASS, (MODEL, None), 0),
        ];
        let (folder, version) = ("runs".into(), "0".into());
        let data = DataFacts { name: NODE.into(), ..DataFacts::default() };
        let facts = Facts {
            command: Some(NODE.into()),
            started: Some(MODEL.into()),
            data: vec![data],
            ..Facts::default()
        };
        let suite = SuiteResults { folder, name: NODE.into(), version, suite, records, facts: facts.clone() };
        let explorer = Explorer {
            classes: vec![CLASS.into()],
            colours: vec!["#000".into()],
            ids: vec![NODE.into(), "<!--".into()],
            ..Explorer::default()
        };
        let probabilities = Mat::from_slice(2, 2, &[0.9, 0.1, 0.2, 0.8]);
        let (classes, split) =
            ([CLASS.to_string(), NODE.to_string()], Split { test: vec![0, 1], ..Split::default() });
        let answers = ShownAnswers::new(&classes, &probabilities, vec![Some(1), Some(0)], &split);
        let error = WrongAnswer {
            id: NODE.into(),
            truth: CLASS.into(),
            predicted: NODE.into(),
            confidence: 0.9,
            h: [None, Some(0.5)],
        };
        let run = RunView {
            dataset: NODE.into(),
            model: CLASS.into(),
            split: 0,
            facts,
            found: summary::of_run(CLASS, NODE, &answers, &[]),
            remarks: vec![NODE.into()],
            results: Vec::new(),
            quality: answers.figures(),
            certified: None,
            errors: vec![error],
            figures: Vec::new(),
            explorer,
        };
        page(&Report { suites: vec![suite], runs: vec![run], certificates: Vec::new() })
    }

    /// The texts of the script elements as a browser delimits them: between `<!--` and `-->` a `<script` opens an inner
    /// element, whose end does not count. None if one is not ended.
    fn scripts(mut html: &str) -> Option<Vec<&str>> {
        let mut found = Vec::new();
        while let Some(start) = html.find("<script") {
            let body = &html[start + html[start..].find('>')? + 1..];
            let end = script_end(body)?;
            found.push(&body[..end]);
            html = &body[end + "</script>".len()..];
        }
        Some(found)
    }

    fn script_end(body: &str) -> Option<usize> {
        let (mut comment, mut inner) = (false, false);
        for (place, _) in body.match_indices(['<', '-']) {
            let rest = &body[place..];
            if rest.starts_with("<!--") {
                comment = true;
            } else if rest.starts_with("-->") {
                (comment, inner) = (false, false);
            } else if comment && rest.starts_with("<script") {
                inner = true;
            } else if rest.starts_with("</script") {
                if !inner {
                    return Some(place);
                }
                inner = false;
            }
        }
        None
    }

    #[test]
    fn script_ends_are_found_as_browsers_find_them() {
        assert_eq!(scripts("<script>a</script><script>b</script>"), Some(vec!["a", "b"]));
        assert_eq!(scripts("<script><!--<script></script>"), None);
        assert_eq!(scripts("<script><!--<script></script>--></script>").unwrap().len(), 1);
    }

    #[test]
    fn no_name_breaks_the_page() {
        let page = hostile();
        let scripts = scripts(&page).expect("every script ends");
        assert_eq!(
            scripts.len(),
            7,
            "the numbers of a table and four figures, the explorer's data, the page's script"
        );
        assert_eq!(scripts[6], SCRIPT);
        let table: String = serde_json::from_str(scripts[0]).unwrap();
        assert!(table.contains(NODE) && table.contains(CLASS));
        let explorer: Value = serde_json::from_str(scripts[5]).unwrap();
        assert_eq!((&explorer["ids"][0], &explorer["classes"][0]), (&NODE.into(), &CLASS.into()));
        assert_eq!(page.matches("<script").count(), 7);
        assert!(page.contains("href=\"#node=%3C%21--%3Cscript%3E\""), "the error links to its node");
        let markup = scripts.iter().fold(page.clone(), |markup, script| markup.replace(script, ""));
        for name in [NODE, CLASS, MODEL] {
            assert!(!markup.contains(name), "{name} is markup");
        }
        assert!(markup.contains("&lt;!--&lt;script&gt;") && markup.contains("it &lt;broke&gt;"));
    }
}
