//! An audit as tidy tables, one observation per row, for plots and spreadsheets. What does not exist stays empty.

use std::fs;
use std::path::{Path, PathBuf};

use super::{Audit, GIVEN, Sample, Score};
use crate::error::{Error, Result};
use crate::io::atomic;
use crate::metrics::shift::Shift;

const HISTOGRAMS: &str = "histograms.csv";
const SHIFTS: &str = "shifts.csv";
const ACCURACY: &str = "accuracy_by_h.csv";

const SAMPLE: [&str; 5] = ["data", "graph", "first_ring", "last_ring", "part"];

impl Audit {
    /// The files that [`Audit::write_tables`] writes.
    pub fn tables(folder: &Path) -> [PathBuf; 3] {
        [HISTOGRAMS, SHIFTS, ACCURACY].map(|name| folder.join(name))
    }

    /// Writes `histograms.csv`, `shifts.csv` and `accuracy_by_h.csv` into a folder, which is made if need be. All
    /// three are always written (without a model the last has no rows), so that none is left from another audit.
    pub fn write_tables(&self, folder: &Path) -> Result<()> {
        let [histograms, shifts, accuracy] = Self::tables(folder);
        fs::create_dir_all(folder).map_err(Error::io("create", folder))?;
        let of_bins = ["bin", "low", "high", "count", "share"];
        write(&histograms, &[&SAMPLE[..], &of_bins].concat(), self.histogram_rows())?;
        let of_shift = [
            "nodes",
            "count",
            "mean",
            "q1",
            "median",
            "q3",
            "reference",
            "mean_shift",
            "wasserstein",
            "ks",
            "ks_right",
            "ks_left",
            "direction",
        ];
        write(&shifts, &[&SAMPLE[..], &of_shift].concat(), self.samples.iter().flat_map(shift_rows))?;
        let of_accuracy = ["data", "low", "high", "nodes", "right", "accuracy"];
        write(&accuracy, &of_accuracy, self.accuracy_rows())
    }

    fn histogram_rows(&self) -> impl Iterator<Item = Vec<String>> + '_ {
        self.samples.iter().flat_map(move |sample| {
            let counts = sample.distribution.histogram.iter().enumerate();
            counts.map(move |(bin, &count)| {
                let [low, high] = self.edges(bin);
                let all = sample.distribution.count;
                let share = text((all > 0).then(|| count as f64 / all as f64));
                let mut row = head(sample);
                row.extend([bin.to_string(), low, high, count.to_string(), share]);
                row
            })
        })
    }

    /// Bin after bin, then the nodes without `H`, whose bin has no edges.
    fn accuracy_rows(&self) -> impl Iterator<Item = Vec<String>> + '_ {
        let row = |data: &str, [low, high]: [String; 2], score: &Score| {
            let accuracy = text(score.accuracy);
            vec![data.to_string(), low, high, score.nodes.to_string(), score.right.to_string(), accuracy]
        };
        self.accuracy.iter().flat_map(move |of| {
            let bins =
                of.bins.iter().enumerate().map(move |(bin, score)| row(&of.data, self.edges(bin), score));
            bins.chain([row(&of.data, Default::default(), &of.undefined)])
        })
    }

    fn edges(&self, bin: usize) -> [String; 2] {
        [bin, bin + 1].map(|edge| (edge as f64 / self.bins as f64).to_string())
    }
}

fn head(sample: &Sample) -> Vec<String> {
    let rings = [sample.scope.first_ring, sample.scope.last_ring].map(|ring| ring.to_string());
    let [first, last] = rings;
    vec![sample.data.clone(), sample.graph.clone(), first, last, sample.part.to_string()]
}

/// A row for each of the training distributions that the sample is held against; one without shift if there is none.
fn shift_rows(sample: &Sample) -> Vec<Vec<String>> {
    let against = |reference: &str, shift: &Shift| (reference.to_string(), Some(*shift));
    let mut shifts: Vec<(String, Option<Shift>)> = Vec::new();
    shifts.extend(sample.shift.iter().map(|shift| against(GIVEN, shift)));
    shifts.extend(sample.shift_in_round.iter().map(|shift| against(&sample.graph, shift)));
    if shifts.is_empty() {
        shifts.push((String::new(), None));
    }
    shifts.into_iter().map(|(reference, shift)| shift_row(sample, reference, shift)).collect()
}

fn shift_row(sample: &Sample, reference: String, shift: Option<Shift>) -> Vec<String> {
    let of = &sample.distribution;
    let mut row = head(sample);
    row.extend([sample.nodes.to_string(), of.count.to_string(), text(of.mean)]);
    row.extend((0..3).map(|place| text(of.quartiles.map(|quartiles| quartiles[place]))));
    row.push(reference);
    let numbers: [fn(Shift) -> f64; 5] =
        [|s| s.mean_shift, |s| s.wasserstein, |s| s.ks, |s| s.ks_right, |s| s.ks_left];
    row.extend(numbers.map(|number| text(shift.map(number))));
    row.push(shift.map_or_else(String::new, |shift| shift.direction.to_string()));
    row
}

fn text(number: Option<f64>) -> String {
    number.map_or_else(String::new, |number| number.to_string())
}

fn write(path: &Path, header: &[&str], rows: impl Iterator<Item = Vec<String>>) -> Result<()> {
    atomic::write(path, |out| {
        let mut table = csv::Writer::from_writer(out);
        let failed = |error: csv::Error| Error::io("write", path)(error.into());
        table.write_record(header).map_err(failed)?;
        for row in rows {
            table.write_record(row).map_err(failed)?;
        }
        table.flush().map_err(Error::io("write", path))
    })
}
