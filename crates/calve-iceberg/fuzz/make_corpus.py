"""Makes the corpus anew: small files of every kind that calve reads, written by calve itself.

    cargo build -p calve-cli
    python3 crates/calve-iceberg/fuzz/make_corpus.py target/debug/calve

Inputs that once broke something have names that begin with `found-`; they are kept.
"""

import glob
import json
import os
import struct
import subprocess
import sys
import tempfile
import zlib

HERE = os.path.dirname(os.path.abspath(__file__))

COLUMNS = """
    id BIGINT NOT NULL, b BOOLEAN, i INT, f FLOAT, d DOUBLE, n DECIMAL(10, 2), dt DATE, t TIME(6), ts TIMESTAMP(6),
    tz TIMESTAMP_LTZ(6), s STRING, bin BYTES, tags ARRAY<STRING>, props MAP<STRING, INT>, marks MAP<INT, DOUBLE>,
    r ROW<a INT, b ROW<c STRING>>"""

ROW = """({id}, TRUE, {id}, CAST(1.5 AS FLOAT), 2.5E0, 12.34, DATE '2024-02-29', TIME '01:02:03',
    TIMESTAMP '2024-01-01 00:00:00.123456', CAST(TIMESTAMP '2024-01-01 00:00:00.123456' AS TIMESTAMP_LTZ(6)), 's{id}', X'00FF',
    ARRAY['x', 'y'], MAP['k', {id}], MAP[1, 1.5E0], ROW({id}, ROW('c')))"""

TYPES = [
    "BOOLEAN", "INT", "FLOAT", "DOUBLE", "DECIMAL(10, 2)", "DATE", "TIME(6)", "TIMESTAMP(6)", "TIMESTAMP_LTZ(6)", "STRING",
    "BYTES", "ARRAY<STRING>", "MAP<STRING, INT>", "MAP<INT, DOUBLE>", "ROW<a INT, b ROW<c STRING>>",
]


def rows(first, last):
    """INSERT's values: some rows, and one of NULLs behind them."""
    nulls = ", ".join(f"CAST(NULL AS {of})" for of in TYPES)
    # NULLs of nested types cannot stand in VALUES beside others
    values = ", ".join(ROW.format(id=number) for number in range(first, last))
    return [f"VALUES {values}", f"SELECT CAST({last} AS BIGINT), {nulls}"]


def read(path):
    with open(path, "rb") as file:
        return file.read()


def table(name, columns, properties, partition=""):
    with_clause = ", ".join(f"'{key}' = '{value}'" for key, value in properties.items())
    return [f"CREATE TABLE {name} ({columns}) {partition} WITH ({with_clause})"]


def everything(name, properties, last=4):
    return table(name, COLUMNS, properties) + [f"INSERT INTO {name} {values}" for values in rows(1, last)]


