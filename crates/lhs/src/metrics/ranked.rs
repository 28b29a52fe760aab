//! The nodes that are most likely of some class, in order: what somebody who looks for them works through.

use std::io::Write;
use std::path::Path;

use serde::Serialize;

use super::predictions::{Predictions, part_names, write_error};
use crate::error::{Error, Result};
use crate::graph::Split;

/// One line of the list.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct RankedNode {
    /// Its place, from 1.
    pub rank: usize,
    /// Its id.
    pub node: String,
    /// How likely it is of the class.
    pub probability: f32,
    /// The class that it is taken for.
    pub prediction: String,
    /// Its class, where that is known.
    pub label: Option<String>,
    /// Its part in training, where it had one.
    pub part: Option<&'static str>,
}

/// The nodes by the probability of a class, the likeliest first, of equals in the order of the data.
pub fn ranked(
    predictions: &Predictions<'_>,
    class: u32,
    nodes: impl IntoIterator<Item = u32>,
    split: &Split,
) -> Vec<RankedNode> {
    let probability = |node: u32| predictions.probabilities().row(node as usize)[class as usize];
    let mut nodes: Vec<u32> = nodes.into_iter().collect();
    nodes.sort_by(|&a, &b| probability(b).total_cmp(&probability(a)).then(a.cmp(&b)));
    let parts = part_names(predictions.dataset().num_nodes(), Some(split));
    let line = |(place, &node): (usize, &u32)| RankedNode {
        rank: place + 1,
        node: predictions.dataset().node_id(node as usize),
        probability: probability(node),
        prediction: predictions.prediction(node).to_string(),
        label: predictions.label(node).map(String::from),
        part: Some(parts[node as usize]).filter(|part| !part.is_empty()),
    };
    nodes.iter().enumerate().map(line).collect()
}

/// Writes `rank,node,p_CLASS,prediction,label,part`; what is not known stays empty.
pub fn write_csv(ranked: &[RankedNode], class: &str, out: impl Write, path: &Path) -> Result<()> {
    let mut table = csv::Writer::from_writer(out);
    let failed = |error: csv::Error| write_error(error, path);
    let header = ["rank", "node", &format!("p_{class}"), "prediction", "label", "part"];
    table.write_record(header).map_err(failed)?;
    for RankedNode { rank, node, probability, prediction, label, part } in ranked {
        let (rank, probability) = (rank.to_string(), probability.to_string());
        let (label, part) = (label.as_deref().unwrap_or_default(), part.unwrap_or_default());
        table.write_record([&rank, node, &probability, prediction, label, part]).map_err(failed)?;
    }
    table.flush().map_err(Error::io("write", path))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::graph::{Dataset, DatasetParts, Features, Graph, Labels, Repairs};
    use crate::linalg::Mat;

    #[test]
    fn the_likeliest_come_first_and_equals_stay_in_order() {
        let names = ["ok", "fraud"].map(String::from);
        let dataset = Dataset::new(DatasetParts {
            name: "accounts".into(),
            graph: Graph::from_edges(4, &[]).unwrap().0,
            repairs: Repairs::default(),
            features: Features::none(4),
            labels: Labels::new(vec![Some(0), None, Some(1), None], names.to_vec()).unwrap(),
            node_ids: Some(["a", "b,c", "d", "e"].map(String::from).to_vec()),
            splits: vec![],
            details: Default::default(),
        })
        .unwrap();
        let probabilities = Mat::from_slice(4, 2, &[0.75, 0.25, 0.25, 0.75, 0.5, 0.5, 0.25, 0.75]);
        let predictions = Predictions::new(&dataset, &names, probabilities).unwrap();
        let split = Split { train: vec![0], val: vec![], test: vec![2] };
        let found = ranked(&predictions, 1, 0..4, &split);
        let order: Vec<&str> = found.iter().map(|line| line.node.as_str()).collect();
        assert_eq!(order, ["b,c", "e", "d", "a"]);
        assert_eq!(
            (found[2].part, found[2].label.as_deref(), found[2].rank),
            (Some("test"), Some("fraud"), 3)
        );
        let mut text = Vec::new();
        write_csv(&found[..3], "fraud", &mut text, Path::new("memory")).unwrap();
        let expected = "rank,node,p_fraud,prediction,label,part\n\
                        1,\"b,c\",0.75,fraud,,\n2,e,0.75,fraud,,\n3,d,0.5,ok,fraud,test\n";
        assert_eq!(String::from_utf8(text).unwrap(), expected);
    }
}
