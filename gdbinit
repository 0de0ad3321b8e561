# SPDX-License-Identifier: MIT
#
# gdb commands for a session with tracestub: 'when' and 'goto', and guards.
#
# "tracestub gdb" loads this file; in any other gdb, "source" it. It needs gdb 10
# or later and no Python. Where gdb has Python, a command that is refused is an
# error, which ends a script.

# Once is enough: gdb would ask before it defines a command again.
if $_isvoid($_tracestub)

# A recorded program may be malware. gdb must never start it on this machine:
# without a connection, "run" and "attach" are errors instead of native. (With
# "target extended-remote", "run" goes back to the beginning of the recording.)
set auto-connect-native-target off

# What is the target? $_tracestub: 0 none, 1 another one, 2 tracestub.
define tracestub-look
  set $_tracestub = 0
  if $_thread
    set $_tracestub = 1
    set $_shell_exitcode = 1
    frame apply 1 -q -s pipe monitor help | grep -q '^monitor announce '
    if !$_isvoid($_shell_exitcode)
      if $_shell_exitcode == 0
        set $_tracestub = 2
      end
    end
  end
end
document tracestub-look
Part of 'when' and 'goto': finds out whether the target is tracestub.
end

define tracestub-refuse
  if $_tracestub == 0
    echo Not connected: use "tracestub gdb TRACE" or "target remote" first.\n
  end
  if $_tracestub == 1
    echo The target is not tracestub: it has no positions.\n
  end
  if $_tracestub == 2
    echo goto takes one position: K, P%, begin, end, frame, next-EVENT or previous-EVENT.\n
  end
  if $_tracestub == 3
    echo The target is a recording already: reverse-step, reverse-continue and goto work without "record".\n
    help tracestub-no-record
  end
  if $_tracestub == 4
    echo In this session gdb starts nothing on this machine: the recorded program may be malware.\n
    help tracestub-no-native
  end
end
document tracestub-refuse
Part of 'when' and 'goto': says why nothing was done.
end

# A monitor command on behalf of 'when', 'goto' and 'ts', of at most twelve words.
define tracestub-monitor
  if $argc == 1
    monitor $arg0
  end
  if $argc == 2
    monitor $arg0 $arg1
  end
  if $argc == 3
    monitor $arg0 $arg1 $arg2
  end
  if $argc == 4
    monitor $arg0 $arg1 $arg2 $arg3
  end
  if $argc == 5
    monitor $arg0 $arg1 $arg2 $arg3 $arg4
  end
  if $argc == 6
    monitor $arg0 $arg1 $arg2 $arg3 $arg4 $arg5
  end
  if $argc == 7
    monitor $arg0 $arg1 $arg2 $arg3 $arg4 $arg5 $arg6
  end
  if $argc == 8
    monitor $arg0 $arg1 $arg2 $arg3 $arg4 $arg5 $arg6 $arg7
  end
  if $argc == 9
    monitor $arg0 $arg1 $arg2 $arg3 $arg4 $arg5 $arg6 $arg7 $arg8
  end
  if $argc == 10
    monitor $arg0 $arg1 $arg2 $arg3 $arg4 $arg5 $arg6 $arg7 $arg8 $arg9
  end
  if $argc == 11
    monitor $arg0 $arg1 $arg2 $arg3 $arg4 $arg5 $arg6 $arg7 $arg8 $arg9 $arg10
  end
  if $argc == 12
    monitor $arg0 $arg1 $arg2 $arg3 $arg4 $arg5 $arg6 $arg7 $arg8 $arg9 $arg10 $arg11
  end
end
document tracestub-monitor
Part of 'when' and 'goto': asks the server.
end

# gdb's own recording of a replay would execute instructions here and then get
# stuck. A hook that fails stops its command.
define tracestub-refuse-record
  tracestub-look
  if $_tracestub == 2
    set $_tracestub = 3
    tracestub-refuse
  end
end
document tracestub-refuse-record
Part of the hooks of "record": refuses it for a recording.
end
define hook-record
  tracestub-refuse-record
end
define record hook-full
  tracestub-refuse-record
end
define record hook-btrace
  tracestub-refuse-record
end
define target hook-record-full
  tracestub-refuse-record
end
define target hook-record-btrace
  tracestub-refuse-record
end

# "target native" would make "run" start the program on this machine after all.
define target hook-native
  set $_tracestub = 4
  tracestub-refuse
end

# gdb compares what a watchpoint watches with what it saw last. After a jump
# that is a value of another time, and a change back to it would go unnoticed:
# gdb takes a new look at a watchpoint that is enabled.
define tracestub-refresh
  pipe info watchpoints | grep -q '^[0-9]'
  if $_shell_exitcode == 0
    set $_tracestub_point = 1
    while $_tracestub_point <= $bpnum
      eval "pipe info watchpoints %d | grep -Eq '^[0-9]+ .*watchpoint +[a-z]+ +y '", $_tracestub_point
      if $_shell_exitcode == 0
        disable $_tracestub_point
        enable $_tracestub_point
      end
      set $_tracestub_point = $_tracestub_point + 1
    end
  end
end
document tracestub-refresh
Part of 'goto': makes watchpoints look at their values again.
end

define when
  tracestub-look
  if $_tracestub == 2
    tracestub-monitor when
  else
    tracestub-refuse
  end
end
document when
Where this session stands in the recording: position, thread and pc.
Position K is the state before instruction K of the recording, from 0.
end

# A jump is invisible to gdb. "announce" makes the server answer the next step
# with a stop at the new position: gdb then does all that it does at a stop. A
# position that has not been read yet is waited for by that step, because only
# there gdb passes on ^C.
define goto
  tracestub-look
  if $_tracestub == 2 && $argc == 1
    tracestub-monitor announce goto $arg0
    if !$_isvoid($trace_frame)
      if $trace_frame != -1
        pipe tfind none | grep -q .
      end
    end
    stepi
    tracestub-refresh
    tracestub-monitor when
  else
    if $_tracestub == 2 && ($argc == 2 || $argc == 3)
      if $argc == 2
        tracestub-monitor goto $arg0 $arg1
      else
        tracestub-monitor goto $arg0 $arg1 $arg2
      end
      tracestub-monitor announce
      stepi
      tracestub-refresh
    else
      tracestub-refuse
    end
  end
