"""DuckDB with its extensions for Iceberg, which are Python packages of their own."""
import glob
import importlib.util
import os


def extension(name):
    """The path of an extension's file inside its package."""
    package = importlib.util.find_spec("duckdb_extension_" + name).submodule_search_locations[0]
    return glob.glob(os.path.join(package, "**", name + ".duckdb_extension"), recursive=True)[0]


def connect():
    """A database in memory that knows iceberg_scan."""
    import duckdb

    db = duckdb.connect(config={"allow_unsigned_extensions": "true"})
    for name in ("avro", "iceberg"):
        db.load_extension(extension(name))
    return db
