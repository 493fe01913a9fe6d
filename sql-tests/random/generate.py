#!/usr/bin/env python3
"""Writes scripts of random questions about expressions, to be answered by a real Flink and by calve.

    generate.py SEED FILES STATEMENTS FOLDER

writes FILES scripts of STATEMENTS questions each. Expressions have random types, literals and columns, operators,
casts and calls of every function that gives the same result each time. Most fit their arguments' types; a few do not,
so that refusals are asked too.

Not asked is what Flink itself gets wrong or leaves open: fields of times before 1970, ENCODE of constants, TO_DATE of
texts that do not follow the pattern, ARRAYs and MAPs of TINYINT and SMALLINT, VALUES that mix kinds of numbers,
GREATEST of NULLs among DECIMALs, elements beyond the end, TRUNCATE of FLOAT, a TIME cut to days, the order of a MAP's keys.
"""
import random
import sys

INTEGERS = ["TINYINT", "SMALLINT", "INT", "BIGINT"]
DECIMALS = ["DECIMAL(3, 1)", "DECIMAL(5, 0)", "DECIMAL(10, 2)", "DECIMAL(18, 6)", "DECIMAL(20, 0)", "DECIMAL(38, 0)",
            "DECIMAL(38, 18)", "DECIMAL(38, 38)"]
# A kind stands for a family of types: the kinds' letters make up the signatures below.
TYPES = {
    "I": INTEGERS, "M": DECIMALS, "F": ["FLOAT", "DOUBLE"], "s": ["CHAR(1)", "CHAR(5)", "VARCHAR(3)", "VARCHAR(20)", "STRING"],
    "x": ["BINARY(1)", "BINARY(4)", "VARBINARY(3)", "BYTES"], "b": ["BOOLEAN"], "d": ["DATE"], "t": ["TIME", "TIME(3)"],
    "T": ["TIMESTAMP", "TIMESTAMP(0)", "TIMESTAMP(3)", "TIMESTAMP(6)", "TIMESTAMP(9)"],
    "L": ["TIMESTAMP_LTZ", "TIMESTAMP_LTZ(0)", "TIMESTAMP_LTZ(3)", "TIMESTAMP_LTZ(9)"],
    "y": ["INTERVAL YEAR", "INTERVAL MONTH", "INTERVAL YEAR TO MONTH"],
    "z": ["INTERVAL DAY", "INTERVAL SECOND(3)", "INTERVAL DAY TO SECOND(3)", "INTERVAL HOUR TO MINUTE"],
    "aI": ["ARRAY<INT>", "ARRAY<BIGINT>"], "as": ["ARRAY<STRING>", "ARRAY<VARCHAR(3)>"],
    "m": ["MAP<STRING, INT>", "MAP<STRING, STRING>"], "r": ["ROW<x INT, y STRING>", "ROW<x BIGINT, y CHAR(2)>"],
}
NUMBERS, TIMES = "IMF", "dtTL"
SCALARS = ["I", "I", "M", "F", "s", "s", "x", "b", "d", "t", "T", "L", "y", "z"]
ALL = SCALARS + ["aI", "as", "m", "r"]

STRINGS = ["", " ", "a", "abc", "Hello World", " 12 ", "3.14", "-7", "true", "FALSE", "1e3", "2024-02-29", "12:34:56",
           "2024-02-29 12:34:56.789", "é", "你好", "\U0001F600x", "a,b,c", "a=1,b=2", "k1:v1",
           '{"a":1,"b":[1,2.50,"x",null],"c":{"d":true}}', "[1,2,3]", "http://user@host:80/p/q.html?k=v&w=1#ref", "%", "a_b",
           "it''s", "x\\y", "foobar", "aaa", "AbC", "0", "99999999999", "1.5.2", "+5", "NaN", "00ff", "aGVsbG8=", "a b  c",
           "x+y", "-"]
