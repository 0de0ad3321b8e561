#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""`tracestub pack` and `unpack`: one file that every command opens, here and on somebody else's machine."""
import gzip
import io
import json
import os
import pathlib
import re
import shutil
import subprocess
import tarfile
import tempfile

from _lldb import lldb_path
from _record import record
from _tap import DATA, IS_SANITIZED, LIMIT, TRACESTUB, add_case, case, run_cases, skip
from _versions import program_of_another_version

SAMPLES = {
    "bap": "bap-samples/tw-arm.frames.gz",
    "rvnbintrace": "rvnbintrace-samples/edges.bin.gz",
    "tenet": "tenet-samples/wtf-walk64.log.gz",
    "tfile": "tfile-samples/work-regs.tf",
    "usercorn": "usercorn/x64_walk.ucir",
    "x64dbg": "x64dbg-samples/list64.trace64.gz",
}


class Desk:
    """A folder with a trace, and a user with a cache directory."""

    def __init__(self, sample="usercorn"):
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix="pack-"))
        data = (DATA / SAMPLES[sample]).read_bytes()
        self.trace = self.folder / "trace"
        self.trace.write_bytes(gzip.decompress(data) if SAMPLES[sample].endswith(".gz") else data)
        self.packed = self.folder / "one.tspack"
        self.user = "me"

    def __enter__(self):
        return self

    def __exit__(self, *_):
        shutil.rmtree(self.folder)

    def env(self):
        return {**os.environ, "XDG_CACHE_HOME": str(self.folder / self.user)}

    def run(self, *args, status=0):
        done = subprocess.run([TRACESTUB, *map(str, args)], env=self.env(), capture_output=True, text=True, timeout=LIMIT)
        assert done.returncode == status, (args, done)
        return done

    def files(self):
        """The packed files, as tar(1) and zstd(1) have them."""
        tar = self.folder / "archive.tar"
        with open(tar, "wb") as out:
            subprocess.run(["zstd", "-dc", self.packed], stdout=out, check=True)
        with tarfile.open(tar) as archive:
            return {m.name: archive.extractfile(m).read() for m in archive}


def is_the_same(sample):
    with Desk(sample) as desk:
        before = json.loads(desk.run("info", "--json", "--quiet", desk.trace).stdout)
        desk.run("pack", desk.trace, "-o", desk.packed, "--quiet")
        assert desk.files()["trace/trace"] == desk.trace.read_bytes()
        back = desk.folder / "back"
        desk.run("unpack", desk.packed, "-o", back)
        assert back.read_bytes() == desk.trace.read_bytes()
        assert back.stat().st_mtime_ns == desk.trace.stat().st_mtime_ns
        desk.trace.unlink()
        after = json.loads(desk.run("info", "--json", "--quiet", desk.packed).stdout)
        assert {**before, "trace": 0, "warnings": 0} == {**after, "trace": 0, "warnings": 0}
        if sample != "tfile":
            here, there = (desk.run("query", t, "hot", "--quiet").stdout for t in (back, desk.packed))
            assert here == there and here.count("\n") > 2


for name in SAMPLES:
    add_case(f"packed, opened and unpacked: {name}", is_the_same, name)


@case
def a_compressed_trace_is_packed_as_it_is():
    with Desk() as desk:
        plain = desk.run("query", desk.trace, "hot").stdout
        packed = desk.folder / "trace.gz"
        packed.write_bytes(gzip.compress(desk.trace.read_bytes()))
        desk.run("pack", packed, "-o", desk.packed)
        assert desk.files()["trace/trace.gz"] == packed.read_bytes()
        assert desk.run("query", desk.packed, "hot").stdout == plain


@case
def marks_come_along_once():
    with Desk() as desk:
        desk.run("query", desk.trace, "mark", "here", "at", "1234", "as it was")
        desk.run("pack", desk.trace, "-o", desk.packed)
        desk.user = "somebody else"
        shown = desk.run("query", desk.packed, "marks").stdout
        assert "1234\there\tas it was" in shown, shown
        desk.run("query", desk.packed, "unmark", "here")
        desk.run("query", desk.packed, "mark", "there", "at", "5")
        shown = desk.run("query", desk.packed, "marks").stdout
        assert "\there\t" not in shown and "5\tthere\t" in shown and "as it was" not in shown, shown
        desk.run("unpack", desk.packed, "-o", desk.folder / "back")
        assert "as it was" in desk.run("query", desk.folder / "back", "marks").stdout


