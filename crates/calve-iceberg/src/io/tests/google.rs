//! Google Cloud Storage, as the bucket of the tests speaks it.

use super::bucket::{Act, Bucket, Request};
use super::*;

fn io(bucket: &Bucket) -> TableIo {
    TableIo::new(&properties(&[
        ("gcs.service.host", &bucket.endpoint),
        ("gcs.oauth2.token", "TOKENSECRET"),
        ("s3.retry.num-retries", "1"),
    ]))
    .unwrap()
}

const V1: &str = "gs://b/t/v1.metadata.json";

#[tokio::test(flavor = "multi_thread")]
async fn files_are_written_created_read_and_deleted() {
    let bucket = Bucket::new(|_| Act::Serve).await;
    let io = io(&bucket);
    let large = Bytes::from(vec![7; 20 << 20]);
    for (name, bytes) in [("gs://b/t/a b%41", Bytes::from_static(b"small")), ("gs://b/t/large", large)] {
        io.write(name, bytes.clone()).await.unwrap();
        assert!(io.read(name).await.unwrap() == bytes && io.exists(name).await.unwrap(), "{name}");
        io.delete(name).await.unwrap();
        io.delete(name).await.unwrap();
        assert!(!io.exists(name).await.unwrap());
    }
    assert_eq!(bucket.uploads(), (1, 0), "one came in parts");
    assert_eq!(io.create(V1, Bytes::from_static(b"1")).await.unwrap(), Created::Done);
    assert_eq!(io.create(V1, Bytes::from_static(b"2")).await.unwrap(), Created::Exists);
    assert_eq!(io.read(V1).await.unwrap().as_ref(), b"1");
    assert!(io.delete_all(&[V1.to_owned(), "gs://b/none".to_owned()]).await.is_empty());
    assert_eq!(bucket.files(), Vec::<String>::new());
}

#[tokio::test(flavor = "multi_thread")]
async fn what_google_refuses_or_loses() {
    let bucket = Bucket::new(|_| Act::Refuse("401 Unauthorized")).await;
    for error in [
        io(&bucket).read(V1).await.unwrap_err(),
        io(&bucket).write(V1, Bytes::from_static(b"x")).await.unwrap_err(),
        io(&bucket).create(V1, Bytes::from_static(b"x")).await.unwrap_err(),
    ] {
        assert_eq!(error.code, "access-denied", "{error:?}");
        assert!(!format!("{error:?}").contains("TOKENSECRET"));
    }
    // whose file it is shows when the answer is lost
    let mut lost = false;
    let once = move |request: &Request| {
        let first = request.creates() && !std::mem::replace(&mut lost, true);
        if first { Act::Lose } else { Act::Serve }
    };
    let bucket = Bucket::new(once).await;
    assert_eq!(io(&bucket).create(V1, Bytes::from_static(b"ours")).await.unwrap(), Created::Done);
    assert!(!format!("{:?}", io(&bucket)).contains("TOKENSECRET"));
}