PATTERNS = ["a", "b+", "[a-z]+", "(\\w)(\\w)", "^a", "c$", "\\d+", "o", ".", "(foo)(bar)?", "x|y", "", "[A-C]", "\\s", "a{2}"]
FORMATS = ["yyyy-MM-dd", "yyyy-MM-dd HH:mm:ss", "dd/MM/yy", "yyyyMMdd", "HH:mm", "yyyy-MM-dd HH:mm:ss.SSS", "MMM d, yyyy", "EEE",
           "D", "hh:mm a"]
PATHS = ["$", "$.a", "$.b", "$.b[0]", "$.b[*]", "$.c.d", "lax $.x", "strict $.x", "$.b[1]"]
UNITS = ["YEAR", "QUARTER", "MONTH", "WEEK", "DAY", "HOUR", "MINUTE", "SECOND"]
ZONES = ["UTC", "America/New_York", "Asia/Kolkata", "+02:00", "Europe/Berlin"]

# name(arguments): result. A quoted argument is one of a list of texts; `n` a small integer, `k` a literal one, `N` any number, `?` any scalar.
CALLS = """
ABS(N):N SIGN(N):N CEIL(N):N FLOOR(N):N ROUND(N):N ROUND(N,k):N TRUNCATE(M):M TRUNCATE(M,k):M MOD(I,I):I MOD(M,M):M
SQRT(N):F EXP(n):F LN(N):F LOG10(N):F LOG2(N):F LOG(N):F LOG(N,N):F POWER(N,n):F SIN(N):F COS(N):F TAN(N):F COT(N):F ASIN(N):F
ACOS(N):F ATAN(N):F ATAN2(N,N):F SINH(n):F COSH(n):F TANH(N):F DEGREES(N):F RADIANS(N):F PI():F E():F BIN(I):s HEX(I):s HEX(s):s
UNHEX(s):x GREATEST(I,I):I LEAST(I,I,I):I GREATEST(s,s):s LEAST(d,d):d GREATEST(T,T):T
CHAR_LENGTH(s):I CHARACTER_LENGTH(s):I UPPER(s):s LOWER(s):s INITCAP(s):s TRIM(s):s LTRIM(s):s RTRIM(s):s BTRIM(s):s BTRIM(s,s):s
LTRIM(s,s):s RTRIM(s,s):s REPEAT(s,n):s REVERSE(s):s REPLACE(s,s,s):s LPAD(s,n,s):s RPAD(s,n,s):s LEFT(s,n):s RIGHT(s,n):s
SUBSTRING(s,n):s SUBSTRING(s,n,n):s SUBSTR(s,n):s SUBSTR(s,n,n):s CONCAT(s,s):s CONCAT(s,s,s):s CONCAT_WS(s,s,s):s
INSTR(s,s):I LOCATE(s,s):I LOCATE(s,s,n):I ASCII(s):I CHR(I):s ELT(n,s,s):s ENDSWITH(s,s):b STARTSWITH(s,s):b TRANSLATE(s,s,s):s
MD5(s):s SHA1(s):s SHA224(s):s SHA256(s):s SHA384(s):s SHA512(s):s SHA2(s,'256'):s TO_BASE64(s):s FROM_BASE64(s):s
DECODE(x,'enc'):s SPLIT_INDEX(s,s,n):s SPLIT(s,s):as STR_TO_MAP('k=1'):m
PARSE_URL(s,'part'):s URL_ENCODE(s):s URL_DECODE(s):s REGEXP(s,'re'):b REGEXP_REPLACE(s,'re',s):s REGEXP_EXTRACT(s,'re'):s
REGEXP_EXTRACT(s,'re',n):s REGEXP_COUNT(s,'re'):I REGEXP_INSTR(s,'re'):I REGEXP_SUBSTR(s,'re'):s REGEXP_EXTRACT_ALL(s,'re'):as
IS_ALPHA(s):b IS_DIGIT(s):b IS_DECIMAL(s):b PRINTF('%s-%s',s,s):s PRINTF('%d',I):s
IF(b,N,N):N IF(b,s,s):s NULLIF(N,N):N NULLIF(s,s):s COALESCE(N,N):N COALESCE(s,s,s):s COALESCE(?,?):? IFNULL(N,N):N IFNULL(s,s):s
TYPEOF(?):s
DATE_FORMAT(T,'fmt'):s DATE_FORMAT(s,'fmt'):s DATE_FORMAT(L,'fmt'):s TO_DATE(s):d TO_TIMESTAMP(s):T TO_TIMESTAMP(s,'fmt'):T
TO_TIMESTAMP_LTZ(I,n):L TO_TIMESTAMP_LTZ(I):L TO_TIMESTAMP_LTZ(s):L FROM_UNIXTIME(I):s FROM_UNIXTIME(I,'fmt'):s UNIX_TIMESTAMP(s):I
UNIX_TIMESTAMP(s,'fmt'):I CONVERT_TZ(s,'zone','zone'):s YEAR(d):I QUARTER(d):I MONTH(T):I WEEK(d):I DAYOFYEAR(T):I DAYOFMONTH(d):I
DAYOFWEEK(T):I HOUR(T):I MINUTE(t):I SECOND(T):I YEAR(L):I
CARDINALITY(aI):I CARDINALITY(m):I ELEMENT(aI):I ARRAY_APPEND(aI,I):aI ARRAY_CONCAT(aI,aI):aI ARRAY_CONTAINS(aI,I):b
ARRAY_CONTAINS(as,s):b ARRAY_DISTINCT(aI):aI ARRAY_EXCEPT(aI,aI):aI ARRAY_INTERSECT(as,as):as ARRAY_JOIN(as,s):s ARRAY_JOIN(as,s,s):s
ARRAY_MAX(aI):I ARRAY_MIN(as):s ARRAY_POSITION(aI,I):I ARRAY_PREPEND(as,s):as ARRAY_REMOVE(aI,I):aI ARRAY_REVERSE(as):as
ARRAY_SLICE(aI,n):aI ARRAY_SLICE(aI,n,n):aI ARRAY_SORT(aI):aI ARRAY_SORT(as,b):as ARRAY_UNION(aI,aI):aI MAP_KEYS(m):as MAP_VALUES(m):as
MAP_ENTRIES(m):? MAP_FROM_ARRAYS(as,aI):m
JSON_VALUE(s,'path'):s JSON_QUERY(s,'path'):s JSON_EXISTS(s,'path'):b JSON_STRING(?):s JSON_QUOTE(s):s JSON_UNQUOTE(s):s
JSON_ARRAY(?,?):s RAND_INTEGER(I,I):I
""".split()
AGGREGATES = """COUNT(?):I SUM(N):N AVG(N):N MIN(?):? MAX(?):? STDDEV_POP(N):F STDDEV_SAMP(N):F VAR_POP(N):F VAR_SAMP(N):F
FIRST_VALUE(?):? LAST_VALUE(?):? LISTAGG(s):s LISTAGG(s,'|'):s COLLECT(?):? ARRAY_AGG(?):? COUNT(DISTINCT ?):I SUM(DISTINCT N):N
PERCENTILE(N,'0.5'):F""".split("\n")
AGGREGATES = [call for line in AGGREGATES for call in line.replace("DISTINCT ", "DISTINCT_").split()]

