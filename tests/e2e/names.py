#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Names in a recording are bytes of somebody else: none of them commands a terminal, a browser or a parser."""
import json
import pathlib
import re
import subprocess
import tempfile

import _frames
from _hostile import ucir_frame, ucir_head, ucir_jmp, ucir_map, ucir_step, ucir_write
from _rsp import Rsp
from _server import Server
from _tap import TRACESTUB, add_case, run_cases
from _ucir2 import frame, jmp, keyframe, map_, note, step, ucir2, write

# what a terminal obeys: ESC, CSI as one byte and as U+009B, BEL, carriage return, backspace, right-to-left override; nobody sees
# U+E0041, which an agent reads
EVIL = b"\x1b[2J\x9b2J\xc2\x9b31m\x07\r\x08\xe2\x80\xae\xf3\xa0\x81\x81</title>\"'\\]]>\n$x#00"
FOLDER = pathlib.Path(tempfile.mkdtemp())


def trace():
    path = FOLDER / "t.ucir"
    start = ucir_frame(0, ucir_map(0x1000, 0x1000), ucir_map(0x5000, 0x1000, EVIL), ucir_write(0x1000, b"\x90"), kind=2)
    path.write_bytes(ucir_head() + start + ucir_frame(0, ucir_jmp(0x1000), ucir_map(0x7000, 0x1000, EVIL), ucir_step(),
                                                      ucir_jmp(0x1001), ucir_step()))
    return path


def is_safe(output, what):
    text = output.decode()          # it is UTF-8
    odd = [c for c in text if c != "\n" and c != "\t" and (ord(c) < 32 or 0x7f <= ord(c) < 0xa0 or c in "\u202e\u2028\u2029\U000e0041")]
    assert not odd, (what, odd)
    assert "2J" in text, (what, text)
    return text


def run(*args):
    done = subprocess.run([TRACESTUB, *map(str, args)], capture_output=True, timeout=60)
    assert done.returncode in (0, 1), (args, done)
    return done


def on_the_command_line():
    path = trace()
    for args in ("info", path), ("query", path, "maps", "at", "end"):
        done = run(*args)
        is_safe(done.stdout + done.stderr, args[0::2])
    json.loads(is_safe(run("info", "--json", path).stdout, "info --json"))
    for line in is_safe(run("query", path, "maps", "at", "end", "--json").stdout, "--json").splitlines():
        json.loads(line)


def of_the_trace_itself():
    """A name that came out of an archive, and was completed by the shell."""
    folder = FOLDER.joinpath("a\x1b[2J\x9b31m\u202e\U000e0041\r")
    folder.mkdir()
    path = folder / "t.ucir"
    path.write_bytes(trace().read_bytes())
    json.loads(is_safe(run("info", "--json", path).stdout, "info --json"))
    for args in ("info", path), ("index", path), ("info", folder / "none"), ("query", path, "find", "u8:1", "--log", "info"), \
            ("info", "--exec", folder / "none", path):
        done = run(*args)
        is_safe(done.stdout + done.stderr, args)


def in_gdb_s_console():
    with Server(trace()) as server, Rsp(server.address) as r:
        r.send("qRcmd," + b"maps at end".hex())
        shown = b""
        while (reply := r.receive()) != "OK":
            shown += bytes.fromhex(reply.removeprefix("O"))
        is_safe(shown, "monitor maps")


def in_what_gdb_shows_of_the_process():
    """gdb prints what it reads in /proc as it is."""
    path, name = FOLDER / "p.ucir", EVIL.replace(b"/", b"_")
    path.write_bytes(ucir2("x86_64", note(3, b"/p" + EVIL), note(1, EVIL + b"\0b" + EVIL + b"\0"),
                           keyframe(1, 1, map_(0x1000, 0x1000, 5), map_(0x5000, 0x1000, 5, b"", b"/x" + EVIL), map_(0x8000, 0x1000, 5, EVIL),
                                    write(0x1000, b"\x90")), frame(1, 1, jmp(0x1000), step(1))))
    with Server(path) as server:
        done = subprocess.run(["gdb", "-nx", "-batch", "-ex", "set height 0", "-ex", f"target remote {server.address}",
                               "-ex", "info proc all"], capture_output=True, timeout=60)
        text = is_safe(done.stdout, "info proc")
        for line in "cmdline = '", "exe = '/p", "0x0*5000 .* /x", r"0x0*8000 .* \[", "Name:\t":
            assert re.search(line, text), (line, text)
    path.write_bytes(ucir2("x86_64", note(3, b"/p/" + name), keyframe(1, 1, map_(0x1000, 0x1000, 5), write(0x1000, b"\x90")),
                           frame(1, 1, jmp(0x1000), step(1))))
    with Server(path) as server, Rsp(server.address) as r:
        for file in b"comm", b"status", b"stat":
            r.send("vFile:open:" + (b"/proc/1/" + file).hex() + ",0,0")
            assert r.receive() == "F3"
            r.send("vFile:pread:3,1000,0")
            is_safe(r.receive().encode("latin-1"), file)
            r.send("vFile:close:3")
            r.receive()


