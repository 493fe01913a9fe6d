//! SHOW PARTITIONS.

use calve_planner::{CatalogReader, TablePath};
use calve_sql::{Ident, Name, ast};
use calve_types::{Error, Result};

use crate::catalogs::object::{CatalogObject, PartitionDef};
use crate::ddl::alter::partition;
use crate::definition;
use crate::listing;
use crate::resolve::{IcebergHandle, downcast};
use crate::result::Rows;
use crate::session::Session;

impl Session {
    /// SHOW PARTITIONS: of an Iceberg table those of its live data files. The memory catalog knows those that ALTER TABLE
    /// added, whatever folders a filesystem table has, as in Flink.
    pub(crate) async fn show_partitions(&self, name: &Name, partition: &[(Ident, ast::Expr)]) -> Result<Rows> {
        let (path, resolved) = self.load_one(name).await?;
        let Some(entry) = resolved.table(&path, &[])? else {
            let error = Error::new("unknown-table", format!("table '{path}' does not exist"))
                .with_detail(format!(
                    "Table (or view) {}.{} does not exist in Catalog {}.",
                    path.database, path.table, path.catalog
                ))
                .at(name.span);
            return Err(definition::did_you_mean(error, &resolved, &path));
        };
        let iceberg = downcast::<IcebergHandle>(&entry.handle);
        let partitions: Option<Vec<String>> = match iceberg {
            Some(handle) => {
                let partitions =
                    calve_iceberg::metadata::partitions(&handle.table).await.map_err(|e| e.at(name.span))?;
                partitions.map(|partitions| partitions.into_iter().collect())
            }
            None => self.added_partitions(&path, partition)?,
        };
        let Some(partitions) = partitions else {
            return Err(Error::new("not-partitioned", format!("table '{path}' is not partitioned"))
                .with_detail(format!(
                    "Table {}.{} in catalog {} is not partitioned.",
                    path.database, path.table, path.catalog
                ))
                .at(name.span));
        };
        if iceberg.is_some()
            && let Some((column, _)) = partition.first()
        {
            return Err(Error::unsupported("SHOW PARTITIONS of some partitions of an Iceberg table")
                .with_hint("leave PARTITION (..) out")
                .at(column.span));
        }
        listing::names("partition name", partitions, &self.context()?)
    }

    /// The partitions that ALTER TABLE added to a table in the session's memory, those with some values; `None` without
    /// partition keys.
    fn added_partitions(&self, path: &TablePath, values: &[(Ident, ast::Expr)]) -> Result<Option<Vec<String>>> {
        let Some(CatalogObject::Table(table)) = self.catalogs.object(path) else { return Ok(None) };
        let wanted = partition(values)?;
        let partitions = table.partitions.iter().filter(|partition| partition.has(&wanted)).map(PartitionDef::name);
        Ok((!table.partition_keys.is_empty()).then(|| partitions.collect()))
    }
}
