//! Mistakes that people make with tables, files and words: each ends with exit code 2 and a message that names the file, the
//! place and the remedy, and leaves nothing behind.

use std::fs;
use std::io::Write;

use crate::workbench::Workbench;

/// A mistake: the files that differ from good ones, the command, and what the message must say.
struct Mistake {
    files: Vec<(&'static str, Vec<u8>)>,
    command: String,
    says: &'static [&'static str],
}

/// A training on the tables, in which `more` comes last.
fn train(more: &str) -> String {
    let quick = "--model mlp --set training.epochs=2 --set hidden=4 --no-save";
    format!("train --edges e.csv --features f.csv --labels l.csv {quick} {more}")
}

fn with(file: &'static str, text: impl Into<Vec<u8>>, says: &'static [&'static str]) -> Mistake {
    Mistake { files: vec![(file, text.into())], command: train(""), says }
}

fn told(more: &str, says: &'static [&'static str]) -> Mistake {
    Mistake { files: Vec::new(), command: train(more), says }
}

fn other(
    command: &str,
    file: &'static str,
    text: impl Into<Vec<u8>>,
    says: &'static [&'static str],
) -> Mistake {
    Mistake { files: vec![(file, text.into())], command: command.into(), says }
}

/// Good tables: a ring of thirty people.
fn edges() -> String {
    let rows: String = (0..30).map(|n| format!("n{n},n{}\n", (n + 1) % 30)).collect();
    format!("source,target\n{rows}")
}

fn features() -> String {
    let rows: String = (0..30).map(|n| format!("n{n},{},{}\n", 20 + n, ["de", "fr", "us"][n % 3])).collect();
    format!("id,age,land\n{rows}")
}

fn labels() -> String {
    let rows: String = (0..30).map(|n| format!("n{n},{}\n", ["good", "bad"][n % 2])).collect();
    format!("id,label\n{rows}")
}

/// A zip archive that holds one file of that name, stored as it is.
fn zip_with(name: &str) -> Vec<u8> {
    let length = (name.len() as u16).to_le_bytes();
    let mut local = b"PK\x03\x04\x14\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0".to_vec();
    local.extend(length);
    local.extend([0, 0]);
    local.extend(name.as_bytes());
    let mut central = b"PK\x01\x02\x14\0\x14\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0".to_vec();
    central.extend(length);
    central.extend([0; 16]);
    central.extend(name.as_bytes());
    let (start, size) = ((local.len() as u32).to_le_bytes(), (central.len() as u32).to_le_bytes());
    let mut end = b"PK\x05\x06\0\0\0\0\x01\0\x01\0".to_vec();
    end.extend(size);
    end.extend(start);
    end.extend([0, 0]);
    [local, central, end].concat()
}

fn truncated_gzip() -> Vec<u8> {
    let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::default());
    encoder.write_all(edges().as_bytes()).unwrap();
    let packed = encoder.finish().unwrap();
    packed[..packed.len() / 2].to_vec()
}

