//! What is true of the tables after requests and answers got lost, and what is said about it.

use std::time::{Duration, Instant};

use super::*;

const COMMIT: &str = "/namespaces/db/tables/t";

/// The ways to lose an answer, or to get one that says that nobody knows.
fn unsure() -> Vec<Fault> {
    let html = "HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nContent-Length: 13\r\n\r\n<html></html>".to_owned();
    vec![
        Fault::Refuse(500, "ServerError"),
        Fault::Refuse(502, "BadGateway"),
        Fault::Refuse(504, "GatewayTimeout"),
        Fault::Raw("HTTP/1.1 503 X\r\nContent-Length: 5\r\n\r\nlost!".to_owned()),
        Fault::LoseRequest,
        Fault::DoneBut(500),
        Fault::DoneBut(502),
        Fault::DoneBut(504),
        Fault::LoseReply,
        Fault::CutReply,
        Fault::DoneRaw(html.clone()),
        Fault::DoneRaw("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n{}".to_owned()),
        Fault::DoneRaw("nothing like HTTP\r\n\r\n".to_owned()),
        Fault::Raw(html),
        Fault::Twice,
    ]
}

#[tokio::test]
async fn a_commit_is_in_once_whatever_gets_lost() {
    for (n, fault) in unsure().into_iter().enumerate() {
        for times in [1, 2] {
            let dir = tempfile::tempdir().unwrap();
            let server = RestServer::over(dir.path());
            let c = catalog(&server, &[]);
            let base = table(&*c).await;
            let base = add(&*c, &base, "old").await.unwrap();
            server.trap_times("POST", COMMIT, times, fault.clone());
            add(&*c, &base, "new").await.unwrap();
            server.disarm();
            let now = c.refresh(base.ident()).await.unwrap();
            assert_eq!(live(&now).await, ["new", "old"], "fault {n}, {times} times: {fault:?}");
            assert_eq!(now.metadata().snapshots().len(), 2);
            let missing: Vec<_> = referenced(&now).await.difference(&avro_files(dir.path())).cloned().collect();
            assert_eq!(missing, Vec::<String>::new(), "fault {n}, {times} times: {fault:?}");
        }
    }
}

/// Iceberg's REST specification: 400, 401, 403, 404, 419 and 503 leave the table as it was.
#[tokio::test]
async fn a_definite_refusal_leaves_nothing() {
    for (status, code) in
        [(400, "catalog-error"), (401, "access-denied"), (403, "access-denied"), (419, "access-denied")]
    {
        let dir = tempfile::tempdir().unwrap();
        let server = RestServer::over(dir.path());
        let c = catalog(&server, &[]);
        let base = table(&*c).await;
        server.trap_times("POST", COMMIT, 9, Fault::Refuse(status, "SomeException"));
        let error = add(&*c, &base, "f").await.unwrap_err();
        assert_eq!(error.code, code, "{status}: {error:?}");
        assert_eq!(error.detail.as_deref(), Some("The server says: SomeException: on purpose"));
        assert!(error.message.contains("'db.t'"), "{error}");
        assert_eq!(server.disarm(), 8, "asked once");
        assert_eq!(avro_files(dir.path()), BTreeSet::new());
        assert_eq!(c.refresh(base.ident()).await.unwrap().metadata(), base.metadata());
    }
    // a redirected commit is not sent to anybody else
    let dir = tempfile::tempdir().unwrap();
    let server = RestServer::over(dir.path());
    let c = catalog(&server, &[]);
    let base = table(&*c).await;
    for status in [301, 302, 303, 307, 308] {
        let to = format!("HTTP/1.1 {status} X\r\nLocation: {}/v1/elsewhere\r\nContent-Length: 0\r\n\r\n", server.uri());
        server.trap("POST", COMMIT, Fault::Raw(to));
        server.log();
        let error = add(&*c, &base, "f").await.unwrap_err();
        assert_eq!(error.code, "catalog-error");
        assert!(error.message.contains("a redirection to host '127.0.0.1'"), "{error}");
        assert!(!server.targets().iter().any(|target| target.contains("elsewhere")));
    }
    assert_eq!(avro_files(dir.path()), BTreeSet::new());
}

