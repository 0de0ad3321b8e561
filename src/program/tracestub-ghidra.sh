#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
#
# A launcher for Ghidra's debugger (TraceRmi, Ghidra 11.4 and later): opens a recording, as Ghidra's own script for rr
# does. Copy it into a folder that Ghidra searches for launchers. It was not run with Ghidra.
#
#@title tracestub
#@desc <html><body width="300px">
#@desc   <h3>Open a recording with <tt>tracestub</tt></h3>
#@desc   <p>
#@desc     This opens a recorded execution trace in <tt>gdb</tt>: steps and continues go both ways.
#@desc   </p>
#@desc </body></html>
#@menu-group gdb
#@icon icon.debugger
#@depends Debugger-rmi-trace
#@arg :file "Recording" "The recording, of any format that tracestub reads"
#@env OPT_TARGET_IMG:file="" "Image" "The recorded program; empty: the one found beside the recording"
#@env OPT_TRACESTUB_PATH:file="tracestub" "tracestub command" "The path to tracestub. Omit the full path to resolve it using the system PATH."

# Where Ghidra's Python packages are: in an installation, or in a build.
for module in Debugger-rmi-trace Debugger-agent-gdb; do
	for folder in "$GHIDRA_HOME/Ghidra/Debug/$module/pypkg/src" "$GHIDRA_HOME/Ghidra/Debug/$module/build/pypkg/src" \
		"$GHIDRA_HOME/ghidra/Ghidra/Debug/$module/build/pypkg/src"; do
		[ -d "$folder" ] && PYTHONPATH=$folder${PYTHONPATH:+:$PYTHONPATH} && break
	done
done
export PYTHONPATH

program=()
[ -n "$OPT_TARGET_IMG" ] && program=("$OPT_TARGET_IMG")

# Ghidra's hooks (ghidragdb/hooks.py, install_hooks) catch system calls that change the memory map. When a button runs
# "reverse-continue", the commands of that catchpoint go on forwards, so it would never pass such a call. The map is
# read at each stop instead.
catchpoint='for b in gdb.breakpoints(): b.enabled = b.enabled and "hooks-ghidra" not in (b.commands or "")'
at_each_stop='gdb.execute("define hook-stop\nhooks-ghidra event-memory\nend")'

"${OPT_TRACESTUB_PATH:-tracestub}" gdb "$1" "${program[@]}" -- \
	-ex 'set pagination off' \
	-ex 'set confirm off' \
	-ex 'set $use_trace="true"' \
	-ex 'python import ghidragdb' \
	-ex "ghidra trace connect '$GHIDRA_TRACE_RMI_ADDR'" \
	-ex 'ghidra trace start' \
	-ex 'ghidra trace sync-enable' \
	-ex "python $catchpoint" \
	-ex "python $at_each_stop" \
	-ex 'ghidra trace sync-synth-stopped' \
	-ex 'set confirm on' \
	-ex 'set pagination on'
