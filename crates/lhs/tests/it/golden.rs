//! Golden bits of the library: every model, every attack and the structure on two made-up graphs.

use lhs::attacks::{self, AttackContext};
use lhs::graph::Dataset;
use lhs::graph::synth::SynthConfig;
use lhs::models::{self, ModelKind};
use lhs::training::{Session, Task};
use sha2::Digest;

use crate::golden_file::{Hash, hold};

/// Two graphs: one whose neighbours agree, and a larger one whose neighbours do not.
fn graphs() -> [(&'static str, Dataset); 2] {
    let alike = SynthConfig { nodes: 150, classes: 3, homophily: 0.8, features: 12, ..Default::default() };
    let unlike = SynthConfig { nodes: 240, classes: 4, homophily: 0.1, ..Default::default() };
    [("alike", alike.generate(11).unwrap()), ("unlike", unlike.generate(12).unwrap())]
}

fn quick(kind: &ModelKind) -> toml::Table {
    let mut settings = (kind.defaults)();
    settings["training"].as_table_mut().unwrap().insert("epochs".into(), 20.into());
    settings
}

#[test]
fn models() {
    let mut found = Vec::new();
    for (graph, dataset) in graphs() {
        let task = Task::new(&dataset, &dataset.splits()[0]).unwrap();
        for kind in models::kinds() {
            let config = (kind.build)(&quick(kind)).unwrap();
            let model = config.fit_with(&task, 5, &mut Session::default()).unwrap();
            let probabilities = model.predict(dataset.graph(), dataset.features()).unwrap();
            found.push((
                format!("model/{}/{graph}", kind.name),
                Hash::default().numbers(&probabilities).done(),
            ));
        }
    }
    hold(&found);
}

#[test]
fn attacks() {
    let mut found = Vec::new();
    for (graph, dataset) in graphs() {
        let split = &dataset.splits()[0];
        let gcn = models::kind("gcn").unwrap();
        let config = (gcn.build)(&quick(gcn)).unwrap();
        let task = Task::new(&dataset, split).unwrap();
        let victim = config.fit_with(&task, 5, &mut Session::default()).unwrap();
        // The worst of several is not one graph.
        let all = attacks::kinds().iter().filter(|kind| kind.name != "worst").map(|kind| (kind, None));
        let climbing = (attacks::kind("adaptive").unwrap(), Some("gradient"));
        for (kind, mode) in all.chain([climbing]) {
            let mut settings = (kind.defaults)();
            if let Some(mode) = mode {
                settings.insert("mode".into(), mode.into());
            }
            for (key, number) in [
                ("steps", 3),
                ("last_steps", 2),
                ("count", 4),
                ("queries", 1),
                ("epochs", 5),
                ("population", 2),
                ("generations", 2),
            ] {
                if let Some(value) = settings.get_mut(key) {
                    *value = number.into();
                }
            }
            let attack = kind.at_rate(&settings, 0.2).unwrap();
            let context =
                AttackContext { victim: Some(victim.as_ref()), ..AttackContext::new(&dataset, split) };
            let attacked = attack.perturb(&context, 5).unwrap();
            let mut hash = Hash::default().graph(attacked.dataset.graph());
            attacked.split.test.iter().for_each(|node| hash.0.update(node.to_le_bytes()));
            for node in 0..dataset.num_nodes() {
                for (column, value) in attacked.dataset.features().row_nonzeros(node) {
                    hash.0.update([column.to_le_bytes(), value.to_le_bytes()].concat());
                }
            }
            let name = mode.map_or(kind.name.to_string(), |mode| format!("{}-{mode}", kind.name));
            found.push((format!("attack/{name}/{graph}"), hash.done()));
        }
    }
    hold(&found);
}

#[test]
fn structure() {
    let kind = models::kind("lhs").unwrap();
    let mut settings = quick(kind);
    let refined = settings["structure"].as_table_mut().unwrap();
    refined.insert("rounds".into(), 2.into());
    let mut found = Vec::new();
    for (graph, dataset) in graphs() {
        let task = Task::new(&dataset, &dataset.splits()[1]).unwrap();
        let model = (kind.build)(&settings).unwrap().fit_with(&task, 6, &mut Session::default()).unwrap();
        let structure = model.structure(dataset.graph(), dataset.features()).unwrap().unwrap();
        let mut hash = Hash::default()
            .numbers(&structure.inputs.profile_directions())
            .numbers(&structure.inputs.features);
        for round in &structure.rounds {
            hash = hash.graph(round);
        }
        found.push((format!("structure/{graph}"), hash.done()));
    }
    hold(&found);
}
