#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""A stripped program's symbols and lines come from its separate debug file, found by .gnu_debuglink beside it or in .debug; one
with another checksum is not used."""
import json
import pathlib
import shutil
import subprocess

from _record import LIMIT, compiler, record
from _tap import TRACESTUB, case, run_cases, skip

SOURCE = """static volatile int sum;
static __attribute__((noinline)) int hidden(int k) { sum += k; return sum; }
int main(void) { for (int i = 0; i < 5; i++) hidden(i); return 0; }
"""


def build():
    objcopy = shutil.which("objcopy") or skip("no objcopy")
    shutil.rmtree(".debug", ignore_errors=True)
    pathlib.Path("p.c").write_text(SOURCE, encoding="ascii")
    subprocess.run([compiler(), "-g", "-O1", "-Wl,--build-id=none", "-o", "p", "p.c"], check=True, timeout=LIMIT)
    subprocess.run([objcopy, "--only-keep-debug", "p", "p.debug"], check=True, timeout=LIMIT)
    subprocess.run([objcopy, "--strip-all", "--add-gnu-debuglink=p.debug", "p"], check=True, timeout=LIMIT)
    record("p.ucir", "./p")


def executed(name):
    done = subprocess.run([TRACESTUB, "query", "p.ucir", "executions", name, "--json"], capture_output=True, text=True,
                          timeout=LIMIT)
    return [json.loads(line) for line in done.stdout.splitlines()][:-1]


def rows():
    done = subprocess.run([TRACESTUB, "query", "p.ucir", "history", "$pc", "--json"], capture_output=True, text=True,
                          timeout=LIMIT)
    return [json.loads(line) for line in done.stdout.splitlines()]


def lines():
    return {r["line"] for r in rows() if (r.get("file") or "").endswith("/p.c")}


@case
def the_file_beside_the_program_is_read():
    build()
    assert len(executed("hidden")) == 5 and lines() == {2, 3}
    pathlib.Path(".debug").mkdir()
    pathlib.Path("p.debug").rename(".debug/p.debug")
    assert len(executed("hidden")) == 5 and lines() == {2, 3}


@case
def another_file_of_that_name_is_not():
    build()
    with open("p.debug", "ab") as f:
        f.write(b"\0")
    assert not executed("hidden") and not lines()


@case
def the_folder_of_a_mapped_path_is_not_said_twice():
    """As Debian's C library is built: the compiler's folder is "./sub", and part of each file's path."""
    here = pathlib.Path("mapped").resolve()
    here.mkdir(exist_ok=True)
    (here / "p.c").write_text(SOURCE, encoding="ascii")
    subprocess.run([compiler(), "-g", "-O1", f"-ffile-prefix-map={here}=./sub", "-o", "../p", here / "p.c"], check=True, cwd=here,
                   timeout=LIMIT)
    record("p.ucir", "./p")
    files = {r["file"] for r in rows() if (r.get("file") or "").endswith("/p.c")}
    assert files == {"./sub/p.c"}, files


run_cases()
