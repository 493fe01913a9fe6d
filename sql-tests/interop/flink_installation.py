"""Installs a Flink with Iceberg: jars of PyPI's apache-flink-libraries and of Maven Central, nothing else of the machine is changed."""
import pathlib
import re
import shutil
import subprocess
import sys
import tarfile
import tempfile
import zipfile

FLINK = "2.1.3"
ARTIFACTS = ("org.apache.iceberg:iceberg-flink-runtime-2.1:1.11.0", "org.apache.hadoop:hadoop-client-api:3.4.2",
             "org.apache.hadoop:hadoop-client-runtime:3.4.2", "commons-logging:commons-logging:1.2")


class Unavailable(Exception):
    """Why there can be no Flink here."""


def run(what, *command):
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=600)
    except subprocess.TimeoutExpired:
        raise Unavailable(f"{what}: no answer within ten minutes") from None
    if done.returncode != 0:
        last = (done.stdout + done.stderr).strip().splitlines() or [f"exit code {done.returncode}"]
        raise Unavailable(f"{what}: {last[-1]}")


def flink_jars(folder):
    """Flink's lib folder, from the source archive or the wheel."""
    with tempfile.TemporaryDirectory() as download:
        run("cannot get apache-flink-libraries from PyPI", sys.executable, "-m", "pip", "download", "--quiet", "--no-deps",
            "--dest", download, f"apache-flink-libraries=={FLINK}")
        archive = next(pathlib.Path(download).iterdir())
        with zipfile.ZipFile(archive) if archive.suffix == ".whl" else tarfile.open(archive) as files:
            names = files.namelist() if archive.suffix == ".whl" else files.getnames()
            for name in names:
                if re.search(r"(deps|pyflink)/lib/[^/]+\.jar$", name):
                    source = files.open(name) if archive.suffix == ".whl" else files.extractfile(name)
                    with source, open(folder / pathlib.Path(name).name, "wb") as target:
                        shutil.copyfileobj(source, target)


def install(folder):
    """The jars, after they were downloaded if they were not there yet."""
    for tool, package in (("java", "a Java runtime"), ("javac", "a JDK"), ("mvn", "Maven")):
        if not shutil.which(tool):
            raise Unavailable(f"{tool} is not there: install {package}")
    complete = folder / f"complete-{FLINK}"
    if not complete.exists():
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir(parents=True)
        flink_jars(folder)
        for artifact in ARTIFACTS:
            run(f"cannot get {artifact} with Maven", "mvn", "-q", "-B", "dependency:copy", f"-Dartifact={artifact}",
                f"-DoutputDirectory={folder}")
        complete.touch()
    return sorted(folder.glob("*.jar"))
