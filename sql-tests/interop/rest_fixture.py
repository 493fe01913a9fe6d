#!/usr/bin/env python3
"""calve works with Apache Iceberg's own REST server: the test fixture RESTCatalogServer, over a JDBC catalog in SQLite.

usage: rest_fixture.py [CALVE] [--only NAME] [--serve SECONDS]

Needs Java 17 and Maven; downloads into target/rest-fixture once.

Prints what differs, and 'N passed, N failed'; exit code 1 if anything failed. Without Java, Maven or Maven Central it
is skipped.
With --serve nothing is tested: the server's URI is printed, and the server stays for a while, for other tests.
"""
import argparse
import collections
import json
import os
import pathlib
import re
import shutil
import socket
import subprocess
import sys
import tempfile
import time
import traceback
import urllib.error
import urllib.request

sys.dont_write_bytecode = True  # no __pycache__ among the sources

from flink_installation import Unavailable, run

TARGET = pathlib.Path(__file__).resolve().parents[2] / "target" / "rest-fixture"
ICEBERG, JETTY = "1.11.0", "12.1.5"
# The fixture's own pom names no dependencies. Each is group:artifact:version[:classifier].
DEPENDENCIES = (f"org.apache.iceberg:iceberg-core:{ICEBERG}", f"org.apache.iceberg:iceberg-core:{ICEBERG}:tests",
                f"org.apache.iceberg:iceberg-open-api:{ICEBERG}:test-fixtures",
                "org.apache.hadoop:hadoop-client-runtime:3.4.2",
                f"org.eclipse.jetty.ee10:jetty-ee10-servlet:{JETTY}", "org.xerial:sqlite-jdbc:3.50.3.0",
                f"org.eclipse.jetty.compression:jetty-compression-server:{JETTY}",
                f"org.eclipse.jetty.compression:jetty-compression-gzip:{JETTY}", "org.slf4j:slf4j-simple:2.0.17")
WRITERS, ROUNDS = 4, 5


def pom():
    """A project that needs the server and nothing else."""
    needed = []
    for dependency in DEPENDENCIES:
        parts = zip(("groupId", "artifactId", "version", "classifier"), dependency.split(":"))
        needed.append("<dependency>" + "".join(f"<{tag}>{text}</{tag}>" for tag, text in parts) + "</dependency>")
    return ("<project "
            "xmlns='http://maven.apache.org/POM/4.0.0'><modelVersion>4.0.0</modelVersion><groupId>calve</groupId>"
            "<artifactId>rest-fixture</artifactId><version>1</version><packaging>pom</packaging><dependencies>\n"
            + "\n".join(needed) + "\n</dependencies></project>\n")


def install():
    """The class path of the server, after its jars were downloaded if they were not there yet."""
    for tool, package in (("java", "a Java runtime of version 17"), ("mvn", "Maven")):
        if not shutil.which(tool):
            raise Unavailable(f"{tool} is not there: install {package}")
    told = subprocess.run(["java", "-version"], capture_output=True, text=True).stderr
    version = re.search(r'version "(\d+)', told)
    if not version or int(version[1]) < 17:
        raise Unavailable(f"Java 17 is needed, not {told.strip().splitlines()[:1]}")
    project, jars = TARGET / "pom.xml", TARGET / "jars"
    complete = TARGET / "complete.xml"  # the pom whose jars are all there
    if not complete.exists() or complete.read_text() != pom():
        shutil.rmtree(TARGET, ignore_errors=True)
        TARGET.mkdir(parents=True)
        project.write_text(pom())
        run("cannot get Iceberg's REST fixture with Maven", "mvn", "-q", "-B", "-f", str(project),
            "dependency:copy-dependencies", "-DincludeScope=runtime", f"-DoutputDirectory={jars}")
        project.rename(complete)
    return f"{jars}/*"


