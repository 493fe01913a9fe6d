//! Operators as nodes of logical plans.

use std::any::Any;
use std::cmp::Ordering;
use std::collections::HashSet;
use std::fmt;
use std::hash::Hasher;
use std::sync::Arc;

use datafusion::common::{DFSchema, DFSchemaRef, Result, TableReference};
use datafusion::logical_expr::{Expr, Extension, InvariantLevel, LogicalPlan, UserDefinedLogicalNode};

use crate::operator::{Operator, internal};

/// An operator over its inputs.
#[derive(Clone)]
pub struct Node {
    operator: Arc<dyn Operator>,
    inputs: Vec<LogicalPlan>,
    schema: DFSchemaRef,
}

/// The plan of an operator over its inputs; its columns have that qualifier.
///
/// # Errors
/// Columns of the operator's schema that have one name.
pub fn plan(operator: Arc<dyn Operator>, inputs: Vec<LogicalPlan>, qualifier: TableReference) -> Result<LogicalPlan> {
    let schema = Arc::new(DFSchema::try_from_qualified_schema(qualifier, &operator.schema())?);
    Ok(LogicalPlan::Extension(Extension { node: Arc::new(Node { operator, inputs, schema }) }))
}

impl Node {
    /// What it does.
    pub fn operator(&self) -> &Arc<dyn Operator> {
        &self.operator
    }
}

impl fmt::Debug for Node {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.fmt_for_explain(f)
    }
}

/// Two nodes are one if they share the operator and read the same.
impl UserDefinedLogicalNode for Node {
    fn as_any(&self) -> &dyn Any {
        self
    }

    fn name(&self) -> &str {
        self.operator.name()
    }

    fn inputs(&self) -> Vec<&LogicalPlan> {
        self.inputs.iter().collect()
    }

    fn schema(&self) -> &DFSchemaRef {
        &self.schema
    }

    fn check_invariants(&self, _: InvariantLevel) -> Result<()> {
        Ok(())
    }

    fn expressions(&self) -> Vec<Expr> {
        vec![]
    }

    fn prevent_predicate_push_down_columns(&self) -> HashSet<String> {
        self.schema.fields().iter().map(|f| f.name().clone()).collect()
    }

    fn fmt_for_explain(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}({})", self.operator.name(), self.operator.describe())
    }

    fn with_exprs_and_inputs(
        &self,
        exprs: Vec<Expr>,
        inputs: Vec<LogicalPlan>,
    ) -> Result<Arc<dyn UserDefinedLogicalNode>> {
        if !exprs.is_empty() || inputs.len() != self.inputs.len() {
            return Err(internal("a streaming operator with other inputs"));
        }
        Ok(Arc::new(Self { inputs, ..self.clone() }))
    }

    fn dyn_hash(&self, mut state: &mut dyn Hasher) {
        state.write_usize(self.address());
        for input in &self.inputs {
            std::hash::Hash::hash(input, &mut state);
        }
    }

    fn dyn_eq(&self, other: &dyn UserDefinedLogicalNode) -> bool {
        other.as_any().downcast_ref::<Self>().is_some_and(|o| self.address() == o.address() && self.inputs == o.inputs)
    }

    fn dyn_ord(&self, other: &dyn UserDefinedLogicalNode) -> Option<Ordering> {
        self.dyn_eq(other).then_some(Ordering::Equal)
    }
}

impl Node {
    fn address(&self) -> usize {
        Arc::as_ptr(&self.operator).cast::<()>() as usize
    }
}
