//! Fetching, against a real HTTP server on the loopback that misbehaves on demand.

use std::collections::{HashMap, VecDeque};
use std::fs;
use std::io::{BufRead, BufReader, Write};
use std::net::{TcpListener, TcpStream};
use std::path::Path;
use std::process::Command;
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::Duration;

use lhs::io::fetch::{Fetcher, NAMES, PinnedFile, pinned};
use lhs::io::{self, LoadOptions};
use sha2::{Digest, Sha256};

/// What the server does with a request; without orders it serves.
#[derive(Clone, Debug)]
enum Order {
    /// Half of what was asked for, then the line is cut.
    Break,
    /// The same without telling the length first.
    BreakUnannounced,
    /// An error page.
    Status(u16),
    /// Other bytes of the same length.
    Wrong,
    /// The whole file, whatever range was asked for.
    IgnoreRange,
    /// A range other than the one asked for.
    OtherRange,
    /// Silence.
    Stall,
}

#[derive(Default)]
struct State {
    files: HashMap<String, Vec<u8>>,
    orders: VecDeque<Order>,
    /// The path and the `Range` header of every request.
    seen: Vec<(String, Option<String>)>,
}

/// A server that lives as long as the test process.
#[derive(Clone)]
struct Server {
    address: String,
    state: Arc<Mutex<State>>,
}

impl Server {
    fn start(files: &[(&str, &[u8])]) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = format!("http://{}", listener.local_addr().unwrap());
        let files = files.iter().map(|(path, bytes)| (format!("/{path}"), bytes.to_vec())).collect();
        let state = Arc::new(Mutex::new(State { files, ..Default::default() }));
        let shared = state.clone();
        thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                let state = shared.clone();
                thread::spawn(move || answer(stream, &state));
            }
        });
        Server { address, state }
    }

    fn order(&self, orders: &[Order]) {
        self.state.lock().unwrap().orders.extend(orders.iter().cloned());
    }

    fn ranges(&self) -> Vec<Option<String>> {
        self.state.lock().unwrap().seen.iter().map(|(_, range)| range.clone()).collect()
    }
}

/// Answers one request and closes the connection.
fn answer(stream: TcpStream, state: &Mutex<State>) -> Option<()> {
    let mut lines = BufReader::new(stream.try_clone().ok()?).lines();
    let path = lines.next()?.ok()?.split(' ').nth(1)?.to_string();
    let mut range = None;
    for line in lines.map_while(Result::ok).take_while(|line| !line.is_empty()) {
        if let Some(value) = line.to_ascii_lowercase().strip_prefix("range: ") {
            range = Some(value.to_string());
        }
    }
    let (order, bytes) = {
        let mut state = state.lock().unwrap();
        state.seen.push((path.clone(), range.clone()));
        (state.orders.pop_front(), state.files.get(&path).cloned())
    };
    respond(stream, order, bytes, range.as_deref()).ok()
}

fn respond(
    mut out: TcpStream,
    order: Option<Order>,
    bytes: Option<Vec<u8>>,
    range: Option<&str>,
) -> std::io::Result<()> {
    let Some(mut bytes) = bytes else {
        return write!(out, "HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\nConnection: close\r\n\r\n");
    };
    let start = range.and_then(|r| r.strip_prefix("bytes=")?.strip_suffix('-')?.parse::<usize>().ok());
    let start = start.filter(|_| !matches!(order, Some(Order::IgnoreRange)));
    match &order {
        Some(Order::Status(code)) => {
            return write!(
                out,
                "HTTP/1.1 {code} Sorry\r\nContent-Length: 5\r\nConnection: close\r\n\r\nsorry"
            );
        }
        Some(Order::Stall) => {
            thread::sleep(Duration::from_secs(5));
            return Ok(());
        }
        Some(Order::Wrong) => bytes.iter_mut().for_each(|byte| *byte ^= 1),
        _ => {}
    }
    let total = bytes.len();
    match start {
        Some(start) if start >= total => {
            return write!(
                out,
                "HTTP/1.1 416 Range Not Satisfiable\r\nContent-Length: 0\r\nConnection: close\r\n\r\n"
            );
        }
        Some(start) => {
            let told = if matches!(order, Some(Order::OtherRange)) { start + 1 } else { start };
            write!(
                out,
                "HTTP/1.1 206 Partial Content\r\nContent-Range: bytes {told}-{}/{total}\r\n",
                total - 1
            )?;
        }
        None => write!(out, "HTTP/1.1 200 OK\r\n")?,
    }
    let body = &bytes[start.unwrap_or(0)..];
    if !matches!(order, Some(Order::BreakUnannounced)) {
        write!(out, "Content-Length: {}\r\n", body.len())?;
    }
    write!(out, "Connection: close\r\n\r\n")?;
    let broken = matches!(order, Some(Order::Break | Order::BreakUnannounced));
    out.write_all(if broken { &body[..body.len() / 2] } else { body })
}

