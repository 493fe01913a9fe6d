//! Changes of a table's schema, by the rules and with the words of the Java library's `SchemaUpdate` and of Flink's
//! connector (`FlinkAlterTableUtil`).

use std::collections::HashSet;
use std::sync::Arc;

use calve_types::{DataType, Error, Result};
use iceberg::spec::{NestedField, NestedFieldRef, PrimitiveType, Schema, Type};

use crate::error::Context;
use crate::schema::{Ids, check_depth, check_identifier, iceberg_type, promoted};

/// The way out of a change of a type that is none of these.
const PROMOTIONS: &str = "Iceberg promotes INT to BIGINT, FLOAT to DOUBLE, and a DECIMAL to more digits";

/// One change of a table's columns.
#[derive(Clone, Debug, PartialEq)]
pub enum SchemaChange {
    /// A new column, with ids that no column ever had.
    Add {
        /// Its name.
        name: String,
        /// Its type.
        data_type: DataType,
        /// `COMMENT`.
        comment: Option<String>,
        /// Where it stands; at the end without.
        place: Option<ColumnPlace>,
    },
    /// Another type of a column, nullability included: what Iceberg can promote without rewriting files.
    Retype {
        /// The column.
        name: String,
        /// Its new type.
        data_type: DataType,
    },
    /// Another comment of a column.
    Comment {
        /// The column.
        name: String,
        /// Its new comment.
        comment: Option<String>,
    },
    /// Another place of a column.
    Move {
        /// The column.
        name: String,
        /// Its new place.
        place: ColumnPlace,
    },
    /// Another name of a column, which keeps its id.
    Rename {
        /// The column.
        from: String,
        /// Its new name.
        to: String,
    },
    /// No such column any more.
    Drop(String),
    /// Other identifier fields.
    PrimaryKey(Vec<String>),
}

/// Where a column comes to stand.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ColumnPlace {
    /// Before all others.
    First,
    /// Behind another one.
    After(String),
}

/// The schema after some changes. Ids are given from `last_id` on, the highest one that the table ever used.
///
/// # Errors
/// `invalid-alter` for what Iceberg refuses, with the Java library's sentence as detail; `not-supported` for a type it
/// has no counterpart of, and for one too deeply nested.
pub(crate) fn evolve(schema: &Schema, last_id: i32, changes: &[SchemaChange]) -> Result<Schema> {
    let mut evolution = Evolution {
        fields: schema.as_struct().fields().to_vec(),
        key: schema.identifier_field_ids().collect(),
        ids: Ids(last_id),
    };
    for change in changes {
        evolution.apply(change)?;
    }
    for field in evolution.fields.iter().filter(|f| evolution.key.contains(&f.id)) {
        check_identifier(field)?;
    }
    check_depth(&evolution.fields)?;
    Schema::builder()
        .with_fields(evolution.fields)
        .with_identifier_field_ids(evolution.key)
        .build()
        .context(|| "change the table's schema")
}

struct Evolution {
    fields: Vec<NestedFieldRef>,
    /// The identifier fields.
    key: HashSet<i32>,
    ids: Ids,
}

impl Evolution {
    fn apply(&mut self, change: &SchemaChange) -> Result<()> {
        match change {
            SchemaChange::Add { name, data_type, comment, place } => {
                self.add(name, data_type, comment.as_ref(), place.as_ref())
            }
            SchemaChange::Retype { name, data_type } => self.retype(name, data_type),
            SchemaChange::Comment { name, comment } => {
                self.change(name, |field| field.doc.clone_from(comment))?;
                Ok(())
            }
            SchemaChange::Move { name, place } => self.place(name, place),
            SchemaChange::Rename { from, to } => {
                if self.fields.iter().any(|f| f.name == *to) {
                    return Err(exists(to));
                }
                self.change(from, |field| field.name.clone_from(to))?;
                Ok(())
            }
            SchemaChange::Drop(name) => self.remove(name),
            SchemaChange::PrimaryKey(columns) => {
                self.key = columns.iter().map(|name| Ok(self.field(name)?.id)).collect::<Result<_>>()?;
                Ok(())
            }
        }
    }

    fn position(&self, name: &str) -> Result<usize> {
        self.fields.iter().position(|f| f.name == name).ok_or_else(|| missing(name))
    }

    fn field(&self, name: &str) -> Result<&NestedFieldRef> {
        self.fields.iter().find(|f| f.name == name).ok_or_else(|| missing(name))
    }

