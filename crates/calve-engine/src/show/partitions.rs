//! SHOW PARTITIONS.

use calve_planner::CatalogReader;
use calve_sql::{Ident, Name, ast};
use calve_types::{Error, Result};

use crate::definition;
use crate::listing;
use crate::resolve::{IcebergHandle, downcast};
use crate::result::Rows;
use crate::session::Session;

impl Session {
    /// SHOW PARTITIONS: of an Iceberg table those of its live data files. The memory catalog knows no partitions, whatever
    /// folders a filesystem table has, as in Flink.
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
        let partitions = match iceberg {
            Some(handle) => calve_iceberg::metadata::partitions(&handle.table).await.map_err(|e| e.at(name.span))?,
            None => (!entry.partition_keys.is_empty()).then(Default::default),
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
        listing::names("partition name", partitions.into_iter().collect(), &self.context()?)
    }
}
