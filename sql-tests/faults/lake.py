"""A catalog in a folder, its tables, and calve processes that work on them."""
import collections
import dataclasses
import json
import os
import pathlib
import re
import subprocess
import time

import faults

# What a statement may end with, as README says.
EXIT_DONE, EXIT_FAILED, EXIT_UNKNOWN = 0, 2, 3
EXIT_INTERRUPTED, EXIT_TERMINATED = 130, 143


class Violation(Exception):
    """A promise that was not kept: what was seen."""


@dataclasses.dataclass
class Outcome:
    """How a script ended."""
    code: int
    results: list  # the objects of jsonl
    stderr: str
    seconds: float
    script: str
    fault_at: tuple = ()  # the call at which a fault happened

    @property
    def last(self):
        """The result of the script's last statement; None if calve did not come so far."""
        return self.results[-1] if self.results and self.script.rstrip("; \n").endswith(self.results[-1]["sql"]) else None

    @property
    def error(self):
        """The first error: code, message, detail and hint; None if there is none."""
        return next((r["error"] for r in self.results if r["status"] == "error"), None)

    def told(self):
        """In a line, what calve said."""
        error = self.error
        said = f"{error['code']}: {error['message']}" if error else (self.last or {}).get("status", "nothing of the statement")
        return f"exit code {self.code}, {said}" + (f", at {' '.join(self.fault_at)}" if self.fault_at else "")


class Lake:
    """An Iceberg catalog below a folder; `kind` is hadoop, jdbc (SQLite), or rest with its URI in `properties`."""

    def __init__(self, calve, folder, kind, injector=None, properties=None):
        self.calve, self.folder, self.kind, self.injector = str(calve), pathlib.Path(folder), kind, injector
        self.folder.mkdir(parents=True, exist_ok=True)
        self.log = self.folder.with_name(self.folder.name + ".calls")
        self.warehouse = self.folder / "warehouse"
        self.state = None  # what was read last
        options = {"type": "iceberg", "catalog-type": kind}
        if kind != "rest":
            options["warehouse"] = str(self.warehouse)
        if kind == "jdbc":
            options["uri"] = f"jdbc:sqlite:{self.folder}/catalog.db"
        options.update(properties or {})
        listed = ", ".join(f"'{name}' = '{value}'" for name, value in options.items())
        self.prelude = f"CREATE CATALOG lake WITH ({listed});\nUSE CATALOG lake;\n"

    def start(self, sql, fault=None, job=None, keep_going=False, session="USE db;\nSET 'execution.runtime-mode' = 'batch';\n", **options):
        """A process that runs a script; `options` are those of Popen."""
        command = [self.calve, "--output", "jsonl", "-D", "parallelism.default=2"]
        command += ["-D", f"calve.job-id={job}"] if job else []
        command += ["--keep-going"] if keep_going else []
        script = self.prelude + session + sql
        environment = dict(options.pop("env", os.environ))
        if fault:
            environment.update(self.injector.environment(fault, self.folder, self.log))
        process = subprocess.Popen(command + ["-e", script], stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=environment, **options)
        process.script, process.begun, process.fault = script, time.monotonic(), fault
        return process

    def finish(self, process, timeout=120):
        """Waits for a process: its outcome. One that does not end is a violation."""
        try:
            stdout, stderr = process.communicate(timeout=timeout)
        except subprocess.TimeoutExpired:
            process.kill()
            process.communicate()
            raise Violation(f"no end after {timeout} seconds:\n{process.script}") from None
        seconds = time.monotonic() - process.begun
        results = []
        for line in stdout.decode(errors="replace").splitlines():
            try:
                results.append(json.loads(line))
            except ValueError:
                if process.returncode >= 0:
                    raise Violation(f"not a line of jsonl: {line[:200]!r}\n{process.script}") from None
        fault = process.fault
        at = (faults.calls(self.log) or [()])[-1] if fault and fault.action != "none" else ()
        stderr = stderr.decode(errors="replace")
        if "panicked at" in stderr or process.returncode in (101, 134, -6, -11):
            raise Violation(f"a crash with exit code {process.returncode}: {stderr[:600]}\n{process.script}")
        return Outcome(process.returncode, results, stderr, seconds, process.script, at)

    def run(self, sql, timeout=120, **options):
        """Runs a script to its end."""
        return self.finish(self.start(sql, **options), timeout)

    def must(self, sql, **options):
        """Runs a script that has to succeed: the results of its own statements."""
        outcome = self.run(sql, **options)
        if outcome.code != EXIT_DONE:
            raise Violation(f"{outcome.told()}\n{outcome.error}\n{outcome.stderr}\n{sql}")
        return outcome.results

    def query(self, sql):
        """The rows of the last query of a script, each a tuple of strings."""
        return [tuple(row) for row in self.must(sql)[-1]["rows"]]

    def files(self):
        """Every file below the folder, apart from the catalog's own."""
        own = re.compile(r"version-hint\.text$|/catalog\.db(-journal|-wal|-shm)?$")
        return {str(p) for p in self.folder.rglob("*") if p.is_file() and not own.search(str(p))}

    def existing(self, names):
        """The paths of files that tables name. One that does not exist is a violation."""
        names = {name.removeprefix("file://") for name in names}
        missing = sorted(name for name in names if not os.path.exists(name))
        if missing:
            raise Violation(f"{len(missing)} files that tables name are missing: {missing[:5]}")
        return names

    def referenced(self, table):
        """Every file that a version of a table names."""
        results = self.must(";\n".join(files_of(table)))[-len(files_of(table)):]
        return self.existing(row[0] for result in results for row in result["rows"])


def files_of(table):
    """Queries for the names of every file of a table."""
    return [f"SELECT manifest_list FROM {table}$snapshots", f"SELECT path FROM {table}$all_manifests",
            f"SELECT file_path FROM {table}$all_files", f"SELECT file FROM {table}$metadata_log_entries"]


def report(number, where, violation, folder):
    """Prints a violation, if it is long its beginning; all of it goes into a file of the folder."""
    path = pathlib.Path(folder, f"violation-{number}.txt")
    path.write_text(f"{where}\n{violation}\n")
    text = str(violation)
    if len(text) > 1500:
        text = f"{text[:1500]} ... (all of it, with --keep: {path})"
    print(f"\nVIOLATION {number}, {where}:\n{text}\n", flush=True)


def difference(want, got):
    """In a line, how two lists of rows differ."""
    want, got = collections.Counter(want), collections.Counter(got)
    lost, more = list((want - got).elements()), list((got - want).elements())
    return f"{len(lost)} rows are missing {sorted(lost)[:4]}, {len(more)} too many {sorted(more)[:4]}"
