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

# A monitor command on behalf of 'when' and 'goto': of one word or three.
define tracestub-monitor
  if $argc == 1
    monitor $arg0
  end
  if $argc == 3
    monitor $arg0 $arg1 $arg2
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
    tracestub-refuse
  end
end
document goto
Go to a position of the recording: goto K|P%|begin|end|frame|next-EVENT|previous-EVENT
  goto 1234    the state before instruction 1234
  goto 50%     the middle
  goto begin   position 0
  goto end     the state after the last instruction
  goto frame   that of the trace frame which tfind selected
  goto next-syscall, goto previous-syscall; also signal, fault, exit, thread-end, gap, interrupt
Breakpoints on the way do not stop it. 'when' says where you are.
end

# Where gdb has Python, $_streq exists.
if !$_isvoid($_streq)
  python
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


TracestubRefuse("tracestub-refuse", gdb.COMMAND_RUNNING)
TracestubMonitor("tracestub-monitor", gdb.COMMAND_RUNNING)
  end
end

set $_tracestub = 0
end
