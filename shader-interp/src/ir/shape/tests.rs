//! Offsets in shapes by hand, and the names of what lies there.

use super::*;

fn vector(count: u32) -> Arc<Shape> {
    Arc::new(Shape::Vector { count, stride: 4 })
}

#[test]
fn bytes_have_names() {
    let inner = Shape::Struct(vec![
        Part { name: "mass".into(), offset: 0, size: 4, shape: Arc::new(Shape::Whole) },
        Part { name: "at".into(), offset: 16, size: 12, shape: vector(3) },
    ]);
    let array = Shape::Array { length: 2, stride: 32, element: Arc::new(inner) };
    let variable = Variable {
        name: "s".into(),
        shape: Arc::new(Shape::Struct(vec![
            Part { name: "b".into(), offset: 0, size: 64, shape: Arc::new(array) },
            Part { name: String::new(), offset: 64, size: 0, shape: Arc::new(Shape::Whole) },
        ])),
    };
    let part = |offset| variable.part(offset);
    assert_eq!(part(32 + 16 + 5).as_deref(), Some("s.b[1].at.y"));
    assert_eq!(part(3).as_deref(), Some("s.b[0].mass"));
    assert_eq!(part(8), None);
    assert_eq!(part(28), None);
    assert_eq!(part(100).as_deref(), Some("s.<member 1>"));
    let anonymous = Variable { name: String::new(), ..variable.clone() };
    assert_eq!(anonymous.part(3).as_deref(), Some("b[0].mass"));
    let elements = Shape::Array { length: 0, stride: 4, element: Arc::new(Shape::Whole) };
    let wrapped = Part { name: String::new(), offset: 0, size: 0, shape: Arc::new(elements) };
    let around = Variable { name: "a".into(), shape: Arc::new(Shape::Struct(vec![wrapped])) };
    assert_eq!(around.part(12).as_deref(), Some("a[3]"));
    // Without any names, and inside of others, a member without a name is told by its number.
    let stripped = Variable { name: String::new(), ..around.clone() };
    assert_eq!(stripped.part(12).as_deref(), Some("<member 0>[3]"));
    let blocks = Shape::Array { length: 2, stride: 16, element: around.shape.clone() };
    let inside = Part { name: "b".into(), offset: 0, size: 32, shape: Arc::new(blocks) };
    let outer = Variable { name: "s".into(), shape: Arc::new(Shape::Struct(vec![inside])) };
    assert_eq!(outer.part(16 + 12).as_deref(), Some("s.b[1].<member 0>[3]"));
    let scalar = Variable { name: "x".into(), shape: Arc::new(Shape::Whole) };
    assert_eq!(scalar.part(0), None);
}

#[test]
fn matrices_of_either_order_are_named_by_column() {
    let by_columns = Shape::Matrix { column: 16, row: 4 };
    let by_rows = Shape::Matrix { column: 4, row: 16 };
    assert_eq!(by_columns.path(16 + 8).as_deref(), Some("[1].z"));
    assert_eq!(by_rows.path(2 * 16 + 4).as_deref(), Some("[1].z"));
    assert_eq!(by_columns.path(64), None);
    let values = Shape::Array { length: 4, stride: 4, element: Arc::new(Shape::Whole) };
    assert_eq!((values.path(12).as_deref(), values.path(16)), (Some("[3]"), None));
}
