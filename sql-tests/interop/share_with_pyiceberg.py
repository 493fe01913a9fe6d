#!/usr/bin/env python3
"""calve and PyIceberg work on the same tables in one catalog, in turn, and see each other's rows: in a JDBC catalog, and in
one of AWS Glue, for which moto stands in.

usage: share_with_pyiceberg.py CALVE      needs pyiceberg[sql-sqlite,glue,pyarrow], and for Glue moto[glue,s3], flask, flask-cors
"""
import json
import os
import pathlib
import socket
import subprocess
import sys
import tempfile
import time

CALVE = pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else "target/debug/calve").resolve()
MOTO = pathlib.Path(__file__).resolve().parents[2] / "crates/calve-iceberg/tests/moto/server.py"


def calve(options, sql):
    """Runs statements in the catalog; the rows of the last one."""
    options = ", ".join(f"'{key}' = '{value}'" for key, value in {"type": "iceberg", **options}.items())
    catalog = f"CREATE CATALOG lake WITH ({options}); USE CATALOG lake; SET 'execution.runtime-mode' = 'batch'; "
    done = subprocess.run([CALVE, "--output", "jsonl", "-e", catalog + sql], capture_output=True, text=True)
    if done.returncode != 0:
        sys.exit(f"calve failed:\n{done.stdout}\n{done.stderr}")
    return json.loads(done.stdout.splitlines()[-1]).get("rows")


def check(what, got, want):
    if got != want:
        sys.exit(f"{what}: got {got}, want {want}")
    print(f"{what}: as expected")


def share(options, catalog, warehouse):
    """The catalog with these options is PyIceberg's `catalog`."""
    import pyarrow as pa

    calve(options, "CREATE DATABASE shop; "
                   "CREATE TABLE shop.orders (id BIGINT NOT NULL, ordered DATE, amount DECIMAL(10, 2), note STRING) "
                   "PARTITIONED BY (ordered); "
                   "INSERT INTO shop.orders VALUES (1, DATE '2024-01-01', 9.50, 'a'), (2, DATE '2024-01-02', 0.25, 'é'), "
                   "(3, CAST(NULL AS DATE), CAST(NULL AS DECIMAL(10, 2)), CAST(NULL AS STRING))")
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
    check("rows calve reads", calve(options, "SELECT * FROM shop.orders ORDER BY id"), first + [fourth])
    calve(options, "INSERT INTO shop.orders VALUES (5, DATE '2024-01-02', 1.00, 'c')")
    orders = orders.refresh()
    check("rows of both", rows(orders), first + [fourth, ["5", "2024-01-02", "1.00", "c"]])
    check("snapshots", len(orders.snapshots()), 3)
    check("rows of the first snapshot", orders.scan(snapshot_id=snapshot.snapshot_id).to_arrow().num_rows, 3)

    catalog.create_namespace("py")
    made = catalog.create_table("py.t", pa.schema([("x", pa.int32()), ("s", pa.string())]))
    made.append(pa.table({"x": pa.array([1], pa.int32()), "s": ["made by PyIceberg"]}))
    check("databases calve sees", calve(options, "SHOW DATABASES"), [["py"], ["shop"]])
    check("a table of PyIceberg", calve(options, "SELECT * FROM py.t"), [["1", "made by PyIceberg"]])
    calve(options, "DROP TABLE shop.orders")
    check("tables after DROP TABLE", catalog.list_tables("shop"), [])
    left = [p.name for p in warehouse.rglob("*") if p.is_file() and "orders" in p.parts]
    check("files of the dropped table", left, [])


def jdbc(folder):
    from pyiceberg.catalog.sql import SqlCatalog

    warehouse = f"file://{folder}/warehouse"
    options = {"catalog-type": "jdbc", "uri": f"jdbc:sqlite:{folder}/catalog.db", "warehouse": warehouse}
    catalog = SqlCatalog("lake", uri=f"sqlite:///{folder}/catalog.db", warehouse=warehouse)
    share(options, catalog, pathlib.Path(folder, "warehouse"))


def glue(folder):
    from pyiceberg.catalog.glue import GlueCatalog

    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    environment = {**os.environ, "PYTHONDONTWRITEBYTECODE": "1"}
    server = subprocess.Popen([sys.executable, MOTO, str(port), f"{folder}/fault"], env=environment,
                              stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        for _ in range(600):
            if socket.socket().connect_ex(("127.0.0.1", port)) == 0:
                break
            time.sleep(0.1)
        warehouse, endpoint = f"file://{folder}/warehouse", f"http://127.0.0.1:{port}"
        keys = {"client.region": "eu-central-1", "client.access-key-id": "id", "client.secret-access-key": "secret"}
        options = {"catalog-type": "glue", "glue.endpoint": endpoint, "warehouse": warehouse, **keys}
        share(options, GlueCatalog("lake", **{**options, "type": "glue"}), pathlib.Path(folder, "warehouse"))
    finally:
        server.kill()
        server.wait()


for kind in (jdbc, glue):
    print(f"-- {kind.__name__}")
    with tempfile.TemporaryDirectory() as folder:
        kind(folder)
