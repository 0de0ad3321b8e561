#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The tables of clients and features in tracestub-frontends(7) name tests that exist, and leave out no client and no feature."""
import os
import pathlib
import re
import sys

TOP = pathlib.Path(os.environ.get("TEST_SRCDIR", pathlib.Path(__file__).resolve().parents[2]))
E2E = TOP / "tests/e2e"
PAGE = (TOP / "src/program/tracestub-frontends.7").read_text().replace("\\-", "-")
SECTION = re.search(r"^\.SH VERSIONS\n(.*?)^\.SH ", PAGE, re.M | re.S)[1]
FEATURES = ["connect", "step", "back", "continue both ways", "watch both ways", "libraries", "errno", "threads", "info proc",
            "tfind", "questions", "completion", "disconnect"]
VERSIONS = {"gdb": ["13.1", "16.3", "18.1"], "lldb": ["14", "19", "21", "23"], "gdb DAP": ["16.3", "18.1"]}


def tables():
    """{client: (versions, {feature: cells})}"""
    found = {}
    for block in re.search(r"^\.nf\n\.RS\n(.*?)^\.RE\n", SECTION, re.M | re.S)[1].split("\n\n"):
        header, *rows = [re.split(r" {2,}", line.strip()) for line in block.splitlines()]
        found[header[0]] = (header[1:], {row[0]: row[1:] for row in rows})
    return found


def cases(script):
    """The names of a script's cases, as tests/e2e/_tap.py makes them; those of a table begin with a variable."""
    text = (E2E / f"{script}.py").read_text()
    names = {name.replace("_", " ") for name in re.findall(r"^@case\ndef (\w+)", text, re.M)}
    return names | {name.replace("_", " ") for name in re.findall(r"add_case\(f?\".*?\", (\w+)", text)}


def is_there(cell):
    script, _, name = cell.partition(": ")
    return (E2E / f"{script}.py").is_file() and (not name or name in cases(script))


def wrong_cells():
    cells = {cell for _, rows in tables().values() for row in rows.values() for cell in row}
    return sorted(cell for cell in cells if cell != "-" and not is_there(cell))


def wrong_rows():
    wrong = [client for client, (_, rows) in tables().items() if list(rows) != FEATURES]
    return wrong + [(client, feature) for client, (columns, rows) in tables().items() for feature, cells in rows.items()
                    if len(cells) != len(columns)]


def wrong_versions():
    return {client: versions for client, (columns, _) in tables().items()
            if (versions := ", ".join(columns).split(", ")) != VERSIONS.get(client)} or set(VERSIONS) ^ set(tables())


def unexplained():
    return [(client, feature) for client, (_, rows) in tables().items() for feature, cells in rows.items()
            if "-" in cells and not re.search(rf"^\.B {client}, {feature}\n\w", SECTION, re.M)]


CASES = {
    "each cell names a test that exists": wrong_cells,
    "each client has all features, and a cell for each version": wrong_rows,
    "the clients are those that are tried": wrong_versions,
    "a feature that a client lacks is explained": unexplained,
}
failed = False
print(f"1..{len(CASES)}")
for n, (name, find) in enumerate(CASES.items(), 1):
    wrong = find()
    failed |= bool(wrong)
    print(f"# {wrong}" if wrong else "#")
    print(f"{'not ' if wrong else ''}ok {n} - {name}")
sys.exit(failed)
