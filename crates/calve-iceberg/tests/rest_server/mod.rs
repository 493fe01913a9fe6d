//! A REST catalog for tests: Iceberg's REST interface over tables in memory, whose answers can be made to go wrong.
//!
//! Plain HTTP/1.1 on a thread per connection. Metadata files are written where the warehouse is a local folder; for other
//! warehouses their names alone are given out, which is all that a client needs.

#![allow(dead_code, clippy::unwrap_used, clippy::expect_used, clippy::panic)]

mod catalog;
pub mod http;
mod signature;

use std::collections::BTreeMap;
use std::io;
use std::net::{Shutdown, SocketAddr, TcpListener, TcpStream};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use catalog::Tables;
use http::{Answer, Request};

/// How a server behaves.
#[derive(Clone, Debug, Default)]
pub struct Settings {
    /// Where tables are put: a folder, or a location such as `s3://bucket/path`.
    pub warehouse: String,
    /// `prefix` of the configuration.
    pub prefix: Option<String>,
    /// `defaults` of the configuration.
    pub defaults: BTreeMap<String, String>,
    /// `overrides` of the configuration, beside the prefix.
    pub overrides: BTreeMap<String, String>,
    /// The endpoints of the configuration; `None` lists none, as old servers do.
    pub endpoints: Option<Vec<String>>,
    /// Entries of a page; 0: all.
    pub page: usize,
    /// Client id and secret that tokens are given for; requests need one then.
    pub credential: Option<(String, String)>,
    /// How long tokens are good for.
    pub token_life: Option<Duration>,
    /// Key id, secret, region and service that requests must be signed with.
    pub signer: Option<[String; 4]>,
    /// `config` of a table's answer.
    pub table_config: BTreeMap<String, String>,
    /// `storage-credentials` of a table's answer, if credentials are asked for.
    pub vended: Vec<(String, BTreeMap<String, String>)>,
    /// `idempotency-key-lifetime` of the configuration: repetitions are known by their keys then.
    pub key_lifetime: Option<String>,
    /// Of a hundred requests, so many go wrong at random in one of the ways of [`Fault`].
    pub chaos: u32,
}

/// All endpoints this server has.
pub const ENDPOINTS: [&str; 16] = [
    "GET /v1/{prefix}/namespaces",
    "POST /v1/{prefix}/namespaces",
    "GET /v1/{prefix}/namespaces/{namespace}",
    "HEAD /v1/{prefix}/namespaces/{namespace}",
    "DELETE /v1/{prefix}/namespaces/{namespace}",
    "POST /v1/{prefix}/namespaces/{namespace}/properties",
    "GET /v1/{prefix}/namespaces/{namespace}/tables",
    "POST /v1/{prefix}/namespaces/{namespace}/tables",
    "GET /v1/{prefix}/namespaces/{namespace}/tables/{table}",
    "HEAD /v1/{prefix}/namespaces/{namespace}/tables/{table}",
    "POST /v1/{prefix}/namespaces/{namespace}/tables/{table}",
    "DELETE /v1/{prefix}/namespaces/{namespace}/tables/{table}",
    "GET /v1/{prefix}/namespaces/{namespace}/tables/{table}/credentials",
    "POST /v1/{prefix}/tables/rename",
    "POST /v1/{prefix}/transactions/commit",
    "POST /v1/{prefix}/namespaces/{namespace}/register",
];

/// What goes wrong with a request.
#[derive(Clone, Debug)]
pub enum Fault {
    /// Not done; this status, with an error in JSON.
    Refuse(u16, &'static str),
    /// Not done; these bytes.
    Raw(String),
    /// Done; this status.
    DoneBut(u16),
    /// Done; these bytes.
    DoneRaw(String),
    /// Not done; the connection is closed.
    LoseRequest,
    /// Done; the connection is closed.
    LoseReply,
    /// Done; the connection is closed in the middle of the answer.
    CutReply,
    /// Not done; nothing is said for this long.
    Silence(Duration),
    /// Done; nothing is said for this long.
    DoneSilence(Duration),
    /// Done; the answer comes a byte at a time, with this pause.
    Trickle(Duration),
    /// Done twice, as by a proxy that did not hear the first answer; that of the second time is given.
    Twice,
    /// Not done; nothing is said as long as the gate is closed.
    Hold(Gate),
    /// Done; nothing is said as long as the gate is closed.
    DoneHold(Gate),
}

/// Returns when an answer may go on.
#[derive(Clone)]
pub struct Gate(Arc<dyn Fn() + Send + Sync>);

impl Gate {
    /// A gate that waits as `wait` does.
    pub fn new(wait: impl Fn() + Send + Sync + 'static) -> Self {
        Self(Arc::new(wait))
    }
}

impl std::fmt::Debug for Gate {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Gate")
    }
}

