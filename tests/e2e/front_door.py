#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""What a developer meets first: recordings are not overwritten, the newest is opened, pretty printers load, libraries are
read without a word, and an installed tree can be moved."""
import os
import pathlib
import re
import shutil
import subprocess
import time

from _record import LIMIT, SOURCES, build, emulator, recorder
from _tap import DATA, SRCDIR, TRACESTUB, add_case, case, run_cases, skip

ENV = {k: v for k, v in os.environ.items() if k != "DEBUGINFOD_URLS"}


def run(*argv, **more):
    return subprocess.run(argv, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, timeout=LIMIT,
                          stdin=subprocess.DEVNULL, **{"env": ENV, **more})


def gdb(*argv, commands, **more):
    shutil.which("gdb") or skip("no gdb")
    return run(TRACESTUB, "gdb", *argv, "--", "-nx", "-batch", *(a for c in commands for a in ("-ex", c)), **more).stdout


def folder(name):
    path = pathlib.Path(name).resolve()
    shutil.rmtree(path, ignore_errors=True)
    path.mkdir()
    return path


@case
def a_recording_is_not_overwritten_and_the_newest_is_opened():
    recorder()
    program, here = build("errno.c", "again"), folder("again-here")
    for _ in range(3):
        run(TRACESTUB, "record", program, cwd=here)
    copies = {p.stat().st_ino for p in here.glob("*.files/again")}
    assert len(copies) == 1, "one copy of the same program"
    assert pathlib.Path(program).stat().st_ino not in copies
    assert sorted(p.name for p in here.iterdir()) == [f"again{n}.ucir{s}" for n in (".1", ".2", "") for s in ("", ".files")]
    os.utime(here / "again.1.ucir", (time.time() + 10,) * 2)
    said = gdb(commands=["when"], cwd=here)
    assert "tracestub: again.1.ucir: the newest recording in this folder" in said and "position 0 of" in said, said


@case
def a_name_that_is_given_is_replaced():
    recorder()
    program, here = build("errno.c", "named"), folder("named-here")
    for _ in range(2):
        assert "again" not in run(TRACESTUB, "record", "-o", "it.ucir", program, cwd=here).stdout
    assert sorted(p.name for p in here.iterdir()) == ["it.ucir", "it.ucir.files"]
    assert sorted(p.name for p in (here / "it.ucir.files").iterdir()) == [".build-id", "named"]


@case
def a_recording_has_its_symbols_after_the_program_was_built_again():
    recorder()
    here = folder("built-again")
    program = build("errno.c", "built-again/it")
    run(TRACESTUB, "record", program, cwd=here)
    build("unmapped.c", "built-again/it")
    stopped = ["break main", "continue", "backtrace"]
    said = gdb(commands=stopped, cwd=here)
    assert "it.ucir.files/it: the recorded program" in said and "errno.c:" in said and "unmapped.c" not in said, said
    run(TRACESTUB, "record", program, cwd=here)                   # another program, another copy
    assert (here / "it.1.ucir.files/it").read_bytes() == pathlib.Path(program).read_bytes()
    run(TRACESTUB, "record", "-o", "it.1.ucir", program, cwd=here)
    assert sorted(p.name for p in (here / "it.1.ucir.files").iterdir()) == [".build-id", "it"]
    shutil.copy("built-again/it", here / "it.ucir.files/it")      # a copy that was changed is not used
    said = gdb("it.ucir", commands=stopped, cwd=here)
    assert "it: not the file that was recorded; ignored" in said, said
    assert "errno.c" not in said and "unmapped.c" not in said, said     # the C library may have its own lines


LIBRARY = "__attribute__((noinline)) int answer(int n) { return n * %d; } /* %s */\n"


def build_with_library(here, factor, word):
    (here / "own.c").write_text(f"/* {word} */\n" + LIBRARY % (factor, word))
    (here / "main.c").write_text("int answer(int); int main(void) { return answer(6) == 42; }\n")
    run("gcc", "-g", "-shared", "-fPIC", "-o", "libown.so", "own.c", cwd=here)
    run("gcc", "-g", "-o", "it", "main.c", "./libown.so", cwd=here)


def build_id(path):
    """Where debuggers look for the file, by readelf(1)."""
    found = re.search(r"Build ID: ([0-9a-f]{2})([0-9a-f]+)", run("readelf", "-n", path).stdout)
    return f".build-id/{found[1]}/{found[2]}"


def libraries_were_built_again(engine):
    (emulator if engine == "qemu" else recorder)()
    here = folder(f"library-again-{engine}")
    build_with_library(here, 7, "first")
    record_it = [TRACESTUB, "record", *(["--with", "qemu"] if engine == "qemu" else []), "./it"]
    run(*record_it, cwd=here)
    kept = str(here.resolve() / "libown.so").replace("%", "%25").replace("/", "%2F")
    assert sorted(p.name for p in (here / "it.ucir.files").iterdir()) == sorted([kept, "it", ".build-id"])
    run(*record_it, cwd=here)
    for name, file in (kept, "libown.so"), ("it", "it"):
        copies = [here / f"it{n}.ucir.files" / part for n in ("", ".1") for part in (name, build_id(here / file))]
        assert len({os.stat(path).st_ino for path in copies}) == 1 and copies[0].read_bytes() == (here / file).read_bytes(), copies
    (here / "it.1.ucir").unlink()
    stopped = ["break answer", "continue", "backtrace", "info line answer"]
    for again in (lambda: (here / "libown.so").unlink(), lambda: build_with_library(here, 70000, "other\n\n")):
        again()
        said = gdb(commands=stopped, cwd=here)
        assert "answer (n=6)" in said and "in main ()" in said and "own.c:2" in said, said
        rows = run(TRACESTUB, "query", "it.ucir", "calls", "answer", "--json", "--quiet", cwd=here).stdout
        assert '"result":"0x2a"' in rows, rows
    (here / "it.ucir.files" / kept).write_bytes((here / "libown.so").read_bytes())     # a copy that was changed is not used
    said = gdb(commands=stopped, cwd=here)
    assert "answer (n=6)" not in said, said


for name in "own", "qemu":
    add_case(f"a recording has the symbols of its libraries after they were built again: {name} engine", libraries_were_built_again, name)


MAPS = """#include <dlfcn.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/mman.h>
int main(int argc, char **argv)
{
	int n = 0;
	for (int i = 1; i + 1 < argc; i += 2) {
		char *at = mmap(NULL, 4096, atoi(argv[i]), MAP_PRIVATE, open(argv[i + 1], O_RDONLY), 0);
		for (int k = 0; k < 2000; k++)
			n += at[k];
	}
	void *own = dlopen("./libown.so", RTLD_NOW);
	n += ((int (*)(int))dlsym(own, "answer"))(6);
	return dlclose(own) + n == 0;
}
"""


@case
def only_programs_and_libraries_are_copied():
    """Not what a program maps of its user's files; but a library that was closed before the end."""
    recorder()
    here = folder("own-files")
    build_with_library(here, 7, "first")
    (here / "maps.c").write_text(MAPS)
    run("gcc", "-o", "maps", "maps.c", "-ldl", cwd=here)
    (here / "letter").write_text("nobody else is to read this\n" * 200)
    shutil.copy(here / "it", here / "read-only")       # a program that is data of this one
    run(TRACESTUB, "record", "-o", "o.ucir", "./maps", "1", "letter", "5", "letter", "1", "read-only", cwd=here)
    copies = sorted(p.name for p in (here / "o.ucir.files").iterdir() if p.is_file())
    assert [name.rsplit("%2F")[-1] for name in copies] == ["libown.so", "maps"], copies
    by_id = [p for p in (here / "o.ucir.files").glob(".build-id/*/*")]
    assert {p.read_bytes() for p in by_id} == {(here / name).read_bytes() for name in ("libown.so", "maps")} and len(by_id) == 2
    said = run(TRACESTUB, "pack", "--no-sandbox", "o.ucir", "-o", "o.tspack", cwd=here).stdout
    names = run("sh", "-c", "zstd -dcq o.tspack | tar t", cwd=here).stdout.split()
    packed = sorted(name.rsplit("/")[-1] for name in names if name.startswith("library/"))
    assert packed == ["ld-linux-x86-64.so.2", "libc.so.6", "libown.so"], (packed, said)


