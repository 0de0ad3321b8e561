# SPDX-License-Identifier: MIT
#
# gdb commands for a session with tracestub: 'when' and 'goto', and guards.
#
# "tracestub gdb" loads this file; in any other gdb, "source" it. It needs gdb 10
# or later and no Python. Where gdb has Python, a command that is refused is an
# error, which ends a script.

# A checkpoint is a mark called checkpoint-N; it is kept beside the trace. gdb's own
# checkpoints fork the program. gdb would ask before it redefines its commands; in a
# block such as the one below, "with" cannot be followed by "define".
with confirm off -- define checkpoint
  tracestub-look
  if $_tracestub == 2
    tracestub-monitor checkpoint
  else
    tracestub-refuse
  end
end
document checkpoint
Mark this position of the recording: "restart N" goes there, in later sessions too.
"marks" lists it, "goto checkpoint-N" goes there as well.
end
with confirm off -- define restart
  tracestub-goto checkpoint-$arg0
end
document restart
Go to a checkpoint: restart N
end
with confirm off -- define info checkpoints
  tracestub-ts marks
end
document info checkpoints
The marks of the recording; those called checkpoint-N were made by "checkpoint".
end
with confirm off -- define delete checkpoint
  tracestub-ts unmark checkpoint-$arg0
end
document delete checkpoint
Remove a checkpoint: delete checkpoint N
end

# Once is enough: gdb would ask before it defines a command again.
if $_isvoid($_tracestub)

# A recorded program may be malware. gdb must never start it on this machine:
# without a connection, "run" and "attach" are errors instead of native. (With
# "target extended-remote", "run" goes back to the beginning of the recording.)
set auto-connect-native-target off

# A recording cannot be changed: gdb says so itself, where a target's refusal to write memory is only "Cannot
# access memory". gdb takes this setting only before it is connected. The same for registers would break "run":
# to resume, gdb writes a register that tells Linux not to restart a system call. tracestub refuses all other
# writes, and gdb shows why.
if !$_thread
  set may-write-memory off

  # "tracestub gdb": gdb opens libraries itself, and so loads their pretty printers, which it does for no file that it
  # gets from a server. The server names only those that it has compared with the recording. Where the files of this
  # machine are others (a pack), gdb gets them from the server, also if its settings say "set sysroot /": that one would
  # find none. 116: "target:", by default; 47: "/".
  with language c -- set $_tracestub_sysroot = $_gdb_setting_str("sysroot")
  shell exit ${TRACESTUB_LOCAL_FILES:-2}
  if $_shell_exitcode == 1
    with language c -- set $_tracestub_sysroot = $_tracestub_sysroot[0]
    if $_tracestub_sysroot == 116
      set sysroot /
    end
  end
  if $_shell_exitcode == 0
    with language c -- set $_tracestub_sysroot = sizeof($_tracestub_sysroot) == 1 || (sizeof($_tracestub_sysroot) == 2 && $_tracestub_sysroot[1] == 0) ? $_tracestub_sysroot[0] : 0
    if $_tracestub_sysroot == 47
      set sysroot target:
    end
  end
end

# gdb 16 finds the dynamic linker's probes in today's C library. With them it follows the linker instead of
# reading the list of libraries again, and after a jump it has another time's list. It looks for them when it
# connects.
if $_gdb_major >= 16
  pipe maintenance ignore-probes rtld | grep -q .
end

# What is the target? $_tracestub: 0 none, 1 another one, 2 tracestub. cat reads what grep -q leaves: gdb fails if it
# writes more than 4 KiB to a command that has ended.
define tracestub-look
  set $_tracestub = 0
  if $_thread
    set $_tracestub = 1
    set $_shell_exitcode = 1
    frame apply 1 -q -s pipe monitor help | grep -q '^monitor announce ' && cat >/dev/null
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

# gdb that is connected already has looked for the probes. It looks again when it opens the libraries anew, which it does
# for a new search path and for the old one again.
if $_gdb_major >= 16
  tracestub-look
  if $_tracestub == 2
    nosharedlibrary
    with solib-search-path /nonexistent -- echo
  end
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
  if $_tracestub == 5
    echo Without Python, gdb passes on at most twelve words: write conditions without blanks.\n
    help tracestub-no-question
  end
  if $_tracestub == 6
    echo A recording ends where its process becomes another program: "catch syscall execve" stops there, "tracestub query TRACE events exit" names the program, and "tracestub record --follow" records it, too.\n
    help tracestub-no-exec
  end
end
document tracestub-refuse
Part of 'when' and 'goto': says why nothing was done.
end