# The order of rows in a table, and of keys in what Flink prints of a MULTISET, is nobody's.
ORDER_DEPENDENT = ["FIRST_VALUE", "LAST_VALUE", "LISTAGG", "COLLECT", "ARRAY_AGG"]

COLUMNS = [
    ("b", "BOOLEAN", "b", ["TRUE", "FALSE"]),
    ("i1", "TINYINT", "I", ["CAST(7 AS TINYINT)", "CAST(-128 AS TINYINT)"]),
    ("i2", "SMALLINT", "I", ["CAST(-300 AS SMALLINT)", "CAST(32767 AS SMALLINT)"]),
    ("i4", "INT", "I", ["42", "-2147483648"]),
    ("i8", "BIGINT", "I", ["CAST(5 AS BIGINT)", "9223372036854775807"]),
    ("f4", "FLOAT", "F", ["CAST(1.5 AS FLOAT)", "CAST(-0.1 AS FLOAT)"]),
    ("f8", "DOUBLE", "F", ["CAST(2.5 AS DOUBLE)", "-1.0E10"]),
    ("d1", "DECIMAL(10, 2)", "M", ["CAST(123.45 AS DECIMAL(10, 2))", "CAST(-0.05 AS DECIMAL(10, 2))"]),
    ("d2", "DECIMAL(38, 18)", "M", ["CAST(3.141592653589793238 AS DECIMAL(38, 18))", "CAST(-99999.5 AS DECIMAL(38, 18))"]),
    ("d3", "DECIMAL(5, 0)", "M", ["CAST(99999 AS DECIMAL(5, 0))", "CAST(2 AS DECIMAL(5, 0))"]),
    ("c", "CHAR(5)", "s", ["CAST('ab' AS CHAR(5))", "CAST('12345' AS CHAR(5))"]),
    ("v", "VARCHAR(20)", "s", ["CAST('Hello' AS VARCHAR(20))", "CAST('2024-03-10 08:00:00' AS VARCHAR(20))"]),
    ("s", "STRING", "s", ["CAST('a,b,c' AS STRING)", "CAST(' 17 ' AS STRING)"]),
    ("bn", "BINARY(3)", "x", ["CAST(X'010203' AS BINARY(3))", "CAST(X'616263' AS BINARY(3))"]),
    ("vb", "BYTES", "x", ["CAST(X'68656C6C6F' AS BYTES)", "CAST(X'' AS BYTES)"]),
    ("dt", "DATE", "d", ["DATE '2024-02-29'", "DATE '1969-12-31'"]),
    ("tm", "TIME", "t", ["TIME '12:34:56'", "TIME '00:00:00'"]),
    ("t0", "TIMESTAMP(0)", "T", ["TIMESTAMP '2024-02-29 12:34:56'", "TIMESTAMP '1999-12-31 23:59:59'"]),
    ("t3", "TIMESTAMP(3)", "T", ["TIMESTAMP '2024-02-29 12:34:56.789'", "TIMESTAMP '2000-01-01 00:00:00.001'"]),
    ("t9", "TIMESTAMP(9)", "T", ["TIMESTAMP '2024-02-29 12:34:56.123456789'", "TIMESTAMP '2020-06-30 23:59:59.999999999'"]),
    ("l3", "TIMESTAMP_LTZ(3)", "L", ["TO_TIMESTAMP_LTZ(1709210096789, 3)", "TO_TIMESTAMP_LTZ(0, 3)"]),
    ("ai", "ARRAY<INT>", "aI", ["CAST(ARRAY[1, 2, 3] AS ARRAY<INT>)", "CAST(ARRAY[5, CAST(NULL AS INT), 5] AS ARRAY<INT>)"]),
    ("ax", "ARRAY<STRING>", "as", ["CAST(ARRAY['x', 'yy'] AS ARRAY<STRING>)", "CAST(ARRAY['b', 'a', CAST(NULL AS STRING)] AS ARRAY<STRING>)"]),
    ("m", "MAP<STRING, INT>", "m", ["CAST(MAP['a', 1] AS MAP<STRING, INT>)", "CAST(MAP['k', CAST(NULL AS INT)] AS MAP<STRING, INT>)"]),
    ("r", "ROW<x INT, y STRING>", "r", ["CAST(ROW(1, 'x') AS ROW<x INT, y STRING>)", "CAST(ROW(CAST(NULL AS INT), '') AS ROW<x INT, y STRING>)"]),
]


