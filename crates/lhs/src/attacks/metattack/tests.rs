use super::*;
use crate::attacks::random::RandomConfig;
use crate::autograd::{Order, Var, gradients};
use crate::graph::synth::SynthConfig;
use crate::graph::{DatasetParts, Features, Labels};
use crate::linalg::random::{derive, generator, glorot, hash};
use crate::linalg::{Mat, SparseMat};
use crate::models::kind;
use crate::training::{Session, Task};

/// The attack loss after training, written down as plainly as can be: `f64`, every matrix dense, any real adjacency.
struct Plain {
    features: Vec<Vec<f64>>,
    start: [Vec<Vec<f64>>; 2],
    labelled: Labelled,
    attacked: Labelled,
    descent: Descent,
}

fn rows(mat: &Mat) -> Vec<Vec<f64>> {
    (0..mat.rows()).map(|row| mat.row(row).iter().map(|&value| f64::from(value)).collect()).collect()
}

fn times(a: &[Vec<f64>], b: &[Vec<f64>]) -> Vec<Vec<f64>> {
    let entry = |row: &Vec<f64>, col: usize| row.iter().zip(b).map(|(a, b)| a * b[col]).sum();
    a.iter().map(|row| (0..b[0].len()).map(|col| entry(row, col)).collect()).collect()
}

fn turned(a: &[Vec<f64>]) -> Vec<Vec<f64>> {
    (0..a[0].len()).map(|col| a.iter().map(|row| row[col]).collect()).collect()
}

fn chances(row: &[f64]) -> Vec<f64> {
    let total: f64 = row.iter().map(|value| value.exp()).sum();
    row.iter().map(|value| value.exp() / total).collect()
}

fn pick(mat: &[Vec<f64>], nodes: &[u32]) -> Vec<Vec<f64>> {
    nodes.iter().map(|&node| mat[node as usize].clone()).collect()
}

impl Plain {
    fn loss(&self, adjacency: &[Vec<f64>]) -> f64 {
        let n = adjacency.len();
        let degree: Vec<f64> = adjacency.iter().map(|row| 1.0 + row.iter().sum::<f64>()).collect();
        let entry = |u: usize, v: usize| {
            (adjacency[u][v] + f64::from(u8::from(u == v))) / (degree[u] * degree[v]).sqrt()
        };
        let propagation: Vec<Vec<f64>> = (0..n).map(|u| (0..n).map(|v| entry(u, v)).collect()).collect();
        let m = times(&propagation, &times(&propagation, &self.features));
        let at_labelled = pick(&m, &self.labelled.nodes);
        let mut weights = self.start.clone();
        let mut velocity = self.start.clone().map(|w| vec![vec![0.0; w[0].len()]; w.len()]);
        let rate = f64::from(self.descent.learning_rate);
        for _ in 0..self.descent.steps {
            let hidden = times(&at_labelled, &weights[0]);
            let mut error: Vec<Vec<f64>> =
                times(&hidden, &weights[1]).iter().map(|row| chances(row)).collect();
            for (row, &class) in error.iter_mut().zip(&self.labelled.classes) {
                row[class as usize] -= 1.0;
                row.iter_mut().for_each(|value| *value /= self.labelled.nodes.len() as f64);
            }
            let back = times(&error, &turned(&weights[1]));
            let gradient = [times(&turned(&at_labelled), &back), times(&turned(&hidden), &error)];
            for which in 0..2 {
                for (row, line) in gradient[which].iter().enumerate() {
                    for (col, value) in line.iter().enumerate() {
                        let velocity = &mut velocity[which][row][col];
                        *velocity = f64::from(self.descent.momentum) * *velocity + value;
                        weights[which][row][col] -= rate * *velocity;
                    }
                }
            }
        }
        let logits = times(&times(&pick(&m, &self.attacked.nodes), &weights[0]), &weights[1]);
        let of = |(row, &class): (&Vec<f64>, &u32)| -chances(row)[class as usize].ln();
        logits.iter().zip(&self.attacked.classes).map(of).sum::<f64>() / self.attacked.nodes.len() as f64
    }

