//! What is said about files that are not read.

use std::path::Path;

use super::Kind;
use crate::error::Error;

/// How PyTorch's data becomes a file that is read.
const FROM_PYTORCH: &str = "save it from Python with numpy.savez('graph.npz', x=data.x, edge_index=data.edge_index, y=data.y, \
     train_mask=data.train_mask, val_mask=data.val_mask, test_mask=data.test_mask)";
const AS_TABLES: &str = "save edges, features and labels as CSV tables, or all of it as one .npz";
const UNPACK: &str = "unpack it, and give what is inside";

impl Kind {
    /// Why such a file is not read, if it is not.
    pub fn refuse(self, path: &Path) -> Option<Error> {
        let (what, remedy) = self.in_words()?;
        Some(Error::input(path, "", what, remedy))
    }

    fn in_words(self) -> Option<(&'static str, &'static str)> {
        Some(match self {
            Kind::Npz
            | Kind::GraphMl
            | Kind::Gexf
            | Kind::MatrixMarket
            | Kind::NodeLink
            | Kind::Json
            | Kind::Parquet
            | Kind::Gzip
            | Kind::Text => return None,
            Kind::Empty => ("the file is empty", "check that it was written or copied to its end"),
            Kind::PyTorch => {
                ("this is a PyTorch pickle: it could run code when opened, and is not", FROM_PYTORCH)
            }
            Kind::Pickle => (
                "this is a Python pickle: it could run code when opened, and is not",
                "save it from Python as arrays (numpy.savez) or tables; the files of Planetoid are given by their common \
                 beginning, such as data/ind.cora",
            ),
            Kind::Hdf5 => (
                "this is an HDF5 file, which is not read",
                "save its arrays with numpy.savez, or as CSV tables",
            ),
            Kind::Excel | Kind::OldOffice => (
                "this is an Excel workbook, which is not read",
                "save its sheets as CSV (UTF-8): one for edges, one for features, one for labels",
            ),
            Kind::Npy => (
                "this is a single NumPy array, and nothing says what it means",
                "put edges, features and labels into one file: numpy.savez('graph.npz', x=features, edge_index=edges, y=labels)",
            ),
            Kind::RData => (
                "this is a file of R, which is not read",
                "save it from R with igraph::write_graph(graph, 'graph.graphml', 'graphml'), or its tables with write.csv",
            ),
            Kind::Sqlite => ("this is an SQLite database, which is not read", AS_TABLES),
            Kind::Arrow => (
                "this is a Feather or Arrow file, which is not read",
                "save the table as Parquet or CSV: pandas.read_feather(file).to_csv('table.csv', index=False)",
            ),
            Kind::Zstd => (
                "this is packed with zstd, which is not read",
                "unpack it with `zstd -d`, or pack it with gzip",
            ),
            Kind::SevenZip => ("this is a 7z archive", UNPACK),
            Kind::Xz => {
                ("this is packed with xz, which is not read", "unpack it with `xz -d`, or pack it with gzip")
            }
            Kind::Bzip2 => (
                "this is packed with bzip2, which is not read",
                "unpack it with `bzip2 -d`, or pack it with gzip",
            ),
            Kind::Tar => ("this is a tar archive", UNPACK),
            Kind::Zip => ("this is a zip archive without NumPy arrays", UNPACK),
            Kind::Pdf => ("this is a PDF document", "give a file with data"),
            Kind::Html => (
                "this is a web page, saved instead of the file",
                "get the file itself; on GitHub, from the address behind “Raw”",
            ),
            Kind::LfsPointer => (
                "this is a Git LFS pointer, not the file",
                "run `git lfs pull` in the repository that it came from",
            ),
            Kind::Utf16 => ("this text is in UTF-16", "save it as UTF-8"),
            Kind::Matlab => (
                "this is a MATLAB file, which is not read",
                "open it with scipy.io.loadmat and save its arrays with numpy.savez",
            ),
            Kind::OtherXml => {
                ("this is XML, but neither GraphML nor GEXF", "export the graph as GraphML or GEXF")
            }
            Kind::GraphJson => (
                "this is a graph in JSON, but not as `nodes` and `links`",
                "write it with json.dump(networkx.node_link_data(graph), file)",
            ),
            Kind::Gml => (
                "this is GML, which is not read",
                "export the graph as GraphML: networkx.write_graphml(networkx.read_gml(file), 'graph.graphml')",
            ),
            Kind::Pajek => (
                "this is a Pajek file, which is not read",
                "export the graph as GraphML: networkx.write_graphml(networkx.read_pajek(file), 'graph.graphml')",
            ),
            Kind::OtherGzip => ("this is gzipped, and what is inside is not read that way", UNPACK),
            Kind::Binary => ("this is a binary file of a kind that is not known", AS_TABLES),
        })
    }
}
