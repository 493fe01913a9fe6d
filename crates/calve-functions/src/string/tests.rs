//! Results of a real Flink.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

use calve_types::LogicalType as T;

use crate::testing::*;

#[test]
fn notations() {
    is("HEX", &[int(255)], "FF :: STRING NOT NULL");
    is("HEX", &[int(-1)], "FFFFFFFFFFFFFFFF :: STRING NOT NULL");
    is("HEX", &[text("é")], "C3A9 :: STRING NOT NULL");
    is("HEX", &[null(T::Int)], "NULL :: STRING");
    assert_eq!(
        refusal("HEX", &[dec("1.5")]),
        "Cannot apply 'HEX' to arguments of type 'HEX(<DECIMAL(2, 1)>)'. Supported form(s): 'HEX(<INTEGER>)'\n'HEX(<CHARACTER>)'"
    );
    is("UNHEX", &[text("616263")], "x'616263' :: BYTES");
    is("UNHEX", &[text("aBc")], "x'00bc' :: BYTES");
    is("UNHEX", &[text("1")], "x'00' :: BYTES");
    is("UNHEX", &[text("zz")], "NULL :: BYTES");
    is("UNHEX", &[text("é")], "NULL :: BYTES");
    is("BIN", &[int(4)], "100 :: STRING NOT NULL");
    is("BIN", &[of(-1, T::TinyInt)], &format!("{} :: STRING NOT NULL", "1".repeat(64)));
    is("CHR", &[int(97)], "a :: STRING");
    is("CHR", &[int(353)], "a :: STRING");
    is("CHR", &[int(-1)], " :: STRING");
    is("CHR", &[int(233)], "é :: STRING");
    is("CHR", &[of(256, T::BigInt)], "\0 :: STRING");
    is("TO_BASE64", &[text("flink")], "Zmxpbms= :: STRING NOT NULL");
    is("TO_BASE64", &[bytes(&[0, 255])], "AP8= :: STRING NOT NULL");
    is("FROM_BASE64", &[text("Zmxpbms=")], "flink :: STRING NOT NULL");
    is("FROM_BASE64", &[text("aGVsbG8")], "hello :: STRING NOT NULL");
    is("FROM_BASE64", &[text("/w==")], "\u{FFFD} :: STRING NOT NULL");
    assert_eq!(refusal("FROM_BASE64", &[text("!!!")]), "Illegal base64 character 21");
    assert_eq!(refusal("FROM_BASE64", &[text("aGVs bG8=")]), "Illegal base64 character 20");
    is("ENCODE", &[text("hi"), text("US-ASCII")], "x'6869' :: BYTES");
    is("ENCODE", &[text("a"), text("UTF-16")], "x'feff0061' :: BYTES");
    is("ENCODE", &[text("aéł"), text("ISO-8859-1")], "x'61e93f' :: BYTES");
    is("DECODE", &[bytes(&[0xC3, 0xA9]), text("UTF-8")], "é :: STRING");
    is("DECODE", &[bytes(&[0xC3, 0xA9]), text("us-ascii")], "\u{FFFD}\u{FFFD} :: STRING");
    is("DECODE", &[bytes(&[0, 0xE9]), text("UTF-16")], "é :: STRING");
    is("DECODE", &[bytes(&[0xE9, 0]), text("utf-16le")], "é :: STRING");
    assert_eq!(refusal("ENCODE", &[text("a"), text("NOSUCH")]), "NOSUCH");
}

#[test]
fn hashes() {
    is("MD5", &[text("hello")], "5d41402abc4b2a76b9719d911017c592 :: CHAR(32) NOT NULL");
    is("MD5", &[text("")], "d41d8cd98f00b204e9800998ecf8427e :: CHAR(32) NOT NULL");
    is("MD5", &[null(T::STRING)], "NULL :: CHAR(32)");
    is("SHA1", &[text("hello")], "aaf4c61ddcc5e8a2dabede0f3b482cd9aea9434d :: CHAR(40) NOT NULL");
    is("SHA224", &[text("hello")], "ea09ae9cc6768c50fcee903ed054556e5bfc8347907f12598aa24193 :: CHAR(56) NOT NULL");
    let sha256 = "2cf24dba5fb0a30e26e83b2ac5b9e29e1b161e5c1fa7425e73043362938b9824";
    is("SHA256", &[text("hello")], &format!("{sha256} :: CHAR(64) NOT NULL"));
    is("SHA2", &[text("hello"), int(256)], &format!("{sha256} :: VARCHAR(128) NOT NULL"));
    assert!(call("SHA384", &[text("hello")]).unwrap().starts_with("59e1748777448c69de6b800d7a33bbfb"));
    assert!(call("SHA512", &[text("hello")]).unwrap().starts_with("9b71d224bd62f3785d96d46ad3ea3d73"));
    assert_eq!(refusal("SHA2", &[text("hello"), int(128)]), "Unsupported algorithm.");
}

