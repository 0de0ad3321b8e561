#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""tracestub mcp: a client that speaks the Model Context Protocol strictly, over stdio.

What the tools answer is compared with `tracestub query --json`, whose answers have tests of their own.
"""
import json
import re
import signal
import subprocess
import time

from _long import N, START, TRACE, run_cases_on_long
from _mcp import INFO, LIMIT, TOOLS, Client, of_tool
from _programs import Program
from _tap import DATA, SRCDIR, TRACESTUB, case

WALK, WALK_ELF = str(DATA / "usercorn/x64_walk.ucir"), str(DATA / "usercorn/x64_walk.elf")


def query(trace, *words):
    done = subprocess.run([TRACESTUB, "query", "--quiet", trace, *words, "--json"], capture_output=True, text=True,
                          timeout=LIMIT)
    lines = [json.loads(line) for line in done.stdout.splitlines()]
    return lines[:-1], lines[-1]


@case
def tools_are_listed_with_their_schemas():
    with Client(WALK) as c:
        tools = {t["name"]: t for t in c.result("tools/list")["tools"]}
        assert set(tools) == TOOLS - {"recordings", "diff"}, sorted(tools)
        for t in tools.values():
            schema = t["inputSchema"]
            assert t["description"] and schema["type"] == "object" and schema["additionalProperties"] is False, t
            assert set(schema["required"]) <= set(schema["properties"]), t
            assert all(p["type"] and p["description"] for p in schema["properties"].values()), t
            assert set(t) == {"name", "description", "inputSchema"}, t
        assert tools["why"]["inputSchema"]["required"] == ["what"]
        assert tools["ask"]["inputSchema"]["required"] == ["question"]
        described = tools["ask"]["description"]
        manual = (SRCDIR / "src/ask/verbs/verbs.c").read_text()
        for verb in re.findall(r"&ts_verb_(\w+)", manual):
            assert f"\n{verb.removesuffix('_value').replace('_', '-')}" in described, verb
        assert len(json.dumps(list(tools.values()))) < 14000
    with Client(WALK, str(DATA / "usercorn/x86_walk.ucir")) as c:
        tools = c.result("tools/list")["tools"]
        assert len(tools) <= 10 and {t["name"] for t in tools} == TOOLS, tools
        for t in tools:
            assert t["name"] in ("recordings", "diff") or "recording" in t["inputSchema"]["required"], t


@case
def a_tool_answers_what_query_answers():
    with Client(WALK, "--exec", WALK_ELF) as c:
        for tool, arguments, words in [
                ("executions", {"what": "fib"}, ["executions", "fib", "first", "50"]),
                ("executions", {"what": "fib", "last": 3}, ["executions", "fib", "last", "3"]),
                ("executions", {"what": "fib", "in": "1000:3000"}, ["executions", "fib", "in", "1000:3000", "first", "50"]),
                ("calls", {"what": "f*", "depth": 4, "first": 5}, ["calls", "f*", "depth", "4", "first", "5"]),
                ("events", {"what": "syscall"}, ["events", "syscall", "first", "50"]),
                ("stack", {"at": 3000}, ["stack", "at", "3000"]),
                ("stack", {"at": "50%"}, ["stack", "at", "50%"]),
                ("hot", {"by": "address"}, ["hot", "by", "address"]),
                ("hot", {"first": 30, "by": "address"}, ["hot", "30", "by", "address"]),
                ("threads", {}, ["threads"])]:
            assert c.rows(tool, **arguments) == query(WALK, *words, "--exec", WALK_ELF), (tool, arguments)


@case
def without_a_bound_fifty_rows_or_eight_kilobytes_are_shown():
    with Client(WALK) as c:
        rows, end = c.rows("executions", what="0x400000:0x500000")
        assert len(rows) == 50 and end["complete"] is False and end["total"] == 7480, end
        rows, end = c.rows("steps", **{"in": "100:1000"})
        text = c.call("steps", **{"in": "100:1000"})["content"][0]["text"]
        assert "There are more rows" in text, text[-200:]
        assert 5 < len(rows) == end["rows"] < 50 and end["complete"] is False and len(text) < 8600, (end, len(text))
        assert rows == c.rows("ask", question="steps in 100:1000", first=len(rows))[0]
        for bound in {"first": 60}, {"last": 60}:
            rows, end = c.rows("steps", **{"in": "100:1000"}, **bound)
            assert len(rows) == 60, end
        assert len(c.rows("ask", question="steps in 100:1000 first 70")[0]) == 70


@case
def bad_calls_are_errors_and_bad_questions_are_results():
    with Client(WALK) as c:
        for params in ({"name": "nothing"}, {"name": "executions"}, {}, {"name": "ask"}, {"name": "ask", "arguments": []},
                       {"name": "ask", "arguments": {"question": "executions", "what": "0x401000", "extra": 1}},
                       {"name": "ask", "arguments": {"question": "executions", "what": 5}},
                       {"name": "ask", "arguments": {"question": "executions", "what": "0x401000", "first": "5"}},
                       {"name": "ask", "arguments": {"question": "executions", "what": "0x401000", "first": -1}},
                       {"name": "why", "arguments": {}}, {"name": "why", "arguments": {"what": "$rax", "min": 3}},
                       {"name": "overview", "arguments": {"what": "x"}}, {"name": "sql", "arguments": {}},
                       {"name": "recordings", "arguments": {"x": 1}}):
            assert c.error("tools/call", params) == -32602, params
        for what in "nosuch", "0x401000 first", "":
            result = c.call("executions", what=what)
            assert result["isError"] and "example:" in result["content"][0]["text"], result
            assert "structuredContent" not in result, result
        for arguments in {"question": "executions 0x401000", "what": "0x401000"}, {"question": "executions 0x401000", "in": "0:5"}, \
                {"question": "threads", "what": "x"}, {"question": "threads", "min": 3}, {"question": "nothing"}, {"question": ""}, \
                {"question": "coverage --lcov out"}, {"question": "when if 1"}:
            result = c.call("ask", **arguments)
            assert result["isError"] and "example:" in result["content"][0]["text"], (arguments, result)
        result = c.call("executions", what="0x401000", recording="other")
        assert result["isError"] and "other" in result["content"][0]["text"], result


@case
def resources_are_listed_and_read():
    with Client(WALK) as c:
        listed = {r["uri"]: r for r in c.result("resources/list")["resources"]}
        assert set(listed) == {"tracestub://guide", "tracestub://schema"}, listed
        assert c.result("resources/templates/list") == {"resourceTemplates": []}
        for uri, r in listed.items():
            content, = c.result("resources/read", {"uri": uri})["contents"]
            assert content["uri"] == uri and content["mimeType"] == r["mimeType"] and content["text"], content
        guide = c.result("resources/read", {"uri": "tracestub://guide"})["contents"][0]["text"]
        assert (SRCDIR / "src/mcp/SKILL.md").read_text().endswith(guide), guide[:99]
        for uri in "tracestub://none", "file:///etc/passwd", "":
            assert c.error("resources/read", {"uri": uri}) == -32002, uri
        assert c.error("resources/read", {}) == -32602


@case
def a_statement_of_sql_is_answered_as_by_the_command():
    with Client(WALK, "--exec", WALK_ELF) as c:
        for text in "SELECT callee, count(*) AS n FROM call GROUP BY callee ORDER BY 2 DESC, 1 LIMIT 5", "SELECT position, pc FROM step LIMIT 3", \
                "SELECT * FROM event WHERE 0":
            done = subprocess.run([TRACESTUB, "sql", "--quiet", WALK, "--exec", WALK_ELF, text, "--json"], capture_output=True,
                                  text=True, timeout=LIMIT)
            lines = [json.loads(line) for line in done.stdout.splitlines()]
            assert lines and c.rows("sql", statement=text) == (lines[:-1], {**lines[-1], "total": lines[-1].get("total")}), (text, lines)
        rows, end = c.rows("sql", statement="SELECT position FROM step")
        assert len(rows) == 50 and end["complete"] is False, end
        assert len(c.rows("sql", statement="SELECT position FROM step", first=99)[0]) == 99
        for text in "DELETE FROM step", "ATTACH 'x.db' AS x", "SELECT", "SELECT 1; SELECT 2", "", "PRAGMA user_version=1", \
                "SELECT load_extension('x')":
            assert c.call("sql", statement=text)["isError"], text


@case
def a_summary_says_what_its_questions_say():
    with Client(WALK, "--exec", WALK_ELF) as c:
        row, = c.rows("overview")[0]
        assert (row["positions"], row["here"], row["end"]) == (7480, 7480, "the program's exit"), row
        known = [{k: v for k, v in r.items() if v is not None} for r in query(WALK, "events", "last", "8", "--exec", WALK_ELF)[0]]
        assert row["last_events"] == known, row
        assert [h["function"] for h in row["hot"]] == [h["function"] for h in query(WALK, "hot", "8", "--exec", WALK_ELF)[0]], row
        row, = c.rows("where", at=7443)[0]
        assert (row["position"], row["function"], row["pc"]) == (7443, "rt_main", "0x40183d"), row
        assert row["next_step"]["writes"] == ["0x403040,4=0x15"] and row["registers"]["rax"] == "0x15", row
        assert [f["function"] for f in row["stack"][:2]] == ["rt_main", "rt_entry"], row
        assert c.rows("when")[0][0]["position"] == 7480        # it did not move
        assert c.call("where", at="nowhere")["isError"]


@case
def messages_that_are_none_are_errors():
    with Client(WALK, handshake=False) as c:
        for line, code in (("{", -32700), ("[]", -32600), ('{"jsonrpc":"2.0","id":1.5,"method":"ping"}', -32600),
                           ('{"id":1,"method":"ping"}', -32600), ('{"jsonrpc":"2.0","id":1}', -32600),
                           ('{"jsonrpc":"2.0","id":1,"method":"none"}', -32601),
                           ('{"jsonrpc":"2.0","id":1,"method":"initialize","params":{}}', -32602)):
            c.write(line)
            assert c.message()["error"]["code"] == code, line
        c.write('{"jsonrpc":"2.0","method":"notifications/none"}')      # never answered
        assert c.result("ping") == {}
        for version in "2025-06-18", "2025-03-26", "2024-11-05":
            assert c.result("initialize", {**INFO, "protocolVersion": version})["protocolVersion"] == version
        assert c.result("initialize", {**INFO, "protocolVersion": "1999-01-01"})["protocolVersion"] == "2025-06-18"


@case
def what_is_no_request_is_refused_without_an_id():
    """The examples of JSON-RPC 2.0 are among them; a notification is never answered."""
    with Client(WALK) as c:
        for line in ('{"jsonrpc":"2.0","method":1,"params":"bar"}', "{}", "1", '"ping"', "null", "true", "[]", "[1]",
                     '[{"jsonrpc":"2.0","id":1,"method":"ping"}]', '{"jsonrpc":"2.0"}', '{"method":"ping"}'):
            c.write(line)
            found = c.message()
            assert found["error"]["code"] == -32600 and found["id"] is None, (line, found)
        c.write('{"jsonrpc": "2.0", "method": "foobar, "params": "bar", "baz]')
        assert c.message()["error"]["code"] == -32700
        c.notify("foobar")
        assert c.result("ping") == {}


def batch(c, *messages):
    """The answers to a batch by their ids; None is that of what is no request."""
    c.write(json.dumps(messages))
    found = c.answers()
    assert found and all(f["jsonrpc"] == "2.0" and ("result" in f) != ("error" in f) for f in found), found
    return {f["id"]: f for f in found}


def request(number, method, **params):
    return {"jsonrpc": "2.0", "id": number, "method": method, **({"params": params} if params else {})}


@case
def older_versions_have_batches():
    """2025-03-26: "implementations MUST support receiving JSON-RPC batches"; 2025-06-18 took them out again."""
    for version in "2025-03-26", "2024-11-05":
        with Client(WALK, handshake=False) as c:
            c.write(json.dumps([request(1, "ping")]))      # nothing is agreed on yet
            assert c.message()["error"]["code"] == -32600
            assert c.result("initialize", {**INFO, "protocolVersion": version})["protocolVersion"] == version
            found = batch(c, request("a", "ping"), {"jsonrpc": "2.0", "method": "notifications/initialized"}, 5,
                          request(7, "tools/call", **of_tool("when", {})), request(8, "none"),
                          request(9, "tools/call", **of_tool("when", {"x": 1})), request(10, "initialize", **INFO))
            assert set(found) == {"a", None, 7, 8, 9, 10}, found
            assert found["a"]["result"] == {} and found[7]["result"]["structuredContent"]["rows"][0]["position"] == 7480
            assert [found[i]["error"]["code"] for i in (None, 8, 9, 10)] == [-32600, -32601, -32602, -32600], found
            c.write(json.dumps([{"jsonrpc": "2.0", "method": "notifications/none"}]))       # no answer, no array
            assert c.result("ping") == {}
            c.write("[]")
            assert c.message()["error"]["code"] == -32600


@case
def the_last_line_needs_no_newline():
    done = subprocess.run([TRACESTUB, "mcp", "--quiet", WALK], input=json.dumps(request(1, "ping")), capture_output=True,
                          text=True, timeout=LIMIT)
    assert json.loads(done.stdout) == {"jsonrpc": "2.0", "id": 1, "result": {}} and done.returncode == 0, done


@case
def the_last_1024_places_are_gone_back_to():
    """Once the history was full, back went to the place before the last one that was kept."""
    with Client(DATA / "usercorn/x64_walk.ucir") as c:
        for k in range(1030):
            c.call("goto", what=str(k))
        for k in 1028, 1027:
            assert c.rows("back")[0][0]["position"] == k
        assert c.rows("forward")[0][0]["position"] == 1028


@case
def each_recording_has_its_own_position():
    pie = Program("pie", "ucir")
    with Client(WALK, pie.trace) as c:
        rows, _ = c.rows("recordings")
        assert rows == [{"recording": WALK, "positions": 7480}, {"recording": pie.trace, "positions": 15484}], rows
        c.rows("goto", recording="x64_walk.ucir", what="1000")
        c.rows("goto", recording=pie.trace, what="50%")
        for name, position in ("x64_walk.ucir", 1000), ("pie.ucir", 7742):
            rows, _ = c.rows("when", recording=name)
            assert rows[0]["position"] == position, rows
        c.rows("goto", recording="x64_walk.ucir", what="+5")
        assert c.rows("when", recording="x64_walk.ucir")[0][0]["position"] == 1005
        c.rows("back", recording="x64_walk.ucir")
        assert c.rows("when", recording="x64_walk.ucir")[0][0]["position"] == 1000
        c.rows("forward", recording="x64_walk.ucir")
        assert c.rows("when", recording="x64_walk.ucir")[0][0]["position"] == 1005
        assert c.error("tools/call", {"name": "ask", "arguments": {"question": "when"}}) == -32602


@case
def an_answer_has_at_most_ten_thousand_rows():
    pie = Program("pie", "ucir")        # 15,484 positions
    with Client(pie.trace) as c:
        for bound in "first", "last":
            result = c.call("history", what="$pc", **{bound: 15000})
            rows, end = result["structuredContent"]["rows"], result["structuredContent"]["end"]
            assert len(rows) == end["rows"] == 10000 and end["complete"] is False, end
            assert rows[0]["position"] == (0 if bound == "first" else 5484), rows[0]
            assert "There are more rows" in result["content"][0]["text"][-300:]


def ask_and_cancel(c, tool, **arguments):
    """Calls are answered one after the other: the ping is answered first, so the call is not over when it is cancelled."""
    number, ping = c.ask("tools/call", of_tool(tool, arguments)), c.ask("ping")
    c.notify("notifications/cancelled", requestId=number)
    return ping, c.ask("tools/list")    # waits for the end of the call


def check_cancelled(c, ping, follow):
    begin = time.monotonic()
    found = [c.message(), c.message()]
    assert [f["id"] for f in found] == [ping, follow] and "tools" in found[1]["result"], found
    return time.monotonic() - begin


@case
def a_call_that_runs_is_cancelled():
    """While the recording is being read, and while 14 million positions are looked at."""
    with Client(TRACE, "--index", "none", handshake=False) as c:
        with c.together():
            c.ask("initialize", INFO)
            c.notify("notifications/initialized")
            asked = ask_and_cancel(c, "events")
        assert c.message()["id"] == 1
        took = [check_cancelled(c, *asked)]
        assert c.rows("when", at="end")[0][0]["positions"] == N     # has read all
        with c.together():
            asked = ask_and_cancel(c, "executions", what=f"{START:#x},100", **{"if": "$rax == 1"})
        took.append(check_cancelled(c, *asked))
        c.notify("notifications/cancelled", requestId=9999)
        assert c.result("ping") == {}
        print("# cancelled after", *(f"{1000 * t:.1f} ms" for t in took))
        assert max(took) < 1, took      # 0.1 on a machine that does nothing else


@case
def a_call_is_cancelled_when_the_last_step_has_been_read():
    """Each call waits for the rest of the recording and is cancelled after some milliseconds of that: one of them just then."""
    events = of_tool("events", {})
    with Client(TRACE, "--index", "none") as c:
        call, is_answered = c.ask("tools/call", events), False
        while not is_answered:
            with c.together():
                c.notify("notifications/cancelled", requestId=call)
                tools, follow = c.ask("tools/list"), c.ask("tools/call", events)
            found = c.message()["id"]
            if found == call:
                is_answered, found = True, c.message()["id"]
            assert found == tools
            call = follow
        assert c.message()["id"] == call
        assert c.rows("when", at="end")[0][0]["positions"] == N


@case
def a_cancelled_call_that_waits_is_not_begun():
    with Client(TRACE, "--index", "none") as c:
        with c.together():
            first = c.ask("tools/call", of_tool("executions", {"what": f"{START:#x},100", "if": "$rax == 1"}))
            second = c.ask("tools/call", of_tool("threads", {}))
            c.notify("notifications/cancelled", requestId=second)
            c.notify("notifications/cancelled", requestId=first)
        assert c.result("ping") == {}
        assert c.result("ping") == {}


@case
def a_request_of_a_batch_is_cancelled():
    """The one that runs, one that waits in the batch, and one that waits in another; a ping from outside is answered."""
    slow = of_tool("executions", {"what": f"{START:#x},100", "if": "$rax == 1"})
    with Client(TRACE, "--index", "none", handshake=False) as c:
        c.result("initialize", {**INFO, "protocolVersion": "2025-03-26"})
        assert c.rows("when", at="end")[0][0]["positions"] == N     # has read all
        with c.together():
            c.write(json.dumps([request(100, "tools/call", **slow), request(101, "tools/list"), request(102, "ping")]))
            c.write(json.dumps([request(103, "tools/call", **slow)]))
            ping = c.ask("ping")
            c.write(json.dumps([{"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": i}}
                                for i in (101, 103, 100)]))
        assert c.message()["id"] == ping
        assert c.answers() == [{"jsonrpc": "2.0", "id": 102, "result": {}}]
        assert c.result("ping") == {}


@case
def two_recordings_are_compared():
    """x64dbg's recording of the same execution ends two steps before."""
    a, b = Program("pie", "ucir").trace, Program("pie", "trace64").trace
    with Client(a, b) as c:
        row = {"position": 15482, "end": 15484, "position2": 15482, "end2": 15482, "kind": "path", "what": None, "old": None,
               "new": None}
        whole = {"complete": True, "rows": 1, "total": 1}
        for arguments, n in ({}, 1), ({"only": "path"}, 1), ({"only": "memory"}, 0), ({"in": ":15482"}, 0), ({"in": "15482:"}, 1):
            rows, end = c.rows("diff", a=a, b="pie.trace64", **arguments)
            assert [{k: r[k] for k in row} for r in rows] == n * [row] and end == {**whole, "rows": n, "total": n}, (arguments, rows)
        place = {k: v for k, v in c.rows("diff", a=a, b="pie.trace64")[0][0].items() if k not in row}
        assert list(place) == ["function", "file", "line", "old_bytes", "new_bytes"], place
        assert len(c.rows("diff", a=a, b="pie.trace64", function=place["function"] or "*")[0]) == bool(place["function"])
        for arguments in {"only": "paths"}, {"in": "9"}, {"in": "9:4"}:
            assert c.call("diff", a=a, b=b, **arguments)["isError"], arguments
        assert c.rows("diff", a=a, b=a, rebase=True) == ([], {"complete": True, "rows": 0, "total": 0})
        for arguments in {}, {"a": a}, {"a": a, "b": 1}, {"a": a, "b": b, "c": b}, {"a": a, "b": b, "first": "1"}, []:
            assert c.error("tools/call", {"name": "diff", "arguments": arguments}) == -32602, arguments
        assert c.error("tools/call", {"name": "diff"}) == -32602
        assert c.call("diff", a=a, b="other")["isError"]


