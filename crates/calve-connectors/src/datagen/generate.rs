//! The values of a column.

use calve_types::{DataType, Error, LogicalType, Result};

use crate::builder::Builder;
use crate::options::Options;

/// How a column's values are made.
#[derive(Debug)]
pub(crate) struct Column {
    logical: LogicalType,
    kind: Kind,
}

#[derive(Debug)]
enum Kind {
    /// First value and how many there are.
    Sequence(i64, u64),
    Random(Random, u64),
}

/// Random values of one type.
#[derive(Debug)]
struct Random {
    null_rate: f32,
    what: What,
}

#[derive(Debug)]
enum What {
    Boolean,
    /// Between two integers, the second included.
    Integer(i64, i64),
    /// Between two numbers.
    Float(f64, f64),
    /// Between two unscaled decimals, the second included.
    Decimal(i128, i128),
    /// Hexadecimal digits: how many at most, whether fewer too.
    Text(usize, bool),
    Bytes(usize, bool),
    /// Always this number: today, now.
    Date(i32),
    Time(i64),
    /// Milliseconds of now, and how many of them a value may lie back.
    Timestamp(i64, i64),
    Array(usize, Box<Random>),
    Map(usize, Box<(Random, Random)>),
    Row(Vec<Random>),
}

/// SplitMix64: small, well spread and the same for ever.
pub(crate) fn mix(seed: u64, value: u64) -> u64 {
    let mut z = seed.wrapping_add(value.wrapping_add(1).wrapping_mul(0x9e37_79b9_7f4a_7c15));
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}

/// The random numbers of one value.
struct Numbers {
    seed: u64,
    drawn: u64,
}

impl Numbers {
    fn next(&mut self) -> u64 {
        self.drawn += 1;
        mix(self.seed, self.drawn)
    }

    /// 0 up to, not including, 1.
    fn unit(&mut self) -> f64 {
        (self.next() >> 11) as f64 / (1u64 << 53) as f64
    }

    /// 0 up to, not including, `count`.
    fn below(&mut self, count: u128) -> u128 {
        let wide = u128::from(self.next()) << 64 | u128::from(self.next());
        wide % count.max(1)
    }
}

/// Reads the options of a field and notes which it may have.
struct Fields<'a> {
    options: &'a Options,
    supported: &'a mut Vec<String>,
}