# A condition with variables is for gdb, which compiles it when it inserts a breakpoint. The server knows it by the
# number in front, and keeps it for the question that follows. gdb sends no condition where another breakpoint has
# none at the same place, even a disabled one: then the server refuses the question. Without Python the condition
# follows WHAT, a function, and ends the question.
alias -- tracestub-offer = with breakpoint pending off -- with breakpoint always-inserted on -- with breakpoint condition-evaluation target -- pipe -d TRACESTUB thbreak
define tracestub-compile
  if $argc == 4
    pipe -d TRACESTUB monitor condition $arg0 $arg1 $arg2 $arg3 TRACESTUB grep -q '^function'
    if $_shell_exitcode == 0
      tracestub-offer $arg1 if 0x74736966, $arg3 TRACESTUB grep -q .
      delete $bpnum
    end
  end
  if $argc == 5
    pipe -d TRACESTUB monitor condition $arg0 $arg1 $arg2 $arg3 $arg4 TRACESTUB grep -q '^function'
    if $_shell_exitcode == 0
      tracestub-offer $arg1 if 0x74736966, $arg3 $arg4 TRACESTUB grep -q .
      delete $bpnum
    end
  end
  if $argc == 6
    pipe -d TRACESTUB monitor condition $arg0 $arg1 $arg2 $arg3 $arg4 $arg5 TRACESTUB grep -q '^function'
    if $_shell_exitcode == 0
      tracestub-offer $arg1 if 0x74736966, $arg3 $arg4 $arg5 TRACESTUB grep -q .
      delete $bpnum
    end
  end
  if $argc == 7
    pipe -d TRACESTUB monitor condition $arg0 $arg1 $arg2 $arg3 $arg4 $arg5 $arg6 TRACESTUB grep -q '^function'
    if $_shell_exitcode == 0
      tracestub-offer $arg1 if 0x74736966, $arg3 $arg4 $arg5 $arg6 TRACESTUB grep -q .
      delete $bpnum
    end
  end
  if $argc == 8
    pipe -d TRACESTUB monitor condition $arg0 $arg1 $arg2 $arg3 $arg4 $arg5 $arg6 $arg7 TRACESTUB grep -q '^function'
    if $_shell_exitcode == 0
      tracestub-offer $arg1 if 0x74736966, $arg3 $arg4 $arg5 $arg6 $arg7 TRACESTUB grep -q .
      delete $bpnum
    end
  end
  if $argc == 9
    pipe -d TRACESTUB monitor condition $arg0 $arg1 $arg2 $arg3 $arg4 $arg5 $arg6 $arg7 $arg8 TRACESTUB grep -q '^function'
    if $_shell_exitcode == 0
      tracestub-offer $arg1 if 0x74736966, $arg3 $arg4 $arg5 $arg6 $arg7 $arg8 TRACESTUB grep -q .
      delete $bpnum
    end
  end
  if $argc == 10
    pipe -d TRACESTUB monitor condition $arg0 $arg1 $arg2 $arg3 $arg4 $arg5 $arg6 $arg7 $arg8 $arg9 TRACESTUB grep -q '^function'
    if $_shell_exitcode == 0
      tracestub-offer $arg1 if 0x74736966, $arg3 $arg4 $arg5 $arg6 $arg7 $arg8 $arg9 TRACESTUB grep -q .
      delete $bpnum
    end
  end
  if $argc == 11
    pipe -d TRACESTUB monitor condition $arg0 $arg1 $arg2 $arg3 $arg4 $arg5 $arg6 $arg7 $arg8 $arg9 $arg10 TRACESTUB grep -q '^function'
    if $_shell_exitcode == 0
      tracestub-offer $arg1 if 0x74736966, $arg3 $arg4 $arg5 $arg6 $arg7 $arg8 $arg9 $arg10 TRACESTUB grep -q .
      delete $bpnum
    end
  end
  if $argc == 12
    pipe -d TRACESTUB monitor condition $arg0 $arg1 $arg2 $arg3 $arg4 $arg5 $arg6 $arg7 $arg8 $arg9 $arg10 $arg11 TRACESTUB grep -q '^function'
    if $_shell_exitcode == 0
      tracestub-offer $arg1 if 0x74736966, $arg3 $arg4 $arg5 $arg6 $arg7 $arg8 $arg9 $arg10 $arg11 TRACESTUB grep -q .
      delete $bpnum
    end
  end