#[tokio::test]
async fn a_server_that_says_later_is_asked_again() {
    let dir = tempfile::tempdir().unwrap();
    let server = RestServer::over(dir.path());
    let c = catalog(&server, &[]);
    let base = table(&*c).await;
    let busy = |status| format!("HTTP/1.1 {status} X\r\nRetry-After: 0\r\nContent-Length: 0\r\n\r\n");
    server.trap("POST", COMMIT, Fault::Refuse(503, "ServiceUnavailableException"));
    server.trap("POST", COMMIT, Fault::Raw(busy(429)));
    server.trap("POST", COMMIT, Fault::Raw(busy(503)));
    let table = add(&*c, &base, "a").await.unwrap();
    assert_eq!(avro_files(dir.path()), referenced(&table).await);
    // for long: definite, and soon said
    let later = "HTTP/1.1 503 X\r\nRetry-After: 3600\r\nContent-Length: 0\r\n\r\n".to_owned();
    server.trap_times("POST", COMMIT, 9, Fault::Raw(later));
    let begun = Instant::now();
    let error = add(&*c, &table, "b").await.unwrap_err();
    assert!(begun.elapsed() < Duration::from_secs(2));
    assert_eq!((error.code, error.hint.as_deref()), ("io", Some("the server asks to wait 3600 s before the next try")));
    assert_eq!(server.disarm(), 8);
    assert_eq!(avro_files(dir.path()), referenced(&table).await);
}

#[tokio::test]
async fn a_conflict_is_tried_again_on_what_is_new() {
    let dir = tempfile::tempdir().unwrap();
    let server = RestServer::over(dir.path());
    let c = catalog(&server, &[]);
    let base = table(&*c).await;
    server.trap_times("POST", COMMIT, 3, Fault::Refuse(409, "CommitFailedException"));
    let newest = add(&*c, &base, "a").await.unwrap();
    assert_eq!(live(&newest).await, ["a"]);
    assert_eq!(avro_files(dir.path()), referenced(&newest).await);
    server.trap_times("POST", COMMIT, 99, Fault::Refuse(409, "CommitFailedException"));
    assert_eq!(add(&*c, &newest, "b").await.unwrap_err().code, "commit-conflict");
    assert_eq!(avro_files(dir.path()), referenced(&newest).await);
}

#[tokio::test]
async fn an_outcome_that_stays_unknown_is_said() {
    let dir = tempfile::tempdir().unwrap();
    let server = RestServer::over(dir.path());
    let c = catalog(&server, &[("rest.client.max-retries", "0")]);
    let base = table(&*c).await;
    server.trap("POST", COMMIT, Fault::LoseReply);
    // the second GET is the one behind the lost answer
    server.trap_times("GET", COMMIT, 1, Fault::Twice);
    server.trap_times("GET", COMMIT, 99, Fault::Refuse(500, "ServerError"));
    let error = add(&*c, &base, "f").await.unwrap_err();
    assert!(error.may_have_committed(), "{error:?}");
    server.disarm();
    let now = c.refresh(base.ident()).await.unwrap();
    assert_eq!(live(&now).await, ["f"]);
    assert_eq!(avro_files(dir.path()), referenced(&now).await);
}

#[tokio::test]
async fn reading_goes_on_where_answers_get_lost() {
    let dir = tempfile::tempdir().unwrap();
    let server = RestServer::over(dir.path());
    let c = catalog(&server, &[]);
    let base = table(&*c).await;
    let page = "HTTP/1.1 502 X\r\nContent-Length: 0\r\n\r\n".to_owned();
    for fault in [Fault::LoseRequest, Fault::LoseReply, Fault::CutReply, Fault::Refuse(503, "x"), Fault::Raw(page)] {
        server.trap("GET", COMMIT, fault.clone());
        assert_eq!(c.refresh(base.ident()).await.unwrap().metadata(), base.metadata(), "{fault:?}");
        server.trap("GET", "/namespaces?", fault.clone());
        assert_eq!(c.list_namespaces(&[]).await.unwrap().len(), 1);
        server.trap("HEAD", COMMIT, fault.clone());
        assert!(c.table_exists(base.ident()).await.unwrap(), "{fault:?}");
    }
    // a server that starts again: its connections are gone
    server.hang_up();
    c.refresh(base.ident()).await.unwrap();
}

#[tokio::test]
async fn a_silent_server_is_not_waited_for_long() {
    let dir = tempfile::tempdir().unwrap();
    let server = RestServer::over(dir.path());
    let c = catalog(&server, &[("rest.client.socket-timeout-ms", "200")]);
    let base = table(&*c).await;
    let long = Duration::from_secs(5);
    let begun = Instant::now();
    server.trap_times("GET", COMMIT, 2, Fault::Silence(long));
    let error = c.refresh(base.ident()).await.unwrap_err();
    assert!(error.message.ends_with("did not answer within 200 ms"), "{error}");
    // one that is slow and goes on is listened to, one that stops in the middle is not
    server.trap("GET", "/namespaces?", Fault::Trickle(Duration::from_millis(1)));
    assert_eq!(c.list_namespaces(&[]).await.unwrap().len(), 1);
    server.trap_times("GET", "/namespaces?", 2, Fault::Trickle(Duration::from_millis(300)));
    let error = c.list_namespaces(&[]).await.unwrap_err();
    assert!(error.message.ends_with("did not answer within 200 ms"), "{error}");
    // a commit that was done in silence is found
    server.trap("POST", COMMIT, Fault::DoneSilence(long));
    let table = add(&*c, &base, "a").await.unwrap();
    assert_eq!(live(&table).await, ["a"]);
    assert!(begun.elapsed() < long, "{:?}", begun.elapsed());
}