def statements():
    script = []
    for codec, name in [("uncompressed", "null"), ("gzip", "deflate"), ("snappy", "snappy"), ("zstd", "zstd")]:
        script += everything(
            f"avro_{name}",
            {"format-version": "2", "write.format.default": "avro", "write.avro.compression-codec": codec},
        )
    for codec in ["none", "zlib", "snappy", "zstd"]:
        script += everything(
            f"orc_{codec}", {"format-version": "2", "write.format.default": "orc", "write.orc.compression-codec": codec}
        )
    script += everything("parquet_zstd", {"format-version": "2"})
    # equality deletes, and position deletes or deletion vectors, of every format
    for version in [2, 3]:
        for form in ["avro", "orc", "parquet"]:
            name = f"upsert_v{version}_{form}"
            script += table(
                name,
                "id BIGINT NOT NULL, v STRING, PRIMARY KEY (id) NOT ENFORCED",
                {"format-version": str(version), "write.upsert.enabled": "true", "write.format.default": form,
                 "calve.upsert.equality-deletes": "always"},
            )
            script += [f"INSERT INTO {name} VALUES (1, 'a'), (2, 'b'), (1, 'c'), (3, 'd'), (3, 'e')"]
            script += [f"INSERT INTO {name} VALUES (2, 'f')"]
    # a vector with containers of every kind
    script += table("many", "id BIGINT", {"format-version": "3", "write.delete.mode": "merge-on-read"})
    script += ["INSERT INTO many SELECT * FROM numbers"]
    script += ["DELETE FROM many WHERE id < 40000 AND MOD(id, 2) = 0 OR id BETWEEN 70000 AND 70100"]
    # metadata with a past
    for version in [1, 2, 3]:
        name = f"past_v{version}"
        properties = {"format-version": str(version)}
        if version == 2:
            properties["write.metadata.compression-codec"] = "gzip"
        columns = "id BIGINT, `a b` STRING, n DECIMAL(10, 2), dt DATE"
        partition = "PARTITIONED BY (`a b`)" if version == 1 else "PARTITIONED BY (bucket(4, id), days(dt), `a b`)"
        script += table(name, columns, properties, partition)
        script += [f"INSERT INTO {name} VALUES (1, 'x', 1.5, DATE '2024-01-01'), (2, 'y', 2.5, DATE '1969-12-31')"]
        script += [f"INSERT INTO {name} VALUES (3, CAST(NULL AS STRING), CAST(NULL AS DECIMAL(10, 2)), CAST(NULL AS DATE))"]
        script += [f"ALTER TABLE {name} ADD (more STRING COMMENT 'new')"]
        script += [f"ALTER TABLE {name} DROP PARTITION FIELD `a b`"]
        script += [f"ALTER TABLE {name} DROP n"]
        script += [f"INSERT INTO {name} /*+ OPTIONS('branch' = 'audit') */ VALUES (4, 'z', DATE '2024-01-02', 'm')"][: version - 1]
    return script


def run(calve, folder):
    numbers = ["CREATE TEMPORARY TABLE numbers (id BIGINT) WITH ('connector' = 'datagen', 'number-of-rows' = '80000',"
               " 'fields.id.kind' = 'sequence', 'fields.id.start' = '0', 'fields.id.end' = '79999')"]
    script = [f"CREATE CATALOG c WITH ('type' = 'iceberg', 'catalog-type' = 'hadoop', 'warehouse' = '{folder}')",
              "USE CATALOG c", "CREATE DATABASE db", "USE db", "SET 'parallelism.default' = '1'"]
    path = os.path.join(folder, "script.sql")
    with open(path, "w") as file:
        file.write(";\n".join(script + numbers + statements()) + ";\n")
    done = subprocess.run([calve, "run", path], capture_output=True, text=True)
    if done.returncode != 0:
        sys.exit(done.stdout[-2000:] + done.stderr)


def deflated(avro):
    """An Avro file without compression, with blocks that are compressed."""
    def long(at):
        value = shift = 0
        while True:
            value |= (avro[at] & 0x7F) << shift
            shift += 7
            at += 1
            if avro[at - 1] < 0x80:
                return (value >> 1) ^ -(value & 1), at

    def encode(number):
        number <<= 1
        out = bytearray()
        while number > 0x7F:
            out.append(number & 0x7F | 0x80)
            number >>= 7
        return bytes(out) + bytes([number])

    codec = avro.index(b"avro.codec") + len("avro.codec")
    size, value = long(codec)
    # the header ends with an empty block and the sync marker, which ends the file, too
    sync = avro[-16:]
    at = avro.index(sync) + 16
    out = avro[:codec] + encode(7) + b"deflate" + avro[value + size:at]
    while at < len(avro):
        count, at = long(at)
        size, at = long(at)
        packer = zlib.compressobj(9, zlib.DEFLATED, -15)
        block = packer.compress(avro[at:at + size]) + packer.flush()
        out += encode(count) + encode(len(block)) + block + sync
        at += size + 16
    return out


