#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Variables of functions as WHAT: where they lie is what gdb says of the same place and position.  Functions that were inlined."""
import collections
import json
import pathlib
import re
import subprocess

from _record import record
from _tap import TRACESTUB, add_case, case, run_cases

DATA = pathlib.Path(__file__).resolve().parents[1] / "data" / "variables"
SOURCE = r"""
struct point { short x; int y[2][3]; };
struct item { char kind; struct item *next; struct point at; unsigned bits : 3; };
volatile int sink;
static int seen = 7;
__attribute__((noinline)) int total(const struct item *items, int n, double scale)
{
	static int seen;
	int sum = 0;
	for (int i = 0; i < n; i++) {
		int each = items[i].at.y[1][i] * 2;
		if (each > 4) {
			long each = sum * 3L;
			sink = (int)each;
			sum += (int)each;
		}
		sum += each;
		sink = sum;
	}
	seen += sum;
	return sum + (int)scale;
}
__attribute__((noinline)) int deep(int n, const char *text)
{
	char copy[8];
	int i = 0;
	for (; text[i]; i++)
		copy[i] = text[i];
	sink = copy[i - 1];
	return n ? deep(n - 1, text + 1) + copy[0] : i;
}
int main(int argc, char **argv)
{
	struct item list[3] = { { 'a', list + 1, { 1, { { 1, 2, 3 }, { 4, 5, 6 } } }, 1 },
				{ 'b', list + 2, { 2, { { 7, 8, 9 }, { 10, 11, 12 } } }, 2 }, { 'c', 0, { 0 }, 3 } };
	sink = total(list, 3, 2.5);
	sink = deep(2, "texts") + deep(2, "words");
	return seen + argc - 8;
}
"""
OF_C = {"total": ["items", "n", "scale", "seen", "sum", "i", "each", "items[1].at.y[1][2]", "items->next->at", "items.kind", "items[0].next->at.x"],
        "deep": ["n", "text", "copy", "i", "copy[3]", "text[1]"],
        "main": ["list", "list[1].at.y[1]", "list[1].next->at.y", "argc", "argv", "list[2].kind"]}
CXX_SOURCE = r"""
namespace shop {
struct base { int id; virtual ~base() {} };
struct tag { long label; };
struct thing : base, tag {
	int price; union { int a; float b; };
	__attribute__((noinline)) int cost(const int &times, thing &&other)
	{
		int own = price * times;
		int &same = own;
		same += other.price;
		auto more = [&](int label) { int each = label + times + price; return each + own; };
		return more(1) - more(1) + own + id;
	}
};
}
int price = 3;
struct user {
	int price; user *next;
	__attribute__((noinline)) int last(int (&row)[3], user *&other)
	{
		int write = row[1] + other->price + next->price;
		auto more = [&](int n) { int each = n + write; return each + row[2] + other->price; };
		return more(2);
	}
};
int main()
{
	shop::thing one, two;
	one.id = 1; one.label = 2; one.price = 3; one.a = 4;
	two = one;
	int times = 5, row[3] = { 1, 2, 3 };
	user first, *at = &first;
	first.next = at;
	first.last(row, at);
	return one.cost(times, static_cast<shop::thing &&>(two)) - 19;
}
"""
OF_CXX = {"cost(?!.*lambda)": ["this->price", "this->id", "this->label", "this->a", "own", "other.price", "other.label", "times", "same", "other",
                   "price", "id", "label", "more"],
          "main": ["one", "one.label", "one.id", "one.b", "times", "two.a"],
          "last(?!.*lambda)": ["row", "row[1]", "other->price", "other[1].next->price", "other", "price", "next", "next->price", "next[0].price"],
          r"last(?=.*lambda).*": ["write", "each", "row", "row[2]", "other->price"]}


def build(name, source, compiler, flags, linking=("-static", "-no-pie")):
    path = pathlib.Path(name + (".cc" if compiler == "g++" else ".c"))
    path.write_text(source)
    subprocess.run([compiler, "-g", "-w", *linking, *flags, "-o", name, path], check=True)
    done = record(f"{name}.ucir", f"./{name}")
    assert done.returncode == 0, done
    return f"{name}.ucir"


def query(trace, *words):
    done = subprocess.run([TRACESTUB, "query", trace, *words, "--quiet"], capture_output=True, text=True)
    assert done.returncode in (0, 1, 2), done
    return done