@case
def the_index_is_used_by_who_made_it_and_ignored_by_others():
    with Desk() as desk:
        index = desk.folder / "trace.tsindex"
        desk.run("index", desk.trace)
        made = index.read_bytes()
        desk.run("pack", desk.trace, "-o", desk.packed, "--index", index)
        assert desk.files()["index"] == made
        wanted = desk.run("query", desk.trace, "hot").stdout
        done = desk.run("index", desk.packed)
        mine = desk.folder / "one.tspack.tsindex"
        assert mine.read_bytes()[4096:] == made[4096:] and "rebuilding" not in done.stderr, done    # after its header
        mine.unlink()
        desk.user = "somebody else"
        done = desk.run("index", desk.packed)
        assert "made by another user or machine; ignored; rebuilding the index" in done.stderr, done
        assert mine.read_bytes() != made
        assert desk.run("query", desk.packed, "hot").stdout == wanted


@case
def calls_that_lie_in_the_cache_directory_come_along():
    with Desk() as desk:
        index = desk.folder / "trace.tsindex"
        made = [program_of_another_version(desk.folder), "index", desk.trace, "--index", index]
        desk.run("info", desk.trace)                                # which makes the key
        subprocess.run(made, env=desk.env(), check=True, capture_output=True, timeout=LIMIT)
        beside = desk.folder / "trace.tsindex.calls"
        beside.mkdir()                                              # so that the calls go elsewhere
        wanted = desk.run("query", desk.trace, "hot", "5").stdout
        done = desk.run("query", desk.trace, "stack", "at", "50%")
        calls, = (desk.folder / desk.user).rglob("*.calls")
        beside.rmdir()
        desk.run("pack", desk.trace, "-o", desk.packed)
        files = desk.files()
        assert files["index"] == index.read_bytes() and files["index.calls"] == calls.read_bytes(), (files.keys(), done)
        calls.unlink()
        assert desk.run("query", desk.packed, "hot", "5").stdout == wanted
        assert desk.run("query", desk.packed, "stack", "at", "50%").stdout == done.stdout


@case
def the_program_comes_along():
    with Desk() as desk:
        source, program = desk.folder / "p.c", desk.folder / "prog"
        source.write_text("int twice(int x) { return 2 * x; }\nint main(void) { return twice(21); }\n")
        subprocess.run(["gcc", "-g", "-O0", "-static", "-o", program, source], check=True)
        done = record(desk.trace, program)
        assert done.returncode == 42, done
        desk.run("pack", desk.trace, "-o", desk.packed, "--exec", program)
        assert desk.files()["program/prog"] == program.read_bytes()
        program.unlink()
        desk.trace.unlink()
        desk.user = "somebody else"
        assert "twice" in desk.run("query", desk.packed, "calls", "twice").stdout
        done = desk.run("gdb", desk.packed, "--", "-batch", "-ex", "break twice", "-ex", "continue", "-ex", "finish")
        assert "Value returned is $1 = 42" in done.stdout, done


@case
def gdb_takes_a_packs_libraries_also_with_sysroot_of_this_machine():
    """Many users have "set sysroot /" in their settings, and the library is not on this machine."""
    with Desk() as desk:
        for name, text in ("plug", "int plug(int x) { return x + 1; }"), ("prog", "int plug(int); int main(void) { return plug(5); }"):
            (desk.folder / f"{name}.c").write_text(text)
        library = desk.folder / "libplug.so"
        flags = ["gcc", "-g", "-O0"]
        subprocess.run([*flags, "-fPIC", "-shared", "-o", library, desk.folder / "plug.c"], check=True)
        subprocess.run([*flags, "-o", desk.folder / "prog", desk.folder / "prog.c", library], check=True)
        assert record(desk.trace, desk.folder / "prog").returncode == 6
        desk.run("pack", desk.trace, "-o", desk.packed)
        for path in library, desk.folder / "prog", desk.trace:
            path.unlink()
        done = desk.run("gdb", desk.packed, "--", "-batch", "-iex", "set sysroot /", "-ex", "break plug", "-ex", "continue")
        assert "Breakpoint 1, plug (x=5)" in done.stdout, done


