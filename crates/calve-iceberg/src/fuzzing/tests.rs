//! Runs every target on its corpus and on mutations of it.
//!
//! A process of its own does it, with little memory: a stack that overflows, an allocation that fails and a loop without
//! end are found, too, and the input that led to them is named.

use std::io::Read;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::thread::sleep;
use std::time::{Duration, Instant};
use std::{env, fs};

use super::mutate::{Numbers, mutated};
use super::{TARGETS, Target};

/// How many times as many mutations, for more than a first look.
const TIMES: &str = "CALVE_FUZZ";
/// Where the process of a target finds its name and keeps what it tries.
const NAME: &str = "CALVE_FUZZ_TARGET";
const INPUT: &str = "CALVE_FUZZ_INPUT";

/// Of address space, the program itself among it, in KiB.
const MEMORY: u64 = 4 << 20;
/// One input takes no longer.
const SLOW: Duration = Duration::from_secs(10);

fn seeds(name: &str) -> Vec<(PathBuf, Vec<u8>)> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("fuzz/corpus").join(name);
    let mut files: Vec<_> = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    files.sort();
    files.into_iter().map(|file| (file.clone(), fs::read(&file).unwrap())).collect()
}

fn times() -> usize {
    env::var(TIMES).ok().map_or(1, |times| times.parse().expect("CALVE_FUZZ is a number"))
}

/// Runs a target, in a process of its own, on its seeds and on `mutations`.
fn hold(name: &str, mutations: usize) {
    let folder = tempfile::tempdir().unwrap();
    let input = folder.path().join("input");
    let started = Instant::now();
    let mut child = Command::new("sh")
        .args(["-c", &format!("ulimit -c 0; ulimit -v {MEMORY} && exec \"$0\" \"$@\"")])
        .arg(env::current_exe().unwrap())
        .args(["--exact", "fuzzing::tests::one_target", "--ignored", "--nocapture", "--test-threads=1"])
        .env(NAME, format!("{name} {}", mutations * times()))
        .env(INPUT, &input)
        .env("RUST_BACKTRACE", "0")
        .stdout(Stdio::piped())
        .stderr(Stdio::inherit())
        .spawn()
        .unwrap();
    let mut last = (Vec::new(), Instant::now());
    let status = loop {
        if let Some(status) = child.try_wait().unwrap() {
            break status;
        }
        sleep(Duration::from_millis(20));
        let now = fs::read(&input).unwrap_or_default();
        if now != last.0 {
            last = (now, Instant::now());
        } else if last.1.elapsed() > SLOW * 6 {
            child.kill().unwrap();
            break child.wait().unwrap();
        }
    };
    let mut said = String::new();
    child.stdout.take().unwrap().read_to_string(&mut said).unwrap();
    if !status.success() {
        let kept = env::temp_dir().join(format!("calve-fuzz-found-{name}"));
        fs::copy(&input, &kept).unwrap();
        panic!("target '{name}' ended with {status} on {} after {:?}\n{said}", kept.display(), started.elapsed());
    }
    print!("{said}");
}

/// The process of one target.
#[test]
#[ignore = "the other tests start it"]
fn one_target() {
    let Ok(wanted) = env::var(NAME) else { return };
    let input = env::var_os(INPUT).unwrap();
    let (name, mutations) = wanted.split_once(' ').unwrap();
    let target: Target = TARGETS.iter().find(|(of, _)| *of == name).unwrap().1;
    let try_one = |bytes: &[u8], what: &dyn Fn() -> String| {
        fs::write(&input, bytes).unwrap();
        let started = Instant::now();
        target(bytes);
        assert!(started.elapsed() < SLOW, "{}: {:?}", what(), started.elapsed());
    };
    let started = Instant::now();
    let seeds = seeds(name);
    for (file, seed) in &seeds {
        try_one(seed, &|| file.display().to_string());
    }
    let mut numbers = Numbers(0x9E37_79B9_7F4A_7C15);
    let mutations: usize = mutations.parse().unwrap();
    for number in 0..mutations {
        let (file, seed) = &seeds[numbers.below(seeds.len())];
        let (_, other) = &seeds[numbers.below(seeds.len())];
        let bytes = mutated(seed, other, &mut numbers);
        try_one(&bytes, &|| format!("mutation {number}, of {}", file.display()));
    }
    let status = fs::read_to_string("/proc/self/status").unwrap_or_default();
    let peak = status.lines().find(|line| line.starts_with("VmHWM")).map_or("", |line| line[6..].trim());
    let (seeds, time) = (seeds.len(), started.elapsed());
    println!("{name}: {seeds} seeds and {mutations} mutations in {time:.1?}, {peak} of memory at most");
}

#[test]
fn metadata() {
    hold("metadata", 3_000);
}

#[test]
fn manifest_lists() {
    hold("manifest_list", 3_000);
}

#[test]
fn manifests() {
    hold("manifest", 3_000);
}

#[test]
fn vectors() {
    hold("vector", 2_000);
}

#[test]
fn avro() {
    hold("avro", 3_000);
}

#[test]
fn orc() {
    hold("orc", 2_000);
}

#[test]
fn parquet() {
    hold("parquet", 3_000);
}

#[test]
fn locations() {
    hold("location", 5_000);
}

#[test]
fn every_target_has_seeds() {
    for (name, _) in TARGETS {
        assert!(seeds(name).len() > 1, "{name}");
    }
}
