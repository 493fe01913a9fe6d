"""Spark with Iceberg's connector and a Hadoop catalog: see common.py and spark_sql.py."""

import glob
import os
import sys

from spark_sql import MERGE_ON_READ, Engine, main


class Spark(Engine):
    def session(self):
        from pyspark.sql import SparkSession

        jar = glob.glob(os.path.join(sys.prefix, "jars", "iceberg-spark-runtime-*.jar"))[0]
        os.environ["PYSPARK_PYTHON"] = sys.executable
        settings = {
            "spark.driver.memory": "6g",
            "spark.ui.enabled": "false",
            "spark.driver.bindAddress": "127.0.0.1",
            "spark.driver.host": "127.0.0.1",
            "spark.jars": jar,
            "spark.sql.session.timeZone": "UTC",
            "spark.sql.extensions": "org.apache.iceberg.spark.extensions.IcebergSparkSessionExtensions",
            "spark.sql.catalog.lake": "org.apache.iceberg.spark.SparkCatalog",
            "spark.sql.catalog.lake.type": "hadoop",
            "spark.sql.catalog.lake.warehouse": getattr(self.p, "warehouse", "/nonexistent"),
            "spark.sql.shuffle.partitions": str(2 * (os.cpu_count() or 1)),
            "spark.log.level": "ERROR",
        }
        builder = SparkSession.builder.master("local[*]")
        for key, value in settings.items():
            builder = builder.config(key, value)
        return builder.getOrCreate()

    def create(self, session, columns, partitioned):
        session.sql(f"CREATE TABLE {self.name} ({columns}) USING iceberg {partitioned} TBLPROPERTIES ({MERGE_ON_READ})")

    def attach(self, session):
        pass

    def load(self, session, folder):
        return session.read.format("iceberg").load(folder)


main(Spark)
