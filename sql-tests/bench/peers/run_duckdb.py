"""DuckDB with its Iceberg extension: see common.py. It writes by way of rest_catalog.py, to local files."""

import glob
import importlib.util
import os

import duckdb

from common import COLUMNS, answer, commit_done, job

NAMES = [name for name, _ in COLUMNS]
SCHEMA = (
    ", ".join(f"{name} {kind}" for name, kind in COLUMNS)
    .replace("STRING", "VARCHAR")
    .replace("TIMESTAMP_NTZ", "TIMESTAMP")
)
ANSWER = "SELECT count(*), sum(amount), sum(id) FROM "


def extended():
    """A database with the extensions, from their packages."""
    db = duckdb.connect(config={"allow_unsigned_extensions": "true"})
    for name in ("avro", "httpfs", "iceberg"):
        package = importlib.util.find_spec("duckdb_extension_" + name)
        if package:
            folder = package.submodule_search_locations[0]
            db.load_extension(glob.glob(os.path.join(folder, "**", name + ".duckdb_extension"), recursive=True)[0])
    return db


def attached(p):
    db = extended()
    db.execute(f"""ATTACH '{p.warehouse}' AS lake
      (TYPE iceberg, ENDPOINT '{p.catalog}', AUTHORIZATION_TYPE 'none', ACCESS_DELEGATION_MODE 'none')""")
    db.execute("CREATE SCHEMA IF NOT EXISTS lake.db")
    db.execute("SET preserve_insertion_order = false")
    return db


def append(p):
    db = attached(p)
    db.execute(f"CREATE TABLE lake.db.t ({SCHEMA})")
    db.execute(f"INSERT INTO lake.db.t FROM '{p.data}/events/*.parquet'")


def partitions(p):
    db = attached(p)
    db.execute(f"CREATE TABLE lake.db.t ({SCHEMA}, p INTEGER) PARTITIONED BY (p)")
    db.execute(f"INSERT INTO lake.db.t SELECT *, id % 500 FROM '{p.data}/events/*.parquet'")


def upsert(p):
    assignments = ", ".join(f"{name} = s.{name}" for name in NAMES[1:])
    values = ", ".join(f"s.{name}" for name in NAMES)
    attached(p).execute(f"""MERGE INTO lake.db.t AS t USING '{p.data}/upsert.parquet' AS s ON t.id = s.id
      WHEN MATCHED THEN UPDATE SET {assignments} WHEN NOT MATCHED THEN INSERT VALUES ({values})""")


def read(p):
    answer(attached(p).execute(ANSWER + "lake.db.t").fetchone())


def scan(p):
    answer(extended().execute(f"{ANSWER} iceberg_scan('{p.table}')").fetchone())


def select(_):
    print(duckdb.connect().execute("SELECT 1").fetchone())


def show(p):
    print(attached(p).execute("SHOW TABLES FROM lake.db").fetchall())


def commits(p):
    db = attached(p)
    db.execute("CREATE TABLE lake.db.t (id BIGINT, amount DECIMAL(18, 2))")
    for number in range(int(p.count)):
        db.execute(f"INSERT INTO lake.db.t VALUES ({number}, {number}.25)")
        commit_done()


JOBS = {"scan": scan, "select": select}
if importlib.util.find_spec("duckdb_extension_httpfs"):  # it reaches the catalog
    JOBS |= {
        "append": append,
        "partitions": partitions,
        "upsert": upsert,
        "read": read,
        "show": show,
        "commits": commits,
    }
run, parameters = job(JOBS)
run(parameters)
