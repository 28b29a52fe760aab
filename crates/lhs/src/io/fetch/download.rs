//! One file over the network: resumed where it broke off, verified, and only then given its name.

use std::fs::{self, File, OpenOptions};
use std::io::{self, Read, Write};
use std::path::{Path, PathBuf};
use std::thread::sleep;
use std::time::Duration;

use sha2::{Digest, Sha256};
use ureq::Agent;
use ureq::http::{Response, StatusCode, header};

use super::{Fetcher, PinnedFile, Progress};
use crate::error::{Error, Result};

/// Why an attempt failed.
enum Failure {
    /// Worth another try.
    Passing(String),
    /// Will not get better.
    Lasting(Error),
}

impl From<Error> for Failure {
    fn from(error: Error) -> Self {
        Failure::Lasting(error)
    }
}

/// A file being downloaded.
struct Download<'a> {
    file: &'a PinnedFile,
    url: String,
    /// The bytes so far; kept when an attempt fails, so that the next one goes on from there.
    part: PathBuf,
    agent: Agent,
    watch: &'a mut dyn FnMut(Progress),
}

/// Brings a file to `target`; returns the number of bytes that came over the network. The caller makes
/// sure that nobody else does the same at the same time.
pub(super) fn download(
    fetcher: &Fetcher,
    file: &PinnedFile,
    url: String,
    target: &Path,
    watch: &mut dyn FnMut(Progress),
) -> Result<u64> {
    if let Some(folder) = target.parent() {
        fs::create_dir_all(folder).map_err(Error::io("create", folder))?;
    }
    let mut name = target.as_os_str().to_owned();
    name.push(".part");
    let mut download = Download { file, url, part: name.into(), agent: agent(fetcher.timeout), watch };
    let received = download.run(fetcher)?;
    fs::rename(&download.part, target).map_err(Error::io("write", target))?;
    Ok(received)
}

