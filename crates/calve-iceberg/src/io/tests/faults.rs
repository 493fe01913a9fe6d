//! Requests that fail, hang, and lose their answers.

use std::time::Duration;

use super::bucket::{Act, Bucket, Request};
use super::*;

fn io(bucket: &Bucket) -> TableIo {
    s3(&bucket.endpoint)
}

/// Large files take a while on a busy machine.
fn patient(bucket: &Bucket) -> TableIo {
    s3_within(&bucket.endpoint, "2000")
}

fn bytes(text: &'static str) -> Bytes {
    Bytes::from_static(text.as_bytes())
}

/// Does something to the first requests of a kind.
fn first(
    count: usize,
    which: impl Fn(&Request) -> bool + Send + 'static,
    act: Act,
) -> impl FnMut(&Request) -> Act + Send + 'static {
    let mut left = count;
    move |request| {
        if left > 0 && which(request) {
            left -= 1;
            return act;
        }
        Act::Serve
    }
}

const V1: &str = "s3://b/t/v1";

#[tokio::test(flavor = "multi_thread")]
async fn who_created_a_file_knows_it_although_the_answer_was_lost() {
    for lost in 1..4 {
        let bucket = Bucket::new(first(lost, Request::creates, Act::Lose)).await;
        assert_eq!(io(&bucket).create(V1, bytes("ours")).await.unwrap(), Created::Done, "{lost}");
        assert_eq!(bucket.file("t/v1").unwrap(), b"ours");
        assert_eq!(bucket.files(), ["t/v1"], "no probe is left");
    }
    // another's file is there all the time
    let bucket = Bucket::new(first(1, Request::creates, Act::Lose)).await;
    bucket.put("t/v1", b"theirs");
    assert_eq!(io(&bucket).create(V1, bytes("ours")).await.unwrap(), Created::Exists);
    assert_eq!(bucket.file("t/v1").unwrap(), b"theirs");
    // without a lost answer the very same bytes are another's, too
    let bucket = Bucket::new(|_| Act::Serve).await;
    bucket.put("t/v1", b"ours");
    assert_eq!(io(&bucket).create(V1, bytes("ours")).await.unwrap(), Created::Exists);
}

