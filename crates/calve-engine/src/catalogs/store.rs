//! The catalog store: where the definitions of catalogs live between sessions. A folder with a file for each catalog,
//! `NAME.yaml`, in the format of Flink's `FileCatalogStore`; secrets are in it as they were given.

use std::collections::BTreeMap;
use std::fs::{self, OpenOptions};
use std::io::{ErrorKind, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};

use calve_types::{Error, Result};
use uuid::Uuid;

use super::yaml;

/// The option that chooses the store.
const KIND: &str = "table.catalog-store.kind";
/// The option that tells its folder.
const PATH: &str = "table.catalog-store.file.path";
const ENDING: &str = ".yaml";

/// What the folder must be.
const FOLDER: &str = "a folder that exists and that you may write to: create it first, or name another one";

/// Whether a session reads an option only when it begins.
pub(crate) fn is_of_store(key: &str) -> bool {
    key.starts_with("table.catalog-store.")
}

/// The folder.
#[derive(Debug)]
pub(crate) struct CatalogStore {
    folder: PathBuf,
}

impl CatalogStore {
    /// The store that the options of a session ask for; `None` if catalogs are to end with the session.
    ///
    /// # Errors
    /// `invalid-option` for a kind that is none, `missing-option` without a folder; `io` if it is not there, with the words of
    /// Flink; `not-supported` for one that is not local.
    pub(crate) fn of<'a>(option: impl Fn(&str) -> Option<&'a str>) -> Result<Option<Self>> {
        if !option(KIND).is_some_and(|kind| kind.eq_ignore_ascii_case("file")) {
            return Ok(None);
        }
        let path = option(PATH).map(str::trim).filter(|path| !path.is_empty()).ok_or_else(|| {
            Error::new("missing-option", format!("'{KIND}' = 'file' needs the option '{PATH}'"))
                .with_detail("One or more required options are missing.\n\nMissing required options are:\n\npath")
                .with_hint("it is the folder that holds the catalogs")
        })?;
        let local = match path.split_once(':') {
            Some(("file", rest)) => format!("/{}", rest.trim_start_matches('/')),
            Some((scheme, rest)) if rest.starts_with('/') && !scheme.contains('/') => {
                return Err(Error::unsupported(format!("a catalog store of scheme '{scheme}' ('{path}')"))
                    .with_hint("use a local folder"));
            }
            _ => path.to_owned(),
        };
        let folder = PathBuf::from(local);
        let wrong = |what: &str, detail: String| {
            let message = format!("the folder of the catalog store '{path}' {what}");
            let detail = format!("Failed to open catalog store. {detail}");
            Err(Error::new("io", message).with_detail(detail.trim_end()).with_hint(format!("'{PATH}' is {FOLDER}")))
        };
        match fs::metadata(&folder) {
            Ok(found) if found.is_dir() => Ok(Some(Self { folder })),
            Ok(_) => wrong("is a file", format!("The given catalog store path {path} is not a directory.")),
            Err(e) if e.kind() == ErrorKind::NotFound => {
                wrong("does not exist", format!("The catalog store directory {path} does not exist."))
            }
            Err(e) => wrong(&format!("cannot be read: {e}"), String::new()),
        }
    }

    /// The names of the catalogs, sorted.
    ///
    /// # Errors
    /// `io`.
    pub(super) fn names(&self) -> Result<Vec<String>> {
        let failed = |e: std::io::Error| {
            Error::new("io", format!("cannot list the catalog store '{}': {e}", self.folder.display()))
        };
        let mut names = Vec::new();
        for entry in fs::read_dir(&self.folder).map_err(failed)? {
            let entry = entry.map_err(failed)?;
            let Ok(file) = entry.file_name().into_string() else { continue };
            // the file of a catalog that is being created is empty
            let is_catalog = fs::metadata(entry.path()).is_ok_and(|found| found.is_file() && found.len() > 0);
            if let Some(name) = file.strip_suffix(ENDING).filter(|name| !name.is_empty() && !name.starts_with('.'))
                && is_catalog
            {
                names.push(name.to_owned());
            }
        }
        names.sort();
        Ok(names)
    }

    /// The options of a catalog.
    ///
    /// # Errors
    /// `io` if its file cannot be read, or is none.
    pub(super) fn load(&self, name: &str) -> Result<BTreeMap<String, String>> {
        let file = self.file(name)?;
        let failed = |why: String| {
            Error::new("io", format!("cannot read the stored catalog '{name}' from '{}': {why}", file.display()))
                .with_detail(format!("Failed to load catalog {name}'s configuration from file"))
        };
        let bytes = fs::read(&file).map_err(|e| failed(e.to_string()))?;
        let text = String::from_utf8(bytes).map_err(|_| failed("it is not UTF-8".to_owned()))?;
        yaml::parse(&text).map_err(failed)
    }

    /// Stores a new catalog.
    ///
    /// # Errors
    /// `catalog-exists` if another session has stored one of that name; `invalid-name`, `io`.
    pub(super) fn create(&self, name: &str, options: &BTreeMap<String, String>) -> Result<()> {
        let file = self.file(name)?;
        // of all who create it, one makes the file; an empty one is no catalog yet
        match OpenOptions::new().write(true).create_new(true).mode(0o600).open(&file) {
            Ok(_) => {}
            Err(e) if e.kind() == ErrorKind::AlreadyExists => {
                return Err(Error::new(
                    "catalog-exists",
                    format!("catalog '{name}' already exists in the catalog store"),
                )
                .with_detail(format!("Catalog {name}'s store file {} is already exist.", file.display())));
            }
            Err(e) => return Err(cannot_store(name, &file, &e)),
        }
        self.replace(name, options).inspect_err(|_| drop(fs::remove_file(&file)))
    }

    /// Stores other options of a catalog: all of them or none.
    ///
    /// # Errors
    /// `invalid-name`, `io`.
    pub(super) fn replace(&self, name: &str, options: &BTreeMap<String, String>) -> Result<()> {
        let file = self.file(name)?;
        let new = self.folder.join(format!(".{}", Uuid::new_v4()));
        let written = OpenOptions::new().write(true).create_new(true).mode(0o600).open(&new).and_then(|mut out| {
            out.write_all(yaml::print(options).as_bytes())?;
            out.sync_all()?;
            fs::rename(&new, &file)?;
            fs::File::open(&self.folder)?.sync_all()
        });
        written.map_err(|e| {
            let _ = fs::remove_file(&new);
            cannot_store(name, &file, &e)
        })
    }

    /// Removes a catalog; one that is not there is fine.
    ///
    /// # Errors
    /// `io`.
    pub(super) fn remove(&self, name: &str) -> Result<()> {
        let file = self.file(name)?;
        match fs::remove_file(&file) {
            Ok(()) => Ok(()),
            Err(e) if e.kind() == ErrorKind::NotFound => Ok(()),
            Err(e) => {
                Err(Error::new("io", format!("cannot remove the stored catalog '{name}' ('{}'): {e}", file.display()))
                    .with_detail(format!("Failed to remove catalog {name}'s store file.")))
            }
        }
    }

    fn file(&self, name: &str) -> Result<PathBuf> {
        if name.is_empty() || name.starts_with('.') || name.contains(['/', '\0']) {
            return Err(Error::new("invalid-name", format!("'{name}' cannot be the name of a stored catalog"))
                .with_hint("it is the name of a file"));
        }
        Ok(self.folder.join(format!("{name}{ENDING}")))
    }
}

fn cannot_store(name: &str, file: &Path, error: &std::io::Error) -> Error {
    Error::new("io", format!("cannot store the catalog '{name}' in '{}': {error}", file.display()))
        .with_detail(format!("Failed to store catalog {name}'s configuration to file {}", file.display()))
        .with_hint(format!("'{PATH}' must be {FOLDER}"))
}