#[tokio::test]
async fn what_is_made_or_dropped_with_a_lost_answer_is_looked_for() {
    let lost = [
        Fault::LoseReply,
        Fault::DoneBut(500),
        Fault::CutReply,
        Fault::DoneRaw("HTTP/1.1 200 OK\r\nContent-Length: 1\r\n\r\n{".to_owned()),
    ];
    for fault in lost {
        let dir = tempfile::tempdir().unwrap();
        let server = RestServer::over(dir.path());
        let c = catalog(&server, &[]);
        let db = levels(&["db"]);
        server.trap("POST", "/v1/namespaces", fault.clone());
        c.create_namespace(&db, BTreeMap::new()).await.unwrap();
        server.trap("POST", "/properties", fault.clone());
        c.set_namespace_properties(&db, BTreeMap::from([("a".to_owned(), "b".to_owned())])).await.unwrap();
        let ident = c.ident("db", "t").unwrap();
        server.trap("POST", "/tables", fault.clone());
        let made = c.create_table(&ident, creation(&[("p", "1")])).await.unwrap();
        assert_eq!(made.metadata().default_partition_spec().fields().len(), 1);
        server.trap("POST", "/rename", fault.clone());
        c.rename_table(&ident, "u").await.unwrap();
        let ident = c.ident("db", "u").unwrap();
        assert!(c.table_exists(&ident).await.unwrap());
        server.trap("DELETE", "/tables/u", fault.clone());
        assert!(c.drop_table(&ident, true).await.unwrap());
        server.trap("DELETE", "/namespaces/db", fault.clone());
        c.drop_namespace(&db).await.unwrap();
        assert_eq!(server.disarm(), 0);
        assert_eq!(c.list_namespaces(&[]).await.unwrap().len(), 0);
    }
}

#[tokio::test]
async fn what_was_not_made_is_an_error() {
    let dir = tempfile::tempdir().unwrap();
    let server = RestServer::over(dir.path());
    let c = catalog(&server, &[]);
    let base = table(&*c).await;
    let db = levels(&["db2"]);
    // sent again where it is found not to have been done, and not for ever
    for fault in [Fault::LoseRequest, Fault::Refuse(500, "ServerError")] {
        for part in ["/v1/namespaces", "/tables", "/rename"] {
            server.trap_times("POST", part, 3, fault.clone());
            let error = match part {
                "/v1/namespaces" => c.create_namespace(&db, BTreeMap::new()).await.unwrap_err(),
                "/tables" => c.create_table(&c.ident("db", "u").unwrap(), creation(&[])).await.unwrap_err(),
                _ => c.rename_table(base.ident(), "u").await.unwrap_err(),
            };
            assert_eq!(error.code, "io", "{part}: {error:?}");
            server.disarm();
        }
        for part in ["/tables/t", "/namespaces/db"] {
            server.trap_times("DELETE", part, 3, fault.clone());
            let error = match part {
                "/tables/t" => c.drop_table(base.ident(), true).await.unwrap_err(),
                _ => c.drop_namespace(&levels(&["db"])).await.unwrap_err(),
            };
            assert_eq!(error.code, "io", "{part}: {error:?}");
            server.disarm();
        }
        server.trap("POST", "/v1/namespaces", fault.clone());
        c.create_namespace(&db, BTreeMap::new()).await.unwrap();
        server.trap("DELETE", "/namespaces/db2", fault.clone());
        c.drop_namespace(&db).await.unwrap();
        assert_eq!(server.disarm(), 0);
    }
    // another one's table of that name is not ours
    let theirs = creation(&[("owner", "them")]);
    c.create_table(&c.ident("db", "u").unwrap(), theirs).await.unwrap();
    server.trap("POST", "/tables", Fault::LoseRequest);
    let error = c.create_table(&c.ident("db", "u").unwrap(), creation(&[("owner", "us")])).await.unwrap_err();
    assert_eq!(error.code, "table-exists");
    // and where nobody can be asked, that is said
    server.trap("DELETE", "/tables/u", Fault::LoseReply);
    server.trap_times("HEAD", "/tables/u", 9, Fault::Refuse(500, "ServerError"));
    let error = c.drop_table(&c.ident("db", "u").unwrap(), true).await.unwrap_err();
    assert!(error.may_have_committed(), "{error:?}");
}