end
document goto
Go to a position of the recording: goto K|P%|+N|-N|begin|end|frame|MARK|#ROW|next-EVENT|previous-EVENT
  goto next write X, goto previous exec X: the nearest access; also read, access, change
  goto 1234    the state before instruction 1234
  goto 50%     the middle
  goto begin   position 0
  goto end     the state after the last instruction
  goto frame   that of the trace frame which tfind selected
  goto next-syscall, goto previous-syscall; also signal, fault, exit, thread-end, gap, interrupt
Breakpoints on the way do not stop it. 'when' says where you are.
end

# Questions: "ts VERB ..." and the bare verb, where gdb has no command of that
# name.  The server knows registers, addresses and the symbols of the program's
# file; where gdb has Python, it is told what gdb reads as an address and a size.
define tracestub-ask
  if $argc == 1
    tracestub-monitor $arg0
  end
  if $argc == 2
    tracestub-monitor $arg0 $arg1
  end
  if $argc == 3
    tracestub-monitor $arg0 $arg1 $arg2
  end
  if $argc == 4
    tracestub-monitor $arg0 $arg1 $arg2 $arg3
  end
  if $argc == 5
    tracestub-monitor $arg0 $arg1 $arg2 $arg3 $arg4
  end
  if $argc == 6
    tracestub-monitor $arg0 $arg1 $arg2 $arg3 $arg4 $arg5
  end
  if $argc == 7
    tracestub-monitor $arg0 $arg1 $arg2 $arg3 $arg4 $arg5 $arg6
  end
  if $argc == 8
    tracestub-monitor $arg0 $arg1 $arg2 $arg3 $arg4 $arg5 $arg6 $arg7
  end
  if $argc == 9
    tracestub-monitor $arg0 $arg1 $arg2 $arg3 $arg4 $arg5 $arg6 $arg7 $arg8
  end
  if $argc == 10
    tracestub-monitor $arg0 $arg1 $arg2 $arg3 $arg4 $arg5 $arg6 $arg7 $arg8 $arg9
  end
  if $argc == 11
    tracestub-monitor $arg0 $arg1 $arg2 $arg3 $arg4 $arg5 $arg6 $arg7 $arg8 $arg9 $arg10
  end
  if $argc == 12
    tracestub-monitor $arg0 $arg1 $arg2 $arg3 $arg4 $arg5 $arg6 $arg7 $arg8 $arg9 $arg10 $arg11
  end
end
document tracestub-ask
Part of 'ts': asks the server.
end

define ts
  tracestub-look
  if $_tracestub == 2
    if $argc == 0
      tracestub-monitor help
    end
    if $argc == 1
      tracestub-ask $arg0
    end
    if $argc == 2
      tracestub-ask $arg0 $arg1
    end
    if $argc == 3
      tracestub-ask $arg0 $arg1 $arg2
    end
    if $argc == 4
      tracestub-ask $arg0 $arg1 $arg2 $arg3
    end
    if $argc == 5
      tracestub-ask $arg0 $arg1 $arg2 $arg3 $arg4
    end
    if $argc == 6
      tracestub-ask $arg0 $arg1 $arg2 $arg3 $arg4 $arg5
    end
    if $argc == 7
      tracestub-ask $arg0 $arg1 $arg2 $arg3 $arg4 $arg5 $arg6
    end
    if $argc == 8
      tracestub-ask $arg0 $arg1 $arg2 $arg3 $arg4 $arg5 $arg6 $arg7
    end
    if $argc == 9
      tracestub-ask $arg0 $arg1 $arg2 $arg3 $arg4 $arg5 $arg6 $arg7 $arg8
    end
    if $argc == 10
      tracestub-ask $arg0 $arg1 $arg2 $arg3 $arg4 $arg5 $arg6 $arg7 $arg8 $arg9
    end
    if $argc == 11
      tracestub-ask $arg0 $arg1 $arg2 $arg3 $arg4 $arg5 $arg6 $arg7 $arg8 $arg9 $arg10
    end
    if $argc == 12
      tracestub-ask $arg0 $arg1 $arg2 $arg3 $arg4 $arg5 $arg6 $arg7 $arg8 $arg9 $arg10 $arg11
    end
  else
    tracestub-refuse
  end
end
document ts
Ask the recording: ts VERB [WHAT] [in A:B] [if COND] [thread T] [first N | last N] [at PLACE]
  ts last-write $rax           who wrote it last, before this position
  ts history counter           all values it had, and who wrote them
  ts accesses 0x404010,8 rw    who read and wrote eight bytes
  ts executions main first 5   when an instruction was executed
  ts find "text"               where and when bytes stand in memory
"ts" alone lists the verbs. Most verbs are commands of their own as well: history, accesses, executions, events, ...
end

define history
  if $argc == 0
    ts history
  end
  if $argc == 1
    ts history $arg0
  end
  if $argc == 2
    ts history $arg0 $arg1
  end
  if $argc == 3
    ts history $arg0 $arg1 $arg2
  end
  if $argc == 4
    ts history $arg0 $arg1 $arg2 $arg3
  end
  if $argc == 5
    ts history $arg0 $arg1 $arg2 $arg3 $arg4
  end
  if $argc == 6
    ts history $arg0 $arg1 $arg2 $arg3 $arg4 $arg5
  end
  if $argc == 7
    ts history $arg0 $arg1 $arg2 $arg3 $arg4 $arg5 $arg6
  end
  if $argc == 8
    ts history $arg0 $arg1 $arg2 $arg3 $arg4 $arg5 $arg6 $arg7
  end
  if $argc == 9
    ts history $arg0 $arg1 $arg2 $arg3 $arg4 $arg5 $arg6 $arg7 $arg8
  end
  if $argc == 10
    ts history $arg0 $arg1 $arg2 $arg3 $arg4 $arg5 $arg6 $arg7 $arg8 $arg9
  end
  if $argc == 11
    ts history $arg0 $arg1 $arg2 $arg3 $arg4 $arg5 $arg6 $arg7 $arg8 $arg9 $arg10
  end
