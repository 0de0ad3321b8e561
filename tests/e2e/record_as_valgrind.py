#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The cases of e2e/record with Valgrind instead of QEMU."""
import os
import pathlib

from _record import use_engine
from _tap import TRACESTUB, skip_all

if os.uname().machine != "x86_64" or not (pathlib.Path(TRACESTUB).parent / "tracestub-record-vg-amd64").exists():
    skip_all("tracestub was built without Valgrind")
use_engine("valgrind")

import record     # noqa: E402, F401