end
document tracestub-compile
Part of 'ts': compiles the condition of a question.
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
    tracestub-compile $arg0 $arg1 $arg2 $arg3
    monitor $arg0 $arg1 $arg2 $arg3
  end
  if $argc == 5
    tracestub-compile $arg0 $arg1 $arg2 $arg3 $arg4
    monitor $arg0 $arg1 $arg2 $arg3 $arg4
  end
  if $argc == 6
    tracestub-compile $arg0 $arg1 $arg2 $arg3 $arg4 $arg5
    monitor $arg0 $arg1 $arg2 $arg3 $arg4 $arg5
  end
  if $argc == 7
    tracestub-compile $arg0 $arg1 $arg2 $arg3 $arg4 $arg5 $arg6
    monitor $arg0 $arg1 $arg2 $arg3 $arg4 $arg5 $arg6
  end
  if $argc == 8
    tracestub-compile $arg0 $arg1 $arg2 $arg3 $arg4 $arg5 $arg6 $arg7
    monitor $arg0 $arg1 $arg2 $arg3 $arg4 $arg5 $arg6 $arg7
  end
  if $argc == 9
    tracestub-compile $arg0 $arg1 $arg2 $arg3 $arg4 $arg5 $arg6 $arg7 $arg8
    monitor $arg0 $arg1 $arg2 $arg3 $arg4 $arg5 $arg6 $arg7 $arg8
  end
  if $argc == 10
    tracestub-compile $arg0 $arg1 $arg2 $arg3 $arg4 $arg5 $arg6 $arg7 $arg8 $arg9
    monitor $arg0 $arg1 $arg2 $arg3 $arg4 $arg5 $arg6 $arg7 $arg8 $arg9
  end
  if $argc == 11
    tracestub-compile $arg0 $arg1 $arg2 $arg3 $arg4 $arg5 $arg6 $arg7 $arg8 $arg9 $arg10
    monitor $arg0 $arg1 $arg2 $arg3 $arg4 $arg5 $arg6 $arg7 $arg8 $arg9 $arg10
  end
  if $argc == 12
    tracestub-compile $arg0 $arg1 $arg2 $arg3 $arg4 $arg5 $arg6 $arg7 $arg8 $arg9 $arg10 $arg11
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

# After an exec gdb has the symbols of the other program, and keeps them when one goes back.
define tracestub-refuse-exec
  tracestub-look
  if $_tracestub == 2
    set $_tracestub = 6
    tracestub-refuse
  end
end
document tracestub-refuse-exec
Part of the hooks of "catch exec": refuses it for a recording.
end
define catch hook-exec
  tracestub-refuse-exec
end
define tcatch hook-exec
  tracestub-refuse-exec
end

# "target native" would make "run" start the program on this machine after all.
define target hook-native
  set $_tracestub = 4
  tracestub-refuse
end

# After "thread 2", "reverse-stepi" steps thread 2 back, but gdb names it to the server only if the others are locked.
# 114 is the 'r' of "replay", the setting by default.
define hook-reverse-stepi
  with language c -- set $_tracestub_locking = $_gdb_setting_str("scheduler-locking")[0] == 114
  if $_tracestub_locking
    set scheduler-locking step
  end
end
define hookpost-reverse-stepi
  if $_tracestub_locking
    set scheduler-locking replay
  end
end
define hook-reverse-nexti
  hook-reverse-stepi
end
define hookpost-reverse-nexti
  hookpost-reverse-stepi
end
define hook-reverse-step
  hook-reverse-stepi
end
define hookpost-reverse-step
  hookpost-reverse-stepi
end
define hook-reverse-next
  hook-reverse-stepi
end
define hookpost-reverse-next
  hookpost-reverse-stepi
end

# gdb compares what a watchpoint watches with what it saw last. After a jump
# that is a value of another time, and a change back to it would go unnoticed:
# gdb takes a new look at a watchpoint that is enabled.
define tracestub-refresh
  pipe info watchpoints | grep -q '^[0-9]' && cat >/dev/null
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
    if $argc == 0
      tracestub-monitor when
    end
    if $argc == 1
      tracestub-monitor when $arg0
    end
    if $argc == 2
      tracestub-monitor when $arg0 $arg1
    end
    if $argc == 3
      tracestub-monitor when $arg0 $arg1 $arg2
    end
    if $argc >= 4
      tracestub-monitor when $arg0 $arg1 $arg2 $arg3
    end
  else
    tracestub-refuse
  end
end
document when
The position of this session in the recording, its thread and pc; "when at PLACE": where PLACE is.
Position K is the state before instruction K of the recording, from 0.
end

# A jump is invisible to gdb. "announce" makes the server answer the next step
# with a stop at the new position: gdb then does all that it does at a stop. A
# position that has not been read yet is waited for by that step, because only
# there gdb passes on ^C. The step goes backwards, and is of this thread only: gdb
# would step over a breakpoint here, or of the thread that stopped last, with that
# thread alone, and crash if another one stops.
define tracestub-arrive
  pipe show exec-direction | grep -qi reverse
  if $_shell_exitcode == 0
    with scheduler-locking on -- stepi
  else
    with scheduler-locking on -- reverse-stepi
  end
end
document tracestub-arrive
Part of 'goto' and 'ts': makes gdb take the stop that the server has announced.
end

define tracestub-follow
  pipe monitor announce moved | grep -q moved
  if $_shell_exitcode == 0
    tracestub-arrive
    tracestub-refresh
  end
end
document tracestub-follow
Part of 'goto' and 'ts': makes gdb see that the session has moved.
end