#[test]
fn urls() {
    is("URL_ENCODE", &[text("a~b*c-d_e.f g+h/ł")], "a%7Eb*c-d_e.f+g%2Bh%2F%C5%82 :: STRING");
    is("URL_DECODE", &[text("a+b%26c")], "a b&c :: STRING");
    is("URL_DECODE", &[text("%ff")], "\u{FFFD} :: STRING");
    for torn in ["%", "%4", "%zz", "%-1"] {
        is("URL_DECODE", &[text(torn)], "NULL :: STRING");
    }
    let full = "http://u:p@h.com:80/a/b;c?q=1&r=%20x#f";
    for (url, part, expected) in [
        (full, "HOST", "h.com"),
        (full, "PATH", "/a/b;c"),
        (full, "QUERY", "q=1&r=%20x"),
        (full, "REF", "f"),
        (full, "PROTOCOL", "http"),
        (full, "AUTHORITY", "u:p@h.com:80"),
        (full, "FILE", "/a/b;c?q=1&r=%20x"),
        (full, "USERINFO", "u:p"),
        (full, "host", "NULL"),
        (" http://h/p ", "PATH", "/p"),
        ("HTTP://H/P", "PROTOCOL", "http"),
        ("file:///tmp/x", "AUTHORITY", ""),
        ("file:///tmp/x", "HOST", ""),
        ("foo://h/p", "HOST", "NULL"),
        ("http://[::1]:8080/p", "HOST", "[::1]"),
        ("http://h/p?q#", "REF", ""),
        ("http://h?x=1", "FILE", "?x=1"),
        ("http:/x", "AUTHORITY", "NULL"),
        ("http:/x", "HOST", ""),
        ("mailto:a@b.c", "PATH", "a@b.c"),
        ("h.com/p", "PATH", "NULL"),
        ("", "HOST", "NULL"),
    ] {
        is("PARSE_URL", &[text(url), text(part)], &format!("{expected} :: STRING"));
    }
    let key = |url, key, expected: &str| {
        is("PARSE_URL", &[text(url), text("QUERY"), text(key)], &format!("{expected} :: STRING"));
    };
    key("http://h/p?a=1&b=&c&a=2&aa=3", "a", "1");
    key("http://h/p?a=1&b=&c", "b", "");
    key("http://h/p?a=1&b=&c", "c", "NULL");
    key("http://h/p?aa=1", "a", "NULL");
    key("http://h/p?a.b=1", "a.b", "1");
}