fn sha256(bytes: &[u8]) -> String {
    Sha256::digest(bytes).iter().map(|byte| format!("{byte:02x}")).collect()
}

/// 300 kB, so that a file comes in more than one piece.
fn content() -> Vec<u8> {
    (0..300_000u32).map(|i| (i.wrapping_mul(2_654_435_761) >> 24) as u8).collect()
}

fn pinned(path: &'static str, bytes: &[u8]) -> PinnedFile {
    PinnedFile { path: path.into(), bytes: bytes.len() as u64, sha256: sha256(bytes).into() }
}

/// A server with `texas.npz` and an impatient fetcher that asks it.
fn texas(dest: &Path) -> (Server, Fetcher, Vec<u8>) {
    let bytes = content();
    let server = Server::start(&[("texas.npz", &bytes)]);
    let fetcher = Fetcher {
        mirror: Some(server.address.clone()),
        files: vec![pinned("texas.npz", &bytes)].into(),
        attempts: 3,
        backoff: Duration::from_millis(5),
        timeout: Duration::from_millis(400),
        ..Fetcher::new(dest)
    };
    (server, fetcher, bytes)
}

/// The names in a folder without the lock files.
fn names(folder: &Path) -> Vec<String> {
    let names = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().file_name().into_string().unwrap());
    let mut names: Vec<String> = names.filter(|name| !name.ends_with(".lock")).collect();
    names.sort();
    names
}

#[test]
fn a_graph_is_fetched_once() {
    let folder = tempfile::tempdir().unwrap();
    let (server, fetcher, bytes) = texas(folder.path());
    let mut last = 0;
    let fetched = fetcher.fetch("texas", &mut |progress| last = progress.done).unwrap();
    assert_eq!((fetched.downloaded, last), (300_000, 300_000));
    assert_eq!(fs::read(&fetched.path).unwrap(), bytes);
    assert_eq!(fetcher.fetch("texas", &mut |_| ()).unwrap().downloaded, 0);
    assert_eq!(server.ranges().len(), 1);
    // A file that somebody damaged is fetched again.
    fs::write(&fetched.path, b"damaged").unwrap();
    assert_eq!(fetcher.fetch("texas", &mut |_| ()).unwrap().downloaded, 300_000);
    assert_eq!(names(folder.path()), ["texas.npz"]);
}

#[test]
fn a_broken_download_goes_on_where_it_stopped() {
    for order in [Order::Break, Order::BreakUnannounced] {
        let folder = tempfile::tempdir().unwrap();
        let (server, fetcher, bytes) = texas(folder.path());
        server.order(std::slice::from_ref(&order));
        let fetched = fetcher.fetch("texas", &mut |_| ()).unwrap();
        assert_eq!(fs::read(&fetched.path).unwrap(), bytes);
        assert_eq!(fetched.downloaded, 300_000, "{order:?}: nothing twice");
        assert_eq!(server.ranges(), [None, Some("bytes=150000-".to_string())]);
    }
}

