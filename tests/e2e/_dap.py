# SPDX-License-Identifier: MIT
"""A client of the Debug Adapter Protocol, which VS Code and other editors speak to an adapter, and the adapter
cdt-gdb-adapter from npm, which speaks gdb/MI on its other side.

    with Adapter("node", path) as dap:
        dap("initialize", adapterID="gdb")
        dap("attach", target=...)
        stop = dap.stop("continue", threadId=1)

The adapter is installed once, by the versions and hashes in tests/data/npm, into the folder of _cache.py.
"""
import json
import os
import queue
import shutil
import subprocess
import tempfile
import threading

from _cache import cache_folder
from _server import LIMIT
from _tap import DATA, skip_all

VERSIONS = DATA / "npm"
MAIN = "node_modules/cdt-gdb-adapter/dist/debugTargetAdapter.js"
INSTALL_LIMIT = 120     # seconds


def adapter_path():
    """The adapter's program. Skips all cases where it is not there and cannot be installed."""
    shutil.which("node") or skip_all("no node")
    lock = (VERSIONS / "package-lock.json").read_text()
    version = json.loads(lock)["packages"]["node_modules/cdt-gdb-adapter"]["version"]
    folder = cache_folder() / f"cdt-gdb-adapter-{version}"
    if not (folder / MAIN).is_file():
        install(folder)
    return folder / MAIN


def install(folder):
    npm = shutil.which("npm") or skip_all("no npm")
    try:
        folder.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(dir=folder.parent) as new, tempfile.TemporaryDirectory() as npms_cache:
            for name in "package.json", "package-lock.json":
                shutil.copy(VERSIONS / name, new)
            subprocess.run([npm, "ci", "--ignore-scripts", "--no-audit", "--no-fund", "--fetch-retries=1",
                            "--cache", npms_cache], cwd=new, check=True, capture_output=True, text=True,
                           stdin=subprocess.DEVNULL, timeout=INSTALL_LIMIT)
            folder.mkdir(exist_ok=True)
            os.rename(f"{new}/node_modules", folder / "node_modules")
    except (OSError, subprocess.SubprocessError) as why:
        lines = (getattr(why, "stderr", None) or str(why)).splitlines()
        said = [line for line in lines if not line.startswith("npm warn")] or ["?"]
        skip_all(f"npm does not install cdt-gdb-adapter: {said[0]}")


class Adapter:
    """The adapter as a process; requests, and the events that came meanwhile."""

    def __init__(self, *argv):
        self.proc = subprocess.Popen(argv, stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                     env={**os.environ, "TERM": "dumb"})
        self.messages, self.seq, self.log, self.output = queue.Queue(), 0, [], ""
        self.events, self.responses = [], {}
        threading.Thread(target=self.read_messages, args=(self.proc.stdout, self.messages), daemon=True).start()

    @staticmethod
    def read_messages(pipe, messages):
        """Until the adapter ends. Another one may have its place then, with another pipe and another queue."""
        while (header := pipe.readline()).endswith(b"\n"):     # half a header: the adapter has ended
            length = int(header.removeprefix(b"Content-Length: "))
            if pipe.readline() != b"\r\n":
                break
            messages.put(json.loads(pipe.read(length)))
        messages.put(None)

    def next_message(self):
        try:
            message = self.messages.get(timeout=LIMIT)
        except queue.Empty:
            message = None
        assert message is not None, f"nothing more from the adapter\n{self}"
        self.log.append(json.dumps(message))
        if message.get("event") == "output":
            self.output += message["body"]["output"]
        return message

    def post(self, command, **arguments):
        """A request whose response is taken later, by response(): that of "attach" comes after "configurationDone"."""
        self.seq += 1
        request = {"seq": self.seq, "type": "request", "command": command, "arguments": arguments}
        self.log.append(json.dumps(request))
        data = json.dumps(request).encode()
        self.proc.stdin.write(b"Content-Length: %d\r\n\r\n" % len(data) + data)
        self.proc.stdin.flush()
        return self.seq

    def take(self):
        """The next message. A response is remembered; one that refuses the request raises."""
        message = self.next_message()
        if message.get("type") == "response":
            self.responses[message["request_seq"]] = message
            assert message["success"], f"{message['command']}: {message.get('message')}\n{self}"
        return message

    def response(self, seq):
        """The body of the response to a request."""
        while seq not in self.responses:
            if (message := self.take()).get("type") == "event":
                self.events.append(message)
        return self.responses[seq].get("body", {})

    def __call__(self, command, **arguments):
        """A request; returns the body of its response."""
        return self.response(self.post(command, **arguments))

    def event(self, name):
        """The body of the next event of that name, which may have come before the last response."""
        while True:
            message = self.events.pop(0) if self.events else self.take()
            if message.get("event") == name:
                return message.get("body", {})

    def stop(self, command, **arguments):
        """A request after which the program stops anew: why, and the frames there."""
        self.events.clear()
        self(command, **arguments)
        reason = self.event("stopped")["reason"]
        return reason, self("stackTrace", threadId=1)["stackFrames"]

    def __str__(self):
        return "\n".join(self.log)[-6000:]

    def __enter__(self):
        return self

    def __exit__(self, *exc):
        try:
            self.proc.stdin.close()
            self.proc.wait(LIMIT)
        except (OSError, subprocess.TimeoutExpired):
            self.proc.kill()
            self.proc.wait()
