//! A bucket in memory that speaks as much of S3, and of Google's dialect of it, as we use, and does what a test wants with each request.

use std::collections::HashMap;
use std::sync::{Arc, Mutex};

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};

/// What is done with a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Act {
    /// What it asks for.
    Serve,
    /// What it asks for, and the connection is closed without an answer.
    Lose,
    /// Nothing, and the connection is closed.
    Drop,
    /// Nothing, and no answer.
    Hang,
    /// What it asks for, and the answer stops in the middle.
    Stop,
    /// Nothing but an answer with this status.
    Refuse(&'static str),
}

/// A request, as far as tests tell them apart.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Request {
    pub(super) method: String,
    /// With the query.
    pub(super) target: String,
    /// Whether the file must not be there yet.
    pub(super) create: bool,
}

impl Request {
    /// Whether it puts a file that is no probe.
    pub(super) fn creates(&self) -> bool {
        self.create && !self.target.contains("/.calve-")
    }
}

type Decide = Box<dyn FnMut(&Request) -> Act + Send>;

#[derive(Default)]
struct State {
    files: HashMap<String, Vec<u8>>,
    /// Parts of uploads, by the upload's number.
    uploads: HashMap<String, Vec<Vec<u8>>>,
    begun: usize,
    log: Vec<Request>,
    decide: Option<Decide>,
    ignores_conditions: bool,
}

/// The bucket.
#[derive(Clone)]
pub(super) struct Bucket {
    state: Arc<Mutex<State>>,
    pub(super) endpoint: String,
}

impl Bucket {
    pub(super) async fn new(decide: impl FnMut(&Request) -> Act + Send + 'static) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let endpoint = format!("http://{}", listener.local_addr().unwrap());
        let state = Arc::new(Mutex::new(State { decide: Some(Box::new(decide)), ..State::default() }));
        let bucket = Self { state, endpoint };
        let served = bucket.clone();
        tokio::spawn(async move {
            while let Ok((socket, _)) = listener.accept().await {
                tokio::spawn(served.clone().connection(socket));
            }
        });
        bucket
    }

    /// A store that takes every PUT, whatever its conditions.
    pub(super) async fn careless() -> Self {
        let bucket = Self::new(|_| Act::Serve).await;
        bucket.state.lock().unwrap().ignores_conditions = true;
        bucket
    }

    pub(super) fn file(&self, key: &str) -> Option<Vec<u8>> {
        self.state.lock().unwrap().files.get(key).cloned()
    }

    pub(super) fn put(&self, key: &str, bytes: &[u8]) {
        self.state.lock().unwrap().files.insert(key.to_owned(), bytes.to_vec());
    }

    pub(super) fn files(&self) -> Vec<String> {
        let mut files: Vec<_> = self.state.lock().unwrap().files.keys().cloned().collect();
        files.sort();
        files
    }

    /// Uploads that were begun, and those that nobody ended.
    pub(super) fn uploads(&self) -> (usize, usize) {
        let state = self.state.lock().unwrap();
        (state.begun, state.uploads.len())
    }

    pub(super) fn requests(&self, which: impl Fn(&Request) -> bool) -> usize {
        self.state.lock().unwrap().log.iter().filter(|request| which(request)).count()
    }