    /// Changes a column; the column after it.
    fn change(&mut self, name: &str, change: impl FnOnce(&mut NestedField)) -> Result<&NestedField> {
        let field = self.fields.iter_mut().find(|f| f.name == name).ok_or_else(|| missing(name))?;
        let field = Arc::make_mut(field);
        change(field);
        Ok(field)
    }

    fn add(
        &mut self,
        name: &str,
        data_type: &DataType,
        comment: Option<&String>,
        place: Option<&ColumnPlace>,
    ) -> Result<()> {
        if name.contains('.') {
            return Err(invalid(
                format!("a new column cannot have a dot in its name: '{name}'"),
                format!("Cannot add column with ambiguous name: {name}, use addColumn(parent, name, type)"),
            ));
        }
        if self.fields.iter().any(|f| f.name == name) {
            return Err(exists(name));
        }
        if !data_type.nullable {
            return Err(invalid(
                format!("the new column '{name}' must be nullable: the rows there are have no value for it"),
                format!("Incompatible change: cannot add required column without a default value: {name}"),
            )
            .with_hint("leave NOT NULL out"));
        }
        let id = self.ids.next()?;
        let mut field = NestedField::optional(id, name, iceberg_type(&data_type.logical, &mut self.ids)?);
        field.doc = comment.cloned();
        self.fields.push(Arc::new(field));
        match place {
            Some(place) => self.place(name, place),
            None => Ok(()),
        }
    }

    fn retype(&mut self, name: &str, data_type: &DataType) -> Result<()> {
        let new = iceberg_type(&data_type.logical, &mut Ids(-1))?;
        let old = self.field(name)?;
        let Type::Primitive(to) = &new else {
            return Err(invalid(
                format!("the type of column '{name}' cannot become {}", data_type.logical),
                format!("Not a primitive type: {}", java_type(&new)),
            )
            .with_hint(PROMOTIONS));
        };
        if *old.field_type != new && !matches!(old.field_type.as_ref(), Type::Primitive(from) if promotes(from, to)) {
            return Err(invalid(
                format!("the type of column '{name}' cannot become {}", data_type.logical),
                format!("Cannot change column type: {name}: {} -> {}", java_type(&old.field_type), java_type(&new)),
            )
            .with_hint(PROMOTIONS));
        }
        if !old.required && !data_type.nullable {
            return Err(invalid(
                format!("column '{name}' cannot become NOT NULL: there may be rows without a value for it"),
                format!("Cannot change column nullability: {name}: optional -> required"),
            ));
        }
        let required = !data_type.nullable;
        self.change(name, |field| {
            for default in [&mut field.initial_default, &mut field.write_default] {
                *default = default.take().map(|value| promoted(value, to));
            }
            *field.field_type = new.clone();
            field.required = required;
        })?;
        Ok(())
    }

    fn place(&mut self, name: &str, place: &ColumnPlace) -> Result<()> {
        let from = self.position(name)?;
        if matches!(place, ColumnPlace::After(other) if other == name) {
            return Err(invalid(
                format!("column '{name}' cannot stand after itself"),
                format!("Cannot move {name} after itself"),
            ));
        }
        if let ColumnPlace::After(other) = place {
            self.position(other)?;
        }
        let field = self.fields.remove(from);
        let at = match place {
            ColumnPlace::First => 0,
            ColumnPlace::After(other) => self.position(other)? + 1,
        };
        self.fields.insert(at, field);
        Ok(())
    }

    fn remove(&mut self, name: &str) -> Result<()> {
        let at = self.position(name)?;
        if self.key.contains(&self.field(name)?.id) {
            return Err(invalid(
                format!("column '{name}' belongs to the primary key"),
                format!(
                    "Cannot delete identifier field {name}. To force deletion, also call setIdentifierFields to update \
                     identifier fields."
                ),
            ));
        }
        self.fields.remove(at);
        Ok(())
    }
}

fn invalid(message: String, detail: String) -> Error {
    Error::new("invalid-alter", message).with_detail(detail)
}

fn missing(name: &str) -> Error {
    Error::new("unknown-column", format!("column '{name}' does not exist"))
        .with_detail(format!("Cannot find column: {name}"))
}

fn exists(name: &str) -> Error {
    Error::new("duplicate-column", format!("column '{name}' exists already"))
        .with_detail(format!("Cannot add column, name already exists: {name}"))
}

