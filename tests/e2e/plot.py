#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""tracestub plot: the data in the page beside what questions and nm(1) say, and both files opened in headless Chromium."""
import bisect
import csv
import html
import io
import json
import os
import pathlib
import random
import re
import shutil
import struct
import subprocess
import xml.etree.ElementTree

from _browser import document, pixels, screenshot
from _tap import DATA, TRACESTUB, case, run_cases, skip

TRACE, PROGRAM = DATA / "usercorn/x64_walk.ucir", DATA / "usercorn/x64_walk.elf"
LIMIT = 300
LEFT, RIGHT = 180, 16   # pixels beside the time axis (plot.js)
EVENTS = """<script>
Object.defineProperty(navigator, "clipboard", { value: { writeText: t => { document.body.dataset.clip = t; return Promise.resolve(); } } });
const at = document.getElementById("plot").getBoundingClientRect();
const send = (kind, init, target) => target.dispatchEvent(new kind[0](kind[1], { bubbles: true, cancelable: true,
	clientX: at.left + 180 + (at.width - 196) * FRACTION, clientY: at.top + 30, ...init }));
const plot = document.getElementById("plot");
for (let i = 0; i < ZOOMS; i++)
	send([WheelEvent, "wheel"], { deltaY: -100 }, plot);
send([MouseEvent, "mousemove"], {}, plot);
send([MouseEvent, "mousedown"], {}, plot);
send([MouseEvent, "mouseup"], {}, plot);
</script>"""


def plot(out, *options, trace=TRACE, program=PROGRAM):
    done = subprocess.run([TRACESTUB, "plot", trace, "-o", out, "--exec", program, *options], capture_output=True, text=True,
                          timeout=LIMIT)
    assert done.returncode == 0, done
    assert f"{os.path.getsize(out)} bytes" in done.stdout, done
    return pathlib.Path(out).read_text(encoding="utf-8")


def data_of(page):
    return json.loads(re.search(r'<script type="application/json" id="data">(.*?)</script>', page, re.S)[1])


def pc_history():
    done = subprocess.run([TRACESTUB, "query", "--quiet", TRACE, "history", "$pc"], capture_output=True, text=True, check=True,
                          timeout=LIMIT)
    return [int(row["pc"], 16) for row in csv.DictReader(io.StringIO(done.stdout), delimiter="\t")]


def functions_of_nm():
    """(address, end, name), of functions whose size is known."""
    done = subprocess.run(["nm", "-S", PROGRAM], capture_output=True, text=True, check=True, timeout=LIMIT)
    found = (line.split() for line in done.stdout.splitlines())
    return sorted((int(w[0], 16), int(w[0], 16) + int(w[1], 16), w[3]) for w in found if len(w) == 4 and w[2] in "tT")


def column_functions(data):
    names = []
    for label, n in zip(data["functions"][::2], data["functions"][1::2]):
        names += [data["names"][label] if label >= 0 else None] * n
    return names


def cells(row):
    """The levels of a row's columns, as html.c describes them (put_row)."""
    levels = []
    for letter, digits in re.findall(r"([A-Z.])([0-9a-z]*)", row):
        levels += ["" if letter == "." else letter] * (int(digits, 36) if digits else 1)
    return levels


def text_of(dom, name):
    return html.unescape(re.search(rf'<(\w+) id="{name}"[^>]*>(.*?)</\1>', dom, re.S)[2])


def is_green(p):
    return p[1] > p[0] + 30 and p[1] > p[2] + 15


def is_red(p):
    """Of a cell that was written: bars of names are paler."""
    return p[0] > p[1] + 88 and p[0] > p[2] + 88


def is_blue(p):
    """Of a cell that was read."""
    return p[2] > p[0] + 88 and p[2] > p[1] + 30


# --------------------------------------------------------------------------------------------------- data


