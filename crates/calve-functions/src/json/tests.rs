//! Results of a real Flink.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

use calve_types::{LogicalType as T, Value};

use super::{JsonBuild, JsonRead};
use crate::testing::*;

const DOCUMENT: &str = r#"{"a":{"b":[1,2,{"c":"x"}],"d e":5,"n":null},"k":[{"x":1,"y":2},{"x":3}],"z":"s"}"#;

fn clauses(wrapper: &str, on_empty: &str, on_error: &str) -> V {
    let symbol = JsonRead { wrapper, on_empty, on_error }.symbol();
    V(Value::Symbol(symbol), T::Symbol.not_null())
}

/// JSON_VALUE with `DEFAULT 'EMPTY' ON EMPTY ERROR ON ERROR`, its text or the reason of the error.
fn value(document: &str, path: &str) -> String {
    let args = [
        text(document),
        text(path),
        clauses("WITHOUT", "DEFAULT", "ERROR"),
        null(T::STRING),
        text("EMPTY"),
        null(T::STRING),
    ];
    match call("JSON_VALUE", &args) {
        Ok(text) => text.trim_end_matches(" :: STRING").to_owned(),
        Err(error) => format!("!{}", error.detail.unwrap_or(error.message)),
    }
}

/// JSON_QUERY with `EMPTY OBJECT ON EMPTY ERROR ON ERROR`.
fn query(document: &str, path: &str) -> String {
    let args = [text(document), text(path), clauses("WITHOUT", "EMPTY OBJECT", "ERROR"), null(T::STRING)];
    match call("JSON_QUERY", &args) {
        Ok(text) => text.trim_end_matches(" :: STRING").to_owned(),
        Err(_) => "!".to_owned(),
    }
}