end
document history
Ask the recording: the same as "ts history", see "help ts".
end
define accesses
  if $argc == 0
    ts accesses
  end
  if $argc == 1
    ts accesses $arg0
  end
  if $argc == 2
    ts accesses $arg0 $arg1
  end
  if $argc == 3
    ts accesses $arg0 $arg1 $arg2
  end
  if $argc == 4
    ts accesses $arg0 $arg1 $arg2 $arg3
  end
  if $argc == 5
    ts accesses $arg0 $arg1 $arg2 $arg3 $arg4
  end
  if $argc == 6
    ts accesses $arg0 $arg1 $arg2 $arg3 $arg4 $arg5
  end
  if $argc == 7
    ts accesses $arg0 $arg1 $arg2 $arg3 $arg4 $arg5 $arg6
  end
  if $argc == 8
    ts accesses $arg0 $arg1 $arg2 $arg3 $arg4 $arg5 $arg6 $arg7
  end
  if $argc == 9
    ts accesses $arg0 $arg1 $arg2 $arg3 $arg4 $arg5 $arg6 $arg7 $arg8
  end
  if $argc == 10
    ts accesses $arg0 $arg1 $arg2 $arg3 $arg4 $arg5 $arg6 $arg7 $arg8 $arg9
  end
  if $argc == 11
    ts accesses $arg0 $arg1 $arg2 $arg3 $arg4 $arg5 $arg6 $arg7 $arg8 $arg9 $arg10
  end
end
document accesses
Ask the recording: the same as "ts accesses", see "help ts".
end
define executions
  if $argc == 0
    ts executions
  end
  if $argc == 1
    ts executions $arg0
  end
  if $argc == 2
    ts executions $arg0 $arg1
  end
  if $argc == 3
    ts executions $arg0 $arg1 $arg2
  end
  if $argc == 4
    ts executions $arg0 $arg1 $arg2 $arg3
  end
  if $argc == 5
    ts executions $arg0 $arg1 $arg2 $arg3 $arg4
  end
  if $argc == 6
    ts executions $arg0 $arg1 $arg2 $arg3 $arg4 $arg5
  end
  if $argc == 7
    ts executions $arg0 $arg1 $arg2 $arg3 $arg4 $arg5 $arg6
  end
  if $argc == 8
    ts executions $arg0 $arg1 $arg2 $arg3 $arg4 $arg5 $arg6 $arg7
  end
  if $argc == 9
    ts executions $arg0 $arg1 $arg2 $arg3 $arg4 $arg5 $arg6 $arg7 $arg8
  end
  if $argc == 10
    ts executions $arg0 $arg1 $arg2 $arg3 $arg4 $arg5 $arg6 $arg7 $arg8 $arg9
  end
  if $argc == 11
    ts executions $arg0 $arg1 $arg2 $arg3 $arg4 $arg5 $arg6 $arg7 $arg8 $arg9 $arg10
  end
end
document executions
Ask the recording: the same as "ts executions", see "help ts".
end
define calls
  if $argc == 0
    ts calls
  end
  if $argc == 1
    ts calls $arg0
  end
  if $argc == 2
    ts calls $arg0 $arg1
  end
  if $argc == 3
    ts calls $arg0 $arg1 $arg2
  end
  if $argc == 4
    ts calls $arg0 $arg1 $arg2 $arg3
  end
  if $argc == 5
    ts calls $arg0 $arg1 $arg2 $arg3 $arg4
  end
  if $argc == 6
    ts calls $arg0 $arg1 $arg2 $arg3 $arg4 $arg5
  end
  if $argc == 7
    ts calls $arg0 $arg1 $arg2 $arg3 $arg4 $arg5 $arg6
  end
  if $argc == 8
    ts calls $arg0 $arg1 $arg2 $arg3 $arg4 $arg5 $arg6 $arg7
  end
  if $argc == 9
    ts calls $arg0 $arg1 $arg2 $arg3 $arg4 $arg5 $arg6 $arg7 $arg8
  end
  if $argc == 10
    ts calls $arg0 $arg1 $arg2 $arg3 $arg4 $arg5 $arg6 $arg7 $arg8 $arg9
  end
  if $argc == 11
    ts calls $arg0 $arg1 $arg2 $arg3 $arg4 $arg5 $arg6 $arg7 $arg8 $arg9 $arg10
  end
end
document calls
Ask the recording: the same as "ts calls", see "help ts".
end
define stack
  if $argc == 0
    ts stack
  end
  if $argc == 1
    ts stack $arg0
  end
  if $argc == 2
    ts stack $arg0 $arg1
  end
  if $argc == 3
    ts stack $arg0 $arg1 $arg2
  end
  if $argc == 4
    ts stack $arg0 $arg1 $arg2 $arg3
  end
  if $argc == 5
    ts stack $arg0 $arg1 $arg2 $arg3 $arg4
  end
  if $argc == 6
    ts stack $arg0 $arg1 $arg2 $arg3 $arg4 $arg5
  end
  if $argc == 7
    ts stack $arg0 $arg1 $arg2 $arg3 $arg4 $arg5 $arg6
  end
  if $argc == 8
    ts stack $arg0 $arg1 $arg2 $arg3 $arg4 $arg5 $arg6 $arg7
  end
  if $argc == 9
    ts stack $arg0 $arg1 $arg2 $arg3 $arg4 $arg5 $arg6 $arg7 $arg8
  end
  if $argc == 10
    ts stack $arg0 $arg1 $arg2 $arg3 $arg4 $arg5 $arg6 $arg7 $arg8 $arg9
  end
  if $argc == 11
    ts stack $arg0 $arg1 $arg2 $arg3 $arg4 $arg5 $arg6 $arg7 $arg8 $arg9 $arg10
  end
end
document stack
Ask the recording: the same as "ts stack", see "help ts".
end
define events
  if $argc == 0
    ts events
  end
  if $argc == 1
    ts events $arg0
  end
  if $argc == 2
    ts events $arg0 $arg1
  end
  if $argc == 3
    ts events $arg0 $arg1 $arg2
  end
  if $argc == 4
    ts events $arg0 $arg1 $arg2 $arg3
  end
  if $argc == 5
    ts events $arg0 $arg1 $arg2 $arg3 $arg4
  end
  if $argc == 6
    ts events $arg0 $arg1 $arg2 $arg3 $arg4 $arg5
  end
  if $argc == 7
    ts events $arg0 $arg1 $arg2 $arg3 $arg4 $arg5 $arg6
  end
  if $argc == 8
    ts events $arg0 $arg1 $arg2 $arg3 $arg4 $arg5 $arg6 $arg7
  end
  if $argc == 9
    ts events $arg0 $arg1 $arg2 $arg3 $arg4 $arg5 $arg6 $arg7 $arg8
  end
  if $argc == 10
    ts events $arg0 $arg1 $arg2 $arg3 $arg4 $arg5 $arg6 $arg7 $arg8 $arg9
  end
  if $argc == 11
    ts events $arg0 $arg1 $arg2 $arg3 $arg4 $arg5 $arg6 $arg7 $arg8 $arg9 $arg10
  end
