//! Aggregate functions.

mod gather;
mod number;
mod percentile;
#[cfg(test)]
mod tests;
mod totals;
mod values;

use std::collections::HashMap;
use std::fmt;
use std::sync::{Arc, LazyLock};

use arrow::array::ArrayRef;
use calve_types::{DataType, Error, LogicalType, Result, Value, arrow as mapping, rules};
use datafusion_common::Result as DfResult;
use datafusion_expr::expr::{AggregateFunction as NativeAggregate, NullTreatment, Sort};
use datafusion_expr::{AggregateUDF, Expr, lit};
use datafusion_functions_aggregate::{count, first_last, min_max};

use crate::args::{Args, failure};
use crate::function::{Call, Refusal, Syntax, cannot_apply, wrong_count};
use crate::json::push_quoted;
use crate::string::build;
use crate::{Arg, EvalContext, Signature};

/// A built-in aggregate function of Flink.
pub struct AggregateFunction {
    /// Flink's name, upper case.
    pub name: &'static str,
    aliases: &'static [&'static str],
    /// Flink's "Supported form(s)".
    forms: &'static [&'static str],
    kind: Kind,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
enum Kind {
    Count,
    ApproxCountDistinct,
    Min,
    Max,
    FirstValue,
    LastValue,
    Total(totals::Total),
    Gather(gather::Gather),
    /// JSON_ARRAYAGG; whether a NULL is written.
    JsonArray {
        keeps_nulls: bool,
    },
    /// JSON_OBJECTAGG; whether a NULL value is written.
    JsonObject {
        keeps_nulls: bool,
    },
    Percentile,
}

const fn function(name: &'static str, kind: Kind, forms: &'static [&'static str]) -> AggregateFunction {
    AggregateFunction { name, aliases: &[], forms, kind }
}

static TABLE: &[AggregateFunction] = &[
    function("COUNT", Kind::Count, &["COUNT(<ANY>)"]),
    function("APPROX_COUNT_DISTINCT", Kind::ApproxCountDistinct, &["APPROX_COUNT_DISTINCT(<ANY>)"]),
    function("SUM", Kind::Total(totals::Total::Sum), &["SUM(<NUMERIC>)"]),
    function("AVG", Kind::Total(totals::Total::Avg), &["AVG(<NUMERIC>)"]),
    function("MIN", Kind::Min, &["MIN(<COMPARABLE_TYPE>)"]),
    function("MAX", Kind::Max, &["MAX(<COMPARABLE_TYPE>)"]),
    function("FIRST_VALUE", Kind::FirstValue, &["FIRST_VALUE(<ANY>)"]),
    function("LAST_VALUE", Kind::LastValue, &["LAST_VALUE(<ANY>)"]),
    function("VAR_POP", Kind::Total(totals::Total::VarPop), &["VAR_POP(<NUMERIC>)"]),
    AggregateFunction {
        name: "VAR_SAMP",
        aliases: &["VARIANCE"],
        forms: &["VAR_SAMP(<NUMERIC>)"],
        kind: Kind::Total(totals::Total::VarSamp),
    },
    function("STDDEV_POP", Kind::Total(totals::Total::StddevPop), &["STDDEV_POP(<NUMERIC>)"]),
    AggregateFunction {
        name: "STDDEV_SAMP",
        aliases: &["STDDEV"],
        forms: &["STDDEV_SAMP(<NUMERIC>)"],
        kind: Kind::Total(totals::Total::StddevSamp),
    },
    function(
        "LISTAGG",
        Kind::Gather(gather::Gather::Text),
        &["LISTAGG(<CHARACTER>)", "LISTAGG(<CHARACTER>, <CHARACTER_LITERAL>)"],
    ),
    function("COLLECT", Kind::Gather(gather::Gather::Multiset), &["COLLECT(<ANY>)"]),
    function("ARRAY_AGG", Kind::Gather(gather::Gather::Array), &["ARRAY_AGG(<ANY>)"]),
    function("SINGLE_VALUE", Kind::Gather(gather::Gather::Single), &["SINGLE_VALUE(<ANY>)"]),
    function("PERCENTILE", Kind::Percentile, &[]),
    // Their values are JSON texts already.
    AggregateFunction {
        name: "JSON_OBJECTAGG_NULL_ON_NULL",
        aliases: &["JSON_OBJECTAGG"],
        forms: &["JSON_OBJECTAGG_NULL_ON_NULL(<CHARACTER>, <ANY>)"],
        kind: Kind::JsonObject { keeps_nulls: true },
    },
    function(
        "JSON_OBJECTAGG_ABSENT_ON_NULL",
        Kind::JsonObject { keeps_nulls: false },
        &["JSON_OBJECTAGG_ABSENT_ON_NULL(<CHARACTER>, <ANY>)"],
    ),
    function(
        "JSON_ARRAYAGG_NULL_ON_NULL",
        Kind::JsonArray { keeps_nulls: true },
        &["JSON_ARRAYAGG_NULL_ON_NULL(<ANY>)"],
    ),
    AggregateFunction {
        name: "JSON_ARRAYAGG_ABSENT_ON_NULL",
        aliases: &["JSON_ARRAYAGG"],
        forms: &["JSON_ARRAYAGG_ABSENT_ON_NULL(<ANY>)"],
        kind: Kind::JsonArray { keeps_nulls: false },
    },
];

impl fmt::Debug for AggregateFunction {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "AggregateFunction({})", self.name)
    }
}

