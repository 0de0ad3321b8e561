/* SPDX-License-Identifier: MIT */
#include "machine.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "session.h"
#include "src/query/paging.h"
#include "src/base/text/utf8.h"
#include "src/symbols/process_names.h"

#define LOW_BITS UINT64_C(0xfff) /* of cr3, which are not part of the address */

bool rsp_machine_is_virtual(const struct rsp_session *s)
{
	return s->target->has_paging && !s->is_physical;
}

const struct ts_filter *rsp_machine_filter(const struct rsp_session *s)
{
	return s->filter.has_root || s->filter.has_user ? &s->filter : NULL;
}

/* Returns false, with a message, for the recording of a program. */
static bool is_machine(const struct rsp_session *s, struct ts_buf *out)
{
	if (ts_query_facts(s->target->q)->is_physical)
		return true;
	ts_buf_puts(out, "this is the recording of a program, not of a machine");
	return false;
}

/* As above, if the translation of addresses is unknown. */
static bool has_paging(const struct rsp_session *s, struct ts_buf *out)
{
	if (!is_machine(s, out))
		return false;
	if (s->target->has_paging)
		return true;
	ts_buf_puts(out, "the recording does not show how addresses are translated: they are physical");
	return false;
}

/* "0x401000", "4198400"; returns false for anything else. */
static bool parse_number(const char *text, uint64_t *value)
{
	char *end;

	if (*text < '0' || *text > '9')
		return false;
	errno = 0;
	*value = strtoull(text, &end, 0);
	return !*end && !errno;
}

/* ---------------------------------------------------------------------------------------------- addresses */

static void put_addressing(const struct rsp_session *s, struct ts_buf *out)
{
	ts_buf_printf(out, "addresses: %s\n", rsp_machine_is_virtual(s) ? "virtual" : "physical");
}

bool rsp_machine_run_physical(struct rsp_session *s, const char *arg, struct ts_buf *out)
{
	bool is_on = !strcmp(arg, "on");

	if (*arg && !is_on && strcmp(arg, "off")) {
		ts_buf_puts(out, "physical takes on or off");
		return false;
	}
	if (!has_paging(s, out))
		return false;
	if (*arg)
		s->is_physical = is_on;
	put_addressing(s, out);
	return true;
}

static void put_page_len(uint64_t len, struct ts_buf *out)
{
	static const char *const units[] = { "KiB", "MiB", "GiB", "TiB" };
	unsigned unit = 0;

	for (len >>= 10; len >= 1024 && unit < 3; unit++)
		len >>= 10;
	ts_buf_printf(out, "%" PRIu64 " %s", len, units[unit]);
}

static void put_entries(const struct ts_translation *t, struct ts_buf *out)
{
	for (unsigned i = 0; i < t->n_entries; i++) {
		bool is_whole = t->mapping != TS_MAPPING_UNKNOWN || i + 1 < t->n_entries;

		ts_buf_printf(out, "  entry at 0x%" PRIx64 ": ", t->entries[i].addr);
		if (is_whole)
			ts_buf_printf(out, "0x%0*" PRIx64 "\n", (int)t->entry_len * 2, t->entries[i].value);
		else
			ts_buf_puts(out, "not known\n");
	}
}

bool rsp_machine_run_translate(struct rsp_session *s, const char *arg, struct ts_buf *out)
{
	struct ts_translation t;
	struct ts_error err = { 0 };
	uint64_t addr;

	if (!has_paging(s, out))
		return false;
	if (!parse_number(arg, &addr)) {
		ts_buf_puts(out, "translate takes an address, a number");
		return false;
	}
	if (!ts_translate_at(s->target->q, s->pos, rsp_process(s), addr, &t, &err)) {
		ts_buf_puts(out, err.text);
		return false;
	}
	ts_buf_printf(out, "virtual 0x%" PRIx64 ": ", addr);
	if (t.mapping == TS_MAPPED) {
		ts_buf_printf(out, "physical 0x%" PRIx64 ", page of ", t.phys);
		put_page_len(t.page_len, out);
		ts_buf_putc(out, '\n');
	} else {
		ts_buf_puts(out, t.mapping == TS_UNMAPPED ? "not mapped\n" : "not known\n");
	}
	put_entries(&t, out);
	return true;
}

/* ------------------------------------------------------------------------------------------------ filters */

static void put_filter(const struct rsp_session *s, struct ts_buf *out)
{
	const char *name = s->filter.has_root ? ts_process_names_get(s->target->process_names, s->filter.root) : NULL;

	ts_buf_puts(out, "filter:");
	if (s->filter.has_root)
		ts_buf_printf(out, " process with cr3 0x%" PRIx64, s->filter.root);
	if (name) {
		ts_buf_puts(out, " (");
		ts_utf8_put_shown(out, name);
		ts_buf_putc(out, ')');
	}
	if (s->filter.has_user)
		ts_buf_printf(out, "%s user code", s->filter.has_root ? "," : "");
	ts_buf_puts(out, rsp_machine_filter(s) ? "\n" : " off\n");
}

/* "process [CR3 | NAME]": the default is that of the position. */
static bool set_process(struct rsp_session *s, const char *arg, struct ts_buf *out)
{
	const struct ts_mode *mode = ts_query_mode(s->target->q, s->pos);
	uint64_t root = mode->regs[TS_MODE_CR3];

	size_t n = *arg ? ts_process_names_find(s->target->process_names, arg, &root) : 0;

	if (n > 1) {
		ts_buf_printf(out, "%zu processes have this name: give the cr3 of one", n);
		return false;
	}
	if (*arg ? !n && !parse_number(arg, &root) : !ts_mode_knows(mode, TS_MODE_CR3)) {
		ts_buf_puts(out, *arg ? "filter process takes a number, the process's cr3, or a name of --processes"
				      : "cr3 is not known here");
		return false;
	}
	s->filter.has_root = true;
	s->filter.root = root & ~LOW_BITS;
	return true;
}

bool rsp_machine_run_filter(struct rsp_session *s, const char *arg, struct ts_buf *out)
{
	size_t len = strcspn(arg, " \t");
	const char *rest = arg + len + strspn(arg + len, " \t");
	bool is_process = len == strlen("process") && !strncmp(arg, "process", len);

	if (!is_machine(s, out))
		return false;
	if (is_process) {
		if (!set_process(s, rest, out))
			return false;
	} else if (!strcmp(arg, "user")) {
		s->filter.has_user = true;
	} else if (!strcmp(arg, "off")) {
		s->filter = (struct ts_filter){ 0 };
	} else if (*arg) {
		ts_buf_puts(out, "filter takes process, user or off");
		return false;
	}
	put_filter(s, out);
	return true;
}

/* ------------------------------------------------------------------------------------------------ facts */

void rsp_machine_info(const struct rsp_session *s, struct ts_buf *out)
{
	const struct ts_mode *mode = ts_query_mode(s->target->q, s->pos);

	if (!mode)
		return;
	put_addressing(s, out);
	put_filter(s, out);
	if (!s->target->has_paging)
		ts_buf_puts(out, "paging: not recorded\n");
	else
		ts_buf_printf(out, "paging: %s here\n",
			      ts_paging_text(ts_paging_at(s->target->q, s->pos).kind));
	if (s->target->has_paging && !ts_mode_knows(mode, TS_MODE_EFER))
		ts_buf_puts(out,
			    "efer: not recorded; the 64-bit code segment shows long mode\n");
	if (ts_mode_code_size(mode) == TS_CODE_16)
		ts_buf_puts(out, "code: 16 bits; addresses of instructions are offsets in cs\n");
}