end
document events
Ask the recording: the same as "ts events", see "help ts".
end
define threads
  if $argc == 0
    ts threads
  end
  if $argc == 1
    ts threads $arg0
  end
  if $argc == 2
    ts threads $arg0 $arg1
  end
  if $argc == 3
    ts threads $arg0 $arg1 $arg2
  end
  if $argc == 4
    ts threads $arg0 $arg1 $arg2 $arg3
  end
  if $argc == 5
    ts threads $arg0 $arg1 $arg2 $arg3 $arg4
  end
  if $argc == 6
    ts threads $arg0 $arg1 $arg2 $arg3 $arg4 $arg5
  end
  if $argc == 7
    ts threads $arg0 $arg1 $arg2 $arg3 $arg4 $arg5 $arg6
  end
  if $argc == 8
    ts threads $arg0 $arg1 $arg2 $arg3 $arg4 $arg5 $arg6 $arg7
  end
  if $argc == 9
    ts threads $arg0 $arg1 $arg2 $arg3 $arg4 $arg5 $arg6 $arg7 $arg8
  end
  if $argc == 10
    ts threads $arg0 $arg1 $arg2 $arg3 $arg4 $arg5 $arg6 $arg7 $arg8 $arg9
  end
  if $argc == 11
    ts threads $arg0 $arg1 $arg2 $arg3 $arg4 $arg5 $arg6 $arg7 $arg8 $arg9 $arg10
  end
end
document threads
Ask the recording: the same as "ts threads", see "help ts".
end
define processes
  if $argc == 0
    ts processes
  end
  if $argc == 1
    ts processes $arg0
  end
  if $argc == 2
    ts processes $arg0 $arg1
  end
  if $argc == 3
    ts processes $arg0 $arg1 $arg2
  end
  if $argc == 4
    ts processes $arg0 $arg1 $arg2 $arg3
  end
  if $argc == 5
    ts processes $arg0 $arg1 $arg2 $arg3 $arg4
  end
  if $argc == 6
    ts processes $arg0 $arg1 $arg2 $arg3 $arg4 $arg5
  end
  if $argc == 7
    ts processes $arg0 $arg1 $arg2 $arg3 $arg4 $arg5 $arg6
  end
  if $argc == 8
    ts processes $arg0 $arg1 $arg2 $arg3 $arg4 $arg5 $arg6 $arg7
  end
  if $argc == 9
    ts processes $arg0 $arg1 $arg2 $arg3 $arg4 $arg5 $arg6 $arg7 $arg8
  end
  if $argc == 10
    ts processes $arg0 $arg1 $arg2 $arg3 $arg4 $arg5 $arg6 $arg7 $arg8 $arg9
  end
  if $argc == 11
    ts processes $arg0 $arg1 $arg2 $arg3 $arg4 $arg5 $arg6 $arg7 $arg8 $arg9 $arg10
  end
end
document processes
Ask the recording: the same as "ts processes", see "help ts".
end
define modules
  if $argc == 0
    ts modules
  end
  if $argc == 1
    ts modules $arg0
  end
  if $argc == 2
    ts modules $arg0 $arg1
  end
  if $argc == 3
    ts modules $arg0 $arg1 $arg2
  end
  if $argc == 4
    ts modules $arg0 $arg1 $arg2 $arg3
  end
  if $argc == 5
    ts modules $arg0 $arg1 $arg2 $arg3 $arg4
  end
  if $argc == 6
    ts modules $arg0 $arg1 $arg2 $arg3 $arg4 $arg5
  end
  if $argc == 7
    ts modules $arg0 $arg1 $arg2 $arg3 $arg4 $arg5 $arg6
  end
  if $argc == 8
    ts modules $arg0 $arg1 $arg2 $arg3 $arg4 $arg5 $arg6 $arg7
  end
  if $argc == 9
    ts modules $arg0 $arg1 $arg2 $arg3 $arg4 $arg5 $arg6 $arg7 $arg8
  end
  if $argc == 10
    ts modules $arg0 $arg1 $arg2 $arg3 $arg4 $arg5 $arg6 $arg7 $arg8 $arg9
  end
  if $argc == 11
    ts modules $arg0 $arg1 $arg2 $arg3 $arg4 $arg5 $arg6 $arg7 $arg8 $arg9 $arg10
  end
end
document modules
Ask the recording: the same as "ts modules", see "help ts".
end
define maps
  if $argc == 0
    ts maps
  end
  if $argc == 1
    ts maps $arg0
  end
  if $argc == 2
    ts maps $arg0 $arg1
  end
  if $argc == 3
    ts maps $arg0 $arg1 $arg2
  end
  if $argc == 4
    ts maps $arg0 $arg1 $arg2 $arg3
  end
  if $argc == 5
    ts maps $arg0 $arg1 $arg2 $arg3 $arg4
  end
  if $argc == 6
    ts maps $arg0 $arg1 $arg2 $arg3 $arg4 $arg5
  end
  if $argc == 7
    ts maps $arg0 $arg1 $arg2 $arg3 $arg4 $arg5 $arg6
  end
  if $argc == 8
    ts maps $arg0 $arg1 $arg2 $arg3 $arg4 $arg5 $arg6 $arg7
  end
  if $argc == 9
    ts maps $arg0 $arg1 $arg2 $arg3 $arg4 $arg5 $arg6 $arg7 $arg8
  end
  if $argc == 10
    ts maps $arg0 $arg1 $arg2 $arg3 $arg4 $arg5 $arg6 $arg7 $arg8 $arg9
  end
  if $argc == 11
    ts maps $arg0 $arg1 $arg2 $arg3 $arg4 $arg5 $arg6 $arg7 $arg8 $arg9 $arg10
  end
