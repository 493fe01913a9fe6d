//! Aggregate functions.

mod gather;
mod totals;

use std::collections::HashMap;
use std::fmt;
use std::sync::{Arc, LazyLock};

use calve_types::{DataType, Error, LogicalType, Result, arrow as mapping, rules};
use datafusion_expr::expr::{AggregateFunction as NativeAggregate, NullTreatment, Sort};
use datafusion_expr::{AggregateUDF, Expr, lit};
use datafusion_functions_aggregate::{count, first_last, min_max};

use crate::function::{Refusal, Syntax, cannot_apply, wrong_count};
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
        &["LISTAGG(<CHARACTER>)", "LISTAGG(<CHARACTER>, <CHARACTER>)"],
    ),
    function("COLLECT", Kind::Gather(gather::Gather::Multiset), &["COLLECT(<ANY>)"]),
    function("ARRAY_AGG", Kind::Gather(gather::Gather::Array), &["ARRAY_AGG(<ANY>)"]),
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
        let (Some(argument), true) = (args.first(), args.len() == 1 || self.kind == Kind::Gather(gather::Gather::Text))
        else {
            return Err(Refusal::Count("1 arguments"));
        };
        let logical = argument.logical();
        let nullable = argument.data_type.nullable;
        let returns = match self.kind {
            Kind::Count | Kind::ApproxCountDistinct => LogicalType::BigInt.not_null(),
            Kind::Min | Kind::Max => {
                if logical.is_constructed() {
                    return Err(Refusal::Types);
                }
                logical.clone().with_nullable(nullable || may_be_empty)
            }
            Kind::FirstValue | Kind::LastValue => logical.clone().with_nullable(nullable || may_be_empty),
            Kind::Total(total) => {
                let returns = match total {
                    totals::Total::Sum => rules::sum_type(logical),
                    _ => rules::avg_type(logical),
                };
                let is_sample = matches!(total, totals::Total::VarSamp | totals::Total::StddevSamp);
                returns.ok_or(Refusal::Types)?.with_nullable(nullable || may_be_empty || is_sample)
            }
            Kind::Gather(gather::Gather::Text) => {
                if args.len() > 2 || args.iter().any(|a| !a.logical().is_character()) {
                    return Err(Refusal::Types);
                }
                argument.data_type.clone()
            }
            Kind::Gather(gather::Gather::Multiset) => {
                LogicalType::Multiset(Box::new(argument.data_type.clone())).not_null()
            }
            Kind::Gather(gather::Gather::Array) => LogicalType::Array(Box::new(argument.data_type.clone())).not_null(),
        };
        Ok(Signature { args: types, returns })
    }

    /// The call as a DataFusion aggregate expression whose type is exactly that of `returns`.
    ///
    /// # Errors
    /// `not-supported` for types without values in calve and for the variance of DECIMALs.
    #[allow(clippy::too_many_arguments)]
    pub fn call(
        &'static self,
        args: Vec<Expr>,
        arg_types: &[DataType],
        returns: &DataType,
        distinct: bool,
        filter: Option<Expr>,
        order_by: Vec<Sort>,
        _context: &EvalContext,
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
            Kind::Gather(kind) => Arc::new(gather::udaf(self.name, kind, mapping::to_arrow(&returns.logical)?)),
        };
        let call = NativeAggregate::new_udf(udaf, args, distinct, filter.map(Box::new), order_by, nulls);
        Ok(Expr::AggregateFunction(call))
    }
}

static BY_NAME: LazyLock<HashMap<&'static str, &'static AggregateFunction>> = LazyLock::new(|| {
    TABLE.iter().flat_map(|f| [&f.name].into_iter().chain(f.aliases).map(move |name| (*name, f))).collect()
});

/// The aggregate function of a name, in any case.
pub fn aggregate(name: &str) -> Option<&'static AggregateFunction> {
    BY_NAME.get(name.to_ascii_uppercase().as_str()).copied()
}

/// All names of aggregate functions, for suggestions.
pub fn aggregate_names() -> impl Iterator<Item = &'static str> {
    TABLE.iter().flat_map(|f| [&f.name].into_iter().chain(f.aliases).copied())
}
