//! When the files of a partition spec are of one partition.

use iceberg::spec::{Literal, PrimitiveLiteral, Struct};

/// What is equal for the same partition only: values in their widest type, since a column may have been promoted between
/// two files, and approximate numbers by their bits, as Java compares them: 0.0 is not -0.0, and NaN is NaN.
pub(crate) fn partition_key(values: &Struct) -> Struct {
    let bits = |value: f64| Literal::long(if value.is_nan() { f64::NAN } else { value }.to_bits() as i64);
    let key = |value: &Literal| match value {
        Literal::Primitive(PrimitiveLiteral::Int(v)) => Literal::long(*v),
        Literal::Primitive(PrimitiveLiteral::Float(v)) => bits(f64::from(v.0)),
        Literal::Primitive(PrimitiveLiteral::Double(v)) => bits(v.0),
        other => other.clone(),
    };
    values.iter().map(|value| value.map(key)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_compared_as_java_does() {
        let key = |value: Literal| partition_key(&Struct::from_iter([Some(value), None]));
        assert_eq!(key(Literal::int(1)), key(Literal::long(1)));
        assert_eq!(key(Literal::float(0.5_f32)), key(Literal::double(0.5)));
        assert_ne!(key(Literal::double(0.0)), key(Literal::double(-0.0)));
        assert_eq!(key(Literal::double(f64::NAN)), key(Literal::double(-f64::NAN)));
        assert_ne!(key(Literal::string("a")), key(Literal::string("b")));
    }
}