end
document maps
Ask the recording: the same as "ts maps", see "help ts".
end
define strings
  if $argc == 0
    ts strings
  end
  if $argc == 1
    ts strings $arg0
  end
  if $argc == 2
    ts strings $arg0 $arg1
  end
  if $argc == 3
    ts strings $arg0 $arg1 $arg2
  end
  if $argc == 4
    ts strings $arg0 $arg1 $arg2 $arg3
  end
  if $argc == 5
    ts strings $arg0 $arg1 $arg2 $arg3 $arg4
  end
  if $argc == 6
    ts strings $arg0 $arg1 $arg2 $arg3 $arg4 $arg5
  end
  if $argc == 7
    ts strings $arg0 $arg1 $arg2 $arg3 $arg4 $arg5 $arg6
  end
  if $argc == 8
    ts strings $arg0 $arg1 $arg2 $arg3 $arg4 $arg5 $arg6 $arg7
  end
  if $argc == 9
    ts strings $arg0 $arg1 $arg2 $arg3 $arg4 $arg5 $arg6 $arg7 $arg8
  end
  if $argc == 10
    ts strings $arg0 $arg1 $arg2 $arg3 $arg4 $arg5 $arg6 $arg7 $arg8 $arg9
  end
  if $argc == 11
    ts strings $arg0 $arg1 $arg2 $arg3 $arg4 $arg5 $arg6 $arg7 $arg8 $arg9 $arg10
  end
end
document strings
Ask the recording: the same as "ts strings", see "help ts".
end
define hot
  if $argc == 0
    ts hot
  end
  if $argc == 1
    ts hot $arg0
  end
  if $argc == 2
    ts hot $arg0 $arg1
  end
  if $argc == 3
    ts hot $arg0 $arg1 $arg2
  end
  if $argc == 4
    ts hot $arg0 $arg1 $arg2 $arg3
  end
  if $argc == 5
    ts hot $arg0 $arg1 $arg2 $arg3 $arg4
  end
  if $argc == 6
    ts hot $arg0 $arg1 $arg2 $arg3 $arg4 $arg5
  end
  if $argc == 7
    ts hot $arg0 $arg1 $arg2 $arg3 $arg4 $arg5 $arg6
  end
  if $argc == 8
    ts hot $arg0 $arg1 $arg2 $arg3 $arg4 $arg5 $arg6 $arg7
  end
  if $argc == 9
    ts hot $arg0 $arg1 $arg2 $arg3 $arg4 $arg5 $arg6 $arg7 $arg8
  end
  if $argc == 10
    ts hot $arg0 $arg1 $arg2 $arg3 $arg4 $arg5 $arg6 $arg7 $arg8 $arg9
  end
  if $argc == 11
    ts hot $arg0 $arg1 $arg2 $arg3 $arg4 $arg5 $arg6 $arg7 $arg8 $arg9 $arg10
  end
end
document hot
Ask the recording: the same as "ts hot", see "help ts".
end
define coverage
  if $argc == 0
    ts coverage
  end
  if $argc == 1
    ts coverage $arg0
  end
  if $argc == 2
    ts coverage $arg0 $arg1
  end
  if $argc == 3
    ts coverage $arg0 $arg1 $arg2
  end
  if $argc == 4
    ts coverage $arg0 $arg1 $arg2 $arg3
  end
  if $argc == 5
    ts coverage $arg0 $arg1 $arg2 $arg3 $arg4
  end
  if $argc == 6
    ts coverage $arg0 $arg1 $arg2 $arg3 $arg4 $arg5
  end
  if $argc == 7
    ts coverage $arg0 $arg1 $arg2 $arg3 $arg4 $arg5 $arg6
  end
  if $argc == 8
    ts coverage $arg0 $arg1 $arg2 $arg3 $arg4 $arg5 $arg6 $arg7
  end
  if $argc == 9
    ts coverage $arg0 $arg1 $arg2 $arg3 $arg4 $arg5 $arg6 $arg7 $arg8
  end
  if $argc == 10
    ts coverage $arg0 $arg1 $arg2 $arg3 $arg4 $arg5 $arg6 $arg7 $arg8 $arg9
  end
  if $argc == 11
    ts coverage $arg0 $arg1 $arg2 $arg3 $arg4 $arg5 $arg6 $arg7 $arg8 $arg9 $arg10
  end
end
document coverage
Ask the recording: the same as "ts coverage", see "help ts".
end
define mark
  if $argc == 0
    ts mark
  end
  if $argc == 1
    ts mark $arg0
  end
  if $argc == 2
    ts mark $arg0 $arg1
  end
  if $argc == 3
    ts mark $arg0 $arg1 $arg2
  end
  if $argc == 4
    ts mark $arg0 $arg1 $arg2 $arg3
  end
  if $argc == 5
    ts mark $arg0 $arg1 $arg2 $arg3 $arg4
  end
  if $argc == 6
    ts mark $arg0 $arg1 $arg2 $arg3 $arg4 $arg5
  end
  if $argc == 7
    ts mark $arg0 $arg1 $arg2 $arg3 $arg4 $arg5 $arg6
  end
  if $argc == 8
    ts mark $arg0 $arg1 $arg2 $arg3 $arg4 $arg5 $arg6 $arg7
  end
  if $argc == 9
    ts mark $arg0 $arg1 $arg2 $arg3 $arg4 $arg5 $arg6 $arg7 $arg8
  end
  if $argc == 10
    ts mark $arg0 $arg1 $arg2 $arg3 $arg4 $arg5 $arg6 $arg7 $arg8 $arg9
  end
  if $argc == 11
    ts mark $arg0 $arg1 $arg2 $arg3 $arg4 $arg5 $arg6 $arg7 $arg8 $arg9 $arg10
  end
end
document mark
Ask the recording: the same as "ts mark", see "help ts".
end
define marks
  if $argc == 0
    ts marks
  end
  if $argc == 1
    ts marks $arg0
  end
  if $argc == 2
    ts marks $arg0 $arg1
  end
  if $argc == 3
    ts marks $arg0 $arg1 $arg2
  end
  if $argc == 4
    ts marks $arg0 $arg1 $arg2 $arg3
  end
  if $argc == 5
    ts marks $arg0 $arg1 $arg2 $arg3 $arg4
  end
  if $argc == 6
    ts marks $arg0 $arg1 $arg2 $arg3 $arg4 $arg5
  end
  if $argc == 7
    ts marks $arg0 $arg1 $arg2 $arg3 $arg4 $arg5 $arg6
  end
  if $argc == 8
    ts marks $arg0 $arg1 $arg2 $arg3 $arg4 $arg5 $arg6 $arg7
  end
  if $argc == 9
    ts marks $arg0 $arg1 $arg2 $arg3 $arg4 $arg5 $arg6 $arg7 $arg8
  end
  if $argc == 10
    ts marks $arg0 $arg1 $arg2 $arg3 $arg4 $arg5 $arg6 $arg7 $arg8 $arg9
  end
  if $argc == 11
    ts marks $arg0 $arg1 $arg2 $arg3 $arg4 $arg5 $arg6 $arg7 $arg8 $arg9 $arg10
  end
