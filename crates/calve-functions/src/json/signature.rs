//! What JSON functions take and give.

use calve_types::{DataType, Error, LogicalType, Value, rules};

use super::path::{Spec, Unusable};
use super::{JsonBuild, JsonRead};
use crate::function::{Arg, Inferred, Refusal, Signature};
use crate::operator::nullable_by;

fn types(args: &[Arg]) -> Vec<DataType> {
    args.iter().map(|a| a.data_type.clone()).collect()
}

fn symbol(arg: &Arg) -> Result<&str, Refusal> {
    match &arg.literal {
        Some(Value::Symbol(text)) => Ok(text),
        _ => Err(Refusal::Types),
    }
}

fn texts(args: &[Arg]) -> Result<(), Refusal> {
    let (Some(document), Some(path)) = (args.first(), args.get(1)) else { return Err(Refusal::Count("2 arguments")) };
    if !document.logical().is_character() || !path.logical().is_character() {
        return Err(Refusal::Types);
    }
    if let Some(Value::String(path)) = &path.literal
        && let Err(Unusable::Unsupported(error)) = Spec::parse(path).path
    {
        return Err(error.into());
    }
    Ok(())
}

/// The type after RETURNING, STRING without one; whether `allows` it.
fn returning(args: &[Arg], name: &str, allows: fn(&LogicalType) -> bool) -> Result<LogicalType, Refusal> {
    let Some(returning) = args.get(3) else { return Ok(LogicalType::STRING) };
    let logical = returning.logical().clone();
    if !allows(&logical) {
        return Err(Error::new("invalid-argument", format!("'{name}' cannot return {logical}"))
            .with_detail(format!("Unsupported type '{logical}' for RETURNING in {name}()."))
            .with_hint("return a STRING and cast it")
            .into());
    }
    Ok(logical)
}

/// `(text, path [, clauses, NULL of the type, default on empty, default on error])`
pub(super) fn infer_value(args: &[Arg]) -> Inferred {
    // The clauses are none of the types a message shows.
    texts(args.get(..2).unwrap_or(args))?;
    let returns = returning(args, "JSON_VALUE", |t| {
        matches!(t, LogicalType::Varchar(_) | LogicalType::Boolean | LogicalType::Int | LogicalType::Double)
    })?;
    let mut arg_types = types(args);
    for default in arg_types.iter_mut().skip(4) {
        let to = returns.clone().with_nullable(default.nullable);
        let fits = returns.is_character()
            || default.logical == LogicalType::Null
            || rules::supports_implicit_cast(default, &to);
        if !fits {
            return Err(Error::new(
                "invalid-argument",
                format!("a default of type {default} for JSON_VALUE of {returns}"),
            )
            .with_hint(format!("give it the type {returns}"))
            .into());
        }
        *default = to;
    }
    Ok(Signature { args: arg_types, returns: returns.nullable() })
}

/// `(text, path [, clauses, NULL of the type])`
pub(super) fn infer_query(args: &[Arg]) -> Inferred {
    texts(args)?;
    if let Some(LogicalType::Array(element)) = args.get(3).map(Arg::logical) {
        if !matches!(element.logical, LogicalType::Varchar(_)) {
            let detail = format!(
                "Unsupported array element type '{}' for RETURNING ARRAY in JSON_QUERY().",
                rules::sql_name(&element.logical)
            );
            return Err(Error::new("invalid-argument", format!("'JSON_QUERY' cannot return an array of {element}"))
                .with_detail(detail)
                .with_hint("return ARRAY<STRING>")
                .into());
        }
        if let Some(clauses) = args.get(2).map(symbol).transpose()?.and_then(JsonRead::parse) {
            for (behavior, when) in [(clauses.on_empty, "empty"), (clauses.on_error, "error")] {
                if behavior == "EMPTY OBJECT" {
                    let detail =
                        format!("Illegal on {when} behavior 'EMPTY OBJECT' for return type: VARCHAR(2147483647) ARRAY");
                    return Err(Error::new("invalid-argument", "an empty object is no array")
                        .with_detail(detail)
                        .into());
                }
            }
        }
    }
    let returns = returning(args, "JSON_QUERY", |t| matches!(t, LogicalType::Varchar(_) | LogicalType::Array(_)))?;
    Ok(Signature { args: types(args), returns: returns.nullable() })
}

/// `(text, path [, clauses])`; the path is a literal.
pub(super) fn infer_exists(args: &[Arg]) -> Inferred {
    texts(args)?;
    if args.get(1).is_some_and(|path| !matches!(path.literal, Some(Value::String(_)))) {
        return Err(Error::new("invalid-argument", "the path of 'JSON_EXISTS' is no literal")
            .with_detail("Unsupported call: JSON_EXISTS with a path that is no literal")
            .into());
    }
    Ok(Signature { args: types(args), returns: LogicalType::Boolean.nullable() })
}