def calls_by_result(calls):
    by = {}
    for call in calls:
        head, result = call.rsplit(":", 1)
        name, arguments = head[:-1].split("(", 1)
        parts, quoted, part = [], False, ""
        for ch in arguments:
            quoted ^= ch == "'"
            if ch == "," and not quoted:
                parts.append(part)
                part = ""
            else:
                part += ch
        parts = parts + [part] if arguments else []
        for kind in {"N": NUMBERS, "?": "IMFsxbdtTL"}.get(result, [result]):
            by.setdefault(kind, []).append((name, parts))
    return by


SCALAR_CALLS, AGGREGATE_CALLS = calls_by_result(CALLS), calls_by_result(AGGREGATES)


class Generator:
    def __init__(self, rng):
        self.rng = rng
        self.use_columns = False

    def pick(self, items):
        return self.rng.choice(items)

    def chance(self, share):
        return self.rng.random() < share

    def text(self, values):
        return "'" + self.pick(values) + "'"

    def literal(self, kind):
        rng, pick = self.rng, self.pick
        if kind == "n":
            return str(pick([-1, 0, 1, 1, 2, 2, 3, 5]))
        if kind == "I":
            value = str(pick([0, 1, -1, 2, 3, 7, 10, 100, 127, 128, -129, 32768, 65535, 1000000, 2147483647, -2147483648, 2147483648,
                              9223372036854775807, rng.randint(-1000, 1000), rng.randint(-10**12, 10**12)]))
            return value if self.chance(0.6) else "CAST(%s AS %s)" % (value, pick(INTEGERS))
        if kind == "M":
            value = pick(["0.0", "1.5", "-2.25", "0.05", "123.456", "99.99", "1.000", "12345678901234567890.5", "-0.001", "2.5", "3.5", "1e0",
                          "%d.%02d" % (rng.randint(-999, 999), rng.randint(0, 99))])
            return value if self.chance(0.6) else "CAST(%s AS %s)" % (value, pick(DECIMALS))
        if kind == "F":
            value = pick(["0.0E0", "1.5E0", "-2.5E0", "1.0E10", "1.0E-5", "3.14159E0", "1E100", "-0.0E0", "123456.789E0", "0.1E0", "1.0E7", "1E-3"])
            return value if self.chance(0.6) else "CAST(%s AS %s)" % (value, pick(TYPES["F"]))
        if kind == "s":
            value = self.text(STRINGS)
            return value if self.chance(0.8) else "CAST(%s AS %s)" % (value, pick(TYPES["s"]))
        if kind == "x":
            return pick(["X''", "X'00'", "X'616263'", "X'FF80'", "CAST('abc' AS BYTES)", "X'68656C6C6F'"])
        if kind == "b":
            return pick(["TRUE", "FALSE", "CAST(NULL AS BOOLEAN)"])
        if kind == "d":
            return "DATE '%s'" % pick(["2024-02-29", "1970-01-01", "1969-12-31", "2000-12-31", "0001-01-01", "9999-12-31", "2021-01-03", "1582-10-15"])
        if kind == "t":
            return "TIME '%s'" % pick(["00:00:00", "23:59:59", "12:34:56", "12:34:56.789", "06:07:08"])
        if kind == "T":
            return "TIMESTAMP '%s'" % pick(["2024-02-29 12:34:56", "2024-12-31 23:59:59.999", "1970-01-01 00:00:00",
                                            "2000-01-01 00:00:00.123456", "2020-02-29 01:02:03.123456789", "2100-01-01 10:11:12"])
        if kind == "L":
            return pick(["TO_TIMESTAMP_LTZ(0, 3)", "TO_TIMESTAMP_LTZ(1709210096, 0)", "TO_TIMESTAMP_LTZ(1709210096789, 3)",
                         "CAST(TIMESTAMP '2024-03-31 02:30:00' AS TIMESTAMP_LTZ(3))"])
        if kind == "y":
            return pick(["INTERVAL '1' YEAR", "INTERVAL '13' MONTH", "INTERVAL '1-2' YEAR TO MONTH", "INTERVAL '-5' MONTH", "INTERVAL '0' MONTH"])
        if kind == "z":
            return pick(["INTERVAL '1' DAY", "INTERVAL '36' HOUR", "INTERVAL '90' MINUTE", "INTERVAL '1.5' SECOND", "INTERVAL '1 02:03:04.567' DAY TO SECOND",
                         "INTERVAL '-10:30' HOUR TO MINUTE", "INTERVAL '0' SECOND"])
        if kind == "aI":
            return "ARRAY[%s]" % ", ".join(self.literal("n") for _ in range(rng.randint(1, 4)))
        if kind == "as":
            return "ARRAY[%s]" % ", ".join(self.text(STRINGS[:12]) for _ in range(rng.randint(1, 3)))
        if kind == "m":
            return "MAP[%s]" % ", ".join("'%s', %s" % (k, self.literal("n")) for k in "a")
        if kind == "r":
            return "ROW(%s, %s)" % (self.literal("n"), self.text(STRINGS[:8]))
        raise ValueError(kind)

    def leaf(self, kind):
        if self.chance(0.06) and kind in TYPES:
            return "CAST(NULL AS %s)" % self.pick(TYPES[kind])
        columns = [c[0] for c in COLUMNS if c[2] == kind]
        if self.use_columns and columns and self.chance(0.65):
            return "t." + self.pick(columns)
        return self.literal(kind)

    def argument(self, part, depth):
        if part.startswith("'"):
            lists = {"re": PATTERNS, "fmt": FORMATS, "path": PATHS, "zone": ZONES, "enc": ["UTF-8", "US-ASCII", "ISO-8859-1", "UTF-16BE"],
                     "part": ["HOST", "PATH", "QUERY", "REF", "PROTOCOL", "FILE", "AUTHORITY", "USERINFO"]}
            inner = part[1:-1]
            if inner in ("256", "0.5"):
                return inner
            return self.text(lists.get(inner, [inner]))
        if part == "k":
            return self.literal("n")
        if part == "n":
            return self.literal("n") if self.chance(0.8) else self.expr("I", depth)
        if part == "N":
            return self.expr(self.pick(NUMBERS), depth)
        if part == "?":
            return self.expr(self.pick(SCALARS), depth)
        return self.expr(part, depth)

    def call(self, name, parts, depth):
        distinct = [part.startswith("DISTINCT_") for part in parts]
        parts = [part.replace("DISTINCT_", "") for part in parts]
        arguments = ["DISTINCT " * d + self.argument(p, depth - 1) for d, p in zip(distinct, parts)]
        return "%s(%s)" % (name, ", ".join(arguments))

    def expr(self, kind, depth):
        """An expression of a kind; now and then of another."""
        if self.chance(0.02):
            kind = self.pick(ALL)
        if depth <= 0 or self.chance(0.15):
            return self.leaf(kind)
        ways = [self.cast, self.operator, self.operator, self.scalar_call, self.scalar_call, self.conditional]
        return self.pick(ways)(kind, depth)

    def scalar_call(self, kind, depth):
        calls = SCALAR_CALLS.get(kind)
        return self.call(*self.pick(calls), depth) if calls else self.leaf(kind)

    def cast(self, kind, depth):
        sources = {"I": NUMBERS + "sb", "M": NUMBERS + "sb", "F": NUMBERS + "sb", "s": ALL, "x": "sx", "b": "sIb", "d": "sTLd",
                   "t": "sTLt", "T": "sdTL", "L": "sdTL", "y": "I", "z": "I", "aI": ["aI"], "as": ["aI", "as"], "m": "m", "r": "r"}[kind]
        source = self.pick(sources) if self.chance(0.97) else self.pick(ALL)
        word = self.pick(["CAST", "CAST", "TRY_CAST"])
        return "%s(%s AS %s)" % (word, self.expr(source, depth - 1), self.pick(TYPES[kind]))

    def conditional(self, kind, depth):
        value = lambda: self.expr(kind, depth - 1)
        if self.chance(0.5):
            tail = " ELSE %s" % value() if self.chance(0.7) else ""
            return "CASE WHEN %s THEN %s%s END" % (self.expr("b", depth - 1), value(), tail)
        subject = self.pick(["I", "s", "d"])
        return "CASE %s WHEN %s THEN %s ELSE %s END" % (self.expr(subject, depth - 1), self.literal(subject), value(), value())

    def operator(self, kind, depth):
        sub = lambda k: self.expr(k, depth - 1)
        if kind in ("I", "M", "F"):
            if kind == "I" and self.chance(0.3):
                return self.pick([
                    lambda: "EXTRACT(%s FROM %s)" % (self.pick(UNITS + ["DOW", "DOY", "EPOCH", "MILLISECOND", "CENTURY", "ISODOW", "ISOYEAR"]), sub(self.pick("dTLz"))),
                    lambda: "TIMESTAMPDIFF(%s, %s, %s)" % (self.pick(UNITS), sub(self.pick("dT")), sub(self.pick("dT"))),
                    lambda: "POSITION(%s IN %s)" % (sub("s"), sub("s")),
                    lambda: "%s[1]" % self.leaf("aI"),
                    lambda: "%s['a']" % self.leaf("m"),
                ])()
            if self.chance(0.12):
                return "-(%s)" % sub(kind)
            other = kind if self.chance(0.7) else self.pick(NUMBERS)
            return "(%s %s %s)" % (sub(kind), self.pick("+-*/%" if kind != "F" else "+-*/"), sub(other))
        if kind == "s":
            return self.pick([
                lambda: "(%s || %s)" % (sub("s"), sub("s")),
                lambda: "TRIM(%s %s FROM %s)" % (self.pick(["BOTH", "LEADING", "TRAILING"]), self.text([" ", "a", "x"]), sub("s")),
                lambda: "SUBSTRING(%s FROM %s FOR %s)" % (sub("s"), self.literal("n"), self.literal("n")),
                lambda: "OVERLAY(%s PLACING %s FROM %s FOR %s)" % (sub("s"), sub("s"), self.literal("n"), self.literal("n")),
                lambda: "%s[1]" % self.leaf("as"),
                lambda: "JSON_OBJECT('k' VALUE %s)" % sub(self.pick(SCALARS)),
                lambda: "JSON_VALUE(%s, %s RETURNING STRING DEFAULT 'd' ON EMPTY)" % (sub("s"), self.text(PATHS)),
            ])()
        if kind == "b":
            same = self.pick(["I", "M", "F", "s", "x", "d", "t", "T", "L", "b", "y", "z"])
            other = same if same not in NUMBERS or self.chance(0.5) else self.pick(NUMBERS)
            if self.chance(0.05):
                other = self.pick(SCALARS)
            return self.pick([
                lambda: "(%s %s %s)" % (sub(same), self.pick(["=", "<>", "<", "<=", ">", ">="]), sub(other)),
                lambda: "(%s %s %s)" % (sub("b"), self.pick(["AND", "OR"]), sub("b")),
                lambda: "(NOT %s)" % sub("b"),
                lambda: "(%s IS %sNULL)" % (sub(self.pick(ALL)), self.pick(["", "NOT "])),
                lambda: "(%s IS %s%s)" % (sub("b"), self.pick(["", "NOT "]), self.pick(["TRUE", "FALSE", "UNKNOWN"])),
                lambda: "(%s %sBETWEEN %s%s AND %s)" % (sub(same), self.pick(["", "NOT "]), self.pick(["", "SYMMETRIC "]), sub(other), sub(other)),
                lambda: "(%s %sIN (%s, %s))" % (sub(same), self.pick(["", "NOT "]), sub(other), sub(other)),
                lambda: "(%s IS %sDISTINCT FROM %s)" % (sub(same), self.pick(["", "NOT "]), sub(other)),
                lambda: "(%s %sLIKE %s)" % (sub("s"), self.pick(["", "NOT "]), self.text(["%", "a%", "%b%", "_b_", "a\\_b", "", "%1_"])),
                lambda: "(%s SIMILAR TO %s)" % (sub("s"), self.text(["a%", "(a|b)%", "[a-c]+", "_*"])),
                lambda: "(%s IS JSON%s)" % (sub("s"), self.pick(["", " OBJECT", " ARRAY", " SCALAR"])),
            ])()
        if kind == "x":
            return self.leaf("x")
        if kind in "dtTL":
            amount = self.pick("yz") if kind != "t" else "z"
            return self.pick([
                lambda: "(%s %s %s)" % (sub(kind), self.pick("+-"), sub(amount)),
                lambda: "%s(%s TO %s)" % (self.pick(["FLOOR", "CEIL"]), sub(kind), self.pick(UNITS[-3:] if kind == "t" else UNITS)),
                lambda: "TIMESTAMPADD(%s, %s, %s)" % (self.pick(UNITS), self.literal("n"), sub(kind)),
            ])()
        if kind in "yz":
            return self.pick([lambda: "(%s %s %s)" % (sub(kind), self.pick("+-"), sub(kind)), lambda: "(%s * %s)" % (sub(kind), self.literal("n")),
                              lambda: "(-%s)" % sub(kind)])()
        if kind == "aI":
            return "ARRAY[CAST(%s AS INT), %s]" % (sub("I"), self.literal("n"))
        if kind == "as":
            return "ARRAY[%s, %s]" % (sub("s"), sub("s"))
        if kind == "m":
            return "MAP[%s, CAST(%s AS INT)]" % (sub("s"), sub("I"))
        return "ROW(%s, %s)" % (sub("I"), sub("s"))

    def statement(self):
        kind, depth = self.pick(ALL), self.pick([1, 1, 2, 2, 3])
        form = self.rng.random()
        self.use_columns = form > 0.35
        if form < 0.3:
            return "SELECT %s AS a" % self.expr(kind, depth)
        if form < 0.35:
            rows = ", ".join("(%s)" % self.literal(kind) for _ in range(3))
            return "SELECT a FROM (VALUES %s) AS v(a)" % rows
        if form < 0.85:
            return "SELECT id, %s AS a FROM t" % self.expr(kind, depth)
        if form < 0.93:
            return "SELECT id FROM t WHERE %s" % self.expr("b", depth)
        name, parts = self.pick(AGGREGATE_CALLS[self.pick(sorted(AGGREGATE_CALLS))])
        one = " WHERE id = 1" if name in ORDER_DEPENDENT else ""
        return "SELECT %s AS a FROM t%s" % (self.call(name, parts, self.pick([1, 2])), one)