@case
def each_position_has_its_pc_and_function():
    data = data_of(plot("all.html"))
    pcs, known = pc_history(), functions_of_nm()
    assert data["code"]["width"] == 1 and (data["from"], data["to"]) == (0, len(pcs))
    assert [int(pc, 16) for pc in data["pcs"].split(" ")] == pcs
    starts, n = [f[0] for f in known], 0
    for pc, name in zip(pcs, column_functions(data)):
        at = bisect.bisect_right(starts, pc) - 1
        same = {f[2] for f in known if f[0] <= pc < f[1]} if at >= 0 else set()
        n += bool(same)
        assert not same or name in same, (hex(pc), name, same)
    assert n > len(pcs) / 2


@case
def each_position_executes_one_row():
    data = data_of(plot("all.html"))
    filled = [0] * data["code"]["cols"]
    for row in data["code"]["rows"]:
        for col, level in enumerate(cells(row)):
            filled[col] += bool(level)
    assert filled == [1] * data["to"]


@case
def a_range_is_that_of_questions():
    data = data_of(plot("part.html", "--in", "1000:1,200"))
    assert (data["from"], data["to"]) == (1000, 1200)
    assert [int(pc, 16) for pc in data["pcs"].split(" ")] == pc_history()[1000:1200]
    data = data_of(plot("part.html", "--in", "50%:end"))
    assert (data["from"], data["to"]) == (3740, 7480)


@case
def system_calls_are_marks():
    done = subprocess.run([TRACESTUB, "query", "--quiet", TRACE, "events", "syscall"], capture_output=True, text=True, check=True,
                          timeout=LIMIT)
    want = [(int(row["position"]), row["name"]) for row in csv.DictReader(io.StringIO(done.stdout), delimiter="\t")]
    data = data_of(plot("all.html"))
    marks = next(m["items"] for m in data["marks"] if m["kind"] == "system calls")
    assert [(marks[i], data["names"][marks[i + 2]]) for i in range(0, len(marks), 3)] == want


@case
def what_cannot_be_drawn_is_refused():
    for words in (["-o", "x.png"], [], ["-o", "x.svg", "--in", "5"], ["-o", "x.svg", "--in", "5:5"],
                  ["-o", "x.svg", "--in", "0:10 first 3"], ["-o", "x.svg", "--json"]):
        done = subprocess.run([TRACESTUB, "plot", TRACE, *words], capture_output=True, text=True, timeout=LIMIT)
        assert done.returncode == 2 and done.stderr and not done.stdout, (words, done)
    assert not os.path.exists("x.svg")


@case
def the_files_load_nothing():
    page, svg = plot("all.html"), plot("all.svg")
    assert "default-src 'none'" in page
    for text in page, svg.replace('xmlns="http://www.w3.org/2000/svg"', ""):
        assert not re.search(r"https?:|src=|href=|@import|url\((?!#range)", text)


# ------------------------------------------------------------------------------------------------ the browser


@case
def every_column_of_both_pictures_is_drawn():
    """Every position executes something: the green band has no gaps.  The walk reads and writes memory."""
    plot("all.html")
    plot("all.svg")
    for name, right in (("all.html", 1216 - 8 - RIGHT), ("all.svg", 1180)):
        lines = pixels(name, name + ".png")
        left = LEFT + (8 if name == "all.html" else 0)
        gaps = [x for x in range(left + 2, right - 2) if not any(is_green(line[x]) for line in lines)]
        assert not gaps, (name, gaps[:10])
        for colour in is_red, is_blue:
            assert sum(colour(p) for line in lines for p in line[left:right]) > 1000, (name, colour)


@case
def a_fragment_shows_a_position():
    plot("all.html")
    dom = document("all.html", "#7440:7448@7443")
    assert text_of(dom, "view") == "positions 7,440 to 7,448", dom
    lines = text_of(dom, "readout").split("\n")
    pc = pc_history()[7443]
    assert lines[0].startswith(f"position 7,443, pc {pc:#x}, thread"), lines
    name = next(f[2] for f in functions_of_nm() if f[0] <= pc < f[1])
    assert lines[1].startswith(f"function {name}; calls ") and name in lines[1].split("calls ")[1], lines


def page_after_events(fraction, zooms):
    page = plot("all.html")
    script = EVENTS.replace("FRACTION", str(fraction)).replace("ZOOMS", str(zooms))
    pathlib.Path("events.html").write_text(page.replace("</body>", script + "</body>"), encoding="utf-8")
    return document("events.html")


