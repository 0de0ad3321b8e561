/* SPDX-License-Identifier: MIT */
#include "machine_names.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "question.h"
#include "state.h"
#include "src/symbols/symbols.h"

static bool get_process(const struct ts_ask *ask, uint64_t *root)
{
	return ask->symbols && ts_symbols_process(ask->symbols, root);
}

bool ts_machine_names_hold(const struct ts_ask *ask, uint64_t pos, uint32_t thread)
{
	uint64_t root, process = 0;
	struct ts_error ignored = { 0 };

	return !get_process(ask, &root) || (ts_machine_process(ask->q, pos, thread, &process, &ignored) && process == root);
}

bool ts_machine_names_count(const struct ts_ask *ask, const struct ts_question *qn)
{
	uint64_t root;

	return !get_process(ask, &root) || (qn->machine.has_process && qn->machine.process == root);
}

/* Is a part of the question a name? */
static bool is_named(const struct ts_question *qn)
{
	bool has_place = qn->verb->operand == TS_OPERAND_CODE_OR_NONE || qn->verb->operand == TS_OPERAND_CALLEE_OR_NONE;

	if (qn->what.is_named || qn->memory.is_named || qn->local_len || (has_place && *qn->operand))
		return true;
	for (unsigned i = 0; i < qn->cond.n; i++) {
		if (qn->cond.terms[i].place.is_named)
			return true;
	}
	return false;
}

/* Verbs that look for virtual addresses of code. */
static bool is_about_code(const struct ts_verb *verb)
{
	return verb->operand == TS_OPERAND_CODE_OR_NONE || verb->operand == TS_OPERAND_CALLEE_OR_NONE || strstr(verb->name, "-exec") ||
	       !strcmp(verb->name, "executions") || !strcmp(verb->name, "steps") || !strcmp(verb->name, "compares") ||
	       !strcmp(verb->name, "source");
}

bool ts_machine_names_take(const struct ts_ask *ask, struct ts_question *qn, struct ts_error *err)
{
	uint64_t root;

	if (!get_process(ask, &root))
		return true;
	if (qn->verb->takes & TS_TAKES_MACHINE && !qn->machine.has_process && !*qn->local_note)
		snprintf(qn->local_note, sizeof(qn->local_note), "names are those of process 0x%" PRIx64, root);
	if (!is_named(qn))
		return true;
	if (!is_about_code(qn->verb))
		return (qn->machine.has_process && qn->machine.process == root) || ts_machine_names_hold(ask, qn->at, ts_ask_thread(ask, qn)) ||
		       ts_fail(err, TS_EUSAGE, TS_NO_OFF,
			       "names are those of process 0x%" PRIx64 ", and another one runs at position %" PRIu64 ": add 'at POSITION'", root,
			       qn->at);
	if (!(qn->verb->takes & TS_TAKES_MACHINE))
		return ts_fail(err, TS_EUSAGE, TS_NO_OFF,
			       "names are those of process 0x%" PRIx64 ", and %s is about all processes: give the address", root, qn->verb->name);
	if (qn->machine.has_process && qn->machine.process != root)
		return ts_fail(err, TS_EUSAGE, TS_NO_OFF, "names are those of process 0x%" PRIx64, root);
	qn->machine.has_process = true;
	qn->machine.process = root;
	*qn->local_note = 0;
	return true;
}

static bool is_name_of_code(const struct ts_column *c)
{
	static const char *const names[] = { "function", "file", "line", "caller", "callee" };

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		if (!strcmp(c->name, names[i]))
			return true;
	}
	return false;
}

void ts_machine_rows_init(struct ts_machine_rows *m, const struct ts_ask *ask, const struct ts_question *qn)
{
	const struct ts_verb *verb = qn->verb;
	uint64_t root;

	*m = (struct ts_machine_rows){ .ask = ask, .qn = qn, .position = verb->n_columns };
	m->names.has_process = get_process(ask, &root);
	m->names.process = root;
	for (unsigned i = 0; i < verb->n_columns; i++) {
		if (!strcmp(verb->columns[i].name, "position"))
			m->position = i;
		m->columns |= (uint32_t)is_name_of_code(&verb->columns[i]) << i;
	}
}

static bool is_asked(const struct ts_machine_rows *m)
{
	return m->qn->verb->takes & TS_TAKES_MACHINE && (m->qn->machine.has_process || m->qn->machine.has_ring);
}

bool ts_machine_rows_look(const struct ts_machine_rows *m)
{
	return is_asked(m) || (m->names.has_process && m->columns);
}

static void empty(struct ts_row *row, uint32_t columns)
{
	for (unsigned i = 0; i < TS_MAX_COLUMNS; i++) {
		if (columns >> i & 1)
			row->cells[i].kind = TS_CELL_NULL;
	}
}

bool ts_machine_row(struct ts_machine_rows *m, struct ts_row *row, bool *is_it, struct ts_error *err)
{
	bool has_position = m->position < m->qn->verb->n_columns, is_named = false;
	uint64_t pos;

	*is_it = true;
	if (!ts_machine_rows_look(m))
		return true;
	if (!has_position) {
		if (!ts_machine_names_count(m->ask, m->qn))
			empty(row, m->columns);
		return true;
	}
	has_position = row->cells[m->position].kind == TS_CELL_NUMBER;
	pos = row->cells[m->position].number;
	if (is_asked(m)) {
		*is_it = false;
		if (has_position && !ts_machine_holds(&m->qn->machine, m->ask->q, &m->at, pos, is_it, err))
			return false;
	}
	if (!m->names.has_process || !*is_it)
		return true;
	if (has_position && !ts_machine_holds(&m->names, m->ask->q, &m->names_at, pos, &is_named, err))
		return false;
	if (!is_named)
		empty(row, m->columns);
	return true;
}