define tracestub-goto
  tracestub-look
  if $_tracestub == 2 && $argc >= 1
    if $argc == 1
      tracestub-monitor announce goto $arg0
    end
    if $argc == 2
      tracestub-monitor announce goto $arg0 $arg1
    end
    if $argc == 3
      tracestub-monitor announce goto $arg0 $arg1 $arg2
    end
    if $argc == 4
      tracestub-monitor announce goto $arg0 $arg1 $arg2 $arg3
    end
    if !$_isvoid($trace_frame)
      if $trace_frame != -1
        pipe tfind none | grep -q .
      end
    end
    tracestub-arrive
    tracestub-refresh
    tracestub-monitor when
  else
    tracestub-refuse
  end
end
document tracestub-goto
Go to a position of the recording: goto K|P%|+N|-N|begin|end|frame|MARK|#ROW|next-EVENT|previous-EVENT
  goto next write X, goto previous exec X: the nearest access; also read, access, change
  goto 1234    the state before instruction 1234
  goto 50%     the middle
  goto begin   position 0
  goto end     the state after the last instruction
  goto frame   that of the trace frame which tfind selected
  goto caller  the instruction that called this function; goto out: where the call is over
  goto next-syscall, goto previous-syscall; also signal, fault, exit, thread-end, gap, interrupt
Breakpoints on the way do not stop it. 'when' says where you are.
end

# Questions: "ts VERB ...". The server knows registers, addresses and the symbols
# of the program's file; where gdb has Python, it is told what gdb reads as an
# address and a size.
define tracestub-ts
  tracestub-look
  if $_tracestub == 2
    if $argc == 0
      tracestub-monitor help
    end
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
    if $argc > 12
      set $_tracestub = 5
      tracestub-refuse
    end
    tracestub-follow
  else
    tracestub-refuse
  end
end
document tracestub-ts
Ask the recording: ts VERB [WHAT] [in A:B] [if COND] [thread T] [first N | last N] [at PLACE]
  ts last-write $rax           who wrote it last, before this position
  ts history counter           all values it had, and who wrote them
  ts accesses 0x404010,8 rw    who read and wrote eight bytes
  ts executions main first 5   when an instruction was executed
  ts find "text"               where and when bytes stand in memory
"ts" alone lists the verbs. All but "find" are commands as well: history, calls, why, ...
end

# The verbs as commands; gdb has a "find" already.
alias -- goto = tracestub-goto
alias -- ts = tracestub-ts
alias -- history = tracestub-ts history
alias -- accesses = tracestub-ts accesses
alias -- executions = tracestub-ts executions
alias -- calls = tracestub-ts calls
alias -- stack = tracestub-ts stack
alias -- events = tracestub-ts events
alias -- threads = tracestub-ts threads
alias -- processes = tracestub-ts processes
alias -- modules = tracestub-ts modules
alias -- maps = tracestub-ts maps
alias -- steps = tracestub-ts steps
alias -- compares = tracestub-ts compares
alias -- unexplained = tracestub-ts unexplained
alias -- memory = tracestub-ts memory
alias -- registers = tracestub-ts registers
alias -- strings = tracestub-ts strings
alias -- hot = tracestub-ts hot
alias -- coverage = tracestub-ts coverage
alias -- why = tracestub-ts why
alias -- flows = tracestub-ts flows
alias -- mark = tracestub-ts mark
alias -- marks = tracestub-ts marks
alias -- unmark = tracestub-ts unmark
alias -- last-write = tracestub-ts last-write
alias -- last-read = tracestub-ts last-read
alias -- last-access = tracestub-ts last-access
alias -- last-change = tracestub-ts last-change
alias -- last-exec = tracestub-ts last-exec
alias -- next-write = tracestub-ts next-write
alias -- next-read = tracestub-ts next-read
alias -- next-access = tracestub-ts next-access
alias -- next-change = tracestub-ts next-change
alias -- next-exec = tracestub-ts next-exec
alias -- back = tracestub-ts back
alias -- forward = tracestub-ts forward

# Where gdb has Python, $_streq exists: errors end scripts, expressions are gdb's,
# and Tab completes.
if !$_isvoid($_streq)
  python
import os
import re
import sys


def tracestub_run(command):
    try:
        gdb.execute(command)
    except gdb.error as e:      # gdb before 16 has no reason after "Rcmd": the server has printed it
        gdb.set_convenience_variable("_tracestub_monitor", None)
        refusal = re.match(r"Protocol error with Rcmd(?:: (.*)\.)?", str(e), re.S)
        if not refusal:
            raise gdb.GdbError(str(e))
        raise gdb.GdbError(refusal[1] or "Nothing was done.")


# gdb before 16 ends a refused "monitor" in an error that sounds like a defect, and has no way to replace it.
# The hooks tell that the last one failed; the prompt after it says what the error means.
def tracestub_explain():
    failed = gdb.convenience_variable("_tracestub_monitor")
    gdb.set_convenience_variable("_tracestub_monitor", None)
    if failed:
        print("(\"Protocol error with Rcmd\" means: the command was refused, for the reason in the line above it.)")


