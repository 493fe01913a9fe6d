//! Partition transforms against the Iceberg specification and a second formulation that knows nothing of the first.

use arrow::array::{
    BinaryArray, Date32Array, Decimal128Array, Float32Array, Float64Array, Int32Array, Int64Array, StringArray,
    Time64MicrosecondArray, TimestampMicrosecondArray, TimestampNanosecondArray,
};
use arrow::datatypes::{Date32Type, Decimal128Type, Int32Type};
use calve_types::LogicalType as T;
use rand::RngExt;

use super::super::transform::apply;
use super::*;

fn ints(array: &ArrayRef) -> Vec<i32> {
    match array.as_primitive_opt::<Date32Type>() {
        Some(days) => days.values().to_vec(),
        None => array.as_primitive::<Int32Type>().values().to_vec(),
    }
}

/// The buckets of the hashes of the specification's appendix B.
#[test]
fn hashes_are_those_of_the_specification() {
    let micros = |micros| Arc::new(TimestampMicrosecondArray::from(vec![micros])) as ArrayRef;
    let nanos = |nanos| Arc::new(TimestampNanosecondArray::from(vec![nanos])) as ArrayRef;
    let bytes = |bytes: &[u8]| Arc::new(BinaryArray::from_vec(vec![bytes])) as ArrayRef;
    let decimal = |unscaled, precision| {
        let array = Decimal128Array::from(vec![unscaled]).with_precision_and_scale(precision, 2).unwrap();
        Arc::new(array) as ArrayRef
    };
    let day = 17_486; // 2017-11-16
    let second = (day * 86_400 + 22 * 3_600 + 31 * 60 + 8) as i64;
    let uuid = uuid::Uuid::parse_str("f79c3e09-677c-4bbd-a479-3f349cb785e7").unwrap();
    let vectors: Vec<(ArrayRef, i32)> = vec![
        (Arc::new(Int32Array::from(vec![34])), 2_017_239_379),
        (Arc::new(Int64Array::from(vec![34])), 2_017_239_379),
        (decimal(1_420, 4), -500_754_589),
        (decimal(1_420, 38), -500_754_589),
        (Arc::new(Date32Array::from(vec![day])), -653_330_422),
        (Arc::new(Time64MicrosecondArray::from(vec![(22 * 3_600 + 31 * 60 + 8) * 1_000_000_i64])), -662_762_989),
        (micros(second * 1_000_000), -2_047_944_441),
        (micros(second * 1_000_000 + 1), -1_207_196_810),
        (nanos(second * 1_000_000_000), -2_047_944_441),
        (nanos(second * 1_000_000_000 + 1_001), -1_207_196_810),
        (Arc::new(StringArray::from(vec!["iceberg"])), 1_210_000_089),
        (bytes(uuid.as_bytes()), 1_488_055_340),
        (bytes(&[0, 1, 2, 3]), -188_683_207),
    ];
    for (value, hash) in vectors {
        for buckets in [1, 2, 16, 1_000_003, i32::MAX as u32] {
            let bucket = ints(&apply(Transform::Bucket(buckets), &value).unwrap())[0];
            assert_eq!(bucket, (hash & i32::MAX) % buckets as i32, "{value:?} in {buckets}");
        }
    }
}

/// Years, months and days counted by walking over the calendar.
fn year_and_month(day: i64) -> (i64, i64) {
    // 400 years have 146,097 days: stay close to the epoch
    let cycles = day.div_euclid(146_097);
    let mut left = day.rem_euclid(146_097);
    let mut year = 1970;
    let leap = |year: i64| (year % 4 == 0 && year % 100 != 0) || year % 400 == 0;
    while left >= 365 + i64::from(leap(year)) {
        left -= 365 + i64::from(leap(year));
        year += 1;
    }
    let mut month = 0;
    for days in [31, 28 + i64::from(leap(year)), 31, 30, 31, 30, 31, 31, 30, 31, 30, 31] {
        if left < days {
            break;
        }
        left -= days;
        month += 1;
    }
    (year + 400 * cycles, month)
}