/// Whether files with values of the one type can be read as the other (Java's `TypeUtil.isPromotionAllowed`).
fn promotes(from: &PrimitiveType, to: &PrimitiveType) -> bool {
    match (from, to) {
        (PrimitiveType::Int, PrimitiveType::Long) | (PrimitiveType::Float, PrimitiveType::Double) => true,
        (
            PrimitiveType::Decimal { precision: from, scale: from_scale },
            PrimitiveType::Decimal { precision: to, scale: to_scale },
        ) => from_scale == to_scale && from <= to,
        _ => false,
    }
}

/// A type as the Java library prints it.
fn java_type(of: &Type) -> String {
    match of {
        Type::Primitive(PrimitiveType::Fixed(length)) => format!("fixed[{length}]"),
        Type::Primitive(primitive) => primitive.to_string(),
        Type::List(list) => format!("list<{}>", java_type(&list.element_field.field_type)),
        Type::Map(map) => {
            format!("map<{}, {}>", java_type(&map.key_field.field_type), java_type(&map.value_field.field_type))
        }
        Type::Struct(fields) => {
            let fields: Vec<String> = fields
                .fields()
                .iter()
                .map(|f| {
                    let need = if f.required { "required" } else { "optional" };
                    format!("{}: {}: {need} {}", f.id, f.name, java_type(&f.field_type))
                })
                .collect();
            format!("struct<{}>", fields.join(", "))
        }
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]
    use calve_types::{LogicalType, RowField};

    use super::*;
    use crate::schema::to_iceberg;

    fn table() -> Schema {
        let row = LogicalType::Row(vec![
            RowField::new("x", LogicalType::Int.nullable()),
            RowField::new("y", LogicalType::STRING.nullable()),
        ]);
        let columns = [
            ("id", LogicalType::BigInt.not_null()),
            ("i", LogicalType::Int.nullable()),
            ("f", LogicalType::Float.not_null()),
            ("d", LogicalType::Decimal { precision: 5, scale: 2 }.nullable()),
            ("s", LogicalType::STRING.nullable()),
            ("r", row.nullable()),
            ("b", LogicalType::Binary(4).nullable()),
        ];
        let columns: Vec<_> = columns.into_iter().map(|(name, t)| (name.to_owned(), t, None)).collect();
        to_iceberg(&columns, &["id".to_owned()]).unwrap()
    }

    fn shown(schema: &Schema) -> Vec<String> {
        let field = |f: &NestedFieldRef| {
            let need = if f.required { "required" } else { "optional" };
            let doc = f.doc.as_ref().map(|d| format!(" # {d}")).unwrap_or_default();
            format!("{}: {}: {need} {}{doc}", f.id, f.name, java_type(&f.field_type))
        };
        schema.as_struct().fields().iter().map(field).collect()
    }

    fn add(name: &str, data_type: DataType, place: Option<ColumnPlace>) -> SchemaChange {
        SchemaChange::Add { name: name.into(), data_type, comment: None, place }
    }

    fn retype(name: &str, data_type: DataType) -> SchemaChange {
        SchemaChange::Retype { name: name.into(), data_type }
    }

    fn refusal(change: SchemaChange) -> String {
        evolve(&table(), 9, &[change]).unwrap_err().detail.unwrap()
    }

    #[test]
    fn new_columns_get_new_ids_parents_first() {
        let inner = LogicalType::Row(vec![RowField::new("e", LogicalType::STRING.nullable())]);
        let row = LogicalType::Row(vec![
            RowField::new("q", LogicalType::Int.nullable()),
            RowField::new("w", inner.nullable()),
        ]);
        let after = |name: &str| Some(ColumnPlace::After(name.into()));
        let changes = [
            add("a", row.nullable(), Some(ColumnPlace::First)),
            add("b2", LogicalType::Array(Box::new(LogicalType::Int.nullable())).nullable(), after("id")),
            SchemaChange::Drop("s".into()),
            add("s", LogicalType::Int.nullable(), None),
        ];
        // 20 was the highest id of a schema that is gone
        let schema = evolve(&table(), 20, &changes).unwrap();
        assert_eq!(
            shown(&schema),
            [
                "21: a: optional struct<22: q: optional int, 23: w: optional struct<24: e: optional string>>",
                "1: id: required long",
                "25: b2: optional list<int>",
                "2: i: optional int",
                "3: f: required float",
                "4: d: optional decimal(5, 2)",
                "6: r: optional struct<8: x: optional int, 9: y: optional string>",
                "7: b: optional fixed[4]",
                "27: s: optional int",
            ]
        );
        assert_eq!(schema.identifier_field_ids().collect::<Vec<_>>(), [1]);
    }

    #[test]
    fn columns_change_and_keep_their_ids() {
        let changes = [
            retype("i", LogicalType::BigInt.nullable()),
            retype("f", LogicalType::Double.nullable()),
            retype("d", LogicalType::Decimal { precision: 38, scale: 2 }.nullable()),
            retype("s", LogicalType::Char(3).nullable()),
            SchemaChange::Comment { name: "r".into(), comment: Some("row".into()) },
            SchemaChange::Rename { from: "i".into(), to: "j".into() },
            SchemaChange::Rename { from: "id".into(), to: "key".into() },
            SchemaChange::Move { name: "r".into(), place: ColumnPlace::First },
            SchemaChange::Move { name: "j".into(), place: ColumnPlace::After("b".into()) },
        ];
        let schema = evolve(&table(), 9, &changes).unwrap();
        assert_eq!(
            shown(&schema),
            [
                "6: r: optional struct<8: x: optional int, 9: y: optional string> # row",
                "1: key: required long",
                "3: f: optional double",
                "4: d: optional decimal(38, 2)",
                "5: s: optional string",
                "7: b: optional fixed[4]",
                "2: j: optional long",
            ]
        );
        let key = evolve(&table(), 9, &[SchemaChange::PrimaryKey(vec![])]).unwrap();
        assert_eq!(key.identifier_field_ids().count(), 0);
    }

    #[test]
    fn refusals_are_the_java_librarys() {
        let row = LogicalType::Row(vec![RowField::new("x", LogicalType::BigInt.nullable())]);
        let list = LogicalType::Array(Box::new(LogicalType::BigInt.nullable()));
        for (change, detail) in [
            (retype("id", LogicalType::Int.not_null()), "Cannot change column type: id: long -> int"),
            (retype("s", LogicalType::Int.nullable()), "Cannot change column type: s: string -> int"),
            (retype("b", LogicalType::Binary(8).nullable()), "Cannot change column type: b: fixed[4] -> fixed[8]"),
            (
                retype("d", LogicalType::Decimal { precision: 9, scale: 3 }.nullable()),
                "Cannot change column type: d: decimal(5, 2) -> decimal(9, 3)",
            ),
            (
                retype("d", LogicalType::Decimal { precision: 4, scale: 2 }.nullable()),
                "Cannot change column type: d: decimal(5, 2) -> decimal(4, 2)",
            ),
            (
                retype("r", LogicalType::Int.nullable()),
                "Cannot change column type: r: struct<8: x: optional int, 9: y: optional string> -> int",
            ),
            (retype("r", row.nullable()), "Not a primitive type: struct<0: x: optional long>"),
            (retype("s", list.nullable()), "Not a primitive type: list<long>"),
            (retype("i", LogicalType::Int.not_null()), "Cannot change column nullability: i: optional -> required"),
            (
                retype("id", LogicalType::BigInt.nullable()),
                "Cannot add field id as an identifier field: not a required field",
            ),
            (
                SchemaChange::PrimaryKey(vec!["i".into()]),
                "Cannot add field i as an identifier field: not a required field",
            ),
            (
                SchemaChange::PrimaryKey(vec!["r".into()]),
                "Cannot add field r as an identifier field: not a primitive type field",
            ),
            (
                SchemaChange::PrimaryKey(vec!["f".into()]),
                "Cannot add field f as an identifier field: must not be float or double field",
            ),
            (
                add("n", LogicalType::Int.not_null(), None),
                "Incompatible change: cannot add required column without a default value: n",
            ),
            (
                add("x.y", LogicalType::Int.nullable(), None),
                "Cannot add column with ambiguous name: x.y, use addColumn(parent, name, type)",
            ),
            (
                SchemaChange::Move { name: "i".into(), place: ColumnPlace::After("i".into()) },
                "Cannot move i after itself",
            ),
            (
                SchemaChange::Drop("id".into()),
                "Cannot delete identifier field id. To force deletion, also call setIdentifierFields to update \
                 identifier fields.",
            ),
        ] {
            assert_eq!(refusal(change), detail);
        }
        let long = evolve(&table(), i32::MAX, &[add("n", LogicalType::Int.nullable(), None)]).unwrap_err();
        assert_eq!(long.code, "invalid-table");
    }
}