    /// Central differences, both entries of a pair moved together.
    fn slope(&self, adjacency: &[Vec<f64>], (u, v): (usize, usize)) -> f64 {
        let step = 1e-5;
        let at = |offset: f64| {
            let mut moved = adjacency.to_vec();
            moved[u][v] += offset;
            moved[v][u] += offset;
            self.loss(&moved)
        };
        (at(step) - at(-step)) / (2.0 * step)
    }

    /// The same by the tape: training unrolled, its gradients recorded, and all of it differentiated once more.
    fn tape(&self, adjacency: &[Vec<f64>]) -> Mat {
        let mat = |rows: &[Vec<f64>]| Mat::from_fn(rows.len(), rows[0].len(), |r, c| rows[r][c] as f32);
        let n = adjacency.len();
        let edges = Var::parameter(mat(adjacency));
        let looped = edges.add(&Var::constant(Mat::from_fn(n, n, |u, v| f32::from(u8::from(u == v)))));
        let scale = looped.matmul(&Var::constant(Mat::full(n, 1, 1.0))).pow(-0.5);
        let propagation = looped.mul_col(&scale).mul_row(&scale.transpose());
        let m = propagation.matmul(&propagation.matmul(&Var::constant(mat(&self.features))));
        let loss = |weights: &[Var], on: &Labelled| {
            let hidden = m.gather_rows(&on.nodes.clone().into()).matmul(&weights[0]);
            hidden.matmul(&weights[1]).cross_entropy(&on.classes.clone().into())
        };
        let mut weights: Vec<Var> = self.start.iter().map(|w| Var::parameter(mat(w))).collect();
        let mut velocity: Vec<Var> =
            weights.iter().map(|w| Var::constant(Mat::zeros(w.rows(), w.cols()))).collect();
        for _ in 0..self.descent.steps {
            let found =
                gradients(&loss(&weights, &self.labelled), &[&weights[0], &weights[1]], Order::Higher);
            for which in 0..2 {
                velocity[which] = velocity[which].scale(self.descent.momentum).add(&found[which]);
                weights[which] = weights[which].sub(&velocity[which].scale(self.descent.learning_rate));
            }
        }
        gradients(&loss(&weights, &self.attacked), &[&edges], Order::First)[0].value().clone()
    }
}

fn ring(nodes: usize) -> Graph {
    let mut pairs: Vec<(u32, u32)> = (0..nodes as u32).map(|n| (n, (n + 1) % nodes as u32)).collect();
    pairs.extend((0..nodes as u32 / 2).map(|n| (n, (n * n + 5) % nodes as u32)));
    Graph::from_edges(nodes, &pairs).unwrap().0
}

fn adjacency(graph: &Graph) -> Vec<Vec<f64>> {
    let n = graph.num_nodes();
    (0..n)
        .map(|u| (0..n).map(|v| f64::from(u8::from(graph.has_edge(u as u32, v as u32)))).collect())
        .collect()
}