def table(as_view):
    rows = []
    for id, pick in [(1, 0), (2, 1), (3, None)]:
        values = ["%d AS id" % id] + ["%s AS %s" % (c[3][pick] if pick is not None else "CAST(NULL AS %s)" % c[1], c[0]) for c in COLUMNS]
        rows.append("SELECT " + ", ".join(values))
    if as_view:
        return ["CREATE VIEW t AS " + "\nUNION ALL ".join(rows[:2])]
    columns = ["id INT"] + ["%s %s" % c[:2] for c in COLUMNS]
    return ["CREATE TABLE t (%s) WITH ('connector' = 'filesystem', 'path' = '${DATA}/t', 'format' = 'json')" % ", ".join(columns),
            "INSERT INTO t " + "\nUNION ALL ".join(rows)]


def main():
    seed, files, statements, folder = int(sys.argv[1]), int(sys.argv[2]), int(sys.argv[3]), sys.argv[4]
    for number in range(files):
        generator = Generator(random.Random("%d/%d" % (seed, number)))
        lines = ["SET 'execution.runtime-mode' = 'batch'"] + table(number % 3 == 2)
        lines += [generator.statement() for _ in range(statements)]
        with open("%s/random_%02d.sql" % (folder, number + 1), "w", encoding="utf-8") as out:
            out.write("".join(line + ";\n" for line in lines))


main()
