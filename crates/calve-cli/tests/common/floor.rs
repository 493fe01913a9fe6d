//! Floors: numbers of passing tests that only rise.
//!
//! A floor is a file of lines `name number`. A run under a floor fails. `CALVE_RAISE_FLOOR=1` writes what a complete run reached.

use std::path::Path;

/// Compares what a run reached with its floor.
pub fn check(path: &Path, reached: &[(&str, usize)]) {
    if std::env::var_os("CALVE_ONLY").is_some() {
        return; // a part says nothing about the whole
    }
    let text = std::fs::read_to_string(path).expect("floor");
    let floor = |name: &str| -> usize {
        let line = text.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(' '));
        line.and_then(|n| n.trim().parse().ok()).unwrap_or_else(|| panic!("{}: no number for {name}", path.display()))
    };
    let under: Vec<_> = reached.iter().filter(|(name, n)| *n < floor(name)).collect();
    assert!(
        under.is_empty(),
        "under the floor of {}: {}. CALVE_SHOW=50 and --nocapture print what differs",
        path.display(),
        under.iter().map(|(name, n)| format!("{name} {n} < {}", floor(name))).collect::<Vec<_>>().join(", ")
    );
    if reached.iter().any(|(name, n)| *n > floor(name)) {
        if std::env::var_os("CALVE_RAISE_FLOOR").is_some() {
            let text: String = reached.iter().map(|(name, n)| format!("{name} {n}\n")).collect();
            std::fs::write(path, text).expect("floor");
        } else {
            println!("above the floor of {}: CALVE_RAISE_FLOOR=1 raises it", path.display());
        }
    }
}
