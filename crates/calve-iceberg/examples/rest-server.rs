//! The REST catalog of the tests as a program, for harnesses that need one in a process of its own:
//!
//! ```text
//! rest-server --warehouse FOLDER [--port N] [--prefix P] [--page N] [--credential ID:SECRET] [--chaos PERCENT]
//! ```
//!
//! It prints its address and runs until its standard input ends. With `--chaos`, so many of a hundred requests are refused,
//! lost, or done without an answer.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

#[path = "../tests/rest_server/mod.rs"]
mod rest_server;

use std::io::Read;

use rest_server::{RestServer, Settings};

fn main() {
    let mut settings = Settings::full();
    let mut port = "0".to_owned();
    let mut arguments = std::env::args().skip(1);
    while let Some(name) = arguments.next() {
        let value = arguments.next().unwrap_or_else(|| panic!("{name} needs a value"));
        match name.as_str() {
            "--warehouse" => settings.warehouse = value,
            "--port" => port = value,
            "--prefix" => settings.prefix = Some(value),
            "--page" => settings.page = value.parse().expect("a number"),
            "--chaos" => settings.chaos = value.parse().expect("a number"),
            "--credential" => {
                let (id, secret) = value.split_once(':').expect("ID:SECRET");
                settings.credential = Some((id.to_owned(), secret.to_owned()));
            }
            other => panic!("unknown argument {other}"),
        }
    }
    let server = RestServer::start_at(&format!("127.0.0.1:{port}"), settings);
    println!("{}", server.uri());
    let _ = std::io::stdin().read_to_end(&mut Vec::new());
}
