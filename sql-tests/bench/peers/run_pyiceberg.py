"""PyIceberg with an SQLite catalog: see common.py. sidequery is the same library with upserts by equality deletes."""

import decimal
import os
import sys

from common import answer, commit_done, job

if sys.argv[1:] != ["--list"]:  # that is answered without the time these take
    import pyarrow as pa
    import pyarrow.compute as pc
    import pyarrow.parquet as pq
    from pyiceberg.catalog import load_catalog


def catalog(p):
    os.makedirs(p.warehouse, exist_ok=True)
    return load_catalog(
        "lake", type="sql", uri=f"sqlite:///{p.warehouse}/catalog.db", warehouse=f"file://{p.warehouse}"
    )


def table(p):
    return catalog(p).load_table("db.t")


def created(p, schema):
    lake = catalog(p)
    lake.create_namespace_if_not_exists("db")
    return lake.create_table("db.t", schema=schema)


def with_partition(rows):
    """PyArrow has no remainder."""
    number = rows["id"]
    rest = pc.subtract(number, pc.multiply(pc.divide(number, 500), 500))
    return rows.append_column("p", pc.cast(rest, pa.int32()))


def append(p):
    rows = pq.read_table(f"{p.data}/events")
    created(p, rows.schema).append(rows)


def partitions(p):
    rows = with_partition(pq.read_table(f"{p.data}/events"))
    target = created(p, rows.schema)
    with target.update_spec() as spec:
        spec.add_identity("p")
    target.append(rows)


def overwrite(p):
    table(p).dynamic_partition_overwrite(with_partition(pq.read_table(f"{p.data}/overwrite.parquet")))


def upsert(p):
    target, rows = table(p), pq.read_table(f"{p.data}/upsert.parquet")
    if hasattr(target, "upsert_by_equality_delete"):
        target.upsert_by_equality_delete(rows, join_cols=["id"])
    else:
        target.upsert(rows, join_cols=["id"])


def read(p):
    rows = table(p).scan(selected_fields=("id", "amount")).to_arrow()
    answer([rows.num_rows, pc.sum(pc.cast(rows["amount"], pa.decimal128(38, 2))), pc.sum(rows["id"])])


def scan(p):
    from pyiceberg.table import StaticTable

    with open(f"{p.table}/metadata/version-hint.text", encoding="utf-8") as hint:
        newest = f"{p.table}/metadata/v{hint.read().strip()}.metadata.json"
    rows = StaticTable.from_metadata(newest).scan(selected_fields=("id", "amount")).to_arrow()
    answer([rows.num_rows, pc.sum(pc.cast(rows["amount"], pa.decimal128(38, 2))), pc.sum(rows["id"])])


def show(p):
    print(catalog(p).list_tables("db"))


def commits(p):
    schema = pa.schema([("id", pa.int64()), ("amount", pa.decimal128(18, 2))])
    target = created(p, schema)
    for number in range(int(p.count)):
        target.append(pa.table([[number], [decimal.Decimal(f"{number}.25")]], schema=schema))
        commit_done()


run, parameters = job(
    {
        "append": append,
        "partitions": partitions,
        "overwrite": overwrite,
        "upsert": upsert,
        "read": read,
        "scan": scan,
        "show": show,
        "commits": commits,
    }
)
run(parameters)
