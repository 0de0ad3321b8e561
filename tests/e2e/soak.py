#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Many clients for a while: each moves about in the recording, and each answer is that of a naive twin (tests/tools/soak.c).

States come from the emulator's oracle.  `make soak CLIENTS=256 TIME=600` judges also round trips and the memory of the
server; in `make check` there are fewer clients for two seconds, and only the answers are judged.
"""
import os
import pathlib
import re
import subprocess
import tempfile

from _raw_oracle import Expected, layout
from _recording import Recording
from _rsp import Rsp
from _server import Server
from _tap import SRCDIR, case, run_cases

TOOLS = pathlib.Path(os.environ.get("TEST_BUILDDIR", SRCDIR)).resolve() / "tests/tools"
IS_LONG = "SOAK_TIME" in os.environ
CLIENTS, SECONDS = int(os.environ.get("SOAK_CLIENTS", 32)), float(os.environ.get("SOAK_TIME", 2))
MAX_P99_MS, MAX_GROWTH = 20, 1 << 20


def write_twin(recording, server, folder):
    with Rsp(server.address) as r:
        states = Expected(recording, layout(r))
    pcs = recording.pcs()
    with open(folder / "states", "w") as file:
        # the first state that forwards() has is that of position 0
        file.writelines(f"{pc:x} {state}\n" for pc, state in zip(pcs, states.forwards(), strict=True))
    with open(folder / "steps", "w") as file:
        subprocess.run([TOOLS / "states", "steps", recording.trace], stdout=file, check=True)


@case
def many_clients_get_the_answers_of_a_naive_twin():
    recording = Recording("x64_walk")
    with tempfile.TemporaryDirectory() as name, Server(recording.trace, "--max-clients", str(CLIENTS + 8)) as server:
        folder = pathlib.Path(name)
        write_twin(recording, server, folder)
        host, port = server.address.rsplit(":", 1)
        done = subprocess.run([TOOLS / "soak", host, port, folder / "states", folder / "steps", str(CLIENTS), str(SECONDS),
                               str(server.pid)], capture_output=True, text=True)
    print("#", done.stdout.strip())
    assert done.returncode == 0, done
    n_answers, p99, growth = re.search(r"(\d+) answers.*p99 ([\d.]+) ms, growth (-?\d+)", done.stdout).groups()
    assert int(n_answers) > CLIENTS
    if IS_LONG:
        assert float(p99) < MAX_P99_MS and int(growth) < MAX_GROWTH, done.stdout


run_cases()