#[tokio::test(flavor = "multi_thread")]
async fn requests_that_did_nothing_are_made_again() {
    for act in [Act::Drop, Act::Refuse("503 Slow Down"), Act::Refuse("409 Conflict"), Act::Hang] {
        let bucket = Bucket::new(first(2, Request::creates, act)).await;
        assert_eq!(io(&bucket).create(V1, bytes("ours")).await.unwrap(), Created::Done, "{act:?}");
        assert_eq!(bucket.file("t/v1").unwrap(), b"ours");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn nobody_knows_only_if_nobody_can_tell() {
    let never = |request: &Request| if request.creates() { Act::Drop } else { Act::Serve };
    let error = io(&Bucket::new(never).await).create(V1, bytes("ours")).await.unwrap_err();
    assert_eq!(error.code, "commit-unknown", "{error}");
    assert!(error.message.starts_with("nobody knows whether the file 's3://b/t/v1' was created: "), "{error}");
    // its answers are lost, and it cannot be read
    let silent = |request: &Request| match request.method.as_str() {
        "GET" => Act::Refuse("403 Forbidden"),
        _ if request.creates() => Act::Lose,
        _ => Act::Serve,
    };
    let error = io(&Bucket::new(silent).await).create(V1, bytes("ours")).await.unwrap_err();
    assert_eq!(error.code, "commit-unknown", "{error}");
    // what is refused was not done
    let refuse = |request: &Request| if request.creates() { Act::Refuse("403 Forbidden") } else { Act::Serve };
    let bucket = Bucket::new(refuse).await;
    let error = io(&bucket).create(V1, bytes("ours")).await.unwrap_err();
    assert_eq!((error.code, bucket.requests(Request::creates)), ("access-denied", 1));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_store_that_does_not_look_at_conditions_is_found_out() {
    let bucket = Bucket::careless().await;
    let error = io(&bucket).create(V1, bytes("ours")).await.unwrap_err();
    assert_eq!(error.message, "not supported: put-if-absent by the store of 's3://b'");
    assert!(bucket.files().is_empty(), "{:?}", bucket.files());
}

fn is_part(request: &Request) -> bool {
    request.method == "PUT" && request.target.contains("partNumber=2")
}

fn is_end(request: &Request) -> bool {
    request.method == "POST" && request.target.contains("uploadId=")
}

#[tokio::test(flavor = "multi_thread")]
async fn uploads_are_repeated_and_aborted() {
    let large = Bytes::from(vec![7; 20 << 20]);
    for which in [is_part, is_end] {
        for act in [Act::Lose, Act::Drop, Act::Refuse("503 Slow Down")] {
            // an end whose answer was lost is gone when it is asked for again: the file is there, and nobody refers to it
            let lost_end = act == Act::Lose && which(&request("POST", "/b/f?uploadId=u1"));
            let bucket = Bucket::new(first(1, which, act)).await;
            let written = patient(&bucket).write("s3://b/f", large.clone()).await;
            assert_eq!(written.is_ok(), !lost_end, "{act:?} {written:?}");
            assert_eq!(bucket.file("f").unwrap(), large);
            assert_eq!(bucket.uploads(), (1, 0));
        }
        let bucket =
            Bucket::new(move |request| if which(request) { Act::Refuse("403 Forbidden") } else { Act::Serve }).await;
        let error = patient(&bucket).write("s3://b/f", large.clone()).await.unwrap_err();
        assert_eq!(error.code, "access-denied", "{error}");
        assert!(bucket.file("f").is_none());
        assert_eq!(bucket.uploads(), (1, 0), "the parts are gone");
    }
    // a server that stops answering on the way
    let bucket = Bucket::new(|request| if is_part(request) { Act::Hang } else { Act::Serve }).await;
    let error = patient(&bucket).write("s3://b/f", large.clone()).await.unwrap_err();
    assert!(error.message.ends_with("did not answer in time"), "{error}");
    assert_eq!(bucket.uploads(), (1, 0));
    // cancelled on the way
    for millis in [1, 20, 100] {
        let bucket = Bucket::new(|request| if is_part(request) { Act::Hang } else { Act::Serve }).await;
        let io = patient(&bucket);
        let write = tokio::time::timeout(Duration::from_millis(millis), io.write("s3://b/f", large.clone()));
        assert!(write.await.is_err());
        assert!(bucket.file("f").is_none());
        // an upload whose beginning was under way is aborted when it has begun
        for _ in 0..200 {
            if bucket.uploads().1 == 0 {
                break;
            }
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
        assert_eq!(bucket.uploads().1, 0);
    }
}

fn request(method: &str, target: &str) -> Request {
    Request { method: method.to_owned(), target: target.to_owned(), create: false }
}

#[tokio::test(flavor = "multi_thread")]
async fn whole_files_are_put_and_read_again() {
    for act in [Act::Lose, Act::Drop, Act::Refuse("500 Internal Server Error"), Act::Hang] {
        let bucket = Bucket::new(first(1, |request| request.method == "PUT", act)).await;
        io(&bucket).write("s3://b/f", bytes("x")).await.unwrap();
        assert_eq!(bucket.file("f").unwrap(), b"x", "{act:?}");
        let bucket = Bucket::new(first(1, |request| request.method == "GET", act)).await;
        bucket.put("f", b"x");
        assert_eq!(io(&bucket).read("s3://b/f").await.unwrap().as_ref(), b"x", "{act:?}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn an_answer_that_stops_in_the_middle_is_not_waited_for() {
    let bucket = Bucket::new(|request| if request.method == "GET" { Act::Stop } else { Act::Serve }).await;
    bucket.put("t/f", &[7; 100_000]);
    let begun = Instant::now();
    let error = io(&bucket).read("s3://b/t/f").await.unwrap_err();
    assert_eq!(error.code, "io", "{error:?}");
    assert_eq!(error.message, "cannot read the file 's3://b/t/f': the store did not answer in time");
    assert!(begun.elapsed() < Duration::from_secs(10), "{:?}", begun.elapsed());
}