/// All gradients as the attack sees them, and the same problem in plain `f64`.
fn both(
    labelled: usize,
    features: usize,
    variant: Variant,
    sparse: bool,
) -> (Vec<(usize, usize, f64)>, Plain, Graph) {
    let nodes = 16;
    let graph = ring(nodes);
    let entry = |r: usize, c: usize| {
        let h = hash(5, (r * features + c) as u32);
        if h.is_multiple_of(4) || !sparse { (h >> 8) as f32 / (1 << 24) as f32 } else { 0.0 }
    };
    let mat = Mat::from_fn(nodes, features, entry);
    let features = if sparse {
        let triplets = (0..nodes * features).map(|i| ((i / features) as u32, (i % features) as u32));
        let triplets = triplets.map(|(r, c)| (r, c, mat.get(r as usize, c as usize))).collect();
        Features::Sparse(SparseMat::from_triplets(nodes, features, triplets))
    } else {
        Features::Dense(mat.clone())
    };
    let class = |node: u32| hash(9, node) % 3;
    let some: Vec<u32> = (0..labelled as u32).map(|n| (n * 7) % nodes as u32).collect();
    let labelled = Labelled { classes: some.iter().map(|&n| class(n)).collect(), nodes: some };
    let descent = Descent { steps: 30, learning_rate: 0.2, momentum: 0.8 };
    let surrogate = Surrogate::new(&features, labelled.clone(), (4, 3), descent, 3);
    let config = MetattackConfig { variant, ..MetattackConfig::default() };
    let attacked = config.attacked(&surrogate, &graph).unwrap();

    let propagation = normalise::symmetric_with_self_loops(&graph);
    let factors = surrogate.differentiate(&propagation, &attacked, 2).unwrap();
    let places = surrogate.places(nodes);
    let scores = Scores::new(&propagation, &factors, &places);
    let rules = Rules { graph: &graph, closed: &vec![Vec::new(); nodes], may_isolate: true };
    let best = scores.best(nodes * nodes, &rules);
    assert!(best.is_sorted_by(|a, b| a.gain >= b.gain));
    assert_eq!(best[..7], scores.best(7, &rules));
    let slope = |u: u32, v: u32, gain: f32| f64::from(if graph.has_edge(u, v) { -gain } else { gain });
    let found =
        best.iter().map(|c| (c.pair.0 as usize, c.pair.1 as usize, slope(c.pair.0, c.pair.1, c.gain)));
    let found = found.collect();

    let mut rng = generator(derive(3, &[2]), 0);
    let start = [glorot(&mut rng, mat.cols(), 4), glorot(&mut rng, 4, 3)].map(|w| rows(&w));
    (found, Plain { features: rows(&mat), start, labelled, attacked, descent }, graph)
}

/// Few labelled nodes and many (so that `K` is formed and is not), either loss, sparse and dense features.
const CASES: [(usize, usize, Variant, bool); 4] = [
    (5, 9, Variant::Unlabelled, false),
    (9, 4, Variant::Unlabelled, false),
    (6, 12, Variant::Labelled, true),
    (11, 5, Variant::Labelled, true),
];

#[test]
fn gradients_equal_finite_differences_and_the_unrolled_tape() {
    for case in CASES {
        let (labelled, features, variant, sparse) = case;
        let (found, plain, graph) = both(labelled, features, variant, sparse);
        assert_eq!(found.len(), 16 * 15 / 2, "every pair once");
        let dense = adjacency(&graph);
        let tape = plain.tape(&dense);
        let size = found.iter().map(|(_, _, slope)| slope.abs()).fold(0.0, f64::max);
        assert!(size > 1e-3, "{case:?}: {size}");
        for (u, v, slope) in found {
            let expected = plain.slope(&dense, (u, v));
            assert!(
                (slope - expected).abs() < 2e-4 * size,
                "{case:?} {u},{v}: {slope}, differences {expected}"
            );
            let unrolled = f64::from(tape.get(u, v) + tape.get(v, u));
            assert!((slope - unrolled).abs() < 1e-3 * size, "{case:?} {u},{v}: {slope}, tape {unrolled}");
        }
    }
}

fn homophilic(nodes: usize) -> Dataset {
    let config =
        SynthConfig { nodes, homophily: 0.85, mean_degree: 5.0, classes: 3, ..SynthConfig::default() };
    config.generate(1).unwrap()
}

#[test]
fn the_budget_is_spent_and_nobody_is_left_alone() {
    let dataset = homophilic(150);
    let context = AttackContext::new(&dataset, &dataset.splits()[0]);
    for variant in [Variant::Unlabelled, Variant::Labelled] {
        for flips_per_gradient in [Auto::CHOOSE, Auto::Given(1), Auto::Given(7)] {
            let config =
                MetattackConfig { rate: 0.1, variant, flips_per_gradient, ..MetattackConfig::default() };
            let change = config.plan(&context, 0).unwrap();
            let mut pairs = change.flips.clone();
            pairs.sort_unstable();
            pairs.dedup();
            assert_eq!(pairs.len(), change.flips.len(), "no pair twice");
            let attacked = config.perturb(&context, 0).unwrap();
            assert_eq!(attacked.added.len() + attacked.removed.len(), config.budget(&dataset, context.split));
            let (before, after) = (dataset.graph(), attacked.dataset.graph());
            assert!((0..150).all(|node| before.degree(node) == 0 || after.degree(node) > 0));
        }
    }
}

