//! Windows in time.
//!
//! A time becomes milliseconds of the wall clock first, in the session's time zone where it is a TIMESTAMP_LTZ: so Flink's
//! windows of a day begin at midnight. Tumbling windows are computed beside the row; where a row falls into several, they
//! are a list that is taken apart. Sessions depend on the rows around, and are an operator's work.

use std::any::Any;
use std::sync::Arc;

use calve_functions as functions;
use calve_functions::TimeZone;
use calve_stream::session::Session;
use calve_types::{Error, LogicalType, Result, RowField, arrow as mapping};
use datafusion::arrow::array::{
    Array, ArrayRef, AsArray, Int64Array, Int64Builder, ListArray, NullBufferBuilder, PrimitiveArray, StructArray,
};
use datafusion::arrow::buffer::OffsetBuffer;
use datafusion::arrow::datatypes::{
    ArrowTimestampType, DataType as ArrowType, Field as ArrowField, FieldRef, Fields, Int64Type, TimeUnit,
    TimestampMicrosecondType, TimestampNanosecondType,
};
use datafusion::common::{Column, DataFusionError, Result as DfResult, ScalarValue, UnnestOptions};
use datafusion::logical_expr::{
    ColumnarValue, Expr as DfExpr, LogicalPlanBuilder, ReturnFieldArgs, ScalarFunctionArgs, ScalarUDF, ScalarUDFImpl,
    Signature, Volatility,
};

use super::expr::references;
use super::plans::{filter_plan, last_column};
use super::{Lowered, Lowering, failed};
use crate::rel::{Field, Window};

impl Lowering<'_> {
    pub(super) fn windows(
        &mut self,
        input: Lowered,
        (time, time_type): (usize, &LogicalType),
        window: Window,
        (partition, watermark): (&[usize], Option<usize>),
        fields: &[Field],
    ) -> Result<Lowered> {
        let zone = match time_type {
            LogicalType::TimestampLtz(_) => Some(self.context.eval.time_zone),
            _ => None,
        };
        let time = input.columns.get(time).cloned().ok_or_else(|| Error::internal("no column of times"))?;
        let millis = udf(Millis { zone, signature: any() }).call(vec![DfExpr::Column(time)]);
        let row = vec![
            RowField::new("window_start", LogicalType::Timestamp(3).not_null()),
            RowField::new("window_end", LogicalType::Timestamp(3).not_null()),
            RowField::new("window_time", time_type.clone().not_null()),
        ];
        let parts =
            Fields::from(row.iter().map(|f| mapping::field(&f.name, &f.data_type)).collect::<Result<Vec<_>>>()?);
        let of = |args: Vec<DfExpr>| udf(Windows { window, zone, parts: parts.clone(), signature: any() }).call(args);

        let keys: Vec<_> = input.outer.keys().copied().collect();
        let width = input.columns.len();
        let carried = |columns: &[Column]| {
            columns.iter().map(|c| (DfExpr::Column(c.clone()), c.name.clone())).collect::<Vec<_>>()
        };
        let all: Vec<_> = input.columns.iter().chain(input.outer.values()).cloned().collect();
        let (mut plan, mut columns, value) = if let Window::Session { gap } = window {
            if input.depends() {
                return Err(Error::unsupported("sessions in a correlated subquery"));
            }
            let at = |i: usize| input.columns.get(i).cloned().ok_or_else(|| Error::internal("no column of a session"));
            let by = partition.iter().map(|i| at(*i)).collect::<Result<Vec<_>>>()?;
            let watermark = match watermark {
                Some(column) => udf(Millis { zone, signature: any() }).call(vec![DfExpr::Column(at(column)?)]),
                None => DfExpr::Literal(ScalarValue::Int64(None), None),
            };
            let mut exprs = carried(&all);
            exprs.extend(by.into_iter().map(|c| (DfExpr::Column(c), "key".to_owned())));
            exprs.push((millis, "millis".to_owned()));
            exprs.push((watermark, "watermark".to_owned()));
            let (plan, _) = self.project("t", input.plan, exprs)?;
            let operator = Session::new(plan.schema().inner().clone(), width, gap).map_err(failed)?;
            let plan = self.streaming("session", Arc::new(operator), vec![plan])?;
            let mut columns = plan.schema().columns();
            let bounds = columns.split_off(width).into_iter().map(DfExpr::Column).collect();
            (plan, columns, of(bounds))
        } else {
            let mut exprs = carried(&all);
            exprs.push((millis, "millis".to_owned()));
            let (plan, mut columns) = self.project("t", input.plan, exprs)?;
            let millis = columns.pop().map(DfExpr::Column).ok_or_else(|| Error::internal("no column of times"))?;
            // a row without time is in no window
            let plan = filter_plan(plan, Some(millis.clone().is_not_null()))?;
            (plan, columns, of(vec![millis]))
        };
        let mut exprs = carried(&columns);
        exprs.push((value, "window".to_owned()));
        (plan, columns) = self.project("w", plan, exprs)?;
        let mut value = columns.pop().ok_or_else(|| Error::internal("no column of windows"))?;
        if is_list(window) {
            let unnested = LogicalPlanBuilder::from(plan)
                .unnest_columns_with_options(vec![value], UnnestOptions::new().with_preserve_nulls(false))
                .and_then(LogicalPlanBuilder::build);
            plan = unnested.map_err(failed)?;
            // it has lost its qualifier
            value = last_column(&plan)?;
        }
        let outer = columns.split_off(width);
        let row = LogicalType::Row(row).not_null();
        let mut exprs = references(&columns);
        for part in 0..parts.len() {
            exprs.push(functions::field(DfExpr::Column(value.clone()), &row, part, &self.context.eval)?);
        }
        let outer = keys.into_iter().zip(outer).collect();
        self.project_fields("windows", Lowered { plan, columns: vec![], outer }, exprs, fields)
    }
}