/// Says what goes wrong with a request, by its method and target.
pub type Hook = Arc<dyn Fn(&str, &str) -> Option<Fault> + Send + Sync>;

/// All tables and namespaces, as they were.
#[derive(Clone, Default)]
pub struct Saved(Option<Tables>);

/// A fault that waits for its request.
#[derive(Clone, Debug)]
struct Trap {
    method: String,
    part: String,
    times: usize,
    fault: Fault,
}

/// A request as it came.
#[derive(Clone, Debug)]
pub struct Logged {
    /// GET, ..
    pub method: String,
    /// Path and query.
    pub target: String,
    /// Headers in lower case.
    pub headers: BTreeMap<String, String>,
    /// The body.
    pub body: String,
}

/// What all connections share.
struct Shared {
    settings: Settings,
    tables: Tables,
    traps: Vec<Trap>,
    hook: Option<Hook>,
    log: Vec<Logged>,
    /// Tokens and their ends.
    tokens: BTreeMap<String, Option<Instant>>,
    issued: u64,
    /// The answers that were given to keys of calls.
    answered: BTreeMap<String, Answer>,
    random: u64,
    open: Vec<TcpStream>,
}

/// A running server; it stops when it is dropped.
pub struct RestServer {
    address: SocketAddr,
    shared: Arc<Mutex<Shared>>,
    stop: Arc<AtomicBool>,
}

impl RestServer {
    /// Starts a server on a free port.
    pub fn start(settings: Settings) -> Self {
        Self::start_at("127.0.0.1:0", settings)
    }

    /// Starts a server at an address.
    pub fn start_at(address: &str, settings: Settings) -> Self {
        let listener = TcpListener::bind(address).unwrap();
        let address = listener.local_addr().unwrap();
        let shared = Shared {
            tables: Tables::new(&settings.warehouse),
            settings,
            traps: vec![],
            hook: None,
            log: vec![],
            tokens: BTreeMap::new(),
            issued: 0,
            answered: BTreeMap::new(),
            random: 0x9e37_79b9_7f4a_7c15,
            open: vec![],
        };
        let (shared, stop) = (Arc::new(Mutex::new(shared)), Arc::new(AtomicBool::new(false)));
        let (of_loop, stopped) = (shared.clone(), stop.clone());
        std::thread::spawn(move || {
            for connection in listener.incoming() {
                if stopped.load(Ordering::SeqCst) {
                    return;
                }
                let Ok(connection) = connection else { continue };
                let shared = of_loop.clone();
                lock(&shared).open.extend(connection.try_clone());
                std::thread::spawn(move || serve(&shared, connection));
            }
        });
        Self { address, shared, stop }
    }

    /// A server over a folder, with all endpoints.
    pub fn over(folder: &std::path::Path) -> Self {
        Self::start(Settings { warehouse: folder.display().to_string(), ..Settings::full() })
    }

    /// The catalog's `uri`.
    pub fn uri(&self) -> String {
        format!("http://{}", self.address)
    }

    /// Lets the next request with this method and this part in its path and query go wrong.
    pub fn trap(&self, method: &str, part: &str, fault: Fault) {
        self.trap_times(method, part, 1, fault);
    }

    /// As [`RestServer::trap`], for the next so many requests.
    pub fn trap_times(&self, method: &str, part: &str, times: usize, fault: Fault) {
        lock(&self.shared).traps.push(Trap { method: method.to_owned(), part: part.to_owned(), times, fault });
    }

    /// Lets every request ask what goes wrong with it, before the faults that wait.
    pub fn set_hook(&self, hook: Hook) {
        lock(&self.shared).hook = Some(hook);
    }

    /// What there is, to be put back.
    pub fn save(&self) -> Saved {
        Saved(Some(lock(&self.shared).tables.clone()))
    }

