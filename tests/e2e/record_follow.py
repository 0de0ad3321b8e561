#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""`tracestub record --follow`: children and the programs that processes become, each in a recording of its own.

The truth is the programs' own: they print their process ids, and what the shell says of them.
"""
import json
import os
import pathlib
import signal
import subprocess

from _naive_ucir2 import Ucir2
from _record import LIMIT, record
from _tap import TRACESTUB, case, run_cases, skip_all

TOOL = pathlib.Path(TRACESTUB).parent / "tracestub-record-vg-amd64"
if os.uname().machine != "x86_64" or not TOOL.exists():
    skip_all("tracestub was built without Valgrind")
WITH = "--with", "valgrind", "--follow"


def tracestub(*words, **more):
    return subprocess.run([TRACESTUB, *words], capture_output=True, text=True, timeout=LIMIT, stdin=subprocess.DEVNULL, **more)


def recordings(folder):
    done = tracestub("info", "--json", folder)
    assert done.returncode == 0, done
    return json.loads(done.stdout)["recordings"]


def followed(folder, *argv, **more):
    done = record(folder, *argv, options=WITH, **more)
    assert f"tracestub info {folder}" in done.stderr and done.stderr.count("\n") == 1, done
    left = [name for name in os.listdir(folder) if name.startswith(".")]
    assert not left, left
    return done, recordings(folder)


def compiled(name, source, *options):
    pathlib.Path(f"{name}.c").write_text(source)
    subprocess.run(["gcc", "-g", "-O1", *options, "-o", name, f"{name}.c"], check=True)
    return f"./{name}"


CHILDREN = r"""
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>
__attribute__((noinline)) int fail(volatile int *p) { return *p; }
int main(int argc, char **argv)
{
	int status;
	if (argc > 1)
		return atoi(argv[1]);
	printf("parent %d\n", getpid());
	fflush(stdout);
	if (!fork()) {
		printf("forked %d\n", getpid());
		fflush(stdout);
		fail(NULL);
	}
	wait(&status);
	if (!vfork()) {
		execl(argv[0], argv[0], "9", NULL);
		_exit(1);
	}
	wait(&status);
	printf("%d\n", WEXITSTATUS(status));
	return 4;
}
"""


@case
def forks_and_execs_have_their_recordings():
    program = compiled("children", CHILDREN)
    done, found = followed("children.d", program)
    lines = dict(line.split() for line in done.stdout.splitlines()[:2])
    assert done.returncode == 4 and done.stdout.splitlines()[2] == "9", done
    parent, forked = int(lines["parent"]), int(lines["forked"])
    assert [(r["began"], r["end"], r["value"]) for r in found] == [
        ("start", "exited", 4), ("fork", "killed", signal.SIGSEGV), ("fork", "became", 0), ("exec", "exited", 9)], found
    assert [r["pid"] for r in found[:2]] == [parent, forked] and found[2]["pid"] == found[3]["pid"]
    assert {r["parent"] for r in found[1:]} == {parent} and found[3]["arguments"] == [program, "9"], found
    ends = [Ucir2(f"children.d/{r['file']}").end for r in found]
    assert ends == [("exit", 4), ("signal", signal.SIGSEGV), ("exec", 0), ("exit", 9)], ends
    for r in found:
        info = tracestub("info", f"children.d/{r['file']}").stdout
        assert "unexplained   0 changes" in info and "not recorded" not in info, info


@case
def a_program_that_executes_its_own_link_is_followed():
    """To the kernel the link of an engine's process is the engine."""
    program = compiled("again", "#include <stdio.h>\n#include <unistd.h>\nint main(int argc, char **argv) { char link[64];\n"
                                "if (argc == 3) return 4;\n"
                                "sprintf(link, argc == 1 ? \"/proc/self/exe\" : \"/proc/%d/exe\", getpid());\n"
                                "execl(link, argv[0], \"more\", argc > 1 ? \"end\" : NULL, NULL); return 9; }\n", "-static")
    done, found = followed("again.d", program)
    assert done.returncode == 4, done
    assert [(r["began"], r["end"], r["value"]) for r in found] == [
        ("start", "became", 0), ("exec", "became", 0), ("exec", "exited", 4)], found
    assert [r["arguments"][1:] for r in found] == [[], ["more"], ["more", "end"]], found
    assert {os.path.realpath(r["arguments"][0]) for r in found} == {os.path.realpath(program)}, found