#[test]
fn small_budgets_take_one_gradient_per_flip() {
    let dataset = homophilic(150);
    let context = AttackContext::new(&dataset, &dataset.splits()[1]);
    let with =
        |flips_per_gradient| MetattackConfig { rate: 0.1, flips_per_gradient, ..MetattackConfig::default() };
    let [auto, one, many] =
        [Auto::CHOOSE, Auto::Given(1), Auto::Given(30)].map(|k| with(k).plan(&context, 0).unwrap());
    assert_eq!(auto.flips, one.flips);
    assert_ne!(many.flips, one.flips);
    assert_eq!(many.flips[0], one.flips[0], "the first gradient is the same");
    let per = |budget| MetattackConfig::default().flips_per_gradient(budget, 250);
    assert_eq!([1, 1267, 1400, 1568, 49_588].map(per), [1, 1, 1, 10, 330]);
    // With many labels, a gradient takes seconds.
    let with_many = |budget| MetattackConfig::default().flips_per_gradient(budget, 3650);
    assert_eq!([1, 140, 300, 1333].map(with_many), [1, 1, 1, 8]);
}

#[test]
fn the_same_bits_on_one_and_two_threads() {
    let dataset = homophilic(400);
    let context = AttackContext::new(&dataset, &dataset.splits()[0]);
    let config = MetattackConfig { rate: 0.02, ..MetattackConfig::default() };
    let on = |threads: usize| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        pool.install(|| {
            let surrogate = config.surrogate(&dataset, context.split, 0).unwrap();
            let attacked = config.attacked(&surrogate, dataset.graph()).unwrap();
            let propagation = normalise::symmetric_with_self_loops(dataset.graph());
            let factors = surrogate.differentiate(&propagation, &attacked, 2).unwrap();
            let scores = Scores::new(&propagation, &factors, &surrogate.places(400));
            let closed = vec![Vec::new(); 400];
            let rules = Rules { graph: dataset.graph(), closed: &closed, may_isolate: false };
            scores.best(1000, &rules)
        })
    };
    assert_eq!(on(1), on(2));
    let plan = |threads: usize| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        pool.install(|| config.plan(&AttackContext::new(&dataset, &dataset.splits()[0]), 0).unwrap().flips)
    };
    assert_eq!(plan(1), plan(2));
}

fn accuracy(dataset: &Dataset, split: &Split) -> f64 {
    let model = kind("gcn").unwrap();
    let task = Task::new(dataset, split).unwrap();
    let fitted =
        (model.build)(&(model.defaults)()).unwrap().fit_with(&task, 0, &mut Session::default()).unwrap();
    let predicted = fitted.predict(dataset.graph(), dataset.features()).unwrap();
    let best =
        |row: &[f32]| (0..row.len()).max_by(|&a, &b| row[a].total_cmp(&row[b])).map(|class| class as u32);
    let right =
        split.test.iter().filter(|&&n| best(predicted.row(n as usize)) == dataset.labels().get(n as usize));
    right.count() as f64 / split.test.len() as f64
}

#[test]
fn it_hurts_a_convolution_more_than_chance_does() {
    let dataset = homophilic(300);
    let split = Split::random(dataset.labels(), 0.2, 0.2, 0.6, 0).unwrap();
    let context = AttackContext::new(&dataset, &split);
    let clean = accuracy(&dataset, &split);
    let meta = MetattackConfig { rate: 0.2, ..MetattackConfig::default() }.perturb(&context, 0).unwrap();
    let chance = RandomConfig { rate: 0.2, ..RandomConfig::default() }.perturb(&context, 0).unwrap();
    let (meta, chance) = (accuracy(&meta.dataset, &split), accuracy(&chance.dataset, &split));
    assert!(clean - meta > 0.05 && meta < chance - 0.03, "clean {clean}, metattack {meta}, random {chance}");
}

