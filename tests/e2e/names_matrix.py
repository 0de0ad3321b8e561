#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Names of every language's delimiters, in every place of a recording that has a name, through every door: none is a command, a
row, a key, an element or a line of its own.

Places: symbols, the program's file, its arguments, threads, modules, maps, marks.  Doors: tables, CSV, JSON, info, gdb, lldb, MCP, DAP, plot,
drcov, lcov, tfile, the other exports, diff; SQL where this tracestub has it.
"""
import csv
import html.parser
import io
import json
import os
import pathlib
import re
import shutil
import subprocess
import tempfile
import xml.etree.ElementTree

import _ucir2
from _dap import Adapter
from _lldb import adapter_path, lldb_path
from _mcp import of_tool
from _server import Server
from _tap import LIMIT, TRACESTUB, add_case, run_cases, skip

CODE, DATA = 0x401000, 0x403000
HOSTILE = {
    "shell": b"$(touch PWNED)`touch PWNED`;touch PWNED|touch PWNED&touch PWNED\ntouch PWNED\n",
    "gdb": b"main, 1\nshell touch PWNED\n*0 TRACESTUB touch PWNED #\n!touch PWNED\n*$_shell(\"touch PWNED\")",
    "lldb": b"main\nplatform shell touch PWNED\nscript open('PWNED', 'w')\n`open('PWNED', 'w')`",
    "python": b"'); open('PWNED', 'w') #\"\"\"); open('PWNED', 'w') #\\",
    "sql": b"'); drop table maps; create table PWNED(a); --\"; create table PWNED(b); --",
    "html": b"</title></script><script>PWNED</script><img src=x onerror=PWNED>\"'><svg onload=PWNED>&#x3c;PWNED&#x3e;]]>",
    "json": b"\"}, {\"PWNED\": 1}, {\"x\": \"\\\", \"PWNED\": \"",
    "tsv": b"a\tb\tc\td\te\tf\tg\th\n1\tPWNED\t2\nPWNED\t1\r\nPWNED",
    "packets": b"#00$PWNED#00+$OK#9a}\x03-%Stop:PWNED#00*~;:,|",
    "terminal": b"\x1b[2J\x9b2J\xc2\x9b31m\x1b]0;PWNED\x07\r\x08\x7f\x00"[:-1],
    "overlong": b"\xc0\xae\xc0\xae\xc0\xafPWNED\xe0\x80\xaf\xed\xa0\x80\xf8\x88\x80\x80\x80\xff",
    "bidi": "PWNED\u202e\u2066\u2028\u2029\u200b\U000e0041".encode(),
    "files": b"end_of_record\nSF:PWNED\nFN:1,PWNED\n\nstatus 0;PWNED\ntp T1:PWNED\nBB Table: 9 bbs\n, PWNED, ",
}
TABLES = "symbol", "thread", "module", "map", "mark", "event", "call", "line"
ODD = re.compile("[\0-\x08\x0b-\x1f\x7f-\x9f\u200b\u2028\u2029\u202a-\u202e\u2066-\u2069\U000e0000-\U000e007f]")


class Name(bytes):
    """What _ucir2.elf() writes as it is."""

    def encode(self):
        return bytes(self)


class Desk:
    """A folder with a recording all of whose names are @name, its program, and the mark that can be set by that name."""

    def __init__(self, name):
        self.name = name
        self.folder = pathlib.Path(tempfile.mkdtemp())
        self.trace, self.program = self.folder / "t.ucir", self.folder / "prog"
        code = b"\x90" * 3 + b"\xe8\x01\0\0\0" + b"\x90" + b"\x90\xc3"              # call the second function
        elf = _ucir2.elf(62, 0, False, CODE, code, DATA, {Name(name): (CODE, 9), Name(b"second" + name): (CODE + 9, 2),
                                                          Name(b"data" + name): (DATA, 8)})
        self.program.write_bytes(elf)
        push = _ucir2.write(0x7ff7f8, (CODE + 8).to_bytes(8, "little")), _ucir2.reg(44, 0x7ff7f8)
        self.record(code, [[_ucir2.jmp(CODE), *[_ucir2.step(1)] * 3, *push, _ucir2.step(5)],
                           [_ucir2.jmp(CODE + 9), _ucir2.step(1), _ucir2.reg(44, 0x7ff800), _ucir2.step(1),
                            _ucir2.jmp(CODE + 8), _ucir2.step(1)]])
        pathlib.Path(f"{self.trace}.tsmarks").write_bytes(b"# tracestub marks\n1 here " + re.sub(rb"[\0-\x1f\x7f]", b" ", name) + b"\n")

    def record(self, code, frames):
        """A recording of @frames, after each of which the thread has another name."""
        file, thread = self.name.replace(b"/", b"_")[:200], (1 << 32 | 1).to_bytes(8, "little")
        steps = [part for i, ops in enumerate(frames)
                 for part in (_ucir2.frame(1, 1, *ops), _ucir2.note(13, thread + (b"%d" % i if i else b"") + self.name))]
        self.trace.write_bytes(_ucir2.ucir2(
            "x86_64", _ucir2.note(3, b"/p/" + file), _ucir2.note(1, self.name + b"\0b" + self.name + b"\0"),
            _ucir2.keyframe(1, 1, _ucir2.map_(CODE, 0x1000, 5, b"", b"/p/" + file), _ucir2.map_(0x500000, 0x1000, 5, b"", b"/x/" + file),
                            _ucir2.map_(0x7ff000, 0x1000, 3, self.name), _ucir2.write(CODE, code), _ucir2.reg(44, 0x7ff800)),
            *steps, _ucir2.end(0, 3)))

    def run(self, *args, statuses=(0, 1), words=(), **options):
        done = subprocess.run([TRACESTUB, *args, self.trace, *words, "--exec", self.program, "--index", "none"], capture_output=True,
                              cwd=self.folder, timeout=LIMIT, stdin=None if "input" in options else subprocess.DEVNULL, **options)
        assert done.returncode in statuses, (args, words, done)
        return done

    def share(self, form):
        """Every second question is asked in form 0, the others in form 1, and with the next name the other way round."""
        return QUESTIONS[(list(HOSTILE.values()).index(self.name) + form) % 2::2]

    def ends(self):
        """Nothing ran."""
        found = [str(p) for p in self.folder.rglob("PWNED*")] + [str(p) for p in pathlib.Path(".").glob("PWNED*")]
        assert not found, (self.name, found)
        shutil.rmtree(self.folder)


QUESTIONS = ("maps at end", "marks", "hot", "calls", "symbols", "functions", "executions 0x401009", "events", "stack at 5", "threads",
             "coverage", "modules", "why $rip at 5", "last-write $rsp at end", "registers at 5", "goto here")


def is_quiet(text, what):
    """Text for a terminal: UTF-8 without a character that commands one, or that hides."""
    shown = text.decode()
    assert not ODD.search(shown), (what, ODD.search(shown), shown)
    return shown


def tables(desk):
    n_asked = 0
    for question in desk.share(0):
        done = desk.run("query", words=question.split(), statuses=(0, 1, 2))
        lines = is_quiet(done.stdout, question).splitlines()
        is_quiet(done.stderr, question)
        n_asked += done.returncode == 0
        for line in lines[1:] if "\t" in (lines or [""])[0] else []:
            assert line.count("\t") == lines[0].count("\t"), (question, lines)
            assert not line.startswith("PWNED"), (question, line)
    assert n_asked >= 3, n_asked


def comma_separated(desk):
    """Names have commas, quotes and line ends: each stays in its cell."""
    n_rows = 0
    for question in desk.share(1):
        done = desk.run("query", words=[*question.split(), "--csv"], statuses=(0, 1, 2))
        text = is_quiet(done.stdout.replace(b"\r\n", b"\n"), question)
        rows = list(csv.reader(io.StringIO(text, newline="")))
        n_rows += len(rows)
        assert all(len(row) == len(rows[0]) and row[0] != "PWNED" for row in rows), (question, rows)
    assert n_rows >= 3, n_rows


def has_key(value):
    if isinstance(value, dict):
        return "PWNED" in value or any(map(has_key, value.values()))
    return isinstance(value, list) and any(map(has_key, value))


def json_lines(desk):
    for question in desk.share(1):
        for line in is_quiet(desk.run("query", words=[*question.split(), "--json"], statuses=(0, 1, 2)).stdout, question).splitlines():
            assert not has_key(json.loads(line)), (question, line)
    assert not has_key(json.loads(is_quiet(desk.run("info", "--json").stdout, "info --json")))


def info(desk):
    for line in is_quiet(desk.run("info").stdout, "info").splitlines():
        assert not line.startswith("PWNED"), line


def gdb(desk):
    commands = ["info threads", f"info symbol {CODE:#x}", f"info symbol {CODE + 9:#x}", "x/3i $pc", "bt", "info sharedlibrary", "info proc all",
                *[f"ts {question}" for question in QUESTIONS[:-1]], f"ts calls {CODE + 9:#x} if $rsp == 0", f"ts executions {CODE + 9:#x} if $rsp == 0",
                f"goto next exec {CODE + 9:#x}", "bt", "stack", "reverse-stepi", "monitor marks", "complete goto h", "tstatus"]
    done = subprocess.run([TRACESTUB, "gdb", desk.trace, "--exec", desk.program, "--index", "none", "--", "-batch",
                           *[word for command in commands for word in ("-ex", command)]], capture_output=True, cwd=desk.folder, timeout=LIMIT,
                          stdin=subprocess.DEVNULL)
    assert b"second" in done.stdout, done


def lldb(desk):
    program = lldb_path()
    with Server(desk.trace, "--exec", str(desk.program), "--index", "none") as server:
        commands = [f"target create '{desk.program}'", f"gdb-remote {server.address}", "thread list", "bt", "image list",
                    f"image lookup -a {CODE + 9:#x}", "process plugin packet monitor maps", "process plugin packet monitor marks",
                    "memory region --all", "process status"]
        done = subprocess.run([program, "-x", "-b", *[word for command in commands for word in ("-o", command)]], capture_output=True,
                              cwd=desk.folder, timeout=LIMIT, stdin=subprocess.DEVNULL)
    assert b"stopped" in done.stdout, done


def looked_at(adapter, commands):
    """What an editor asks at a stop; no answer has a key of a name, or a line that is the adapter's own."""
    adapter.event("stopped")
    threads = adapter("threads")["threads"]
    try:
        frames = adapter("stackTrace", threadId=threads[0]["id"])["stackFrames"]
    except AssertionError as failed:
        if "'utf-8' codec can't decode" not in str(failed):
            raise
        skip("gdb's own adapter refuses a stack with a name that is no UTF-8")
    assert threads and frames, adapter
    for scope in adapter("scopes", frameId=frames[0]["id"])["scopes"]:
        if scope["variablesReference"]:
            adapter("variables", variablesReference=scope["variablesReference"])
    for command in commands:
        adapter("evaluate", expression=command, context="repl")
    for message in map(json.loads, adapter.log):
        assert not has_key(message), message