#[test]
fn dates_and_times_fall_into_their_units() {
    let mut random = rand::rng();
    let mut units: Vec<(ArrayRef, Vec<i128>, i128)> = Vec::new();
    let mut days = vec![i32::MIN, i32::MAX, 0, -1, 1, -719_528, -719_529, 11_016, 11_017, -25_509, 2_932_896];
    days.extend((0..3_000).map(|_| random.random_range(i32::MIN..i32::MAX)));
    days.extend((0..3_000).map(|_| random.random_range(-900_000..3_000_000)));
    let values = days.iter().map(|d| i128::from(*d)).collect();
    units.push((Arc::new(Date32Array::from(days)), values, 1));
    for per_day in [86_400_000_000_i64, 86_400_000_000_000] {
        let hour = per_day / 24;
        let mut values = vec![0, -1, 1, hour, hour - 1, -hour, -hour - 1, per_day, -per_day, -per_day - 1];
        // in microseconds the ends of the range have more hours than an INT counts: Flink has no such times
        let most = (i64::from(i32::MAX) - 1).saturating_mul(hour);
        values.extend((0..3_000).map(|_| random.random_range(-most..most)));
        values.extend((0..3_000).map(|_| random.random_range(-200 * per_day..200 * per_day)));
        let wide = values.iter().map(|v| i128::from(*v)).collect();
        let array: ArrayRef = if per_day == 86_400_000_000 {
            Arc::new(TimestampMicrosecondArray::from(values).with_timezone("UTC"))
        } else {
            Arc::new(TimestampNanosecondArray::from(values))
        };
        units.push((array, wide, i128::from(per_day)));
    }
    for (array, values, per_day) in units {
        let [years, months, days] =
            [Transform::Year, Transform::Month, Transform::Day].map(|t| ints(&apply(t, &array).unwrap()));
        for (row, value) in values.iter().enumerate() {
            let mut day = value / per_day;
            if day * per_day > *value {
                day -= 1;
            }
            let (year, month) = year_and_month(day as i64);
            assert_eq!(i128::from(days[row]), day, "{value}");
            assert_eq!(i64::from(years[row]), year - 1970, "{value}");
            assert_eq!(i64::from(months[row]), (year - 1970) * 12 + month, "{value}");
        }
        if per_day > 1 {
            let hours = ints(&apply(Transform::Hour, &array).unwrap());
            for (row, value) in values.iter().enumerate() {
                let (hour, low) = (per_day / 24, i128::from(hours[row]));
                assert!(low * hour <= *value && *value < (low + 1) * hour, "{value}");
            }
        }
    }
}

#[test]
fn numbers_are_cut_towards_the_smaller_one() {
    let mut random = rand::rng();
    for width in [1_u32, 2, 7, 10, 1_000, i32::MAX as u32] {
        let naive = |v: i128| {
            let rest = v % i128::from(width);
            v - (if rest < 0 { rest + i128::from(width) } else { rest })
        };
        let mut longs = vec![i64::MIN, i64::MAX, 0, -1, 1];
        longs.extend((0..500).map(|_| random.random_range(i64::MIN..i64::MAX)));
        longs.extend((0..500).map(|_| random.random_range(-50..50)));
        let cut = apply(Transform::Truncate(width), &(Arc::new(Int64Array::from(longs.clone())) as ArrayRef)).unwrap();
        for (value, cut) in longs.iter().zip(cut.as_primitive::<Int64Type>().values()) {
            // Java's arithmetic wraps at the end of the range
            assert_eq!(*cut, naive(i128::from(*value)) as i64, "{value} by {width}");
        }
        let small: Vec<i32> = longs.iter().map(|v| *v as i32).chain([i32::MIN, i32::MAX]).collect();
        let cut = apply(Transform::Truncate(width), &(Arc::new(Int32Array::from(small.clone())) as ArrayRef)).unwrap();
        for (value, cut) in small.iter().zip(cut.as_primitive::<Int32Type>().values()) {
            assert_eq!(*cut, naive(i128::from(*value)) as i32, "{value} by {width}");
        }
        for precision in 1..=38_u8 {
            let most = 10_i128.pow(precision.into()) - 1;
            let mut values: Vec<i128> =
                [most, -most, 0, -1, 1].into_iter().chain((0..20).map(|_| random.random_range(-most..=most))).collect();
            values.retain(|value| naive(*value) >= -most); // others are refused
            let array = Decimal128Array::from(values.clone()).with_precision_and_scale(precision, 1).unwrap();
            let cut = apply(Transform::Truncate(width), &(Arc::new(array) as ArrayRef)).unwrap();
            for (value, cut) in values.iter().zip(cut.as_primitive::<Decimal128Type>().values()) {
                assert_eq!(*cut, naive(*value), "{value} by {width}");
            }
        }
    }
}

#[test]
fn texts_are_cut_by_code_points_and_bytes_by_bytes() {
    let mut random = rand::rng();
    let letters: Vec<char> = "aü日😀\u{10ffff}\u{d7ff}\u{e000}\u{301}\0 /".chars().collect();
    let texts: Vec<String> = (0..2_000)
        .map(|_| (0..random.random_range(0..12)).map(|_| letters[random.random_range(0..letters.len())]).collect())
        .collect();
    let bytes: Vec<&[u8]> = texts.iter().map(|text| text.as_bytes()).collect();
    for width in [1_u32, 2, 3, 8, 100] {
        let cut = apply(Transform::Truncate(width), &(Arc::new(StringArray::from(texts.clone())) as ArrayRef)).unwrap();
        for (text, cut) in texts.iter().zip(cut.as_string::<i32>()) {
            assert_eq!(cut.unwrap().chars().collect::<Vec<_>>(), text.chars().take(width as usize).collect::<Vec<_>>());
        }
        let cut = apply(Transform::Truncate(width), &(Arc::new(BinaryArray::from(bytes.clone())) as ArrayRef)).unwrap();
        for (bytes, cut) in bytes.iter().zip(cut.as_binary::<i32>()) {
            assert_eq!(cut.unwrap(), &bytes[..bytes.len().min(width as usize)]);
        }
    }
}