impl PartialEq for AggregateFunction {
    fn eq(&self, other: &Self) -> bool {
        self.name == other.name
    }
}

impl Eq for AggregateFunction {}

impl AggregateFunction {
    /// What the call takes and gives, by Flink's rules. Without arguments it is `COUNT(*)`.
    ///
    /// `may_be_empty`: a group may have no rows, because there is no GROUP BY or the call has a FILTER. Flink makes the
    /// result of SUM, MIN and the like nullable then.
    ///
    /// # Errors
    /// `invalid-argument` where Flink refuses the arguments, with Flink's sentence in the detail.
    pub fn infer(&self, args: &[Arg], distinct: bool, may_be_empty: bool) -> Result<Signature> {
        if args.iter().any(|a| a.data_type.logical == LogicalType::Null) {
            return Err(Error::new(
                "invalid-argument",
                format!("illegal use of NULL as an argument of '{}'", self.name),
            )
            .with_detail("Illegal use of 'NULL'")
            .with_hint("give it a type: CAST(NULL AS INT)"));
        }
        self.signature(args, distinct, may_be_empty).map_err(|refusal| match refusal {
            Refusal::Types => cannot_apply(self.name, Syntax::Function, self.forms, args),
            Refusal::Count(expected) => wrong_count(self.name, expected, args),
            Refusal::Other(error) => error,
        })
    }

    fn signature(&self, args: &[Arg], distinct: bool, may_be_empty: bool) -> std::result::Result<Signature, Refusal> {
        let types: Vec<DataType> = args.iter().map(|a| a.data_type.clone()).collect();
        if self.kind == Kind::Count {
            if distinct && args.len() > 1 {
                return Err(Error::unsupported("COUNT(DISTINCT ..) of several values")
                    .with_detail("We now only support the count of one field.")
                    .into());
            }
            return Ok(Signature { args: types, returns: LogicalType::BigInt.not_null() });
        }
        let takes = match self.kind {
            Kind::Gather(gather::Gather::Text) => 1..=2,
            Kind::JsonObject { .. } => 2..=2,
            Kind::Percentile => 2..=3,
            _ => 1..=1,
        };
        let (Some(argument), true) = (args.first(), takes.contains(&args.len())) else {
            return Err(Refusal::Count(if *takes.start() == 1 { "1 arguments" } else { "2 arguments" }));
        };
        let logical = argument.logical();
        let nullable = argument.data_type.nullable;
        let returns = match self.kind {
            Kind::ApproxCountDistinct => {
                if !logical.is_numeric() && !logical.is_character() && !logical.is_datetime() {
                    return Err(self.unsupported_type(logical).into());
                }
                LogicalType::BigInt.not_null()
            }
            Kind::Count => LogicalType::BigInt.not_null(),
            Kind::Min | Kind::Max => {
                if logical.is_constructed() {
                    return Err(Refusal::Types);
                }
                if logical.is_binary() || logical.is_interval() || *logical == LogicalType::Variant {
                    return Err(self.unsupported_type(logical).into());
                }
                logical.clone().with_nullable(nullable || may_be_empty)
            }
            Kind::FirstValue | Kind::LastValue => {
                if !logical.is_numeric() && !matches!(logical, LogicalType::Varchar(_) | LogicalType::Boolean) {
                    return Err(self.unsupported_type(logical).into());
                }
                logical.clone().with_nullable(nullable || may_be_empty)
            }
            Kind::Total(total) => {
                let returns = match total {
                    totals::Total::Sum => rules::sum_type(logical),
                    _ => rules::avg_type(logical),
                };
                let is_sample = matches!(total, totals::Total::VarSamp | totals::Total::StddevSamp);
                returns.ok_or(Refusal::Types)?.with_nullable(nullable || may_be_empty || is_sample)
            }
            Kind::Gather(gather::Gather::Text) => {
                if args.iter().any(|a| !a.logical().is_character()) {
                    return Err(Refusal::Types);
                }
                if args.get(1).is_some_and(|separator| separator.literal.is_none()) {
                    return Err(Error::new("invalid-argument", "the separator of 'LISTAGG' is no literal")
                        .with_detail("Argument to function 'LISTAGG' must be a literal")
                        .into());
                }
                argument.data_type.clone()
            }
            Kind::JsonArray { .. }
            | Kind::JsonObject { .. }
            | Kind::Gather(gather::Gather::JsonArray | gather::Gather::JsonObject) => {
                if args.iter().any(|a| !a.logical().is_character()) {
                    return Err(Refusal::Types);
                }
                LogicalType::Varchar(JSON_LENGTH).not_null()
            }
            Kind::Percentile => return percentile_signature(args),
            Kind::Gather(gather::Gather::Single) => logical.clone().nullable(),
            Kind::Gather(gather::Gather::Multiset) => {
                LogicalType::Multiset(Box::new(argument.data_type.clone())).not_null()
            }
            Kind::Gather(gather::Gather::Array) => {
                LogicalType::Array(Box::new(argument.data_type.clone())).with_nullable(nullable)
            }
        };
        Ok(Signature { args: types, returns })
    }