#[test]
fn parts() {
    for (text_of, separator, expected) in [
        ("a,b,,c,", ",", "[a, b, , c, ]"),
        ("abc", "", "[a, b, c]"),
        ("aéb", "", "[a, é, b]"),
        ("", ",", "[]"),
        ("a||b", "||", "[a, b]"),
        ("a.b", ".", "[a, b]"),
    ] {
        is("SPLIT", &[text(text_of), text(separator)], &format!("{expected} :: ARRAY<STRING> NOT NULL"));
    }
    is("SPLIT", &[text("abc"), null(T::STRING)], "NULL :: ARRAY<STRING>");
    is("SPLIT_INDEX", &[text("a,b"), int(44), int(1)], "b :: STRING");
    is("SPLIT_INDEX", &[text("a,b"), text(","), int(-1)], "NULL :: STRING");
    for (values, expected) in [
        (vec![text("a=1,b=2")], "{a=1, b=2}"),
        (vec![text("a,b=")], "{a=NULL, b=}"),
        (vec![text("")], "{}"),
        (vec![text("a=1=2,a=3")], "{a=3}"),
        (vec![text(",,")], "{}"),
        (vec![text("a.1|b.2"), text("|"), text(".")], "{=}"),
        (vec![text("k:v;k2:v2"), text("[;,]"), text(":")], "{k=v, k2=v2}"),
        (vec![null(T::STRING)], "NULL"),
    ] {
        is("STR_TO_MAP", &values, &format!("{expected} :: MAP<STRING, STRING>"));
    }
    is("ELT", &[int(2), text("a"), text("b")], "b :: CHAR(1)");
    is("ELT", &[int(5), text("a"), text("b")], "NULL :: CHAR(1)");
    is("ELT", &[int(0), text("a")], "NULL :: CHAR(1)");
    is("ELT", &[int(1), bytes(&[1]), bytes(&[2, 3])], "x'01' :: VARBINARY(2)");
    assert_eq!(refusal("ELT", &[int(-1), text("a")]), "Index must be an integer starting from '0', but was '-1'.");
    is("TRANSLATE", &[text("abcabc"), text("ab"), text("x")], "xcxc :: STRING NOT NULL");
    is("TRANSLATE", &[text("abc"), text("aa"), text("xy")], "xbc :: STRING NOT NULL");
    is("TRANSLATE", &[text("abc"), null(T::STRING), text("b")], "abc :: STRING NOT NULL");
    is("TRANSLATE", &[text("abc"), text("ab"), null(T::STRING)], "c :: STRING NOT NULL");
    is("STARTSWITH", &[bytes(&[1, 2]), bytes(&[1])], "TRUE :: BOOLEAN NOT NULL");
    is("ENDSWITH", &[text("hello"), text("lo")], "TRUE :: BOOLEAN NOT NULL");
    is("BTRIM", &[text("abcab"), text("ab")], "c :: STRING NOT NULL");
    for (values, expected) in [
        (vec![text("X"), int(3)], "abXdef"),
        (vec![text("XYZ"), int(3), int(1)], "abXYZdef"),
        (vec![text("X"), int(0)], "abcdef"),
        (vec![text("X"), int(-1)], "abcdef"),
        (vec![text("X"), int(3), int(-1)], "abX"),
        (vec![text("X"), int(3), int(0)], "abX"),
        (vec![text("X"), int(6), int(10)], "abcdeX"),
        (vec![text("X"), int(7)], "abcdef"),
        (vec![text(""), int(2), int(2)], "adef"),
    ] {
        let values: Vec<V> = std::iter::once(text("abcdef")).chain(values).collect();
        assert!(call("OVERLAY", &values).unwrap().starts_with(&format!("{expected} :: VARCHAR(")), "{values:?}");
    }
    is("OVERLAY", &[text("xxxxxtest"), text("xxxx"), int(6), int(2)], "xxxxxxxxxst :: VARCHAR(13) NOT NULL");
}

#[test]
fn kinds_of_text() {
    let kind = |name: &str, value: &str, expected: &str| {
        is(name, &[text(value)], &format!("{expected} :: BOOLEAN NOT NULL"));
    };
    for (value, expected) in [("", "FALSE"), ("é", "TRUE"), ("a1", "FALSE")] {
        kind("IS_ALPHA", value, expected);
    }
    for (value, expected) in [("", "FALSE"), ("-1", "FALSE"), ("٣", "TRUE"), ("12a", "FALSE")] {
        kind("IS_DIGIT", value, expected);
    }
    for value in ["-1.5e3", " 1", "1.", ".5", "+5", "NaN", "1d", "Infinity", "99999999999999999999"] {
        kind("IS_DECIMAL", value, "TRUE");
    }
    for value in ["", "0x1F", "1L", "x", "1e"] {
        kind("IS_DECIMAL", value, "FALSE");
    }
    let (yes, no) = ("TRUE :: BOOLEAN NOT NULL", "FALSE :: BOOLEAN NOT NULL");
    is("IS_DIGIT", &[int(-5)], yes);
    is("IS_DIGIT", &[double(1.5)], no);
    is("IS_DIGIT", &[dec("1.5")], no);
    is("IS_ALPHA", &[int(5)], no);
    is("IS_DECIMAL", &[int(5)], yes);
    is("IS_DECIMAL", &[double(1.5)], yes);
    is("IS_DECIMAL", &[dec("1.5")], no);
    is("IS_ALPHA", &[null(T::STRING)], "FALSE :: BOOLEAN NOT NULL");
}

