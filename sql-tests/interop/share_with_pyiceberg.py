#!/usr/bin/env python3
"""calve and PyIceberg work on the same tables in one JDBC catalog, in turn, and see each other's rows.

usage: share_with_pyiceberg.py CALVE      needs pyiceberg[sql-sqlite,pyarrow]
"""
import json
import pathlib
import subprocess
import sys
import tempfile

CALVE = pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else "target/debug/calve").resolve()


def calve(folder, sql):
    """Runs statements in the catalog; the rows of the last one."""
    catalog = (f"CREATE CATALOG lake WITH ('type' = 'iceberg', 'catalog-type' = 'jdbc', "
               f"'uri' = 'jdbc:sqlite:{folder}/catalog.db', 'warehouse' = 'file://{folder}/warehouse'); USE CATALOG lake; SET 'execution.runtime-mode' = 'batch'; ")
    done = subprocess.run([CALVE, "--output", "jsonl", "-e", catalog + sql], capture_output=True, text=True)
    if done.returncode != 0:
        sys.exit(f"calve failed:\n{done.stdout}\n{done.stderr}")
    return json.loads(done.stdout.splitlines()[-1]).get("rows")


def check(what, got, want):
    if got != want:
        sys.exit(f"{what}: got {got}, want {want}")
    print(f"{what}: as expected")


def main():
    import pyarrow as pa
    from pyiceberg.catalog.sql import SqlCatalog

    with tempfile.TemporaryDirectory() as folder:
        calve(folder, "CREATE DATABASE shop; "
                      "CREATE TABLE shop.orders (id BIGINT NOT NULL, ordered DATE, amount DECIMAL(10, 2), note STRING) "
                      "PARTITIONED BY (ordered); "
                      "INSERT INTO shop.orders VALUES (1, DATE '2024-01-01', 9.50, 'a'), (2, DATE '2024-01-02', 0.25, 'é'), "
                      "(3, CAST(NULL AS DATE), CAST(NULL AS DECIMAL(10, 2)), CAST(NULL AS STRING))")
        catalog = SqlCatalog("lake", uri=f"sqlite:///{folder}/catalog.db", warehouse=f"file://{folder}/warehouse")
        check("namespaces PyIceberg sees", catalog.list_namespaces(), [("shop",)])
        check("tables PyIceberg sees", catalog.list_tables("shop"), [("shop", "orders")])
        orders = catalog.load_table("shop.orders")

        def rows(table):
            return sorted([[None if v is None else str(v) for v in row.values()] for row in table.scan().to_arrow().to_pylist()],
                          key=lambda row: int(row[0]))

        first = [["1", "2024-01-01", "9.50", "a"], ["2", "2024-01-02", "0.25", "é"], ["3", None, None, None]]
        check("rows PyIceberg reads", rows(orders), first)
        snapshot = orders.current_snapshot()
        orders.append(pa.Table.from_pylist([{"id": 4, "ordered": None, "amount": None, "note": "py"}],
                                           schema=orders.schema().as_arrow()))
        fourth = ["4", None, None, "py"]
        check("rows calve reads", calve(folder, "SELECT * FROM shop.orders ORDER BY id"), first + [fourth])
        calve(folder, "INSERT INTO shop.orders VALUES (5, DATE '2024-01-02', 1.00, 'c')")
        orders = orders.refresh()
        check("rows of both", rows(orders), first + [fourth, ["5", "2024-01-02", "1.00", "c"]])
        check("snapshots", len(orders.snapshots()), 3)
        check("rows of the first snapshot", orders.scan(snapshot_id=snapshot.snapshot_id).to_arrow().num_rows, 3)

        catalog.create_namespace("py")
        made = catalog.create_table("py.t", pa.schema([("x", pa.int32()), ("s", pa.string())]))
        made.append(pa.table({"x": pa.array([1], pa.int32()), "s": ["made by PyIceberg"]}))
        check("databases calve sees", calve(folder, "SHOW DATABASES"), [["py"], ["shop"]])
        check("a table of PyIceberg", calve(folder, "SELECT * FROM py.t"), [["1", "made by PyIceberg"]])
        calve(folder, "DROP TABLE shop.orders")
        check("tables after DROP TABLE", catalog.list_tables("shop"), [])
        left = [p.name for p in pathlib.Path(folder, "warehouse", "shop").rglob("*") if p.is_file()]
        check("files of the dropped table", left, [])


main()