class Server:
    """Iceberg's REST server, as long as the block lasts."""

    def __init__(self, classes, folder):
        self.classes, self.folder, self.log = classes, pathlib.Path(folder), TARGET / "server.log"

    def __enter__(self):
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            port = free.getsockname()[1]
        self.uri = f"http://127.0.0.1:{port}"
        # as RCKUtils reads them: _ is a dot, __ a dash
        settings = {"CATALOG_REST_PORT": str(port), "CATALOG_WAREHOUSE": f"{self.folder}/warehouse",
                    "CATALOG_URI": f"jdbc:sqlite:{self.folder}/catalog.db"}
        others = {name: value for name, value in os.environ.items() if not name.startswith("CATALOG_")}
        with open(self.log, "w") as log:
            command = ["java", "-Xmx512m", "-cp", self.classes, "org.apache.iceberg.rest.RESTCatalogServer"]
            self.process = subprocess.Popen(command, env={**others, **settings}, stdout=log, stderr=log)
        try:
            self.wait()
        except BaseException:
            self.__exit__()
            raise
        return self

    def wait(self):
        """Until it answers."""
        end = time.monotonic() + 90
        while time.monotonic() < end and self.process.poll() is None:
            try:
                with urllib.request.urlopen(f"{self.uri}/v1/config", timeout=10) as answer:
                    self.endpoints = json.load(answer).get("endpoints", [])
                    return
            except (urllib.error.URLError, OSError):
                time.sleep(0.2)
        raise RuntimeError(f"the server does not start:\n{self.log.read_text()[-2000:]}")

    def __exit__(self, *_):
        self.process.terminate()
        try:
            self.process.wait(20)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()


class Failed(Exception):
    """What calve said about a statement that has to work."""


class Session:
    """Statements of calve processes in one database of the catalog; counts what was compared."""
    passed = failed = 0

    def __init__(self, binary, server, name):
        self.binary, self.server, self.name = str(binary), server, name
        self.database = f"db_{name}"  # None: none is made
        self.options = {}  # more options of the catalog

    def start(self, sql):
        options = {"type": "iceberg", "catalog-type": "rest", "uri": self.server.uri, **self.options}
        listed = ", ".join(f"'{name}' = '{value}'" for name, value in options.items())
        script = f"CREATE CATALOG lake WITH ({listed}); USE CATALOG lake; SET 'execution.runtime-mode' = 'batch'; "
        if self.database:
            script += f"CREATE DATABASE IF NOT EXISTS {self.database}; USE {self.database}; "
        script += sql
        return subprocess.Popen([self.binary, "--output", "jsonl", "-D", "parallelism.default=2", "-e", script],
                                stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)

    def finish(self, process, sql):
        """The results of all statements, and the error that ended them."""
        try:
            out, err = process.communicate(timeout=180)
        except subprocess.TimeoutExpired:
            process.kill()
            process.communicate()
            raise Failed(f"no end after three minutes: {sql}") from None
        results = [json.loads(line) for line in out.splitlines()]
        error = next((result["error"] for result in results if result["status"] == "error"), None)
        if process.returncode not in (0, 2) or (process.returncode == 2) != bool(error):
            raise Failed(f"exit code {process.returncode}: {error} {err.strip()}\n    {sql}")
        return results, error

    def results(self, sql):
        results, error = self.finish(self.start(sql), sql)
        if error:
            raise Failed(f"{error['code']}: {error['message']} ({error['detail']})\n    {results[-1]['sql']}")
        return results

    def rows(self, sql):
        """The rows of the last statement."""
        return self.results(sql)[-1].get("rows", [])

    def check(self, what, got, want):
        if got == want:
            Session.passed += 1
        else:
            Session.failed += 1
            print(f"FAILED {self.name}: {what}\n    got  {got}\n    want {want}", flush=True)

    def gives(self, sql, *want):
        """The last statement has these rows, each written with commas; in their order if it says ORDER BY."""
        got = [",".join("NULL" if value is None else value for value in row) for row in self.rows(sql)]
        ordered = "ORDER BY" in sql.rsplit(";", 1)[-1]
        self.check(sql, got if ordered else sorted(got), list(want) if ordered else sorted(want))

    def refused(self, sql, code):
        """The last statement is refused with this code."""
        results, error = self.finish(self.start(sql), sql)
        self.check(sql, (error or {}).get("code", f"no error: {results[-1]}"), code)

    def files(self, table):
        """Files of a table on disk, below its database."""
        found = (self.server.folder / "warehouse").rglob("*")
        return [path for path in found if path.is_file() and table in path.parts]