def positions_in(trace, program, function, n):
    """At most n positions at which an instruction of the function is the next one."""
    nm = subprocess.run(["nm", "-SC", program], capture_output=True, text=True, check=True).stdout
    address, size = re.search(rf"^(\S+) (\S+) . (?:\S*::)?{function}(?:\(.*)?$", nm, re.M).groups()
    rows = query(trace, "executions", f"0x{address},0x{size}").stdout.splitlines()[1:]
    found = [row.split("\t")[0] for row in rows]
    return found[::max(1, len(found) // n)]


def kind_by_gdb(text):
    """What `print &X` means."""
    if at := re.search(r"""^\$\d+ = .*?(0x[0-9a-f]+)(?: <.*>| ".*)?$""", text, re.M):
        return "memory", int(at[1], 16)
    if at := re.search(r"which is in register \$(\w+)", text):
        return "register", at[1].replace("ymm", "xmm")
    if "No symbol" in text:
        return "unknown", None
    assert re.search("Can't take address|optimized out|Attempt to take address of value|Cannot access memory", text), text
    return "nowhere", None


def kind_by_us(text):
    if at := re.search(r" is (0x[0-9a-f]+),\d+ at position", text):
        return "memory", int(at[1], 16)
    if at := re.search(r" is in \$(\w+) at position", text):
        return "register", at[1]
    if "nor a variable in scope" in text:
        return "unknown", None
    assert re.search("has no place there|lies in several places there|is behind a pointer whose value is not known", text), (text,)
    return "nowhere", None


def places_are_gdbs(name, source, compiler, flags, expressions, wanted):
    trace = build(name, source, compiler, flags)
    asked, commands = [], ["set print thread-events off", "set stack-cache off", "set language c++" if compiler == "g++" else "set language c"]
    for function, texts in expressions.items():
        for position in positions_in(trace, name, function, 12):
            # not the goto of gdbinit, which starts six programs: monitor_when_goto.py tests it
            commands += [f"monitor goto {position}", "maintenance flush register-cache"]
            for text in texts:
                asked.append((position, text))
                commands += ["echo \\n<>\\n", f"print &({text})", "echo \\n<=>\\n", f"monitor last-write {text} at {position}",
                             "echo \\n</>\\n"]
    done = subprocess.run([TRACESTUB, "gdb", trace, "--", "-nx", "-batch", *(word for line in commands for word in ("-ex", line))],
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    parts = re.findall(r"\n<>\n(.*?)\n<=>\n(.*?)\n</>\n", done.stdout, re.S)
    assert len(parts) == len(asked), (len(parts), len(asked), done.stdout[-2000:])
    seen = collections.Counter()
    for (position, text), (theirs, ours) in zip(asked, parts):
        expected, got = kind_by_gdb(theirs), kind_by_us(ours)
        # a pointer that gdb computes from the caller's registers is one without a place here
        if got[0] == "nowhere" and "its value is computed" in ours and re.search(r"->|\[|\.", text):
            expected = got
        assert expected == got, (flags, position, text, theirs, ours)
        seen[expected[0]] += 1
    assert set(wanted) <= set(seen) and len(asked) > 100, seen


@case
def history_is_that_of_one_call():
    """The frames of the second deep() lie where those of the first have been."""
    trace = build("calls", SOURCE, "gcc", ["-O0"])
    entries = [int(row.split("\t")[0]) for row in query(trace, "executions", "deep").stdout.splitlines()[1:]]
    assert len(entries) == 6
    for entry, length in zip(entries, [5, 4, 3, 5, 4, 3]):
        rows = query(trace, "history", "i", "at", str(entry + 8)).stdout.splitlines()[1:]
        assert len(rows) == length + 1 and all(row.split("\t")[3] == "deep" for row in rows), (entry, rows)
    done = query(trace, "history", "i", "at", str(entries[0] + 8), "--json")
    assert f"and rows are those of the call from {entries[0]} on" in json.loads(done.stdout.splitlines()[-1])["note"], done
    said = subprocess.run([TRACESTUB, "gdb", trace, "--", "-nx", "-batch", "-ex", f"goto {entries[0] + 8}", "-ex", "history i", "-ex", "up",
                           "-ex", "history list[0].kind"], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True).stdout
    assert len(re.findall(r"^\d+ .* deep ", said, re.M)) == 6 and f"rows are those of the call from {entries[0]} on" in said, said
    assert re.search(r"^list\[0\]\.kind is 0x\w+,1 here; other calls, too, had their frames there", said, re.M), said
    done = query(trace, "next-write", "i", "in", f"{entries[1]}:", "at", str(entries[0] + 8))
    assert [row.split("\t")[3] for row in done.stdout.splitlines()[1:]] == [], done


@case
def a_call_that_is_not_in_the_recording_is_said():
    build("calls", SOURCE, "gcc", ["-O0"])
    assert record("from.ucir", "./calls", options=["--from", "deep"]).returncode == 0
    for at, sentence in ("8", "; the call is not in the recording, and rows are of everything that lay there"), ("", ", and rows are those of the call from"):
        at = at or str(int(query("from.ucir", "executions", "deep").stdout.splitlines()[2].split("\t")[0]) + 8)
        assert sentence in json.loads(query("from.ucir", "history", "i", "at", at, "--json").stdout.splitlines()[-1])["note"], at


@case
def a_frame_begins_after_a_tail_call():
    """second()'s array lies where that of first() was, which jumped to second()."""
    source = "volatile int sink;\n" \
             "__attribute__((noinline)) int second(int n) { volatile int row[8]; row[1] = n; sink = row[1]; return 0; }\n" \
             "__attribute__((noinline)) int first(int n) { volatile int own[8]; own[1] = n + 9; sink = own[1]; return second(n); }\n" \
             "int main(void) { first(2); first(3); return 0; }\n"
    trace = build("jumps", source, "gcc", ["-O2"])
    for at, value in zip(query(trace, "executions", "second").stdout.splitlines()[1:], (2, 3)):
        rows = query(trace, "history", "row[1]", "at", str(int(at.split("\t")[0]) + 3)).stdout.splitlines()[1:]
        assert [(row.split("\t")[3], row.split("\t")[-1]) for row in rows] == [("second", hex(value))], rows


# A result that is a constant would be no reason for gcc 14 to jump: it would call, and return the constant.
JUMPS = r"""
void _exit(int status) __attribute__((noreturn));
volatile int sink;
__attribute__((noinline)) int second(int n) { volatile int row[8]; row[1] = n; sink = row[1]; return sink; }
__attribute__((noinline)) int helper(int n) { volatile int row[4]; row[2] = n; return row[2]; }
__attribute__((noinline)) int opener(int n) { volatile int own[8]; own[1] = n + 9; sink = own[1]; own[1] = helper(n); return second(n); }
__attribute__((noinline)) int odd(int n);
__attribute__((noinline)) int even(int n) { volatile int own[8]; own[1] = n; sink = own[1]; return n ? odd(n - 1) : 0; }
__attribute__((noinline)) int odd(int n) { volatile int own[8]; own[1] = n + 99; sink = own[1]; return n ? even(n - 1) : 0; }
__attribute__((noinline)) int deep(int n) { volatile int own[8]; own[1] = n; for (int i = 0; i < n; i++) sink = deep(n - 1); own[1] = 50; return second(n); }
__attribute__((noinline)) int closer(int n) { volatile int own[8]; own[1] = n; _exit(0); }
int main(void) { opener(2); opener(3); even(5); odd(2); deep(3); return closer(8); }
"""


@case
def a_frame_ends_at_a_tail_call():
    """What each frame wrote is said by the source; the frames lie over each other, in one call."""
    trace = build("tails", JUMPS, "gcc", ["-O2", "-fno-inline", "-fno-ipa-ra", "-fno-ipa-cp"])
    jumps = subprocess.run(["objdump", "-d", "tails"], capture_output=True, text=True, check=True).stdout
    assert len(re.findall(r"jmp +[0-9a-f]+ <(?:second|odd|even)>", jumps)) >= 4, jumps
    deep = {n: [n, 50] for n in range(4)}
    numbers = {"opener": [[11, 2], [12, 3]], "even": [[5], [3], [1], [1]], "odd": [[4 + 99], [2 + 99], [99], [2 + 99], [99]],
               "deep": [deep[n] for n in (3, 2, 1, 0, 1, 0, 2, 1, 0, 1, 0, 2, 1, 0, 1, 0)], "closer": [[8]]}
    for function, wanted in numbers.items():
        entries = [int(row.split("\t")[0]) for row in query(trace, "executions", function).stdout.splitlines()[1:]]
        assert len(entries) == len(wanted), (function, entries)
        for entry, values in zip(entries, wanted):
            *rows, end = map(json.loads, query(trace, "history", "own[1]", "at", str(entry + (2 if function == "closer" else 4)), "--json").stdout.splitlines())
            assert [int(row["new"], 16) for row in rows] == values, (function, entry, rows, end)
            assert len({row["function"] for row in rows}) == 1 and f"of the call from {entry} on" in end["note"], (function, rows, end)
            assert ("jumped to another" in end["note"]) == (function != "closer" and values not in ([99], [0])), (function, end)
            assert "may be of other functions" not in end["note"], end


GLOBALS = r"""
struct pair { short x; int y[2][3]; struct pair *next; };
struct pair first = { 1, { { 1 } }, &first };
static struct { char pad[5]; int x; } second;
static struct pair many[3];
__thread struct pair own;
int other(int n);
__attribute__((noinline)) int both(int n)
{
	first.x = n; first.y[1][2] = n + 1; second.x = n + 2; many[2].y[0][1] = n + 3; own.x = n + 4; own.y[1][0] = n + 5; own.next = &many[2];
	return 0;
}
int main(void) { for (int i = 20; i < 22; i++) { both(i); other(i + 60); } return 0; }
"""


@case
def members_of_variables_outside_of_functions():
    """Values from the source, places by gdb.  Two files have each a variable `second`, of other types; one has another type for `first`."""
    pathlib.Path("globals2.c").write_text("static struct { int x; short z; } second;\n"
                                          "extern char first[];\n"
                                          "int other(int n) { second.x = n; second.z = n + 1; return second.x + first[0]; }\n")
    trace = build("globals", GLOBALS, "gcc", ["-O0", "globals2.c"])
    values = {"first.x": 0, "first.y[1][2]": 1, "first.next->x": 0, "many[2].y[0][1]": 3, "own.x": 4, "own.y[1][0]": 5, "own.next->y[0][1]": 3}
    asked = [w for name in values if not name.startswith("own") for w in ("-ex", f"output (long)&{name}", "-ex", "echo \\n")]
    said = subprocess.run(["gdb", "-nx", "-batch", "globals", "-ex", "list both", *asked], capture_output=True, text=True, check=True).stdout
    places = dict(zip((name for name in values if not name.startswith("own")), said.splitlines()[-4:]))
    for name, off in values.items():
        rows = [json.loads(line) for line in query(trace, "history", name, "--json").stdout.splitlines()][:-1]
        assert [int(row["new"], 16) for row in rows if row["function"] == "both"] == [20 + off, 21 + off], (name, rows)
        assert name not in places or {int(row["address"], 16) for row in rows} == {int(places[name])}, (name, rows, places)
    for name, words in (("second.x", "is more than one thing"), ("first.z", "is not a member"), ("own.y[5]", "is past the end of the array"),
                        ("nobody.x", "nor a variable in scope")):
        done = query(trace, "history", name)
        assert done.returncode == 2 and words in done.stderr and not done.stdout, done


@case
def names_mean_what_they_mean_in_the_source():
    """Of an inlined function its own scope; `extern` the global one; of a function in a function both."""
    source = "volatile int sink; int total = 5, price = 1, inner = 2;\n" \
             "__attribute__((always_inline)) static inline int cut(int n) { int q = n * total; sink = q; return q; }\n" \
             "__attribute__((noinline)) int user(int total) { int own = cut(total); sink = own; return own; }\n" \
             "__attribute__((noinline)) int outer(int price) { { extern int price; sink = price; } sink = price; return 0; }\n" \
             "int main(void) {\n\tstatic int kept; int total = 3;\n" \
             "\tint within(int inner) { int k = inner + total + kept; int été = k; char row[k + 1]; row[k] = 1; sink = été; return k; }\n" \
             "\tsink = user(9); outer(1); sink = within(4);\n\treturn 0;\n}\n"
    trace = build("scopes", source, "gcc", ["-O0", "-z", "execstack"])
    nm = dict(reversed(line.split()[::2]) for line in subprocess.run(["nm", "scopes"], capture_output=True, text=True, check=True).stdout.splitlines()
              if len(line.split()) == 3)

    def place(text, at):
        done = query(trace, "memory", text, "at", str(at))
        return done.stdout.splitlines()[1].split("\t")[0] if done.stdout else done.stderr

    at = int(query(trace, "executions", "cut").stdout.splitlines()[1].split("\t")[0]) + 2
    assert int(place("total", at), 16) == int(nm["total"], 16), place("total", at)
    assert "is a variable of the function around; the code of one that was inlined into it runs at" in place("own", at), place("own", at)
    assert place("n", at).startswith("0x")
    places = {place("price", at) for at in positions_in(trace, "scopes", "outer", 99)}
    assert f"0x{nm['price'].lstrip('0')}" in places and len(places) == 2, places
    at = positions_in(trace, "scopes", r"within\.0", 20)[6]
    assert place("k", at).startswith("0x1f") and place("inner", at).startswith("0x1f"), (place("k", at), place("inner", at))
    assert place("inner,2", at) == place("inner", at), place("inner,2", at)
    assert place("été", at).startswith("0x1f"), place("été", at)
    assert "is an array whose length the debugging information does not say" in place("row", at), place("row", at)
    assert "is a variable of the enclosing function" in place("total", at), place("total", at)
    assert int(place("kept", at), 16) == int(next(nm[name] for name in nm if name.startswith("kept")), 16)


@case
def a_frame_that_is_not_made_yet_has_no_places():
    """clang's frame bases are registers, which hold the caller's frame while a function is entered and left."""
    subprocess.run(["gcc", "-static", "-no-pie", "-o", "frames", DATA / "frame_base.s"], check=True)
    assert record("frames.ucir", "./frames").returncode == 0
    for function, register, n_before in ("framed", "rbp", 2), ("frameless", "rsp", 1):
        at = [int(row) for row in positions_in("frames.ucir", "frames", function, 99)]
        said = [query("frames.ucir", "memory", "x", "at", str(position)) for position in at]
        has_none = ["is not made yet, or is left already" in done.stderr for done in said]
        assert has_none == [True] * n_before + [False] * (len(at) - n_before - 1) + [True], (function, has_none)
        assert len({done.stdout.splitlines()[1].split("\t")[0] for done in said[n_before:-1]}) == 1, said


@case
def debugging_information_may_be_apart():
    """Where frames lie is told by tables that stay in the program."""
    trace = build("apart", SOURCE, "gcc", ["-O0"])
    for make in (["objcopy", "--only-keep-debug", "apart", "apart.debug"],
                 ["objcopy", "--strip-all", "--add-gnu-debuglink=apart.debug", "apart"]):
        subprocess.run(make, check=True)
    assert record("apart.ucir", "./apart").returncode == 0
    entry = int(query(trace, "executions", "deep").stdout.splitlines()[1].split("\t")[0])
    assert len(query(trace, "history", "i", "at", str(entry + 8)).stdout.splitlines()) == 7


@case
def what_has_no_place_is_refused():
    trace = build("refused", SOURCE, "gcc", ["-O1"])
    entry = query(trace, "executions", "total").stdout.splitlines()[1].split("\t")[0]
    for words, sentence in ((["history", "n"], "is in $rsi at position"), (["history", "n", "at", "0"], "nor a variable in scope at position 0"),
                            (["memory", "n"], "is in $rsi at position"), (["memory", "n,64"], "not in memory; example: registers rsi at"),
                            (["history", "n,2"], "is in $rsi at position"), (["why", "items[0].bits"], "is a bit field"),
                            (["why", "items[0].none"], "is not a member"), (["why", "n[0]"], "is no array"),
                            (["why", "items[0].at.y[2]"], "is past the end of the array"), (["why", "items..kind"], "is not a variable with")):
        done = query(trace, *words, *([] if "at" in words else ["at", entry]))
        assert done.returncode == 2 and sentence in done.stderr and not done.stdout, done


INLINED = """
volatile int sink, many = 3;
static inline int twice(int n) { return n * 2 + sink; }
FUNCTION_POINTER
int other(int n) { return twice(n) - 1; }
int main(int argc, char **argv)
{
	sink = twice(argc);
	sink = other(sink);
	for (int i = 0; i < many; i++)    /* volatile: the compiler does not unroll it */
		sink += LAST(i);
	return 0;
}
"""


def n_executions(trace, what):
    return len(query(trace, "executions", what).stdout.splitlines()) - 1


@case
def names_of_templates_may_have_blanks():
    source = "volatile int sink; template<class T, int N> struct row { T all[N]; __attribute__((noinline)) T put(int i, T v)\n" \
             "{ return all[i % N] = v; } };\nbool operator<(const row<int, 2> &a, int b) { return a.all[0] < b; }\n" \
             "int main() { row<int, 2> r{}; r.put(1, 2); r.put(0, 3); return r < 3; }\n"
    trace = build("blanks", source, "g++", ["-O0"])
    for name in "row<int, 2>::put", "row<int, 2>::put(int, int)":
        assert n_executions(trace, name) == 2 and len(query(trace, "calls", name, "first", "1").stdout.splitlines()) == 2, name
    assert len(query(trace, "executions", "operator<", "if", "$rsi", ">", "2").stdout.splitlines()) == 2


@case
def where_a_function_was_inlined_is_said():
    """Five runs of twice(): three by a pointer, one inlined in main, and one in other, which is inlined in main, too."""
    trace = build("both", INLINED.replace("FUNCTION_POINTER", "int (*volatile fn)(int) = twice;").replace("LAST", "fn"), "gcc", ["-O2"])
    assert n_executions(trace, "twice") == 3
    for verb in "executions", "calls":
        note = json.loads(query(trace, verb, "twice", "--json").stdout.splitlines()[-1])["note"]
        assert note.startswith("where the function was inlined it is not in these rows: "), note
        assert sum(n_executions(trace, at) for at in re.findall("0x[0-9a-f]+", note)) == 2, note
    trace = build("inlined", INLINED.replace("FUNCTION_POINTER", "").replace("LAST", "twice"), "gcc", ["-O1"])
    done = query(trace, "executions", "twice")
    places = re.findall(r"in (main|other) \((0x[0-9a-f]+)\)", done.stderr)
    assert done.returncode == 2 and "is more than one thing" in done.stderr and len(places) == 3, done
    assert sum(n_executions(trace, at) for _, at in places) == 5, places


@case
def a_function_inlined_once_is_where_it_was_inlined():
    source = "volatile int sink;\nstatic inline int cut(int n) { return n / (sink + 3); }\n" \
             "int main(int argc, char **argv)\n{\n\tfor (int i = 0; i < 7; i++)\n\t\tsink = cut(i);\n\treturn 0;\n}\n"
    trace = build("once", source, "gcc", ["-O1"])
    assert n_executions(trace, "cut") == 7
    assert "the function was inlined at 0x" in query(trace, "executions", "cut", "--json").stdout.splitlines()[-1]
    clash = build("clash", source.replace("cut", "optind"), "gcc", ["-O1"], [])    # data of the C library
    assert query(clash, "memory", "optind").stdout and n_executions(clash, "optind") == 7
    done = query(trace, "calls", "cut")
    assert done.returncode == 2 and "and is not called" in done.stderr, done


@case
def static_variables_of_functions_are_known_everywhere():
    source = "int one(void) { static int turns; static int both; both = 2; return ++turns; }\n" \
             "int two(void) { static int both; return both = 3; }\n" \
             "int main(void) { one(); one(); two(); return 0; }\n"
    trace = build("statics", source, "gcc", ["-O0"])
    rows = [row.split("\t") for row in query(trace, "history", "turns").stdout.splitlines()[1:]]
    assert [(row[3], row[-1]) for row in rows] == [("one", "0x1"), ("one", "0x2")], rows
    done = query(trace, "history", "both")
    places = re.findall(r"both\.\d+ \((0x[0-9a-f]+)\)", done.stderr)
    assert done.returncode == 2 and len(places) == 2, done
    assert sorted(len(query(trace, "history", f"{at},4").stdout.splitlines()) - 1 for at in places) == [1, 2], done
    subprocess.run(["gcc", "-g", "-O0", "-o", "dynamic", "statics.c"], check=True)
    assert record("dynamic.ucir", "./dynamic").returncode == 0
    assert len(query("dynamic.ucir", "history", "dynamic!turns").stdout.splitlines()) == 3
    assert query("dynamic.ucir", "history", "libc.so.6!turns").returncode == 2    # the module has none


@case
def a_member_of_a_virtual_base_class_is_refused():
    source = "struct top { int low; long high; }; struct left : virtual top { int own; }; volatile int sink;\n" \
             "int use(left *one) { sink = one->high; return one->own; }\nint main() { left one; one.high = 3; one.own = 0; return use(&one); }\n"
    trace = build("bases", source, "g++", ["-O0"])
    at = positions_in(trace, "bases", "use", 6)[4]
    assert "is of a virtual base class" in query(trace, "memory", "one->high", "at", at).stderr
    assert len(query(trace, "memory", "one->own", "at", at).stdout.splitlines()) == 2


for level, wanted in ("-O0", ["memory", "unknown"]), ("-O1", ["memory", "register", "nowhere", "unknown"]), ("-O2", ["memory", "register", "nowhere"]):
    add_case(f"C with {level}", places_are_gdbs, f"c{level}", SOURCE, "gcc", [level], OF_C, wanted)
add_case("C++ with -O0", places_are_gdbs, "cxx", CXX_SOURCE, "g++", ["-O0"], OF_CXX, ["memory"])
run_cases()
