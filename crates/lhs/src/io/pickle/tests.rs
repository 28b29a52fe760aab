//! Small pickles as Python 2 wrote them, pickles that want to do harm, and noise.

use std::path::Path;

use proptest::prelude::*;

use super::*;

fn op(code: u8, rest: &[u8]) -> Vec<u8> {
    [&[code], rest].concat()
}

fn int(number: usize) -> Vec<u8> {
    op(b'J', &(number as i32).to_le_bytes())
}

fn string(bytes: &[u8]) -> Vec<u8> {
    op(b'T', &[&(bytes.len() as i32).to_le_bytes(), bytes].concat())
}

fn global(module: &str, name: &str) -> Vec<u8> {
    op(b'c', format!("{module}\n{name}\n").as_bytes())
}

fn tuple(items: &[Vec<u8>]) -> Vec<u8> {
    [b"(".as_slice(), &items.concat(), b"t"].concat()
}

fn whole(body: &[u8]) -> Vec<u8> {
    [b"\x80\x02".as_slice(), body, b"."].concat()
}

fn array_body(shape: &[usize], kind: &str, data: &[u8]) -> Vec<u8> {
    let reconstruct = [
        global("numpy.core.multiarray", "_reconstruct"),
        tuple(&[global("numpy", "ndarray"), tuple(&[int(0)]), string(b"b")]),
        b"R".to_vec(),
    ];
    let order = [int(3), string(b"<"), b"NNN".to_vec(), int(0), int(0), int(0)];
    let dtype = [
        global("numpy", "dtype"),
        tuple(&[string(kind.as_bytes()), int(0), int(1)]),
        b"R".to_vec(),
        tuple(&order),
        b"b".to_vec(),
    ];
    let shape = tuple(&shape.iter().map(|&axis| int(axis)).collect::<Vec<_>>());
    let state = tuple(&[int(1), shape, dtype.concat(), b"\x89".to_vec(), string(data)]);
    [reconstruct.concat(), state, b"b".to_vec()].concat()
}

fn le(numbers: &[i32]) -> Vec<u8> {
    numbers.iter().flat_map(|n| n.to_le_bytes()).collect()
}

/// A table of whole numbers.
pub(in crate::io) fn table(rows: usize, cols: usize, numbers: &[i32]) -> Vec<u8> {
    whole(&array_body(&[rows, cols], "i4", &le(numbers)))
}

/// A sparse matrix.
pub(in crate::io) fn matrix(shape: [usize; 2], indptr: &[i32], indices: &[i32], values: &[f64]) -> Vec<u8> {
    let data: Vec<u8> = values.iter().flat_map(|v| v.to_le_bytes()).collect();
    let fields = [
        string(b"_shape"),
        tuple(&shape.map(int)),
        string(b"indptr"),
        array_body(&[indptr.len()], "i4", &le(indptr)),
        string(b"indices"),
        array_body(&[indices.len()], "i4", &le(indices)),
        string(b"data"),
        array_body(&[values.len()], "f8", &data),
    ];
    let class = global("scipy.sparse.csr", "csr_matrix");
    whole(&[class, b")\x81}(".to_vec(), fields.concat(), b"ub".to_vec()].concat())
}

/// A dictionary of lists.
pub(in crate::io) fn lists(entries: &[(usize, &[usize])]) -> Vec<u8> {
    let list = |items: &[usize]| {
        [b"](".to_vec(), items.iter().flat_map(|&item| int(item)).collect(), b"e".to_vec()].concat()
    };
    let entries = entries.iter().flat_map(|(key, items)| [int(*key), list(items)].concat()).collect();
    let dict =
        [global("collections", "defaultdict"), tuple(&[global("__builtin__", "list")]), b"R(".to_vec()];
    whole(&[dict.concat(), entries, b"u".to_vec()].concat())
}