/// `(text, kind)`; a NULL is no JSON.
pub(super) fn infer_is_json(args: &[Arg]) -> Inferred {
    let [text, kind] = args else { return Err(Refusal::Count("2 arguments")) };
    if !text.logical().is_character() {
        let kind = match &kind.literal {
            Some(Value::String(kind) | Value::Symbol(kind)) => kind.as_str(),
            _ => "VALUE",
        };
        let name = rules::sql_name(text.logical());
        let detail = format!(
            "Cannot apply 'IS JSON {kind}' to arguments of type '<{name}> IS JSON {kind}'. Supported form(s): \
             '<CHARACTER> IS JSON {kind}'"
        );
        return Err(Error::new("invalid-argument", format!("cannot apply 'IS JSON' to <{name}>"))
            .with_detail(detail)
            .into());
    }
    Ok(Signature { args: types(args), returns: LogicalType::Boolean.not_null() })
}

/// Whether JSON can show values of a type.
fn check_shown(logical: &LogicalType) -> Result<(), Refusal> {
    use LogicalType as T;
    match logical {
        T::Boolean
        | T::Char(_)
        | T::Varchar(_)
        | T::Binary(_)
        | T::Varbinary(_)
        | T::Timestamp(_)
        | T::TimestampLtz(_) => Ok(()),
        t if t.is_numeric() => Ok(()),
        T::Array(element) => check_shown(&element.logical),
        T::Row(fields) => fields.iter().try_for_each(|f| check_shown(&f.data_type.logical)),
        T::Map(key, value) if key.logical.is_character() => check_shown(&value.logical),
        T::Multiset(key) if key.logical.is_character() => Ok(()),
        T::Map(key, _) | T::Multiset(key) => {
            Err(Error::new("invalid-argument", format!("no JSON from a map of {key}"))
                .with_detail(format!(
                    "Type '{key}' is not supported for JSON conversion. The key type must be a character string."
                ))
                .into())
        }
        other => Err(Error::new("invalid-argument", format!("no JSON from {other}"))
            .with_detail(format!("Type '{other}' is not scalar or cannot be converted into JSON."))
            .with_hint("cast it to STRING")
            .into()),
    }
}

pub(super) fn infer_string(args: &[Arg]) -> Inferred {
    let [value] = args else { return Err(Refusal::Count("1 arguments")) };
    check_shown(value.logical())?;
    Ok(Signature { args: types(args), returns: nullable_by(args, LogicalType::STRING) })
}

/// `(clauses, key, value, key, value ...)`
pub(super) fn infer_object(args: &[Arg]) -> Inferred {
    let [clauses, pairs @ ..] = args else { return Err(Refusal::Types) };
    symbol(clauses)?;
    for pair in pairs.chunks(2) {
        let [key, value] = pair else { return Err(Refusal::Types) };
        if !key.logical().is_character() {
            return Err(Error::new("invalid-argument", "a key of 'JSON_OBJECT' is no text")
                .with_detail("Expected a character type")
                .into());
        }
        if key.data_type.nullable {
            return Err(Error::new("invalid-argument", "a key of 'JSON_OBJECT' may be NULL")
                .with_detail("Argument to function must not be NULL")
                .with_hint("give it a value for NULL: COALESCE(key, '')")
                .into());
        }
        check_shown(value.logical())?;
    }
    Ok(Signature { args: types(args), returns: LogicalType::STRING.not_null() })
}

/// `(clauses, value ...)`
pub(super) fn infer_array(args: &[Arg]) -> Inferred {
    let [clauses, values @ ..] = args else { return Err(Refusal::Types) };
    symbol(clauses)?;
    for value in values {
        check_shown(value.logical())?;
    }
    Ok(Signature { args: types(args), returns: LogicalType::STRING.not_null() })
}

pub(super) fn infer_text(args: &[Arg]) -> Inferred {
    let [text] = args else { return Err(Refusal::Count("1 arguments")) };
    if !text.logical().is_character() {
        return Err(Refusal::Types);
    }
    Ok(Signature { args: types(args), returns: nullable_by(args, LogicalType::STRING) })
}

/// JSON is a value of JSON_OBJECT and JSON_ARRAY alone, which ask for it with a symbol behind the text.
pub(super) fn infer_json(args: &[Arg]) -> Inferred {
    match args {
        [text, inside] if *inside.logical() == LogicalType::Symbol => {
            let signature = infer_text(std::slice::from_ref(text))?;
            Ok(Signature { args: types(args), ..signature })
        }
        [_] => Err(Error::new("invalid-argument", "'JSON' stands outside of JSON_OBJECT and JSON_ARRAY")
            .with_detail(
                "The JSON() function is currently only supported inside JSON_ARRAY() or as the VALUE param of JSON_OBJECT(). \
                 Example: JSON_OBJECT('a', JSON('{\"key\": \"value\"}')) or JSON_ARRAY(JSON('{\"key\": \"value\"}')).",
            )
            .into()),
        _ => Err(Refusal::Count("1 arguments")),
    }
}

/// What a call's clauses say.
pub(super) fn build_of(text: &str) -> JsonBuild {
    JsonBuild::parse(text).unwrap_or(JsonBuild { absent_on_null: false, raw: vec![] })
}