def databases(s):
    s.gives("CREATE DATABASE plain COMMENT 'one' WITH ('k' = 'v'); SHOW DATABASES LIKE 'plain'", "plain")
    s.results("ALTER DATABASE plain SET ('k' = 'v2', 'n' = 'm')")
    with urllib.request.urlopen(f"{s.server.uri}/v1/namespaces/plain", timeout=20) as answer:
        kept = json.load(answer)["properties"]
    s.check("properties of a database", [kept.get(key) for key in ("comment", "k", "n")], ["one", "v2", "m"])
    s.refused("CREATE DATABASE plain", "database-exists")
    s.refused("DROP DATABASE nothing", "unknown-database")
    s.refused("CREATE DATABASE `a.b`", "invalid-name")  # the server's separator
    s.gives("CREATE TABLE plain.t (id INT); INSERT INTO plain.t VALUES (1); SELECT * FROM plain.t", "1")
    # levels: below the database, and below that one
    s.database = None
    for base, name, value in (("plain", "lvl2", 2), ("plain.lvl2", "lvl3", 3)):
        s.options = {"base-namespace": base}
        s.gives(f"CREATE DATABASE {name}; SHOW DATABASES", name)
        s.gives(f"USE {name}; CREATE TABLE t (id INT); INSERT INTO t VALUES ({value}); SELECT * FROM lake.{name}.t",
                str(value))
        s.gives(f"SHOW TABLES FROM {name}", "t")
    s.options = {}
    s.gives("SELECT * FROM plain.t", "1")
    s.refused("DROP DATABASE plain", "database-not-empty")
    for base, name in (("plain.lvl2", "lvl3"), ("plain", "lvl2")):
        s.options = {"base-namespace": base}
        s.gives(f"DROP TABLE {name}.t; DROP DATABASE {name}; DROP DATABASE IF EXISTS {name}; SHOW DATABASES")
    s.options = {}
    s.gives("DROP TABLE plain.t; DROP DATABASE plain; SHOW DATABASES LIKE 'plain'")


def tables(s):
    for version in (1, 2, 3):
        t = f"v{version}"
        s.gives(f"CREATE TABLE {t} (id INT NOT NULL, v STRING COMMENT 'text', r ROW<x INT, y ARRAY<STRING>>, "
                f"m MAP<STRING, DOUBLE>, "
                f"ts TIMESTAMP(6), "
                f"p STRING) COMMENT 'a table' PARTITIONED BY (p) WITH ('format-version' = '{version}', 'k' = 'v'); "
                f"INSERT INTO {t} VALUES (1, 'a', ROW(7, ARRAY['é']), MAP['k', 1.5E0], "
                f"TIMESTAMP '2024-01-01 00:00:00.000001', 'x'), "
                "(2, CAST(NULL AS STRING), ROW(8, ARRAY['n']), MAP['l', 2.5E0], TIMESTAMP '1969-12-31 23:59:59', 'y'); "
                f"SELECT id, v, r.x, r.y[1], m['k'], ts, p FROM {t} ORDER BY id",
                "1,a,7,é,1.5,2024-01-01 00:00:00.000001,x", "2,NULL,8,n,NULL,1969-12-31 23:59:59.000000,y")
        s.gives(f"SELECT COUNT(*) FROM {t} WHERE p = 'y'", "1")
        metadata = table_metadata(s, t)
        s.check(f"{t}: version, property, fields of the partition",
                [metadata["format-version"], metadata["properties"].get("k"),
                 metadata["partition-specs"][-1]["fields"][0]["transform"]],
                [version, "v", "identity"])
    s.refused("CREATE TABLE v1 (id INT)", "table-exists")
    s.gives("CREATE TABLE IF NOT EXISTS v1 (id INT); SELECT COUNT(*) FROM v1", "2")
    s.gives("CREATE TABLE liked LIKE v2; SELECT COUNT(*) FROM liked", "0")
    s.gives("SHOW TABLES", "liked", "v1", "v2", "v3")
    s.gives("CREATE TABLE keyed (a INT, b STRING, c INT, PRIMARY KEY (a, b) NOT ENFORCED); "
            "INSERT INTO keyed VALUES (1, 'x', 1); "
            "SELECT * FROM keyed", "1,x,1")
    schema = table_metadata(s, "keyed")["schemas"][-1]
    s.check("identifier fields", schema.get("identifier-field-ids"), [1, 2])


