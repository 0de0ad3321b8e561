#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""What the pages tracestub-formats(7) and tracestub-protocol(7) show happens."""
import json
import pathlib
import re
import shutil
import subprocess

from _tap import DATA, LIMIT, SRCDIR, TRACESTUB, add_case, case, run_cases, skip

FORMATS, PROTOCOL = ((SRCDIR / f"src/program/tracestub-{name}.7").read_text().replace("\\-", "-")
                     for name in ("formats", "protocol"))
TRACE = DATA / "usercorn/x64_walk.ucir"


def tracestub(*argv, **options):
    return subprocess.run([TRACESTUB, *argv], capture_output=True, text=True, timeout=LIMIT, **options)


@case
def the_text_of_the_page_is_a_recording():
    text = re.search(r"^tracestub text 1 .*?(?=^\.RE)", FORMATS, re.M | re.S)[0]
    pathlib.Path("page.txt").write_text(text)
    info = json.loads(tracestub("info", "page.txt", "--json").stdout)
    assert (info["positions"], info["end"], info["pc_first"]) == (text.count("step "), "exit", "0x401000"), info
    row = tracestub("query", "page.txt", "history", "$rax").stdout.splitlines()[1].split("\t")
    assert row[0] == "0" and row[-1] == "0x1", row


@case
def info_as_json_is_explained():
    page = re.search(r"^\.SH INFO AS JSON\n.*?(?=^\.SH )", FORMATS, re.M | re.S)[0]
    explained = set(re.findall(r"\w+", " ".join(re.findall(r"^\.TP\n\.BR? (.*)$", page, re.M))))
    shown = set(json.loads(tracestub("info", TRACE, "--json").stdout))
    assert shown and shown <= explained, shown - explained


@case
def the_session_by_hand():
    line = re.search(r"^\$ (printf .*) \| tracestub serve - run.ucir$", PROTOCOL, re.M)[1]
    packets = subprocess.run(["sh", "-c", line], capture_output=True, check=True, text=True).stdout
    for packet, checksum in re.findall(r"\$(.*?)#(..)", packets):
        assert int(checksum, 16) == sum(packet.encode()) % 256, (packet, checksum)
    replies = re.findall(r"\$(.*?)#..", tracestub("serve", "-", TRACE, input=packets).stdout)
    stop, pc, back = replies
    assert stop.startswith("T05") and pc.startswith("441040") and back.startswith("T05replaylog:begin;"), replies


def check_page(name):
    """As a terminal shows it, without complaints."""
    groff = shutil.which("groff") or skip("no groff")
    done = subprocess.run([groff, "-man", "-Tutf8", "-ww", SRCDIR / "src/program" / name], capture_output=True, text=True,
                          timeout=LIMIT)
    assert done.returncode == 0 and not done.stderr and len(done.stdout) > 1000, done.stderr


for path in sorted((SRCDIR / "src/program").glob("*.[17]")):
    add_case(f"{path.name} is formatted without complaints", check_page, path.name)
run_cases()
