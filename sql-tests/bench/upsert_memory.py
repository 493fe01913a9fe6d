#!/usr/bin/env python3
"""Upserts many keys in one statement under a memory limit, and fails if the table then has other rows than it must, or if the
process took much more memory than its limit. The table has rows before, of which half are replaced; every fifth key comes
twice.

usage: upsert_memory.py CALVE [--keys 50000000] [--base 10000000] [--memory-limit 2g] [--slack 512m] [--version 2]
                              [--mode equality] [--writers 2] [--folder DIR] [--address-space 16g]

CALVE is a release build. --slack is what the process may take beyond the limit: what is not accounted for, as the allocator's
rest and the program itself. --address-space also has the kernel refuse more (ulimit -v); it counts what is mapped and not used,
so it must be well above the limit. --folder (default: TMPDIR) takes about 100 bytes a key, temporary files included.
"""
import argparse
import json
import os
import pathlib
import resource
import sys
import tempfile
import time


def size(text):
    units = {"k": 1 << 10, "m": 1 << 20, "g": 1 << 30}
    unit = units.get(text[-1].lower())
    return int(text[:-1]) * unit if unit else int(text)


def run(calve, folder, script, limit=None, address_space=None):
    """Runs a script: the answer to its last statement, seconds by the clock and of the processor, peak memory in bytes."""
    path, out, err = (pathlib.Path(folder) / name for name in ("script.sql", "out", "err"))
    path.write_text(script)
    arguments = [calve, "--output", "jsonl", "-f", str(path)]
    if limit:
        arguments += ["--memory-limit", limit]
    started = time.monotonic()
    child = os.fork()
    if child == 0:
        os.environ["TMPDIR"] = str(folder)
        for stream, file in ((1, out), (2, err)):
            os.dup2(os.open(file, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), stream)
        if address_space:
            resource.setrlimit(resource.RLIMIT_AS, (address_space, address_space))
        os.execvp(calve, arguments)
    _, status, usage = os.wait4(child, 0)
    seconds = time.monotonic() - started
    lines = out.read_text().splitlines()
    if status != 0:
        sys.exit(f"failed with {os.waitstatus_to_exitcode(status)}: {lines[-1:]}\n{err.read_text()}")
    return json.loads(lines[-1]), seconds, usage.ru_utime + usage.ru_stime, usage.ru_maxrss * 1024


def numbers(name, rows):
    return f"""CREATE TEMPORARY TABLE {name} (i BIGINT) WITH ('connector'='datagen', 'number-of-rows'='{rows}',
    'fields.i.kind'='sequence', 'fields.i.start'='1', 'fields.i.end'='{rows}');"""


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("calve")
    parser.add_argument("--keys", type=int, default=50_000_000)
    parser.add_argument("--base", type=int, default=10_000_000)
    parser.add_argument("--memory-limit", default="2g")
    parser.add_argument("--slack", default="512m")
    parser.add_argument("--version", default="2")
    parser.add_argument("--mode", default="equality")
    parser.add_argument("--writers", default="2")
    parser.add_argument("--folder")
    parser.add_argument("--address-space", type=size)
    given = parser.parse_args()
    keys, base = given.keys, given.base // 2 * 2
    with tempfile.TemporaryDirectory(dir=given.folder) as folder:
        head = f"""CREATE CATALOG ice WITH ('type'='iceberg', 'catalog-type'='hadoop', 'warehouse'='{folder}/w');
        USE CATALOG ice; CREATE DATABASE IF NOT EXISTS db; USE db; SET 'execution.runtime-mode'='batch';"""
        setup = f"""CREATE TABLE t (id BIGINT, v BIGINT, PRIMARY KEY (id) NOT ENFORCED)
        WITH ('format-version'='{given.version}', 'calve.upsert.mode'='{given.mode}');"""
        if base:
            # half of them are among the keys of the upsert
            setup += numbers("base", base) + f"INSERT INTO t SELECT i - 1 + {keys - base // 2}, -1 FROM base;"
        run(given.calve, folder, head + setup)
        rows = keys + keys // 5
        # a number without a factor of its own in common with the keys visits all of them
        step = next(n for n in range(1_000_003, 2_000_000) if all(keys % f for f in factors(n)))
        upsert = numbers("late", rows) + f"""INSERT INTO t /*+ OPTIONS('upsert-enabled'='true',
        'write-parallelism'='{given.writers}') */ SELECT k, k * 3 + 1 FROM (SELECT MOD(i * {step}, {keys}) AS k FROM late);"""
        _, wall, cpu, peak = run(given.calve, folder, head + upsert, given.memory_limit, given.address_space)
        left = [entry.name for entry in pathlib.Path(folder).iterdir() if entry.name not in ("w", "script.sql", "out", "err")]
        answer, seconds, _, read_peak = run(
            given.calve, folder, head + "SELECT COUNT(*), SUM(id), SUM(v) FROM t;")
        kept = base // 2
        expected = [keys + kept, sum(range(keys + kept)), 3 * sum(range(keys)) + keys - kept]
        found = [int(value) for value in answer["rows"][0]]
        mib = 1 << 20
        print(f"v{given.version} {given.mode}: {rows} rows of {keys} keys on {base} under {given.memory_limit}: {wall:.1f} s, "
              f"{cpu:.1f} s of CPU, {peak / mib:.0f} MiB; read in {seconds:.1f} s, {read_peak / mib:.0f} MiB")
        allowed = size(given.memory_limit) + size(given.slack)
        failures = []
        if found != expected:
            failures.append(f"OTHER ROWS: {found} instead of {expected}")
        if peak > allowed:
            failures.append(f"TOO MUCH MEMORY: {peak / mib:.0f} MiB instead of {allowed / mib:.0f}")
        if left:
            failures.append(f"TEMPORARY FILES LEFT: {left}")
        sys.exit("\n".join(failures) or 0)


def factors(number):
    """The prime factors."""
    found, factor = [], 2
    while factor * factor <= number:
        while number % factor == 0:
            found.append(factor)
            number //= factor
        factor += 1
    return found + [number] * (number > 1)


if __name__ == "__main__":
    main()