/// One row of every type a partition may be of, in a folder as Java names it, and read back from the manifest.
#[tokio::test]
async fn partitions_of_every_type() {
    let decimal = |precision| T::Decimal { precision, scale: 2 };
    let columns = vec![
        ("b", T::Boolean.nullable()),
        ("i", T::Int.nullable()),
        ("l", T::BigInt.nullable()),
        ("d9", decimal(9).nullable()),
        ("d18", decimal(18).nullable()),
        ("d38", decimal(38).nullable()),
        ("s", T::STRING.nullable()),
        ("bin", T::BYTES.nullable()),
        ("fix", T::Binary(3).nullable()),
        ("day", T::Date.nullable()),
        ("time", T::Time(6).nullable()),
        ("ts", T::Timestamp(6).nullable()),
        ("ltz", T::TimestampLtz(6).nullable()),
        ("f", T::Float.nullable()),
        ("d", T::Double.nullable()),
    ];
    let names: Vec<&str> = columns.iter().map(|(name, _)| *name).collect();
    let partition: Vec<(&str, Transform)> = names.iter().map(|name| (*name, Transform::Identity)).collect();
    let f = Fixture::new(Shape { columns, key: &[], partition: &partition, with: &[] }).await;
    let decimals = |precision, values: [i128; 2]| {
        let values = [Some(values[0]), Some(values[1]), None];
        Arc::new(Decimal128Array::from(values.to_vec()).with_precision_and_scale(precision, 2).unwrap()) as ArrayRef
    };
    let most = 10_i128.pow(38) - 1;
    let micros = [Some(-1), Some(1_699_999_999_000_000), None];
    let batch = f
        .batch(vec![
            Arc::new(arrow::array::BooleanArray::from(vec![Some(true), Some(false), None])),
            Arc::new(Int32Array::from(vec![Some(i32::MIN), Some(7), None])),
            Arc::new(Int64Array::from(vec![Some(i64::MIN), Some(7), None])),
            decimals(9, [-5, 999_999_999]),
            decimals(18, [-105, 999_999_999_999_999_999]),
            decimals(38, [-most, most]),
            Arc::new(StringArray::from(vec![Some("a b/c=ü😀%"), Some(""), None])),
            Arc::new(BinaryArray::from_opt_vec(vec![Some(&[0xff, 0, 1, 2][..]), Some(b""), None])),
            Arc::new(BinaryArray::from_opt_vec(vec![Some(b"abc"), Some(&[0, 0, 0][..]), None])),
            Arc::new(Date32Array::from(vec![Some(-1), Some(19_675), None])),
            Arc::new(Time64MicrosecondArray::from(vec![Some(0), Some(86_399_999_999), None])),
            Arc::new(TimestampMicrosecondArray::from(micros.to_vec())),
            Arc::new(TimestampMicrosecondArray::from(micros.to_vec()).with_timezone("UTC")),
            Arc::new(Float32Array::from(vec![Some(3e7), Some(-0.1), None])),
            Arc::new(Float64Array::from(vec![Some(1e-5), Some(12_345_678.0), None])),
        ])
        .await;
    let written = f.insert(vec![batch]).await;
    assert_eq!(written.data.len(), 3);
    let root = f.dir.path().join("db/t/data");
    let mut paths: Vec<String> = written
        .data
        .iter()
        .map(|file| {
            Path::new(file.file.file_path()).parent().unwrap().strip_prefix(&root).unwrap().to_str().unwrap().to_owned()
        })
        .collect();
    paths.sort();
    let nulls = names.iter().map(|name| format!("{name}=null")).collect::<Vec<_>>().join("/");
    assert_eq!(
        paths,
        [
            "b=false/i=7/l=7/d9=9999999.99/d18=9999999999999999.99/d38=999999999999999999999999999999999999.99/s=/bin=/\
             fix=AAAA/day=2023-11-14/time=23%3A59%3A59.999999/ts=2023-11-14T22%3A13%3A19/ltz=2023-11-14T22%3A13%3A19%2B00%3A00/f=-0.1/d=1.2345678E7",
            nulls.as_str(),
            "b=true/i=-2147483648/l=-9223372036854775808/d9=-0.05/d18=-1.05/\
             d38=-999999999999999999999999999999999999.99/s=a+b%2Fc%3D%C3%BC%F0%9F%98%80%25/bin=%2FwABAg%3D%3D/fix=YWJj/\
             day=1969-12-31/time=00%3A00/ts=1969-12-31T23%3A59%3A59.999999/ltz=1969-12-31T23%3A59%3A59.999999%2B00%3A00/f=3.0E7/d=1.0E-5",
        ]
    );
    let mut live: Vec<_> = f.live().await.into_iter().map(|(file, _)| file.file).collect();
    let mut own: Vec<_> = written.data.iter().map(|file| file.file.clone()).collect();
    live.sort_by_key(|file| file.file_path().to_owned());
    own.sort_by_key(|file| file.file_path().to_owned());
    for (live, own) in live.iter().zip(&own) {
        assert_eq!(live.partition(), own.partition());
    }
}