    async fn connection(self, mut socket: TcpStream) {
        let mut buffer = Vec::new();
        let mut chunk = vec![0; 65536];
        let (head, length) = loop {
            if let Some(end) = buffer.windows(4).position(|w| w == b"\r\n\r\n") {
                let head = String::from_utf8_lossy(&buffer[..end]).to_string();
                let length = head.lines().find_map(|l| l.to_lowercase().strip_prefix("content-length: ")?.parse().ok());
                break (head, end + 4 + length.unwrap_or(0_usize));
            }
            match socket.read(&mut chunk).await {
                Ok(n) if n > 0 => buffer.extend_from_slice(&chunk[..n]),
                _ => return,
            }
        };
        while buffer.len() < length {
            match socket.read(&mut chunk).await {
                Ok(n) if n > 0 => buffer.extend_from_slice(&chunk[..n]),
                _ => return,
            }
        }
        let body = buffer.split_off(head.len() + 4);
        let mut words = head.split(' ').map(str::to_owned);
        let (method, target) = (words.next().unwrap(), words.next().unwrap());
        let conditions = ["if-none-match: *", "x-goog-if-generation-match: 0\r\n"];
        let create = conditions.iter().any(|condition| format!("{}\r\n", head.to_lowercase()).contains(condition));
        let request = Request { method, target, create };
        let act = {
            let mut state = self.state.lock().unwrap();
            state.log.push(request.clone());
            let mut decide = state.decide.take().unwrap();
            let act = decide(&request);
            state.decide = Some(decide);
            act
        };
        let answer = match act {
            Act::Drop => return,
            Act::Hang => {
                tokio::time::sleep(std::time::Duration::from_secs(60)).await;
                return;
            }
            Act::Refuse(status) => (status, Vec::new()),
            Act::Serve | Act::Lose | Act::Stop => self.serve(&request, body),
        };
        if act == Act::Lose {
            return;
        }
        let (status, body) = answer;
        let head = format!(
            "HTTP/1.1 {status}\r\ncontent-length: {}\r\nconnection: close\r\netag: \"e\"\r\n\
             last-modified: Mon, 30 Nov 2026 12:00:00 GMT\r\n\r\n",
            body.len()
        );
        let _ = socket.write_all(head.as_bytes()).await;
        if act == Act::Stop {
            let _ = socket.write_all(&body[..body.len() / 2]).await;
            tokio::time::sleep(std::time::Duration::from_secs(60)).await;
        } else if request.method != "HEAD" {
            let _ = socket.write_all(&body).await;
        }
        let _ = socket.shutdown().await;
    }

    fn serve(&self, request: &Request, body: Vec<u8>) -> (&'static str, Vec<u8>) {
        let mut state = self.state.lock().unwrap();
        let (path, query) = request.target.split_once('?').unwrap_or((&request.target, ""));
        let key = path.trim_start_matches("/b").trim_start_matches('/').to_owned();
        let parameter = |name: &str| {
            query.split('&').find_map(|pair| pair.strip_prefix(name)?.strip_prefix('=').map(str::to_owned))
        };
        let id = parameter("uploadId");
        match (request.method.as_str(), id) {
            ("POST", None) if query.starts_with("uploads") => {
                state.begun += 1;
                let id = format!("u{}", state.begun);
                state.uploads.insert(id.clone(), Vec::new());
                let text =
                    format!("<InitiateMultipartUploadResult><UploadId>{id}</UploadId></InitiateMultipartUploadResult>");
                ("200 OK", text.into_bytes())
            }
            ("POST", None) => {
                let text = String::from_utf8_lossy(&body).to_string();
                for key in text.split("<Key>").skip(1).filter_map(|rest| rest.split("</Key>").next()) {
                    state.files.remove(key);
                }
                ("200 OK", b"<DeleteResult></DeleteResult>".to_vec())
            }
            ("PUT", Some(id)) => {
                let number: usize = parameter("partNumber").unwrap().parse().unwrap();
                let Some(parts) = state.uploads.get_mut(&id) else { return ("404 Not Found", Vec::new()) };
                parts.resize(parts.len().max(number), Vec::new());
                parts[number - 1] = body;
                ("200 OK", Vec::new())
            }
            ("POST", Some(id)) => {
                let Some(parts) = state.uploads.remove(&id) else { return ("404 Not Found", Vec::new()) };
                state.files.insert(key, parts.concat());
                ("200 OK", b"<CompleteMultipartUploadResult><ETag>e</ETag></CompleteMultipartUploadResult>".to_vec())
            }
            ("DELETE", Some(id)) => {
                state.uploads.remove(&id);
                ("204 No Content", Vec::new())
            }
            ("DELETE", None) => match state.files.remove(&key) {
                Some(_) => ("204 No Content", Vec::new()),
                None => ("404 Not Found", Vec::new()),
            },
            ("PUT", None) => {
                if request.create && state.files.contains_key(&key) && !state.ignores_conditions {
                    return ("412 Precondition Failed", Vec::new());
                }
                state.files.insert(key, body);
                ("200 OK", Vec::new())
            }
            (_, None) => match state.files.get(&key) {
                Some(bytes) => ("200 OK", bytes.clone()),
                None => ("404 Not Found", Vec::new()),
            },
            _ => ("400 Bad Request", Vec::new()),
        }
    }
}
