//! How a scalar function is declared, found and called.

use std::any::Any;
use std::collections::HashMap;
use std::fmt;
use std::hash::{Hash, Hasher};
use std::sync::{Arc, LazyLock};

use arrow::array::{Array, ArrayRef};
use arrow::datatypes::{DataType as ArrowType, Field, FieldRef};
use calve_types::{DataType, Error, LogicalType, Result, Value, arrow as mapping, rules};
use datafusion_common::{Result as DfResult, ScalarValue};
use datafusion_expr::{
    ColumnarValue, Expr, ReturnFieldArgs, ScalarFunctionArgs, ScalarUDF, ScalarUDFImpl, Signature as DfSignature,
    Volatility,
};

use crate::args::{Args, failure};
use crate::retype::retype;
use crate::{EvalContext, collection, conditional, json, math, operator, random, string, temporal};

/// An argument as the binder sees it.
#[derive(Debug, Clone)]
pub struct Arg {
    /// Its type.
    pub data_type: DataType,
    /// Its value, if it is written as a literal.
    pub literal: Option<Value>,
}

impl Arg {
    /// An argument that is no literal.
    pub fn of(data_type: DataType) -> Self {
        Self { data_type, literal: None }
    }

    pub(crate) fn logical(&self) -> &LogicalType {
        &self.data_type.logical
    }
}

/// What a call takes and gives.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Signature {
    /// The types the arguments are cast to, one for each.
    pub args: Vec<DataType>,
    /// The type of the result.
    pub returns: DataType,
}

/// Why a call's arguments are refused.
pub(crate) enum Refusal {
    /// The types fit none of the function's forms.
    Types,
    /// Another number of arguments; the text says how many (`2 arguments`).
    Count(&'static str),
    /// Something else.
    Other(Error),
}

impl From<Error> for Refusal {
    fn from(error: Error) -> Self {
        Self::Other(error)
    }
}

pub(crate) type Inferred = std::result::Result<Signature, Refusal>;
pub(crate) type Kernel = fn(&Call, &Args) -> DfResult<ArrayRef>;

/// How a function is evaluated.
pub(crate) enum Eval {
    /// A DataFusion expression with the same results for every input.
    Native(fn(Vec<Expr>) -> Result<Expr>),
    /// A kernel over arrays.
    Kernel(Kernel),
    /// Depends on the arguments' types or constants.
    Choose(fn(&Call, Vec<Expr>) -> Result<Expr>),
}

/// How Calcite writes a call in messages.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Syntax {
    Function,
    Operator,
    Postfix,
}

/// Whether two calls with equal arguments give equal results.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Purity {
    /// Always.
    Pure,
    /// Never: RAND, UUID.
    Volatile,
}

/// A built-in function or operator of Flink.
pub struct ScalarFunction {
    /// Flink's name, upper case; an operator's symbol.
    pub name: &'static str,
    /// Other names.
    pub aliases: &'static [&'static str],
    syntax: Syntax,
    purity: Purity,
    /// Whether a bare NULL may be an argument (Flink: "Illegal use of 'NULL'").
    takes_null: bool,
    /// Whether the result may be NULL although its Flink type is NOT NULL (a DECIMAL that overflows).
    gives_null: bool,
    /// Flink's "Supported form(s)".
    forms: &'static [&'static str],
    infer: fn(&[Arg]) -> Inferred,
    eval: Eval,
}

impl ScalarFunction {
    pub(crate) const fn new(name: &'static str, infer: fn(&[Arg]) -> Inferred, eval: Eval) -> Self {
        Self {
            name,
            aliases: &[],
            syntax: Syntax::Function,
            purity: Purity::Pure,
            takes_null: false,
            gives_null: false,
            forms: &[],
            infer,
            eval,
        }
    }

    /// A function whose result is computed by a kernel.
    pub(crate) const fn kernel(name: &'static str, infer: fn(&[Arg]) -> Inferred, kernel: Kernel) -> Self {
        Self::new(name, infer, Eval::Kernel(kernel))
    }