class TracestubRefuse(gdb.Command):
    """Part of 'when' and 'goto': says why nothing was done."""

    REASONS = ("Not connected: use \"tracestub gdb TRACE\" or \"target remote\" first.",
               "The target is not tracestub: it has no positions.",
               "goto takes one position: K, P%, begin, end, frame, next-EVENT or previous-EVENT.",
               "The target is a recording already: reverse-step, reverse-continue and goto work without \"record\".",
               "In this session gdb starts nothing on this machine: the recorded program may be malware.",
               "Without Python, gdb passes on at most twelve words: write conditions without blanks.",
               "A recording ends where its process becomes another program: \"catch syscall execve\" stops there, "
               "\"tracestub query TRACE events exit\" names the program, and \"tracestub record --follow\" records it, too.")

    def invoke(self, argument, from_tty):
        raise gdb.GdbError(self.REASONS[int(gdb.convenience_variable("_tracestub"))])


class TracestubMonitor(gdb.Command):
    """Part of 'when' and 'goto': asks the server, with what gdb knows how to read as address and size."""

    WITH_WHAT = re.compile(r"(history|accesses|executions|memory|why|flows|(last|next)-\w+)$")
    WITH_TIME = re.compile(r"(history|accesses|next-\w+)$")
    WITH_STATE = "calls", "executions"
    OFFER = {"breakpoint always-inserted": "on", "breakpoint condition-evaluation": "target"}
    OPCODES = """float add sub mul div_signed div_unsigned rem_signed rem_unsigned lsh rsh_signed rsh_unsigned trace
        trace_quick log_not bit_and bit_or bit_xor bit_not equal less_signed less_unsigned ext ref8 ref16 ref32 ref64
        ref_float ref_double ref_long_double l_to_d d_to_l if_goto goto const8 const16 const32 const64 reg end dup pop
        zero_ext swap getv setv tracev tracenz trace16 - pick rot printf""".split()

    def resolve(self, text):
        """Where an lvalue is, "ADDR,LEN" or "$REG", and None; of other texts the same text, and gdb's reason."""
        if re.match(r"[$0-9]", text) or "!" in text or "," in text or re.search(r"(?<!:):(?!:)", text):
            return text, None
        text = re.sub(r"^&(?!&)", "", text)         # where it is, is what is asked for
        try:
            value = gdb.parse_and_eval(text)
            if value.type.code == gdb.TYPE_CODE_FUNC:
                return text, None
            return "0x%x,%d" % (int(gdb.parse_and_eval("&(%s)" % text)), value.type.sizeof), None
        except (gdb.error, ValueError, OverflowError) as e:
            register = re.match(r'Address requested for identifier "(.*)" which is in register \$(\w+)', str(e))
            if register and register[1] == text:
                return self.find_register(text, register[2]), None
            return text, str(e)

    def follow_call(self, text, place):
        """A local variable as the server is asked for it: by its name, if it knows the name, for the rows of its call alone."""
        name = re.match(r"[A-Za-z_]\w*", text)
        symbol = name and gdb.lookup_symbol(name[0])[0]
        if not symbol or not symbol.needs_frame or not place.startswith("0x"):
            return place
        try:
            if "%s is %s at position " % (text, place) in gdb.execute("monitor memory " + text, to_string=True):
                return text
        except gdb.error:
            pass
        gdb.write("%s is %s here; other calls, too, had their frames there.\n" % (text, place))
        return place

    def find_register(self, text, register):
        """The register of a variable, or where a function that its function called has saved it."""
        frame, place = gdb.selected_frame(), "$" + register
        size, levels = frame.read_register(register).type.sizeof, 0
        while frame.newer():
            frame, levels = frame.newer(), levels + 1
        for level in reversed(range(levels)):
            saved = re.search(r"\b%s at (0x[0-9a-f]+)" % register,
                              gdb.execute("info frame level %d" % level, to_string=True))
            if saved:
                place = "%s,%d" % (saved[1], size)
                break
        gdb.write("%s is in %s here.\n" % (text, place))
        return place

    def assemble(self, text):
        """What "maint agent-eval" prints, as conditions: "agent HEX@ADDR", joined by "||"."""
        terms = []
        for scope, listing in re.findall(r"^Scope: (0x[0-9a-f]+)\n((?:(?!Scope).*\n)*)", text, re.M):
            insns = re.findall(r"^ *(\d+) +([a-z]\w*)(?: (-?\d+))?$", listing, re.M)
            code = bytearray()
            for (at, name, operand), (after, *_) in zip(insns, [*insns[1:], (int(insns[-1][0]) + 1,)]):
                size = int(after) - int(at) - 1
                code.append(self.OPCODES.index(name) + 1)
                code += (int(operand or 0) % (1 << 8 * size)).to_bytes(size, "big")
            terms.append("agent %s@%s" % (code.hex(), scope))
        return " || ".join(terms)

    def function_at(self, addr):
        """The name of the function that begins at the address, None without debug information about one."""
        try:
            block = gdb.block_for_pc(addr)
        except RuntimeError:
            return None
        while block and not block.function:
            block = block.superblock
        return block.function.name if block and block.start == addr else None

    def offer(self, place, condition):
        """Let gdb compile the condition for a breakpoint, which sends it to the server. No text of the program and none
        of the server is part of a command or an expression: a symbol may be called "*$_shell(...)"."""
        saved = [(name, gdb.parameter(name)) for name in self.OFFER]
        kind = getattr(gdb, "BP_HARDWARE_BREAKPOINT", gdb.BP_BREAKPOINT)
        breakpoint = gdb.Breakpoint(type=kind, internal=True, **place)
        try:
            breakpoint.enabled = False
            breakpoint.condition = "0x74736966, " + condition
            for name, value in self.OFFER.items():
                gdb.execute("set %s %s" % (name, value))
            breakpoint.enabled = True
        finally:
            breakpoint.delete()
            for name, value in saved:
                gdb.execute("set %s %s" % (name, {True: "on", False: "off"}.get(value, value)))

    def result(self, question):
        """The question with what a call's result is compared with as a number: gdb reads the expression here."""
        found = re.search(r"(\bif\s+result\s*[=!<>]=?\s*)([^=!<>&|].*?)((\s+(first|last|in|at|thread)\s.*)?)$", question)
        if not found or re.match(r"-?\d[\w,]*$", found[2]):
            return question
        return question[:found.end(1)] + str(int(gdb.parse_and_eval(found[2]))) + found[3]

    def compile(self, verb, what, question):
        """The question with its condition compiled by gdb, if the server says that it has variables."""
        wanted = re.match(r"(function|0x[0-9a-f]{1,16}) (.*)", gdb.execute("monitor condition " + question, to_string=True))
        typed = wanted and re.search(r"\bif\s+" + re.escape(wanted[2]), question)
        if not typed:                           # only what the user has typed is compiled, whatever the server answers
            return question
        if wanted[1] != "function":             # agent-eval has no addresses, breakpoints have
            function = self.function_at(int(wanted[1], 16)) if verb == "calls" else None
            # a call's arguments are in their places after the prologue
            self.offer({"function": function} if function else {"spec": "*" + wanted[1]}, wanted[2])
            return question
        text = gdb.execute("maint agent-eval -at %s, %s" % (what, wanted[2]), to_string=True)
        return question[:typed.start()] + "if " + self.assemble(text) + question[typed.end():]

    def invoke(self, argument, from_tty):
        words, reason = argument.split(None, 2), None
        if len(words) > 1 and self.WITH_WHAT.match(words[0]):
            typed = words[1]
            words[1], reason = self.resolve(typed)
            if not reason and self.WITH_TIME.match(words[0]) and not re.search(r"\b(at|thread)\b", " ".join(words[2:])):
                words[1] = self.follow_call(typed, words[1])
        question = " ".join(words)
        if len(words) == 3 and words[0] in self.WITH_STATE and re.search(r"\bif\b", words[2]):
            try:
                question = self.compile(words[0], words[1], self.result(question))
            except (gdb.error, ValueError) as e:
                raise gdb.GdbError(str(e))
        try:
            tracestub_run("monitor " + question)
        except gdb.GdbError as e:
            raise gdb.GdbError("%s. gdb says of '%s': %s" % (str(e).rstrip("."), words[1], reason) if reason else str(e))


