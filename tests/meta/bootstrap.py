#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""bootstrap asks each system for packages by that system's names; what installs them is played by scripts."""
import functools
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

TOP = pathlib.Path(os.environ.get("TEST_SRCDIR", pathlib.Path(__file__).resolve().parents[2]))
COMMANDS = {"autoreconf": "", "id": "echo 0", "apt-get": 'echo "apt-get $*"', "dnf": 'echo "dnf $*"', "dpkg-query": "exit 1",
            "rpm": "exit 1", "apt-cache": r'shift; for p; do [ $p = tmux ] || printf "%s:\n  Candidate: 1\n" $p; done'}
TOOLS = "awk cat cut dirname env grep printf sed sh"
DEBIAN_12, DEBIAN_13, SID = "ID=debian\nVERSION_ID=12\n", "ID=debian\nVERSION_ID=13\n", "ID=debian\nVERSION_CODENAME=forky\n"


@functools.cache
def bootstrap(release, *argv, **commands):
    """The finished process on a system with this os-release; @commands are other scripts, None: there is no such command."""
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        path = folder / "bin"
        path.mkdir()
        for command, body in {**COMMANDS, **{k.replace("_", "-"): v for k, v in commands.items()}}.items():
            if body is not None:
                (path / command).write_text(f"#!/bin/sh\n{body}\n")
        (folder / "configure").write_text("#!/bin/sh\necho configured\n")
        (folder / "os-release").write_text(release)
        shutil.copy(TOP / "bootstrap", folder)
        for script in [*path.iterdir(), folder / "configure"]:
            script.chmod(0o755)
        for tool in TOOLS.split():
            (path / tool).symlink_to(shutil.which(tool))
        return subprocess.run([folder / "bootstrap", *argv], env={"PATH": str(path), "OS_RELEASE": str(folder / "os-release")},
                              capture_output=True, text=True, timeout=60)


def installed(release, *argv, command="apt-get", **commands):
    """The packages that the command was to install, where none is installed yet."""
    done = bootstrap(release, *argv, **commands)
    assert done.returncode == 0 and ("configured" in done.stdout) == (not argv), done
    line = re.search(rf"^{command} install .*", done.stdout, re.M)
    return {word for word in line[0].split()[2:] if not word.startswith("-")}


def building_needs_a_few_packages_and_tests_the_others():
    build, tests = installed(DEBIAN_12), installed(DEBIAN_12, "--tests")
    assert {"libzydis-dev", "valgrind", "gcc", "gdb"} <= build and len(build) < 30 and not build & tests, (build, tests)
    assert {"chromium", "lldb", "qemu-user", "python3"} <= tests, tests


def a_package_that_is_not_there_is_named_and_left_out():
    done = bootstrap(DEBIAN_12, "--tests")
    assert "has no package tmux; it is left out" in done.stdout, done
    assert not re.search(r"^apt-get install .* tmux( |$)", done.stdout, re.M), done


def debian_12_gets_qemu_user_and_13_and_sid_do_not():
    for release in DEBIAN_13, SID:
        assert installed(DEBIAN_12, "--tests") - installed(release, "--tests") == {"qemu-user"}, release
        assert installed(DEBIAN_12) == installed(release)


def names_that_were_not_tried_are_said_to_be():
    for system, here in ("ubuntu", {}), ("fedora", {"dpkg_query": None}):
        assert f"(their names on {system} were not tried)" in bootstrap(f"ID={system}\n", **here).stdout, system
    for release in DEBIAN_12, DEBIAN_13, SID:
        assert "not tried" not in bootstrap(release).stdout, release


def ubuntu_has_no_package_of_chromium():
    twelve = installed(DEBIAN_12, "--tests")
    assert twelve - installed('ID=ubuntu\nVERSION_ID="24.04"\n', "--tests") == {"chromium"}
    assert installed("ID=mint\nID_LIKE='ubuntu debian'\n", "--tests") == twelve - {"chromium"}


def fedora_is_asked_through_dnf_by_its_own_names():
    here = {"command": "dnf", "dpkg_query": None, "apt_cache": None, "apt_get": None}
    build = installed("ID=fedora\nVERSION_ID=43\n", **here)
    assert {"zydis-devel", "elfutils-devel", "valgrind-tools-devel"} <= build, build
    assert "gcc-c++" in installed("ID=fedora\nVERSION_ID=43\n", "--tests", **here)
    assert not [name for name in build if name.endswith("-dev")], build


def nothing_is_said_where_nothing_is_missing():
    there = r'for p; do case $p in -*|*{*) ;; *) echo "$p install ok installed" ;; esac; done'
    done = bootstrap(DEBIAN_12, "--tests", dpkg_query=there)
    assert (done.returncode, done.stdout, done.stderr) == (0, "", ""), done


def without_root_and_sudo_the_line_is_said():
    done = bootstrap(DEBIAN_12, "--tests", id="echo 1000")
    assert done.returncode == 1 and re.search(r"^apt-get update && env \S+ apt-get install .* lldb ", done.stdout, re.M), done
    done = bootstrap(DEBIAN_12, id="echo 1000")
    assert done.returncode == 1 and "run ./bootstrap again" in done.stdout and "configured" not in done.stdout, done


def another_system_is_told_what_is_needed():
    done = bootstrap("ID=arch\n", dpkg_query=None, dnf=None)
    assert "nothing is installed" in done.stdout and "libzydis-dev" in done.stdout and "lldb" in done.stdout, done


def configure_refuses_another_system_than_linux_in_one_sentence():
    with tempfile.TemporaryDirectory() as folder:
        # a tree that is configured cannot be another build's source
        shutil.copy(TOP / "configure", folder)
        shutil.copytree(TOP / "build-aux", f"{folder}/build-aux")
        pathlib.Path(folder, "src/program").mkdir(parents=True)
        pathlib.Path(folder, "src/program/main.c").touch()
        done = subprocess.run(["./configure", "CPPFLAGS=-U__linux__"], cwd=folder, capture_output=True, text=True, timeout=300)
    assert done.returncode and "configure: error: tracestub runs on Linux only: " in done.stderr, done


CASES = [building_needs_a_few_packages_and_tests_the_others, a_package_that_is_not_there_is_named_and_left_out,
         debian_12_gets_qemu_user_and_13_and_sid_do_not, ubuntu_has_no_package_of_chromium,
         names_that_were_not_tried_are_said_to_be, fedora_is_asked_through_dnf_by_its_own_names,
         nothing_is_said_where_nothing_is_missing,
         without_root_and_sudo_the_line_is_said, another_system_is_told_what_is_needed,
         configure_refuses_another_system_than_linux_in_one_sentence]
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