    pub(crate) const fn aliases(mut self, aliases: &'static [&'static str]) -> Self {
        self.aliases = aliases;
        self
    }

    pub(crate) const fn syntax(mut self, syntax: Syntax) -> Self {
        self.syntax = syntax;
        self
    }

    pub(crate) const fn forms(mut self, forms: &'static [&'static str]) -> Self {
        self.forms = forms;
        self
    }

    pub(crate) const fn volatile(mut self) -> Self {
        self.purity = Purity::Volatile;
        self
    }

    pub(crate) const fn takes_null(mut self) -> Self {
        self.takes_null = true;
        self
    }

    pub(crate) const fn gives_null(mut self) -> Self {
        self.gives_null = true;
        self
    }

    /// Whether equal calls give equal results within a statement.
    pub fn is_deterministic(&self) -> bool {
        self.purity == Purity::Pure
    }

    /// What the call takes and gives, by Flink's rules.
    ///
    /// # Errors
    /// `invalid-argument` where Flink refuses the arguments, with Flink's sentence in the detail.
    pub fn infer(&self, args: &[Arg]) -> Result<Signature> {
        if !self.takes_null && args.iter().any(|a| a.data_type.logical == LogicalType::Null) {
            return Err(Error::new(
                "invalid-argument",
                format!("illegal use of NULL as an argument of '{}'", self.name),
            )
            .with_detail("Illegal use of 'NULL'")
            .with_hint("give it a type: CAST(NULL AS INT)"));
        }
        (self.infer)(args).map_err(|refusal| match refusal {
            Refusal::Types => cannot_apply(self.name, self.syntax, self.forms, args),
            Refusal::Count(expected) => wrong_count(self.name, expected, args),
            Refusal::Other(error) => error,
        })
    }

    /// The call as a DataFusion expression. The arguments already have the types [`ScalarFunction::infer`] asked for.
    ///
    /// # Errors
    /// `not-supported` for types without values in calve; `internal` if the arguments are not those of the signature.
    pub fn call(
        &'static self,
        args: Vec<Expr>,
        arg_types: &[DataType],
        returns: &DataType,
        context: &EvalContext,
    ) -> Result<Expr> {
        let call = Call {
            name: self.name.to_owned(),
            args: arg_types.to_vec(),
            returns: returns.clone(),
            context: *context,
            gives_null: self.gives_null,
            purity: self.purity,
        };
        match &self.eval {
            Eval::Native(build) => build(args),
            Eval::Kernel(kernel) => call.kernel(*kernel, args),
            Eval::Choose(choose) => choose(&call, args),
        }
    }
}

impl fmt::Debug for ScalarFunction {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "ScalarFunction({})", self.name)
    }
}

impl PartialEq for ScalarFunction {
    fn eq(&self, other: &Self) -> bool {
        self.name == other.name
    }
}

impl Eq for ScalarFunction {}

fn typed(args: &[Arg]) -> Vec<String> {
    args.iter().map(|a| format!("<{}>", rules::sql_name(a.logical()))).collect()
}

/// Calcite's "Cannot apply 'F' to arguments of type ...".
pub(crate) fn cannot_apply(name: &str, syntax: Syntax, forms: &[&str], args: &[Arg]) -> Error {
    let types = typed(args);
    let call = match (syntax, types.as_slice()) {
        (Syntax::Operator, [a]) => format!("{name}{a}"),
        (Syntax::Operator, [a, b]) => format!("{a} {name} {b}"),
        (Syntax::Postfix, [a]) => format!("{a} {name}"),
        (Syntax::Operator | Syntax::Postfix, _) => format!("{name}({})", types.join(", ")),
        (Syntax::Function, _) => format!("{name}({})", types.join(", ")),
    };
    let mut detail = format!("Cannot apply '{name}' to arguments of type '{call}'.");
    if !forms.is_empty() {
        let forms: Vec<_> = forms.iter().map(|form| format!("'{form}'")).collect();
        detail.push_str(&format!(" Supported form(s): {}", forms.join("\n")));
    }
    let shown: Vec<String> = types.iter().map(|t| t.replace("VARCHAR(2147483647)", "STRING")).collect();
    let error = Error::new("invalid-argument", format!("cannot apply '{name}' to {}", shown.join(", ")));
    let error = error.with_detail(detail);
    match way_out(name, forms, args) {
        Some(hint) => error.with_hint(hint),
        None => error,
    }
}

