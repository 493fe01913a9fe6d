//! Which parts of a filter DataFusion may prune by.

use std::sync::Arc;

use arrow::datatypes::{DataType as ArrowType, Schema};
use datafusion::common::tree_node::{TreeNode, TreeNodeRecursion};
use datafusion::physical_expr::expressions::{CastColumnExpr, CastExpr, LikeExpr, Literal, TryCastExpr};
use datafusion::physical_expr::{PhysicalExpr, conjunction_opt, split_conjunction};

use super::convert::is_lossless;

/// The conjuncts of `filter` that are safe to prune by; `None` if there is none.
///
/// To prune, DataFusion moves casts from columns to literals. That is wrong where a cast rounds: all microseconds of a
/// millisecond equal that millisecond after a cast, but only one of them is the literal. It also misreads patterns with
/// escape characters. Such conjuncts are left to the filter above the scan.
pub(crate) fn prunable(filter: &Arc<dyn PhysicalExpr>, schema: &Schema) -> Option<Arc<dyn PhysicalExpr>> {
    conjunction_opt(split_conjunction(filter).into_iter().filter(|c| is_prunable(c, schema)).cloned())
}

/// DataFusion takes the prefix of a pattern with its escape characters.
fn has_escape(like: &LikeExpr) -> bool {
    let pattern = like.pattern().as_any().downcast_ref::<Literal>();
    pattern.and_then(|p| p.value().try_as_str()).flatten().is_none_or(|text| text.contains('\\'))
}

/// Whether an expression is safe to prune by.
pub(crate) fn is_prunable(expr: &Arc<dyn PhysicalExpr>, schema: &Schema) -> bool {
    let mut safe = true;
    let walked = expr.apply(|e| {
        let any = e.as_any();
        let to: Option<&ArrowType> = if let Some(cast) = any.downcast_ref::<CastExpr>() {
            Some(cast.cast_type())
        } else if let Some(cast) = any.downcast_ref::<TryCastExpr>() {
            Some(cast.cast_type())
        } else {
            safe &= !any.is::<CastColumnExpr>() && !any.downcast_ref::<LikeExpr>().is_some_and(has_escape);
            None
        };
        if let (Some(to), [inner]) = (to, e.children().as_slice()) {
            safe &= inner.data_type(schema).is_ok_and(|from| is_lossless(&from, to));
        }
        Ok(if safe { TreeNodeRecursion::Continue } else { TreeNodeRecursion::Stop })
    });
    safe && walked.is_ok()
}
