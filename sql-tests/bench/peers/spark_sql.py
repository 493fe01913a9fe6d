"""The jobs in Spark's SQL, for the engines that speak it: Spark, Sail, repark. See common.py.

An engine is a class: `session()`; `create(session, columns, partitioned)` and `attach(session)` say how the table
`self.name` is made and how another process finds it; `load(session, folder)` gives a table of calve's as a data
frame.
"""

from common import SCHEMA, answer, commit_done, job

MERGE_ON_READ = "'format-version' = '2', 'write.merge.mode' = 'merge-on-read'"
ANSWER = ("count(*)", "sum(amount)", "sum(id)")


class Engine:
    name = "lake.db.t"

    def __init__(self, p):
        self.p = p

    def view(self, session, name, path):
        session.read.parquet(f"{self.p.data}/{path}").createOrReplaceTempView(name)

    def append(self):
        session = self.session()
        self.create(session, SCHEMA, "")
        self.view(session, "events", "events")
        session.sql(f"INSERT INTO {self.name} SELECT * FROM events").collect()

    def partitions(self):
        session = self.session()
        self.create(session, f"{SCHEMA}, p INT", "PARTITIONED BY (p)")
        self.view(session, "events", "events")
        session.sql(f"INSERT INTO {self.name} SELECT *, CAST(id % 500 AS INT) AS p FROM events").collect()

    def overwrite(self):
        session = self.session()
        self.attach(session)
        session.conf.set("spark.sql.sources.partitionOverwriteMode", "dynamic")
        self.view(session, "corrections", "overwrite.parquet")
        session.sql(f"INSERT OVERWRITE {self.name} SELECT *, CAST(id % 500 AS INT) AS p FROM corrections").collect()

    def upsert(self):
        session = self.session()
        self.attach(session)
        self.view(session, "changes", "upsert.parquet")
        session.sql(f"""MERGE INTO {self.name} t USING changes s ON t.id = s.id
          WHEN MATCHED THEN UPDATE SET * WHEN NOT MATCHED THEN INSERT *""").collect()

    def read(self):
        session = self.session()
        self.attach(session)
        answer(session.sql(f"SELECT {', '.join(ANSWER)} FROM {self.name}").collect()[0])

    def scan(self):
        answer(self.load(self.session(), self.p.table).selectExpr(*ANSWER).collect()[0])

    def select(self):
        print(self.session().sql("SELECT 1").collect())

    def show(self):
        session = self.session()
        print(session.sql("SHOW TABLES IN lake.db").collect())

    def commits(self):
        session = self.session()
        self.create(session, "id BIGINT, amount DECIMAL(18, 2)", "")
        for number in range(int(self.p.count)):
            session.sql(f"INSERT INTO {self.name} VALUES ({number}, CAST('{number}.25' AS DECIMAL(18, 2)))").collect()
            commit_done()


def main(engine, without=()):
    names = ("append", "partitions", "overwrite", "upsert", "read", "scan", "select", "show", "commits")
    run, parameters = job({name: getattr(engine, name) for name in names if name not in without})
    run(engine(parameters))


def newest(folder):
    """The newest metadata file of a table in a Hadoop catalog."""
    with open(f"{folder}/metadata/version-hint.text", encoding="utf-8") as hint:
        return f"{folder}/metadata/v{hint.read().strip()}.metadata.json"
