//! A PostgreSQL server for tests: the Debian package `postgresql` is looked for and, by root, installed; a cluster of its own
//! runs in a temporary folder on a free port of 127.0.0.1, as another user than root, and is stopped when it is dropped.
//! Where there is none the tests that need it say so.

use std::collections::BTreeMap;
use std::fs;
use std::net::TcpListener;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::sync::Mutex;

/// The user of the catalogs.
pub const USER: &str = "calve";

/// Its password, which no message may tell.
pub const PASSWORD: &str = "pa:ss/word@1%";

/// A running server.
pub struct Postgres {
    folder: tempfile::TempDir,
    programs: PathBuf,
    port: u16,
}

impl Postgres {
    /// Starts a server; `None`, with the reason on stderr, where that is not possible.
    pub fn start(test: &str) -> Option<Self> {
        let programs = match install() {
            Ok(programs) => programs,
            Err(why) => {
                eprintln!("skipped: {test}: PostgreSQL cannot be installed: {why}");
                return None;
            }
        };
        // another process may take a port between its choice and its use
        Some((0..3).find_map(|_| Self::started(&programs)).expect("PostgreSQL is installed and does not start"))
    }

    fn started(programs: &Path) -> Option<Self> {
        let folder = tempfile::tempdir().expect("a temporary folder");
        if let Some((user, group)) = unprivileged() {
            std::os::unix::fs::chown(folder.path(), Some(user), Some(group)).expect("the folder changes its owner");
        }
        let port = TcpListener::bind("127.0.0.1:0").and_then(|l| l.local_addr()).expect("a free port").port();
        let server = Self { folder, programs: programs.to_owned(), port };
        let password = server.folder.path().join("password");
        fs::write(&password, PASSWORD).expect("a file");
        let data = server.data();
        let made = server.run(
            "initdb",
            &[
                "-D",
                &data,
                "-U",
                USER,
                "-A",
                "scram-sha-256",
                "--pwfile",
                &password.display().to_string(),
                "-E",
                "UTF8",
                "-N",
            ],
        );
        assert!(made.status.success(), "{made:?}");
        let options = format!("-p {port} -h 127.0.0.1 -c fsync=off -c unix_socket_directories=''");
        let log = server.folder.path().join("log").display().to_string();
        let started = server.run("pg_ctl", &["-D", &data, "-l", &log, "-o", &options, "-w", "-t", "60", "start"]);
        started.status.success().then_some(server)
    }

    fn data(&self) -> String {
        self.folder.path().join("data").display().to_string()
    }

    fn run(&self, program: &str, arguments: &[&str]) -> Output {
        let mut command = Command::new(self.programs.join(program));
        command.args(arguments).current_dir(self.folder.path()).stdin(Stdio::null()).env("PGPASSWORD", PASSWORD);
        if let Some((user, group)) = unprivileged() {
            command.uid(user).gid(group);
        }
        if program == "pg_ctl" {
            // the server would keep a pipe open
            let status = command.stdout(Stdio::null()).stderr(Stdio::null()).status();
            return Output { status: status.expect("pg_ctl runs"), stdout: vec![], stderr: vec![] };
        }
        command.output().expect("a program of PostgreSQL runs")
    }

    /// Its version.
    pub fn version(&self) -> String {
        self.sql("postgres", "SHOW server_version")
    }

    /// Its port.
    pub fn port(&self) -> u16 {
        self.port
    }

    /// Runs SQL in a database; what it prints, a line per row.
    pub fn sql(&self, database: &str, sql: &str) -> String {
        let port = self.port.to_string();
        let output = self
            .run("psql", &["-h", "127.0.0.1", "-p", &port, "-U", USER, "-d", database, "-X", "-A", "-t", "-c", sql]);
        assert!(output.status.success(), "{output:?}");
        String::from_utf8_lossy(&output.stdout).trim().to_owned()
    }

    /// Makes a database, and options of a catalog in it.
    pub fn database(&self, name: &str, warehouse: &Path) -> BTreeMap<String, String> {
        self.sql("postgres", &format!("CREATE DATABASE {name}"));
        self.options(self.port, name, warehouse)
    }

    /// The options of a catalog in a database that is reached at a port.
    pub fn options(&self, port: u16, database: &str, warehouse: &Path) -> BTreeMap<String, String> {
        let uri = format!("jdbc:postgresql://127.0.0.1:{port}/{database}");
        let warehouse = warehouse.display().to_string();
        [
            ("catalog-type", "jdbc"),
            ("uri", &uri),
            ("warehouse", &warehouse),
            ("jdbc.user", USER),
            ("jdbc.password", PASSWORD),
        ]
        .map(|(key, value)| (key.to_owned(), value.to_owned()))
        .into()
    }

    /// Stops the server at once.
    pub fn stop(&self) {
        self.run("pg_ctl", &["-D", &self.data(), "-m", "immediate", "-w", "stop"]);
    }
}

impl Drop for Postgres {
    fn drop(&mut self) {
        self.stop();
    }
}

/// User and group to run the server as where this process is root's, whom it refuses.
fn unprivileged() -> Option<(u32, u32)> {
    let id = |arguments: &[&str]| {
        let output = Command::new("id").args(arguments).output().ok()?;
        String::from_utf8_lossy(&output.stdout).trim().parse::<u32>().ok()
    };
    if id(&["-u"])? != 0 {
        return None;
    }
    Some((id(&["-u", "postgres"])?, id(&["-g", "postgres"])?))
}

/// The folder of the server's programs.
fn find() -> Option<PathBuf> {
    let versions = fs::read_dir("/usr/lib/postgresql").into_iter().flatten().flatten();
    let mut folders: Vec<PathBuf> = versions.map(|version| version.path().join("bin")).collect();
    folders.sort();
    folders
        .into_iter()
        .rev()
        .chain([PathBuf::from("/usr/bin"), PathBuf::from("/usr/local/bin")])
        .find(|folder| ["initdb", "pg_ctl", "psql"].iter().all(|program| folder.join(program).exists()))
}

fn install() -> Result<PathBuf, String> {
    static ONE_AT_A_TIME: Mutex<()> = Mutex::new(());
    let _guard = ONE_AT_A_TIME.lock().map_err(|e| e.to_string())?;
    if let Some(found) = find() {
        return Ok(found);
    }
    for arguments in [vec!["update", "-qq"], vec!["install", "-y", "-qq", "--no-install-recommends", "postgresql"]] {
        let output = Command::new("apt-get")
            .args(arguments)
            .env("DEBIAN_FRONTEND", "noninteractive")
            .output()
            .map_err(|e| format!("apt-get: {e}"))?;
        if !output.status.success() {
            return Err(String::from_utf8_lossy(&output.stderr).trim().to_owned());
        }
    }
    find().ok_or_else(|| "the package has no programs where they are looked for".to_owned())
}
