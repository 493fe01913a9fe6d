"""Sail, in this process: see common.py and spark_sql.py. Its tables are known by their folders."""

import os
import sys
import traceback

from spark_sql import MERGE_ON_READ, Engine, main


class Sail(Engine):
    name = "t"

    def session(self):
        os.environ.setdefault("RUST_LOG", "error")
        from pysail.spark import SparkConnectServer
        from pyspark.sql import SparkSession

        self.server = SparkConnectServer("127.0.0.1", 0)
        self.server.start(background=True)
        host, port = self.server.listening_address
        return SparkSession.builder.remote(f"sc://{host}:{port}").getOrCreate()

    def location(self):
        return f"file://{self.p.warehouse}/db/t"

    def create(self, session, columns, partitioned):
        os.makedirs(self.p.warehouse, exist_ok=True)
        session.sql(
            f"CREATE TABLE t ({columns}) USING iceberg {partitioned} LOCATION '{self.location()}' "
            f"TBLPROPERTIES ({MERGE_ON_READ})"
        )

    def attach(self, session):
        session.sql(f"CREATE TABLE t USING iceberg LOCATION '{self.location()}'")

    def overwrite(self):
        session = self.session()
        self.attach(session)
        self.view(session, "corrections", "overwrite.parquet")
        # its INSERT OVERWRITE replaces the whole table
        session.sql("SELECT *, CAST(id % 500 AS INT) AS p FROM corrections").writeTo("t").overwritePartitions()

    def load(self, session, folder):
        return session.read.format("iceberg").load(f"file://{folder}")


try:
    main(Sail, without=("show",))
    code = 0
except Exception:
    traceback.print_exc()
    code = 1
sys.stdout.flush()
sys.stderr.flush()
os._exit(code)  # the end of Python can hang while it stops the server
