//! Deletes the files of a dropped table (the Java library's `CatalogUtil.dropTableData`).

use std::collections::HashSet;

use calve_types::{Error, Result};

use crate::table::Table;

/// Deletes every file the table's metadata reaches: data and deletes unless `gc.enabled` is `false`, manifests and
/// their lists, statistics, metadata files. The table is out of its catalog already: files that cannot be deleted are
/// left, with a warning in the log.
pub(super) async fn purge(table: &Table) {
    let keep_data = table.property("gc.enabled").is_some_and(|v| v.eq_ignore_ascii_case("false"));
    let mut manifests = HashSet::new();
    for snapshot in table.metadata().snapshots() {
        match table.manifests(snapshot).await {
            Ok(found) => {
                for manifest in found.iter() {
                    if !manifests.insert(manifest.manifest_path.clone()) {
                        continue;
                    }
                    if !keep_data && let Err(error) = delete_entries(table, manifest).await {
                        left_in_folder(table, &error);
                    }
                }
            }
            Err(error) => left_in_folder(table, &error),
        }
    }
    table.io().delete_all_or_leave(manifests.into_iter().collect()).await;
    let metadata = table.metadata();
    let lists = metadata.snapshots().map(|s| s.manifest_list()).filter(|list| !list.is_empty());
    let statistics = metadata.statistics_iter().map(|s| s.statistics_path.as_str());
    let partitions = metadata.partition_statistics_iter().map(|s| s.statistics_path.as_str());
    let versions = metadata.metadata_log().iter().map(|log| log.metadata_file.as_str());
    let rest = lists.chain(statistics).chain(partitions).chain(versions).chain([table.metadata_location()]);
    table.io().delete_all_or_leave(rest.map(str::to_owned).collect()).await;
}

async fn delete_entries(table: &Table, manifest: &iceberg::spec::ManifestFile) -> Result<()> {
    let entries = table.entries_once(manifest, None).await?;
    table.io().delete_all_or_leave(entries.iter().map(|entry| entry.file_path().to_owned()).collect()).await;
    Ok(())
}

/// Files whose names cannot be found out are left.
fn left_in_folder(table: &Table, error: &Error) {
    tracing::warn!(%error, "cannot find the files of a dropped table");
    table.io().note_left(vec![table.metadata().location().to_owned()]);
}