impl Fields<'_> {
    fn name(&mut self, field: &str, option: &str) -> String {
        let name = format!("fields.{field}.{option}");
        self.supported.push(name.clone());
        name
    }

    fn number<T: std::str::FromStr>(&mut self, field: &str, option: &str) -> Result<Option<T>> {
        let name = self.name(field, option);
        self.options.parsed(&name, "a number")
    }

    fn null_rate(&mut self, field: &str) -> Result<f32> {
        Ok(self.number(field, "null-rate")?.unwrap_or(0.0))
    }

    fn integers(&mut self, field: &str, lowest: i64, highest: i64) -> Result<What> {
        let min: i64 = self.number(field, "min")?.unwrap_or(lowest);
        let max: i64 = self.number(field, "max")?.unwrap_or(highest);
        for value in [min, max] {
            if !(lowest..=highest).contains(&value) {
                return Err(self.out_of_type(field, value));
            }
        }
        // Flink draws a BIGINT as it draws a DOUBLE: from more than one value
        let in_order = min < max || min == max && highest < i64::MAX;
        self.check_order(field, in_order, min, max)?;
        Ok(What::Integer(min, max))
    }

    fn floats(&mut self, field: &str, lowest: f64, highest: f64) -> Result<What> {
        let min = self.number(field, "min")?.unwrap_or(lowest);
        let max = self.number(field, "max")?.unwrap_or(highest);
        self.check_order(field, min < max, min, max)?;
        Ok(What::Float(min, max))
    }

    fn check_order(
        &self,
        field: &str,
        in_order: bool,
        min: impl std::fmt::Display,
        max: impl std::fmt::Display,
    ) -> Result<()> {
        if in_order {
            return Ok(());
        }
        Err(self.options.refuse(
            "invalid-option",
            format!("'fields.{field}.min' ({min}) is not less than 'fields.{field}.max' ({max})"),
            format!("lower bound ({min}) must be strictly less than upper bound ({max})"),
        ))
    }

    fn out_of_type(&self, field: &str, value: impl std::fmt::Display) -> Error {
        let name = format!("fields.{field}");
        self.options.refuse(
            "invalid-option",
            format!("value {value} of an option of '{name}' is out of range of the column's type"),
            format!("Value out of range. Value:\"{value}\""),
        )
    }

    /// The length of text or bytes, and whether it varies.
    fn length(&mut self, field: &str, logical: &LogicalType, is_fixed: bool, declared: u32) -> Result<(usize, bool)> {
        let length_name = format!("fields.{field}.length");
        let var_name = format!("fields.{field}.var-len");
        if is_fixed {
            if self.options.get(&length_name).is_some() {
                return Err(self.options.refuse(
                    "invalid-option",
                    format!("column '{field}' of type {logical} takes no option '{length_name}'"),
                    format!("Custom length for fixed-length type (CHAR/BINARY) field '{field}' is not supported."),
                ));
            }
            if self.options.get(&var_name).is_some() {
                return Err(self.options.refuse(
                    "invalid-option",
                    format!("column '{field}' of type {logical} takes no option '{var_name}'"),
                    format!(
                        "Only supports specifying 'fields.#.var-len' option for variable-length types \
                         (VARCHAR/STRING/VARBINARY/BYTES). The type of field '{field}' is not within this range."
                    ),
                ));
            }
            return Ok((declared as usize, false));
        }
        let is_unlimited = declared == LogicalType::MAX_LENGTH;
        let length: Option<u32> = self.number(field, "length")?;
        let varies = self.options.boolean(&var_name)?;
        self.supported.push(var_name);
        match length {
            Some(length) if !is_unlimited && length > declared => Err(self.options.refuse(
                "invalid-option",
                format!("option '{length_name}' is longer than the type {logical}"),
                format!(
                    "Custom length '{length}' for variable-length type (VARCHAR/STRING/VARBINARY/BYTES) field '{field}' \
                     should be shorter than '{declared}' defined in the schema."
                ),
            )),
            Some(length) => Ok((length as usize, varies)),
            None => Ok((if is_unlimited { 100 } else { declared as usize }, varies)),
        }
    }

    fn random(&mut self, field: &str, logical: &LogicalType, now: i64) -> Result<Random> {
        use LogicalType as T;
        let mut has_null_rate = true;
        let what = match logical {
            T::Boolean => What::Boolean,
            T::TinyInt => self.integers(field, i8::MIN.into(), i8::MAX.into())?,
            T::SmallInt => self.integers(field, i16::MIN.into(), i16::MAX.into())?,
            T::Int => self.integers(field, i32::MIN.into(), i32::MAX.into())?,
            T::BigInt => self.integers(field, i64::MIN, i64::MAX)?,
            // Java's MIN_VALUE of a floating point type is its least positive number
            T::Float => self.floats(field, f64::from(f32::from_bits(1)), f64::from(f32::MAX))?,
            T::Double => self.floats(field, f64::from_bits(1), f64::MAX)?,
            T::Decimal { precision, scale } => {
                let limit = 10i128.checked_pow(u32::from(*precision)).unwrap_or(i128::MAX) - 1;
                let bound = |this: &mut Self, option: &str, default: i128| {
                    let name = this.name(field, option);
                    let Some(value) = this.options.parsed::<f64>(&name, "a number")? else { return Ok(default) };
                    let scaled = value * 10f64.powi(i32::from(*scale));
                    if !scaled.is_finite() || scaled.abs() > limit as f64 {
                        return Err(this.out_of_type(field, value));
                    }
                    Ok(scaled.round() as i128)
                };
                let min = bound(self, "min", -limit)?;
                let max = bound(self, "max", limit)?;
                self.check_order(field, min < max, min, max)?;
                What::Decimal(min, max)
            }
            T::Char(n) => {
                let (length, varies) = self.length(field, logical, true, *n)?;
                What::Text(length, varies)
            }
            T::Varchar(n) => {
                let (length, varies) = self.length(field, logical, false, *n)?;
                What::Text(length, varies)
            }
            T::Binary(n) | T::Varbinary(n) => {
                has_null_rate = false;
                let (length, varies) = self.length(field, logical, matches!(logical, T::Binary(_)), *n)?;
                What::Bytes(length, varies)
            }
            T::Date => {
                has_null_rate = false;
                What::Date(i32::try_from(now.div_euclid(86_400_000_000)).unwrap_or_default())
            }
            T::Time(_) => {
                has_null_rate = false;
                What::Time(now.rem_euclid(86_400_000_000) / 1_000_000 * 1_000_000)
            }
            T::Timestamp(_) | T::TimestampLtz(_) => {
                let name = self.name(field, "max-past");
                let past = self.options.duration(&name)?.unwrap_or_default();
                What::Timestamp(now.div_euclid(1000), i64::try_from(past.as_millis()).unwrap_or(i64::MAX))
            }
            T::Array(element) => {
                let length = self.number(field, "length")?.unwrap_or(3);
                What::Array(length, Box::new(self.random(&format!("{field}.element"), &element.logical, now)?))
            }
            T::Map(key, value) => {
                let length = self.number(field, "length")?.unwrap_or(3);
                let keys = self.random(&format!("{field}.key"), &key.logical, now)?;
                What::Map(length, Box::new((keys, self.random(&format!("{field}.value"), &value.logical, now)?)))
            }
            T::Multiset(element) => {
                let length = self.number(field, "length")?.unwrap_or(3);
                let keys = self.random(&format!("{field}.element"), &element.logical, now)?;
                let counts = Random { null_rate: 0.0, what: What::Integer(0, 10) };
                What::Map(length, Box::new((keys, counts)))
            }
            T::Row(fields) => What::Row(
                fields
                    .iter()
                    .map(|f| self.random(&format!("{field}.{}", f.name), &f.data_type.logical, now))
                    .collect::<Result<_>>()?,
            ),
            other => return Err(Error::unsupported(format!("random values of type {other}"))),
        };
        let null_rate = if has_null_rate { self.null_rate(field)? } else { 0.0 };
        Ok(Random { null_rate, what })
    }

    fn sequence(&mut self, field: &str, logical: &LogicalType) -> Result<(i64, u64)> {
        use LogicalType as T;
        let is_possible = matches!(
            logical,
            T::TinyInt
                | T::SmallInt
                | T::Int
                | T::BigInt
                | T::Float
                | T::Double
                | T::Decimal { .. }
                | T::Char(_)
                | T::Varchar(_)
        );
        if !is_possible {
            // Flink refuses `start` and `end` of such a column as options it does not know
            return Ok((0, 0));
        }
        let mut bound = |option: &str| {
            let value: Option<i64> = self.number(field, option)?;
            value.ok_or_else(|| {
                self.options.refuse(
                    "missing-option",
                    format!("option 'fields.{field}.{option}' is missing"),
                    format!("Could not find required property 'fields.{field}.{option}' for sequence generator."),
                )
            })
        };
        let (start, end) = (bound("start")?, bound("end")?);
        let (lowest, highest) = match logical {
            T::TinyInt => (i8::MIN.into(), i8::MAX.into()),
            T::SmallInt => (i16::MIN.into(), i16::MAX.into()),
            T::Int => (i32::MIN.into(), i32::MAX.into()),
            _ => (i64::MIN, i64::MAX),
        };
        for value in [start, end] {
            if !(lowest..=highest).contains(&value) {
                return Err(self.out_of_type(field, value));
            }
        }
        if start > end {
            return Err(self.options.refuse(
                "invalid-option",
                format!("sequence of column '{field}' starts at {start}, behind its end {end}"),
                "The start of a sequence must not be greater than its end.",
            ));
        }
        // from i64::MIN to i64::MAX there is one more than u64 counts
        Ok((start, end.abs_diff(start).saturating_add(1)))
    }
}