fn in_edges() -> Vec<Mistake> {
    vec![
        with("e.csv", "", &["e.csv: the table is empty", "right file"]),
        with("e.csv", "source\nn0\n", &["e.csv: line 1", "1 column"]),
        with("e.csv", edges() + "n1,n2,n3\n", &["e.csv: line 32: found 3 columns instead of 2"]),
        with("e.csv", edges() + ",n3\n", &["e.csv: line 32, column 1: the name of the node is empty"]),
        with("e.csv", "source,target,weight\nn0,n1,much\n", &["e.csv: line 2, column 3", "`much`"]),
        with("e.csv", "source,target,weight\nn0,n1,-2\n", &["e.csv: line 2, column 3", "not positive"]),
        with("e.csv", "p,q\nr,s\nt,u\nv,w\n", &["e.csv: line 1: is `p,q` a header or data?"]),
        with("e.csv", "x,y,z,q\nn0,n1,1,2\n", &["e.csv", "which columns are the ends", "--source-column"]),
        with("e.csv", b"source,target\nn0,M\xfcller\n".to_vec(), &["e.csv: line 2", "UTF-8"]),
        with("e.csv", edges() + "\"n1,n2\n", &["e.csv: line 32, column 1: a quote is opened"]),
        with("e.csv", edges() + "\"n1\"x,n2\n", &["e.csv: line 32, column 1: text after the closing quote"]),
        with("e.csv", b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR".to_vec(), &["e.csv"]),
        with("e.csv", b"\xff\xfes\0,\0t\0".to_vec(), &["e.csv", "UTF-16"]),
        with("e.csv", "<!DOCTYPE html><html><body>404</body></html>", &["e.csv", "web page"]),
        with(
            "e.csv",
            "version https://git-lfs.github.com/spec/v1\noid sha256:00\nsize 3\n",
            &["e.csv", "Git LFS pointer", "git lfs pull"],
        ),
        with("e.csv", truncated_gzip(), &["e.csv", "damaged"]),
        with("e.csv", b"PAR1 but not really".to_vec(), &["e.csv: this Parquet file cannot be read"]),
        told("--source-column frm --target-column target", &["e.csv", "there is no column `frm`"]),
        told("--weight-column wieght", &["e.csv", "there is no column `wieght`"]),
        Mistake {
            files: Vec::new(),
            command: train("").replace("e.csv", "nowhere.csv"),
            says: &["cannot read nowhere.csv"],
        },
    ]
}

fn in_features() -> Vec<Mistake> {
    let with_row = |row: &str| features() + row;
    let column = |name: &str, cell: &dyn Fn(usize) -> String| {
        let rows: String = (0..30).map(|n| format!("n{n},{}\n", cell(n))).collect();
        format!("id,{name}\n{rows}")
    };
    vec![
        with(
            "f.csv",
            features().replace("n7,27,", "n7,,"),
            &["f.csv: 1 value is missing: `age` 1", "row 9", "--missing"],
        ),
        with(
            "f.csv",
            features().replace("n7,27,", "n7,n.a.,"),
            &["f.csv: row 9, column `age`: `n.a.` stands among"],
        ),
        with(
            "f.csv",
            features().replace("n7,27,", "n7,inf,"),
            &["f.csv: row 9, column `age`: `inf` is not a finite"],
        ),
        with(
            "f.csv",
            column("sum", &|n| format!("\"{},234\"", n + 1)),
            &["f.csv: row 2, column `sum`", "above a thousand or about one"],
        ),
        with(
            "f.csv",
            column("day", &|n| format!("{:02}/03/2026", n + 1)),
            &["f.csv: row 2, column `day`", "month"],
        ),
        with(
            "f.csv",
            features().replace("age,land", "age,age"),
            &["f.csv: line 1: two columns are called `age`"],
        ),
        with("f.csv", with_row("n3,99,de\n"), &["f.csv: line 32, column 1: node `n3` has a second row"]),
        with("f.csv", with_row("n3,99\n"), &["f.csv: line 32: found 2 columns instead of 3"]),
        with(
            "f.csv",
            features().replace("n7,27,fr\n", ""),
            &["f.csv: 1 node of the other tables has no row here", "`n7`"],
        ),
        with("f.csv", "n0,1,2\nn1,3,4\n", &["f.csv: line 1, column 1: the header is missing"]),
        with("f.csv", "id,age\n", &["f.csv: the table has a header and no rows"]),
        with(
            "f.csv",
            "{\"id\": \"n0\", \"age\": 3}\n{\"id\": \"n1\", \"age\"\n",
            &["f.csv: line 2: this is not JSON"],
        ),
        with(
            "f.csv",
            "{\"id\": \"n0\", \"age\": {\"years\": 3}}\n",
            &["f.csv: line 1: `age` holds an object"],
        ),
        with("f.csv", b"\x80\x04\x95junk".to_vec(), &["f.csv", "pickle", "could run code"]),
        with("f.csv", zip_with("xl/workbook.xml"), &["f.csv", "Excel"]),
        told("--id-column idd", &["there is no column `idd`", "`id`"]),
        told("--ignore-columns agee", &["f.csv", "there is no column `agee`", "`age`"]),
        told("--as-words landd", &["f.csv", "there is no feature column `landd`", "`land`"]),
    ]
}

fn in_labels_and_splits() -> Vec<Mistake> {
    let splits = |text: &'static str, says| Mistake {
        files: vec![("s.csv", text.into())],
        command: train("--split-table s.csv"),
        says,
    };
    vec![
        with(
            "l.csv",
            "id,colour,kind\nn0,red,x\nn1,blue,y\n",
            &["l.csv", "which column is the class", "--label-column"],
        ),
        with("l.csv", labels() + "n3,good\n", &["l.csv: line 32, column 2: node `n3` has another label"]),
        with("l.csv", labels().replace("bad", "good"), &["the same class", "two classes"]),
        with("l.csv", "id,label\nn0,\nn1,NA\n", &["no node has a label"]),
        told("--label-column lable", &["l.csv", "there is no column `lable`", "`label`"]),
        told("--positive-class fraud", &["fraud", "good"]),
        told("--class-weights fraud=3,good=1", &["fraud"]),
        told(
            "--time-column born --split time:2026-01-01,2026-03-01",
            &["no table of features or labels has a column `born`"],
        ),
        told("--split time:2026-01-01,2026-03-01", &["no times to split by"]),
        told("--split time:2026-03-01,2026-01-01", &["is not a split"]),
        told(
            "--time-column land --split time:2026-01-01,2026-03-01",
            &["f.csv: line 2, column 3: `de` is not a time"],
        ),
        told("--split group:0.6,0.2,0.2", &["no groups to split by"]),
        told("--split random:0.9,0.9,0.1", &["is not a split", "random:0.6,0.2,0.2"]),
        splits(
            "split,node,part\n0,n0,train\n0,n1,tset\n",
            &["s.csv: line 3, column 3", "did you mean `test`?"],
        ),
        splits("split,node,part\n0,n0,train\n0,n99,val\n", &["s.csv: line 3, column 2", "`n99`"]),
        splits("split,node,part\n0,n0,train\n0,n1,val\n0,n0,test\n", &["s.csv", "in train and in test"]),
        splits("split,node,part\n0,n0,train\n0,n1,test\n", &["s.csv", "the val part of the split is empty"]),
    ]
}

