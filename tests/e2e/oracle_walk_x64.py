#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""gdb and the oracle, x86-64."""
from _oracle import walk_all

walk_all("x64_walk", "x64_fpu", "x64_crash")