@case
def a_click_copies_goto():
    dom = page_after_events(0.25, 0)
    assert 'data-clip="goto 1870"' in dom, dom[-300:]
    assert text_of(dom, "copied") == "copied: goto 1870"
    assert text_of(dom, "readout").startswith("position 1,870, ")


@case
def the_wheel_zooms_to_single_positions():
    """The position under the pointer stays there: a quarter of 7480."""
    dom = page_after_events(0.25, 40)
    first, last = (int(n.replace(",", "")) for n in re.findall(r"[\d,]+", text_of(dom, "view")))
    assert last - first in (8, 9) and first <= 1870 < last, (first, last)
    assert 'data-clip="goto 1870"' in dom or 'data-clip="goto 1869"' in dom, dom[-300:]


@case
def zooming_changes_the_picture():
    plot("all.html")
    assert screenshot("all.html", "whole.png") == screenshot("all.html", "again.png")
    assert screenshot("all.html", "whole.png") != screenshot("all.html", "part.png", "#100:140")


@case
def hostile_names_are_text():
    """Of a symbol, and of the trace's file."""
    hostile = '</script><script>document.title="pwned"</script><img src=x onerror=alert(1)>&"'
    objcopy = shutil.which("objcopy") or skip("no objcopy")
    subprocess.run([objcopy, "--redefine-sym", f"fib={hostile}", PROGRAM, "hostile.elf"], check=True, timeout=LIMIT)
    trace = '<script>document.title="pwned"<&script>.ucir'
    shutil.copyfile(TRACE, trace)
    page = plot("hostile.html", trace=trace, program="hostile.elf")
    assert hostile in data_of(page)["names"]
    assert page.count("<script") == 2 and "<img" not in page
    svg = xml.etree.ElementTree.fromstring(plot("hostile.svg", trace=trace, program="hostile.elf"))
    tags = {element.tag.split("}")[1] for element in svg.iter()}
    assert tags == {"svg", "title", "style", "clipPath", "rect", "g", "path", "text"}, tags
    assert any((element.text or "").startswith(hostile) for element in svg.iter())
    dom = document("hostile.html")
    assert html.unescape(re.search("<title>(.*?)</title>", dom)[1]) == trace
    assert text_of(dom, "title") == trace


# --------------------------------------------------------------------------------------------------- size


def make_long(path, n_frames):
    """Version 0 of a Usercorn trace: each 8,000 steps a frame of 400 jumps anywhere in 16 MiB, each with a write and 20 steps."""
    rnd = random.Random(1)

    def loop():
        jump = b"\x03" + struct.pack("<QI", 0x400000 + rnd.randrange(1 << 24), 1)
        return jump + b"\x08" + struct.pack("<QIQ", rnd.randrange(1 << 24) + 0x7000000, 8, rnd.randrange(1 << 64)) + b"\x04\x03" * 20

    frames = [b"\x01" + struct.pack("<QI", 1, 400 * 22) + b"".join(loop() for _ in range(400)) for _ in range(100)]
    with open(path, "wb") as f:
        f.write(b"UCIR" + bytes(4) + b"x86_64".ljust(32, b"\0") + b"linux".ljust(34, b"\0"))
        for _ in range(n_frames):
            f.write(rnd.choice(frames))


@case
def ten_million_steps_are_less_than_two_megabytes():
    make_long("long.ucir", 1250)
    try:
        for name in "long.html", "long.svg":
            plot(name, "--index", "none", trace="long.ucir")
            size = os.path.getsize(name)
            print(f"# {name}: {size} bytes")
            assert 50000 < size < 2000000, (name, size)
        data = data_of(pathlib.Path("long.html").read_text(encoding="utf-8"))
        assert data["to"] == 10000000
        dark = [x for line in pixels("long.svg", "long.svg.png")[30:46] for x in range(1130, 1216) if sum(line[x]) < 500]
        assert dark and abs(max(dark) + min(dark) - 2 * 1180) <= 3, "the last position is not centred below its tick"
        assert "positions 5,000,000 to 5,000,008" == text_of(document("long.html", "#5000000:5000008@5000003"), "view")
    finally:
        os.remove("long.ucir")


run_cases()
