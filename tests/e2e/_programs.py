# SPDX-License-Identifier: MIT
"""The recordings in tests/data/programs: one ordinary C program (story.c), dynamic position-independent ("pie") and
static ("static"), each recorded in four formats from the first instruction of main, with an oracle of its registers.
"""
import gzip
import json
import pathlib
import shutil

from _tap import DATA, skip

FOLDER = DATA / "programs"
FORMATS = "ucir", "frames", "bin", "trace64"


class Program:
    def __init__(self, name, suffix):
        self.name = f"{name}, {suffix}"
        self.exec = str(FOLDER / name / "prog")
        self.truth = FOLDER / name / "oracle.jsonl.gz"
        self.trace = str(pathlib.Path(f"{name}.{suffix}").resolve())
        with gzip.open(FOLDER / name / f"story.{suffix}.gz") as packed, open(self.trace, "wb") as plain:
            shutil.copyfileobj(packed, plain)

    @staticmethod
    def gdb():
        return shutil.which("gdb") or skip("no gdb")

    @staticmethod
    def copy_sources(folder):
        shutil.copyfile(FOLDER / "story.c", folder / "story.c")

    def pcs(self):
        """The pc at each position."""
        with gzip.open(self.truth, "rt") as lines:
            pc, all_pcs = 0, []
            for line in lines:
                pc = int(json.loads(line)["regs"].get("rip", hex(pc)), 16)
                all_pcs.append(pc)
        return all_pcs