def lldb_dap(desk):
    program = adapter_path() or skip("no lldb-dap, which was called lldb-vscode before LLVM 18")
    for _ in range(5):
        try:
            return attach_lldb(desk, program)
        except AssertionError as failed:
            if "process unloaded during launch or attach" not in str(failed):
                raise
    return skip("lldb-dap of LLVM 19 looked at the process too early, five times")


def attach_lldb(desk, program):
    with Server(desk.trace, "--exec", str(desk.program), "--index", "none") as server, Adapter(program) as adapter:
        adapter("initialize", adapterID="lldb", linesStartAt1=True, columnsStartAt1=True, pathFormat="path")
        asked = adapter.post("attach", program=str(desk.program), attachCommands=[f"gdb-remote {server.address}"], stopOnEntry=True)
        adapter.event("initialized")
        adapter("configurationDone")
        adapter.response(asked)
        looked_at(adapter, ["`thread list", "`bt", f"`image lookup -a {CODE + 9:#x}", "`process plugin packet monitor maps"])


def gdb_dap(desk):
    """`tracestub dap`, which is gdb's own adapter."""
    found = subprocess.run(["gdb", "-nx", "-batch", "-ex", "python import gdb.dap; print('yes')"], timeout=LIMIT, stdin=subprocess.DEVNULL,
                           capture_output=True, text=True)
    if "yes" not in found.stdout:
        skip("gdb has no adapter (gdb -i dap): that needs gdb 14 or later, built with Python")
    with Adapter(TRACESTUB, "dap", desk.trace, "--exec", desk.program, "--index", "none") as adapter:
        adapter("initialize", adapterID="gdb", linesStartAt1=True, pathFormat="path")
        asked = adapter.post("attach")
        adapter.event("initialized")
        adapter("configurationDone")
        looked_at(adapter, ["info threads", f"info symbol {CODE + 9:#x}", "ts maps at end", "ts calls", "bt"])
        adapter.response(asked)