/// The CAST that makes a call right, if one does: to a string among strings, to a number in arithmetic.
fn way_out(name: &str, forms: &[&str], args: &[Arg]) -> Option<String> {
    let is_string = |a: &Arg| a.logical().is_character();
    if matches!(name, "+" | "-" | "*" | "/" | "%") {
        let number = args.iter().find(|a| a.logical().is_numeric())?;
        args.iter().any(is_string).then(|| format!("make the string a number: CAST(s AS {})", number.logical()))
    } else if name == "||" || forms.iter().any(|form| form.contains("<CHARACTER>")) {
        let other = |a: &Arg| !is_string(a) && *a.logical() != LogicalType::Null;
        args.iter().any(other).then(|| "make it a string: CAST(x AS STRING)".to_owned())
    } else {
        None
    }
}

pub(crate) fn wrong_count(name: &str, expected: &str, args: &[Arg]) -> Error {
    Error::new("invalid-argument", format!("wrong number of arguments of '{name}': {}", args.len()))
        .with_detail(format!("Invalid number of arguments to function '{name}'. Was expecting {expected}"))
}

/// A call of a function: what its kernel knows beside the arguments' values.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(crate) struct Call {
    /// What is called; with the types and the context it names the kernel.
    pub name: String,
    /// The arguments' types.
    pub args: Vec<DataType>,
    /// The result's type.
    pub returns: DataType,
    /// The session's part.
    pub context: EvalContext,
    /// See [`ScalarFunction`].
    pub gives_null: bool,
    purity: Purity,
}

impl Hash for Purity {
    fn hash<H: Hasher>(&self, state: &mut H) {
        (*self as u8).hash(state);
    }
}

impl Call {
    /// A pure call outside of the table (casts, constructors).
    pub fn new(name: impl Into<String>, args: Vec<DataType>, returns: DataType, context: &EvalContext) -> Self {
        Self { name: name.into(), args, returns, context: *context, gives_null: false, purity: Purity::Pure }
    }

    /// The logical type of an argument; NULL's if there is none.
    pub fn arg(&self, index: usize) -> &LogicalType {
        self.args.get(index).map_or(&LogicalType::Null, |t| &t.logical)
    }

    /// Casts of texts keep a -0.0.
    fn keeps_zero_sign(&self) -> bool {
        self.arg(0).is_character()
    }

    /// The call, evaluated by a kernel.
    pub fn kernel(&self, kernel: Kernel, args: Vec<Expr>) -> Result<Expr> {
        let returns = mapping::to_arrow(&self.returns.logical)?;
        let volatility = match self.purity {
            Purity::Pure => Volatility::Immutable,
            Purity::Volatile => Volatility::Volatile,
        };
        let udf = KernelUdf { call: self.clone(), kernel, returns, signature: DfSignature::user_defined(volatility) };
        Ok(ScalarUDF::new_from_impl(udf).call(args))
    }
}

/// The call behind an expression that a kernel evaluates, and its arguments.
pub(crate) fn call_of(expr: &Expr) -> Option<(&Call, &[Expr])> {
    let Expr::ScalarFunction(function) = expr else { return None };
    let udf = function.func.inner().as_any().downcast_ref::<KernelUdf>()?;
    Some((&udf.call, &function.args))
}

/// Flink keeps what it computes while it plans as decimal digits, which have no -0.0: -0.0 + 0.0 is 0.0.
fn without_zero_sign(value: ScalarValue) -> ScalarValue {
    match value {
        ScalarValue::Float32(Some(v)) => ScalarValue::Float32(Some(v + 0.0)),
        ScalarValue::Float64(Some(v)) => ScalarValue::Float64(Some(v + 0.0)),
        other => other,
    }
}

