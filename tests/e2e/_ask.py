# SPDX-License-Identifier: MIT
"""Questions as one types them, all asked of one process: it reads the recording once.

    asker = Asker("t.ucir")
    asker.rows("calls fib if n == 3 in 0:500")      the rows, as `query --json` has them

doors.py compares what this process answers with what `tracestub query` does.
"""
import atexit

from _mcp import Client
from _questions import WORDS

MAX_ROWS = 10000    # of one answer
ONE_ROW = {"back", "forward", "goto", "mark", "unmark", "when"}     # verbs without "first N"
BEGINNINGS = {word: name for name, word in WORDS.items() if word}
NUMBERS = {"first", "last", "depth", "min", "thread"}


def arguments_of(words):
    """The tool's arguments: what stands before the first word of the grammar is "what"."""
    parts = {"what": []}
    name = "what"
    for word in words:
        if word == "--changes":
            parts["changes"] = True
        elif word in BEGINNINGS:
            name = BEGINNINGS[word]
            parts[name] = []
        else:
            parts[name].append(word)
    if not parts["what"]:
        del parts["what"]
    return {name: part if part is True else int(part[0]) if name in NUMBERS else " ".join(part) for name, part in parts.items()}


class Asker:
    """Ends with the script."""

    def __init__(self, trace, *options):
        self.client = Client(str(trace), *options)
        self.client.rows("goto", what="end")    # from where query starts
        atexit.register(self.client.__exit__, None, None, None)

    def answer(self, question):
        """(rows, end): all rows, or those that the question bounds."""
        verb, *words = question.split()
        tool, arguments = verb.replace("-", "_"), arguments_of(words)
        is_whole = verb not in ONE_ROW and not arguments.keys() & {"first", "last"}
        rows, end = self.client.rows(tool, **arguments, **({"first": MAX_ROWS} if is_whole else {}))
        assert len(rows) < MAX_ROWS, (question, end)
        return rows, end

    def rows(self, question):
        rows, end = self.answer(question)
        assert end["complete"] or {"first", "last"} & set(question.split()) or "are not recorded" in end.get("note", ""), (question, end)
        return rows