fn any() -> Signature {
    Signature::user_defined(Volatility::Immutable)
}

fn udf(function: impl ScalarUDFImpl + 'static) -> ScalarUDF {
    ScalarUDF::new_from_impl(function)
}

/// Whether a row may fall into several windows.
fn is_list(window: Window) -> bool {
    matches!(window, Window::Hop { .. } | Window::Cumulate { .. })
}

/// The last start of a window of that length, at or before a time.
fn start(time: i64, offset: i64, length: i64) -> i64 {
    time.saturating_sub(time.saturating_sub(offset).checked_rem_euclid(length).unwrap_or(0))
}

/// The windows a time falls into, as Flink lists them.
fn each(window: Window, time: i64, mut add: impl FnMut(i64, i64)) {
    match window {
        Window::Tumble { size, offset } => {
            let start = start(time, offset, size);
            add(start, start.saturating_add(size));
        }
        Window::Hop { slide, size, offset } => {
            let mut from = start(time, offset, slide);
            for _ in 0..window.overlap() {
                if from <= time.saturating_sub(size) {
                    break;
                }
                add(from, from.saturating_add(size));
                from = from.saturating_sub(slide);
            }
        }
        Window::Cumulate { step, size, offset } => {
            let from = start(time, offset, size);
            let last = from.saturating_add(size);
            let mut end = start(time, offset, step).saturating_add(step);
            // times at the end of what a number holds would go round for ever
            for _ in 0..window.overlap() {
                if end > last {
                    break;
                }
                add(from, end);
                end = end.saturating_add(step);
            }
        }
        Window::Session { gap } => add(time, time.saturating_add(gap)),
    }
}

fn failure(what: impl std::fmt::Display) -> DataFusionError {
    DataFusionError::External(Box::new(Error::internal(what)))
}

/// The wall clock at an instant, and back, in milliseconds; of two instants the earlier one.
fn to_local(zone: Option<TimeZone>, millis: i64) -> i64 {
    zone.map_or(millis, |zone| moved(millis, |seconds| zone.to_local(seconds)))
}

fn to_utc(zone: Option<TimeZone>, millis: i64) -> i64 {
    zone.map_or(millis, |zone| moved(millis, |seconds| zone.to_utc(seconds)))
}

fn moved(millis: i64, seconds: impl Fn(i64) -> i64) -> i64 {
    seconds(millis.div_euclid(1000)).saturating_mul(1000).saturating_add(millis.rem_euclid(1000))
}

/// A time as milliseconds of the wall clock since 1970.
#[derive(Debug, PartialEq, Eq, Hash)]
struct Millis {
    zone: Option<TimeZone>,
    signature: Signature,
}

