//! The commands in README for a REST catalog and S3 do what README says.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

mod common;
#[path = "../../calve-iceberg/tests/seaweedfs/program.rs"]
mod program;

use std::path::Path;
use std::process::Command;
use std::time::Duration;

use common::{CALVE, plain, run_for};

/// The blocks of a language below a heading of README.
fn blocks(heading: &str, language: &str) -> Vec<String> {
    let readme = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../README.md");
    let readme = std::fs::read_to_string(readme).expect("README");
    let (_, rest) = readme.split_once(&format!("\n## {heading}\n")).expect("the heading");
    let part = rest.split("\n## ").next().expect("a part");
    let fence = format!("```{language}\n");
    let opened = part.split(&fence).skip(1);
    opened.map(|block| block.split("```").next().expect("a block").to_owned()).collect()
}

/// The example up to its first table.
const FIRST: &str = "target/release/calve -e \"$(sed '/^SET/,$d' examples/rest-and-s3.sql)\"";

#[test]
fn the_quickstart_of_rest_and_s3_works() {
    const HEADING: &str = "A REST catalog and S3, on one machine";
    let example = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/rest-and-s3.sql");
    let mut example = std::fs::read_to_string(example).expect("the example");
    for block in blocks(HEADING, "sql") {
        assert!(example.contains(&block), "the example does not hold README's\n{block}");
    }
    let [commands] = blocks(HEADING, "sh").try_into().expect("one block of commands");
    assert!(commands.lines().count() < 10 && commands.contains(program::PACKAGE), "{commands}");
    if let Err(why) = program::install() {
        eprintln!("skipped: the_quickstart_of_rest_and_s3_works: SeaweedFS cannot be installed: {why}");
        return;
    }
    // as in the workspace, but for ports, which may be in use
    let dir = tempfile::tempdir().expect("folder");
    let target = dir.path().join("target");
    std::fs::create_dir_all(target.join("release")).expect("folder");
    std::fs::create_dir(dir.path().join("examples")).expect("folder");
    let installed = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../target/seaweedfs").canonicalize().expect("path");
    std::os::unix::fs::symlink(installed, target.join("seaweedfs")).expect("link");
    std::os::unix::fs::symlink(CALVE, target.join("release/calve")).expect("link");
    let mut flags = String::from("-tableBucket=warehouse -s3.port.lance=0 -admin.ui=false -webdav=false");
    for (flag, port) in [
        ("s3.port", "8333"),
        ("s3.port.iceberg", "8181"),
        ("master.port", ""),
        ("filer.port", ""),
        ("volume.port", ""),
        ("admin.port", ""),
    ] {
        let free = program::free_port();
        flags.push_str(&format!(" -{flag}={free}"));
        if !port.is_empty() {
            example = example.replace(&format!("127.0.0.1:{port}"), &format!("127.0.0.1:{free}"));
        }
    }
    std::fs::write(dir.path().join("examples/rest-and-s3.sql"), &example).expect("the example");
    let kept = commands.lines().filter(|line| !line.starts_with("cargo ") && !line.starts_with("python3 "));
    let mut script = String::from("set -e\ntrap 'kill %1' ERR\n");
    for line in kept {
        let line = line.replace("-tableBucket=warehouse", &flags);
        // a machine that has much to do takes longer
        let line = match line.strip_prefix("sleep ") {
            Some(_) => format!("for i in $(seq 20); do sleep 2; {FIRST} && break; done"),
            None => line,
        };
        script.push_str(&line);
        script.push('\n');
    }
    let mut bash = plain(Command::new("bash"));
    bash.current_dir(dir.path()).args(["-m", "-c", &script]);
    let output = run_for(bash, Duration::from_secs(120)).expect("it ends");
    let (stdout, stderr) = (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    assert!(output.status.success(), "{stdout}\n{stderr}");
    let [printed] = blocks(HEADING, "text").try_into().expect("one block of results");
    let tables = |text: &str| text.lines().filter(|l| l.starts_with(['|', '+'])).map(str::to_owned).collect::<Vec<_>>();
    assert_eq!(tables(&stdout), tables(&printed), "{stdout}\n{stderr}");
}