@case
def symbols_come_along_in_debug_files():
    """A program and its library, both stripped: their debug files are packed, and the originals are gone."""
    with Desk() as desk:
        here = desk.folder / "built"
        here.mkdir()
        (here / "own.c").write_text("static __attribute__((noinline)) int hidden(int n) { return n * 7; }\n"
                                    "int answer(int n) { return hidden(n) + 1; }\n")
        (here / "main.c").write_text("int answer(int);\nstatic __attribute__((noinline)) int inner(int n) { return answer(n) + 2; }\n"
                                     "int main(void) { return inner(6); }\n")
        for make in (["gcc", "-g", "-O1", "-shared", "-fPIC", "-o", "libown.so", "own.c"],
                     ["gcc", "-g", "-O1", "-o", "prog", "main.c", "./libown.so"],
                     *(c for f in ("prog", "libown.so") for c in (["objcopy", "--only-keep-debug", f, f"{f}.debug"],
                                                                  ["objcopy", "--strip-all", f"--add-gnu-debuglink={f}.debug", f]))):
            subprocess.run(make, cwd=here, check=True)
        done = record(desk.trace, here / "prog", cwd=here)
        assert done.returncode == 45, done
        said = desk.run("pack", desk.trace, "-o", desk.packed, "--exec", here / "prog").stdout
        assert "debug file" in said, said
        packed = {name: data for name, data in desk.files().items() if name.startswith("debug/")}
        assert {(here / f"{f}.debug").read_bytes() for f in ("prog", "libown.so")} <= set(packed.values()), packed.keys()
        shutil.rmtree(here)
        shutil.rmtree(f"{desk.trace}.files", ignore_errors=True)
        desk.trace.unlink()
        desk.user = "somebody else"
        assert "hidden" in desk.run("query", desk.packed, "calls", "hidden").stdout
        temporary = desk.folder / "tmp"
        temporary.mkdir()
        with_it = {**desk.env(), "TMPDIR": str(temporary)}
        done = subprocess.run([TRACESTUB, "gdb", desk.packed, "--", "-nx", "-batch", "-ex", "set breakpoint pending on",
                               "-ex", "break hidden", "-ex", "continue",
                               "-ex", "backtrace"], env=with_it, capture_output=True, text=True, timeout=LIMIT)
        for line in "hidden (n=.*6) at own.c:1", "answer (n=.*6) at own.c:2", "inner (n=.*6) at main.c:2", "main () at main.c:3":
            assert re.search(line.replace("(", r"\(").replace(")", r"\)"), done.stdout), (line, done)
        assert not list(temporary.iterdir()), list(temporary.iterdir())
        shown = in_lldb(desk.packed, with_it)
        for line in "hidden(n=6) at own.c:1", "answer(n=6) at own.c:2", "inner(n=6) at main.c:2", "main at main.c:3":
            assert line in shown, (line, shown)
        assert not list(temporary.iterdir()), list(temporary.iterdir())


def in_lldb(trace, env):
    """The backtrace in hidden(), which is in a library."""
    lldb_path()
    commands = pathlib.Path("commands")
    commands.write_text("breakpoint set -n hidden\nprocess continue\nbt\nquit\n")
    return subprocess.run([TRACESTUB, "lldb", trace, "--", "--no-lldbinit", "--batch", "--source", str(commands.absolute())],
                          env={k: v for k, v in env.items() if not k.startswith("PYTHON")}, capture_output=True, text=True,
                          timeout=LIMIT, stdin=subprocess.DEVNULL).stdout


@case
def lldb_takes_the_copy_of_a_library_that_was_built_again():
    """The truth is the program's source: hidden(6) is on line 1 when it is recorded, and on line 3 of what is built later."""
    with Desk() as desk:
        here = desk.folder / "built"
        here.mkdir()
        (here / "main.c").write_text("int answer(int);\nint main(void) { return answer(6); }\n")
        hidden = "static __attribute__((noinline)) int hidden(int n) { return n * 7; }\nint answer(int n) { return hidden(n) + 1; }\n"
        library = ["gcc", "-g", "-O1", "-shared", "-fPIC", "-o", "libown.so", "own.c"]
        (here / "own.c").write_text(hidden)
        for make in library, ["gcc", "-g", "-O1", "-o", "prog", "main.c", "./libown.so"]:
            subprocess.run(make, cwd=here, check=True)
        if record(desk.trace, here / "prog", cwd=here, options=("--with", "valgrind")).returncode == 1:
            skip("tracestub was built without Valgrind")
        (here / "own.c").write_text("int more(int n) { return n * n * n; }\n\n" + hidden)
        subprocess.run(library, cwd=here, check=True)
        shown = in_lldb(desk.trace, desk.env())
        assert "hidden(n=6) at own.c:1" in shown and "answer(n=6) at own.c:2" in shown, shown


