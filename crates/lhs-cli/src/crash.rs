//! A bug of ours is reported as one, with what a developer needs, and not as a wall of text.

use std::backtrace::{Backtrace, BacktraceStatus};
use std::panic::{self, AssertUnwindSafe, PanicHookInfo};

/// Runs a command; `None` when it panicked, which has then been reported.
pub fn guarded<T>(command: impl FnOnce() -> T) -> Option<T> {
    panic::set_hook(Box::new(report));
    panic::catch_unwind(AssertUnwindSafe(command)).ok()
}

fn report(info: &PanicHookInfo<'_>) {
    let payload = info.payload();
    let message =
        payload.downcast_ref::<&str>().copied().or(payload.downcast_ref::<String>().map(String::as_str));
    let place = info.location().map_or_else(String::new, |place| format!(" at {place}"));
    eprintln!("internal error{place}: {}", message.unwrap_or("unknown"));
    eprintln!("  This is a bug in lhs {}, not in your data: please report it", env!("CARGO_PKG_VERSION"));
    eprintln!("  with the command that you ran and the lines above.");
    let backtrace = Backtrace::capture();
    if backtrace.status() == BacktraceStatus::Captured {
        eprintln!("{backtrace}");
    }
}

#[cfg(test)]
mod tests {
    #[test]
    fn a_panic_is_caught() {
        assert_eq!(super::guarded(|| 3), Some(3));
        assert_eq!(super::guarded(|| -> u8 { panic!("on purpose, by a test") }), None);
        let _ = std::panic::take_hook();
    }
}
