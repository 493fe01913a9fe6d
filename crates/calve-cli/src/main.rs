//! The `calve` command.
fn main() {}