#[test]
fn the_part_survives_the_process() {
    let folder = tempfile::tempdir().unwrap();
    let (server, fetcher, bytes) = texas(folder.path());
    server.order(&[Order::Break]);
    let error = Fetcher { attempts: 1, ..fetcher.clone() }.fetch("texas", &mut |_| ()).unwrap_err();
    assert!(error.to_string().contains("broke off"), "{error}");
    assert!(!error.can_be_mended());
    assert_eq!(names(folder.path()), ["texas.npz.part"]);
    let fetched = fetcher.fetch("texas", &mut |_| ()).unwrap();
    assert_eq!((fetched.downloaded, fs::read(&fetched.path).unwrap()), (150_000, bytes));
}

#[test]
fn a_server_that_cannot_resume_is_asked_for_everything() {
    for order in [Order::IgnoreRange, Order::OtherRange] {
        let folder = tempfile::tempdir().unwrap();
        let (server, fetcher, bytes) = texas(folder.path());
        fs::write(folder.path().join("texas.npz.part"), &bytes[..1000]).unwrap();
        server.order(&[order]);
        let fetched = fetcher.fetch("texas", &mut |_| ()).unwrap();
        assert_eq!(fetched.downloaded, 300_000);
        assert_eq!(fs::read(&fetched.path).unwrap(), bytes);
    }
}

#[test]
fn a_part_of_something_else_is_thrown_away() {
    for length in [1000, 300_000, 400_000] {
        let folder = tempfile::tempdir().unwrap();
        let (_, fetcher, bytes) = texas(folder.path());
        fs::write(folder.path().join("texas.npz.part"), vec![7; length]).unwrap();
        let fetched = fetcher.fetch("texas", &mut |_| ()).unwrap();
        assert_eq!(fs::read(&fetched.path).unwrap(), bytes, "{length}");
    }
}

#[test]
fn wrong_bytes_are_refused_by_both_hashes() {
    let folder = tempfile::tempdir().unwrap();
    let (server, fetcher, bytes) = texas(folder.path());
    server.order(&[Order::Wrong]);
    let error = fetcher.fetch("texas", &mut |_| ()).unwrap_err().to_string();
    let wrong: Vec<u8> = bytes.iter().map(|byte| byte ^ 1).collect();
    for part in [format!("{}/texas.npz", server.address), sha256(&bytes), sha256(&wrong)] {
        assert!(error.contains(&part), "{part} is not in {error}");
    }
    assert!(names(folder.path()).is_empty());
    assert_eq!(server.ranges().len(), 1, "no second try");
}

#[test]
fn a_longer_file_is_refused_without_being_read_to_its_end() {
    let folder = tempfile::tempdir().unwrap();
    let (server, fetcher, bytes) = texas(folder.path());
    server.state.lock().unwrap().files.insert("/texas.npz".into(), [bytes.clone(), bytes].concat());
    let mut most = 0;
    let error = fetcher.fetch("texas", &mut |progress| most = most.max(progress.done)).unwrap_err();
    assert!(error.to_string().contains("SHA-256"), "{error}");
    assert_eq!(most, 300_001);
}

#[test]
fn passing_failures_are_tried_again_and_lasting_ones_are_not() {
    let folder = tempfile::tempdir().unwrap();
    let (server, fetcher, _) = texas(folder.path());
    server.order(&[Order::Status(404)]);
    let error = fetcher.fetch("texas", &mut |_| ()).unwrap_err().to_string();
    assert!(error.contains("the server answered 404"), "{error}");
    assert_eq!(server.ranges().len(), 1);
    server.order(&[Order::Status(500), Order::Status(503), Order::Status(500)]);
    let error = fetcher.fetch("texas", &mut |_| ()).unwrap_err().to_string();
    assert!(error.contains("answered 500") && error.contains("(tried 3 times)"), "{error}");
    assert!(names(folder.path()).is_empty());
    server.order(&[Order::Status(429), Order::Stall]);
    assert_eq!(fetcher.fetch("texas", &mut |_| ()).unwrap().downloaded, 300_000);
}

