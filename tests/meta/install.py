#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""make install puts all where it belongs, below DESTDIR; what checks the package says what it lacks."""
import os
import pathlib
import re
import subprocess
import sys

TOP = pathlib.Path(os.environ.get("TEST_SRCDIR", pathlib.Path(__file__).resolve().parents[2]))
BUILD = pathlib.Path(os.environ.get("TEST_BUILDDIR", TOP))
ROOT = pathlib.Path("root").resolve()
PREFIX = re.search(r"^prefix = /(.*)$", (BUILD / "Makefile").read_text(), re.M)[1]
PAGES = sorted((TOP / "src/program").glob("*.[17]"))


def run(*argv, **options):
    return subprocess.run(argv, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, timeout=300, **options)


def installs():
    """Everything, and nothing outside of the prefix."""
    done = run("make", "-C", BUILD, "install", f"DESTDIR={ROOT}")
    assert done.returncode == 0, done.stdout
    found = {os.path.relpath(p, ROOT / PREFIX) for p in ROOT.rglob("*") if p.is_file()}
    wanted = {"bin/tracestub", "lib/tracestub/tracestub-record.so", "lib/tracestub/tracestub.so", "share/tracestub/gdbinit",
              "share/bash-completion/completions/tracestub", "share/zsh/vendor-completions/_tracestub"}
    wanted |= {f"share/man/man{p.suffix[1:]}/{p.name}" for p in PAGES}
    assert wanted <= found, wanted - found
    assert not [name for name in found if name.startswith("..")], found
    assert not [name for name in found if name.endswith((".a", ".h", ".pc"))], found     # the model is no library


def is_started_where_it_is():
    done = run(ROOT / PREFIX / "bin/tracestub", "--version")
    assert done.returncode == 0 and done.stdout.startswith("tracestub "), done.stdout


def uninstalls():
    done = run("make", "-C", BUILD, "uninstall", f"DESTDIR={ROOT}")
    assert done.returncode == 0 and not [p for p in ROOT.rglob("*") if p.is_file()], list(ROOT.rglob("*"))


def check_deb_is_skipped_with_a_reason():
    """Where there is no debootstrap."""
    tools = pathlib.Path("tools")
    tools.mkdir()
    for name in "bash", "readlink", "dirname", "id":
        (tools / name).symlink_to(next(p for d in ("/usr/bin", "/bin") if (p := pathlib.Path(d, name)).exists()))
    done = run(TOP / ".ci/check-deb", "release.tar.gz", "folder", env={"PATH": str(tools.resolve())})
    assert done.returncode == 0 and done.stdout.startswith("skipped: "), done.stdout


CASES = installs, is_started_where_it_is, uninstalls, check_deb_is_skipped_with_a_reason
failed = False
print(f"1..{len(CASES)}")
for n, function in enumerate(CASES, 1):
    name = function.__name__.replace("_", " ")
    try:
        function()
        print(f"ok {n} - {name}")
    except AssertionError as why:
        failed = True
        print(f"not ok {n} - {name}")
        print("\n".join(f"# {line}" for line in str(why).splitlines()[-20:]))
sys.exit(failed)
