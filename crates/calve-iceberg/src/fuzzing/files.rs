//! Data files and delete files.

use std::sync::Arc;

use arrow::array::RecordBatch;
use arrow::compute::concat_batches;
use calve_types::{Error, Result};
use futures::TryStreamExt;
use futures::executor::block_on;
use futures::stream::BoxStream;
use iceberg::spec::{DataContentType, DataFile, DataFileBuilder, DataFileFormat, NestedFieldRef, Struct};

use super::{File, read_metadata, table};
use crate::io::TableIo;
use crate::scan::columns_of;
use crate::scan::fuzzed::{AvroFile, OrcFile, Rows, guarded, position_fields};
use crate::table::Table;

/// Rows of a file that are looked at: more are nothing but more of the same.
const MOST_ROWS: usize = 1 << 16;

/// A table with a column of every type, which the seeds are of.
fn everything() -> Table {
    table(read_metadata(include_bytes!("../../fuzz/corpus/metadata/avro_null")).expect("a good metadata file"))
}

fn describe(file: &File, format: DataFileFormat, size: usize, rows: u64) -> DataFile {
    DataFileBuilder::default()
        .content(DataContentType::Data)
        .file_path(file.location())
        .file_format(format)
        .partition(Struct::empty())
        .partition_spec_id(0)
        .record_count(rows)
        .file_size_in_bytes(size as u64)
        .build()
        .expect("a description of a file")
}

/// The rows until the file ends, something is wrong with it, or there are enough of them.
fn read_on(rows: BoxStream<'static, Result<Rows>>) -> (Vec<RecordBatch>, usize, Result<()>) {
    let (mut batches, mut count) = (Vec::new(), 0);
    let mut rows = rows;
    let end = block_on(async {
        while let Some(next) = rows.try_next().await? {
            assert_eq!(next.first, count as u64);
            count += next.batch.num_rows();
            batches.push(next.batch);
            if count >= MOST_ROWS {
                return Err(Error::internal("enough"));
            }
        }
        Ok(())
    });
    (batches, count, end)
}

fn joined(batches: &[RecordBatch]) -> Option<RecordBatch> {
    Some(concat_batches(batches.first()?.schema_ref(), batches).expect("batches of one file"))
}

/// A file that can be read whole gives the same rows in batches of any size, and the same values column by column.
fn same(columns: usize, of: usize, read: impl Fn(&[usize], usize) -> (Vec<RecordBatch>, usize, Result<()>)) {
    let all: Vec<usize> = (0..columns).collect();
    let (batches, _, end) = read(&all, 8192);
    if end.is_err() {
        return;
    }
    let (small, _, end) = read(&all, 3);
    end.expect("the rows in smaller batches");
    let (whole, small) = (joined(&batches), joined(&small));
    assert_eq!(whole, small);
    if let (Some(whole), Some(column)) = (whole, of.checked_rem(columns)) {
        let (batches, _, end) = read(&[column], 8192);
        end.expect("one column");
        assert_eq!(joined(&batches).map(|alone| alone.column(0).clone()), Some(whole.column(column).clone()));
    }
}

/// The columns of a table, and those of position deletes, as readers of delete files ask for them.
fn as_deletes(table: &Table, file: &DataFile) {
    let fields: Vec<NestedFieldRef> = table.metadata().current_schema().as_struct().fields().to_vec();
    for fields in [fields.as_slice(), &position_fields()] {
        let _ = block_on(guarded(file, async {
            let mut rows = 0;
            let mut columns = columns_of(table, None, file, fields).await?;
            while let Some(next) = columns.try_next().await? {
                assert_eq!(next.len(), fields.len());
                rows += next.first().map_or(0, |column| column.len());
                if rows >= MOST_ROWS {
                    break;
                }
            }
            Ok(())
        }));
    }
}

/// An Avro file.
pub fn avro(bytes: &[u8]) {
    let file = File::new("avro", bytes);
    let opened = |rows| {
        let file = describe(&file, DataFileFormat::Avro, bytes.len(), rows);
        block_on(AvroFile::open(&TableIo::local(), &file)).map(|opened| (opened, Arc::new(file)))
    };
    let Ok((first, described)) = opened(u64::MAX) else { return };
    let columns = first.schema().fields().len();
    let (_, rows, _) = read_on(first.read(&(0..columns).collect::<Vec<_>>(), 1000, described));
    same(columns, bytes.len(), |columns, batch_rows| {
        let (opened, described) = opened(rows as u64).expect("a file that was opened before");
        read_on(opened.read(columns, batch_rows, described))
    });
    as_deletes(&everything(), &describe(&file, DataFileFormat::Avro, bytes.len(), rows as u64));
}

/// An ORC file.
pub fn orc(bytes: &[u8]) {
    let file = File::new("orc", bytes);
    let table = everything();
    let described = |rows| describe(&file, DataFileFormat::Orc, bytes.len(), rows);
    let Ok(rows) = block_on(OrcFile::rows_of(&table, &described(0))) else { return };
    let described = Arc::new(described(rows));
    let Ok(first) = block_on(OrcFile::open(&table, &described)) else { return };
    let columns = first.schema().fields().len();
    same(columns, bytes.len(), |columns, batch_rows| {
        let opened = block_on(OrcFile::open(&table, &described)).expect("a file that was opened before");
        read_on(opened.read(columns, None, batch_rows, described.clone()))
    });
    as_deletes(&table, &described);
}

/// A Parquet file.
pub fn parquet(bytes: &[u8]) {
    let file = File::new("parquet", bytes);
    as_deletes(&everything(), &describe(&file, DataFileFormat::Parquet, bytes.len(), 1));
}