def mcp(desk):
    asked = [{"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": {
        "protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "t", "version": "1"}}},
             {"jsonrpc": "2.0", "method": "notifications/initialized"}]
    for name, arguments in ("maps", {"at": "end"}), ("overview", {}), ("where", {}), ("where", {"at": 5}), ("marks", {}), ("hot", {}), ("calls", {}), ("recordings", {}), ("events", {}), \
            ("stack", {"at": "5"}), ("coverage", {}), ("calls", {"what": desk.name.decode("utf-8", "replace")}), \
            ("source", {"what": desk.name.decode("utf-8", "replace")}), \
            ("sql", {"statement": "SELECT * FROM symbol"}), ("sql", {"statement": "SELECT * FROM map"}), \
            ("sql", {"statement": "SELECT * FROM step LIMIT 9"}), ("mark", {"what": desk.name.decode("utf-8", "replace")}), ("find", {"what": '"' + desk.name.decode("utf-8", "replace") + '"'}):
        asked.append({"jsonrpc": "2.0", "id": len(asked), "method": "tools/call", "params": of_tool(name, arguments)})
    done = desk.run("mcp", "--quiet", input="".join(json.dumps(a) + "\n" for a in asked).encode())
    answers = [json.loads(line) for line in is_quiet(done.stdout, "mcp").splitlines()]
    assert [a["id"] for a in answers] == [1, *range(2, len(asked))], answers
    for answer in answers:
        assert not has_key(answer), answer
        for content in answer["result"].get("content", ()):
            is_quiet(content["text"].encode(), "content")


class Page(html.parser.HTMLParser):
    """Elements and attributes of a page."""

    def __init__(self):
        super().__init__()
        self.scripts, self.tags, self.in_script, self.attributes = "", [], False, []

    def handle_starttag(self, tag, attrs):
        self.tags.append(tag)
        self.attributes += [name for name, _ in attrs]
        self.in_script = tag == "script"

    def handle_endtag(self, tag):
        self.in_script = False

    def handle_data(self, data):
        self.scripts += data if self.in_script else ""


def plot(desk):
    desk.run("plot", words=["-o", desk.folder / "p.html"])
    desk.run("plot", words=["-o", desk.folder / "p.svg"])
    page = Page()
    page.feed(is_quiet((desk.folder / "p.html").read_bytes(), "html"))
    assert "img" not in page.tags and not [a for a in page.attributes if a in ("onerror", "onload")], page.tags
    assert page.scripts and "<script>PWNED" not in page.scripts, page.scripts[:2000]
    root = xml.etree.ElementTree.fromstring(is_quiet((desk.folder / "p.svg").read_bytes(), "svg"))
    assert not [e for e in root.iter() if e.tag.endswith(("script", "img")) and "PWNED" in (e.text or "")]
    assert not [e for e in root.iter() if {"onerror", "onload"} & set(e.attrib)]


def drcov(desk):
    path = desk.folder / "c.drcov"
    desk.run("query", words=["coverage", "--drcov", path])
    head = re.split(rb"\nBB Table: \d+ bbs\n", path.read_bytes())[0]
    lines = is_quiet(head, "drcov").splitlines()
    n = int(re.search(r"count (\d+)", [line for line in lines if line.startswith("Module Table")][0])[1])
    rows = lines[[line.startswith("Columns") for line in lines].index(True) + 1:]
    assert len(rows) == n and all(re.match(r" *\d+, ", row) for row in rows), lines


def lcov(desk):
    """The folder of the program's source has the name."""
    name = desk.name.replace(b"=", b":").replace(b"\0", b"")
    source, here = desk.folder / "s.c", os.fsencode(desk.folder)
    source.write_text("void _start(void) { for (;;); }\n")
    subprocess.run([b"gcc", b"-g", b"-O0", b"-nostdlib", b"-static", b"-fcf-protection=none", b"-fdebug-prefix-map=" + here + b"=" + name,
                    f"-Wl,-Ttext={CODE:#x}".encode(), b"-o", os.fsencode(desk.program), b"s.c"], cwd=desk.folder, check=True, timeout=LIMIT)
    subprocess.run(["objcopy", "-O", "binary", "-j", ".text", desk.program, desk.folder / "code"], check=True, timeout=LIMIT)
    desk.record((desk.folder / "code").read_bytes(), [[_ucir2.jmp(CODE), _ucir2.step(1)]])       # push %rbp
    path = desk.folder / "c.info"
    desk.run("query", words=["coverage", "--lcov", path])
    lines = is_quiet(path.read_bytes(), "lcov").splitlines()
    for line in lines:
        assert re.match(r"(TN|SF|FN|FNDA|FNF|FNH|DA|LF|LH):|end_of_record$", line), lines
    assert sum(line.startswith("SF:") for line in lines) == 1 and lines.count("end_of_record") == 1, lines


def tfile(desk):
    path = desk.folder / "t.tf"
    desk.run("export", words=["-o", path])
    head, _, _ = path.read_bytes()[8:].partition(b"\n\n")
    for line in is_quiet(head, "tfile").splitlines():
        assert re.match(r"(R [0-9a-f]+|status |tp |tdesc |tsv )", line), line


def exports(desk):
    """What other programs read: a line, a field or an event more than the recording has would be made of a name."""
    for form, out in ("csv", "t.csv"), ("tenet", "t.tenet"), ("execlog", "t.execlog"), ("chrome", "t.json"):
        desk.run("export", words=["--as", form, "-o", desk.folder / out])
    desk.run("export", words=["-o", desk.folder / "t.folded"])
    text = {path.suffix[1:]: is_quiet(path.read_bytes(), path.name) for path in desk.folder.glob("t.*") if path.suffix not in (".ucir", ".tsmarks")}
    assert len({len(row) for row in csv.reader(io.StringIO(text["csv"]))}) == 1, text["csv"]
    assert all(re.fullmatch(r"(#.*|\w+=0x[0-9a-f]+(:[0-9a-f]+)?(,\w+=0x[0-9a-f]+(:[0-9a-f]+)?)*)", line)
               for line in text["tenet"].splitlines() if "PWNED" not in line or not line.startswith("#")), text["tenet"]
    assert not re.search(r"^(?!#).*PWNED", text["tenet"], re.M), text["tenet"]
    for line in text["execlog"].splitlines():
        assert re.match(r"\d+, 0x[0-9a-f]+, ", line), line
    stacks = text["folded"].splitlines()
    assert stacks and sum(int(line.rsplit(" ", 1)[1]) for line in stacks) == 7, stacks      # instructions
    assert len(stacks) <= 2 and max(line.count(";") for line in stacks) <= 1, stacks        # _start, and what it calls
    events = json.loads(text["json"])
    assert not has_key(events) and json.dumps(events).count('"ph"') < 20, events


def diff(desk):
    """With a recording that goes another way."""
    other = desk.folder / "other.ucir"
    shutil.copy(desk.trace, other)
    desk.record(b"\x90" * 16, [[_ucir2.jmp(CODE), *[_ucir2.step(1)] * 4], [_ucir2.jmp(CODE + 9), _ucir2.step(1)]])
    for words in [], ["--json"], ["--all", "--json"]:
        done = desk.run("diff", words=[other, *words], statuses=(1,))
        for line in is_quiet(done.stdout, words).splitlines():
            assert not line.startswith("PWNED") and not (words and has_key(json.loads(line))), line
        is_quiet(done.stderr, words)


def sql(desk):
    """Each table that has names, in the forms for programs; a name is a value, never a key, a line or a column."""
    n_rows = 0
    for table in TABLES:
        statement = f"select * from {table} limit 100"
        lines = is_quiet(desk.run("sql", words=[statement, "--tsv"]).stdout, statement).splitlines()
        assert len({line.count("\t") for line in lines}) <= 1, (statement, lines)
        n_rows += max(len(lines) - 1, 0)
    every = ";\n".join(f"select * from {table} limit 100" for table in TABLES) + ";"
    shown = is_quiet(desk.run("sql", words=["--json"], input=every.encode()).stdout, every).splitlines()
    assert len(shown) >= n_rows and not any(has_key(json.loads(line)) for line in shown), shown
    assert n_rows > 10, n_rows


def help_of(desk):
    """A name in place of a command or a verb."""
    name = desk.name.replace(b"\0", b"")
    for words in [b"help", name], [name], [b"query", name, name], [b"sql", desk.trace, name]:
        done = subprocess.run([TRACESTUB, *words], capture_output=True, cwd=desk.folder, timeout=LIMIT, stdin=subprocess.DEVNULL)
        is_quiet(done.stdout, words)
        assert done.returncode in (1, 2, 3) and is_quiet(done.stderr, words), (words, done)


DOORS = (tables, comma_separated, json_lines, info, gdb, lldb, lldb_dap, gdb_dap, mcp, plot, drcov, lcov, tfile, exports, diff, sql, help_of)


def goes_through(language, door):
    desk = Desk(HOSTILE[language])
    door(desk)
    desk.ends()


# lldb takes a second to start: names whose delimiters are those of lldb, its Python, packets and terminals
IN_LLDB = "shell", "lldb", "python", "packets", "terminal", "overlong"
for _door in DOORS:
    for _language in HOSTILE if _door not in (lldb, lldb_dap, gdb_dap) else IN_LLDB:
        add_case(f"{_language} through {_door.__name__}", goes_through, _language, _door)
os.environ.pop("TRACESTUB_GDB", None)
run_cases()