    fn unsupported_type(&self, logical: &LogicalType) -> Error {
        let root = rules::root_name(logical);
        Error::new("invalid-argument", format!("'{}' does not take values of type {logical}", self.name)).with_detail(
            format!(
                "{} aggregate function does not support type: ''{root}''.\nPlease re-check the data type.",
                match self.kind {
                    Kind::Min => "Min",
                    Kind::Max => "Max",
                    _ => self.name,
                }
            ),
        )
    }

    /// The call as a DataFusion aggregate expression whose type is exactly that of `returns`.
    ///
    /// # Errors
    /// `not-supported` for types without values in calve.
    #[allow(clippy::too_many_arguments)]
    pub fn call(
        &'static self,
        args: Vec<Expr>,
        arg_types: &[DataType],
        returns: &DataType,
        distinct: bool,
        filter: Option<Expr>,
        order_by: Vec<Sort>,
        context: &EvalContext,
    ) -> Result<Expr> {
        let mut args = args;
        let mut distinct = distinct;
        let mut nulls = None;
        let udaf: Arc<AggregateUDF> = match self.kind {
            Kind::Count => {
                if args.is_empty() {
                    args.push(lit(1i64));
                }
                count::count_udaf()
            }
            Kind::ApproxCountDistinct => {
                distinct = true;
                count::count_udaf()
            }
            // The same with and without duplicates.
            Kind::Min => {
                distinct = false;
                min_max::min_udaf()
            }
            Kind::Max => {
                distinct = false;
                min_max::max_udaf()
            }
            Kind::FirstValue | Kind::LastValue => {
                distinct = false;
                nulls = Some(NullTreatment::IgnoreNulls);
                if self.kind == Kind::FirstValue {
                    first_last::first_value_udaf()
                } else {
                    first_last::last_value_udaf()
                }
            }
            Kind::Total(total) => {
                let argument = arg_types.first().ok_or_else(|| Error::internal("an aggregate without an argument"))?;
                Arc::new(totals::udaf(self.name, total, &argument.logical, &returns.logical)?)
            }
            Kind::JsonArray { keeps_nulls } => {
                if keeps_nulls {
                    let call = Call::new("JSON element", arg_types.to_vec(), LogicalType::STRING.not_null(), context);
                    args = vec![call.kernel(json_element, args)?];
                }
                Arc::new(gather::udaf(self.name, gather::Gather::JsonArray, mapping::to_arrow(&returns.logical)?))
            }
            Kind::JsonObject { keeps_nulls } => {
                let returned = LogicalType::STRING.with_nullable(!keeps_nulls);
                let name = if keeps_nulls { "JSON member" } else { "JSON member that is not NULL" };
                let call = Call::new(name, arg_types.to_vec(), returned, context);
                args = vec![call.kernel(json_member, args)?];
                Arc::new(gather::udaf(self.name, gather::Gather::JsonObject, mapping::to_arrow(&returns.logical)?))
            }
            Kind::Percentile => Arc::new(percentile::udaf(mapping::to_arrow(&returns.logical)?)),
            Kind::Gather(kind) => Arc::new(gather::udaf(self.name, kind, mapping::to_arrow(&returns.logical)?)),
        };
        let call = NativeAggregate::new_udf(udaf, args, distinct, filter.map(Box::new), order_by, nulls);
        Ok(Expr::AggregateFunction(call))
    }
}

