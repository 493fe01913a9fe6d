//! Whatever goes wrong, no file is left.

use std::fmt;
use std::ops::Range;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use arrow::array::{Int32Array, Int64Array, StringArray};
use async_trait::async_trait;
use bytes::Bytes;
use calve_types::{Error, LogicalType as T};
use futures::StreamExt;
use futures::stream::BoxStream;
use object_store::path::Path as StorePath;
use object_store::{
    CopyOptions, GetOptions, GetResult, ListResult, MultipartUpload, ObjectMeta, ObjectStore, PutMultipartOptions,
    PutOptions, PutPayload, PutResult, UploadPart,
};

use super::*;

/// A store with room for so many bytes.
#[derive(Debug)]
struct Full {
    inner: Arc<dyn ObjectStore>,
    room: Arc<AtomicU64>,
}

fn take(room: &AtomicU64, bytes: usize) -> object_store::Result<()> {
    let bytes = bytes as u64;
    room.fetch_update(Ordering::SeqCst, Ordering::SeqCst, |room| room.checked_sub(bytes))
        .map(drop)
        .map_err(|_| object_store::Error::Generic { store: "full", source: "no space left on device".into() })
}

impl fmt::Display for Full {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("full")
    }
}

#[derive(Debug)]
struct FullUpload {
    inner: Box<dyn MultipartUpload>,
    room: Arc<AtomicU64>,
}

#[async_trait]
impl MultipartUpload for FullUpload {
    fn put_part(&mut self, data: PutPayload) -> UploadPart {
        match take(&self.room, data.content_length()) {
            Ok(()) => self.inner.put_part(data),
            Err(error) => Box::pin(async move { Err(error) }),
        }
    }

    async fn complete(&mut self) -> object_store::Result<PutResult> {
        self.inner.complete().await
    }

    async fn abort(&mut self) -> object_store::Result<()> {
        self.inner.abort().await
    }
}

#[async_trait]
impl ObjectStore for Full {
    async fn put_opts(&self, at: &StorePath, data: PutPayload, o: PutOptions) -> object_store::Result<PutResult> {
        take(&self.room, data.content_length())?;
        self.inner.put_opts(at, data, o).await
    }

    async fn put_multipart_opts(
        &self,
        at: &StorePath,
        o: PutMultipartOptions,
    ) -> object_store::Result<Box<dyn MultipartUpload>> {
        let inner = self.inner.put_multipart_opts(at, o).await?;
        Ok(Box::new(FullUpload { inner, room: self.room.clone() }))
    }

    async fn get_opts(&self, at: &StorePath, o: GetOptions) -> object_store::Result<GetResult> {
        self.inner.get_opts(at, o).await
    }

    async fn get_ranges(&self, at: &StorePath, ranges: &[Range<u64>]) -> object_store::Result<Vec<Bytes>> {
        self.inner.get_ranges(at, ranges).await
    }

    fn delete_stream(
        &self,
        all: BoxStream<'static, object_store::Result<StorePath>>,
    ) -> BoxStream<'static, object_store::Result<StorePath>> {
        self.inner.delete_stream(all)
    }

    fn list(&self, at: Option<&StorePath>) -> BoxStream<'static, object_store::Result<ObjectMeta>> {
        self.inner.list(at)
    }

    async fn list_with_delimiter(&self, at: Option<&StorePath>) -> object_store::Result<ListResult> {
        self.inner.list_with_delimiter(at).await
    }

    async fn copy_opts(&self, a: &StorePath, b: &StorePath, o: CopyOptions) -> object_store::Result<()> {
        self.inner.copy_opts(a, b, o).await
    }
}

async fn fixture(key: &[&str]) -> Fixture {
    let columns = vec![("id", T::BigInt.not_null()), ("p", T::Int.not_null()), ("s", T::STRING.nullable())];
    let with = [
        ("write.target-file-size-bytes", "300000"),
        ("write.parquet.compression-codec", "uncompressed"),
        ("write.upsert.enabled", if key.is_empty() { "false" } else { "true" }),
    ];
    let partition = [("p", Transform::Identity)];
    Fixture::new(Shape { columns, key, partition: &partition, with: &with }).await
}

async fn rows(f: &Fixture, from: i64) -> RecordBatch {
    let text = |i: i64| format!("{:032x}", i.wrapping_mul(0x9e37_79b9_7f4a_7c15_u64 as i64)).repeat(8);
    f.batch(vec![
        Arc::new(Int64Array::from_iter_values((from..from + 2_000).map(|i| i % 50_000))),
        Arc::new(Int32Array::from_iter_values((0..2_000).map(|i| i % 3))),
        Arc::new(StringArray::from_iter_values((from..from + 2_000).map(text))),
    ])
    .await
}

