#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""check-systems says what came of each system and fails if one was not made or not tested; scripts play the systems."""
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

TOP = pathlib.Path(os.environ.get("TEST_SRCDIR", pathlib.Path(__file__).resolve().parents[2]))
COMMANDS = {
    "id": "echo 0", "git": "exit 0", "mount": "exit 0", "umount": "exit 0", "mountpoint": "exit 1",
    # debootstrap --variant=minbase NAME FOLDER MIRROR
    "debootstrap": 'mkdir -p "$3/proc" "$3/dev/pts" "$3/dev/shm" "$3/etc/apt/apt.conf.d"',
    # chroot FOLDER env -i VARIABLES sh -euc COMMAND; the folder is SYSTEM/root
    "chroot": 'for command; do :; done; system=$(basename "$(dirname "$1")"); case $command in\n'
              '*./bootstrap*) : BOOTSTRAP;;\n*"make check"*) : CHECK;;\nesac'}
GOOD = 'echo "      skipped: a case: no tmux"; echo "5 passed, 0 failed, 1 skipped"'


def check_systems(check=GOOD, bootstrap=":", debian="trixie,sid", **commands):
    """The finished process; @check and @bootstrap play the two steps, @commands are other scripts."""
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        for made in "bin", "tree/.ci", "out":
            (folder / made).mkdir(parents=True)
        for command, body in {**COMMANDS, **commands}.items():
            body = body.replace(": BOOTSTRAP", bootstrap).replace(": CHECK", check)
            (folder / "bin" / command).write_text(f"#!/bin/sh\n{body}\n")
            (folder / "bin" / command).chmod(0o755)
        for script in "check-systems", "system":
            shutil.copy(TOP / ".ci" / script, folder / "tree/.ci")
        done = subprocess.run(["bash", folder / "tree/.ci/check-systems", folder / "out"], capture_output=True, text=True,
                              env={"PATH": f"{folder}/bin:{os.environ['PATH']}", "DEBIAN": debian, "TMPDIR": name}, timeout=120)
        assert not list(folder.glob("out/*/root")), "a system was left"
    return done.returncode, done.stdout.partition("check-systems:\n")[2], done.stderr


def each_system_has_a_line_and_its_reasons_for_skips():
    status, said, _ = check_systems()
    assert status == 0, said
    for system in "trixie", "sid":
        assert re.search(rf"^{system}: 5 passed, 0 failed, 1 skipped \(bootstrap \d+ s, demo \d+ s, check \d+ s, \d+ MB\)\n"
                         r" +1 no tmux$", said, re.M), said


def a_test_that_failed_fails_it_and_the_other_system_is_tested():
    failing = '[ $system = sid ] || { echo "      e2e/sql: not ok: a case"; echo "4 passed, 1 failed"; exit 2; }; ' + GOOD
    status, said, _ = check_systems(check=failing)
    assert status == 1 and "\nsid: 5 passed, 0 failed" in f"\n{said}", said
    assert re.search(r"^trixie: 4 passed, 1 failed \(check failed, .*\)\n +e2e/sql: not ok: a case$", said, re.M), said


def a_step_that_ended_early_fails_it():
    status, said, _ = check_systems(bootstrap="echo no package; exit 1")
    assert status == 1 and said.count("0 passed, 0 failed, the tests did not end: no package (bootstrap failed, ") == 2, said
    status, said, _ = check_systems(check=GOOD + "; kill -9 $$")
    assert status == 1 and said.count("(check failed, ") == 2, said


def a_system_that_cannot_be_made_fails_it():
    status, said, _ = check_systems(debootstrap="echo no network; exit 1", debian="trixie")
    assert (status, said) == (1, "trixie: not made: debootstrap failed: no network\n"), said
    status, said, _ = check_systems(id="echo 1000")
    assert (status, said) == (1, "".join(f"{name}: not made: only root can make a system\n" for name in ("trixie", "sid"))), said
    status, said, error = check_systems(mount="echo no mounts >&2; exit 32", debian="sid")
    assert (status, said) == (1, "sid: not made: see the lines above\n") and "no mounts" in error, (said, error)


CASES = [each_system_has_a_line_and_its_reasons_for_skips, a_test_that_failed_fails_it_and_the_other_system_is_tested,
         a_step_that_ended_early_fails_it, a_system_that_cannot_be_made_fails_it]
failed = False
print(f"1..{len(CASES)}")
for n, case in enumerate(CASES, 1):
    try:
        case()
        verdict = "ok"
    except AssertionError as why:
        failed, verdict = True, "not ok"
        print("#", str(why).replace("\n", "\n# "))
    print(f"{verdict} {n} - {case.__name__.replace('_', ' ')}")
sys.exit(failed)
