"""repark with a Hadoop catalog, which forgets its tables when the process ends: see common.py and spark_sql.py."""

import os

from spark_sql import MERGE_ON_READ, Engine, main, newest


class Repark(Engine):
    def session(self):
        import repark

        builder = repark.ReparkSession.builder
        if hasattr(self.p, "warehouse"):
            os.makedirs(self.p.warehouse, exist_ok=True)
            for key, value in {
                "": "org.apache.iceberg.spark.SparkCatalog",
                ".type": "hadoop",
                ".warehouse": self.p.warehouse,
            }.items():
                builder = builder.config(f"spark.sql.catalog.lake{key}", value)
        return builder.getOrCreate()

    def create(self, session, columns, partitioned):
        session.sql("CREATE NAMESPACE lake.db").collect()
        session.sql(
            f"CREATE TABLE {self.name} ({columns}) USING iceberg {partitioned} TBLPROPERTIES ({MERGE_ON_READ})"
        ).collect()

    def attach(self, session):
        session.sql("CREATE NAMESPACE IF NOT EXISTS lake.db").collect()
        metadata = newest(f"{self.p.warehouse}/db/t")
        session.sql(f"CALL lake.system.register_table(table => 'db.t', metadata_file => '{metadata}')").collect()

    def load(self, session, folder):
        return session.read.format("iceberg").load(newest(folder))


main(Repark, without=("show",))