impl Column {
    /// Reads the options of a column; those it may have are added to `supported`.
    ///
    /// # Errors
    /// Values that Flink refuses.
    pub fn new(
        name: &str,
        data_type: &DataType,
        options: &Options,
        seed: u64,
        now: i64,
        supported: &mut Vec<String>,
    ) -> Result<Self> {
        let mut fields = Fields { options, supported };
        let kind_name = fields.name(name, "kind");
        let kind = match options.get(&kind_name) {
            None | Some("random") => Kind::Random(fields.random(name, &data_type.logical, now)?, seed),
            Some("sequence") => {
                let (start, count) = fields.sequence(name, &data_type.logical)?;
                if count == 0 {
                    options.check_names("datagen", fields.supported.clone(), Some("fields."))?;
                    let start_or_end = ["start", "end"].map(|o| format!("fields.{name}.{o}"));
                    if let Some(given) = start_or_end.iter().find(|o| options.get(o).is_some()) {
                        return Err(options.refuse(
                            "unknown-option",
                            format!("column '{name}' of type {} has no option '{given}'", data_type.logical),
                            format!("Unsupported options found for 'datagen'. Unsupported options: {given}"),
                        ));
                    }
                    return Err(Error::unsupported(format!("a sequence of type {}", data_type.logical)));
                }
                Kind::Sequence(start, count)
            }
            Some(other) => {
                return Err(options
                    .refuse(
                        "invalid-option",
                        format!("unknown kind '{other}' of column '{name}'"),
                        format!("Unsupported generator kind: {other}"),
                    )
                    .with_hint("kinds are random and sequence"));
            }
        };
        Ok(Self { logical: data_type.logical.clone(), kind })
    }

    /// The column's type.
    pub fn logical(&self) -> &LogicalType {
        &self.logical
    }

    /// How many values there are; `None` without end.
    pub fn rows(&self) -> Option<u64> {
        match self.kind {
            Kind::Sequence(_, count) => Some(count),
            Kind::Random(..) => None,
        }
    }

    /// Appends the value of a row.
    pub fn append(&self, row: u64, builder: &mut Builder) {
        match &self.kind {
            Kind::Sequence(start, _) => append_integer(start.wrapping_add_unsigned(row), builder),
            Kind::Random(random, seed) => random.append(&mut Numbers { seed: mix(*seed, row), drawn: 0 }, builder),
        }
    }
}

