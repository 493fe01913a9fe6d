//! Which field id every column of a file has.

use std::collections::HashMap;

use arrow::datatypes::{DataType as ArrowType, Field, Fields, Schema as ArrowSchema};
use iceberg::spec::{MappedField, NameMapping, NestedField, Schema, StructType, Type};
use parquet::arrow::PARQUET_FIELD_ID_META_KEY;

/// A column of a file, or a field inside one. Children are the fields of a struct, the element of a list, the key and
/// the value of a map.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(crate) struct FileField {
    pub(crate) id: Option<i32>,
    name: String,
    pub(crate) children: Vec<FileField>,
}

/// Where a field lies in a file: a column, then positions of struct fields.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(crate) struct Place {
    pub(crate) column: usize,
    pub(crate) path: Vec<usize>,
}

/// The columns of one file by field id.
#[derive(Debug, Clone)]
pub(crate) struct Layout {
    columns: Vec<FileField>,
    places: HashMap<i32, Place>,
}

impl Layout {
    /// The layout of a file with these columns. A file without any field id gets them from the name mapping; without one,
    /// as in Iceberg's Java library, by position, and inside of a column by name.
    pub(crate) fn new(file: &ArrowSchema, mapping: Option<&NameMapping>, table: &Schema) -> Self {
        Self::with_ids(file, mapping, |columns| number_by_position(columns, table))
    }

    /// The layout of an Avro or ORC file with these columns. One without any field id gets them from the name mapping;
    /// without one, as in Iceberg's Java library, by the names the table has now.
    pub(crate) fn by_names(file: &ArrowSchema, mapping: Option<&NameMapping>, table: &Schema) -> Self {
        Self::with_ids(file, mapping, |columns| name_all(columns, table.as_struct()))
    }

    /// `without` gives ids to the columns of a file that has none, where there is no name mapping.
    fn with_ids(file: &ArrowSchema, mapping: Option<&NameMapping>, without: impl FnOnce(&mut [FileField])) -> Self {
        let mut columns: Vec<_> = file.fields().iter().map(|f| FileField::new(f)).collect();
        if !columns.iter().any(FileField::has_ids) {
            match mapping {
                Some(mapping) => apply_mapping(&mut columns, &mapping.fields().iter().collect::<Vec<_>>()),
                None => without(&mut columns),
            }
        }
        let mut places = HashMap::new();
        for (column, (field, arrow)) in columns.iter().zip(file.fields()).enumerate() {
            collect(field, Place { column, path: Vec::new() }, arrow, &mut places);
        }
        Self { columns, places }
    }

    /// Where the field with this id is; fields inside of lists and maps are not found.
    pub(crate) fn place(&self, id: i32) -> Option<&Place> {
        self.places.get(&id)
    }

    /// The field at a place.
    pub(crate) fn field(&self, place: &Place) -> Option<&FileField> {
        place.path.iter().try_fold(self.columns.get(place.column)?, |field, child| field.children.get(*child))
    }
}

impl FileField {
    fn new(field: &Field) -> Self {
        let of = |fields: &Fields| fields.iter().map(|f| Self::new(f)).collect();
        let children = match field.data_type() {
            ArrowType::Struct(fields) => of(fields),
            ArrowType::List(element) | ArrowType::LargeList(element) => vec![Self::new(element)],
            ArrowType::Map(entries, _) => match entries.data_type() {
                ArrowType::Struct(fields) => of(fields),
                _ => Vec::new(),
            },
            _ => Vec::new(),
        };
        let id = field.metadata().get(PARQUET_FIELD_ID_META_KEY).and_then(|id| id.parse().ok());
        Self { id, name: field.name().clone(), children }
    }

    fn has_ids(&self) -> bool {
        self.id.is_some() || self.children.iter().any(Self::has_ids)
    }
}

fn collect(field: &FileField, place: Place, arrow: &Field, places: &mut HashMap<i32, Place>) {
    if let ArrowType::Struct(fields) = arrow.data_type() {
        for (i, (child, arrow)) in field.children.iter().zip(fields).enumerate() {
            let mut path = place.path.clone();
            path.push(i);
            collect(child, Place { column: place.column, path }, arrow, places);
        }
    }
    if let Some(id) = field.id {
        places.entry(id).or_insert(place);
    }
}

fn apply_mapping(fields: &mut [FileField], mapped: &[&MappedField]) {
    for field in fields {
        if let Some(found) = mapped.iter().find(|m| m.names().contains(&field.name)) {
            map_field(field, found);
        }
    }
}

fn map_field(field: &mut FileField, mapped: &MappedField) {
    field.id = mapped.field_id();
    let inner: Vec<&MappedField> = mapped.fields().iter().map(AsRef::as_ref).collect();
    // what a file calls the parts of lists and maps differs between writers; the mapping's names are fixed
    let fixed = |name: &str| inner.iter().find(|m| m.names().iter().any(|n| n == name)).copied();
    match field.children.as_mut_slice() {
        [element] if fixed("element").is_some() => {
            if let Some(mapped) = fixed("element") {
                map_field(element, mapped);
            }
        }
        [key, value] if fixed("key").is_some() && fixed("value").is_some() => {
            if let (Some(k), Some(v)) = (fixed("key"), fixed("value")) {
                map_field(key, k);
                map_field(value, v);
            }
        }
        children => apply_mapping(children, &inner),
    }
}

fn number_by_position(columns: &mut [FileField], table: &Schema) {
    for (id, column) in (1..).zip(columns) {
        column.id = Some(id);
        if let Some(field) = table.field_by_id(id) {
            name_children(column, &field.field_type);
        }
    }
}

fn name_all(columns: &mut [FileField], fields: &StructType) {
    for column in columns {
        if let Some(field) = fields.field_by_name(&column.name) {
            column.id = Some(field.id);
            name_children(column, &field.field_type);
        }
    }
}

fn name_children(field: &mut FileField, of: &Type) {
    let set = |child: &mut FileField, field: &NestedField| {
        child.id = Some(field.id);
        name_children(child, &field.field_type);
    };
    match (of, field.children.as_mut_slice()) {
        (Type::Struct(fields), children) => name_all(children, fields),
        (Type::List(list), [element]) => set(element, &list.element_field),
        (Type::Map(map), [key, value]) => {
            set(key, &map.key_field);
            set(value, &map.value_field);
        }
        _ => {}
    }
}