class Thread:
    """Logs of a position-independent program's threads, and the list of images that says where it lies."""

    BASE = 0x555555554000

    def __init__(self, desk):
        source = desk.folder / "p.c"
        source.write_text("int twice(int x) { return 2 * x; }\nint main(void) { return twice(21); }\n")
        self.program = desk.folder / "prog"
        subprocess.run(["gcc", "-g", "-O0", "-pie", "-fPIE", "-o", self.program, source], check=True)
        symbols = subprocess.run(["nm", self.program], check=True, capture_output=True, text=True).stdout
        self.twice = next(int(line.split()[0], 16) for line in symbols.splitlines() if line.endswith(" twice"))
        self.logs = [desk.folder / "t.0.log", desk.folder / "t.3.log.gz"]
        self.logs[0].write_text(self.lines(3))
        self.logs[1].write_bytes(gzip.compress(self.lines(5).encode()))
        self.images = desk.folder / "t.log"
        self.images.write_text(f"Loaded image: {self.BASE:#x}:{self.BASE + 0x4fff:#x} -> prog\n")
        os.utime(self.logs[1], ns=(1_600_000_000_123_456_789, 1_600_000_000_123_456_789))

    def lines(self, n):
        return "".join(f"rax=0x{i:x},rsp=0x7ffe00001000,rip=0x{self.BASE + self.twice + i:x}\n" for i in range(n))

    def files(self):
        return [*self.logs, self.images, self.program]


QUESTIONS = ["threads"], ["modules"], ["executions", "twice"], ["history", "$rax"]


def answers(desk, *trace):
    info = json.loads(desk.run("info", "--json", "--quiet", *trace).stdout)
    return [{**info, "trace": 0, "warnings": 0}, *(desk.run("query", *trace, *q, "--quiet").stdout for q in QUESTIONS)]


@case
def a_recording_of_several_files_is_one():
    with Desk("tenet") as desk:
        made = Thread(desk)
        before = answers(desk, *made.logs, "--exec", made.program)
        assert before[3].count("twice") == 2 and "t.3.log.gz" in str(before[0]), before
        desk.run("pack", *made.logs, "--exec", made.program, "-o", desk.packed)
        kept = {f.name: (f.read_bytes(), f.stat().st_mtime_ns) for f in made.files()}
        for f in made.files():
            f.unlink()
        desk.user = "somebody else"
        assert answers(desk, desk.packed) == before, answers(desk, desk.packed)

        assert "-o must name a folder" in desk.run("unpack", desk.packed, "-o", desk.folder / "t", status=1).stderr
        back = desk.folder / "back"
        back.mkdir()
        desk.run("unpack", desk.packed, "-o", back)
        assert kept == {f.name: (f.read_bytes(), f.stat().st_mtime_ns) for f in back.iterdir()}
        assert answers(desk, *(back / log.name for log in made.logs), "--exec", back / "prog") == before


@case
def one_file_goes_into_a_folder_too():
    with Desk() as desk:
        desk.run("query", desk.trace, "mark", "here", "at", "1234", "as it was")
        desk.run("pack", desk.trace, "-o", desk.packed)
        back = desk.folder / "back"
        back.mkdir()
        desk.run("unpack", desk.packed, "-o", back)
        assert (back / "trace").read_bytes() == desk.trace.read_bytes()
        assert "as it was" in desk.run("query", back / "trace", "marks").stdout


def compress(data):
    return subprocess.run(["zstd", "-qc"], input=bytes(data), check=True, capture_output=True).stdout


def write_frames(path, frames):
    """Frames, each with the length of what it decodes to, and the table by which they are found."""
    table = (0x184D2A5E).to_bytes(4, "little") + (8 * len(frames) + 9).to_bytes(4, "little")
    for frame, length in frames:
        table += len(frame).to_bytes(4, "little") + length.to_bytes(4, "little")
    table += len(frames).to_bytes(4, "little") + b"\0" + (0x8F92EAB1).to_bytes(4, "little")
    path.write_bytes(b"".join(frame for frame, _ in frames) + table)