class TracestubTs(gdb.Command):
    """Takes the place of 'tracestub-ts', which has room for twelve words."""

    def invoke(self, argument, from_tty):
        gdb.execute("tracestub-look")
        if int(gdb.convenience_variable("_tracestub")) != 2:
            tracestub_run("tracestub-refuse")
        tracestub_run("tracestub-monitor " + (argument or "help"))
        gdb.execute("tracestub-follow")


class TracestubAlias(gdb.Command):
    """Takes the place of an alias, and completes its words."""

    WORDS = ("in", "at", "if", "thread", "first", "last", "--changes", "--partial", "-go")
    PLACES = ("begin", "end", "frame", "caller", "out", "next", "previous")
    EVENTS = ("syscall", "signal", "fault", "interrupt", "thread-start", "thread-end", "module", "map", "unmap",
              "gap", "exit")
    FLOWS = ("address", "call", "output", "branch", "compare", "copy", "compute", "overwritten")
    # Words of some verbs only, and what may stand in place of an operand.
    OF_VERBS = (
        (("process", "ring"), "history accesses executions calls steps compares events strings unexplained hot coverage"),
        (("depth", "inputs", "addresses"), "why"), (("depth", "tree"), "calls"), (("min",), "strings"),
        (("blocks", "loops", "by"), "hot"), (("minus",), "coverage"), (("to",), "flows"))
    FIRST = ((("phys:",), "history accesses memory strings last-write last-read last-access last-change next-write next-read "
              "next-access next-change"), (("branch",), "why"))
    WITHOUT_OPERAND = "calls steps compares events strings unexplained hot coverage threads processes modules maps stack".split()
    KINDS = ("write", "read", "access", "change", "exec", "call", "return", "switch", *EVENTS)

    def __init__(self, name, command, document):
        self.name, self.command, self.__doc__ = name, command, document
        super().__init__(name, gdb.COMMAND_RUNNING)

    def invoke(self, argument, from_tty):
        tracestub_run("%s %s" % (self.command, argument))

    def marks(self):
        gdb.execute("tracestub-look")
        if int(gdb.convenience_variable("_tracestub")) != 2:
            return []
        text = gdb.execute("monitor marks", to_string=True)
        return re.findall(r"^ *\d+ +\d+ +(\w[\w-]*)", text, re.M)

    def symbols(self, word):
        lines = gdb.execute("complete print " + word, to_string=True).splitlines()
        return [line[len("print "):] for line in lines]

    def words(self, typed, last):
        """What may follow the words that are typed, of which the first is the verb."""
        if typed[-1] in ("next", "previous"):
            return self.KINDS
        if typed[-1] == "events":
            return (*self.EVENTS, "failed", *self.WORDS, "process", "ring")
        if typed[-1] == "to" and typed[0] == "flows":
            return self.FLOWS
        if typed[-1] in ("goto", "at", "unmark"):
            return (*self.PLACES, *self.marks())
        if typed[-1] == "by":
            return ("address",)
        has_words = len(typed) > 1 or typed[0] in self.WITHOUT_OPERAND
        first = self.of_verb(self.FIRST, typed[0]) if len(typed) == 1 else ()
        words = (*self.WORDS, *self.of_verb(self.OF_VERBS, typed[0])) if has_words else ()
        return (*first, *words, *(self.symbols(last) if last else ()))

    def of_verb(self, table, verb):
        return [word for words, verbs in table if verb in verbs.split() for word in words]

    def complete(self, text, word):
        *typed, last = text.split(" ")
        if self.name != "ts":
            typed.insert(0, self.name)
        words = self.words(typed, last) if typed else TRACESTUB_VERBS
        return [w[len(last) - len(word or ""):] for w in words if w.startswith(last)]