#[test]
fn paths() {
    for (path, of_value, of_query) in [
        ("$.a.b[0]", "1", "!"),
        ("$.a.b[-1]", "!", r#"{"c":"x"}"#),
        ("$.a.b[-1].c", "x", "!"),
        ("$['a']['d e']", "5", "!"),
        (r#"$["a"]["d e"]"#, "5", "!"),
        ("$.a.n", "!", "!"),
        ("lax $.a.n", "EMPTY", "{}"),
        ("lax $.q", "EMPTY", "{}"),
        ("$.q", "!", "!"),
        ("$.a.b[9]", "!", "!"),
        ("lax $.a.b[9]", "EMPTY", "{}"),
        ("$.k[*].x", "!", "[1,3]"),
        ("$..x", "!", "[1,3]"),
        ("$.k[0,1].x", "!", "[1,3]"),
        ("$.k[0:1]", "!", r#"[{"x":1,"y":2}]"#),
        ("$.k[1:]", "!", r#"[{"x":3}]"#),
        ("$.k[:1].x", "!", "[1]"),
        ("$.k[-1:]", "!", r#"[{"x":3}]"#),
        ("$.k[:-1].x", "!", "[1]"),
        ("$.k[0:5].x", "!", "[1,3]"),
        ("$.k[5:]", "!", "[]"),
        ("$.k[0:2:2].x", "!", "[1,3]"),
        ("$.a.*", "!", r#"[[1,2,{"c":"x"}],5,null]"#),
        ("$.k.length()", "2", "!"),
        ("$.a.length()", "3", "!"),
        ("$.z.length()", "!", "!"),
        ("$.k[?(@.x>1)].x", "!", "[3]"),
        ("$.k[?(@.x==1 && @.y==2)].y", "!", "[2]"),
        ("$.k[?(@.x==1 || @.x==3)].x", "!", "[1,3]"),
        ("$.k[?(@.x != 1)]", "!", r#"[{"x":3}]"#),
        ("$.k[?(@.x == '1')]", "!", r#"[{"x":1,"y":2}]"#),
        ("$.k[?(@['x'] >= 3)]", "!", r#"[{"x":3}]"#),
        ("$.k[?(@.x == $.k[0].x)]", "!", r#"[{"x":1,"y":2}]"#),
        ("$.k[?(@.y == null)]", "!", "[]"),
        ("$.k[?(@.x =~ /1/)]", "!", r#"[{"x":1,"y":2}]"#),
        ("$.a.b[?(@.c == \"x\")].c", "!", r#"["x"]"#),
        ("a.b[0]", "1", "!"),
        ("z", "s", "!"),
        ("@.z", "s", "!"),
        ("  $.z  ", "!", "!"),
        ("STRICT $.z", "s", "!"),
        ("lax  $.z", "s", "{}"),
        ("lax$.z", "!", "!"),
        ("foo $.z", "!", "!"),
        ("$.z.q", "!", "!"),
        ("lax $.z.q", "EMPTY", "{}"),
        ("$.k.x", "!", "!"),
        ("lax $.k.x", "EMPTY", "{}"),
        ("$[0]", "!", "!"),
        ("$['z','q']", "!", r#"{"z":"s"}"#),
        ("lax $['z','q']", "EMPTY", r#"{"z":"s"}"#),
        ("lax $.k[*].x", "EMPTY", "[1,3]"),
        ("$.k[*].w", "!", "[]"),
        ("$.a.keys()", "!", r#"["b","d e","n"]"#),
        ("$.a[b]", "!", "!"),
        (r#"$.a ["b"]"#, "!", "!"),
        ("$.k[ 0 ].x", "1", "!"),
        ("$. a", "!", "!"),
        ("$.k[0", "!", "!"),
        ("$.k[]", "!", "!"),
        ("$.k[01].x", "3", "!"),
        ("$..b[0]", "!", "[1]"),
        ("$..k[*].x", "!", "[1,3]"),
        ("$.k[0]..x", "!", "[1]"),
        ("$..[0].x", "!", "[1]"),
        (
            "$..*",
            "!",
            r#"[{"b":[1,2,{"c":"x"}],"d e":5,"n":null},[{"x":1,"y":2},{"x":3}],"s",[1,2,{"c":"x"}],5,null,1,2,{"c":"x"},"x",{"x":1,"y":2},{"x":3},1,2,3]"#,
        ),
        ("$.d-e", "!", "!"),
        ("$..", "!", "!"),
        ("$.", "!", "!"),
        ("$...a", "!", "!"),
        ("$a", "!", "!"),
        ("$.a['b", "!", "!"),
        (r"$.a['\u0062'][0]", "1", "!"),
        ("$.a.b[0].q", "!", "!"),
        ("lax $.a[0]", "EMPTY", "{}"),
        ("$.k[9,0].x", "!", "[1]"),
        ("$.k[*]['x','y']", "!", r#"[{"x":1,"y":2},{"x":3}]"#),
        ("$..nothing", "!", "[]"),
        ("lax $.nothing[*]", "EMPTY", "[]"),
        ("$.nothing[*]", "!", "!"),
        ("$.z[*]", "!", "[]"),
        ("lax strict $.z", "!", "!"),
        ("", "!", "!"),
    ] {
        let found = value(DOCUMENT, path);
        let found = if found.starts_with('!') { "!" } else { &found };
        assert_eq!(found, of_value, "JSON_VALUE of {path}");
        assert_eq!(query(DOCUMENT, path), of_query, "JSON_QUERY of {path}");
    }
    assert_eq!(value(r#"{"a":1}"#, "$.a["), "1");
    assert_eq!(value(r#"{"":1,"a.b":2,"a'b":3,"é":4}"#, r"$['a\'b']"), "3");
    assert_eq!(value(r#"{"":1,"a.b":2}"#, "$['a.b']"), "2");
    assert_eq!(value(r#"{"":1}"#, "$['']"), "1");
    assert_eq!(query("[[1,2],[3]]", "$[*][0]"), "[1,3]");
    assert_eq!(query("[[1,2],[3]]", "$..[0]"), "[[1,2],1,3]");
    assert_eq!(query("[[1,2],[3]]", "$[?(@[0]==1)]"), "[[1,2]]");
    let items = r#"{"a":[{"p":10,"n":"A"},{"p":5.5,"n":"B"},{"p":"7","n":"C"},{"n":"D"},{"p":null}]}"#;
    for (filter, expected) in [
        ("@.p>6", r#"["A"]"#),
        ("@.p==5.5", r#"["B"]"#),
        ("@.n>\"A\"", r#"["B","C","D"]"#),
        ("@.n =~ /[ab]/i", r#"["A","B"]"#),
        ("10 == @.p", r#"["A"]"#),
        ("@.p != 10", r#"["B","C","D"]"#),
        ("@.n == true", "[]"),
    ] {
        assert_eq!(query(items, &format!("$.a[?({filter})].n")), expected, "{filter}");
    }
    assert_eq!(call("JSON_VALUE", &[text("1"), text("$.k.sum()")]).unwrap_err().code, "not-supported");
}

#[test]
fn reasons() {
    assert_eq!(value(r#"{"a":1}"#, "$.b"), "!No results for path: $['b']");
    assert_eq!(
        value(r#"{"a":[1]}"#, "$.a"),
        "!Strict jsonpath mode requires scalar value, and the actual value is: '[1]'"
    );
    assert_eq!(value(r#"{"a":null}"#, "$.a"), "!Strict jsonpath mode requires a non empty returned value, but is null");
    assert_eq!(value("null", "lax $"), "!json object can not be null");
    assert_eq!(value("bad", "lax $"), "EMPTY");
    assert_eq!(value("{}", "$.a["), "!No results for path: $['a']");
    assert_eq!(value("{}", "$a"), "!Illegal jsonpath spec '$a', format of the spec should be: '<lax|strict> ${expr}'");
}

#[test]
fn values() {
    let plain = |document: &str, path: &str, expected: &str| {
        is("JSON_VALUE", &[text(document), text(path)], &format!("{expected} :: STRING"));
    };
    plain(r#"{"c":true}"#, "$.c", "true");
    plain(r#"{"e":[1,2]}"#, "$.e", "NULL");
    plain(r#"{"f":1.5}"#, "$.f", "1.5");
    plain("not json", "$.a", "NULL");
    plain(r#"{"a":"é\u0041\/"}"#, "$.a", "éA/");
    is("JSON_VALUE", &[null(T::STRING), text("$")], "NULL :: STRING");
    let returning = |document: &str, logical: T| {
        let args = [
            text(document),
            text("$.a"),
            clauses("WITHOUT", "NULL", "NULL"),
            null(logical.clone()),
            null(logical.clone()),
            null(logical),
        ];
        call("JSON_VALUE", &args)
    };
    assert_eq!(returning(r#"{"a":1}"#, T::Int).unwrap(), "1 :: INT");
    assert_eq!(returning(r#"{"a":1.5}"#, T::Double).unwrap(), "1.5 :: DOUBLE");
    assert_eq!(returning(r#"{"a":true}"#, T::Boolean).unwrap(), "TRUE :: BOOLEAN");
    assert_eq!(returning(r#"{"a":"abcdef"}"#, T::Varchar(3)).unwrap(), "abc :: VARCHAR(3)");
    for (document, logical) in [
        (r#"{"a":"1"}"#, T::Int),
        (r#"{"a":1.7}"#, T::Int),
        (r#"{"a":12345678901}"#, T::Int),
        (r#"{"a":"true"}"#, T::Boolean),
        (r#"{"a":1}"#, T::Boolean),
    ] {
        assert_eq!(returning(document, logical).unwrap_err().code, "invalid-json");
    }
    assert_eq!(
        returning("{}", T::BigInt).unwrap_err().detail.unwrap(),
        "Unsupported type 'BIGINT' for RETURNING in JSON_VALUE()."
    );
    let default = [
        text(r#"{"a":1}"#),
        text("lax $.b"),
        clauses("WITHOUT", "DEFAULT", "NULL"),
        null(T::Int),
        int(7),
        null(T::Int),
    ];
    is("JSON_VALUE", &default, "7 :: INT");
    let default = [
        text(r#"{"a":1}"#),
        text("lax $.b"),
        clauses("WITHOUT", "DEFAULT", "NULL"),
        null(T::STRING),
        int(7),
        null(T::STRING),
    ];
    is("JSON_VALUE", &default, "7 :: STRING");
}

#[test]
fn queries() {
    let wrapped = |document: &str, wrapper: &str, expected: &str| {
        let args = [text(document), text("$.a"), clauses(wrapper, "NULL", "NULL"), null(T::STRING)];
        is("JSON_QUERY", &args, &format!("{expected} :: STRING"));
    };
    wrapped(r#"{"a":[1,[2],"x"]}"#, "CONDITIONAL", r#"[1,[2],"x"]"#);
    wrapped(r#"{"a":"x"}"#, "UNCONDITIONAL", r#"["x"]"#);
    wrapped(r#"{"a":{}}"#, "CONDITIONAL", "[{}]");
    wrapped(r#"{"a":null}"#, "UNCONDITIONAL", "NULL");
    wrapped(r#"{"a":[1]}"#, "UNCONDITIONAL", "[[1]]");
    wrapped(r#"{"a":1}"#, "WITHOUT", "NULL");
    wrapped(r#"{"a": {"é": "\u0041\/<"} }"#, "WITHOUT", r#"{"é":"A/<"}"#);
    let array = || T::Array(Box::new(T::STRING.nullable()));
    let to_array = |document: &str, on_error: &str| {
        call("JSON_QUERY", &[text(document), text("$.a"), clauses("WITHOUT", "NULL", on_error), null(array())])
    };
    assert_eq!(
        to_array(r#"{"a":["x",1,null,true,1.5,{"b":1},[1]]}"#, "NULL").unwrap(),
        r#"[x, 1, NULL, true, 1.5, {"b":1}, [1]] :: ARRAY<STRING>"#
    );
    assert_eq!(to_array(r#"{"a":{"b":1}}"#, "NULL").unwrap(), "NULL :: ARRAY<STRING>");
    assert_eq!(to_array(r#"{"z":1}"#, "EMPTY ARRAY").unwrap(), "[] :: ARRAY<STRING>");
    assert_eq!(
        to_array("{}", "EMPTY OBJECT").unwrap_err().detail.unwrap(),
        "Illegal on error behavior 'EMPTY OBJECT' for return type: VARCHAR(2147483647) ARRAY"
    );
}

#[test]
fn tests_of_json() {
    let exists = |path: &str, on_error: &str, expected: &str| {
        let args = [text(r#"{"a":1}"#), text(path), clauses("WITHOUT", "NULL", on_error)];
        is("JSON_EXISTS", &args, &format!("{expected} :: BOOLEAN"));
    };
    exists("$.a", "FALSE", "TRUE");
    exists("strict $.z", "FALSE", "FALSE");
    exists("strict $.z", "TRUE", "TRUE");
    exists("strict $.z", "UNKNOWN", "NULL");
    exists("lax $.z", "TRUE", "FALSE");
    is("JSON_EXISTS", &[text("null"), text("$")], "FALSE :: BOOLEAN");
    for (document, kind, expected) in [
        ("[1]", "ARRAY", "TRUE"),
        (r#"{"a":1}"#, "OBJECT", "TRUE"),
        ("1", "SCALAR", "TRUE"),
        ("null", "SCALAR", "TRUE"),
        ("{}", "SCALAR", "FALSE"),
        ("", "VALUE", "FALSE"),
        ("x", "VALUE", "FALSE"),
    ] {
        is("IS JSON", &[text(document), text(kind)], &format!("{expected} :: BOOLEAN NOT NULL"));
    }
    is("IS JSON", &[null(T::STRING), text("VALUE")], "FALSE :: BOOLEAN NOT NULL");
    is("IS NOT JSON", &[null(T::STRING), text("VALUE")], "TRUE :: BOOLEAN NOT NULL");
    assert_eq!(
        refusal("IS JSON", &[int(1), text("VALUE")]),
        "Cannot apply 'IS JSON VALUE' to arguments of type '<INTEGER> IS JSON VALUE'. Supported form(s): '<CHARACTER> IS JSON VALUE'"
    );
}

#[test]
fn written() {
    for (value, expected) in [
        (text("a\"b"), r#""a\"b""#),
        (text("\u{1}\u{1f}"), r#""\u0001\u001F""#),
        (text("é/<>&"), "\"é/<>&\""),
        (int(1), "1"),
        (dec("1.50"), "1.50"),
        (double(1e10), "1.0E+10"),
        (double(1.5), "1.5"),
        (boolean(true), "true"),
        (bytes(&[0x0a, 0xff]), "\"Cv8=\""),
        (timestamp("2024-01-01 10:00:00.120"), "\"2024-01-01T10:00:00.12\""),
        (timestamp("2024-01-01 10:00:00"), "\"2024-01-01T10:00:00\""),
    ] {
        is("JSON_STRING", &[value], &format!("{expected} :: STRING NOT NULL"));
    }
    is("JSON_STRING", &[null(T::STRING)], "NULL :: STRING");
    let string = |constructor: &str, elements: &[V]| call_on(constructor, elements, "JSON_STRING", &[]).unwrap();
    assert_eq!(string("ARRAY", &[int(1), int(2)]), "[1,2] :: STRING NOT NULL");
    assert_eq!(string("MAP", &[text("b"), int(1), text("a"), int(2)]), r#"{"a":2,"b":1} :: STRING NOT NULL"#);
    assert_eq!(string("ROW", &[int(1), text("x")]), r#"{"EXPR$0":1,"EXPR$1":"x"} :: STRING NOT NULL"#);
    assert_eq!(
        refusal("JSON_STRING", &[date("2024-01-01")]),
        "Type 'DATE' is not scalar or cannot be converted into JSON."
    );
    let build = |absent_on_null, raw: &[bool]| {
        V(Value::Symbol(JsonBuild { absent_on_null, raw: raw.to_vec() }.symbol()), T::Symbol.not_null())
    };
    let nothing = null(T::STRING);
    for (args, expected) in [
        (
            vec![build(false, &[false; 3]), text("b"), int(1), text("a"), int(2), text("B"), int(3)],
            r#"{"B":3,"a":2,"b":1}"#,
        ),
        (vec![build(false, &[false; 2]), text("a"), int(1), text("a"), int(2)], r#"{"a":2}"#),
        (vec![build(false, &[false]), text("n"), nothing.clone()], r#"{"n":null}"#),
        (vec![build(true, &[false]), text("n"), nothing.clone()], "{}"),
        (vec![build(false, &[true]), text("o"), text(r#"{"i":1}"#)], r#"{"o":{"i":1}}"#),
        (vec![build(false, &[])], "{}"),
    ] {
        is("JSON_OBJECT", &args, &format!("{expected} :: STRING NOT NULL"));
    }
    for (args, expected) in [
        (vec![build(true, &[false; 3]), int(1), text("x"), boolean(true)], r#"[1,"x",true]"#),
        (vec![build(true, &[false; 2]), null(T::Int), int(1)], "[1]"),
        (vec![build(false, &[false; 2]), null(T::Int), int(1)], "[null,1]"),
        (vec![build(true, &[true]), text("[1]")], "[[1]]"),
        (vec![build(true, &[])], "[]"),
    ] {
        is("JSON_ARRAY", &args, &format!("{expected} :: STRING NOT NULL"));
    }
    assert_eq!(refusal("JSON_OBJECT", &[build(false, &[false]), int(1), int(1)]), "Expected a character type");
    is("JSON", &[text(r#"{"b":1, "a":2.50}"#), symbol("INSIDE")], r#"{"a":2.50,"b":1} :: STRING NOT NULL"#);
    assert!(refusal("JSON", &[text("{}")]).starts_with("The JSON() function is currently only supported inside"));
    is("JSON_QUOTE", &[text("a/b\"c\\d\né")], r#""a\/b\"c\\d\n\u00e9" :: STRING NOT NULL"#);
    for (quoted, expected) in [
        ("\"abc\"", "abc"),
        ("abc", "abc"),
        ("\"a", "\"a"),
        (r#""a\u00e9\n""#, "aé\n"),
        (r#""\u00""#, r#""\u00""#),
        (r#""bad\q""#, r#""bad\q""#),
        ("\"\"", ""),
        ("\"", "\""),
        (r#"{"a":1}"#, r#"{"a":1}"#),
        (r#""a"b""#, "a\"b"),
        (" \"a\" ", " \"a\" "),
    ] {
        is("JSON_UNQUOTE", &[text(quoted)], &format!("{expected} :: STRING NOT NULL"));
    }
}
