#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""bootstrap asks each system for packages by that system's names; what installs them is played by scripts."""
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

TOP = pathlib.Path(os.environ.get("TEST_SRCDIR", pathlib.Path(__file__).resolve().parents[2]))
COMMANDS = {"autoreconf": "", "id": "echo 0", "apt-get": 'echo "apt-get $*"', "dnf": 'echo "dnf $*"',
            "dpkg-query": "exit 1", "rpm": "exit 1"}
TOOLS = "awk cat dirname env grep printf sh"


def bootstrap(folder, release, without=()):
    """What it prints on a system with this os-release, where no package of the list is installed."""
    path = folder / "bin"
    path.mkdir()
    for name, body in COMMANDS.items():
        if name not in without:
            (path / name).write_text(f"#!/bin/sh\n{body}\n")
    (folder / "configure").write_text("#!/bin/sh\necho configured\n")
    (folder / "os-release").write_text(release)
    shutil.copy(TOP / "bootstrap", folder)
    for script in [*path.iterdir(), folder / "configure"]:
        script.chmod(0o755)
    for name in TOOLS.split():
        (path / name).symlink_to(shutil.which(name))
    done = subprocess.run([folder / "bootstrap"], env={"PATH": str(path), "OS_RELEASE": str(folder / "os-release")},
                          capture_output=True, text=True, timeout=60)
    assert done.returncode == 0 and "configured" in done.stdout, done
    return done.stdout


def installed(release, command, **more):
    """The packages that the command was to install."""
    with tempfile.TemporaryDirectory() as folder:
        said = bootstrap(pathlib.Path(folder), release, **more)
    return set(re.search(rf"^{command} install .*", said, re.M)[0].split()[2:])


def debian_12_gets_qemu_user_and_13_and_sid_do_not():
    twelve = installed("ID=debian\nVERSION_ID=12\n", "apt-get")
    for release in "ID=debian\nVERSION_ID=13\n", "ID=debian\nVERSION_CODENAME=forky\n":
        assert twelve - installed(release, "apt-get") == {"qemu-user"}, release
    assert {"libzydis-dev", "valgrind", "gcc"} <= twelve


def ubuntu_has_no_package_of_chromium():
    twelve = installed("ID=debian\nVERSION_ID=12\n", "apt-get")
    assert twelve - installed('ID=ubuntu\nVERSION_ID="24.04"\n', "apt-get") == {"chromium"}
    assert installed("ID=mint\nID_LIKE='ubuntu debian'\n", "apt-get") == twelve - {"chromium"}


def fedora_is_asked_through_dnf_by_its_own_names():
    names = installed("ID=fedora\nVERSION_ID=43\n", "dnf", without=["dpkg-query"])
    assert {"gcc-c++", "zydis-devel", "elfutils-devel", "valgrind-tools-devel"} <= names, names
    assert not [n for n in names if n.endswith("-dev") or n.startswith("lib") and n.endswith("-cross")], names


def another_system_is_told_what_is_needed():
    with tempfile.TemporaryDirectory() as folder:
        said = bootstrap(pathlib.Path(folder), "ID=arch\n", without=["dpkg-query", "dnf"])
    assert "nothing is installed" in said and "libzydis-dev" in said, said


CASES = [debian_12_gets_qemu_user_and_13_and_sid_do_not, ubuntu_has_no_package_of_chromium,
         fedora_is_asked_through_dnf_by_its_own_names, another_system_is_told_what_is_needed]
failed = False
print(f"1..{len(CASES)}")
for n, case in enumerate(CASES, 1):
    try:
        case()
        verdict = "ok"
    except (AssertionError, TypeError) as why:
        failed, verdict = True, "not ok"
        print("#", str(why).replace("\n", "\n# "))
    print(f"{verdict} {n} - {case.__name__.replace('_', ' ')}")
sys.exit(failed)