impl Millis {
    fn of(&self, times: &ArrayRef) -> DfResult<Int64Array> {
        fn floored<T: ArrowTimestampType>(times: &PrimitiveArray<T>, unit: i64, zone: Option<TimeZone>) -> Int64Array {
            times.unary(|t| to_local(zone, t.div_euclid(unit)))
        }
        match times.data_type() {
            ArrowType::Timestamp(TimeUnit::Microsecond, _) => {
                Ok(floored(times.as_primitive::<TimestampMicrosecondType>(), 1000, self.zone))
            }
            ArrowType::Timestamp(TimeUnit::Nanosecond, _) => {
                Ok(floored(times.as_primitive::<TimestampNanosecondType>(), 1_000_000, self.zone))
            }
            other => Err(failure(format!("a window of values of {other}"))),
        }
    }
}

impl ScalarUDFImpl for Millis {
    fn as_any(&self) -> &dyn Any {
        self
    }

    fn name(&self) -> &str {
        "WALL_MILLIS"
    }

    fn signature(&self) -> &Signature {
        &self.signature
    }

    fn coerce_types(&self, arg_types: &[ArrowType]) -> DfResult<Vec<ArrowType>> {
        Ok(arg_types.to_vec())
    }

    fn return_type(&self, _: &[ArrowType]) -> DfResult<ArrowType> {
        Ok(ArrowType::Int64)
    }

    fn return_field_from_args(&self, _: ReturnFieldArgs) -> DfResult<FieldRef> {
        Ok(Arc::new(ArrowField::new(self.name(), ArrowType::Int64, true)))
    }

    fn invoke_with_args(&self, args: ScalarFunctionArgs) -> DfResult<ColumnarValue> {
        let rows = args.number_rows;
        let Some(times) = args.args.into_iter().next() else { return Err(failure("a window without time")) };
        Ok(ColumnarValue::Array(Arc::new(self.of(&times.into_array(rows)?)?)))
    }
}

/// The windows of a time; a session of its bounds.
#[derive(Debug, PartialEq, Eq, Hash)]
struct Windows {
    window: Window,
    zone: Option<TimeZone>,
    parts: Fields,
    signature: Signature,
}

impl Windows {
    fn result(&self) -> ArrowType {
        let row = ArrowType::Struct(self.parts.clone());
        if is_list(self.window) { ArrowType::List(Arc::new(ArrowField::new("item", row, true))) } else { row }
    }

    /// Bounds as rows.
    fn rows(&self, starts: Int64Array, ends: Int64Array) -> DfResult<StructArray> {
        fn stamps<T: ArrowTimestampType>(millis: &Int64Array, unit: i64, zone: Option<Arc<str>>) -> ArrayRef {
            let units: Int64Array = millis.unary(|m| m.saturating_mul(unit));
            Arc::new(units.reinterpret_cast::<T>().with_timezone_opt(zone))
        }
        let column = |millis: &Int64Array, field: &FieldRef| match field.data_type() {
            ArrowType::Timestamp(TimeUnit::Nanosecond, zone) => {
                stamps::<TimestampNanosecondType>(millis, 1_000_000, zone.clone())
            }
            ArrowType::Timestamp(_, zone) => stamps::<TimestampMicrosecondType>(millis, 1000, zone.clone()),
            _ => Arc::new(millis.clone()),
        };
        let times: Int64Array = ends.unary(|end| to_utc(self.zone, end.saturating_sub(1)));
        let columns =
            [starts, ends, times].iter().zip(&self.parts).map(|(values, field)| column(values, field)).collect();
        Ok(StructArray::try_new(self.parts.clone(), columns, None)?)
    }

    fn of(&self, args: &[ArrayRef]) -> DfResult<ArrayRef> {
        let numbers = |i: usize| {
            args.get(i).and_then(|a| a.as_primitive_opt::<Int64Type>()).ok_or_else(|| failure("a window without time"))
        };
        let times = numbers(0)?;
        if matches!(self.window, Window::Session { .. }) {
            return Ok(Arc::new(self.rows(without_nulls(times), without_nulls(numbers(1)?))?));
        }
        let (mut starts, mut ends) = (Int64Builder::new(), Int64Builder::new());
        let mut lengths = Vec::with_capacity(times.len());
        let mut nulls = NullBufferBuilder::new(times.len());
        for row in 0..times.len() {
            let mut length = 0;
            // a filter below has taken the rows without time, but DataFusion may evaluate before it
            if times.is_valid(row) || !is_list(self.window) {
                each(self.window, if times.is_valid(row) { times.value(row) } else { 0 }, |start, end| {
                    starts.append_value(start);
                    ends.append_value(end);
                    length += 1;
                });
            }
            lengths.push(length);
            nulls.append(true);
        }
        let rows = self.rows(starts.finish(), ends.finish())?;
        if !is_list(self.window) {
            return Ok(Arc::new(rows));
        }
        let item = Arc::new(ArrowField::new("item", ArrowType::Struct(self.parts.clone()), true));
        Ok(Arc::new(ListArray::try_new(item, OffsetBuffer::from_lengths(lengths), Arc::new(rows), nulls.finish())?))
    }
}