def vectors(puffin):
    """The blobs of a Puffin file."""
    assert puffin[:4] == puffin[-4:] == b"PFA1"
    size = int.from_bytes(puffin[-12:-8], "little")
    footer = json.loads(puffin[-12 - size:-12])
    return [puffin[blob["offset"]:blob["offset"] + blob["length"]] for blob in footer["blobs"]]


def vector_of_runs():
    """The blob of a vector of the positions 0 to 9 and 100 to 199, as Java writes it: calve writes no runs."""
    runs = [(0, 9), (100, 99)]
    body = struct.pack("<QIIBHHH", 1, 0, 12347, 1, 0, 109, len(runs))
    body = b"\xd1\xd3\x39\x64" + body + b"".join(struct.pack("<HH", *run) for run in runs)
    return struct.pack(">I", len(body)) + body + struct.pack(">I", zlib.crc32(body))


def collect(folder):
    """The files by their kind and a name."""
    found = {}

    def put(kind, name, data):
        # no two of the same bytes
        if data not in [of for (k, _), of in found.items() if k == kind]:
            found[kind, name] = data

    for place in sorted(glob.glob(f"{folder}/db/*")):
        name = os.path.basename(place)
        listed = sorted(glob.glob(f"{place}/metadata/*.avro"), key=os.path.getmtime)
        versions = glob.glob(f"{place}/metadata/v*.metadata.json")
        newest = max(versions, key=lambda path: int(os.path.basename(path)[1:].split(".")[0]))
        if name.startswith(("past", "many", "upsert_v3_parquet")) or name == "avro_null":
            put("metadata", name, read(newest))
        if name.startswith(("past", "upsert_v2_avro", "upsert_v3_orc")):
            lists = [path for path in listed if "/snap-" in path]
            put("manifest_list", name, read(lists[-1]))
            manifests = [path for path in listed if path not in lists]
            # one of each kind is enough
            for number, path in enumerate(manifests[:2]):
                put("manifest", f"{name}_{number}", read(path))
        if name in ["past_v2", "upsert_v2_avro"]:
            put("manifest_list", f"{name}_deflate", deflated(found["manifest_list", name]))
            put("manifest", f"{name}_deflate", deflated(found["manifest", f"{name}_0"]))
        for path in glob.glob(f"{place}/data/**/*.puffin", recursive=True):
            for blob in vectors(read(path)):
                put("vector", name, blob)
        if not name.startswith(("past", "many")):
            files = [p for p in glob.glob(f"{place}/data/**/*", recursive=True) if p.endswith((".avro", ".orc", ".parquet"))]
            for number, path in enumerate(sorted(files)):
                form = path.rsplit(".", 1)[1]
                deletes = "_deletes" if "-deletes." in path else ""
                put(form, f"{name}{deletes}_{number}", read(path))
    put("vector", "runs", vector_of_runs())
    return found


def main():
    calve = os.path.abspath(sys.argv[1])
    corpus = os.path.join(HERE, "corpus")
    with tempfile.TemporaryDirectory(prefix="calve-corpus-") as folder:
        run(calve, folder)
        found = collect(folder)
    for old in glob.glob(f"{corpus}/*/*"):
        kind = os.path.basename(os.path.dirname(old))
        if not os.path.basename(old).startswith("found-") and kind != "location":
            os.remove(old)
    for (kind, name), data in sorted(found.items()):
        os.makedirs(f"{corpus}/{kind}", exist_ok=True)
        with open(f"{corpus}/{kind}/{name}", "wb") as file:
            file.write(data)
    kinds = sorted({kind for kind, _ in found})
    for kind in kinds:
        files = [data for (of, _), data in found.items() if of == kind]
        print(f"{kind}: {len(files)} files, {sum(map(len, files))} bytes")


if __name__ == "__main__":
    main()