impl Download<'_> {
    /// Tries until the part is whole and right.
    fn run(&mut self, fetcher: &Fetcher) -> Result<u64> {
        let mut received = 0;
        let mut problem = String::new();
        for attempt in 0..fetcher.attempts.max(1) {
            if attempt > 0 {
                sleep(fetcher.backoff * (1 << (attempt - 1).min(6)));
            }
            match self.attempt(&mut received) {
                Ok(()) => return Ok(received),
                Err(Failure::Lasting(error)) => return Err(error),
                Err(Failure::Passing(reason)) => problem = reason,
            }
        }
        Err(self.error(
            format!("{problem} (tried {} times)", fetcher.attempts.max(1)),
            "check the network and run the command again: it goes on where it stopped",
        ))
    }

    fn attempt(&mut self, received: &mut u64) -> Result<(), Failure> {
        let start = self.part_size();
        if start < self.file.bytes {
            self.receive(start, received)?;
        }
        let found = sha256(&self.part)?;
        if found == *self.file.sha256 {
            return Ok(());
        }
        self.discard_part()?;
        if start > 0 {
            // The beginning may be left over from another file: only a whole download tells.
            return Err(Failure::Passing("the resumed file is not the expected one".into()));
        }
        Err(Failure::Lasting(self.error(
            format!("the file has SHA-256 {found}, expected {}", self.file.sha256),
            "it was changed at its home or on the way; try another mirror, and do not use it",
        )))
    }

    /// Receives the bytes from `start` on, or all of them if the server cannot resume.
    fn receive(&mut self, start: u64, received: &mut u64) -> Result<(), Failure> {
        let response = self.request(start)?;
        let start = if response.status() == StatusCode::PARTIAL_CONTENT { start } else { 0 };
        let declared = response.body().content_length();
        let mut out = self.open_part(start)?;
        // One byte too many is enough to see that the file is wrong.
        let mut body = response.into_body().into_reader().take(self.file.bytes + 1 - start);
        let mut done = start;
        let mut buffer = vec![0u8; 1 << 16];
        loop {
            let count = match body.read(&mut buffer) {
                Ok(0) => break,
                Ok(count) => count,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
                Err(error) => return Err(Failure::Passing(format!("the download broke off: {error}"))),
            };
            out.write_all(&buffer[..count]).map_err(Error::io("write", &self.part))?;
            done += count as u64;
            *received += count as u64;
            (self.watch)(Progress { file: &self.file.path, done, total: self.file.bytes });
        }
        out.sync_all().map_err(Error::io("write", &self.part))?;
        if declared.is_none() && done < self.file.bytes {
            return Err(Failure::Passing("the download broke off".into()));
        }
        Ok(())
    }

    /// Asks for the bytes from `start` on and makes sure that the answer is about those.
    fn request(&mut self, start: u64) -> Result<Response<ureq::Body>, Failure> {
        let mut request = self.agent.get(&self.url);
        if start > 0 {
            request = request.header(header::RANGE, format!("bytes={start}-"));
        }
        let response = request.call().map_err(|error| self.failed(error))?;
        match response.status() {
            StatusCode::OK => Ok(response),
            StatusCode::PARTIAL_CONTENT if resumes_at(&response) == Some(start) => Ok(response),
            StatusCode::PARTIAL_CONTENT | StatusCode::RANGE_NOT_SATISFIABLE => {
                self.discard_part()?;
                Err(Failure::Passing("the server cannot resume the download".into()))
            }
            status if status.is_server_error() || [408, 429].contains(&status.as_u16()) => {
                Err(Failure::Passing(format!("the server answered {status}")))
            }
            status => Err(Failure::Lasting(self.error(
                format!("the server answered {status}"),
                "check the address: it is that of the folder that holds texas.npz and raw/",
            ))),
        }
    }

    fn failed(&self, error: ureq::Error) -> Failure {
        match error {
            ureq::Error::BadUri(_) | ureq::Error::Http(_) | ureq::Error::InvalidProxyUrl => {
                Failure::Lasting(self.error(error.to_string(), "give an address like https://host/folder"))
            }
            other => Failure::Passing(other.to_string()),
        }
    }

    fn part_size(&self) -> u64 {
        fs::metadata(&self.part).map_or(0, |part| part.len())
    }

    fn open_part(&self, start: u64) -> Result<File> {
        let mut options = OpenOptions::new();
        if start > 0 {
            options.append(true);
        } else {
            options.write(true).create(true).truncate(true);
        }
        options.open(&self.part).map_err(Error::io("write", &self.part))
    }

    fn discard_part(&self) -> Result<()> {
        match fs::remove_file(&self.part) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => {
                Err(Error::io("remove", &self.part)(error))
            }
            _ => Ok(()),
        }
    }

    fn error(&self, problem: String, remedy: &str) -> Error {
        Error::Network { url: self.url.clone(), problem, remedy: remedy.to_string() }
    }
}

/// Every step has a time limit of its own, so that a slow line is fine and a dead one is noticed.
fn agent(timeout: Duration) -> Agent {
    Agent::config_builder()
        .http_status_as_error(false)
        .timeout_resolve(Some(timeout))
        .timeout_connect(Some(timeout))
        .timeout_recv_response(Some(timeout))
        .timeout_per_read(Some(timeout))
        .user_agent(concat!("lhs/", env!("CARGO_PKG_VERSION")))
        .build()
        .new_agent()
}

/// The first byte of a partial answer: `Content-Range: bytes 100-199/200`.
fn resumes_at(response: &Response<ureq::Body>) -> Option<u64> {
    let range = response.headers().get(header::CONTENT_RANGE)?.to_str().ok()?;
    range.strip_prefix("bytes ")?.split('-').next()?.parse().ok()
}

/// The SHA-256 of a file, in hexadecimal.
pub(super) fn sha256(path: &Path) -> Result<String> {
    let mut file = File::open(path).map_err(Error::io("read", path))?;
    let mut hasher = Sha256::new();
    let mut buffer = vec![0u8; 1 << 16];
    loop {
        let count = file.read(&mut buffer).map_err(Error::io("read", path))?;
        if count == 0 {
            return Ok(hasher.finalize().iter().map(|byte| format!("{byte:02x}")).collect());
        }
        hasher.update(&buffer[..count]);
    }
}
