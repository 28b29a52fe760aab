//! Measuring: metrics, experiments over splits and seeds, run folders.