if int(re.match(r"[^0-9]*(\d+)", gdb.VERSION)[1]) < 16:
    gdb.execute("define hook-monitor\nset $_tracestub_monitor = 1\nend")
    gdb.execute("define hookpost-monitor\nset $_tracestub_monitor = 0\nend")
    gdb.events.before_prompt.connect(tracestub_explain)
# "gdb -i dap" is an adapter for editors, with a registry of requests; no version has the buttons for backwards.
def tracestub_add_to_dap():
    from gdb.dap import events, startup, state, threads
    from gdb.dap.server import _commands as requests, capability, request

    def run_back(thread, is_single, command):
        state.set_thread(thread)
        startup.exec_and_log("set scheduler-locking " + ("on" if is_single else "step"))
        getattr(events, "exec_and_expect_stop", startup.exec_and_log)(command)

    @capability("supportsStepBack")
    @request("stepBack", response=False)
    def step_back(*, threadId: int, singleThread: bool = False, granularity: str = "statement", **args):
        run_back(threadId, singleThread, "reverse-stepi" if granularity == "instruction" else "reverse-next")

    @request("reverseContinue", response=False)
    def reverse_continue(*, threadId: int, singleThread: bool = False, **args):
        run_back(threadId, singleThread, "reverse-continue")

    def attach_here(attach):
        def attach_or_here(**args):
            if not args.get("pid") and not args.get("target") and not args.get("coreFile"):
                args["target"] = os.environ["TRACESTUB_SOCKET"]
            return attach(**args)
        return attach_or_here

    # The editor's list of threads says where each of them is; since gdb 17 that is in ptid_string.
    def describe(thread):
        where = thread.details or thread.ptid_string
        return f"{thread.name} ({where})" if thread.name else where

    if hasattr(threads, "_thread_name"):
        threads._thread_name = describe

    # "tracestub dap" has a server of its own. An editor that would start the program gets the recording of it.
    if "TRACESTUB_SOCKET" in os.environ:
        requests["attach"] = attach_here(requests["attach"])
        requests["launch"] = lambda program=None, **args: requests["attach"](program=program)


class TracestubFrameId:
    def __init__(self, sp, pc):
        self.sp, self.pc = sp, pc