def where_gdb_looks_for_libraries():
    """A name that is not absolute, or that is for another system only, would open a file that came with the recording."""
    source, folder = FOLDER / "e.c", FOLDER / "cwd"
    folder.mkdir()
    source.write_text("int planted(void) { return 1; }\n")
    library = folder / "lib.so"
    subprocess.run(["gcc", "-shared", "-fPIC", "-o", library, source], check=True)
    head = library.read_bytes()[:4096]
    for name, is_opened in (library, True), ("lib.so", False), ("./lib.so", False), ("C:lib.so", False), (r"C:\lib.so", False), \
            ("C:/lib.so", False), (r"\\lib.so", False), ("", False):
        if name and name != library and not name.startswith("C:/"):
            folder.joinpath(name).write_bytes(library.read_bytes())
        file = _frames.Frames(3, 9, 64, ("Pin", "1.0"))
        file.modload(str(name), 0x50000000, 0x50003fff)
        headers = [_frames.mem(0x50000000 + at, head[at:at + 8]) for at in range(0, len(head), 8)]
        file.std(0x1000, 1, b"\x90", headers, [])
        file.std(0x1001, 1, b"\x90", headers, [])
        path = FOLDER / "t.frames"
        path.write_bytes(file.close())
        with Server(path) as server:
            done = subprocess.run(["gdb", "-nx", "-batch", "-ex", f"target remote {server.address}", "-ex", "info sharedlibrary",
                                   "-ex", "info functions planted", "/bin/true"], capture_output=True, cwd=folder, timeout=60)
        assert (b" planted" in done.stdout.partition(b"debugging symbols")[2]) == is_opened, (name, done.stdout)


def in_pictures():
    path, page, svg = trace(), FOLDER / "p.html", FOLDER / "p.svg"
    run("plot", path, "-o", page)
    run("plot", path, "-o", svg)
    for text in page.read_text(), svg.read_text():
        assert "\x1b" not in text and "\x9b" not in text and "\u202e" not in text
        assert EVIL[:10].decode("latin-1") not in text


def in_what_an_agent_reads():
    ask = [{"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": {
        "protocolVersion": "2024-11-05", "capabilities": {}, "clientInfo": {"name": "t", "version": "1"}}},
           {"jsonrpc": "2.0", "method": "notifications/initialized"},
           {"jsonrpc": "2.0", "id": 2, "method": "tools/call", "params": {"name": "ask", "arguments": {"question": "maps", "at": "end"}}}]
    done = subprocess.run([TRACESTUB, "mcp", trace(), "--quiet"], input="".join(json.dumps(a) + "\n" for a in ask).encode(),
                          capture_output=True, timeout=60)
    answers = [json.loads(line) for line in done.stdout.splitlines()]
    assert answers[-1]["id"] == 2, answers
    text = answers[-1]["result"]["content"][0]["text"]
    assert "2J" in text and "\x1b" not in text and "\x9b" not in text, text


add_case("on the command line", on_the_command_line)
add_case("of the trace itself", of_the_trace_itself)
add_case("in gdb's console", in_gdb_s_console)
add_case("in what gdb shows of the process", in_what_gdb_shows_of_the_process)
add_case("where gdb looks for libraries", where_gdb_looks_for_libraries)
add_case("in pictures", in_pictures)
add_case("in what an agent reads", in_what_an_agent_reads)
run_cases()
