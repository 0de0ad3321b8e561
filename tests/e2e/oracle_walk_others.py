#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""gdb-multiarch and the oracle: ARM, AArch64, MIPS."""
from _oracle import walk_all

walk_all("arm_walk", "arm64_walk", "mips_walk")