/// A kernel as a DataFusion function.
struct KernelUdf {
    call: Call,
    kernel: Kernel,
    returns: ArrowType,
    signature: DfSignature,
}

impl fmt::Debug for KernelUdf {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("KernelUdf").field("call", &self.call).finish_non_exhaustive()
    }
}

/// The name, the types and the context decide the kernel.
impl PartialEq for KernelUdf {
    fn eq(&self, other: &Self) -> bool {
        self.call == other.call
    }
}

impl Eq for KernelUdf {}

impl Hash for KernelUdf {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.call.hash(state);
    }
}

impl ScalarUDFImpl for KernelUdf {
    fn as_any(&self) -> &dyn Any {
        self
    }

    fn name(&self) -> &str {
        &self.call.name
    }

    fn signature(&self) -> &DfSignature {
        &self.signature
    }

    fn coerce_types(&self, arg_types: &[ArrowType]) -> DfResult<Vec<ArrowType>> {
        Ok(arg_types.to_vec())
    }

    fn return_type(&self, _: &[ArrowType]) -> DfResult<ArrowType> {
        Ok(self.returns.clone())
    }

    fn return_field_from_args(&self, _: ReturnFieldArgs) -> DfResult<FieldRef> {
        let nullable = self.call.returns.nullable || self.call.gives_null;
        Ok(Arc::new(Field::new(self.name(), self.returns.clone(), nullable)))
    }

    fn invoke_with_args(&self, args: ScalarFunctionArgs) -> DfResult<ColumnarValue> {
        let constant =
            self.call.purity == Purity::Pure && args.args.iter().all(|arg| matches!(arg, ColumnarValue::Scalar(_)));
        let rows = if constant { 1 } else { args.number_rows };
        let columns = args
            .args
            .into_iter()
            .map(|arg| match arg {
                ColumnarValue::Array(array) => Ok((array, false)),
                ColumnarValue::Scalar(value) => Ok((value.to_array_of_size(1)?, true)),
            })
            .collect::<DfResult<_>>()?;
        let result = retype((self.kernel)(&self.call, &Args::new(columns, rows))?, &self.returns)?;
        if result.len() != rows {
            return Err(failure(Error::internal(format!(
                "'{}' gave {} rows instead of {rows}",
                self.call.name,
                result.len()
            ))));
        }
        if constant {
            let value = ScalarValue::try_from_array(&result, 0)?;
            return Ok(ColumnarValue::Scalar(if self.call.keeps_zero_sign() {
                value
            } else {
                without_zero_sign(value)
            }));
        }
        Ok(ColumnarValue::Array(result))
    }
}

static BY_NAME: LazyLock<HashMap<&'static str, &'static ScalarFunction>> = LazyLock::new(|| {
    let mut map = HashMap::new();
    for function in all() {
        for name in [&function.name].into_iter().chain(function.aliases) {
            map.insert(*name, function);
        }
    }
    map
});

fn all() -> impl Iterator<Item = &'static ScalarFunction> {
    let others = [
        operator::TABLE,
        conditional::TABLE,
        math::TABLE,
        random::TABLE,
        temporal::TABLE,
        collection::TABLE,
        json::TABLE,
    ];
    others.into_iter().chain(string::tables()).flatten()
}

/// The function of a name, in any case, or the operator of a symbol (`=`, `IS NOT NULL`, `NOT LIKE`).
pub fn scalar(name: &str) -> Option<&'static ScalarFunction> {
    BY_NAME.get(name).or_else(|| BY_NAME.get(name.to_ascii_uppercase().as_str())).copied()
}

/// All names of functions (not of operators), for suggestions.
pub(crate) fn scalar_names() -> impl Iterator<Item = &'static str> {
    all().filter(|f| f.syntax == Syntax::Function).flat_map(|f| [&f.name].into_iter().chain(f.aliases).copied())
}
