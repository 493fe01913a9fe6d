//! Random upserts against a map: whatever is left out, no key ever has two rows or none.

use std::collections::{BTreeSet, HashMap};

use arrow::array::{Int32Array, Int64Array, StringArray};
use calve_types::LogicalType as T;
use iceberg::spec::DataContentType;
use rand::RngExt;

use super::upsert::positions;
use super::*;

type Row = (String, i32, i64);

fn read_rows(location: &str) -> Vec<Row> {
    let mut rows = Vec::new();
    for batch in read(location) {
        for i in 0..batch.num_rows() {
            rows.push((
                batch.column(0).as_string::<i32>().value(i).to_owned(),
                batch.column(1).as_primitive::<arrow::datatypes::Int32Type>().value(i),
                if batch.num_columns() > 2 { batch.column(2).as_primitive::<Int64Type>().value(i) } else { 0 },
            ));
        }
    }
    rows
}

/// Reads the table by the rules of the specification, naively.
async fn scan(f: &Fixture) -> Vec<Row> {
    let live = f.live().await;
    let mut deleted: HashMap<String, BTreeSet<u64>> = HashMap::new();
    let mut equality = Vec::new();
    for (file, sequence) in &live {
        match file.file.content_type() {
            DataContentType::PositionDeletes => {
                let (about, positions) = positions(file);
                deleted.entry(about).or_default().extend(positions);
            }
            DataContentType::EqualityDeletes => {
                let keys: BTreeSet<(String, i32)> =
                    read_rows(file.file.file_path()).into_iter().map(|(k, p, _)| (k, p)).collect();
                equality.push((file.file.partition().clone(), *sequence, keys));
            }
            DataContentType::Data => {}
        }
    }
    let mut rows = Vec::new();
    for (file, sequence) in &live {
        if file.file.content_type() != DataContentType::Data {
            continue;
        }
        let path = file.file.file_path();
        for (position, (key, p, v)) in (0_u64..).zip(read_rows(path)) {
            let gone = deleted.get(path).is_some_and(|d| d.contains(&position))
                || equality.iter().any(|(partition, newer, keys)| {
                    newer > sequence && partition == file.file.partition() && keys.contains(&(key.clone(), p))
                });
            if !gone {
                rows.push((key, p, v));
            }
        }
    }
    rows.sort();
    rows
}

#[tokio::test]
async fn random_upserts_equal_a_map() {
    // long keys that differ only behind the truncated bounds, and characters without a successor
    let keys: Vec<String> = (0..30)
        .map(|i| match i % 3 {
            0 => format!("{:03}", i),
            1 => format!("{}{i}", "same-prefix-of-more-than-16-characters-"),
            _ => format!("{}{i}", "\u{10ffff}".repeat(i / 2)),
        })
        .collect();
    let mut random = rand::rng();
    for (version, mode) in [("2", "needed"), ("3", "needed"), ("2", "always")] {
        let columns = vec![("k", T::STRING.not_null()), ("p", T::Int.not_null()), ("v", T::BigInt.nullable())];
        let partition = [("p", Transform::Truncate(2))];
        let with =
            [("format-version", version), ("write.upsert.enabled", "true"), ("write.target-file-size-bytes", "600")];
        let mut f = Fixture::new(Shape { columns, key: &["k", "p"], partition: &partition, with: &with }).await;
        f.session.insert("calve.upsert.equality-deletes".to_owned(), mode.to_owned());
        let mut model: BTreeMap<(String, i32), i64> = BTreeMap::new();
        let mut value = 0;
        for _ in 0..25 {
            let mut batches = Vec::new();
            for _ in 0..random.random_range(1..3) {
                let mut rows: Vec<Row> = Vec::new();
                for _ in 0..random.random_range(1..12) {
                    value += 1;
                    let key = keys[random.random_range(0..keys.len())].clone();
                    rows.push((key, random.random_range(0..5), value));
                }
                for (k, p, v) in &rows {
                    model.insert((k.clone(), *p), *v);
                }
                batches.push(
                    f.batch(vec![
                        Arc::new(StringArray::from_iter_values(rows.iter().map(|r| r.0.as_str()))),
                        Arc::new(Int32Array::from_iter_values(rows.iter().map(|r| r.1))),
                        Arc::new(Int64Array::from_iter_values(rows.iter().map(|r| r.2))),
                    ])
                    .await,
                );
            }
            f.insert(batches).await;
        }
        let expected: Vec<Row> = model.into_iter().map(|((k, p), v)| (k, p, v)).collect();
        assert_eq!(scan(&f).await, expected, "v{version} {mode}");
    }
}
