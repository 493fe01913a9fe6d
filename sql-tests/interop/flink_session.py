"""A Flink with Iceberg in one JVM: statements in, rows out."""
import json
import pathlib
import socket
import subprocess

LAUNCHER = pathlib.Path(__file__).resolve().parent / "FlinkSession.java"

# what Flink asks of Java 17
OPENS = ("java.lang", "java.util", "java.net", "java.io", "java.nio", "sun.nio.ch", "java.lang.reflect", "java.text", "java.time",
         "java.util.concurrent", "java.util.concurrent.atomic", "java.util.concurrent.locks")


class Flink:
    """The JVM; it ends with the `with` block."""

    def __init__(self, jars, log):
        flags = ["-Xmx1500m", "-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1", "-Duser.timezone=UTC", "-Dfile.encoding=UTF-8"]
        flags += [f"--add-opens=java.base/{package}=ALL-UNNAMED" for package in OPENS]
        command = ["java", *flags, "-cp", ":".join(map(str, jars)), LAUNCHER]
        self.process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=log, text=True)

    def __enter__(self):
        port = self.process.stdout.readline()
        if not port:
            raise RuntimeError("Flink did not start")
        self.port = int(port)
        return self

    def __exit__(self, *_):
        self.process.stdin.close()
        try:
            self.process.wait(20)
        except subprocess.TimeoutExpired:
            self.process.kill()

    def session(self):
        return Session(self.port)


class Session:
    def __init__(self, port):
        self.lines = socket.create_connection(("localhost", port), timeout=200).makefile("rw", encoding="utf-8")

    def run(self, sql):
        """The rows of a statement, None if it has none; an error is a RuntimeError."""
        self.lines.write(json.dumps(sql) + "\n")
        self.lines.flush()
        line = self.lines.readline()
        if not line:
            raise RuntimeError("Flink ended")
        answer = json.loads(line)
        if "error" in answer:
            raise RuntimeError(f"Flink: {sql}\n    {answer['error']}")
        return answer.get("rows")
