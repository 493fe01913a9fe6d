//! Rows of the declared columns as rows of the Iceberg table.

use std::sync::Arc;

use arrow::array::{RecordBatch, RecordBatchOptions, new_null_array};
use arrow::compute::cast;
use arrow::datatypes::{Field, Schema, SchemaRef};
use calve_iceberg::Table;
use calve_iceberg::schema::{to_flink, to_iceberg};
use calve_types::{DataType, Error, Result, arrow as arrow_types};
use datafusion::common::DataFusionError;
use datafusion::execution::SendableRecordBatchStream;
use datafusion::physical_plan::stream::RecordBatchStreamAdapter;
use futures::StreamExt;
use iceberg::spec::Schema as IcebergSchema;

use super::{Declared, takes};

impl Declared {
    /// Refuses to write rows that the Iceberg table does not take (the Java library's `CheckCompatibility`).
    ///
    /// # Errors
    /// `unknown-column`, `type-mismatch`, with Iceberg's sentences as detail.
    pub fn check_write(&self, table: &Table) -> Result<()> {
        let schema = table.metadata().current_schema();
        let actual = to_flink(schema)?;
        let place = |name: &str| self.columns.iter().position(|(declared, _)| declared == name);
        if let Some((name, _)) = self.columns.iter().find(|(name, _)| actual.iter().all(|(other, _)| other != name)) {
            let error =
                Error::new("unknown-column", format!("the Iceberg table of '{}' has no column '{name}'", self.path))
                    .with_detail(format!("Field {name} not found in source schema"))
                    .at(self.place);
            return Err(error.did_you_mean(name, actual.iter().map(|(name, _)| name.as_str())));
        }
        let columns: Vec<Line> = actual.iter().map(|c| Line::of(schema, c)).collect::<Result<_>>()?;
        let given: Vec<Line> = self.columns.iter().map(|c| Line::of(schema, c)).collect::<Result<_>>()?;
        let mut problems = vec![];
        for ((name, to), column) in actual.iter().zip(&columns) {
            let Some((_, from)) = place(name).and_then(|at| self.columns.get(at)) else {
                if !to.nullable {
                    problems.push(format!("{name} is required, but is missing"));
                }
                continue;
            };
            if from.nullable && !to.nullable {
                problems.push(format!("{name} should be required, but is optional"));
            }
            if !takes(to, from)? {
                let from = given.iter().find(|line| line.name == *name).map_or("", |line| line.data_type.as_str());
                problems.push(format!("{name}: {from} cannot be promoted to {}", column.data_type));
            }
        }
        let order: Vec<usize> = actual.iter().filter_map(|(name, _)| place(name)).collect();
        for pair in order.windows(2) {
            if let [before, after] = pair
                && before > after
                && let (Some((early, _)), Some((late, _))) = (self.columns.get(*after), self.columns.get(*before))
            {
                problems.push(format!("{early} is out of order, before {late}"));
            }
        }
        if problems.is_empty() {
            return Ok(());
        }
        let listed: String = problems.iter().map(|problem| format!("\n* {problem}")).collect();
        Err(Error::new("type-mismatch", format!("the columns of '{}' do not fit its Iceberg table", self.path))
            .with_detail(format!(
                "Cannot write incompatible dataset to table with schema:\n{}\nProvided schema:\n{}\nProblems:{listed}",
                shown(&columns),
                shown(&given)
            ))
            .with_hint("declare the columns as they are in the Iceberg table, in its order"))
    }

    /// Rows with the columns of the Iceberg table: what is not declared is NULL. Columns that are neither, behind the
    /// declared ones, stay.
    ///
    /// # Errors
    /// `not-supported` for types without an Arrow type.
    pub fn rows(&self, table: &Table, rows: SendableRecordBatchStream) -> Result<SendableRecordBatchStream> {
        let given = rows.schema();
        let column = |(name, data_type): &(String, DataType)| arrow_types::field(name, data_type);
        let actual = to_flink(table.metadata().current_schema())?;
        let mut fields: Vec<Arc<Field>> = actual.iter().map(|c| column(c).map(Arc::new)).collect::<Result<_>>()?;
        fields.extend(given.fields().iter().skip(self.columns.len()).cloned());
        let schema = Arc::new(Schema::new(fields));
        if schema.fields() == given.fields() {
            return Ok(rows);
        }
        let places: Vec<Option<usize>> =
            schema.fields().iter().map(|field| given.index_of(field.name()).ok()).collect();
        let to = schema.clone();
        let rows = rows.map(move |batch| batch.and_then(|batch| arranged(&batch, &places, &to)));
        Ok(Box::pin(RecordBatchStreamAdapter::new(schema, rows)))
    }
}

/// A column as the Java library prints it.
struct Line {
    id: i32,
    name: String,
    required: bool,
    data_type: String,
    is_key: bool,
}

impl Line {
    /// A column of Flink's type that `schema` has by its name.
    fn of(schema: &IcebergSchema, (name, data_type): &(String, DataType)) -> Result<Self> {
        let column = to_iceberg(&[(name.clone(), data_type.clone(), None)], &[])?;
        let field =
            column.as_struct().fields().first().ok_or_else(|| Error::internal("a schema without its column"))?;
        let id = schema.field_id_by_name(name).unwrap_or_default();
        Ok(Self {
            id,
            name: name.clone(),
            required: field.required,
            data_type: field.field_type.to_string(),
            is_key: schema.identifier_field_ids().any(|key| key == id),
        })
    }
}

fn shown(lines: &[Line]) -> String {
    let line = |line: &Line| {
        let (required, key) =
            (if line.required { "required" } else { "optional" }, if line.is_key { " (id)" } else { "" });
        format!("  {}: {}: {required} {}{key}\n", line.id, line.name, line.data_type)
    };
    format!("table {{\n{}}}", lines.iter().map(line).collect::<String>())
}

fn arranged(batch: &RecordBatch, places: &[Option<usize>], to: &SchemaRef) -> Result<RecordBatch, DataFusionError> {
    let columns =
        to.fields().iter().zip(places).map(|(field, place)| match place.and_then(|place| batch.columns().get(place)) {
            Some(column) if column.data_type() == field.data_type() => Ok(column.clone()),
            Some(column) => cast(column, field.data_type()),
            None => Ok(new_null_array(field.data_type(), batch.num_rows())),
        });
    let columns = columns.collect::<Result<Vec<_>, _>>()?;
    let options = RecordBatchOptions::new().with_row_count(Some(batch.num_rows()));
    Ok(RecordBatch::try_new_with_options(to.clone(), columns, &options)?)
}
