//! Ctrl-C: once to stop at the next epoch with everything saved, twice to leave at once.

use std::sync::Once;
use std::sync::atomic::{AtomicBool, Ordering};

static STOP: AtomicBool = AtomicBool::new(false);
static LISTEN: Once = Once::new();

/// The flag that Ctrl-C (or a polite kill) sets. The first call begins to listen.
pub fn flag() -> &'static AtomicBool {
    LISTEN.call_once(|| {
        let listening = ctrlc::set_handler(|| {
            if STOP.swap(true, Ordering::SeqCst) {
                std::process::exit(130);
            }
            eprintln!("\nstopping at the next epoch; press Ctrl-C again to leave at once");
        });
        if let Err(error) = listening {
            eprintln!("warning: Ctrl-C will not save the training: {error}");
        }
    });
    &STOP
}