#[test]
fn what_cannot_be_done_is_said() {
    let dataset = homophilic(60);
    let split = &dataset.splits()[0];
    let refused = |config: MetattackConfig, dataset: &Dataset, split: &Split| {
        config.perturb(&AttackContext::new(dataset, split), 0).unwrap_err().to_string()
    };
    let default = MetattackConfig::default;
    let no_train = Split { train: vec![], ..split.clone() };
    assert!(refused(default(), &dataset, &no_train).contains("no labelled training nodes"));
    let all = Split { train: (0..60).collect(), val: vec![], test: vec![] };
    assert!(refused(default(), &dataset, &all).contains("variant = \"train\""));
    let bare = dataset.clone().with_features(Features::none(60)).unwrap();
    assert!(refused(default(), &bare, split).contains("no features"));
    let wild = MetattackConfig { learning_rate: 1e30, ..default() };
    assert!(refused(wild, &dataset, split).contains("diverges"));
    for (config, key) in [
        (MetattackConfig { epochs: 0, ..default() }, "epochs"),
        (MetattackConfig { hidden: 0, ..default() }, "hidden"),
        (MetattackConfig { momentum: 1.0, ..default() }, "momentum"),
        (MetattackConfig { learning_rate: f32::NAN, ..default() }, "learning_rate"),
        (MetattackConfig { flips_per_gradient: Auto::Given(0), ..default() }, "flips_per_gradient"),
    ] {
        assert!(refused(config, &dataset, split).contains(key), "{key}");
    }
}

#[test]
fn a_graph_without_room_runs_out() {
    let with_edges = |nodes: usize, pairs: &[(u32, u32)]| {
        let (graph, repairs) = Graph::from_edges(nodes, pairs).unwrap();
        let numbers: Vec<i64> = (0..nodes as i64).map(|node| node % 2).collect();
        let parts = DatasetParts {
            name: "small".into(),
            graph,
            repairs,
            features: Features::Dense(Mat::from_fn(nodes, 2, |r, c| (r + c) as f32)),
            labels: Labels::from_numbers(&numbers).unwrap(),
            node_ids: None,
            splits: vec![],
            details: Default::default(),
        };
        let split =
            Split { train: (0..nodes as u32 - 1).collect(), val: vec![], test: vec![nodes as u32 - 1] };
        (Dataset::new(parts).unwrap(), split)
    };
    let full = MetattackConfig { rate: 1.0, ..MetattackConfig::default() };
    // The one free pair is joined, and then one edge may go.
    let (path, split) = with_edges(3, &[(0, 1), (1, 2)]);
    let attacked = full.perturb(&AttackContext::new(&path, &split), 0).unwrap();
    assert_eq!((attacked.added, attacked.removed.len()), (vec![(0, 2)], 1));
    // The one pair is an edge, and the last of both.
    let (pair, split) = with_edges(2, &[(0, 1)]);
    let error = full.perturb(&AttackContext::new(&pair, &split), 0).unwrap_err().to_string();
    assert!(error.contains("the budget is 1 flips, but only 0 pairs can be flipped"), "{error}");
}

#[test]
fn flips_at_once_are_spread_over_the_nodes() {
    let (graph, _) = Graph::from_edges(6, &[(0, 1), (1, 2), (2, 3), (3, 4), (4, 5)]).unwrap();
    let candidate = |pair| Candidate { gain: 1.0, pair };
    let candidates = [(0, 2), (0, 3), (0, 1), (1, 3), (2, 5), (0, 4)].map(candidate);
    let chosen = |count| spread(&candidates, count, &mut EdgeEdits::new(&graph, false));
    assert_eq!(chosen(1), [(0, 2)]);
    assert_eq!(chosen(3), [(0, 2), (1, 3), (0, 3)], "the last one only after all others");
    assert_eq!(chosen(9).len(), 6, "all there are");
    let last = [candidate((0, 1)), candidate((1, 2))];
    assert_eq!(
        spread(&last, 2, &mut EdgeEdits::new(&graph, false)),
        [(1, 2)],
        "an edge that must stay stays"
    );
}