    /// Puts back what there was; nothing for what was never saved. The log begins anew.
    pub fn restore(&self, saved: &Saved) {
        let mut shared = lock(&self.shared);
        let warehouse = shared.settings.warehouse.clone();
        shared.tables = saved.0.clone().unwrap_or_else(|| Tables::new(&warehouse));
        shared.log.clear();
    }

    /// Forgets all faults; how many had not happened.
    pub fn disarm(&self) -> usize {
        std::mem::take(&mut lock(&self.shared).traps).iter().map(|trap| trap.times).sum()
    }

    /// The requests since the last time.
    pub fn log(&self) -> Vec<Logged> {
        std::mem::take(&mut lock(&self.shared).log)
    }

    /// The requests since the last time, as `GET /v1/config`.
    pub fn targets(&self) -> Vec<String> {
        self.log().iter().map(|logged| format!("{} {}", logged.method, logged.target)).collect()
    }

    /// No token that was given is good any more.
    pub fn revoke(&self) {
        lock(&self.shared).tokens.clear();
    }

    /// Changes how the server behaves.
    pub fn change(&self, change: impl FnOnce(&mut Settings)) {
        change(&mut lock(&self.shared).settings);
    }

    /// Closes all connections, as a restart does; the tables stay.
    pub fn hang_up(&self) {
        for connection in std::mem::take(&mut lock(&self.shared).open) {
            let _ = connection.shutdown(Shutdown::Both);
        }
    }
}

impl Drop for RestServer {
    fn drop(&mut self) {
        self.stop.store(true, Ordering::SeqCst);
        // wakes the loop
        let _ = TcpStream::connect(self.address);
        self.hang_up();
    }
}

impl Settings {
    /// With all endpoints.
    pub fn full() -> Self {
        Self { endpoints: Some(ENDPOINTS.iter().map(|e| (*e).to_owned()).collect()), ..Self::default() }
    }
}

fn lock(shared: &Mutex<Shared>) -> MutexGuard<'_, Shared> {
    shared.lock().unwrap_or_else(PoisonError::into_inner)
}

/// The requests of one connection.
fn serve(shared: &Mutex<Shared>, connection: TcpStream) {
    let _ = connection.set_nodelay(true);
    let Ok(mut reader) = connection.try_clone().map(io::BufReader::new) else { return };
    while let Ok(Some(request)) = Request::read(&mut reader) {
        if respond(shared, &connection, &request).is_err() {
            let _ = connection.shutdown(Shutdown::Both);
            return;
        }
    }
}

/// Answers one request; an error closes the connection.
fn respond(shared: &Mutex<Shared>, connection: &TcpStream, request: &Request) -> io::Result<()> {
    let closed = || io::Error::other("closed on purpose");
    let fault = lock(shared).note(request);
    let answer = |status| lock(shared).answer(request).with_status(status);
    match fault {
        None => lock(shared).answer(request).write(connection, request.is_head()),
        Some(Fault::Refuse(status, exception)) => {
            error(status, exception, "on purpose").write(connection, request.is_head())
        }
        Some(Fault::Raw(bytes)) => http::write_raw(connection, &bytes),
        Some(Fault::DoneBut(status)) => {
            answer(None);
            error(status, "OnPurpose", "done, and still an error").write(connection, request.is_head())
        }
        Some(Fault::DoneRaw(bytes)) => {
            answer(None);
            http::write_raw(connection, &bytes)
        }
        Some(Fault::LoseRequest) => Err(closed()),
        Some(Fault::LoseReply) => {
            answer(None);
            Err(closed())
        }
        Some(Fault::CutReply) => {
            answer(None).write_half(connection)?;
            Err(closed())
        }
        Some(Fault::Silence(time)) => {
            std::thread::sleep(time);
            Err(closed())
        }
        Some(Fault::DoneSilence(time)) => {
            answer(None);
            std::thread::sleep(time);
            Err(closed())
        }
        Some(Fault::Trickle(pause)) => answer(None).trickle(connection, pause),
        Some(Fault::Twice) => {
            answer(None);
            answer(None).write(connection, request.is_head())
        }
        Some(Fault::Hold(gate)) => {
            (gate.0)();
            Err(closed())
        }
        Some(Fault::DoneHold(gate)) => {
            answer(None);
            (gate.0)();
            Err(closed())
        }
    }
}