@case
def a_copy_goes_nowhere_else_and_programs_of_the_system_have_none():
    recorder()
    program, here, other = build("errno.c", "linked"), folder("linked-here"), folder("linked-there")
    (here / "it.ucir.files").symlink_to(other.resolve())
    said = run(TRACESTUB, "record", "-o", "it.ucir", program, cwd=here).stdout
    assert "it.ucir.files is not a folder; the recording has no copy of the program" in said, said
    assert "instructions in" in said and not list(other.iterdir()), said
    run(TRACESTUB, "record", "-o", "true.ucir", "/bin/true", cwd=here)
    run(TRACESTUB, "record", "-o", "none.ucir", "--with", "valgrind", "--from", "nosuch", program, cwd=here)
    assert sorted(p.name for p in here.iterdir()) == ["it.ucir", "it.ucir.files", "true.ucir"]


@case
def without_a_recording_the_command_line_is_wrong():
    done = run(TRACESTUB, "gdb", cwd=folder("nothing-here"))
    assert done.returncode == 2 and "there is no recording (NAME.ucir) in this folder" in done.stdout, done


@case
def pretty_printers_load_and_no_file_is_read_from_the_server():
    recorder()
    shutil.which("g++") or skip("no g++")
    list(pathlib.Path("/usr/share/gdb/auto-load/usr/lib").glob("**/libstdc++*-gdb.py")) or skip("no printers of libstdc++")
    subprocess.run(["g++", "-g", "-O0", "-o", "texts", str(SOURCES / "texts.cpp")], check=True, timeout=LIMIT)
    run(TRACESTUB, "record", "-o", "texts.ucir", "./texts")
    # the safe path of gdb's own is that of Debian's
    said = gdb("texts.ucir", commands=["break total", "continue", "print text", "print numbers"])
    assert '= "a text that is long enough for the heap"' in said, said
    assert "std::vector of length 3, capacity 3 = {3, 1, 4}" in said, said
    assert "from remote target" not in said and "target:" not in said, said


