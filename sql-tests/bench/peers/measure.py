"""Runs a command and tells what it and all that it started took: seconds, CPU time, the peak of their memory."""

import ctypes
import os
import signal
import subprocess
import sys
import threading
import time

PAGE = os.sysconf("SC_PAGE_SIZE")
EVERY = 0.02  # seconds between two looks at the memory


class Measured:
    def __init__(self):
        self.wall = self.cpu = 0.0
        self.peak = 0  # bytes
        self.code = None
        self.ended = None  # why it was ended, if it was
        self.lines = []  # of standard output, each with the time at which it came
        self.errors = ""

    def output(self):
        return [line for _, line in self.lines]


def adopt_orphans():
    """Lets this process wait for what a child started and left behind, such as the JVM of a Python program."""
    if sys.platform == "linux":
        set_child_subreaper = 36
        ctypes.CDLL(None, use_errno=True).prctl(set_child_subreaper, 1, 0, 0, 0)


def resident(pid):
    """The memory of a process and of those it started, in bytes."""
    try:
        with open(f"/proc/{pid}/statm", encoding="ascii") as file:
            total = int(file.read().split()[1]) * PAGE
        for thread in os.listdir(f"/proc/{pid}/task"):
            with open(f"/proc/{pid}/task/{thread}/children", encoding="ascii") as file:
                total += sum(resident(int(child)) for child in file.read().split())
        return total
    except (FileNotFoundError, ProcessLookupError):  # it has ended meanwhile
        return 0


def kill_group(group):
    try:
        os.killpg(group, signal.SIGKILL)
    except ProcessLookupError:
        pass


def measure(command, folder, env, timeout, most_memory):
    """Runs the command in the folder; ends it after `timeout` seconds, or at more than `most_memory` bytes."""
    result, done = Measured(), threading.Event()
    started = time.monotonic()
    process = subprocess.Popen(
        command,
        cwd=folder,
        env=env,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        start_new_session=True,
    )

    def read_output():
        for line in process.stdout:
            result.lines.append((time.monotonic(), line.decode(errors="replace").rstrip("\n")))

    def read_errors():
        result.errors = process.stderr.read().decode(errors="replace")

    def watch():
        while not done.wait(EVERY):
            result.peak = max(result.peak, resident(process.pid))
            if time.monotonic() - started > timeout:
                result.ended = f"not done in {timeout:g} s"
            elif result.peak > most_memory:
                result.ended = f"over {most_memory / 2**30:.0f} GiB of memory"
            if result.ended:
                kill_group(process.pid)
                return

    threads = [threading.Thread(target=target, daemon=True) for target in (read_output, read_errors, watch)]
    for thread in threads:
        thread.start()
    largest = 0
    try:
        _, status, usage = os.wait4(process.pid, 0)
        result.wall = time.monotonic() - started
        result.cpu, largest = usage.ru_utime + usage.ru_stime, usage.ru_maxrss
        while True:  # what it left behind; it is of the same group
            _, _, usage = os.wait4(-process.pid, 0)
            result.cpu += usage.ru_utime + usage.ru_stime
            largest = max(largest, usage.ru_maxrss)
    except ChildProcessError:
        pass
    except BaseException:
        kill_group(process.pid)
        raise
    finally:
        done.set()
    for thread in threads:
        thread.join()
    process.returncode = result.code = os.waitstatus_to_exitcode(status)
    unit = 1 if sys.platform == "darwin" else 1024
    result.peak = max(result.peak, largest * unit)
    return result
