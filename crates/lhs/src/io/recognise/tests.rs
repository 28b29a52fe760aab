use std::fs;
use std::io::Write;

use flate2::Compression;
use flate2::write::GzEncoder;
use proptest::prelude::*;
use zip::write::SimpleFileOptions;

use super::*;

fn kind(bytes: &[u8]) -> Kind {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("some.file");
    fs::write(&path, bytes).unwrap();
    recognise(&path).unwrap()
}

fn gzip(bytes: &[u8]) -> Vec<u8> {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::fast());
    encoder.write_all(bytes).unwrap();
    encoder.finish().unwrap()
}

fn zip(names: &[&str]) -> Vec<u8> {
    let mut bytes = std::io::Cursor::new(Vec::new());
    let mut zip = zip::ZipWriter::new(&mut bytes);
    for name in names {
        zip.start_file(*name, SimpleFileOptions::default()).unwrap();
    }
    zip.finish().unwrap();
    bytes.into_inner()
}

#[test]
fn text_formats_are_told_apart() {
    for (text, expected) in [
        ("source,target\n1,2\n", Kind::Text),
        ("\u{feff}1 2\n", Kind::Text),
        ("# a comment\n1\t2\n", Kind::Text),
        ("<!--<script>,b\n", Kind::Text),
        ("<b>,c\n<d>,e\n", Kind::Text),
        ("graph,edges\n1,2\n", Kind::Text),
        ("<?xml version='1.0'?>\n<!-- by hand -->\n<graphml xmlns=\"x\">", Kind::GraphMl),
        ("\u{feff}<graphml>", Kind::GraphMl),
        ("<?xml version=\"1.0\"?><gexf\n version=\"1.2\">", Kind::Gexf),
        ("<?xml version=\"1.0\"?>\n<svg>", Kind::OtherXml),
        ("%%MatrixMarket matrix coordinate real general\n", Kind::MatrixMarket),
        ("{\"directed\": false, \"nodes\": [], \"links\": []}", Kind::NodeLink),
        ("{\"edges\": [{}], \"nodes\": []}", Kind::NodeLink),
        ("{\"nodes\": [], \"adjacency\": []}", Kind::GraphJson),
        ("{\"elements\": {\"nodes\": []}}", Kind::GraphJson),
        ("{\"0\": [1, 2], \"1\": [3]}", Kind::Json),
        ("{\"id\": 1}\n{\"id\": 2}\n", Kind::Json),
        ("[1, 2]", Kind::Json),
        ("<!DOCTYPE html>\n<html>", Kind::Html),
        ("<html lang=\"en\">\n", Kind::Html),
        ("version https://git-lfs.github.com/spec/v1\noid sha256:00\nsize 12\n", Kind::LfsPointer),
        ("graph [\n  node [\n", Kind::Gml),
        ("*Vertices 3\n", Kind::Pajek),
        ("", Kind::Empty),
        (" \n\n", Kind::Empty),
    ] {
        assert_eq!(kind(text.as_bytes()), expected, "{text:?}");
        let zipped = kind(&gzip(text.as_bytes()));
        match expected {
            Kind::Text | Kind::Json | Kind::Empty => assert_eq!(zipped, Kind::Gzip, "{text:?}"),
            Kind::GraphMl | Kind::Gexf | Kind::MatrixMarket | Kind::NodeLink => {
                assert_eq!(zipped, expected, "{text:?}")
            }
            _ => assert_eq!(zipped, Kind::OtherGzip, "{text:?}"),
        }
    }
}

#[test]
fn binary_formats_are_told_apart() {
    for (bytes, expected) in [
        (&b"PAR1\x15\x04"[..], Kind::Parquet),
        (b"ARROW1\0\0", Kind::Arrow),
        (b"\x93NUMPY\x01\0", Kind::Npy),
        (b"\x89HDF\r\n\x1a\n\0", Kind::Hdf5),
        (b"SQLite format 3\0", Kind::Sqlite),
        (b"\x28\xb5\x2f\xfd\0", Kind::Zstd),
        (b"7z\xbc\xaf\x27\x1c\0", Kind::SevenZip),
        (b"%PDF-1.7\n", Kind::Pdf),
        (b"RDX3\nX\n", Kind::RData),
        (b"\x80\x02cos\nsystem\n", Kind::Pickle),
        (b"\x80\x02\x8a\nl\xfc\x9cF\xf9 j\xa8P\x19.\x80\x02M", Kind::PyTorch),
        (b"\xff\xfea\0,\0b\0", Kind::Utf16),
        (b"a\0,\0b\0\n\0", Kind::Utf16),
        (b"\0\0\0\0\0\0\0\0\0\0", Kind::Binary),
        (b"ab\x01\x02\xff\xd8", Kind::Binary),
    ] {
        assert_eq!(kind(bytes), expected, "{bytes:?}");
    }
    assert_eq!(kind(&zip(&["edges.npy"])), Kind::Npz);
    assert_eq!(kind(&zip(&["model/data.pkl", "model/version"])), Kind::PyTorch);
    assert_eq!(kind(&zip(&["[Content_Types].xml", "xl/workbook.xml"])), Kind::Excel);
    assert_eq!(kind(&zip(&["readme.txt"])), Kind::Zip);
    assert_eq!(kind(&zip(&["edges.npy"])[..40]), Kind::Npz);
    assert_eq!(kind(&gzip(b"RDX3\nX\n")), Kind::RData);
    assert_eq!(kind(&gzip(b"\x80\x02cos\nsystem\n")), Kind::OtherGzip);
}

#[test]
fn what_is_not_read_is_called_by_its_name_with_a_remedy() {
    let path = Path::new("data.pt");
    let error = Kind::PyTorch.refuse(path).unwrap().to_string();
    assert!(error.starts_with("data.pt: this is a PyTorch pickle: it could run code when opened"), "{error}");
    assert!(
        error.contains("numpy.savez('graph.npz', x=data.x, edge_index=data.edge_index, y=data.y"),
        "{error}"
    );
    for (kind, expected) in [
        (Kind::LfsPointer, "Git LFS pointer, not the file\n  hint: run `git lfs pull`"),
        (Kind::Excel, "Excel workbook"),
        (Kind::Empty, "the file is empty"),
        (Kind::Html, "this is a web page"),
        (Kind::Utf16, "UTF-16"),
    ] {
        let error = kind.refuse(path).unwrap();
        assert!(error.can_be_mended() && error.to_string().contains(expected), "{error}");
    }
    for kind in [Kind::Npz, Kind::Text, Kind::Gzip, Kind::Json, Kind::Parquet, Kind::GraphMl] {
        assert!(kind.refuse(path).is_none());
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 300, failure_persistence: None, ..Default::default() })]

    #[test]
    fn noise_never_panics(start in 0usize..12, bytes in proptest::collection::vec(any::<u8>(), 0..200)) {
        let starts: [&[u8]; 12] =
            [b"", b"PK\x03\x04", b"\x1f\x8b", b"{", b"[", b"<", b"<!--", b"<?xml", b"\x80\x02", b"graph", b"{\"nodes\":", b"\xff\xfe"];
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("noise");
        fs::write(&path, [starts[start], &bytes].concat()).unwrap();
        let _ = recognise(&path);
        let _ = crate::io::load(&path, &crate::io::LoadOptions::default());
    }
}