end
document marks
Ask the recording: the same as "ts marks", see "help ts".
end
define unmark
  if $argc == 0
    ts unmark
  end
  if $argc == 1
    ts unmark $arg0
  end
  if $argc == 2
    ts unmark $arg0 $arg1
  end
  if $argc == 3
    ts unmark $arg0 $arg1 $arg2
  end
  if $argc == 4
    ts unmark $arg0 $arg1 $arg2 $arg3
  end
  if $argc == 5
    ts unmark $arg0 $arg1 $arg2 $arg3 $arg4
  end
  if $argc == 6
    ts unmark $arg0 $arg1 $arg2 $arg3 $arg4 $arg5
  end
  if $argc == 7
    ts unmark $arg0 $arg1 $arg2 $arg3 $arg4 $arg5 $arg6
  end
  if $argc == 8
    ts unmark $arg0 $arg1 $arg2 $arg3 $arg4 $arg5 $arg6 $arg7
  end
  if $argc == 9
    ts unmark $arg0 $arg1 $arg2 $arg3 $arg4 $arg5 $arg6 $arg7 $arg8
  end
  if $argc == 10
    ts unmark $arg0 $arg1 $arg2 $arg3 $arg4 $arg5 $arg6 $arg7 $arg8 $arg9
  end
  if $argc == 11
    ts unmark $arg0 $arg1 $arg2 $arg3 $arg4 $arg5 $arg6 $arg7 $arg8 $arg9 $arg10
  end
end
document unmark
Ask the recording: the same as "ts unmark", see "help ts".
end
define last-write
  if $argc == 0
    ts last-write
  end
  if $argc == 1
    ts last-write $arg0
  end
  if $argc == 2
    ts last-write $arg0 $arg1
  end
  if $argc == 3
    ts last-write $arg0 $arg1 $arg2
  end
  if $argc == 4
    ts last-write $arg0 $arg1 $arg2 $arg3
  end
  if $argc == 5
    ts last-write $arg0 $arg1 $arg2 $arg3 $arg4
  end
  if $argc == 6
    ts last-write $arg0 $arg1 $arg2 $arg3 $arg4 $arg5
  end
  if $argc == 7
    ts last-write $arg0 $arg1 $arg2 $arg3 $arg4 $arg5 $arg6
  end
  if $argc == 8
    ts last-write $arg0 $arg1 $arg2 $arg3 $arg4 $arg5 $arg6 $arg7
  end
  if $argc == 9
    ts last-write $arg0 $arg1 $arg2 $arg3 $arg4 $arg5 $arg6 $arg7 $arg8
  end
  if $argc == 10
    ts last-write $arg0 $arg1 $arg2 $arg3 $arg4 $arg5 $arg6 $arg7 $arg8 $arg9
  end
  if $argc == 11
    ts last-write $arg0 $arg1 $arg2 $arg3 $arg4 $arg5 $arg6 $arg7 $arg8 $arg9 $arg10
  end
end
document last-write
Ask the recording: the same as "ts last-write", see "help ts".
end
define last-read
  if $argc == 0
    ts last-read
  end
  if $argc == 1
    ts last-read $arg0
  end
  if $argc == 2
    ts last-read $arg0 $arg1
  end
  if $argc == 3
    ts last-read $arg0 $arg1 $arg2
  end
  if $argc == 4
    ts last-read $arg0 $arg1 $arg2 $arg3
  end
  if $argc == 5
    ts last-read $arg0 $arg1 $arg2 $arg3 $arg4
  end
  if $argc == 6
    ts last-read $arg0 $arg1 $arg2 $arg3 $arg4 $arg5
  end
  if $argc == 7
    ts last-read $arg0 $arg1 $arg2 $arg3 $arg4 $arg5 $arg6
  end
  if $argc == 8
    ts last-read $arg0 $arg1 $arg2 $arg3 $arg4 $arg5 $arg6 $arg7
  end
  if $argc == 9
    ts last-read $arg0 $arg1 $arg2 $arg3 $arg4 $arg5 $arg6 $arg7 $arg8
  end
  if $argc == 10
    ts last-read $arg0 $arg1 $arg2 $arg3 $arg4 $arg5 $arg6 $arg7 $arg8 $arg9
  end
  if $argc == 11
    ts last-read $arg0 $arg1 $arg2 $arg3 $arg4 $arg5 $arg6 $arg7 $arg8 $arg9 $arg10
  end
end
document last-read
Ask the recording: the same as "ts last-read", see "help ts".
end
define last-access
  if $argc == 0
    ts last-access
  end
  if $argc == 1
    ts last-access $arg0
  end
  if $argc == 2
    ts last-access $arg0 $arg1
  end
  if $argc == 3
    ts last-access $arg0 $arg1 $arg2
  end
  if $argc == 4
    ts last-access $arg0 $arg1 $arg2 $arg3
  end
  if $argc == 5
    ts last-access $arg0 $arg1 $arg2 $arg3 $arg4
  end
  if $argc == 6
    ts last-access $arg0 $arg1 $arg2 $arg3 $arg4 $arg5
  end
  if $argc == 7
    ts last-access $arg0 $arg1 $arg2 $arg3 $arg4 $arg5 $arg6
  end
  if $argc == 8
    ts last-access $arg0 $arg1 $arg2 $arg3 $arg4 $arg5 $arg6 $arg7
  end
  if $argc == 9
    ts last-access $arg0 $arg1 $arg2 $arg3 $arg4 $arg5 $arg6 $arg7 $arg8
  end
  if $argc == 10
    ts last-access $arg0 $arg1 $arg2 $arg3 $arg4 $arg5 $arg6 $arg7 $arg8 $arg9
  end
  if $argc == 11
    ts last-access $arg0 $arg1 $arg2 $arg3 $arg4 $arg5 $arg6 $arg7 $arg8 $arg9 $arg10
  end