def table_metadata(s, table):
    """What the server says about a table."""
    with urllib.request.urlopen(f"{s.server.uri}/v1/namespaces/{s.database}/tables/{table}", timeout=20) as answer:
        return json.load(answer)["metadata"]


def upserts(s):
    for version in (2, 3):
        t = f"u{version}"
        s.gives(f"CREATE TABLE {t} (id INT, p STRING, v STRING, PRIMARY KEY (id, p) NOT ENFORCED) PARTITIONED BY (p) "
                f"WITH ('format-version' = '{version}', 'write.upsert.enabled' = 'true'); "
                f"INSERT INTO {t} VALUES (1, 'x', 'a'), (2, 'x', 'b'), (1, 'y', 'c'); "
                f"INSERT INTO {t} VALUES (2, 'x', 'B'), (3, 'y', 'd'); "
                f"SELECT * FROM {t} ORDER BY id, p", "1,x,a", "1,y,c", "2,x,B", "3,y,d")
        s.gives(f"SET 'calve.upsert.equality-deletes' = 'always'; INSERT INTO {t} VALUES (1, 'x', 'A'); "
                f"SELECT * FROM {t} ORDER BY id, p",
                "1,x,A", "1,y,c", "2,x,B", "3,y,d")


def row_level(s):
    for version in (1, 2, 3):
        for mode in ("copy-on-write", "merge-on-read") if version > 1 else ("copy-on-write",):
            t = f"d{version}_{mode[:4]}"
            modes = ", ".join(f"'write.{kind}.mode' = '{mode}'" for kind in ("delete", "update", "merge"))
            s.gives(f"CREATE TABLE {t} (id INT, v STRING) WITH ('format-version' = '{version}', {modes}); "
                    f"INSERT INTO {t} VALUES (1, 'a'), (2, 'b'), (3, 'c'), (4, 'd'); "
                    f"DELETE FROM {t} WHERE id IN (2, 4); "
                    f"SELECT * FROM {t} ORDER BY id", "1,a", "3,c")
            s.gives(f"UPDATE {t} SET v = 'C' WHERE id = 3; SELECT * FROM {t} ORDER BY id", "1,a", "3,C")
            s.gives(f"DELETE FROM {t} WHERE id = 1; DELETE FROM {t} WHERE id = 99; SELECT * FROM {t}", "3,C")
            s.gives(f"DELETE FROM {t}; SELECT COUNT(*) FROM {t}", "0")


def overwrites(s):
    s.gives("CREATE TABLE plain (id INT, v STRING); INSERT INTO plain VALUES (1, 'a'), (9, 'z'); "
            "INSERT OVERWRITE plain SELECT id + 1, UPPER(v) FROM plain WHERE id < 5; SELECT * FROM plain", "2,A")
    s.gives("CREATE TABLE parts (id INT, p STRING) PARTITIONED BY (p); "
            "INSERT INTO parts VALUES (1, 'x'), (2, 'y'), (3, 'y'); "
            "INSERT OVERWRITE parts VALUES (4, 'y'), (5, 'z'); SELECT * FROM parts ORDER BY id", "1,x", "4,y", "5,z")
    s.gives("INSERT OVERWRITE parts PARTITION (p = 'x') SELECT 6; SELECT * FROM parts ORDER BY id", "4,y", "5,z", "6,x")