fn without_nulls(values: &Int64Array) -> Int64Array {
    Int64Array::new(values.values().clone(), None)
}

impl ScalarUDFImpl for Windows {
    fn as_any(&self) -> &dyn Any {
        self
    }

    fn name(&self) -> &str {
        match self.window {
            Window::Tumble { .. } => "TUMBLE",
            Window::Hop { .. } => "HOP",
            Window::Cumulate { .. } => "CUMULATE",
            Window::Session { .. } => "SESSION",
        }
    }

    fn signature(&self) -> &Signature {
        &self.signature
    }

    fn coerce_types(&self, arg_types: &[ArrowType]) -> DfResult<Vec<ArrowType>> {
        Ok(arg_types.to_vec())
    }

    fn return_type(&self, _: &[ArrowType]) -> DfResult<ArrowType> {
        Ok(self.result())
    }

    fn return_field_from_args(&self, _: ReturnFieldArgs) -> DfResult<FieldRef> {
        Ok(Arc::new(ArrowField::new(self.name(), self.result(), false)))
    }

    fn invoke_with_args(&self, args: ScalarFunctionArgs) -> DfResult<ColumnarValue> {
        let rows = args.number_rows;
        let args = args.args.into_iter().map(|arg| arg.into_array(rows)).collect::<DfResult<Vec<_>>>()?;
        Ok(ColumnarValue::Array(self.of(&args)?))
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]
    use super::*;

    fn windows(window: Window, time: i64) -> Vec<(i64, i64)> {
        let mut all = vec![];
        each(window, time, |start, end| all.push((start, end)));
        all
    }

    #[test]
    fn tumbling_windows_begin_at_the_floor() {
        let tumble = |offset| Window::Tumble { size: 10, offset };
        assert_eq!(windows(tumble(0), 19), [(10, 20)]);
        assert_eq!(windows(tumble(0), -1), [(-10, 0)]);
        assert_eq!(windows(tumble(0), -10), [(-10, 0)]);
        assert_eq!(windows(tumble(3), 12), [(3, 13)]);
        assert_eq!(windows(tumble(-3), 12), [(7, 17)]);
    }

    #[test]
    fn hopping_windows_overlap() {
        let hop = Window::Hop { slide: 5, size: 10, offset: 0 };
        assert_eq!(windows(hop, 7), [(5, 15), (0, 10)]);
        assert_eq!(windows(hop, -1), [(-5, 5), (-10, 0)]);
        // a slide that does not divide the length, and one that is longer
        assert_eq!(windows(Window::Hop { slide: 4, size: 10, offset: 0 }, 9), [(8, 18), (4, 14), (0, 10)]);
        assert_eq!(windows(Window::Hop { slide: 10, size: 5, offset: 0 }, 7), []);
    }

    #[test]
    fn cumulating_windows_grow() {
        let cumulate = Window::Cumulate { step: 5, size: 15, offset: 0 };
        assert_eq!(windows(cumulate, 7), [(0, 10), (0, 15)]);
        assert_eq!(windows(cumulate, -1), [(-15, 0)]);
    }

    #[test]
    fn a_row_falls_into_no_more_windows_than_planned() {
        for (slide, size) in [(1, 1), (3, 10), (10, 10), (11, 10), (5, 100)] {
            let hop = Window::Hop { slide, size, offset: 0 };
            let most = (0..size * slide).map(|time| windows(hop, time).len()).max().unwrap();
            assert_eq!(most as i64, hop.overlap(), "{slide} {size}");
            let cumulate = Window::Cumulate { step: slide, size: slide * size, offset: 0 };
            assert_eq!(windows(cumulate, 0).len() as i64, cumulate.overlap(), "{slide} {size}");
        }
    }

    #[test]
    fn times_at_the_ends_of_what_a_number_holds() {
        for time in [i64::MIN, i64::MAX] {
            assert_eq!(windows(Window::Tumble { size: 1000, offset: 1 }, time).len(), 1);
            assert!(windows(Window::Hop { slide: 1, size: 100, offset: 0 }, time).len() <= 100);
            assert!(windows(Window::Cumulate { step: 1, size: 100, offset: 0 }, time).len() <= 100);
        }
    }
}
