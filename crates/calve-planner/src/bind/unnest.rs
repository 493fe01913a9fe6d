//! UNNEST: a table of a collection's elements, beside the row that has the collection.

use calve_sql::ast;
use calve_types::{DataType, Error, LogicalType, Result, Value};

use super::from::Source;
use super::query::{one_row, rename};
use super::scope::{Env, Namespace, Scope, Table};
use super::select::filter;
use super::{Binder, expr};
use crate::expr::{Expr, ExprKind};
use crate::rel::{Field, JoinKind, Rel, RelKind};

impl Binder<'_> {
    /// `left JOIN UNNEST(..)`.
    pub(super) fn join_unnest(
        &self,
        left: Source,
        factor: &ast::TableFactor,
        kind: JoinKind,
        constraint: &ast::JoinConstraint,
        env: Env<'_>,
    ) -> Result<Source> {
        let place = match factor {
            ast::TableFactor::UNNEST { array_exprs, .. } => array_exprs.first().map(expr::span_of).unwrap_or_default(),
            _ => return Err(Error::internal("no UNNEST")),
        };
        let outer = match kind {
            JoinKind::Inner => false,
            JoinKind::Left => true,
            JoinKind::Right | JoinKind::Full => {
                return Err(Error::unsupported("a RIGHT or FULL join with UNNEST").at(place));
            }
        };
        let (rel, names) = self.unnest_factor(Some(left), factor, outer, env)?;
        let condition = match constraint {
            ast::JoinConstraint::None => return Ok((rel, names)),
            ast::JoinConstraint::On(on) => self.condition(on, &Scope::new(env, &names, "ON clause"), "ON clause")?,
            _ => return Err(Error::unsupported("USING and NATURAL with UNNEST").at(place)),
        };
        match condition.kind {
            ExprKind::Literal(Value::Boolean(true)) => Ok((rel, names)),
            _ if outer => Err(Error::unsupported("a LEFT JOIN with UNNEST on another condition than TRUE").at(place)),
            _ => Ok((filter(rel, condition), names)),
        }
    }

    /// `UNNEST(..) [WITH ORDINALITY] [AS t (..)]` beside the rows of `left`, or alone.
    pub(super) fn unnest_factor(
        &self,
        left: Option<Source>,
        factor: &ast::TableFactor,
        outer: bool,
        env: Env<'_>,
    ) -> Result<Source> {
        let ast::TableFactor::UNNEST { alias, array_exprs, with_offset, with_ordinality, .. } = factor else {
            return Err(Error::internal("no UNNEST"));
        };
        let [collection] = array_exprs.as_slice() else {
            let place = array_exprs.first().map(expr::span_of).unwrap_or_default();
            return Err(Error::unsupported("UNNEST of several collections").at(place));
        };
        if *with_offset {
            return Err(Error::unsupported("WITH OFFSET").at(expr::span_of(collection)));
        }
        let alone = left.is_none();
        let (input, mut names) = left.unwrap_or_else(|| (one_row(), Namespace::default()));
        let collection = self.value(collection, &Scope::new(env, &names, "UNNEST"))?;
        let mut elements = element_fields(&collection, outer)?;
        if *with_ordinality {
            let data_type = LogicalType::Int.with_nullable(outer);
            elements.push(Field { name: "ORDINALITY".to_owned(), data_type });
        }
        let first = names.fields.len();
        let width = input.fields.len();
        let mut fields = input.fields.clone();
        fields.extend(elements.iter().cloned());
        let kind = RelKind::Unnest {
            input: Box::new(input),
            collection: Box::new(collection),
            outer,
            ordinality: *with_ordinality,
        };
        let mut rel = Rel { kind, fields };
        if alone {
            let exprs = elements.iter().enumerate().map(|(i, field)| Expr {
                kind: ExprKind::Column(width + i),
                data_type: field.data_type.clone(),
                span: Default::default(),
            });
            let kind = RelKind::Project { exprs: exprs.collect(), input: Box::new(rel) };
            rel = Rel { kind, fields: elements.clone() };
        }
        let name = match alias {
            None => None,
            Some(alias) => {
                rename(&mut elements, &alias.columns)?;
                // An alias names the only column too.
                if let ([column], [], false) = (elements.as_mut_slice(), alias.columns.as_slice(), *with_ordinality)
                    && column.name == ELEMENT
                {
                    column.name.clone_from(&alias.name.value);
                }
                Some(alias.name.value.clone())
            }
        };
        names.fields.extend(elements);
        names.tables.push(Table { name, path: None, columns: first..names.fields.len(), base: false });
        Ok((rel, names))
    }
}

/// The name of the column of an element that is no ROW.
const ELEMENT: &str = "EXPR$0";

/// The columns of an element.
fn element_fields(collection: &Expr, outer: bool) -> Result<Vec<Field>> {
    let field = |name: &str, data_type: &DataType, nullable: bool| Field {
        name: name.to_owned(),
        data_type: data_type.with_nullable(data_type.nullable || nullable),
    };
    Ok(match &collection.data_type.logical {
        LogicalType::Map(key, value) => vec![field("KEY", key, outer), field("VALUE", value, outer)],
        LogicalType::Array(element) | LogicalType::Multiset(element) => match &element.logical {
            LogicalType::Row(fields) => {
                fields.iter().map(|f| field(&f.name, &f.data_type, outer || element.nullable)).collect()
            }
            _ => vec![field(ELEMENT, element, outer)],
        },
        other => {
            return Err(Error::new("type-mismatch", format!("UNNEST takes an ARRAY, MAP or MULTISET, not {other}"))
                .with_detail(format!(
                    "Cannot apply 'UNNEST' to arguments of type 'UNNEST(<{}>)'. Supported form(s): 'UNNEST(<MULTISET>)'\n'UNNEST(<ARRAY>)'\n'UNNEST(<MAP>)'",
                    calve_types::rules::sql_name(other)
                ))
                .at(collection.span));
        }
    })
}