def write_packed(path, tar):
    """The archive, as one frame."""
    write_frames(path, [(compress(tar), len(tar))])


def rename_member(tar, name, other):
    at = tar.index(name + b"\0")
    header = bytearray(tar[at:at + 512])
    header[:100] = other.ljust(100, b"\0")
    header[148:156] = b" " * 8
    header[148:155] = f"{sum(header):06o}\0".encode()
    tar[at:at + 512] = header


def archive_of(members):
    """A tar archive of these names and contents, which a packed recording may be."""
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode="w", format=tarfile.USTAR_FORMAT) as archive:
        for name, data in [("tracestub-pack", b"version 1\nmtime 0\n"), *members]:
            member = tarfile.TarInfo(name)
            member.size = len(data)
            archive.addfile(member, io.BytesIO(data))
    return out.getvalue()


@case
def a_packed_recording_in_another_is_not_opened_and_not_made():
    """One in the other took 11 MB of memory each, and 80 bytes of the file."""
    with Desk() as desk:
        desk.run("pack", desk.trace, "-o", desk.packed)
        done = desk.run("pack", desk.packed, "-o", desk.folder / "twice", status=1)
        assert f"{desk.packed}: it is a packed recording already" in done.stderr and not (desk.folder / "twice").exists(), done
        nested = desk.folder / "nested"
        write_packed(nested, archive_of([("trace/inner", desk.packed.read_bytes())]))
        done = desk.run("info", nested, status=1)
        assert done.stderr.startswith(f"{nested}: a packed recording in a packed recording"), done
        desk.run("unpack", nested, "-o", desk.folder / "inner")
        assert (desk.folder / "inner").read_bytes() == desk.packed.read_bytes()


@case
def many_threads_of_a_packed_recording_share_what_is_unpacked_of_it():
    """A file of 2 KB, whose one frame is 16 MiB long, and which has 300 threads: a frame for each was 5 GB."""
    n, most = 300, 16 << 20
    with Desk("tenet") as desk:
        log = b"rax=0x1,rsp=0x7ffe00001000,rip=0x401000\nrax=0x2,rip=0x401001\n"
        tar = archive_of([("trace/t.0.log", log), *((f"thread/t.{i}.log", log) for i in range(1, n))])
        write_packed(desk.packed, tar.ljust(most, b"\0"))
        with open(desk.folder / "out", "w+") as out:
            command = subprocess.Popen([TRACESTUB, "info", desk.packed, "--quiet", "--index", "none"], env=desk.env(), stdout=out)
            _, status, usage = os.wait4(command.pid, 0)
            command.returncode = os.waitstatus_to_exitcode(status)
        assert command.returncode == 0 and f"threads       {n}\n" in (desk.folder / "out").read_text()
        assert usage.ru_maxrss < (256 << 10) * (8 if IS_SANITIZED else 1), usage