/// An answer that tells of an error (the specification's `ErrorModel`).
pub(crate) fn error(status: u16, exception: &str, message: &str) -> Answer {
    Answer::json(status, &json!({"error": {"message": message, "type": exception, "code": status}}))
}

impl Shared {
    /// Notes a request; what goes wrong with it.
    fn note(&mut self, request: &Request) -> Option<Fault> {
        self.log.push(Logged {
            method: request.method.clone(),
            target: request.target.clone(),
            headers: request.headers.clone(),
            body: String::from_utf8_lossy(&request.body).into_owned(),
        });
        if let Some(fault) = self.hook.as_ref().and_then(|hook| hook(&request.method, &request.target)) {
            return Some(fault);
        }
        let fits =
            |trap: &&mut Trap| trap.times > 0 && trap.method == request.method && request.target.contains(&trap.part);
        if let Some(trap) = self.traps.iter_mut().find(fits) {
            trap.times -= 1;
            return Some(trap.fault.clone());
        }
        if self.settings.chaos > 0 && self.next_random() % 100 < u64::from(self.settings.chaos) {
            return Some(match self.next_random() % 8 {
                0 => Fault::Refuse(500, "OnPurpose"),
                1 => Fault::Refuse(503, "OnPurpose"),
                2 => Fault::DoneBut(500),
                3 => Fault::DoneBut(502),
                4 => Fault::LoseRequest,
                5 => Fault::LoseReply,
                6 => Fault::CutReply,
                _ => Fault::Twice,
            });
        }
        None
    }

    /// Xorshift: the same faults in every run.
    fn next_random(&mut self) -> u64 {
        self.random ^= self.random << 13;
        self.random ^= self.random >> 7;
        self.random ^= self.random << 17;
        self.random
    }

    /// Answers a request; one whose key is known as it was answered before.
    fn answer(&mut self, request: &Request) -> Answer {
        let key = request.headers.get("idempotency-key").filter(|_| self.settings.key_lifetime.is_some()).cloned();
        if let Some(answer) = key.as_ref().and_then(|key| self.answered.get(key)) {
            return answer.clone();
        }
        let answer = self.carry_out(request);
        if let Some(key) = key.filter(|_| answer.status < 500 && answer.status != 401) {
            self.answered.insert(key, answer.clone());
        }
        answer
    }

    fn carry_out(&mut self, request: &Request) -> Answer {
        let segments: Vec<String> = request.path().split('/').skip(1).map(http::decoded).collect();
        let parts: Vec<&str> = segments.iter().map(String::as_str).collect();
        if let ["v1", "oauth", "tokens"] = parts.as_slice() {
            return self.give_token(request);
        }
        if let Some(refused) = self.refuse_stranger(request) {
            return refused;
        }
        if let ["v1", "config"] = parts.as_slice() {
            return self.config();
        }
        let prefix: Vec<&str> = self.settings.prefix.as_deref().map(|p| p.split('/').collect()).unwrap_or_default();
        let rest = parts.strip_prefix(["v1"].as_slice()).and_then(|rest| rest.strip_prefix(prefix.as_slice()));
        let Some(rest) = rest else { return error(404, "NotFoundException", "there is no such path") };
        let delegated = request.headers.get("x-iceberg-access-delegation").is_some_and(|v| v == "vended-credentials");
        let around = |answer: Answer, settings: &Settings| answer.with_storage(settings, delegated);
        let page = self.settings.page;
        match (request.method.as_str(), rest) {
            ("GET", ["namespaces"]) => self.tables.list_namespaces(request, page),
            ("POST", ["namespaces"]) => self.tables.create_namespace(&request.json()),
            ("GET" | "HEAD", ["namespaces", name]) => self.tables.load_namespace(name),
            ("DELETE", ["namespaces", name]) => self.tables.drop_namespace(name),
            ("POST", ["namespaces", name, "properties"]) => self.tables.set_properties(name, &request.json()),
            ("GET", ["namespaces", name, "tables"]) => self.tables.list(name, request, page),
            ("POST", ["namespaces", name, "tables"]) => {
                around(self.tables.create(name, request.json()), &self.settings)
            }
            ("GET" | "HEAD", ["namespaces", name, "tables", table]) => {
                around(self.tables.load(name, table), &self.settings)
            }
            ("GET", ["namespaces", name, "tables", table, "credentials"]) => match self.tables.load(name, table) {
                loaded if loaded.is_success() => Answer::json(200, &self.settings.credentials()),
                refused => refused,
            },
            ("POST", ["namespaces", name, "tables", table]) => self.tables.commit(name, table, request.json()),
            ("DELETE", ["namespaces", name, "tables", table]) => {
                self.tables.drop(name, table, request.query("purgeRequested").as_deref() == Some("true"))
            }
            ("POST", ["tables", "rename"]) => self.tables.rename(&request.json()),
            ("POST", ["transactions", "commit"]) => self.tables.commit_all(request.json()),
            _ => error(404, "NotFoundException", "there is no such path"),
        }
    }

