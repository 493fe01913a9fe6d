//! CREATE, ALTER and DROP CATALOG.

use std::collections::BTreeMap;

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
    let misspelt = misspelt(&create.properties, &options);
    // an error has no warnings: what may be its cause goes into its hint
    let failed = |error: Error| with_misspelt(error, &misspelt).at(create.name.span);
    let entry = catalogs.open(name, options, create.comment).map_err(failed)?;
    if let CatalogKind::Iceberg(iceberg) = &entry.kind {
        // as in Flink, a catalog that cannot be reached is not made
        iceberg.connect().await.map_err(failed)?;
    }
    catalogs.create(name, entry).map_err(|e| e.at(create.name.span))?;
    warnings.extend(misspelt);
    Ok(ResultBody::Done)
}

/// Warnings for those of the `given` options whose names look misspelt, in a catalog that has these options.
fn misspelt(given: &[Property], options: &BTreeMap<String, String>) -> Vec<Warning> {
    let is_jdbc = options.iter().any(|(key, value)| {
        let of_kind = key.to_ascii_lowercase().replace('_', "-").starts_with("catalog-");
        of_kind && value.to_ascii_lowercase().contains("jdbc")
    });
    let look = |option: &Property| {
        let meant = calve_options::correction(&option.key, Place::Catalog)?;
        // elsewhere a 'user' is somebody else's
        let of_another = meant.starts_with("jdbc.") && !option.key.starts_with("jdbc.") && !is_jdbc;
        if of_another {
            return None;
        }
        unknown_option::misspelt(&option.key, Place::Catalog).map(|warning| warning.at(option.span))
    };
    given.iter().filter_map(look).collect()
}

/// An error that misspelt options may have caused.
fn with_misspelt(error: Error, misspelt: &[Warning]) -> Error {
    let own = error.hint.as_deref();
    // an error may know by itself what was meant
    let is_new = |told: &&str| {
        let meant = told.split_once("did you mean").map_or(*told, |(_, meant)| meant);
        own.is_none_or(|own| !own.contains(meant))
    };
    let told = misspelt.iter().map(|warning| warning.message.as_str()).filter(is_new);
    let hint = told.chain(own).collect::<Vec<_>>().join("; ").replace("?; ", "? ");
    if hint.is_empty() { error } else { error.with_hint(hint) }
}

/// ALTER CATALOG: the catalog is opened anew with its new options, and its server asked, as in Flink; where that fails it
/// stays as it was. What a memory catalog holds goes along.
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
            options.extend(properties(&given, warnings));
            warnings.extend(misspelt(&given, &options));
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
    catalogs.reopen(&name.value, options).await.map_err(|e| with_misspelt(e, warnings).at(name.span))?;
    Ok(ResultBody::Done)
}

pub(crate) fn drop(catalogs: &mut Catalogs, name: &Ident, if_exists: bool) -> Result<ResultBody> {
    if if_exists && !catalogs.contains(&name.value) {
        return Ok(ResultBody::Done);
    }
    catalogs.remove(&name.value).map_err(|e| e.at(name.span))?;
    Ok(ResultBody::Done)
}
