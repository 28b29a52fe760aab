//! Tables as strangers have them: gaps, words, times, amounts, other separators, other containers.

use std::fs;
use std::io::Write;
use std::path::Path;

use flate2::Compression;
use flate2::write::GzEncoder;
use lhs::graph::Dataset;
use lhs::graph::preparation::{Missing, PreparationConfig, Scale};
use lhs::io::tables::{ColumnNames, TableFiles, read_files};
use lhs::io::{LoadOptions, Source, npz, tables};
use tempfile::TempDir;

const PAYMENTS: &str = "from_account,to_account,amount,booked_at\n\
    a1,a2,10.50,2026-01-03T10:00:00Z\na2,a3,99,2026-01-04T11:00:00Z\na3,a4,5,2026-02-01T00:00:00Z\na1,a4,7,2026-02-02\n";
const ACCOUNTS: &str = "account_id,country,opened,balance,vip,is_fraud\n\
    a1,DE,2025-06-01,100.5,true,0\na2,FR,2025-07-01,,false,1\na3,DE,2025-08-01,9000,true,0\na4,US,2026-01-15,3.25,false,\n";

fn folder(files: &[(&str, &str)]) -> TempDir {
    let folder = tempfile::tempdir().unwrap();
    files.iter().for_each(|(name, text)| fs::write(folder.path().join(name), text).unwrap());
    folder
}

fn fraud_columns() -> ColumnNames {
    ColumnNames {
        id: Some("account_id".into()),
        label: Some("is_fraud".into()),
        weight: Some("amount".into()),
        ..ColumnNames::default()
    }
}

fn read(folder: &Path, options: &LoadOptions) -> Result<Dataset, String> {
    let files = TableFiles {
        edges: folder.join("payments.csv"),
        features: Some(folder.join("accounts.csv")),
        ..TableFiles::default()
    };
    let prefix = format!("{}/", folder.display());
    read_files(&files, options).map_err(|error| error.to_string().replace(&prefix, ""))
}

#[test]
fn accounts_and_payments_become_a_dataset() {
    let folder = folder(&[("payments.csv", PAYMENTS), ("accounts.csv", ACCOUNTS)]);
    let options = LoadOptions { columns: fraud_columns(), ..LoadOptions::default() };
    let error = read(folder.path(), &options).unwrap_err();
    assert!(
        error.starts_with("accounts.csv: 1 value is missing: `balance` 1 (the first in row 3)"),
        "{error}"
    );
    let prepare = PreparationConfig { missing: Missing::Flag, ..PreparationConfig::default() };
    let dataset = read(folder.path(), &LoadOptions { prepare, ..options }).unwrap();
    let names = [
        "country=DE",
        "country=FR",
        "country=US",
        "opened",
        "balance",
        "balance (missing)",
        "vip=false",
        "vip=true",
    ];
    assert_eq!(dataset.feature_names().unwrap(), names);
    assert_eq!(dataset.labels().names(), ["0", "1"]);
    assert_eq!((dataset.labels().get(1), dataset.labels().get(3)), (Some(1), None));
    assert_eq!(dataset.graph().weighted_edges().next(), Some((0, 1, 10.5)));
    let said = dataset.warnings().join("\n");
    assert!(said.contains("payments.csv: column `booked_at` not used"), "{said}");
    assert!(said.contains("`opened`: read as times"), "{said}");
}

#[test]
fn what_was_done_is_repeated_on_other_tables() {
    let folder = folder(&[("payments.csv", PAYMENTS), ("accounts.csv", ACCOUNTS)]);
    let prepare = PreparationConfig { missing: Missing::Mean, ..PreparationConfig::default() };
    let options = LoadOptions { columns: fraud_columns(), prepare, ..LoadOptions::default() };
    let learned = read(folder.path(), &options).unwrap();
    let again = LoadOptions { preparation: learned.preparation().cloned(), ..options };
    // Another order of rows and columns, a country never seen, no label, and an amount in other company.
    let moved = "vip,balance,account_id,opened,country\n\
        false,,a2,2025-07-01,FR\ntrue,100.5,a1,2025-06-01,DE\nfalse,3.25,a4,2026-01-15,JP\ntrue,9000,a3,2025-08-01,DE\n";
    fs::write(folder.path().join("accounts.csv"), moved).unwrap();
    let found = read(folder.path(), &again).unwrap();
    assert_eq!(found.feature_names(), learned.feature_names());
    for (id, same) in [("a1", true), ("a2", true), ("a3", true), ("a4", false)] {
        let row = |dataset: &Dataset| dataset.features().row_nonzeros(dataset.find_node(id).unwrap());
        assert_eq!(row(&found) == row(&learned), same, "{id}");
    }
    let said = found.warnings().join("\n");
    assert!(said.contains("matched by name") && said.contains("1 word was never seen"), "{said}");
    let lacking = moved.replace("vip,", "age,");
    fs::write(folder.path().join("accounts.csv"), lacking).unwrap();
    let error = read(folder.path(), &again).unwrap_err();
    let expected = "accounts.csv: these columns are missing: `vip`; these were not there in training: `age`";
    assert!(error.starts_with(expected), "{error}");
}

