# SPDX-License-Identifier: MIT
"""What gdb says, in the words of all versions that are tried: patterns for re.search()."""

# The end of the recording, or its beginning: gdb before 16; and since. Later lines of it differ by direction.
END_OF_HISTORY = "No more reverse-execution history|Reached end of recorded history; stopping"

# "info breakpoints" without any: before gdb 17, and since.
NO_BREAKPOINTS = "No breakpoints or watchpoints|No breakpoints, watchpoints, tracepoints, or catchpoints"