def as_select(s):
    s.gives("CREATE TABLE made WITH ('k' = 'v') AS SELECT id, CAST(id AS STRING) AS v FROM (VALUES (1), "
            "(2)) AS n (id); "
            "SELECT * FROM made ORDER BY id", "1,1", "2,2")
    s.check("snapshots of CREATE TABLE AS", len(table_metadata(s, "made")["snapshots"]), 1)
    s.gives("CREATE TABLE norows AS SELECT id FROM made WHERE id > 9; SELECT COUNT(*) FROM norows", "0")
    s.refused("CREATE TABLE broken AS SELECT CAST(v AS INT) AS n FROM (VALUES ('1'), ('x')) AS s (v)", "cast-failed")
    s.gives("SHOW TABLES LIKE 'broken'")
    s.gives("CREATE OR REPLACE TABLE made PARTITIONED BY (p) WITH ('kept' = '2') AS SELECT w, 'one' AS p, 2 AS id "
            "FROM (VALUES ('2'), (CAST(NULL AS STRING))) AS s (w) WHERE w = '2'; "
            "SELECT * FROM made", "2,one,2")
    metadata = table_metadata(s, "made")
    s.check("properties after a replacement", [metadata["properties"].get(key) for key in ("k", "kept")], [None, "2"])
    s.check("snapshots after a replacement", len(metadata["snapshots"]), 2)
    first = metadata["snapshots"][0]["snapshot-id"]
    s.gives(f"SELECT COUNT(*) FROM made /*+ OPTIONS('snapshot-id' = '{first}') */", "2")
    s.gives("CREATE OR REPLACE TABLE fresh AS SELECT 1 AS z; SELECT * FROM fresh", "1")
    s.refused("REPLACE TABLE nothing AS SELECT 1 AS z", "unknown-table")
    s.gives("REPLACE TABLE fresh AS SELECT 'x' AS a, 2 AS b; INSERT INTO fresh VALUES ('y', 3); "
            "SELECT * FROM fresh ORDER BY b", "x,2", "y,3")
    s.gives("REPLACE TABLE fresh AS SELECT 1 AS z FROM (VALUES (1)) AS s (a) WHERE a > 1; SELECT COUNT(*) FROM fresh",
            "0")


def altered(s):
    s.gives("CREATE TABLE t (id INT, v STRING, d DATE); INSERT INTO t VALUES (1, 'a', DATE '2024-01-01'); "
            "ALTER TABLE t ADD (n INT COMMENT 'new' AFTER id, gone INT); "
            "INSERT INTO t VALUES (2, 20, 'b', DATE '2024-02-01', 5); "
            "SELECT * FROM t ORDER BY id", "1,NULL,a,2024-01-01,NULL", "2,20,b,2024-02-01,5")
    s.gives("ALTER TABLE t DROP gone; ALTER TABLE t RENAME v TO w; ALTER TABLE t MODIFY n BIGINT FIRST; "
            "INSERT INTO t VALUES "
            "(9000000000, 3, 'c', DATE '2024-02-02'); SELECT * FROM t ORDER BY id",
            "NULL,1,a,2024-01-01", "20,2,b,2024-02-01", "9000000000,3,c,2024-02-02")
    s.gives("ALTER TABLE t ADD PARTITION FIELD months(d); INSERT INTO t VALUES (4, 4, 'd', DATE '2024-03-01'); "
            "SELECT w FROM t WHERE d >= DATE '2024-02-02' ORDER BY w", "c", "d")
    s.results("ALTER TABLE t SET ('k' = 'v', 'l' = 'w'); ALTER TABLE t RESET ('l'); "
              "ALTER TABLE t WRITE ORDERED BY id DESC")
    metadata = table_metadata(s, "t")
    fields = [field for spec in metadata["partition-specs"] for field in spec["fields"]]
    s.check("partition field", [field["transform"] for field in fields], ["month"])
    s.check("properties", [metadata["properties"].get(key) for key in ("k", "l")], ["v", None])
    fields = [field for order in metadata["sort-orders"] for field in order["fields"]]
    s.check("order", [(field["transform"], field["direction"]) for field in fields], [("identity", "desc")])
    s.gives("ALTER TABLE t REPLACE PARTITION FIELD months(d) WITH bucket(4, id) AS b; "
            "INSERT INTO t VALUES (5, 5, 'e', DATE '2024-03-01'), "
            "(6, 6, 'f', DATE '2024-03-01'); SELECT COUNT(*) FROM t", "6")
    s.results("ALTER TABLE t SET ('format-version' = '3')")
    s.check("version", table_metadata(s, "t")["format-version"], 3)
    s.gives("INSERT INTO t VALUES (7, 7, 'g', DATE '2024-03-01'); DELETE FROM t WHERE id = 6; "
            "SELECT w FROM t ORDER BY w",
            "a", "b", "c", "d", "e", "g")
    s.gives("CREATE TABLE k (id INT NOT NULL, v STRING); ALTER TABLE k ADD PRIMARY KEY (id) NOT ENFORCED; "
            "ALTER TABLE k SET ('write.upsert.enabled' = 'true'); INSERT INTO k VALUES (1, 'a'); "
            "INSERT INTO k VALUES (1, 'b'); "
            "SELECT * FROM k", "1,b")


