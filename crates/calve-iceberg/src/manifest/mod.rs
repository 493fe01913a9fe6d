//! Manifests: the Avro files that list a snapshot's data files and delete files (Iceberg specification, "Manifests").
//!
//! A table of many small commits has as many manifests, all with the same long header: `layout` parses each header once,
//! `read` decodes the entries by it. They are written by the metadata library, with the `names` that Avro allows. That library
//! also reads manifest lists, behind a check in `list`.

mod layout;
mod list;
mod names;
mod read;
#[cfg(test)]
mod tests;

pub(crate) use layout::Layouts;
pub(crate) use list::check_list;
pub(crate) use names::writable;
pub(crate) use read::read;