/// Deleting happens in the background where nobody can wait for it.
async fn empty_soon(f: &Fixture) {
    for _ in 0..500 {
        if f.data_files().is_empty() {
            return;
        }
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    panic!("left behind: {:?}", f.data_files());
}

#[tokio::test(flavor = "multi_thread")]
async fn a_failing_input() {
    for key in [&[][..], &["id", "p"]] {
        for good in [0, 1, 60] {
            let f = fixture(key).await;
            let mut batches = Vec::new();
            for i in 0..good {
                batches.push(Ok(rows(&f, i * 2_000).await));
            }
            batches.push(Err(DataFusionError::External(Box::new(Error::new("division-by-zero", "division by zero")))));
            let error = f.prepare().await.unwrap().write(results(batches), Arc::default()).await.unwrap_err();
            assert_eq!(error.code, "division-by-zero");
            assert!(f.data_files().is_empty(), "left behind: {:?}", f.data_files());
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_full_disk() {
    for key in [&[][..], &["id", "p"]] {
        let f = fixture(key).await;
        let mut batches = Vec::new();
        for i in 0..80 {
            batches.push(rows(&f, i * 1_000).await);
        }
        for room in [0, 1_000, 400_000, 3_000_000, 20_000_000] {
            let store = Full { inner: TableIo::local().object_store(), room: Arc::new(room.into()) };
            let io = TableIo::local().with_object_store(Arc::new(store));
            let t = f.table().await;
            let t = Table::new(
                t.ident().clone(),
                t.metadata().clone(),
                t.metadata_location().to_owned(),
                io,
                t.cache().clone(),
            );
            let writer = prepare(&t, f.options(&t).unwrap()).await.unwrap();
            let error = writer.write(stream(batches.clone()), Arc::default()).await.unwrap_err();
            assert_eq!(error.code, "io", "{error}");
            assert!(error.message.contains("no space left on device"), "{error}");
            assert!(f.data_files().is_empty(), "left behind: {:?}", f.data_files());
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_cancelled_write() {
    for key in [&[][..], &["id", "p"]] {
        for millis in [0, 5, 30, 120, 300] {
            let f = fixture(key).await;
            let batch = rows(&f, 0).await;
            let schema = batch.schema();
            let endless = futures::stream::repeat_with(move || Ok(batch.clone())).then(|b| async {
                tokio::task::yield_now().await;
                b
            });
            let input = Box::pin(RecordBatchStreamAdapter::new(schema, endless));
            let write = f.prepare().await.unwrap().write(input, Arc::default());
            assert!(tokio::time::timeout(Duration::from_millis(millis), write).await.is_err());
            empty_soon(&f).await;
        }
    }
}

#[tokio::test]
async fn files_nobody_commits() {
    let f = fixture(&[]).await;
    let written = f.write(vec![rows(&f, 0).await]).await.unwrap();
    assert_eq!(f.data_files().len(), 3);
    drop(written);
    assert!(f.data_files().is_empty());
    let written = f.write(vec![rows(&f, 0).await]).await.unwrap();
    drop(written.to_operation());
    assert_eq!(f.data_files().len(), 3);
    written.discard(&f.table().await).await;
    assert!(f.data_files().is_empty());
}

#[tokio::test]
async fn null_where_it_must_not_be() {
    for key in [&[][..], &["id", "p"]] {
        let f = fixture(key).await;
        let good = rows(&f, 0).await;
        let schema = Arc::new(arrow::datatypes::Schema::new(
            good.schema().fields().iter().map(|f| f.as_ref().clone().with_nullable(true)).collect::<Vec<_>>(),
        ));
        let bad = RecordBatch::try_new(
            schema,
            vec![
                Arc::new(Int64Array::from(vec![Some(1), None])),
                Arc::new(Int32Array::from(vec![1, 2])),
                Arc::new(StringArray::from(vec!["a", "b"])),
            ],
        )
        .unwrap();
        let error = f.write(vec![good, bad]).await.unwrap_err();
        assert_eq!(error.code, "null-in-not-null");
        assert!(f.data_files().is_empty());
    }
}

#[tokio::test]
async fn a_file_where_a_folder_must_be() {
    let f = fixture(&[]).await;
    std::fs::write(f.dir.path().join("db/t/data"), "x").unwrap();
    let error = f.write(vec![rows(&f, 0).await]).await.unwrap_err();
    assert_eq!(error.code, "io");
}