class TracestubUnwinder(getattr(__import__("gdb.unwinder", fromlist=["Unwinder"]), "Unwinder")):
    """Callers of code of which gdb knows no function, from the calls that were recorded.

    gdb ends itself if the server is asked while it unwinds, so that is done when the program stops."""

    SAVED = "rsp", "rbp", "rbx", "r12", "r13", "r14", "r15"
    MOST = 64

    def __init__(self):
        super().__init__("tracestub")
        self.frames, self.known, self.connections = {}, {}, {}
        gdb.unwinder.register_unwinder(None, self, replace=True)
        gdb.events.stop.connect(self.stopped)

    def is_tracestub(self):
        inferior = gdb.selected_inferior()
        name = inferior.num, getattr(inferior, "connection_num", None), inferior.pid
        if name not in self.connections:
            gdb.execute("tracestub-look", to_string=True)
            self.connections[name] = gdb.convenience_variable("_tracestub") == 2
            self.known = {}
        return self.connections[name]

    def at(self, position, slot):
        """The registers there, and the return address at rsp + slot."""
        if (position, slot) not in self.known:
            shown = gdb.execute("monitor registers rip %s at %d" % (" ".join(self.SAVED), position), to_string=True)
            found = {name: int(value, 16) for name, value in re.findall(r"(\w+) +8 +(0x[0-9a-f]+)", shown)}
            if set(found) != {"rip", *self.SAVED}:
                raise gdb.error("not all registers are known")
            back = gdb.selected_inferior().read_memory((found["rsp"] + slot) % (1 << 64), 8)
            self.known[position, slot] = found, int.from_bytes(bytes(back), "little")
        return self.known[position, slot]

    def take_stack(self, sp):
        """By the sp of a frame: its caller's registers, and a number for it; None: gdb finds them, as it does of a signal."""
        shown = gdb.execute("monitor stack first %d" % self.MOST, to_string=True)
        rows = [(int(position), pc) for position, pc in re.findall(r"^ *\d+ +\d+ +(\d+) +(0x[0-9a-f]+|-)", shown, re.M)]
        signals = {position for position, pc in rows if pc == "-"}
        for position, pc in rows[1:]:
            if pc == "-":
                continue
            if position in signals:
                entry, back = self.at(position + 1, 0)
                self.frames[sp] = {**entry, "rip": back, "rsp": entry["rsp"] + 8}, entry["rip"]
                self.frames[entry["rsp"] + 8] = None
                sp = self.at(position, 0)[0]["rsp"]
            else:
                registers, back = self.at(position, -8)
                self.frames[sp] = {**registers, "rip": back}, registers["rip"]
                sp = registers["rsp"]
        if re.search(r"^\d+ rows?$", shown, re.M):      # the first function of the recording has no caller
            self.frames[sp] = {"rip": 0, "rsp": sp + 8}, 0

    def stopped(self, event):
        self.frames = {}
        try:
            frame = gdb.selected_frame()
            if "x86-64" not in frame.architecture().name() or frame.function() or not self.is_tracestub():
                return
            self.take_stack(int(frame.read_register("rsp")) % (1 << 64))
        except gdb.error:
            pass
        gdb.invalidate_cached_frames()

    def __call__(self, frame):
        try:
            return self.frames and self.unwind(frame) or None
        except (gdb.error, ValueError):     # registers that are unknown, or of another processor
            return None

    def unwind(self, frame):
        found = self.frames.get(int(frame.read_register("rsp")) % (1 << 64))
        if not found or gdb.find_pc_line(int(frame.read_register("rip")) % (1 << 64)).symtab:
            return None
        word = gdb.lookup_type("long")
        values = {name: frame.read_register(name) for name in self.SAVED}
        values.update((name, gdb.Value(v - (1 << 64) if v >> 63 else v).cast(word)) for name, v in found[0].items())
        caller = frame.create_unwind_info(TracestubFrameId(values["rsp"], gdb.Value(found[1]).cast(word)))
        for name, value in values.items():
            caller.add_saved_register(name, value)
        return caller


if "gdb.dap" in sys.modules:
    tracestub_add_to_dap()
TracestubUnwinder()
TracestubRefuse("tracestub-refuse", gdb.COMMAND_RUNNING)
TracestubMonitor("tracestub-monitor", gdb.COMMAND_RUNNING)
TRACESTUB_VERBS = ["find", "goto", "when"]
tracestub_help = gdb.execute("help tracestub-ts", to_string=True)
for name, command in re.findall(r"^ *alias (\S+) = (.*)$", tracestub_help, re.M):
    TRACESTUB_VERBS.append(name)
    TracestubAlias(name, command, "Ask the recording: see \"help ts\".")
TracestubTs("tracestub-ts", gdb.COMMAND_RUNNING)
TracestubAlias("ts", "tracestub-ts", tracestub_help[tracestub_help.index("Ask the recording"):])
TracestubAlias("goto", "tracestub-goto", gdb.execute("help tracestub-goto", to_string=True).split("\n", 1)[1])
  end
end

set $_tracestub = 0
end
