# SPDX-License-Identifier: MIT
"""What the processor itself does at each instruction of a program, beside a recording of it."""
import functools
import pathlib
import re
import struct
import subprocess

from _record import LIMIT, build

# as the stepper writes them -> numbers in a recording
NAMES = "rax rbx rcx rdx rsi rdi rbp rsp r8 r9 r10 r11 r12 r13 r14 r15 eflags".split()
NUMBERS = {
    "x86_64": dict(zip(NAMES, [35, 37, 38, 40, 43, 39, 36, 44, *range(106, 114), 25])),
    "i386": dict(zip(NAMES[:8] + NAMES[16:], [19, 21, 22, 24, 29, 23, 20, 30, 25])),
}
CF, PF, AF, ZF, SF, OF, TF = 1, 4, 16, 64, 128, 2048, 256
ALL = CF | PF | AF | ZF | SF | OF
BITS = dict(zip("CPAZSO", (CF, PF, AF, ZF, SF, OF)))


def flags(letters):
    return sum(BITS[c] for c in letters)


# Intel's manual, volume 1, appendix A: the flags that an instruction leaves undefined; it writes all others, but for those of
# KEPT.  Of bt and its like ZF is kept in the processor, and cleared in Valgrind.
UNDEFINED = {name: flags(letters) for names, letters in {
    "and or xor test": "A", "shl shr sar sal shld shrd": "AO", "rol ror rcl rcr": "O", "mul imul": "SZAP", "div idiv": "CPAZSO",
    "bsf bsr": "CPASO", "bt bts btr btc": "OSAPZ", "aam aad": "OAC", "aaa aas": "OSZP", "daa das": "O", "andn blsi blsr blsmsk": "AP",
    "bextr": "ASP", "bzhi": "AP", "tzcnt lzcnt": "OSPA",
}.items() for name in names.split()}
KEPT = {name: flags(letters) for names, letters in {
    "inc dec": "C", "rol ror rcl rcr": "SZAP", "stc clc cmc": "PAZSO", "sahf": "O", "adcx": "PAZSO",
    "adox": "CPAZS", "cmpxchg8b cmpxchg16b": "CPASO",
}.items() for name in names.split()}
WRITERS = {*UNDEFINED, *KEPT, *"add adc sub sbb cmp neg xadd cmpxchg popf popfd popfq cmps scas ptest comiss comisd ucomiss ucomisd "
           "fcomi fcomip fucomi fucomip popcnt".split()}


def mnemonics(program):
    """Address -> the instruction's name, without prefixes; with "stack " before it if its result is the stack pointer."""
    text = subprocess.run(["objdump", "-d", "-M", "intel", "--no-show-raw-insn", program], capture_output=True, text=True,
                          timeout=LIMIT, check=True).stdout
    rows = re.findall(r"^ *([0-9a-f]+):\t(?:(?:lock|rep\w*|data16|[c-gs]s|notrack) )*(\w+)(?: +([er]sp\b))?", text, re.M)
    return {int(address, 16): f"stack {name}" if sp else name for address, name, sp in rows}


def undefined_after(name, undefined):
    """Flags of an address of the stack are others in Valgrind, too."""
    if name.startswith("stack "):
        return ALL if name.split()[1] in WRITERS else undefined
    if name not in WRITERS:
        return undefined
    return undefined & KEPT.get(name, 0) | UNDEFINED.get(name, 0)


@functools.cache
def stepper():
    return build("stepper.c", "stepper", "-O1 -w")


def truth(program, *arguments):
    """(pc, registers, ymm0 to ymm15 and st(0) to st(7) as bytes) before each instruction."""
    subprocess.run([stepper(), "steps", program, *arguments], stdout=subprocess.DEVNULL, timeout=LIMIT, check=True)
    for pc, *values in struct.iter_unpack("<18Q640s", pathlib.Path("steps").read_bytes()):
        yield pc, dict(zip(NAMES, values)), values[17]


VECTORS = {"x86_64": (16, 32, 154), "i386": (8, 16, 122)}      # how many, bytes, number of the first in a recording


def wrong_vectors(target, regs, real):
    n, size, first = VECTORS[target]
    return [i for i in range(n) if regs[first + i] != real[32 * i:32 * i + size]]


def wrong_x87(regs, real):
    """The registers of x87, of which Valgrind computes with 64 bits; those of MMX are their lower part."""
    return [i for i in range(8) if regs[114 + i] != real[512 + 16 * i:512 + 16 * i + 10]]


def is_same(name, mine, real, apart, ignored):
    if mine == real:
        return True
    if name == "eflags":
        return (mine ^ real) & ~(ignored | TF) == 0
    return mine - real == apart


def memory_of(path):
    """(number of the instruction before which it was, address, bytes)"""
    data, at = pathlib.Path(path).read_bytes(), 0
    while at < len(data):
        n, start, size = struct.unpack_from("<3Q", data, at)
        yield n, start, data[at + 24:at + 24 + size]
        at += 24 + size


def compare_memory(recording):
    """Asserts that what the recording holds is what the processor's memory had. Returns how many bytes were compared."""
    wanted, held, total = {}, {}, 0
    for n, start, data in memory_of("steps.memory"):
        wanted.setdefault(n, []).append((start, data))
    n = 0
    for group in recording.order:
        if group.pc is not None:
            for start, data in wanted.get(n, ()):
                found = bytes(held.get(start + i, 0) for i in range(len(data)))
                assert found == data, (n, hex(start), [hex(start + i) for i in range(len(data)) if found[i] != data[i]][:20])
                total += len(data)
            n += 1
        for addr, what in group.writes:
            if isinstance(what, bytes):
                held.update(zip(range(addr, addr + len(what)), what))
    return total


def compare(recording, program, target, excused=(), has_x87=False):
    """
    Asserts that each instruction of the recording is the processor's. Returns their number, the registers that differ, vectors
    among them, and how many flags were compared; x87's registers only if @has_x87. A repeated cmps or scas changes flags in the processor at its end only.
    """
    names, numbers = mnemonics(program), NUMBERS[target]
    undefined, n, n_flags, wrong, apart, last = 0, 0, 0, [], None, None
    for (step, regs), (pc, real, vectors) in zip(recording.states(), truth(program)):
        assert step.pc == pc, (n, hex(step.pc), hex(pc))
        if apart is None:
            apart = regs[numbers["rsp"]] - real["rsp"]
        ignored = ALL if last == pc and names[pc] in ("cmps", "scas") else undefined
        n_flags += (ALL & ~ignored).bit_count()
        wrong += [(n, hex(pc), names[pc], name, hex(regs[number]), hex(real[name])) for name, number in numbers.items()
                  if name not in excused and not is_same(name, regs[number], real[name], apart, ignored)]
        wrong += [(n, hex(pc), names[pc], f"vector {i}") for i in wrong_vectors(target, regs, vectors)]
        wrong += [(n, hex(pc), names[pc], f"st{i}") for i in (wrong_x87(regs, vectors) if has_x87 else ())]
        undefined, last = undefined_after(names[pc], undefined), pc
        n += 1
    assert n == len(recording.all_steps), (n, len(recording.all_steps))
    return n, wrong, n_flags