@case
def another_library_is_not_believed():
    """In the place of the recorded one: gdb opens libraries itself, so the server names it otherwise."""
    recorder()
    here = folder("library")
    for value in 1, 2:
        (here / "lib.c").write_text(f"int value(int n) {{ return n + {value}; }}\n")
        run("gcc", "-g", "-O0", "-shared", "-fPIC", "-o", "libvalue.so", "lib.c", cwd=here)
        if value == 1:
            (here / "main.c").write_text("int value(int n);\nint main(int argc, char **argv) { return value(argc); }\n")
            run("gcc", "-g", "-o", "main", "main.c", "-L.", "-lvalue", f"-Wl,-rpath,{here}", cwd=here)
            run(TRACESTUB, "record", "./main", cwd=here)
            said = gdb("main.ucir", commands=["break main", "continue", "info sharedlibrary"], cwd=here)
            assert re.search(rf"Yes +{here}/libvalue.so$", said, re.M), said
    shutil.rmtree(here / "main.ucir.files")     # it has a copy of the recorded one
    said = gdb("main.ucir", commands=["break main", "continue", "info sharedlibrary"], cwd=here)
    assert re.search(rf"No +{here}/libvalue.so \(not the recorded file\)$", said, re.M), said


@case
def an_installed_tree_can_be_moved():
    recorder()
    builddir = pathlib.Path(os.environ.get("TEST_BUILDDIR", SRCDIR))
    made = run("make", "-C", str(builddir), "install", f"DESTDIR={pathlib.Path('staged').resolve()}")
    assert made.returncode == 0, made.stdout[-2000:]
    prefix, = (p.parent.parent for p in pathlib.Path("staged").glob("**/bin/tracestub"))
    moved = pathlib.Path("moved").resolve()
    shutil.rmtree(moved, ignore_errors=True)
    shutil.move(prefix, moved)
    program = build("errno.c", "moving")
    said = run(str(moved / "bin/tracestub"), "record", "-o", "moved.ucir", program).stdout
    assert "instructions in" in said, said
    shutil.which("gdb") or skip("no gdb")
    said = run(str(moved / "bin/tracestub"), "gdb", "moved.ucir", "--", "-nx", "-batch", "-ex", "when").stdout
    assert "position 0 of" in said, said


@case
def a_copy_that_leads_to_a_pipe_does_not_block():
    """The folder of copies may come from elsewhere: an original is opened only if it is a regular file."""
    folder = pathlib.Path("copies").resolve()
    (folder / "x.ucir.files").mkdir(parents=True)
    shutil.copy(DATA / "usercorn/x64_walk.ucir", folder / "x.ucir")
    os.mkfifo(folder / "pipe")
    (folder / "x.ucir.files" / str(folder / "pipe").replace("%", "%25").replace("/", "%2F")).write_text("copy")
    shutil.which("gdb") or skip("no gdb")
    done = subprocess.run([TRACESTUB, "gdb", folder / "x.ucir", "--", "-batch", "-ex", "monitor when"], capture_output=True, text=True,
                          timeout=LIMIT, check=False)
    assert "position 0 of 7480" in done.stdout + done.stderr, done
    shutil.rmtree(folder)


run_cases()