/// The length of what JSON_OBJECTAGG and JSON_ARRAYAGG are said to give in Flink, which cuts nothing.
const JSON_LENGTH: u32 = 2000;

/// `(number, share or shares from 0 to 1 [, how often it counts])`
fn percentile_signature(args: &[Arg]) -> std::result::Result<Signature, Refusal> {
    let [value, share, count @ ..] = args else { return Err(Refusal::Count("2 arguments")) };
    let invalid =
        |text: &str| -> Refusal { Error::new("invalid-argument", text).with_detail("Invalid input arguments.").into() };
    let double = |nullable| LogicalType::Double.with_nullable(nullable);
    if !value.logical().is_numeric() || count.iter().any(|c| !c.logical().is_integer()) {
        return Err(invalid("'PERCENTILE' takes numbers, shares from 0 to 1 and perhaps integers that count"));
    }
    let mut types = vec![double(value.data_type.nullable)];
    let returns = match share.logical() {
        LogicalType::Array(element) if element.logical.is_numeric() => {
            let shares = LogicalType::Array(Box::new(double(element.nullable)));
            types.push(shares.with_nullable(share.data_type.nullable));
            LogicalType::Array(Box::new(double(true)))
        }
        t if t.is_numeric() => {
            let is_share = match (&share.literal, t) {
                (Some(Value::Int(v)), _) => (0..=1).contains(v),
                (Some(Value::Decimal(v)), LogicalType::Decimal { scale, .. }) => {
                    (0.0..=1.0).contains(&crate::decimal::to_double(*v, *scale))
                }
                (Some(Value::Double(v)), _) => (0.0..=1.0).contains(v),
                _ => true,
            };
            if !is_share {
                return Err(invalid("the share of 'PERCENTILE' is not from 0 to 1"));
            }
            types.push(double(share.data_type.nullable));
            LogicalType::Double
        }
        _ => return Err(invalid("the share of 'PERCENTILE' is neither a number nor an array of numbers")),
    };
    types.extend(count.iter().map(|c| LogicalType::BigInt.with_nullable(c.data_type.nullable)));
    Ok(Signature { args: types, returns: returns.nullable() })
}

/// A JSON text, `null` for NULL.
fn json_element(_: &Call, args: &Args) -> DfResult<ArrayRef> {
    let texts = args.texts(0)?;
    build(args, |row, out| {
        out.push_str(texts.get(row).unwrap_or("null"));
        Some(())
    })
}

/// `"key":value`; NULL for a value that is NULL, if such are left out.
fn json_member(call: &Call, args: &Args) -> DfResult<ArrayRef> {
    let (keys, values) = (args.texts(0)?, args.texts(1)?);
    if (0..args.rows).any(|row| keys.get(row).is_none()) {
        return Err(failure(Error::new("null-key", "a key of JSON_OBJECTAGG is NULL")));
    }
    build(args, |row, out| {
        let value = match values.get(row) {
            Some(value) => value,
            None if call.returns.nullable => return None,
            None => "null",
        };
        push_quoted(keys.get(row)?, out);
        out.push(':');
        out.push_str(value);
        Some(())
    })
}

static BY_NAME: LazyLock<HashMap<&'static str, &'static AggregateFunction>> = LazyLock::new(|| {
    TABLE.iter().flat_map(|f| [&f.name].into_iter().chain(f.aliases).map(move |name| (*name, f))).collect()
});

/// The aggregate function of a name, in any case.
pub fn aggregate(name: &str) -> Option<&'static AggregateFunction> {
    BY_NAME.get(name.to_ascii_uppercase().as_str()).copied()
}

/// All names of aggregate functions, for suggestions.
pub(crate) fn aggregate_names() -> impl Iterator<Item = &'static str> {
    TABLE.iter().flat_map(|f| [&f.name].into_iter().chain(f.aliases).copied())
}