@case
def a_program_of_zeros_does_not_fill_the_cache_directory():
    """A file of 40 KB with a program of more than a gigabyte: it was copied, and the copy stayed."""
    piece = 16 << 20
    with Desk() as desk:
        header = tarfile.TarInfo("program/zeros")
        header.size = 66 * piece
        start = archive_of([("trace/trace", desk.trace.read_bytes())]).rstrip(b"\0")
        start = start.ljust(-(-len(start) // 512) * 512, b"\0") + header.tobuf(tarfile.USTAR_FORMAT)
        end = bytes(1024)
        write_frames(desk.packed, [(compress(start), len(start)), *[(compress(bytes(piece)), piece)] * 66, (compress(end), len(end))])
        done = desk.run("query", desk.packed, "when")
        assert "program/zeros in it is not used: it has 1107296256 bytes unpacked" in done.stderr, done
        assert "7480" in done.stdout and not list((desk.folder / desk.user).rglob("*.program")), done


@case
def a_name_does_not_lead_out_of_the_folder():
    with Desk() as desk:
        desk.run("pack", desk.trace, "-o", desk.packed)
        data = bytearray(subprocess.run(["zstd", "-dc", desk.packed], check=True, capture_output=True).stdout)
        rename_member(data, b"trace/trace", b"trace/../..")
        write_packed(desk.packed, data)
        folder = desk.folder / "in" / "back"
        folder.mkdir(parents=True)
        done = desk.run("unpack", desk.packed, "-o", folder, status=1)
        assert "is not the name of a file" in done.stderr, done


@case
def no_file_is_replaced_in_a_folder():
    """Its names are the archive's: -o ~ is no leave to replace what is there."""
    with Desk() as desk:
        program = desk.folder / "prog"
        program.write_bytes(b"what lies beneath")
        desk.run("pack", desk.trace, "--image", f"{program}@0x12345000", "-o", desk.packed)
        data = bytearray(subprocess.run(["zstd", "-dc", desk.packed], check=True, capture_output=True).stdout)
        home = desk.folder / "home"
        home.mkdir()
        for there, make in ((home / "notes", lambda p: p.write_text("mine\n")),
                            (home / "plans", lambda p: p.symlink_to("nowhere"))):
            make(there)
            rename_member(data, next(m for m in (b"image/0x12345000/prog", b"image/notes") if m + b"\0" in data),
                          b"image/" + there.name.encode())
            write_packed(desk.packed, data)
            done = desk.run("unpack", desk.packed, "-o", home, status=1)
            assert f"{there} exists already, and is not replaced" in done.stderr and done.stderr.count("\n") == 1, done
            assert not (home / "trace").exists()
        assert (home / "notes").read_text() == "mine\n" and not (home / "nowhere").exists()
        rename_member(data, b"image/plans", b"image/.bashrc")
        write_packed(desk.packed, data)
        done = desk.run("unpack", desk.packed, "-o", home, status=1)
        assert "called .bashrc is not written into a directory" in done.stderr, done
        assert sorted(os.listdir(home)) == ["notes", "plans"]
        rename_member(data, b"image/.bashrc", b"image/trace")
        write_packed(desk.packed, data)
        done = desk.run("unpack", desk.packed, "-o", home, status=1)
        assert "two of its files have the name trace" in done.stderr, done
        assert (home / "trace").read_bytes() == desk.trace.read_bytes()


@case
def files_beneath_the_recording_come_along():
    with Desk() as desk:
        image = desk.folder / "rom"
        image.write_bytes(b"what lies beneath\0")
        shown = ("-nx", "-batch", "-ex", "x/s 0x12345000")
        desk.run("pack", desk.trace, "-o", desk.packed, "--image", f"{image}@0x12345000")
        assert desk.files()["image/0x12345000/rom"] == image.read_bytes()
        image.unlink()
        desk.user = "somebody else"
        done = desk.run("gdb", desk.packed, "--", *shown)
        assert "what lies beneath" in done.stdout, done


@case
def damage_is_one_sentence():
    with Desk() as desk:
        desk.run("pack", desk.trace, "-o", desk.packed)
        data = desk.packed.read_bytes()
        done = desk.run("unpack", desk.trace, "-o", desk.folder / "x", status=1)
        assert "not a packed recording" in done.stderr and done.stderr.count("\n") == 1, done
        for at in range(20, len(data), len(data) // 40):
            desk.packed.write_bytes(data[:at] + bytes(b ^ 0x5A for b in data[at:at + 8]) + data[at + 8:])
            for command in (["unpack", desk.packed, "-o", desk.folder / "x"], ["info", desk.packed, "--quiet"]):
                env = {**os.environ, "XDG_CACHE_HOME": str(desk.folder)}
                done = subprocess.run([TRACESTUB, *map(str, command)], env=env, capture_output=True, text=True, timeout=LIMIT)
                assert done.returncode in (0, 1, 2) and done.stderr.count("\n") <= 2, (at, done)
                if command[0] == "unpack" and done.returncode == 0:
                    assert (desk.folder / "x").read_bytes() == desk.trace.read_bytes()
        desk.packed.write_bytes(data[:len(data) // 2])
        assert desk.run("info", desk.packed, "--quiet", status=1).stderr.count("\n") == 1


@case
def usage():
    with Desk() as desk:
        assert "needs -o FILE" in desk.run("pack", desk.trace, status=2).stderr
        assert "needs -o TRACE" in desk.run("unpack", desk.trace, status=2).stderr
        assert "an input, not an output" in desk.run("pack", desk.trace, "-o", desk.trace, status=2).stderr


run_cases()
