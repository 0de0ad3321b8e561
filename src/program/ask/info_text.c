/* SPDX-License-Identifier: MIT */
/*
 * The facts as text.  What a trace calls its things is shown with its control characters escaped.
 */
#include "info.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "src/base/text/utf8.h"
#include "src/program/cli/report.h"
#include "src/query/paging.h"

#define LABEL_WIDTH 14

/* Columns after which a list of registers goes on in the next line. */
#define REGISTERS_WIDTH 66

static int label(const char *name)
{
	return printf("%-*s", LABEL_WIDTH, name);
}

static void put_text(const char *s)
{
	while (*s) {
		size_t n = ts_utf8_shown_len(s, strlen(s));

		if (n)
			printf("%.*s", (int)n, s);
		else
			printf("\\x%02x", (unsigned char)*s);
		s += n ? n : 1;
	}
}

static void put_pc(bool is_known, uint64_t pc)
{
	if (is_known)
		printf("0x%" PRIx64, pc);
	else
		printf("unknown");
}

/* The program's path, and its arguments, each of which ends with a NUL. */
static void put_program(const struct ts_facts *facts)
{
	if (facts->exec_path) {
		label("program");
		put_text(facts->exec_path);
		putchar('\n');
	}
	if (!facts->cmdline->len)
		return;
	label("arguments");
	for (size_t i = 0; i < facts->cmdline->len; i += strlen((const char *)facts->cmdline->data + i) + 1) {
		if (i)
			putchar(' ');
		put_text((const char *)facts->cmdline->data + i);
	}
	putchar('\n');
}

/* Names and texts in turn. */
static void put_notes(const struct ts_buf *notes)
{
	for (size_t i = 0; i < notes->len;) {
		const char *name = (const char *)notes->data + i, *value = name + strlen(name) + 1;

		label(name);
		if (strlen(name) >= LABEL_WIDTH)
			putchar(' ');
		put_text(value);
		putchar('\n');
		i += strlen(name) + strlen(value) + 2;
	}
}

static void put_recording(const struct ts_info *info)
{
	const struct ts_facts *facts = info->facts;
	const struct ts_arch *arch = facts->regs->arch;

	label("trace");
	put_text(info->path);
	putchar('\n');
	label("format");
	printf("%s%s", facts->format, *facts->variant ? ", " : "");
	put_text(facts->variant);
	putchar('\n');
	label("architecture");
	printf("%s, %s-endian\n", arch->name, arch->is_big_endian ? "big" : "little");
	if (*facts->os) {
		label("system");
		put_text(facts->os);
		putchar('\n');
	}
	put_program(info->facts);
	put_notes(info->facts->notes);
}

static void put_end(const struct ts_info *info)
{
	const struct ts_ending *ending = &info->ending;

	label("end");
	if (ts_info_is_damaged(info))
		puts("the trace is truncated or damaged there");
	else if (ending->damage.code != TS_OK)
		puts("the rest was not read, see the warnings");
	else if (ending->is_fault)
		printf("a fault: the last instruction did not complete%s%s\n", *info->exit_text ? "; the program's end " : "",
		       info->exit_text);
	else if (!ending->has_exit)
		puts("no exit was recorded");
	else if (*info->exit_text)
		printf("the program's end %s\n", info->exit_text);
	else
		puts("the program's exit");
}

static void put_course(const struct ts_info *info)
{
	uint64_t n = ts_query_end(info->q), n_syscalls = ts_query_n_events(info->q, TS_EV_SYSCALL);

	label("positions");
	printf("0..%" PRIu64 ": %" PRIu64 " instructions\n", n, n);
	label("first pc");
	put_pc(info->has_pc_first, info->pc_first);
	putchar('\n');
	label("last pc");
	put_pc(info->has_pc_last, info->pc_last);
	if (info->has_pc_last && ts_query_is_end_assumed(info->q))
		printf(", assumed: the recording does not show where the last instruction led");
	putchar('\n');
	put_end(info);
	label("system calls");
	if (n_syscalls)
		printf("%" PRIu64 "\n", n_syscalls);
	else
		puts("none recorded");
	if (info->facts->is_physical) {
		label("interrupts");
		printf("%" PRIu64 "\n", ts_query_n_events(info->q, TS_EV_INTERRUPT));
		label("addresses");
		if (ts_paging_is_known(info->q))
			printf("virtual: %s at position 0\n", ts_paging_text(ts_paging_at(info->q, 0).kind));
		else
			puts("physical: the recording does not show how they are translated");
	}
	printf("%-14s%s\n", "memory reads", !info->facts->has_reads ? "not recorded" :
	       info->facts->misses_reads ? "recorded, but not those of vector, floating-point and atomic instructions" : "recorded");
}

static void put_threads(const struct ts_info *info)
{
	uint32_t n = ts_query_n_threads(info->q);

	label("threads");
	printf("%" PRIu32 "\n", n);
	for (uint32_t i = 0; i < n; i++) {
		char text[TS_THREAD_LABEL_LEN];

		ts_names_label(&info->names, info->q, i, text);
		printf("  ");
		put_text(text);
		printf(": %" PRIu64 " instructions\n", info->thread_steps[i]);
	}
}