    fn config(&self) -> Answer {
        let Settings { defaults, overrides, prefix, endpoints, key_lifetime, .. } = &self.settings;
        let mut overrides = overrides.clone();
        overrides.extend(prefix.clone().map(|prefix| ("prefix".to_owned(), prefix)));
        let mut config = json!({"defaults": defaults, "overrides": overrides});
        if let Some(endpoints) = endpoints {
            config["endpoints"] = json!(endpoints);
        }
        if let Some(lifetime) = key_lifetime {
            config["idempotency-key-lifetime"] = json!(lifetime);
        }
        Answer::json(200, &config)
    }

    /// The OAuth2 endpoint: by client credentials, or in exchange for a token.
    fn give_token(&mut self, request: &Request) -> Answer {
        let form = http::form(&String::from_utf8_lossy(&request.body));
        let get = |key: &str| form.get(key).map(String::as_str).unwrap_or_default();
        let known = match (&self.settings.credential, get("grant_type")) {
            (Some((id, secret)), "client_credentials") => get("client_id") == id && get("client_secret") == secret,
            (Some(_), grant) if grant.ends_with("token-exchange") => self.is_token(get("subject_token")),
            _ => false,
        };
        if !known {
            let body = json!({"error": "invalid_client", "error_description": "Client authentication failed"});
            return Answer::json(401, &body);
        }
        self.issued += 1;
        let token = format!("token-{}-of-the-test", self.issued);
        let life = self.settings.token_life;
        self.tokens.insert(token.clone(), life.map(|life| Instant::now() + life));
        let mut body = json!({"access_token": token, "token_type": "bearer"});
        if let Some(life) = life {
            body["expires_in"] = json!(life.as_secs());
        }
        Answer::json(200, &body)
    }

    fn is_token(&self, token: &str) -> bool {
        self.tokens.get(token).is_some_and(|end| end.is_none_or(|end| Instant::now() < end))
    }

    fn refuse_stranger(&self, request: &Request) -> Option<Answer> {
        if let Some([key, secret, region, service]) = &self.settings.signer
            && let Err(why) = signature::verify(request, key, secret, region, service)
        {
            return Some(error(403, "ForbiddenException", &format!("the signature is wrong: {why}")));
        }
        if self.settings.credential.is_some() {
            let name = if self.settings.signer.is_some() { "original-authorization" } else { "authorization" };
            let sent = request.headers.get(name).and_then(|value| value.strip_prefix("Bearer ")).unwrap_or_default();
            if !self.is_token(sent) {
                let said = format!("the token '{sent}' is not valid");
                return Some(error(401, "NotAuthorizedException", &said));
            }
        }
        None
    }
}

impl Settings {
    /// The body of `GET .. /credentials`.
    fn credentials(&self) -> Value {
        let vended = self.vended.iter().map(|(prefix, config)| json!({"prefix": prefix, "config": config}));
        json!({"storage-credentials": vended.collect::<Vec<_>>()})
    }
}

impl Answer {
    /// With what a table's storage needs.
    fn with_storage(mut self, settings: &Settings, delegated: bool) -> Self {
        if let Some(body) = self.body.as_mut().filter(|body| body.get("metadata").is_some()) {
            body["config"] = json!(settings.table_config);
            if delegated && !settings.vended.is_empty() {
                body["storage-credentials"] = settings.credentials()["storage-credentials"].clone();
            }
        }
        self
    }
}