end
document last-access
Ask the recording: the same as "ts last-access", see "help ts".
end
define last-change
  if $argc == 0
    ts last-change
  end
  if $argc == 1
    ts last-change $arg0
  end
  if $argc == 2
    ts last-change $arg0 $arg1
  end
  if $argc == 3
    ts last-change $arg0 $arg1 $arg2
  end
  if $argc == 4
    ts last-change $arg0 $arg1 $arg2 $arg3
  end
  if $argc == 5
    ts last-change $arg0 $arg1 $arg2 $arg3 $arg4
  end
  if $argc == 6
    ts last-change $arg0 $arg1 $arg2 $arg3 $arg4 $arg5
  end
  if $argc == 7
    ts last-change $arg0 $arg1 $arg2 $arg3 $arg4 $arg5 $arg6
  end
  if $argc == 8
    ts last-change $arg0 $arg1 $arg2 $arg3 $arg4 $arg5 $arg6 $arg7
  end
  if $argc == 9
    ts last-change $arg0 $arg1 $arg2 $arg3 $arg4 $arg5 $arg6 $arg7 $arg8
  end
  if $argc == 10
    ts last-change $arg0 $arg1 $arg2 $arg3 $arg4 $arg5 $arg6 $arg7 $arg8 $arg9
  end
  if $argc == 11
    ts last-change $arg0 $arg1 $arg2 $arg3 $arg4 $arg5 $arg6 $arg7 $arg8 $arg9 $arg10
  end
end
document last-change
Ask the recording: the same as "ts last-change", see "help ts".
end
define last-exec
  if $argc == 0
    ts last-exec
  end
  if $argc == 1
    ts last-exec $arg0
  end
  if $argc == 2
    ts last-exec $arg0 $arg1
  end
  if $argc == 3
    ts last-exec $arg0 $arg1 $arg2
  end
  if $argc == 4
    ts last-exec $arg0 $arg1 $arg2 $arg3
  end
  if $argc == 5
    ts last-exec $arg0 $arg1 $arg2 $arg3 $arg4
  end
  if $argc == 6
    ts last-exec $arg0 $arg1 $arg2 $arg3 $arg4 $arg5
  end
  if $argc == 7
    ts last-exec $arg0 $arg1 $arg2 $arg3 $arg4 $arg5 $arg6
  end
  if $argc == 8
    ts last-exec $arg0 $arg1 $arg2 $arg3 $arg4 $arg5 $arg6 $arg7
  end
  if $argc == 9
    ts last-exec $arg0 $arg1 $arg2 $arg3 $arg4 $arg5 $arg6 $arg7 $arg8
  end
  if $argc == 10
    ts last-exec $arg0 $arg1 $arg2 $arg3 $arg4 $arg5 $arg6 $arg7 $arg8 $arg9
  end
  if $argc == 11
    ts last-exec $arg0 $arg1 $arg2 $arg3 $arg4 $arg5 $arg6 $arg7 $arg8 $arg9 $arg10
  end
end
document last-exec
Ask the recording: the same as "ts last-exec", see "help ts".
end
define next-write
  if $argc == 0
    ts next-write
  end
  if $argc == 1
    ts next-write $arg0
  end
  if $argc == 2
    ts next-write $arg0 $arg1
  end
  if $argc == 3
    ts next-write $arg0 $arg1 $arg2
  end
  if $argc == 4
    ts next-write $arg0 $arg1 $arg2 $arg3
  end
  if $argc == 5
    ts next-write $arg0 $arg1 $arg2 $arg3 $arg4
  end
  if $argc == 6
    ts next-write $arg0 $arg1 $arg2 $arg3 $arg4 $arg5
  end
  if $argc == 7
    ts next-write $arg0 $arg1 $arg2 $arg3 $arg4 $arg5 $arg6
  end
  if $argc == 8
    ts next-write $arg0 $arg1 $arg2 $arg3 $arg4 $arg5 $arg6 $arg7
  end
  if $argc == 9
    ts next-write $arg0 $arg1 $arg2 $arg3 $arg4 $arg5 $arg6 $arg7 $arg8
  end
  if $argc == 10
    ts next-write $arg0 $arg1 $arg2 $arg3 $arg4 $arg5 $arg6 $arg7 $arg8 $arg9
  end
  if $argc == 11
    ts next-write $arg0 $arg1 $arg2 $arg3 $arg4 $arg5 $arg6 $arg7 $arg8 $arg9 $arg10
  end
end
document next-write
Ask the recording: the same as "ts next-write", see "help ts".
end
define next-read
  if $argc == 0
    ts next-read
  end
  if $argc == 1
    ts next-read $arg0
  end
  if $argc == 2
    ts next-read $arg0 $arg1
  end
  if $argc == 3
    ts next-read $arg0 $arg1 $arg2
  end
  if $argc == 4
    ts next-read $arg0 $arg1 $arg2 $arg3
  end
  if $argc == 5
    ts next-read $arg0 $arg1 $arg2 $arg3 $arg4
  end
  if $argc == 6
    ts next-read $arg0 $arg1 $arg2 $arg3 $arg4 $arg5
  end
  if $argc == 7
    ts next-read $arg0 $arg1 $arg2 $arg3 $arg4 $arg5 $arg6
  end
  if $argc == 8
    ts next-read $arg0 $arg1 $arg2 $arg3 $arg4 $arg5 $arg6 $arg7
  end
  if $argc == 9
    ts next-read $arg0 $arg1 $arg2 $arg3 $arg4 $arg5 $arg6 $arg7 $arg8
  end
  if $argc == 10
    ts next-read $arg0 $arg1 $arg2 $arg3 $arg4 $arg5 $arg6 $arg7 $arg8 $arg9
  end
  if $argc == 11
    ts next-read $arg0 $arg1 $arg2 $arg3 $arg4 $arg5 $arg6 $arg7 $arg8 $arg9 $arg10
  end