/// Appends a number as a value of whatever type; those that are checked before always fit.
fn append_integer(value: i64, builder: &mut Builder) {
    match builder {
        Builder::TinyInt(b) => b.append_option(value.try_into().ok()),
        Builder::SmallInt(b) => b.append_option(value.try_into().ok()),
        Builder::Int(b) => b.append_option(value.try_into().ok()),
        Builder::BigInt(b) => b.append_value(value),
        Builder::Float(b) => b.append_value(value as f32),
        Builder::Double(b) => b.append_value(value as f64),
        Builder::Decimal(b, precision, scale) => {
            let unscaled = 10i128.checked_pow(u32::from(*scale)).and_then(|unit| i128::from(value).checked_mul(unit));
            let limit = 10i128.checked_pow(u32::from(*precision)).unwrap_or(i128::MAX);
            b.append_option(unscaled.filter(|v| v.abs() < limit));
        }
        Builder::Text(b) => b.append_value(value.to_string()),
        other => other.append_null(),
    }
}

impl Random {
    fn append(&self, numbers: &mut Numbers, builder: &mut Builder) {
        if self.null_rate > 0.0 && numbers.unit() < f64::from(self.null_rate) {
            builder.append_null();
            return;
        }
        match (&self.what, builder) {
            (What::Boolean, Builder::Boolean(b)) => b.append_value(numbers.next() & 1 == 1),
            (What::Integer(min, max), builder) => {
                let count = u128::from(max.abs_diff(*min)) + 1;
                let offset = u64::try_from(numbers.below(count)).unwrap_or_default();
                append_integer(min.wrapping_add_unsigned(offset), builder);
            }
            (What::Float(min, max), Builder::Float(b)) => b.append_value(between(*min, *max, numbers.unit()) as f32),
            (What::Float(min, max), Builder::Double(b)) => b.append_value(between(*min, *max, numbers.unit())),
            (What::Decimal(min, max), Builder::Decimal(b, ..)) => {
                let offset = numbers.below(max.abs_diff(*min).saturating_add(1));
                b.append_value(min.wrapping_add_unsigned(offset));
            }
            (What::Text(length, varies), Builder::Text(b)) => {
                let length = drawn_length(*length, *varies, numbers);
                let mut text = String::with_capacity(length);
                while text.len() < length {
                    let bits = numbers.next();
                    let digits = (0..16).map(|i| bits >> (4 * i) & 15).take(length - text.len());
                    text.extend(digits.filter_map(|d| char::from_digit(d as u32, 16)));
                }
                b.append_value(&text);
            }
            (What::Bytes(length, varies), Builder::Bytes(b)) => {
                let length = drawn_length(*length, *varies, numbers);
                let mut bytes = Vec::with_capacity(length + 8);
                while bytes.len() < length {
                    bytes.extend(numbers.next().to_le_bytes());
                }
                bytes.truncate(length);
                b.append_value(&bytes);
            }
            (What::Date(days), Builder::Date(b)) => b.append_value(*days),
            (What::Time(micros), Builder::Time(b, _)) => b.append_value(*micros),
            (What::Timestamp(now, past), Builder::Timestamp(b)) => {
                let back = if *past > 0 { numbers.below(past.unsigned_abs().into()) } else { 0 };
                let millis = now.saturating_sub(i64::try_from(back).unwrap_or(i64::MAX));
                let stamp = (millis.div_euclid(1000), millis.rem_euclid(1000) as u32 * 1_000_000);
                b.units.append_option(crate::text::timestamp_unit(stamp, b.precision));
            }
            (What::Array(length, element), Builder::List(b)) => {
                (0..*length).for_each(|_| element.append(numbers, &mut b.values));
                b.close(true);
            }
            (What::Map(length, entry), Builder::Map(b)) => {
                // the second of two equal keys is no entry of its own
                for _ in 0..*length {
                    entry.0.append(numbers, &mut b.keys);
                    entry.1.append(numbers, &mut b.values);
                }
                b.close(true);
            }
            (What::Row(fields), Builder::Row(b)) => {
                for (field, column) in fields.iter().zip(&mut b.columns) {
                    field.append(numbers, column);
                }
                b.close();
            }
            (_, builder) => builder.append_null(),
        }
    }
}

/// A number from `min` to `max`; their difference may be more than a double holds.
fn between(min: f64, max: f64, unit: f64) -> f64 {
    min * (1.0 - unit) + max * unit
}

/// Flink draws the lengths 1 up to, not including, the given one.
fn drawn_length(length: usize, varies: bool, numbers: &mut Numbers) -> usize {
    if varies && length > 1 { numbers.below(length as u128 - 1) as usize + 1 } else { length }
}
