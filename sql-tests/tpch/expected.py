#!/usr/bin/env python3
"""The TPC-H queries on Iceberg tables that calve made give the rows and types that Flink 2.1.3 gave, at scale factor 0.01.

usage: expected.py CALVE TPCHGEN_CLI        the generator is that of tpchgen-cli 2.0.2, whose rows are those of dbgen

expected/*.tsv were recorded from Flink in batch mode with Iceberg 1.11.0, which read the tables that iceberg.sql makes. In
each, the first line has the columns, the others the rows in the query's order, with calve's and Flink's text of each value.
"""
import json
import pathlib
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
QUERIES = range(1, 23)


def filled(name, **values):
    """The text of a file beside this one, with the values in its placeholders."""
    text = (HERE / name).read_text(encoding="utf-8")
    for key, value in values.items():
        text = text.replace("${" + key + "}", str(value))
    return text


def run(binary, *scripts):
    """The results of the statements of several scripts, which one session runs."""
    done = subprocess.run([binary, "--output", "jsonl", "-e", "\n".join(scripts)], capture_output=True, text=True)
    if done.returncode != 0:
        sys.exit(f"calve failed:\n{done.stdout[-3000:]}\n{done.stderr}")
    return [json.loads(line) for line in done.stdout.splitlines()]


def lines(result):
    """A result in the form of expected/*.tsv."""
    columns = [f"{column['name']} {column['type']}" for column in result["columns"]]
    return ["\t".join("<NULL>" if cell is None else cell for cell in row) for row in [columns, *result["rows"]]]


def main():
    binary, generator = (pathlib.Path(argument).resolve() for argument in sys.argv[1:3])
    queries = [(HERE / f"q{number}.sql").read_text(encoding="utf-8") + ";" for number in QUERIES]
    differ = []
    with tempfile.TemporaryDirectory() as folder:
        data, warehouse = pathlib.Path(folder, "data"), pathlib.Path(folder, "warehouse")
        subprocess.run([generator, "-s", "0.01", "--format=parquet", "--output-dir", data], check=True, capture_output=True)
        files = filled("tables.sql", DATA=data)
        run(binary, files, filled("iceberg.sql", WAREHOUSE=warehouse))
        for source, script in [("Iceberg", filled("use.sql", WAREHOUSE=warehouse)), ("Parquet", files)]:
            found = run(binary, script, *queries)[-len(queries):]
            for number, result in zip(QUERIES, found):
                expected = (HERE / "expected" / f"q{number}.tsv").read_text(encoding="utf-8").splitlines()
                if lines(result) != expected:
                    differ.append(f"Q{number} on {source}")
                    pairs = zip(expected + [""] * len(result["rows"]), lines(result))
                    print(differ[-1], *next((pair for pair in pairs if pair[0] != pair[1]), ("rows are missing",)), sep="\n  ")
    if differ:
        sys.exit(f"{len(differ)} results differ from Flink's")
    print(f"{len(queries)} queries on Iceberg tables and on Parquet files: Flink's rows and types")


if __name__ == "__main__":
    main()
