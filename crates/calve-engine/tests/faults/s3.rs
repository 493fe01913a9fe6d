//! A server of S3 for tests, with its objects in memory: as much as calve asks of one, and the faults of an [`Injector`].

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::io::{self, Write};
use std::net::{Shutdown, SocketAddr, TcpListener, TcpStream};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use crate::injector::{Act, Injector};
use crate::rest_server::http::{Request, decoded, form};

/// The only bucket.
pub const BUCKET: &str = "lake";

/// All objects, by key, and the uploads that are not put together.
#[derive(Clone, Default)]
pub struct Objects {
    pub files: BTreeMap<String, Arc<Vec<u8>>>,
    pub uploads: BTreeMap<String, Upload>,
    made: u64,
}

/// An upload in parts.
#[derive(Clone, Default)]
pub struct Upload {
    key: String,
    parts: BTreeMap<u32, Arc<Vec<u8>>>,
}

/// A running server; it stops when it is dropped.
pub struct S3 {
    address: SocketAddr,
    objects: Arc<Mutex<Objects>>,
    stop: Arc<AtomicBool>,
}

impl S3 {
    /// Starts a server on a free port.
    pub fn start(injector: &Injector) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        let (objects, stop) = (Arc::<Mutex<Objects>>::default(), Arc::new(AtomicBool::new(false)));
        let (all, stopped, injector) = (objects.clone(), stop.clone(), injector.clone());
        std::thread::spawn(move || {
            for connection in listener.incoming() {
                if stopped.load(Ordering::SeqCst) {
                    return;
                }
                let Ok(connection) = connection else { continue };
                let (all, injector) = (all.clone(), injector.clone());
                std::thread::spawn(move || serve(&all, &injector, &connection));
            }
        });
        Self { address, objects, stop }
    }

    /// The value of `s3.endpoint`.
    pub fn endpoint(&self) -> String {
        format!("http://{}", self.address)
    }

    /// What there is.
    pub fn objects(&self) -> MutexGuard<'_, Objects> {
        lock(&self.objects)
    }
}

impl Drop for S3 {
    fn drop(&mut self) {
        self.stop.store(true, Ordering::SeqCst);
        // wakes the loop
        let _ = TcpStream::connect(self.address);
    }
}

fn lock(objects: &Mutex<Objects>) -> MutexGuard<'_, Objects> {
    objects.lock().unwrap_or_else(PoisonError::into_inner)
}

/// The requests of one connection.
fn serve(objects: &Mutex<Objects>, injector: &Injector, connection: &TcpStream) {
    let _ = connection.set_nodelay(true);
    let Ok(mut reader) = connection.try_clone().map(io::BufReader::new) else { return };
    while let Ok(Some(request)) = Request::read(&mut reader) {
        if respond(objects, injector, connection, &request).is_err() {
            break;
        }
    }
    let _ = connection.shutdown(Shutdown::Both);
}

fn respond(
    objects: &Mutex<Objects>,
    injector: &Injector,
    mut connection: &TcpStream,
    request: &Request,
) -> io::Result<()> {
    let closed = || io::Error::other("closed on purpose");
    let answer = || lock(objects).answer(request).bytes(request.is_head());
    match injector.judge(format_args!("S3 {} {}", request.method, request.target)) {
        Act::Do => connection.write_all(&answer()),
        Act::Refuse(status) => {
            let code = if status == 503 { "SlowDown" } else { "AccessDenied" };
            connection.write_all(&Answer::error(status, code).bytes(request.is_head()))
        }
        Act::DoRefuse(status) => {
            answer();
            connection.write_all(&Answer::error(status, "InternalError").bytes(request.is_head()))
        }
        Act::Close => Err(closed()),
        Act::DoClose => {
            answer();
            Err(closed())
        }
        Act::DoCut => {
            let bytes = answer();
            let head = bytes.windows(4).position(|w| w == b"\r\n\r\n").map_or(bytes.len(), |at| at + 4);
            connection.write_all(&bytes[..head + (bytes.len() - head) / 2])?;
            Err(closed())
        }
        Act::Hold => {
            injector.hold();
            Err(closed())
        }
        Act::DoHold => {
            answer();
            injector.hold();
            Err(closed())
        }
    }
}

struct Answer {
    status: u16,
    headers: Vec<(&'static str, String)>,
    body: Vec<u8>,
}

impl Answer {
    fn new(status: u16, body: impl Into<Vec<u8>>) -> Self {
        Self { status, headers: vec![], body: body.into() }
    }

    fn error(status: u16, code: &str) -> Self {
        Self::new(status, format!("<Error><Code>{code}</Code><Message>On purpose.</Message></Error>"))
    }

    fn with(mut self, name: &'static str, value: impl Into<String>) -> Self {
        self.headers.push((name, value.into()));
        self
    }