#[test]
fn containers_do_not_matter() {
    let lines: String = ACCOUNTS
        .lines()
        .skip(1)
        .map(|line| {
            let cells: Vec<&str> = line.split(',').collect();
            let balance = if cells[3].is_empty() { "null" } else { cells[3] };
            format!(
                "{{\"account_id\":\"{}\",\"country\":\"{}\",\"opened\":\"{}\",\"balance\":{balance},\"vip\":{},\"is_fraud\":\"{}\"}}\n",
                cells[0], cells[1], cells[2], cells[4], cells[5]
            )
        })
        .collect();
    let folder = folder(&[
        ("payments.csv", PAYMENTS),
        ("accounts.csv", ACCOUNTS),
        ("accounts.jsonl", &lines),
        ("accounts.json", &format!("[{}]", lines.trim_end().replace('\n', ","))),
        ("semicolons.csv", &ACCOUNTS.replace(',', ";").replace("100.5", "100,5").replace("3.25", "3,25")),
    ]);
    let packed = fs::File::create(folder.path().join("accounts.csv.gz")).unwrap();
    let mut packed = GzEncoder::new(packed, Compression::default());
    packed.write_all(ACCOUNTS.as_bytes()).unwrap();
    packed.finish().unwrap();
    let prepare = PreparationConfig { missing: Missing::Zero, ..PreparationConfig::default() };
    let options = LoadOptions { columns: fraud_columns(), prepare, ..LoadOptions::default() };
    let features = |name: &str| {
        let files = TableFiles {
            edges: folder.path().join("payments.csv"),
            features: Some(folder.path().join(name)),
            ..TableFiles::default()
        };
        let dataset = read_files(&files, &options).unwrap_or_else(|error| panic!("{name}: {error}"));
        (
            dataset.features().clone(),
            dataset.labels().clone(),
            dataset.feature_names().map(<[String]>::to_vec),
        )
    };
    let expected = features("accounts.csv");
    for name in ["accounts.csv.gz", "accounts.jsonl", "accounts.json", "semicolons.csv"] {
        assert_eq!(features(name), expected, "{name}");
    }
}

#[test]
fn copies_remember_what_was_done_and_what_they_are_copies_of() {
    let folder = folder(&[("payments.csv", PAYMENTS), ("accounts.csv", ACCOUNTS)]);
    let prepare = PreparationConfig { missing: Missing::Flag, ..PreparationConfig::default() };
    let options = LoadOptions { columns: fraud_columns(), prepare, ..LoadOptions::default() };
    let dataset = read(folder.path(), &options).unwrap().remembering_origin();
    let (copy, file) = (folder.path().join("copy"), folder.path().join("copy.npz"));
    tables::write(&dataset, &copy).unwrap();
    npz::write(&dataset, &file, npz::FeatureLayout::Dense).unwrap();
    for path in [&copy, &file] {
        let found = lhs::io::load(path, &LoadOptions::default()).unwrap();
        assert_eq!((found.features(), found.details()), (dataset.features(), dataset.details()), "{path:?}");
    }
    // Whoever changes the features of a copy has raw numbers again.
    let text = fs::read_to_string(copy.join("features.csv")).unwrap();
    let tenfold: String = text
        .lines()
        .enumerate()
        .map(|(number, line)| {
            let mut cells: Vec<String> = line.split(',').map(String::from).collect();
            if number > 0 {
                cells[5] = (cells[5].parse::<f64>().unwrap() * 1e5).to_string();
            }
            cells.join(",") + "\n"
        })
        .collect();
    fs::write(copy.join("features.csv"), tenfold).unwrap();
    let found = lhs::io::load(&copy, &LoadOptions::default()).unwrap();
    assert!(found.features().values().iter().all(|value| value.abs() < 10.0), "scaled again");
}

#[test]
fn times_and_groups_are_kept_for_splits() {
    let folder = folder(&[("payments.csv", PAYMENTS), ("accounts.csv", ACCOUNTS)]);
    let prepare =
        PreparationConfig { missing: Missing::Zero, scale: Scale::None, ..PreparationConfig::default() };
    let columns =
        ColumnNames { time: Some("opened".into()), group: Some("country".into()), ..fraud_columns() };
    let options = LoadOptions { columns, prepare, ..LoadOptions::default() };
    let dataset = read(folder.path(), &options).unwrap();
    assert_eq!(dataset.feature_names().unwrap(), ["balance", "vip=false", "vip=true"]);
    assert_eq!(dataset.details().groups.as_deref().unwrap(), ["DE", "FR", "DE", "US"]);
    assert_eq!(dataset.details().times.as_ref().unwrap()[0], Some(1_748_736_000.0));
    let copy = folder.path().join("copy");
    tables::write(&dataset, &copy).unwrap();
    assert_eq!(lhs::io::load(&copy, &LoadOptions::default()).unwrap().details(), dataset.details());
    let wrong = ColumnNames { time: Some("closed".into()), ..fraud_columns() };
    let error = read(folder.path(), &LoadOptions { columns: wrong, ..options }).unwrap_err();
    assert!(error.contains("no table of features or labels has a column `closed`"), "{error}");
}

#[test]
fn the_pages_of_facebook_are_read_as_they_are() {
    let Some(data) = std::env::var_os("LHS_DATA") else { return };
    let raw = Path::new(&data).join("raw/musae");
    let source = Source::Tables(TableFiles {
        edges: raw.join("facebook_edges.csv"),
        features: Some(raw.join("facebook_features.json")),
        labels: Some(raw.join("facebook_target.csv")),
        splits: None,
    });
    let columns =
        ColumnNames { id: Some("id".into()), label: Some("page_type".into()), ..ColumnNames::default() };
    let dataset = source.load(&LoadOptions { columns, ..LoadOptions::default() }).unwrap();
    assert_eq!((dataset.num_nodes(), dataset.num_classes()), (22_470, 4));
    assert_eq!(dataset.labels().names(), ["company", "government", "politician", "tvshow"]);
    assert_eq!(dataset.labels().num_unknown(), 0);
}
