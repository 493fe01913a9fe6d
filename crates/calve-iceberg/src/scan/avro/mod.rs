//! Reading Avro files: data files and delete files, row by row into batches of the columns that are wanted.

mod container;
mod cursor;
mod decode;
mod schema;

use std::sync::Arc;

use arrow::array::{RecordBatch, RecordBatchOptions};
use arrow::datatypes::SchemaRef;
use calve_types::{Error, Result};
use futures::stream::{BoxStream, StreamExt};
use iceberg::spec::DataFile;

use self::container::{Block, Header, Input, next_block};
pub(crate) use self::container::{codec, entries, next_block_of};
pub(crate) use self::cursor::{Cursor, Damage, present, skip};
use self::decode::Column;
pub(crate) use self::schema::{Node, RecordField, Shape, root};
use super::formats::Rows;
use super::reader::unreadable;
use crate::io::TableIo;

/// A batch ends when its values take more bytes.
const BATCH_BYTES: usize = 16 << 20;

/// Rows between two looks at the bytes of a batch.
const ROWS_PER_CHECK: usize = 256;

/// An Avro file whose header was read.
#[derive(Debug)]
pub(crate) struct AvroFile {
    input: Input,
    header: Header,
}

impl AvroFile {
    /// Opens a file.
    ///
    /// # Errors
    /// `io`, naming the file, if it is missing, cut off or not an Avro file.
    pub(crate) async fn open(io: &TableIo, file: &DataFile) -> Result<Self> {
        let path = io.object_path(file.file_path())?;
        let mut input = Input::new(io.object_store(), path, file.file_size_in_bytes());
        let header = Header::read(&mut input).await.map_err(|e| unreadable(file, &e))?;
        Ok(Self { input, header })
    }

    /// The columns of the file, with field ids as Parquet's reader gives them.
    pub(crate) fn schema(&self) -> &SchemaRef {
        &self.header.schema.arrow
    }

    /// All rows of some columns, which are counted from 0 and ascending.
    pub(crate) fn read(
        self,
        columns: &[usize],
        batch_rows: usize,
        file: Arc<DataFile>,
    ) -> BoxStream<'static, Result<Rows>> {
        let schema = match self.header.schema.arrow.project(columns) {
            Ok(schema) => Arc::new(schema),
            Err(e) => {
                let error = Error::internal(format!("columns of an Avro file: {e}"));
                return futures::stream::iter([Err(error)]).boxed();
            }
        };
        let wanted = self.header.schema.columns.iter().zip(self.header.schema.arrow.fields()).enumerate();
        let decoders = wanted
            .map(|(index, (node, field))| columns.contains(&index).then(|| Column::new(node, field.data_type())))
            .collect();
        let reading = Reading {
            input: self.input,
            header: self.header,
            file,
            schema,
            decoders,
            batch_rows: batch_rows.max(1),
            block: Block { rows: 0, bytes: Vec::new() },
            used: 0,
            position: 0,
        };
        futures::stream::try_unfold(reading, |mut reading| async move {
            let rows = reading.next().await?;
            Ok(rows.map(|rows| (rows, reading)))
        })
        .boxed()
    }
}

/// A file that is being read.
struct Reading {
    input: Input,
    header: Header,
    file: Arc<DataFile>,
    schema: SchemaRef,
    /// One for every column of the file; `None` for those nobody wants.
    decoders: Vec<Option<Column>>,
    batch_rows: usize,
    /// The block that is being read, with the number of rows left in it.
    block: Block,
    /// Bytes of the block that were read.
    used: usize,
    /// Of the next row.
    position: u64,
}

impl Reading {
    async fn next(&mut self) -> Result<Option<Rows>> {
        let first = self.position;
        let mut rows = 0;
        while rows < self.batch_rows {
            if self.block.rows == 0 {
                let decode = self.decoders.iter().any(Option::is_some);
                let next = next_block(&mut self.input, &self.header, decode).await;
                match next.map_err(|e| self.unreadable(&e))? {
                    Some(block) => (self.block, self.used) = (block, 0),
                    None => break,
                }
                continue;
            }
            let count = usize::try_from(self.block.rows).unwrap_or(usize::MAX);
            let count = count.min(self.batch_rows - rows).min(ROWS_PER_CHECK);
            self.decode(count).map_err(|e| self.unreadable(&e))?;
            rows += count;
            self.block.rows -= count as u64;
            if self.bytes() > BATCH_BYTES {
                break;
            }
        }
        self.position += rows as u64;
        let expected = self.file.record_count();
        if self.position > expected || (rows == 0 && self.position != expected) {
            return Err(self.unreadable(&format!("it has {} rows, its manifest says {expected}", self.position)));
        }
        if rows == 0 {
            return Ok(None);
        }
        let columns = self.decoders.iter_mut().flatten().map(Column::finish).collect::<Result<Vec<_>, _>>();
        let columns = columns.map_err(|e| self.unreadable(&e))?;
        let options = RecordBatchOptions::new().with_row_count(Some(rows));
        let batch = RecordBatch::try_new_with_options(self.schema.clone(), columns, &options);
        Ok(Some(Rows { first, batch: batch.map_err(|e| self.unreadable(&e))? }))
    }

    fn decode(&mut self, count: usize) -> Result<(), String> {
        if self.decoders.iter().all(Option::is_none) {
            return Ok(());
        }
        let mut input = Cursor(self.block.bytes.get(self.used..).unwrap_or_default());
        for _ in 0..count {
            for (decoder, node) in self.decoders.iter_mut().zip(&self.header.schema.columns) {
                match decoder {
                    Some(decoder) => decoder.read(&mut input)?,
                    None => skip(node, &mut input)?,
                }
            }
        }
        self.used = self.block.bytes.len() - input.0.len();
        if count as u64 == self.block.rows && !input.0.is_empty() {
            return Err("a block has more bytes than rows".to_owned());
        }
        Ok(())
    }

    fn bytes(&self) -> usize {
        self.decoders.iter().flatten().map(Column::memory).sum()
    }

    fn unreadable(&self, why: &dyn std::fmt::Display) -> Error {
        unreadable(&self.file, why)
    }
}
