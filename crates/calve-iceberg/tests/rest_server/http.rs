//! As much of HTTP/1.1 as tests need.

use std::collections::BTreeMap;
use std::io::{self, BufRead, Write};
use std::net::TcpStream;
use std::time::Duration;

use serde_json::Value;

/// A request.
pub struct Request {
    pub method: String,
    /// Path and query as sent.
    pub target: String,
    /// By names in lower case.
    pub headers: BTreeMap<String, String>,
    pub body: Vec<u8>,
}

impl Request {
    /// The next request of a connection, `None` at its end.
    pub fn read(reader: &mut impl BufRead) -> io::Result<Option<Self>> {
        let mut line = String::new();
        if reader.read_line(&mut line)? == 0 {
            return Ok(None);
        }
        let mut words = line.split_whitespace();
        let (method, target) =
            (words.next().unwrap_or_default().to_owned(), words.next().unwrap_or_default().to_owned());
        let mut headers = BTreeMap::new();
        loop {
            let mut line = String::new();
            if reader.read_line(&mut line)? == 0 {
                return Ok(None);
            }
            let Some((name, value)) = line.trim_end().split_once(':') else { break };
            headers.insert(name.to_ascii_lowercase(), value.trim().to_owned());
        }
        let length = headers.get("content-length").and_then(|v| v.parse().ok()).unwrap_or(0_usize);
        let mut body = vec![0; length];
        reader.read_exact(&mut body)?;
        Ok(Some(Self { method, target, headers, body }))
    }

    pub fn is_head(&self) -> bool {
        self.method == "HEAD"
    }

    pub fn path(&self) -> &str {
        self.target.split('?').next().unwrap_or_default()
    }

    pub fn query(&self, key: &str) -> Option<String> {
        form(self.target.split_once('?')?.1).remove(key)
    }

    pub fn json(&self) -> Value {
        serde_json::from_slice(&self.body).unwrap_or(Value::Null)
    }
}

/// An answer.
#[derive(Clone)]
pub struct Answer {
    pub status: u16,
    pub body: Option<Value>,
}

impl Answer {
    pub fn json(status: u16, body: &Value) -> Self {
        Self { status, body: Some(body.clone()) }
    }

    pub fn empty(status: u16) -> Self {
        Self { status, body: None }
    }

    pub fn is_success(&self) -> bool {
        (200..300).contains(&self.status)
    }

    pub fn with_status(self, status: Option<u16>) -> Self {
        Self { status: status.unwrap_or(self.status), ..self }
    }

    fn bytes(&self, is_head: bool) -> Vec<u8> {
        let body = self.body.as_ref().map(Value::to_string).filter(|_| !is_head).unwrap_or_default();
        let length = if self.status == 204 { String::new() } else { format!("Content-Length: {}\r\n", body.len()) };
        let head = format!("HTTP/1.1 {} X\r\nContent-Type: application/json\r\n{length}\r\n", self.status);
        [head.into_bytes(), body.into_bytes()].concat()
    }

    pub fn write(&self, mut connection: &TcpStream, is_head: bool) -> io::Result<()> {
        connection.write_all(&self.bytes(is_head))
    }

    /// The first half of it.
    pub fn write_half(&self, mut connection: &TcpStream) -> io::Result<()> {
        let bytes = self.bytes(false);
        let head = bytes.windows(4).position(|w| w == b"\r\n\r\n").map_or(bytes.len(), |at| at + 4);
        connection.write_all(&bytes[..head + (bytes.len() - head) / 2])
    }

    /// All of it, slowly.
    pub fn trickle(&self, mut connection: &TcpStream, pause: Duration) -> io::Result<()> {
        for byte in self.bytes(false) {
            connection.write_all(&[byte])?;
            std::thread::sleep(pause);
        }
        Ok(())
    }
}

/// Bytes as they are, and the end of the connection, which an answer announces.
pub fn write_raw(mut connection: &TcpStream, bytes: &str) -> io::Result<()> {
    let announced = bytes.replacen("\r\n", "\r\nConnection: close\r\n", 1);
    connection.write_all(if bytes.starts_with("HTTP/1.1 ") { &announced } else { bytes }.as_bytes())?;
    Err(io::Error::other("closed on purpose"))
}

/// Pairs of a form or a query.
pub fn form(text: &str) -> BTreeMap<String, String> {
    let pairs = text.split('&').filter(|pair| !pair.is_empty());
    pairs.map(|pair| pair.split_once('=').unwrap_or((pair, ""))).map(|(k, v)| (decoded(k), decoded(v))).collect()
}

/// A text without `%XX`; a `+` is a blank, as for servers in Java.
pub fn decoded(text: &str) -> String {
    let (mut bytes, mut at, all) = (vec![], 0, text.as_bytes());
    while at < all.len() {
        let hex = text.get(at + 1..at + 3).filter(|_| all[at] == b'%').and_then(|h| u8::from_str_radix(h, 16).ok());
        bytes.push(hex.unwrap_or(if all[at] == b'+' { b' ' } else { all[at] }));
        at += if hex.is_some() { 3 } else { 1 };
    }
    String::from_utf8(bytes).unwrap()
}