def back_again(s):
    """Schemas, partitions and orders that the table had before, which servers know under their first number."""
    make = "CREATE TABLE {0} (id INT, v STRING); INSERT INTO {0} VALUES (1, 'a'); "
    for what, changes in {
            "schemas": ["ADD n INT", "DROP n"],
            "comments": ["MODIFY v STRING COMMENT 'c'", "MODIFY v STRING COMMENT 'd'", "MODIFY v STRING COMMENT 'c'"],
            "partitions": ["ADD PARTITION FIELD v", "DROP PARTITION FIELD v", "ADD PARTITION FIELD v"],
            "orders": ["WRITE ORDERED BY id", "WRITE UNORDERED", "WRITE ORDERED BY id"]}.items():
        script = make.format(what) + "".join(f"ALTER TABLE {what} {change}; " for change in changes)
        script += f"INSERT INTO {what} VALUES (2, 'b'); SELECT * FROM {what} ORDER BY id"
        attempt(s, lambda script=script: s.gives(script, "1,a", "2,b"))
    attempt(s, lambda: s.gives("CREATE TABLE r PARTITIONED BY (v) AS SELECT 1 AS id, 'a' AS v; "
                               "REPLACE TABLE r PARTITIONED BY (v) AS SELECT "
                               "2 AS id, 'b' AS v; SELECT * FROM r", "2,b"))
    attempt(s, lambda: s.gives("CREATE TABLE q AS SELECT 1 AS id; "
                               "REPLACE TABLE q PARTITIONED BY (p) AS SELECT 2 AS id, 'b' AS p; "
                               "REPLACE TABLE q AS SELECT 3 AS id; SELECT * FROM q", "3"))


def refs(s):
    s.gives("CREATE TABLE t (id INT); INSERT INTO t VALUES (1); ALTER TABLE t CREATE BRANCH b RETAIN 7 DAYS; "
            "ALTER TABLE t CREATE TAG early; "
            "INSERT INTO t VALUES (2); INSERT INTO t /*+ OPTIONS('branch' = 'b') */ VALUES (3); "
            "SELECT * FROM t ORDER BY id", "1", "2")
    s.gives("SELECT * FROM t /*+ OPTIONS('branch' = 'b') */ ORDER BY id", "1", "3")
    s.gives("SELECT * FROM t /*+ OPTIONS('tag' = 'early') */", "1")
    s.gives("INSERT INTO t /*+ OPTIONS('branch' = 'made') */ VALUES (4); "
            "SELECT * FROM t /*+ OPTIONS('branch' = 'made') */ ORDER BY id",
            "1", "2", "4")
    s.gives("CREATE TABLE fresh (id INT); INSERT INTO fresh /*+ OPTIONS('branch' = 'only') */ VALUES (1); "
            "SELECT COUNT(*) FROM fresh", "0")
    s.gives("SELECT * FROM fresh /*+ OPTIONS('branch' = 'only') */", "1")
    s.gives("ALTER TABLE t REPLACE TAG early; SELECT * FROM t /*+ OPTIONS('tag' = 'early') */ ORDER BY id", "1", "2")
    s.gives("ALTER TABLE t DROP BRANCH b; ALTER TABLE t DROP TAG early; SELECT name FROM t$refs ORDER BY name",
            "made", "main")
    s.refused("ALTER TABLE t CREATE BRANCH made", "invalid-alter")


