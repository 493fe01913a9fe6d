//! CREATE, ALTER and DROP FUNCTION.

use calve_planner::TablePath;
use calve_sql::{AlterFunction, CreateFunction, DropFunction, FunctionLanguage, FunctionScope, Name, Text};
use calve_types::{Error, Result, Span};

use crate::catalogs::functions::FunctionDef;
use crate::catalogs::memory::MemoryCatalog;
use crate::catalogs::{CatalogKind, Catalogs, unknown_database};
use crate::definition::quoted;
use crate::resolve::full_path;
use crate::result::ResultBody;

/// The full name of a function. Names of functions are lower case, as in Flink.
fn function_path(catalogs: &Catalogs, name: &Name) -> Result<TablePath> {
    let path = full_path(catalogs, &name.parts).ok_or_else(|| {
        Error::new("invalid-name", format!("'{}' is not the name of a function", name.parts.join(".")))
            .with_detail("Object identifier must consist of 1 to 3 parts.")
            .with_hint("a function is named [catalog.][database.]function")
            .at(name.span)
    })?;
    Ok(TablePath { table: path.table.to_lowercase(), ..path })
}

/// A function's name in its database, as Flink's catalogs print it.
fn in_catalog(path: &TablePath) -> String {
    format!("{}.{}", path.database, path.table)
}

/// What a statement says of a function's code. SQL is a word of the grammar that no catalog takes.
fn definition(class: &Text, language: Option<FunctionLanguage>) -> Result<FunctionDef> {
    match language {
        Some(FunctionLanguage::Sql) => Err(Error::unsupported("functions in the language SQL")
            .with_detail("No enum constant org.apache.flink.table.catalog.FunctionLanguage.SQL")
            .at(class.span)),
        _ => Ok(FunctionDef { class: class.value.clone() }),
    }
}

/// CREATE FUNCTION. The class is not looked for, as in Flink, but for temporary functions, which Flink loads at once: of
/// those only Python's can be made.
pub(crate) fn create(catalogs: &mut Catalogs, create: &CreateFunction) -> Result<ResultBody> {
    let span = create.name.span;
    let function = definition(&create.class, create.language)?;
    let is_loaded = create.scope != FunctionScope::Catalog && create.language != Some(FunctionLanguage::Python);
    match create.scope {
        FunctionScope::TemporarySystem => {
            let name = create.name.parts.last().map(|name| name.to_lowercase()).unwrap_or_default();
            if is_loaded {
                return Err(function.refused().at(create.class.span));
            }
            if catalogs.functions.system.contains_key(&name) {
                return existing(create, format!("temporary system function '{name}'"), || {
                    format!(
                        "Could not register temporary system function. A function named '{name}' does already exist."
                    )
                });
            }
            catalogs.functions.system.insert(name, function);
        }
        FunctionScope::Temporary => {
            let path = function_path(catalogs, &create.name)?;
            if catalogs.functions.catalog.contains_key(&path) {
                return existing(create, format!("temporary function '{path}'"), || {
                    format!("Could not register temporary catalog function. A function '{path}' does already exist.")
                });
            }
            if is_loaded {
                return Err(function.refused().at(create.class.span));
            }
            catalogs.functions.catalog.insert(path, function);
        }
        FunctionScope::Catalog => {
            let path = function_path(catalogs, &create.name)?;
            let memory = memory_of(catalogs, &path, create.name.span)?;
            let Some(functions) = memory.functions_mut(&path.database) else {
                return Err(unknown_database(&path.catalog, &path.database)
                    .with_detail(format!("Database {} does not exist in Catalog {}.", path.database, path.catalog))
                    .at(span));
            };
            if functions.contains_key(&path.table) {
                return existing(create, format!("function '{path}'"), || {
                    format!("Function {} already exists in Catalog {}.", in_catalog(&path), path.catalog)
                });
            }
            functions.insert(path.table, function);
        }
    }
    Ok(ResultBody::Done)
}