end
document next-read
Ask the recording: the same as "ts next-read", see "help ts".
end
define next-access
  if $argc == 0
    ts next-access
  end
  if $argc == 1
    ts next-access $arg0
  end
  if $argc == 2
    ts next-access $arg0 $arg1
  end
  if $argc == 3
    ts next-access $arg0 $arg1 $arg2
  end
  if $argc == 4
    ts next-access $arg0 $arg1 $arg2 $arg3
  end
  if $argc == 5
    ts next-access $arg0 $arg1 $arg2 $arg3 $arg4
  end
  if $argc == 6
    ts next-access $arg0 $arg1 $arg2 $arg3 $arg4 $arg5
  end
  if $argc == 7
    ts next-access $arg0 $arg1 $arg2 $arg3 $arg4 $arg5 $arg6
  end
  if $argc == 8
    ts next-access $arg0 $arg1 $arg2 $arg3 $arg4 $arg5 $arg6 $arg7
  end
  if $argc == 9
    ts next-access $arg0 $arg1 $arg2 $arg3 $arg4 $arg5 $arg6 $arg7 $arg8
  end
  if $argc == 10
    ts next-access $arg0 $arg1 $arg2 $arg3 $arg4 $arg5 $arg6 $arg7 $arg8 $arg9
  end
  if $argc == 11
    ts next-access $arg0 $arg1 $arg2 $arg3 $arg4 $arg5 $arg6 $arg7 $arg8 $arg9 $arg10
  end
end
document next-access
Ask the recording: the same as "ts next-access", see "help ts".
end
define next-change
  if $argc == 0
    ts next-change
  end
  if $argc == 1
    ts next-change $arg0
  end
  if $argc == 2
    ts next-change $arg0 $arg1
  end
  if $argc == 3
    ts next-change $arg0 $arg1 $arg2
  end
  if $argc == 4
    ts next-change $arg0 $arg1 $arg2 $arg3
  end
  if $argc == 5
    ts next-change $arg0 $arg1 $arg2 $arg3 $arg4
  end
  if $argc == 6
    ts next-change $arg0 $arg1 $arg2 $arg3 $arg4 $arg5
  end
  if $argc == 7
    ts next-change $arg0 $arg1 $arg2 $arg3 $arg4 $arg5 $arg6
  end
  if $argc == 8
    ts next-change $arg0 $arg1 $arg2 $arg3 $arg4 $arg5 $arg6 $arg7
  end
  if $argc == 9
    ts next-change $arg0 $arg1 $arg2 $arg3 $arg4 $arg5 $arg6 $arg7 $arg8
  end
  if $argc == 10
    ts next-change $arg0 $arg1 $arg2 $arg3 $arg4 $arg5 $arg6 $arg7 $arg8 $arg9
  end
  if $argc == 11
    ts next-change $arg0 $arg1 $arg2 $arg3 $arg4 $arg5 $arg6 $arg7 $arg8 $arg9 $arg10
  end
end
document next-change
Ask the recording: the same as "ts next-change", see "help ts".
end
define next-exec
  if $argc == 0
    ts next-exec
  end
  if $argc == 1
    ts next-exec $arg0
  end
  if $argc == 2
    ts next-exec $arg0 $arg1
  end
  if $argc == 3
    ts next-exec $arg0 $arg1 $arg2
  end
  if $argc == 4
    ts next-exec $arg0 $arg1 $arg2 $arg3
  end
  if $argc == 5
    ts next-exec $arg0 $arg1 $arg2 $arg3 $arg4
  end
  if $argc == 6
    ts next-exec $arg0 $arg1 $arg2 $arg3 $arg4 $arg5
  end
  if $argc == 7
    ts next-exec $arg0 $arg1 $arg2 $arg3 $arg4 $arg5 $arg6
  end
  if $argc == 8
    ts next-exec $arg0 $arg1 $arg2 $arg3 $arg4 $arg5 $arg6 $arg7
  end
  if $argc == 9
    ts next-exec $arg0 $arg1 $arg2 $arg3 $arg4 $arg5 $arg6 $arg7 $arg8
  end
  if $argc == 10
    ts next-exec $arg0 $arg1 $arg2 $arg3 $arg4 $arg5 $arg6 $arg7 $arg8 $arg9
  end
  if $argc == 11
    ts next-exec $arg0 $arg1 $arg2 $arg3 $arg4 $arg5 $arg6 $arg7 $arg8 $arg9 $arg10
  end
end
document next-exec
Ask the recording: the same as "ts next-exec", see "help ts".
end

# Where gdb has Python, $_streq exists.
if !$_isvoid($_streq)
  python
import re


class TracestubRefuse(gdb.Command):
    """Part of 'when' and 'goto': says why nothing was done."""

    REASONS = ("Not connected: use \"tracestub gdb TRACE\" or \"target remote\" first.",
               "The target is not tracestub: it has no positions.",
               "goto takes one position: K, P%, begin, end, frame, next-EVENT or previous-EVENT.",
               "The target is a recording already: reverse-step, reverse-continue and goto work without \"record\".",
               "In this session gdb starts nothing on this machine: the recorded program may be malware.")

    def invoke(self, argument, from_tty):
        raise gdb.GdbError(self.REASONS[int(gdb.convenience_variable("_tracestub"))])


class TracestubMonitor(gdb.Command):
    """Part of 'when' and 'goto': asks the server."""

    def invoke(self, argument, from_tty):
        try:
            gdb.execute("monitor " + argument)
        except gdb.error as e:      # gdb before 16 says no more than "Protocol error with Rcmd"; the server said why
            if "Rcmd" not in str(e):
                raise
            raise gdb.GdbError("Nothing was done.")


class TracestubAsk(gdb.Command):
    """Part of 'ts': asks the server, with what gdb knows how to read as address and size."""

    WITH_WHAT = re.compile(r"(history|accesses|executions|(last|next)-\w+)$")

    def resolve(self, text):
        if re.match(r"[$0-9]", text) or ":" in text or "," in text:
            return text
        try:
            value = gdb.parse_and_eval(text)
            if value.type.code == gdb.TYPE_CODE_FUNC or value.address is None:
                return text
            return "0x%x,%d" % (int(value.address), value.type.sizeof)
        except (gdb.error, ValueError, OverflowError):
            return text

    def invoke(self, argument, from_tty):
        words = argument.split(None, 2)
        if len(words) > 1 and self.WITH_WHAT.match(words[0]):
            words[1] = self.resolve(words[1])
        try:
            gdb.execute("tracestub-monitor " + " ".join(words))
        except gdb.error as e:
            raise gdb.GdbError(str(e))


TracestubRefuse("tracestub-refuse", gdb.COMMAND_RUNNING)
TracestubAsk("tracestub-ask", gdb.COMMAND_RUNNING)
TracestubMonitor("tracestub-monitor", gdb.COMMAND_RUNNING)
  end
end

set $_tracestub = 0
end