#[test]
fn matches() {
    for (name, values, expected) in [
        ("REGEXP_COUNT", ["abcabc", "b"], "2"),
        ("REGEXP_COUNT", ["aaa", "aa"], "1"),
        ("REGEXP_COUNT", ["aaa", ""], "4"),
        ("REGEXP_COUNT", ["", ""], "1"),
        ("REGEXP_COUNT", ["abc", "("], "NULL"),
        ("REGEXP_INSTR", ["abcabc", "ca"], "3"),
        ("REGEXP_INSTR", ["éb", "b"], "2"),
        ("REGEXP_INSTR", ["abc", ""], "1"),
        ("REGEXP_INSTR", ["", "a"], "0"),
    ] {
        is(name, &values.map(text), &format!("{expected} :: INT"));
    }
    is("REGEXP_SUBSTR", &[text("abc123"), text("[0-9]+")], "123 :: STRING");
    is("REGEXP_SUBSTR", &[text("abc"), text("z")], "NULL :: STRING");
    is("REGEXP_SUBSTR", &[text("abc"), text("(")], "NULL :: STRING");
    for (values, expected) in [
        (vec![text("a1b2"), text("([a-z])([0-9])")], "[a, b]"),
        (vec![text("a1b2"), text("([a-z])([0-9])"), int(2)], "[1, 2]"),
        (vec![text("a1b2"), text("[a-z]([0-9])"), int(0)], "[a1, b2]"),
        (vec![text("a1b2"), text("[a-z]"), int(1)], "NULL"),
        (vec![text("a1b2"), text("[a-z]([0-9])"), int(-1)], "NULL"),
        (vec![text("ab"), text("(a)|(b)"), int(1)], "[a, NULL]"),
        (vec![text("abc"), text("(z)")], "[]"),
        (vec![text("abc"), text("(")], "NULL"),
    ] {
        is("REGEXP_EXTRACT_ALL", &values, &format!("{expected} :: ARRAY<STRING>"));
    }
}

#[test]
fn formatted() {
    let printed = |format: &str, values: &[V], expected: &str| {
        let values: Vec<V> = std::iter::once(text(format)).chain(values.iter().cloned()).collect();
        is("PRINTF", &values, &format!("{expected} :: STRING"));
    };
    printed("%d-%s", &[int(5), text("x")], "5-x");
    printed("%,d|%+d|%(d|% d", &[int(1_234_567), int(5), int(-5), int(4)], "1,234,567|+5|(5)| 4");
    printed("%5d|%-5d|%05d", &[int(42), int(42), int(7)], "   42|42   |00007");
    printed("%x %X %o %#x", &[int(255), int(255), int(8), int(255)], "ff FF 10 0xff");
    printed("%x|%o|%x", &[int(-1), of(-1, T::SmallInt), of(-1, T::TinyInt)], "ffffffff|177777|ff");
    printed("%e|%.3e|%f", &[double(12345.678), double(0.0), double(1.5)], "1.234568e+04|0.000e+00|1.500000");
    printed(
        "%,.2f|%10.1f|%-8.1f|",
        &[double(1_234_567.891), double(2.25), double(2.35)],
        "1,234,567.89|       2.3|2.4     |",
    );
    printed("%.3f|%.0f|%.0f|%.1f", &[double(2.0005), double(0.5), double(1.5), double(0.15)], "2.001|1|2|0.2");
    printed("%08.2f|%.2f", &[double(-1.5), double(1.005)], "-0001.50|1.01");
    printed("%g|%.3g|%g", &[double(0.00001), double(123_456.0), double(1e10)], "1.00000e-05|1.23e+05|1.00000e+10");
    printed("%5s|%-5s|%.2s|%5%|%n", &[text("ab"), text("ab"), text("abc")], "   ab|ab   |ab|    %|\n");
    printed("%S %b %B", &[text("aß"), null(T::Boolean), text("x")], "ASS false TRUE");
    printed("%2$s %1$s", &[text("a"), text("b")], "b a");
    printed("%3$s %s %<s %s", &[text("a"), text("b"), text("c")], "c a a b");
    printed("%c %h", &[int(65), text("a")], "A 61");
    printed("%s %s", &[dec("1.5"), double(2.5)], "1.5 2.5");
    printed("%s", &[null(T::STRING)], "null");
    printed("%s %s", &[date("2024-01-01"), timestamp("2024-01-01 10:00:00")], "19723 2024-01-01T10:00");
    printed("%s|%s", &[time("10:00:01"), timestamp("2024-01-01 10:00:00.12")], "36001000|2024-01-01T10:00:00.120");
    for (format, value) in [
        ("%d", text("x")),
        ("%q", int(1)),
        ("%10.3f|", dec("3.14159")),
        ("%d", dec("1.5")),
        ("%c", text("c")),
        ("%d %d", int(1)),
        ("%-d", int(1)),
        ("%05s", text("a")),
        ("%.2d", int(1)),
        ("%", int(1)),
        ("%0d", int(1)),
        ("%d", boolean(true)),
        ("%<s", int(1)),
    ] {
        printed(format, &[value], "NULL");
    }
    is("PRINTF", &[null(T::STRING), int(1)], "NULL :: STRING");
    assert_eq!(call("PRINTF", &[text("%999999999s"), text("a")]).unwrap(), "NULL :: STRING");
}

#[test]
fn uuids() {
    let uuid = call_unequal("UUID");
    assert_eq!(uuid.0.len(), 36);
    assert_ne!(uuid.0, uuid.1, "one for each row");
}