fn in_words_and_files() -> Vec<Mistake> {
    let graphml = "<graphml><graph edgedefault=\"undirected\"><node id=\"a\"/><edge source=\"a\" target=\"b\"/></graph></graphml>";
    vec![
        told("--set hiden=4", &["there is no such setting", "did you mean `hidden`?"]),
        told("--set hidden=1000000000", &["hidden", "memory"]),
        told("--sort-by good", &["--no-save"]),
        told("--metric acuracy", &["acuracy", "accuracy"]),
        told("--missing sometimes", &["sometimes", "mean"]),
        told("--scale large", &["large", "standard"]),
        told("--categories 0", &["--categories"]),
        other("train e.csv --labels l.csv", "x", "", &["--labels"]),
        other(
            "train --edges e.csv --labels l.csv --model gnc --no-save",
            "x",
            "",
            &["there is no model `gnc`"],
        ),
        other("train korra --no-save", "x", "", &["korra", "fetch"]),
        other("data inspect g.graphml", "g.graphml", graphml, &["g.graphml", "b"]),
        other(
            "data inspect g.mtx",
            "g.mtx",
            "%%MatrixMarket matrix coordinate complex general\n1 1 1\n1 1 1 0\n",
            &["g.mtx", "complex"],
        ),
        other(
            "data inspect g.pt",
            "g.pt",
            zip_with("archive/data.pkl"),
            &["g.pt", "PyTorch pickle", "numpy.savez"],
        ),
        other("data inspect g.npz", "g.npz", b"PK\x03\x04 torn".to_vec(), &["g.npz"]),
        other("data inspect g.h5", "g.h5", b"\x89HDF\r\n\x1a\n....".to_vec(), &["g.h5", "HDF5"]),
        other(
            "data convert e.csv --to f.csv --format npz",
            "x",
            "",
            &["f.csv", "there is something there already"],
        ),
        other("data synth --out t.npz --missing 0.1", "x", "", &["t.npz", "folder of tables"]),
        other("data synth --out t --class-shares 0.5,0.6", "x", "", &["class_shares"]),
        other("explain nowhere --node n0", "x", "", &["nowhere"]),
        other("predict nowhere", "x", "", &["nowhere"]),
    ]
}

#[test]
fn every_mistake_is_told_with_file_place_and_remedy() {
    let mistakes: Vec<Mistake> = [in_edges(), in_features(), in_labels_and_splits(), in_words_and_files()]
        .into_iter()
        .flatten()
        .collect();
    assert!(mistakes.len() >= 50, "{}", mistakes.len());
    let mut wrong = Vec::new();
    for mistake in &mistakes {
        let bench = Workbench::after(&[]);
        for (name, text) in [("e.csv", edges()), ("f.csv", features()), ("l.csv", labels())] {
            fs::write(bench.path(name), text).unwrap();
        }
        mistake.files.iter().for_each(|(name, text)| fs::write(bench.path(name), text).unwrap());
        let before = bench.files();
        let output = bench.lhs(&mistake.command);
        let said = String::from_utf8_lossy(&output.stderr).into_owned();
        let good = output.status.code() == Some(2)
            && bench.files() == before
            && output.stdout.is_empty()
            && mistake.says.iter().all(|words| said.contains(words))
            && !said.contains("internal error");
        if !good {
            wrong.push(format!(
                "{}\n  wanted {:?}\n  exit {:?}: {said}",
                mistake.command,
                mistake.says,
                output.status.code()
            ));
        }
    }
    assert!(wrong.is_empty(), "{} of {}:\n{}", wrong.len(), mistakes.len(), wrong.join("\n"));
}

#[test]
fn without_a_mistake_it_trains() {
    let bench = Workbench::after(&[]);
    for (name, text) in [("e.csv", edges()), ("f.csv", features()), ("l.csv", labels())] {
        fs::write(bench.path(name), text).unwrap();
    }
    bench.text(&train(""));
}

#[test]
fn a_class_among_the_features_is_noticed() {
    let bench = Workbench::after(&[]);
    let rows: String = (0..30).map(|n| format!("n{n},{},{}\n", n % 2, 20 + n)).collect();
    for (name, text) in [("e.csv", edges()), ("f.csv", format!("id,is_bad,age\n{rows}")), ("l.csv", labels())]
    {
        fs::write(bench.path(name), text).unwrap();
    }
    let said = |more: &str| String::from_utf8(bench.lhs(&train(more)).stderr).unwrap();
    assert!(said("").contains("feature `is_bad` tells a class at every labelled node"), "{}", said(""));
    assert!(!said("--ignore-columns is_bad").contains("tells a class"));
}
