#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Each command on a small recording of each format under valgrind's memcheck: no error, and nothing is lost.

`make check-valgrind`; without valgrind it is skipped.
"""
import gzip
import pathlib
import shutil
import subprocess
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "e2e"))
from _tap import DATA, TRACESTUB, add_case, run_cases, skip_all  # noqa: E402

LIMIT = 900
FOUND = 99      # valgrind's status
VALGRIND = ["valgrind", "-q", f"--error-exitcode={FOUND}", "--leak-check=full", "--errors-for-leak-kinds=definite"]
TRACES = {
    "bap": "bap/all-frames",
    "gdbrecord": "gdbrecord/list-arm-head",
    "rvnbintrace": "rvnbintrace/arm.bin",
    "tenet": "tenet/pin-head",
    "text": "text/threads",
    "tfile": "tfile/x86_64.tf",
    "usercorn": "usercorn/v2_threads.ucir",
    "x64dbg": "x64dbg/fib32-head",
}
# In this order: what one leaves the next may use.
COMMANDS = [["info", "T"], ["info", "--json", "T"], ["index", "T", "--index", "OUT"], ["query", "T", "hot", "--index", "OUT"],
            ["export", "T", "-o", "OUT.tf", "--positions", "1:20"], ["plot", "T", "-o", "OUT.svg"], ["pack", "T", "-o", "PACKED"],
            ["unpack", "PACKED", "-o", "UNPACKED"], ["info", "PACKED"], ["diff", "T", "T"], ["mcp", "T"], ["serve", "-", "T"]]
QUESTIONS = ["history $pc first 5", "calls first 5", "stack at 3", "why $pc at 5", "find 00", "strings first 5", "coverage first 5",
             "events first 5", "threads", "maps", "mark here at 2", "marks", "goto 3", "when at 3"]
PACKETS = ["QStartNoAckMode", "qSupported:swbreak+", "qXfer:features:read:target.xml:0,fff", "g", "s", "bs", "c", "bc",
           "qXfer:threads:read::0,fff", "qRcmd," + b"history $pc first 3".hex(), "QTStart", "QTStop", "QTFrame:0", "D"]


def session():
    return b"+" + b"".join(b"$%s#%02x" % (p.encode(), sum(p.encode()) & 255) for p in PACKETS)


def is_clean(name):
    folder = pathlib.Path(tempfile.mkdtemp(prefix="valgrind-"))
    data = (DATA / TRACES[name]).read_bytes()
    (folder / "T").write_bytes(gzip.decompress(data) if TRACES[name].endswith(".gz") else data)
    wrong = []
    for words in COMMANDS + [["query", "T", *q.split()] for q in QUESTIONS]:
        text = {"serve": session(), "mcp": b'{"jsonrpc":"2.0","id":1,"method":"tools/list"}\n'}.get(words[0], b"")
        done = subprocess.run([*VALGRIND, TRACESTUB, *words, "--no-sandbox", "--quiet"], cwd=folder, input=text, timeout=LIMIT,
                              capture_output=True, env={"PATH": "/usr/bin:/bin", "XDG_CACHE_HOME": str(folder / "home")})
        if done.returncode not in (0, 1, 2, 3) or b"==" in done.stderr:
            wrong.append(f"{' '.join(words)}: status {done.returncode}\n{done.stderr.decode(errors='replace')[-3000:]}")
    shutil.rmtree(folder)
    assert not wrong, "\n".join(wrong)


if not shutil.which("valgrind"):
    skip_all("there is no valgrind")
for trace_name in TRACES:
    add_case(f"{trace_name}: every command is clean", is_clean, trace_name)
run_cases()
