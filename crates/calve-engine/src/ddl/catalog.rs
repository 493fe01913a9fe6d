//! CREATE, ALTER and DROP CATALOG.

use calve_options::Place;
use calve_sql::{AlterCatalog, CreateCatalog, Ident, Property};
use calve_types::{Error, Result};

use super::properties;
use crate::catalogs::{CatalogKind, Catalogs};
use crate::check::rules::unknown_option;
use crate::result::{ResultBody, Warning};

pub(crate) async fn create(
    catalogs: &mut Catalogs,
    create: CreateCatalog,
    warnings: &mut Vec<Warning>,
) -> Result<ResultBody> {
    let name = &create.name.value;
    if catalogs.contains(name) {
        if create.if_not_exists {
            return Ok(ResultBody::Done);
        }
        return Err(Error::new("catalog-exists", format!("catalog '{name}' already exists"))
            .with_detail(format!("Catalog {name} already exists."))
            .with_hint("add IF NOT EXISTS, or DROP it first")
            .at(create.name.span));
    }
    let options = properties(&create.properties, warnings);
    warnings.extend(create.properties.iter().filter_map(misspelt));
    let entry = catalogs.open(name, options, create.comment).map_err(|e| e.at(create.name.span))?;
    if let CatalogKind::Iceberg(iceberg) = &entry.kind {
        // as in Flink, a catalog that cannot be reached is not made
        iceberg.connect().await.map_err(|e| e.at(create.name.span))?;
    }
    catalogs.create(name, entry).map_err(|e| e.at(create.name.span))?;
    Ok(ResultBody::Done)
}

/// A warning for an option whose name looks misspelt.
fn misspelt(option: &Property) -> Option<Warning> {
    unknown_option::misspelt(&option.key, Place::Catalog).map(|warning| warning.at(option.span))
}

/// ALTER CATALOG: the catalog is opened anew with its new options, and its server asked, as in Flink; where that fails it
/// stays as it was. What a memory
/// catalog holds goes along.
pub(crate) async fn alter(
    catalogs: &mut Catalogs,
    name: &Ident,
    change: AlterCatalog,
    warnings: &mut Vec<Warning>,
) -> Result<ResultBody> {
    let unknown = |error: Error| {
        error.with_detail(format!("Catalog {} does not exist in the catalog store.", name.value)).at(name.span)
    };
    let entry = catalogs.get(&name.value).map_err(unknown)?;
    if !entry.stored {
        return Err(unknown(Error::new("invalid-catalog", format!("catalog '{}' cannot be changed", name.value))));
    }
    let mut options = entry.options.clone();
    match change {
        AlterCatalog::Comment(comment) => {
            catalogs.get_mut(&name.value)?.comment = Some(comment);
            return Ok(ResultBody::Done);
        }
        AlterCatalog::Set(given) => {
            warnings.extend(given.iter().filter_map(misspelt));
            options.extend(properties(&given, warnings));
        }
        AlterCatalog::Reset(keys) if keys.is_empty() => {
            return Err(Error::new("syntax-error", "RESET needs the name of an option")
                .with_detail("ALTER CATALOG RESET does not support empty key")
                .at(name.span));
        }
        AlterCatalog::Reset(keys) => {
            if let Some(key) = keys.iter().find(|key| key.value == "type") {
                return Err(Error::new("invalid-option", "the type of a catalog cannot be reset")
                    .with_detail("ALTER CATALOG RESET does not support changing 'type'")
                    .at(key.span));
            }
            for key in keys {
                options.remove(&key.value);
            }
        }
    }
    catalogs.reopen(&name.value, options).await.map_err(|e| e.at(name.span))?;
    Ok(ResultBody::Done)
}

pub(crate) fn drop(catalogs: &mut Catalogs, name: &Ident, if_exists: bool) -> Result<ResultBody> {
    if if_exists && !catalogs.contains(&name.value) {
        return Ok(ResultBody::Done);
    }
    catalogs.remove(&name.value).map_err(|e| e.at(name.span))?;
    Ok(ResultBody::Done)
}