/// Every request may fail, be lost, or lose its answer: all commits that say so are in, once, and no others.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn writers_under_chaos_lose_and_double_nothing() {
    const ROUNDS: usize = 12;
    let dir = tempfile::tempdir().unwrap();
    let server = RestServer::over(dir.path());
    let first = catalog(&server, &[]);
    let base = table(&*first).await;
    let patient = [("commit.retry.num-retries", "40"), ("commit.retry.max-wait-ms", "50")];
    let patient = patient.map(|(key, value)| (key.to_owned(), value.to_owned())).into();
    let base = first.commit(&base, vec![], vec![TableUpdate::SetProperties { updates: patient }]).await.unwrap();
    server.change(|settings| settings.chaos = 25);
    let writers = (0..3).map(|writer| {
        let (base, c) = (base.clone(), catalog(&server, &[]));
        tokio::spawn(async move {
            let (mut done, mut unknown) = (vec![], vec![]);
            for n in 0..ROUNDS {
                let name = format!("w{writer}-{n:02}");
                match add(&*c, &base, &name).await {
                    Ok(_) => done.push(name),
                    Err(error) if error.may_have_committed() => unknown.push(name),
                    Err(_) => {}
                }
            }
            (done, unknown)
        })
    });
    let (mut done, mut unknown) = (vec![], vec![]);
    for writer in writers.collect::<Vec<_>>() {
        let (of_writer, doubtful) = writer.await.unwrap();
        done.extend(of_writer);
        unknown.extend(doubtful);
    }
    server.change(|settings| settings.chaos = 0);
    let now = first.refresh(base.ident()).await.unwrap();
    let found = live(&now).await;
    let mut certain: Vec<String> = found.iter().filter(|name| !unknown.contains(name)).cloned().collect();
    certain.sort();
    done.sort();
    assert_eq!(certain, done);
    assert_eq!(found.len(), now.metadata().snapshots().len(), "a snapshot for each");
    assert!(done.len() > ROUNDS, "{} of {}", done.len(), 3 * ROUNDS);
    let missing: Vec<_> = referenced(&now).await.difference(&avro_files(dir.path())).cloned().collect();
    assert_eq!(missing, Vec::<String>::new());
}

/// A server that knows calls by their keys is asked again, and answers as it did.
#[tokio::test]
async fn repetitions_are_known_by_their_keys() {
    let dir = tempfile::tempdir().unwrap();
    let server = RestServer::over(dir.path());
    let c = catalog(&server, &[]);
    let base = table(&*c).await;
    assert!(
        server.log().iter().all(|l| !l.headers.contains_key("idempotency-key")),
        "only where the server knows them"
    );
    server.change(|settings| settings.key_lifetime = Some("PT30M".to_owned()));
    let c = catalog(&server, &[]);
    c.connect().await.unwrap();
    for (n, fault) in [Fault::LoseRequest, Fault::LoseReply, Fault::CutReply].into_iter().enumerate() {
        server.log();
        server.trap("POST", COMMIT, fault);
        let key = format!("k{n}");
        let done = c.commit(&base, vec![], set(&key, "1")).await.unwrap();
        assert_eq!(done.property(&key), Some("1"));
        let log = server.log();
        let keys: Vec<_> = log.iter().map(|l| l.headers["idempotency-key"].clone()).collect();
        assert!(keys.len() == 2 && keys[0] == keys[1], "{keys:?}");
        assert_eq!(uuid::Uuid::parse_str(&keys[0]).unwrap().get_version_num(), 7);
    }
    let keys: BTreeSet<_> = {
        c.drop_table(&c.ident("db", "none").unwrap(), false).await.unwrap();
        c.create_namespace(&levels(&["db2"]), BTreeMap::new()).await.unwrap();
        server.log().iter().map(|l| l.headers["idempotency-key"].clone()).collect()
    };
    assert_eq!(keys.len(), 2, "each call has its own");
    // a second creation would be a conflict, if it were one
    server.trap("POST", "/tables", Fault::LoseReply);
    server.log();
    another(&*c, "u").await;
    assert_eq!(server.targets().len(), 2, "nothing has to be looked for");
    // a server that forgets the keys in between: whose doing it was shows when it is looked for
    server.trap("POST", "/tables", Fault::LoseReply);
    let forgetful: rest_server::Hook = {
        let seen = std::sync::atomic::AtomicUsize::new(0);
        Arc::new(move |method: &str, target: &str| {
            let second = method == "POST"
                && target.ends_with("/tables")
                && seen.fetch_add(1, std::sync::atomic::Ordering::SeqCst) == 1;
            second.then(|| Fault::Refuse(409, "AlreadyExistsException"))
        })
    };
    server.set_hook(forgetful);
    another(&*c, "v").await;
    // and where the server says that it failed, it has kept nothing
    server.log();
    server.trap("POST", COMMIT, Fault::DoneBut(500));
    let unknown = c.commit(&base, vec![], set("k", "2")).await;
    assert!(matches!(unknown, Err(CommitError::Unknown(_))), "{unknown:?}");
    assert_eq!(server.log().len(), 1);
}