def names(s):
    s.gives("CREATE TABLE t (id INT); INSERT INTO t VALUES (1); ALTER TABLE t RENAME TO u; INSERT INTO u VALUES (2); "
            "SELECT * FROM u ORDER BY id", "1", "2")
    s.gives("SHOW TABLES", "u")
    s.refused("SELECT * FROM t", "unknown-table")
    s.refused("CREATE TABLE t (id INT); ALTER TABLE u RENAME TO t", "table-exists")
    s.gives("CREATE TABLE `Wörter + ñ` (`a b` INT); INSERT INTO `Wörter + ñ` VALUES (5); "
            "SELECT * FROM `Wörter + ñ`", "5")


def time_travel(s):
    s.results("CREATE TABLE t (id INT); INSERT INTO t VALUES (1)")
    time.sleep(0.02)
    between = int(time.time() * 1000)
    time.sleep(0.02)
    s.results("INSERT INTO t VALUES (2); INSERT INTO t VALUES (3)")
    ids = [row[0] for row in s.rows("SELECT snapshot_id FROM t$snapshots ORDER BY committed_at")]
    s.check("snapshots", len(ids), 3)
    s.gives(f"SELECT * FROM t /*+ OPTIONS('snapshot-id' = '{ids[1]}') */ ORDER BY id", "1", "2")
    s.gives(f"SELECT * FROM t /*+ OPTIONS('as-of-timestamp' = '{between}') */", "1")
    s.gives(f"SELECT * FROM t /*+ OPTIONS('start-snapshot-id' = '{ids[0]}', 'end-snapshot-id' = '{ids[1]}') */", "2")
    s.gives(f"ALTER TABLE t SET ('current-snapshot-id' = '{ids[0]}'); SELECT * FROM t", "1")


def statement_sets(s):
    offered = "POST /v1/{prefix}/transactions/commit" in s.server.endpoints
    s.check("the server offers a commit of several tables", offered, True)
    s.gives("CREATE TABLE a (id INT); CREATE TABLE b (id INT) WITH ('format-version' = '3'); "
            "EXECUTE STATEMENT SET BEGIN "
            "INSERT INTO a VALUES (1), (2); INSERT INTO b VALUES (3); INSERT INTO a VALUES (4); END; "
            "SELECT 'a', id FROM a UNION ALL SELECT 'b', id FROM b", "a,1", "a,2", "a,4", "b,3")
    snapshots = [snapshot for t in ("a", "b") for snapshot in table_metadata(s, t)["snapshots"]]
    jobs = {snapshot["summary"].get("flink.job-id") for snapshot in snapshots}
    s.check("jobs of a set", len(jobs), 1)
    s.refused("EXECUTE STATEMENT SET BEGIN INSERT INTO a VALUES (5); "
              "INSERT INTO b SELECT CAST(v AS INT) FROM (VALUES ('1'), ('x')) AS s (v); END", "cast-failed")
    s.gives("SELECT COUNT(*) FROM a", "3")
    s.gives("SELECT COUNT(*) FROM b", "1")


def concurrent(s):
    s.results("CREATE TABLE t (w INT, n INT)")
    scripts = ["; ".join(f"INSERT INTO t VALUES ({w}, {n})" for n in range(ROUNDS)) for w in range(WRITERS)]
    for process, script in [(s.start(script), script) for script in scripts]:
        _, error = s.finish(process, script)
        s.check("a writer", error, None)
    rows = [f"{w},{n}" for w in range(WRITERS) for n in range(ROUNDS)]
    s.gives("SELECT * FROM t", *rows)
    s.check("snapshots", len(table_metadata(s, "t")["snapshots"]), len(rows))


