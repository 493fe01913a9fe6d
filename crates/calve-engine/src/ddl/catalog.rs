//! CREATE and DROP CATALOG.

use calve_options::Place;
use calve_sql::{CreateCatalog, Ident};
use calve_types::{Error, Result};

use super::properties;
use crate::catalogs::Catalogs;
use crate::options::unknown_option;
use crate::result::{ResultBody, Warning};

pub(crate) fn create(
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
    warnings.extend(options.keys().filter_map(|key| unknown_option(key, Place::Catalog)));
    let entry = Catalogs::open(name, options, create.comment).map_err(|e| e.at(create.name.span))?;
    catalogs.add(name, entry);
    Ok(ResultBody::Done)
}

pub(crate) fn drop(catalogs: &mut Catalogs, name: &Ident, if_exists: bool) -> Result<ResultBody> {
    if if_exists && !catalogs.contains(&name.value) {
        return Ok(ResultBody::Done);
    }
    catalogs.remove(&name.value).map_err(|e| e.at(name.span))?;
    Ok(ResultBody::Done)
}
