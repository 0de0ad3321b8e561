# SPDX-License-Identifier: MIT
"""Headless Chromium: a page's document after its scripts ran, and its pixels."""
import os
import pathlib
import shutil
import struct
import subprocess
import tempfile
import zlib

from _tap import skip

LIMIT = 300
OPTIONS = ("--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--hide-scrollbars",
           "--disable-background-networking", "--disable-component-update", "--disable-sync", "--force-device-scale-factor=1",
           "--disable-dev-shm-usage")


def run(path, fragment, *options):
    chromium = shutil.which("chromium") or skip("no chromium")
    url = pathlib.Path(path).resolve().as_uri() + fragment
    with tempfile.TemporaryDirectory(dir=".") as profile:
        folder = pathlib.Path(profile).resolve()
        done = subprocess.run([chromium, *OPTIONS, f"--user-data-dir={folder}", *options, url], capture_output=True, text=True,
                              timeout=LIMIT, env={"HOME": str(folder), "PATH": "/usr/bin:/bin"})
    assert done.returncode == 0, done
    return done.stdout


def document(path, fragment=""):
    """The document as HTML."""
    return run(path, fragment, "--dump-dom")


def unfilter(kind, line, before, width):
    """One line of a PNG (PNG specification, 9.2)."""
    line = bytearray(line)
    for i in range(len(line)):
        left = line[i - width] if i >= width else 0
        up = before[i]
        corner = before[i - width] if i >= width else 0
        if kind == 1:
            line[i] = line[i] + left & 255
        elif kind == 2:
            line[i] = line[i] + up & 255
        elif kind == 3:
            line[i] = line[i] + (left + up) // 2 & 255
        elif kind == 4:
            guess = left + up - corner
            line[i] = line[i] + min((left, up, corner), key=lambda x: abs(guess - x)) & 255
    return line


def read_png(data):
    """The lines of a PNG of 8 bits a channel, each a list of (red, green, blue)."""
    at, packed = 8, b""
    while at < len(data):
        length, kind = struct.unpack(">I4s", data[at:at + 8])
        chunk = data[at + 8:at + 8 + length]
        if kind == b"IHDR":
            width, height, bits, colours, _, _, interlace = struct.unpack(">IIBBBBB", chunk)
            assert bits == 8 and colours in (2, 6) and not interlace
        elif kind == b"IDAT":
            packed += chunk
        at += length + 12
    n = 3 if colours == 2 else 4
    raw, before, lines = zlib.decompress(packed), bytes(width * n), []
    for y in range(height):
        start = y * (width * n + 1)
        before = unfilter(raw[start], raw[start + 1:start + 1 + width * n], before, n)
        lines.append([tuple(before[x:x + 3]) for x in range(0, width * n, n)])
    return lines


def screenshot(path, name, fragment="", size=(1216, 1300)):
    """The bytes of a PNG, which stays in the test's folder as @name."""
    run(path, fragment, f"--window-size={size[0]},{size[1]}", f"--screenshot={pathlib.Path(name).resolve()}")
    if "TEST_OUT" in os.environ:
        shutil.copy(name, os.environ["TEST_OUT"])       # to be looked at, also when the test passes
    return pathlib.Path(name).read_bytes()


def pixels(*args, **options):
    """The same as lines of pixels."""
    return read_png(screenshot(*args, **options))
