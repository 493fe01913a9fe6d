//! Casts and decimal functions over batches of 8,192 rows: `cargo bench --workspace --bench functions`.

#![allow(missing_docs, clippy::unwrap_used, clippy::expect_used)]

use std::sync::Arc;

use arrow::array::{ArrayRef, Decimal128Array, Float64Array, Int32Array, Int64Array, RecordBatch, StringArray};
use arrow::datatypes::{Field, Schema};
use calve_functions::{Arg, CastKind, EvalContext, TimeZone, cast, scalar};
use calve_types::{DataType, LogicalType as T};
use criterion::{BenchmarkId, Criterion, Throughput, criterion_group, criterion_main};
use datafusion::prelude::SessionContext;
use datafusion_common::DFSchema;
use datafusion_expr::{Expr, col};

const ROWS: usize = 8_192;

fn decimal(precision: u8, scale: u8) -> T {
    T::Decimal { precision, scale }
}

/// The columns that are cast and computed with; each tenth value is NULL.
fn batch() -> (RecordBatch, Vec<(&'static str, DataType)>) {
    let some = |n: usize| (!n.is_multiple_of(10)).then_some(n as i64 * 7_919 % 1_000_003);
    let texts =
        |of: fn(i64) -> String| -> ArrayRef { Arc::new((0..ROWS).map(|n| some(n).map(of)).collect::<StringArray>()) };
    let decimals = |scale: i8, precision: u8| -> ArrayRef {
        let values = (0..ROWS).map(|n| some(n).map(i128::from)).collect::<Decimal128Array>();
        Arc::new(values.with_precision_and_scale(precision, scale).unwrap())
    };
    let day = |n: i64| format!("20{:02}-{:02}-{:02}", n % 100, n % 12 + 1, n % 28 + 1);
    let columns: Vec<(&'static str, T, ArrayRef)> = vec![
        ("i", T::Int, Arc::new((0..ROWS).map(|n| some(n).map(|v| v as i32)).collect::<Int32Array>())),
        ("l", T::BigInt, Arc::new((0..ROWS).map(some).collect::<Int64Array>())),
        ("d", T::Double, Arc::new((0..ROWS).map(|n| some(n).map(|v| v as f64 / 7.0)).collect::<Float64Array>())),
        ("number", T::STRING, texts(|n| n.to_string())),
        ("fraction", T::STRING, texts(|n| format!("{}.{:02}", n / 100, n % 100))),
        ("date", T::STRING, Arc::new((0..ROWS).map(|n| some(n).map(day)).collect::<StringArray>())),
        (
            "time",
            T::STRING,
            Arc::new(
                (0..ROWS)
                    .map(|n| some(n).map(|v| format!("{} 12:{:02}:07.123", day(v), v % 60)))
                    .collect::<StringArray>(),
            ),
        ),
        ("a", decimal(12, 2), decimals(2, 12)),
        ("b", decimal(10, 4), decimals(4, 10)),
    ];
    let fields: Vec<Field> =
        columns.iter().map(|(name, _, array)| Field::new(*name, array.data_type().clone(), true)).collect();
    let types = columns.iter().map(|(name, logical, _)| (*name, logical.clone().nullable())).collect();
    let arrays = columns.into_iter().map(|(_, _, array)| array).collect();
    (RecordBatch::try_new(Arc::new(Schema::new(fields)), arrays).unwrap(), types)
}

/// A benchmark with the expression it evaluates.
type Case = (String, Expr);

fn casts(types: &[(&'static str, DataType)], context: &EvalContext) -> Vec<Case> {
    let wanted = [
        ("l", T::Int),
        ("i", T::STRING),
        ("l", T::STRING),
        ("d", T::STRING),
        ("a", T::STRING),
        ("number", T::Int),
        ("number", T::BigInt),
        ("fraction", T::Double),
        ("fraction", decimal(12, 2)),
        ("date", T::Date),
        ("time", T::Timestamp(3)),
        ("i", decimal(12, 2)),
        ("d", decimal(12, 2)),
        ("a", decimal(20, 6)),
        ("a", decimal(6, 1)),
        ("a", T::Double),
    ];
    let case = |(name, to): (&'static str, T)| {
        let from = &types.iter().find(|(found, _)| *found == name).unwrap().1;
        let title = format!("{} to {to}", if from.logical == T::STRING { name.to_owned() } else { from.to_string() });
        (title, cast(col(name), from, &to.nullable(), CastKind::Cast, context).unwrap())
    };
    wanted.into_iter().map(case).collect()
}

fn decimals(types: &[(&'static str, DataType)], context: &EvalContext) -> Vec<Case> {
    let type_of = |name: &str| types.iter().find(|(found, _)| *found == name).unwrap().1.clone();
    let calls: [(&'static str, &[&'static str]); 8] = [
        ("+", &["a", "b"]),
        ("-", &["a", "b"]),
        ("*", &["a", "b"]),
        ("/", &["a", "b"]),
        ("MOD", &["a", "b"]),
        ("ABS", &["a"]),
        ("FLOOR", &["a"]),
        ("ROUND", &["a", "i"]),
    ];
    let case = |(name, args): (&'static str, &[&'static str])| {
        let function = scalar(name).unwrap();
        let found: Vec<Arg> = args.iter().map(|arg| Arg::of(type_of(arg))).collect();
        let signature = function.infer(&found).unwrap();
        let exprs = args.iter().zip(&signature.args).map(|(arg, to)| {
            let from = type_of(arg);
            if from.logical == to.logical {
                col(*arg)
            } else {
                cast(col(*arg), &from, to, CastKind::Cast, context).unwrap()
            }
        });
        let call = function.call(exprs.collect(), &signature.args, &signature.returns, context).unwrap();
        (format!("{name} ({})", args.join(", ")), call)
    };
    calls.into_iter().map(case).collect()
}

fn benchmark(criterion: &mut Criterion) {
    let (batch, types) = batch();
    let context = EvalContext::new(TimeZone::UTC);
    let session = SessionContext::new();
    let schema = DFSchema::try_from(batch.schema()).unwrap();
    for (group, cases) in [("cast", casts(&types, &context)), ("decimal", decimals(&types, &context))] {
        let mut group = criterion.benchmark_group(group);
        group.throughput(Throughput::Elements(ROWS as u64)).sample_size(20);
        for (title, expr) in cases {
            let expr = session.create_physical_expr(expr, &schema).unwrap();
            group.bench_with_input(BenchmarkId::from_parameter(title), &batch, |bencher, batch| {
                bencher.iter(|| expr.evaluate(batch).unwrap());
            });
        }
        group.finish();
    }
}

criterion_group!(benches, benchmark);
criterion_main!(benches);