/// The function is there: fine with IF NOT EXISTS.
fn existing(create: &CreateFunction, what: String, detail: impl FnOnce() -> String) -> Result<ResultBody> {
    if create.if_not_exists {
        return Ok(ResultBody::Done);
    }
    Err(Error::new("function-exists", format!("{what} already exists"))
        .with_detail(detail())
        .with_hint("add IF NOT EXISTS, or DROP it first")
        .at(create.name.span))
}

/// The memory catalog that holds a function.
fn memory_of<'a>(catalogs: &'a mut Catalogs, path: &TablePath, place: Span) -> Result<&'a mut MemoryCatalog> {
    let entry = catalogs
        .get_mut(&path.catalog)
        .map_err(|e| e.with_detail(format!("Catalog {} does not exist", path.catalog)).at(place))?;
    match &mut entry.kind {
        CatalogKind::Memory(memory) => Ok(memory),
        CatalogKind::Iceberg(_) => Err(Error::unsupported("functions in an Iceberg catalog")
            .with_hint("a catalog of type 'generic_in_memory' has functions, such as 'default_catalog'")
            .at(place)),
    }
}

/// ALTER FUNCTION: gives it another class.
pub(crate) fn alter(catalogs: &mut Catalogs, alter: &AlterFunction) -> Result<ResultBody> {
    let temporary = match alter.scope {
        FunctionScope::Catalog => None,
        FunctionScope::Temporary => Some("catalog"),
        FunctionScope::TemporarySystem => Some("system"),
    };
    if let Some(kind) = temporary {
        return Err(Error::unsupported("ALTER of a temporary function")
            .with_detail(format!("Alter temporary {kind} function is not supported"))
            .with_hint("DROP the function and CREATE it anew")
            .at(alter.span));
    }
    let function = definition(&alter.class, alter.language)?;
    let path = function_path(catalogs, &alter.name)?;
    let memory = memory_of(catalogs, &path, alter.name.span)?;
    match memory.functions_mut(&path.database).and_then(|functions| functions.get_mut(&path.table)) {
        Some(old) => *old = function,
        None if alter.if_exists => {}
        None => return Err(missing(&path).at(alter.name.span)),
    }
    Ok(ResultBody::Done)
}

/// DROP FUNCTION.
pub(crate) fn drop(catalogs: &mut Catalogs, drop: &DropFunction) -> Result<ResultBody> {
    let place = drop.name.span;
    if drop.system {
        let name = drop.name.parts.last().map(|name| name.to_lowercase()).unwrap_or_default();
        if catalogs.functions.system.remove(&name).is_none() && !drop.if_exists {
            return Err(Error::new("unknown-function", format!("temporary system function '{name}' does not exist"))
                .with_detail(format!(
                    "Could not drop temporary system function. A function named '{name}' doesn't exist."
                ))
                .at(place));
        }
        return Ok(ResultBody::Done);
    }
    let path = function_path(catalogs, &drop.name)?;
    if drop.temporary {
        if catalogs.functions.catalog.remove(&path).is_none() && !drop.if_exists {
            return Err(Error::new("unknown-function", format!("temporary function '{path}' does not exist"))
                .with_detail(format!("Temporary catalog function {} doesn't exist", quoted(&path)))
                .at(place));
        }
        return Ok(ResultBody::Done);
    }
    let memory = memory_of(catalogs, &path, place)?;
    let removed = memory.functions_mut(&path.database).and_then(|functions| functions.remove(&path.table));
    if removed.is_none() && !drop.if_exists {
        let error = missing(&path).at(place);
        return Err(match catalogs.functions.catalog.contains_key(&path) {
            true => error.with_hint("it is temporary: use DROP TEMPORARY FUNCTION"),
            false => error,
        });
    }
    Ok(ResultBody::Done)
}

fn missing(path: &TablePath) -> Error {
    Error::new("unknown-function", format!("function '{path}' does not exist")).with_detail(format!(
        "Function {} does not exist in Catalog {}.",
        in_catalog(path),
        path.catalog
    ))
}