@case
def the_demos_corrupting_write_is_found_in_three_calls():
    """The program returns 21 though it printed "total 69" (tests/demo): line 40 of walk.c, in rt_main."""
    with Client(WALK, "--exec", WALK_ELF) as c:
        rows, _ = c.rows("last_write", what="total", at="end")
        assert rows[0]["function"] == "rt_main" and (rows[0]["old"], rows[0]["new"]) == ("0x45", "0x15"), rows
        position = rows[0]["position"]
        assert position == 7443
        chain, _ = c.rows("why", what="total", depth=1, at="end")
        assert chain[0]["position"] == position and chain[0]["function"] == "rt_main", chain
        before, _ = c.rows("last_write", what="total", at=position)
        assert before[0]["function"] == "bump" and before[0]["new"] == "0x45", before


@case
def a_client_that_leaves_ends_the_server():
    with Client(WALK) as c:
        c.ask("ping")
    with Client(WALK) as c:
        c.proc.send_signal(signal.SIGTERM)
        assert c.proc.wait(LIMIT) == -signal.SIGTERM
        c.proc.returncode = 0
    with Client(TRACE, "--index", "left.tsindex", stderr=subprocess.PIPE) as c:
        c.keeps = True
        c.ask("tools/call", of_tool("events", {}))
        c.proc.stdout.close()                                # before the call is sent: however fast the answer is, it has no reader
        c.proc.stdin.write(b"".join(c.kept))
        c.proc.stdin.close()
        assert b"cannot write to the client" in c.proc.stderr.read() and c.proc.wait(LIMIT) == 1
        c.proc.returncode = 0


run_cases_on_long()