#[test]
fn nobody_at_home_is_a_network_error() {
    let folder = tempfile::tempdir().unwrap();
    let (_, fetcher, _) = texas(folder.path());
    let closed = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
    let error = Fetcher { mirror: Some(format!("http://{closed}")), ..fetcher.clone() };
    let error = error.fetch("texas", &mut |_| ()).unwrap_err();
    assert!(error.to_string().contains("(tried 3 times)") && !error.can_be_mended(), "{error}");
    let error = Fetcher { mirror: Some("not an address".into()), ..fetcher.clone() };
    assert!(error.fetch("texas", &mut |_| ()).is_err());
    assert!(fetcher.fetch("texsa", &mut |_| ()).unwrap_err().can_be_mended());
}

#[test]
fn two_at_a_time_do_not_disturb_each_other() {
    let folder = tempfile::tempdir().unwrap();
    let (server, fetcher, bytes) = texas(folder.path());
    let run = || fetcher.fetch("texas", &mut |_| thread::sleep(Duration::from_millis(5))).unwrap().downloaded;
    let downloaded: Vec<u64> = thread::scope(|scope| {
        let all: Vec<_> = (0..4).map(|_| scope.spawn(run)).collect();
        all.into_iter().map(|one| one.join().unwrap()).collect()
    });
    assert_eq!(downloaded.iter().sum::<u64>(), 300_000, "one fetches, the others wait: {downloaded:?}");
    assert_eq!(server.ranges().len(), 1);
    assert_eq!(fs::read(folder.path().join("texas.npz")).unwrap(), bytes);
}

/// The command line, with its cache in `cache`.
fn lhs(cache: &Path, args: &[&str]) -> (Option<i32>, String, String) {
    let output = Command::new(env!("CARGO_BIN_EXE_lhs"))
        .args(["data", "fetch"])
        .args(args)
        .env("LHS_CACHE", cache)
        .env("NO_PROXY", "127.0.0.1")
        .env_remove("LHS_MIRROR")
        .output()
        .unwrap();
    let text = |bytes| String::from_utf8(bytes).unwrap();
    (output.status.code(), text(output.stdout), text(output.stderr))
}

#[test]
fn the_command_refuses_what_is_not_pinned() {
    let folder = tempfile::tempdir().unwrap();
    let (server, _, _) = texas(folder.path());
    let (code, _, errors) = lhs(folder.path(), &["texas", "--base-url", &server.address]);
    assert_eq!(code, Some(1));
    assert!(errors.contains(&pinned::FILES[0].sha256[..]), "{errors}");
    let (code, _, errors) = lhs(folder.path(), &["texsa"]);
    assert!(code == Some(2) && errors.contains("did you mean `texas`?"), "{errors}");
}

/// The true files, when `LHS_DATA` names a copy of them.
#[test]
fn the_pinned_graphs_come_through_the_command() {
    let Some(data) = std::env::var_os("LHS_DATA") else { return };
    let data = Path::new(&data);
    let files: Vec<(&str, Vec<u8>)> =
        pinned::FILES.iter().map(|file| (&*file.path, fs::read(data.join(&*file.path)).unwrap())).collect();
    let files: Vec<(&str, &[u8])> = files.iter().map(|(path, bytes)| (*path, &bytes[..])).collect();
    let server = Server::start(&files);
    let folder = tempfile::tempdir().unwrap();
    let (code, out, errors) = lhs(folder.path(), &["all", "--base-url", &server.address, "--json"]);
    assert_eq!(code, Some(0), "{errors}");
    for name in NAMES {
        assert!(out.contains(&format!("{name}.npz")), "{out}");
        let options = LoadOptions::default();
        let fetched = io::load(folder.path().join(format!("{name}.npz")), &options).unwrap();
        let given = io::load(data.join(format!("{name}.npz")), &options).unwrap();
        assert_eq!(fetched.graph(), given.graph(), "{name}");
        assert_eq!(fetched.features(), given.features(), "{name}");
        assert_eq!(fetched.labels(), given.labels(), "{name}");
        assert_eq!(fetched.splits(), given.splits(), "{name}");
    }
    assert_eq!(names(folder.path()).len(), NAMES.len() + 1, "the graphs and the folder raw");
    assert_eq!(fs::read(folder.path().join("actor.npz")).unwrap(), fs::read(data.join("actor.npz")).unwrap());
}