    fn bytes(&self, is_head: bool) -> Vec<u8> {
        let mut head = format!("HTTP/1.1 {} X\r\n", self.status);
        for (name, value) in &self.headers {
            let _ = write!(head, "{name}: {value}\r\n");
        }
        if self.status != 204 {
            let _ = write!(head, "Content-Length: {}\r\n", self.body.len());
        }
        let body: &[u8] = if is_head { &[] } else { &self.body };
        [head.as_bytes(), b"\r\n", body].concat()
    }
}

fn etag(bytes: &[u8]) -> String {
    // FNV-1a: it only has to differ
    let hash = bytes
        .iter()
        .fold(0xcbf2_9ce4_8422_2325_u64, |hash, byte| (hash ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01b3));
    format!("\"{hash:016x}-{}\"", bytes.len())
}

impl Objects {
    fn answer(&mut self, request: &Request) -> Answer {
        let path = decoded(request.path());
        let Some(rest) = path.strip_prefix(&format!("/{BUCKET}")) else { return Answer::error(404, "NoSuchBucket") };
        let key = rest.trim_start_matches('/').to_owned();
        let query = request.target.split_once('?').map(|(_, query)| form(query)).unwrap_or_default();
        let get = |name: &str| query.get(name).cloned();
        match (request.method.as_str(), get("uploadId"), key.is_empty()) {
            ("GET", _, true) => self.list(&get("prefix").unwrap_or_default(), get("delimiter").as_deref()),
            ("POST", _, true) => self.delete_all(request),
            ("POST", None, false) => {
                self.made += 1;
                let id = format!("upload-{}", self.made);
                let body =
                    format!("<InitiateMultipartUploadResult><UploadId>{id}</UploadId></InitiateMultipartUploadResult>");
                self.uploads.insert(id, Upload { key, ..Upload::default() });
                Answer::new(200, body)
            }
            ("PUT", Some(id), false) => {
                let number = get("partNumber").and_then(|n| n.parse().ok()).unwrap_or(0);
                match self.uploads.get_mut(&id) {
                    Some(upload) => {
                        upload.parts.insert(number, Arc::new(request.body.clone()));
                        Answer::new(200, "").with("ETag", etag(&request.body))
                    }
                    None => Answer::error(404, "NoSuchUpload"),
                }
            }
            ("POST", Some(id), false) => match self.uploads.remove(&id) {
                Some(upload) => {
                    let bytes: Vec<u8> = upload.parts.values().flat_map(|part| part.iter().copied()).collect();
                    let tag = etag(&bytes);
                    self.files.insert(upload.key, Arc::new(bytes));
                    let body =
                        format!("<CompleteMultipartUploadResult><ETag>{tag}</ETag></CompleteMultipartUploadResult>");
                    Answer::new(200, body)
                }
                None => Answer::error(404, "NoSuchUpload"),
            },
            ("DELETE", Some(id), false) => match self.uploads.remove(&id) {
                Some(_) => Answer::new(204, ""),
                None => Answer::error(404, "NoSuchUpload"),
            },
            ("PUT", None, false) => {
                let only_new = request.headers.get("if-none-match").is_some_and(|value| value == "*");
                if only_new && self.files.contains_key(&key) {
                    return Answer::error(412, "PreconditionFailed");
                }
                let tag = etag(&request.body);
                self.files.insert(key, Arc::new(request.body.clone()));
                Answer::new(200, "").with("ETag", tag)
            }
            ("DELETE", None, false) => {
                self.files.remove(&key);
                Answer::new(204, "")
            }
            ("GET" | "HEAD", None, false) => self.read(&key, request.headers.get("range").map(String::as_str)),
            _ => Answer::error(501, "NotImplemented"),
        }
    }

    fn read(&self, key: &str, range: Option<&str>) -> Answer {
        let Some(bytes) = self.files.get(key) else { return Answer::error(404, "NoSuchKey") };
        let all = bytes.len();
        let answer = match range.and_then(|range| range.strip_prefix("bytes=")?.split_once('-')) {
            None => Answer::new(200, bytes.as_slice()),
            Some((first, last)) => {
                let (begin, end) = match (first.parse::<usize>(), last.parse::<usize>()) {
                    (Ok(begin), Ok(last)) => (begin, (last + 1).min(all)),
                    (Ok(begin), Err(_)) => (begin, all),
                    (Err(_), Ok(length)) => (all.saturating_sub(length), all),
                    (Err(_), Err(_)) => return Answer::error(400, "InvalidArgument"),
                };
                if begin >= end {
                    return Answer::error(416, "InvalidRange");
                }
                let part = &bytes[begin..end];
                Answer::new(206, part).with("Content-Range", format!("bytes {begin}-{}/{all}", end - 1))
            }
        };
        answer.with("ETag", etag(bytes)).with("Last-Modified", "Wed, 01 Jan 2025 00:00:00 GMT")
    }

    fn list(&self, prefix: &str, delimiter: Option<&str>) -> Answer {
        let mut body = "<ListBucketResult><IsTruncated>false</IsTruncated>".to_owned();
        let mut folders: Vec<&str> = vec![];
        for (key, bytes) in self.files.iter().filter(|(key, _)| key.starts_with(prefix)) {
            if let Some(at) = delimiter.and_then(|delimiter| key[prefix.len()..].find(delimiter)) {
                let folder = &key[..=prefix.len() + at];
                if folders.last() != Some(&folder) {
                    folders.push(folder);
                }
                continue;
            }
            let _ = write!(
                body,
                "<Contents><Key>{key}</Key><Size>{}</Size><LastModified>2025-01-01T00:00:00.000Z</LastModified></Contents>",
                bytes.len()
            );
        }
        for folder in folders {
            let _ = write!(body, "<CommonPrefixes><Prefix>{folder}</Prefix></CommonPrefixes>");
        }
        Answer::new(200, body + "</ListBucketResult>")
    }

    fn delete_all(&mut self, request: &Request) -> Answer {
        let text = String::from_utf8_lossy(&request.body).into_owned();
        let mut body = "<DeleteResult>".to_owned();
        for part in text.split("<Key>").skip(1) {
            let Some((key, _)) = part.split_once("</Key>") else { continue };
            self.files.remove(key);
            let _ = write!(body, "<Deleted><Key>{key}</Key></Deleted>");
        }
        Answer::new(200, body + "</DeleteResult>")
    }
}