def concurrent_sets(s):
    """The server may answer 204 to a commit of several tables without doing it: calve must not say it was done."""
    s.results("CREATE TABLE t (w INT, n INT); CREATE TABLE u (w INT, n INT)")
    scripts = {f"{w},{n}": f"EXECUTE STATEMENT SET BEGIN INSERT INTO t VALUES ({w}, {n}); INSERT INTO u VALUES ({w}, "
               f"{n}); END"
               for n in range(ROUNDS) for w in range(WRITERS)}
    told, codes, rows = set(), collections.Counter(), list(scripts)
    for first in range(0, len(rows), WRITERS):
        for row, process in [(row, s.start(scripts[row])) for row in rows[first:first + WRITERS]]:
            out, _ = process.communicate(timeout=180)
            codes[process.returncode] += 1
            if process.returncode == 0:
                told.add(row)
            else:
                error = json.loads(out.splitlines()[-1])["error"]
                s.check(f"refusal of a set: {error}", error["code"] in ("commit-conflict", "commit-unknown"), True)
    print(f"statement sets at the same time, exit codes: {dict(codes)}")
    for table in ("t", "u"):
        there = [",".join(row) for row in s.rows(f"SELECT * FROM {table}")]
        s.check(f"sets told as committed that are not in {table}", sorted(told - set(there)), [])
        s.check(f"rows twice in {table}", len(there), len(set(there)))


def dropped(s):
    s.results("CREATE TABLE gone (id INT); INSERT INTO gone VALUES (1); CREATE TABLE stays (id INT); "
              "INSERT INTO stays VALUES (1)")
    s.gives("DROP TABLE gone; DROP TABLE IF EXISTS gone; SHOW TABLES", "stays")
    s.refused("DROP TABLE gone", "unknown-table")
    s.check("files after DROP TABLE", s.files("gone"), [])
    s.gives("CREATE TABLE gone (v STRING); SELECT COUNT(*) FROM gone", "0")
    s.options = {"cache-enabled": "false"}
    s.gives("DROP TABLE stays; DROP TABLE gone; SHOW TABLES")
    s.check("files are there after DROP TABLE without a purge", bool(s.files("stays")), True)


def attempt(s, what):
    """A part of a test; what fails counts, and the parts that follow go on."""
    try:
        what()
    except Exception as failure:
        Session.failed += 1
        inside = [entry.lineno for entry in traceback.extract_tb(failure.__traceback__) if entry.name == s.name]
        where = f", line {inside[-1]}" if inside else ""
        print(f"FAILED {s.name}{where}: {type(failure).__name__}: {failure}", flush=True)


TESTS = (databases, tables, upserts, row_level, overwrites, as_select, altered, back_again, refs, names, time_travel,
         statement_sets, concurrent, concurrent_sets, dropped)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("calve", nargs="?", default="target/debug/calve", help="the binary")
    parser.add_argument("--only", action="append", help="a test: " + ", ".join(test.__name__ for test in TESTS))
    parser.add_argument("--serve", type=float, metavar="SECONDS", help="only the server")
    arguments = parser.parse_args()
    try:
        classes = install()
    except Unavailable as why:
        print(f"skipped: {why}")
        return 0
    with tempfile.TemporaryDirectory() as folder, Server(classes, folder) as server:
        if arguments.serve:
            print(server.uri, flush=True)
            time.sleep(arguments.serve)
            return 0
        start = time.monotonic()
        for test in TESTS:
            if not arguments.only or test.__name__ in arguments.only:
                session = Session(pathlib.Path(arguments.calve).resolve(), server, test.__name__)
                attempt(session, lambda: test(session))
        print(f"{Session.passed} passed, "
              f"{Session.failed} failed in {time.monotonic() - start:.0f} s with Iceberg {ICEBERG}'s REST server")
    return 1 if Session.failed or not Session.passed else 0


if __name__ == "__main__":
    sys.exit(main())
