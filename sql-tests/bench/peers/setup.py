#!/usr/bin/env python3
"""Installs the engines that peers.py runs beside calve, each into a virtual environment of its own below HOME/venvs.

usage: setup.py HOME [PEER...]      all peers if none is named; about 4 GB in all

What is installed already stays as it is: remove its folder to install it anew. Spark needs Java 17 and Maven (for the
jar of Iceberg's connector), Flink a JDK and Maven, repark Python 3.12 or newer. A peer that cannot be installed is
named with the reason, and peers.py goes without it.
"""

import glob
import os
import pathlib
import shutil
import subprocess
import sys

sys.dont_write_bytecode = True  # no __pycache__ among the sources
HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent.parent / "interop"))

import flink_installation  # noqa: E402

ICEBERG_JAR = "org.apache.iceberg:iceberg-spark-runtime-3.5_2.12:1.10.2"

PEERS = {
    "duckdb": [
        "duckdb==1.5.5",
        "duckdb-extension-iceberg==1.5.5",
        "duckdb-extension-avro==1.5.5",
        "duckdb-extension-httpfs==1.5.5",
    ],
    "pyiceberg": ["pyiceberg[sql-sqlite,pyarrow]==0.12.0"],
    "sidequery": ["sidequery-pyiceberg[sql-sqlite,pyarrow]==0.12.0.post2"],
    "sail": ["pysail==0.7.2", "pyspark-client==4.2.0", "pyarrow", "pandas"],
    "repark": ["repark==1.5.5", "pyarrow"],
    "chdb": ["chdb==4.4.0"],
    "spark": ["pyspark==3.5.9", "setuptools<81"],  # its Python still asks for distutils
    "flink": [],  # jars: see flink()
}


class Unavailable(Exception):
    pass


def python_for(peer):
    """An interpreter that the peer can be installed with."""
    if peer != "repark" or sys.version_info >= (3, 12):
        return sys.executable
    found = [
        os.environ.get("PYTHON312"),
        *(f"python3.{minor}" for minor in (12, 13)),
        *sorted(glob.glob(os.path.expanduser("~/.pyenv/versions/3.1[2-9].*/bin/python3"))),
    ]
    for candidate in filter(None, found):
        path = shutil.which(candidate)
        if path and subprocess.run([path, "--version"], capture_output=True, check=False).returncode == 0:
            return path
    raise Unavailable("it needs Python 3.12 or newer: name one in PYTHON312")


def run(*command):
    done = subprocess.run([str(part) for part in command], capture_output=True, text=True, check=False)
    if done.returncode != 0:
        said = [line for line in (done.stderr + done.stdout).splitlines() if "ERROR" in line or "rror:" in line]
        raise Unavailable(f"{pathlib.Path(command[0]).name}: {said[-1] if said else 'failed'}")
    return done.stdout


def iceberg_jar(venv):
    """Iceberg's connector for Spark, from Maven Central."""
    if not shutil.which("java") or not shutil.which("mvn"):
        raise Unavailable("it needs Java and Maven")
    run("mvn", "-q", "-B", "dependency:copy", f"-Dartifact={ICEBERG_JAR}", f"-DoutputDirectory={venv / 'jars'}")
    if not list((venv / "jars").glob("*.jar")):
        raise Unavailable(f"{ICEBERG_JAR} was not fetched")


def flink(folder):
    """Flink as the interop tests have it, and the program that runs scripts."""
    try:
        jars = flink_installation.install(folder / "jars")
    except flink_installation.Unavailable as why:
        raise Unavailable(why) from None
    run("javac", "-cp", ":".join(map(str, jars)), "-d", folder / "classes", HERE / "FlinkScript.java")
    (folder / "complete").write_text(flink_installation.FLINK)


def install(home, peer):
    venv = home / "venvs" / peer
    if (venv / "complete").exists():
        return
    shutil.rmtree(venv, ignore_errors=True)
    if peer == "flink":
        flink(venv)
        return
    run(python_for(peer), "-m", "venv", venv)
    try:
        run(venv / "bin" / "python", "-m", "pip", "install", "-q", "--disable-pip-version-check", *PEERS[peer])
        if peer == "spark":
            iceberg_jar(venv)
        (venv / "complete").touch()
    except Unavailable:
        shutil.rmtree(venv, ignore_errors=True)
        raise


def main():
    if len(sys.argv) < 2 or sys.argv[1].startswith("-"):
        sys.exit(__doc__)
    home = pathlib.Path(sys.argv[1]).resolve()
    names = sys.argv[2:] or list(PEERS)
    unknown = set(names) - set(PEERS)
    if unknown:
        sys.exit(f"no such peer: {', '.join(sorted(unknown))}; there are {', '.join(PEERS)}")
    missing = {}
    for peer in names:
        try:
            install(home, peer)
            print(f"{peer}: installed", flush=True)
        except Unavailable as reason:
            missing[peer] = reason
            print(f"{peer}: NOT installed: {reason}", flush=True)
    sys.exit(1 if missing else 0)


if __name__ == "__main__":
    main()