fn message<T>(bytes: &[u8], look: impl FnOnce(&Pickle<'_>) -> Result<T>) -> String {
    let result = Pickle::parse(Path::new("ind.toy.graph"), bytes).and_then(|pickle| look(&pickle));
    let error = result.err().expect("this should be refused");
    assert!(error.can_be_mended());
    error.to_string()
}

fn parse_error(body: &[u8]) -> String {
    message(&whole(body), |_| Ok(()))
}

#[test]
fn matrices_tables_and_lists_are_read() {
    let bytes = matrix([2, 3], &[0, 2, 3], &[2, 0, 1], &[1.0, 0.5, 2.0]);
    let csr = Pickle::parse(Path::new("x"), &bytes).unwrap().csr_matrix().unwrap();
    assert_eq!((csr.rows, csr.cols), (2, 3));
    assert_eq!(csr.row(0).collect::<Vec<_>>(), [(2, 1.0), (0, 0.5)]);
    let bytes = table(2, 3, &[1, 2, 3, 4, 5, -6]);
    let rows = Pickle::parse(Path::new("y"), &bytes).unwrap().integer_rows().unwrap();
    assert_eq!(rows, [[1, 2, 3], [4, 5, -6]]);
    let bytes = lists(&[(0, &[1, 70_000]), (1, &[])]);
    let found = Pickle::parse(Path::new("graph"), &bytes).unwrap().lists().unwrap();
    assert_eq!(found, [(0, vec![1, 70_000]), (1, vec![])]);
}

#[test]
fn the_memo_shares_values() {
    // [7] is remembered as 1 and used for both keys; appending goes to the same list.
    let body = b"ccollections\ndefaultdict\nc__builtin__\nlist\n\x85R(K\x00]q\x01K\x07aK\x01h\x01K\x08au";
    let bytes = whole(body);
    let found = Pickle::parse(Path::new("graph"), &bytes).unwrap().lists().unwrap();
    assert_eq!(found, [(0, vec![7, 8]), (1, vec![7, 8])]);
}

#[test]
fn code_is_named_and_never_run() {
    let error = parse_error(b"cos\nsystem\n(U\x04lstR");
    let expected = "ind.toy.graph: byte 2: opcode GLOBAL (0x63): global \"os\" \"system\" is not one of the six that \
                    are allowed\n  hint: only the original Planetoid files are read";
    assert!(error.starts_with(expected), "{error}");
    for (body, expected) in [
        (&b"(ios\nsystem\n"[..], "byte 3: opcode INST (0x69): this opcode does not occur"),
        (
            b"\x8c\x02os\x8c\x06system\x93)R",
            "opcode STACK_GLOBAL (0x93): global \"os\" \"system\" is not one of the six",
        ),
        (b"K\x01K\x02\x93", "opcode STACK_GLOBAL (0x93): the name of a global is not a string"),
        (b"\x92", "byte 2: opcode NEWOBJ_EX (0x92): this opcode does not occur"),
        (b"\xff", "byte 2: opcode unknown (0xff): this opcode does not occur"),
        (b"cnumpy\nndarray\n)R", "byte 18: opcode REDUCE (0x52): Ndarray is not to be called here"),
        (b"cnumpy\ndtype\n)\x81", "opcode NEWOBJ (0x81): Dtype is not to be called here"),
        (b"K\x01)R", "opcode REDUCE (0x52): a number cannot be called"),
        (b"\x80\x06", "byte 2: opcode PROTO (0x80): protocol 6, but only protocols 2 to 5 are read"),
    ] {
        let error = parse_error(body);
        assert!(error.contains(expected) && error.contains("\n  hint: "), "{error}");
    }
}

#[test]
fn broken_programs_are_refused_where_they_break() {
    for (body, expected) in [
        (&b"a"[..], "byte 2: opcode APPEND (0x61): the stack is empty"),
        (b"]a", "byte 3: opcode APPEND (0x61): the stack is empty"),
        (b"K\x01K\x02a", "opcode APPEND (0x61): a list is needed on the stack, found a number"),
        (b"e", "opcode APPENDS (0x65): there is no mark on the stack"),
        (b"](K\x01q\x00t", "opcode STOP (0x2e): there are values left over"),
        (b"]K\x01(e", "opcode APPENDS (0x65): a list is needed"),
        (b"](\x85", "opcode TUPLE1 (0x85): 1 values are needed on the stack"),
        (b"}(K\x01u", "opcode SETITEMS (0x75): a key without a value"),
        (b"](K\x01K\x02u", "opcode SETITEMS (0x75): a dictionary is needed on the stack, found a list"),
        (b"h\x05", "opcode BINGET (0x68): nothing is remembered as 5"),
        (b"q\x05", "opcode BINPUT (0x71): the stack is empty"),
        (b"]Nb", "opcode BUILD (0x62): a list has no state to be set"),
        (
            b"T\xff\xff\xff\x7f",
            "opcode BINSTRING (0x54): 2147483647 bytes are needed, but the file ends after 1",
        ),
        (b"T\xff\xff\xff\xff", "opcode BINSTRING (0x54): a string of -1 bytes"),
        (b"cos", "opcode GLOBAL (0x63): the line has no end"),
    ] {
        let error = parse_error(body);
        assert!(error.starts_with("ind.toy.graph: byte ") && error.contains(expected), "{error}");
    }
    assert!(message(b"", |_| Ok(())).contains("byte 0: end of file: 1 bytes are needed"));
}

#[test]
fn other_contents_are_refused() {
    let number = whole(b"K\x01");
    for error in [
        message(&number, |p| p.csr_matrix()),
        message(&number, |p| p.integer_rows()),
        message(&number, |p| p.lists()),
    ] {
        assert!(
            error.starts_with("ind.toy.graph: an object of ") && error.contains("found a number"),
            "{error}"
        );
    }
    for (bytes, expected) in [
        (matrix([2, 3], &[0, 2, 3], &[2, 0, 3], &[1.0; 3]), "column 3 out of range (columns = 3)"),
        (matrix([2, 3], &[0, 2, 3], &[2, 0, -1], &[1.0; 3]), "column -1 out of range (columns = 3)"),
        (matrix([2, 3], &[0, 3, 2], &[0, 1, 2], &[1.0; 3]), "do not make 2 rows"),
        (matrix([3, 3], &[0, 2, 3], &[0, 1, 2], &[1.0; 3]), "do not make 3 rows"),
        (matrix([2, 3], &[0, 2, 3], &[0, 1, 2], &[1.0; 2]), "do not make 2 rows"),
        (matrix([0, 3], &[], &[], &[]), "do not make 0 rows"),
    ] {
        let error = message(&bytes, |p| p.csr_matrix());
        assert!(error.contains(expected) && error.contains("\n  hint: "), "{error}");
    }
    let short = whole(&array_body(&[1000, 1000], "i4", &[0; 8]));
    assert!(message(&short, |p| p.integer_rows()).contains("ind.toy.graph: the data ends too early"));
    let absurd = whole(&array_body(&[i32::MAX as usize, i32::MAX as usize], "i4", &[]));
    assert!(message(&absurd, |p| p.integer_rows()).contains("too large"));
    let object = whole(&array_body(&[1, 1], "O8", &[0; 8]));
    assert!(message(&object, |p| p.integer_rows()).contains("\"<O8\" are not supported"));
}

#[test]
fn a_list_cannot_be_unfolded_again_and_again() {
    let mut body = b"ccollections\ndefaultdict\nc__builtin__\nlist\n\x85R(K\x00](".to_vec();
    body.extend(b"K\x01".repeat(1000));
    body.extend(b"eq\x01");
    body.extend(b"K\x02h\x01".repeat(1000));
    body.push(b'u');
    assert!(message(&whole(&body), |p| p.lists()).contains("a list is repeated"));
}

fn look_everywhere(bytes: &[u8]) {
    if let Ok(pickle) = Pickle::parse(Path::new("noise"), bytes) {
        let _ = (pickle.csr_matrix(), pickle.integer_rows(), pickle.lists());
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 2000, failure_persistence: None, ..Default::default() })]

    #[test]
    fn noise_never_panics(bytes in proptest::collection::vec(any::<u8>(), 0..300)) {
        look_everywhere(&bytes);
    }

    /// Noise made of opcodes that exist gets further.
    #[test]
    fn random_programs_never_panic(
        codes in proptest::collection::vec(prop::sample::select(b"(NtaeuqhJKMUT)]}Rb.\x81\x85\x86\x87\x88\x89\x01\x02".to_vec()), 0..200)
    ) {
        look_everywhere(&whole(&codes));
    }

    #[test]
    fn changed_pickles_never_panic(
        which in 0usize..3,
        changes in proptest::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 1..6),
    ) {
        let mut bytes = match which {
            0 => matrix([2, 3], &[0, 2, 3], &[2, 0, 1], &[1.0, 0.5, 2.0]),
            1 => table(2, 3, &[1, 2, 3, 4, 5, 6]),
            _ => lists(&[(0, &[1, 2]), (1, &[0]), (2, &[])]),
        };
        for (place, value) in changes {
            let place = place.index(bytes.len());
            bytes[place] = value;
        }
        look_everywhere(&bytes);
    }
}