@case
def the_tree_shows_children_below_their_parents():
    program = compiled("children", CHILDREN)
    _, found = followed("tree.d", program)
    shown = tracestub("info", "tree.d").stdout.splitlines()
    depths = [(len(line) - len(line.lstrip())) // 2 for line in shown]
    assert depths == [0, 1, 1, 2], shown
    assert [line.split()[0] for line in shown] == [r["file"] for r in found], shown
    assert "killed by signal 11" in shown[1] and shown[3].endswith(f"{program} 9") and "exited with 9" in shown[3], shown


@case
def gdb_opens_the_one_that_crashed():
    program = compiled("children", CHILDREN)
    _, found = followed("gdb.d", program)
    shown = tracestub("gdb", "gdb.d", "--", "-nx", "-batch", "-ex", "goto end", "-ex", "bt")
    assert "fail (p=" in shown.stdout and f"gdb.d/{found[1]['file']}" in shown.stderr, shown


@case
def a_wrapper_script_just_works():
    """The program behind the script fails: it is what gdb opens; the pipe's other programs do not."""
    compiled("failing", "int main(void) { return 3; }\n")
    pathlib.Path("wrapper.sh").write_text("#!/bin/sh\nls / | cat >/dev/null\n./failing with arguments\nexit $?\n")
    os.chmod("wrapper.sh", 0o755)
    done, found = followed("wrapper.d", "./wrapper.sh", "one two")
    assert done.returncode == 3, done
    names = [os.path.basename(r["arguments"][0]) for r in found if r["began"] == "exec"]
    assert sorted(names) == ["cat", "failing", "ls"], found
    assert "one two" in found[0]["arguments"], found
    [failing] = [r for r in found if r["arguments"][1:] == ["with", "arguments"]]
    shown = tracestub("gdb", "wrapper.d", "--", "-nx", "-batch", "-ex", "info inferiors")
    assert f"wrapper.d/{failing['file']}" in shown.stderr, shown


@case
def without_a_failure_gdb_asks():
    done, found = followed("well.d", "sh", "-c", "ls / >/dev/null; true")
    assert done.returncode == 0 and len(found) >= 2
    done = tracestub("gdb", "well.d", "--", "-nx", "-batch")
    assert done.returncode == 2 and "none of its programs failed" in done.stderr and found[1]["file"] in done.stderr, done


@case
def a_program_whose_recording_cannot_be_made_goes_on():
    """A folder stands where the recording of the program that sh becomes would be."""
    done = record("barred.d", "sh", "-c", "mkdir barred.d/$$.1.ucir; exec sh -c 'echo on; exit 3'", options=WITH)
    assert done.returncode == 3 and done.stdout == "on\n" and "Is a directory" in done.stderr, done
    assert "sh" in {os.path.basename(r["arguments"][0]) for r in recordings("barred.d")}, done


@case
def the_environment_is_the_users():
    env = {"PATH": os.environ["PATH"], "ONE": "1"}
    alone = subprocess.run(["sh", "-c", "env; env -i env"], env=env, capture_output=True, text=True).stdout
    done, _ = followed("env.d", "sh", "-c", "env; env -i env", env=env)
    assert done.stdout == alone, (done.stdout, alone)


@case
def folders_are_numbered_and_kept():
    for name in "true.processes", "true.1.processes":
        done = tracestub("record", *WITH, "true")
        assert done.returncode == 0 and name in done.stderr and os.path.isdir(name), done
    done = tracestub("record", *WITH, "-o", "true.processes", "true")
    assert done.returncode == 1 and "File exists" in done.stderr, done


@case
def a_damaged_manifest_is_said():
    followed("damaged.d", "true")
    manifest = pathlib.Path("damaged.d/processes")
    good = manifest.read_bytes()
    for bad, why in ((b"something else\n", "no manifest"), (good + b"1 2 x\n", "malformed"), (b"", "no manifest")):
        manifest.write_bytes(bad)
        done = tracestub("info", "damaged.d")
        assert done.returncode == 1 and why in done.stderr and not done.stdout, done
    manifest.write_bytes(good + b"1 2")
    assert len(recordings("damaged.d")) == 1


run_cases()