/* Do two names differ by one in their number, as r8 and r9 do, or ymm0h and ymm1h? */
static bool is_next_name(const char *a, const char *b)
{
	size_t len = strcspn(a, "0123456789");
	char *a_end, *b_end;

	if (!a[len] || strncmp(a, b, len) != 0)
		return false;
	return strtoul(a + len, &a_end, 10) + 1 == strtoul(b + len, &b_end, 10) && strcmp(a_end, b_end) == 0;
}

/* The last of the registers from @first on that are all @known and whose names count up. */
static unsigned find_series_end(const struct ts_info *info, unsigned first, enum ts_info_known known)
{
	const struct ts_regset *set = info->facts->regs;
	unsigned i = first;

	while (i + 1 < set->n_regs && info->known[i + 1] == known &&
	       is_next_name(set->regs[i].name, set->regs[i + 1].name))
		i++;
	return i;
}

/* The names of the registers that are @known, of three and more that count up the first and the last. */
static void put_registers(const struct ts_info *info, const char *name, enum ts_info_known known)
{
	const struct ts_regset *set = info->facts->regs;
	int column = 0;

	for (unsigned i = 0; i < set->n_regs; i++) {
		unsigned first = i;

		if (info->known[i] != known)
			continue;
		i = find_series_end(info, i, known);
		if (!column)
			column = label(name);
		else if (column < REGISTERS_WIDTH)
			column += printf(" ");
		else
			column = printf("\n%*s", LABEL_WIDTH, "");
		column += printf("%s", set->regs[first].name);
		if (i == first + 1)
			column += printf(" %s", set->regs[i].name);
		else if (i > first)
			column += printf("-%s", set->regs[i].name);
	}
	if (column)
		putchar('\n');
}

/* A text after a space, if there is one.  Returns whether there is. */
static bool put_next(const char *text)
{
	if (!text || !*text)
		return false;
	putchar(' ');
	put_text(text);
	return true;
}

static void put_region(const struct ts_info *info, const struct ts_region_info *r)
{
	char prot[4];

	printf("  0x%" PRIx64 "-0x%" PRIx64 " %s", r->first, r->last, ts_info_prot(r->prot, prot));
	if (ts_query_n_processes(info->q) > 1)
		printf(" process %" PRIu32, r->process);
	put_next(r->desc);
	if (put_next(r->file))
		printf("+0x%" PRIx64, r->file_off);
	putchar('\n');
}

static void put_module(const struct ts_info *info, const struct ts_module_info *m)
{
	printf("  0x%" PRIx64 "-0x%" PRIx64, m->first, m->last);
	if (ts_query_n_processes(info->q) > 1)
		printf(" process %" PRIu32, m->process);
	put_next(m->file);
	if (m->from)
		printf(", from position %" PRIu64, m->from);
	if (m->until != TS_NO_POS)
		printf(", until position %" PRIu64, m->until);
	putchar('\n');
}

static void put_modules(const struct ts_info *info)
{
	struct ts_module_info m;
	size_t n = 0;

	while (ts_query_module(info->q, n, &m))
		n++;
	if (!n)
		return;
	label("modules");
	printf("%zu\n", n);
	for (size_t i = 0; ts_query_module(info->q, i, &m); i++)
		put_module(info, &m);
}

static void put_index(const struct ts_info *info)
{
	const struct ts_index_stats *st = &info->stats;
	double n = (double)ts_query_end(info->q);

	label("index");
	if (ts_query_end(info->q))
		printf("%.2f bytes an instruction: decode points %.2f, registers %.2f, memory %.2f, runs %.2f\n",
		       (double)ts_info_index_len(info) / n, (double)st->points_len / n,
		       (double)st->regs_len / n, (double)st->memory_len / n, (double)st->runs_len / n);
	else
		printf("%" PRIu64 " bytes\n", ts_info_index_len(info));
	label("inferred");
	printf("%" PRIu64 " bytes, known from their first use\n", st->n_inferred);
	label("unexplained");
	printf("%" PRIu64 " changes that nothing in the trace made\n", st->n_unexplained);
}

void ts_info_text(const struct ts_info *info)
{
	put_recording(info);
	put_course(info);
	put_threads(info);
	put_registers(info, "registers", TS_KNOWN_FIRST);
	put_registers(info, "known later", TS_KNOWN_LATER);
	put_registers(info, "unknown", TS_KNOWN_NEVER);
	label("regions");
	printf("%zu at position 0\n", info->n_regions);
	for (size_t i = 0; i < info->n_regions; i++)
		put_region(info, &info->regions[i]);
	put_modules(info);
	put_index(info);
	label("warnings");
	printf("%u\n", ts_report_n_warnings(info->q));
	for (unsigned i = 0; i < ts_report_n_warnings(info->q); i++) {
		char line[TS_WARNING_LINE_LEN];

		ts_report_warning(info->q, info->path, i, line);
		printf("  ");
		put_text(line);
		putchar('\n');
	}
}
