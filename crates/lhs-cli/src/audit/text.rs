//! An audit for the terminal: one table per scope, histograms as small bars, within 100 columns up to 20 bins.

use crate::output::Global;
use lhs::metrics::audit::{AccuracyByH, Audit, GIVEN, Sample, Scope, Score};
use lhs::metrics::shift::{Direction, Shift};

/// Heights of a bar, from low to high.
const BARS: [char; 8] = ['▁', '▂', '▃', '▄', '▅', '▆', '▇', '█'];
/// An empty bin.
const EMPTY: char = '·';
/// Names of versions take so many columns.
const NAME: usize = 14;
/// So many versions stand side by side in the table of accuracies.
const SIDE_BY_SIDE: usize = 4;

/// Prints all of it.
pub fn say(audit: &Audit, dataset: &str, split: usize, model: Option<&str>, global: &Global) {
    global.say(format_args!("{dataset}, split {split}: H, the share of other classes around a node"));
    // Every version has every scope: those of the first, once each, name the tables.
    let first = |sample: &&Sample| sample.data == audit.samples[0].data && sample.part == "train";
    for sample in audit.samples.iter().filter(first).filter(|sample| is_shown(sample, audit)) {
        say_table(audit, (&sample.graph, sample.scope), global);
    }
    if let Some(sample) = audit.sampled {
        global.say(format_args!(
            "rings beyond the first: at {sample} nodes of each part, since the graph is large"
        ));
    }
    if let Some(model) = model {
        say_accuracy(audit, model, global);
    }
}

/// Of the joint scopes the widest is enough for people; the others are in the document and the tables.
fn is_shown(sample: &Sample, audit: &Audit) -> bool {
    let widest = audit.samples.iter().map(|sample| sample.scope.last_ring).max();
    sample.scope.first_ring == sample.scope.last_ring || Some(sample.scope.last_ring) == widest
}

fn say_table(audit: &Audit, (graph, scope): (&str, Scope), global: &Global) {
    let title = match scope {
        _ if graph != GIVEN => format!("latent, {graph}"),
        Scope { first_ring, last_ring } if first_ring == last_ring => format!("ring {first_ring}"),
        Scope { first_ring, last_ring } => format!("rings {first_ring} to {last_ring}"),
    };
    let axis = format!("{:<1$}", "0 to 1", audit.bins.max(6));
    global.say(format_args!("\n{title:<22}  nodes   mean  quartiles       {axis}   shift     W1     KS"));
    let mut last = "";
    for sample in audit.samples.iter().filter(|s| s.graph == graph && s.scope == scope) {
        let name = if sample.data == last { String::new() } else { shortened(&sample.data) };
        last = &sample.data;
        say_sample(&name, sample, audit.bins, global);
    }
}

fn say_sample(name: &str, sample: &Sample, bins: usize, global: &Global) {
    let of = &sample.distribution;
    let mean = of.mean.map_or_else(|| "-".to_string(), |mean| format!("{mean:.3}"));
    let quartiles = of.quartiles.map_or_else(
        || "-".to_string(),
        |quartiles| quartiles.map(|quartile| format!("{quartile:.2}")).join(" "),
    );
    let line = format!(
        "  {name:<NAME$} {part:<5}  {count:>5}  {mean:>5}  {quartiles:<14}  {bars:<width$}  {shift}",
        part = sample.part,
        count = of.count,
        bars = bars(&of.histogram),
        width = bins.max(6),
        shift = sample.shift.as_ref().map_or_else(String::new, shift_in_words),
    );
    global.say(line.trim_end());
}

fn shift_in_words(shift: &Shift) -> String {
    let arrow = match shift.direction {
        Direction::Right => ">",
        Direction::Left => "<",
        Direction::Level => "=",
    };
    // Adding 0 turns -0, which a small shift is rounded to, into 0.
    let mean_shift = (1000.0 * shift.mean_shift).round() / 1000.0 + 0.0;
    format!("{mean_shift:>+6.3}  {:.3}  {:.3} {arrow}", shift.wasserstein, shift.ks)
}

/// A histogram as bars, the fullest bin the highest.
fn bars(histogram: &[usize]) -> String {
    let most = histogram.iter().copied().max().unwrap_or(0).max(1);
    let bar = |&count: &usize| match count {
        0 => EMPTY,
        count => BARS[(count * BARS.len()).div_ceil(most) - 1],
    };
    histogram.iter().map(bar).collect()
}

fn shortened(name: &str) -> String {
    if name.chars().count() <= NAME {
        return name.to_string();
    }
    name.chars().take(NAME - 1).chain(['…']).collect()
}

fn say_accuracy(audit: &Audit, model: &str, global: &Global) {
    for versions in audit.accuracy.chunks(SIDE_BY_SIDE) {
        let head: String = versions.iter().map(|of| format!("  {:>1$}", shortened(&of.data), NAME)).collect();
        global
            .say(format_args!("\naccuracy of {model} at the test nodes, in percent, by H in ring 1 (nodes)"));
        global.say(format_args!("  H          {head}"));
        for bin in 0..audit.bins {
            let [low, high] = [bin, bin + 1].map(|edge| edge as f64 / audit.bins as f64);
            say_scores(&format!("{low:.2} {high:.2}"), versions, |of| &of.bins[bin], global);
        }
        if versions.iter().any(|of| of.undefined.nodes > 0) {
            say_scores("none", versions, |of| &of.undefined, global);
        }
        say_scores("all", versions, |of| &of.all, global);
    }
}

fn say_scores(name: &str, versions: &[AccuracyByH], of: impl Fn(&AccuracyByH) -> &Score, global: &Global) {
    let show = |score: &Score| match score.accuracy {
        Some(accuracy) => format!("  {accuracy:>6.1} {:>7}", format!("({})", score.nodes)),
        None => format!("  {:>6} {:>7}", "-", ""),
    };
    let line =
        format!("  {name:<11}{}", versions.iter().map(|version| show(of(version))).collect::<String>());
    global.say(line.trim_end());
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bars_are_as_high_as_their_bins_are_full() {
        assert_eq!(bars(&[0, 1, 8, 16]), "·▁▄█");
        assert_eq!(bars(&[0, 0]), "··");
        assert_eq!(bars(&[1, 1000]), "▁█");
        let shift = Shift::between(&[0.5, 0.5], &[0.4999, 0.5]).unwrap();
        assert_eq!(shift_in_words(&shift), "+0.000  0.000  0.500 <");
        assert_eq!(shortened("a-name-of-many-letters"), "a-name-of-man…");
    }
}
