/* SPDX-License-Identifier: MIT */
/*
 * The facts as JSON: one object.  Addresses are strings "0x...", counts are numbers, what is not known is
 * null.  Strings of the trace that are no UTF-8 get U+FFFD for each byte outside ASCII.
 */
#include "info.h"

#include <inttypes.h>
#include <jansson.h>
#include <stdio.h>
#include <string.h>

#include "src/base/text/json.h"
#include "src/program/cli/report.h"
#include "src/query/paging.h"

static json_t *text(const char *s)
{
	json_t *string = json_string(s);
	struct ts_buf b;

	if (string)
		return string;
	ts_buf_init(&b);
	for (; *s; s++) {
		if (*s & 0x80)
			ts_buf_puts(&b, "\xef\xbf\xbd");
		else
			ts_buf_putc(&b, (uint8_t)*s);
	}
	string = ts_buf_ok(&b) ? json_string(ts_buf_text(&b)) : NULL;
	ts_buf_fini(&b);
	return string;
}

static json_t *text_or_null(const char *s)
{
	return s && *s ? text(s) : json_null();
}

static json_t *address(bool is_known, uint64_t addr)
{
	return is_known ? json_sprintf("0x%" PRIx64, addr) : json_null();
}

/* A list with one more item; NULL, and both are gone, if either is NULL or memory ran out. */
static json_t *added(json_t *list, json_t *item)
{
	if (!json_array_append_new(list, item))
		return list;
	json_decref(list);
	return NULL;
}

static json_t *threads(const struct ts_info *info)
{
	json_t *list = json_array();

	for (uint32_t i = 0; i < ts_query_n_threads(info->q); i++) {
		const struct ts_thread *t = ts_query_thread_facts(info->q, i);

		list = added(list, json_pack("{s:I, s:I, s:o, s:I}",
					     "pid", (json_int_t)info->names.pids[ts_query_process(info->q, i)],
					     "tid", (json_int_t)info->names.tids[i],
					     "name", text_or_null(t->name),
					     "steps", (json_int_t)info->thread_steps[i]));
	}
	return list;
}

static json_t *regions(const struct ts_info *info)
{
	json_t *list = json_array();
	char prot[4];

	for (size_t i = 0; i < info->n_regions; i++) {
		const struct ts_region_info *r = &info->regions[i];

		list = added(list, json_pack("{s:o, s:o, s:s, s:I, s:o, s:o, s:o}",
					     "first", address(true, r->first),
					     "last", address(true, r->last),
					     "prot", ts_info_prot(r->prot, prot),
					     "process", (json_int_t)r->process,
					     "description", text_or_null(r->desc),
					     "file", text_or_null(r->file),
					     "file_offset", address(true, r->file_off)));
	}
	return list;
}

/* A module that was there from its first position on until before its last, null: to the end. */
static json_t *modules(const struct ts_info *info)
{
	struct ts_module_info m;
	json_t *list = json_array();

	for (size_t i = 0; ts_query_module(info->q, i, &m); i++)
		list = added(
			list,
			json_pack("{s:o, s:o, s:I, s:o, s:I, s:o}", "first", address(true, m.first), "last",
				  address(true, m.last), "process", (json_int_t)m.process, "file",
				  text_or_null(m.file), "from", (json_int_t)m.from, "until",
				  m.until == TS_NO_POS ? json_null() : json_integer((json_int_t)m.until)));
	return list;
}

static json_t *names(const struct ts_info *info, enum ts_info_known known)
{
	const struct ts_regset *set = info->facts->regs;
	json_t *list = json_array();

	for (unsigned i = 0; i < set->n_regs; i++) {
		if (info->known[i] == known)
			list = added(list, text(set->regs[i].name));
	}
	return list;
}

static json_t *registers(const struct ts_info *info)
{
	return json_pack("{s:o, s:o, s:o}",
			 "known", names(info, TS_KNOWN_FIRST),
			 "later", names(info, TS_KNOWN_LATER),
			 "unknown", names(info, TS_KNOWN_NEVER));
}

static json_t *warnings(const struct ts_info *info)
{
	json_t *list = json_array();

	for (unsigned i = 0; i < ts_report_n_warnings(info->q); i++) {
		char line[TS_WARNING_LINE_LEN];

		ts_report_warning(info->q, info->path, i, line);
		list = added(list, text(line));
	}
	return list;
}

static json_t *index_figures(const struct ts_info *info)
{
	const struct ts_index_stats *st = &info->stats;
	uint64_t n = ts_query_end(info->q);

	return json_pack("{s:I, s:o, s:I, s:I, s:I, s:I, s:I}",
			 "bytes", (json_int_t)ts_info_index_len(info),
			 "bytes_per_step", n ? json_real((double)ts_info_index_len(info) / (double)n) : json_null(),
			 "segments", (json_int_t)st->n_segments,
			 "decode_points", (json_int_t)st->points_len,
			 "registers", (json_int_t)st->regs_len,
			 "memory", (json_int_t)st->memory_len,
			 "runs", (json_int_t)st->runs_len);
}

static json_t *arguments(const struct ts_buf *cmdline)
{
	json_t *list = json_array();

	for (size_t i = 0; i < cmdline->len; i += strlen((const char *)cmdline->data + i) + 1)
		list = added(list, text((const char *)cmdline->data + i));
	return list;
}

/* Names and texts in turn. */
static json_t *notes(const struct ts_buf *all)
{
	json_t *object = json_object();

	for (size_t i = 0; i < all->len;) {
		const char *name = (const char *)all->data + i, *value = name + strlen(name) + 1;

		if (json_object_set_new(object, name, text(value)) < 0) {
			json_decref(object);
			return NULL;
		}
		i += strlen(name) + strlen(value) + 2;
	}
	return object;
}

static json_t *all_facts(const struct ts_info *info)
{
	const struct ts_facts *facts = info->facts;
	const struct ts_query *q = info->q;
	json_int_t n_syscalls = (json_int_t)ts_query_n_events(q, TS_EV_SYSCALL);

	return json_pack(
		"{s:o, s:s, s:o, s:s, s:o, s:o, s:o, s:o, s:I, s:i, s:o, s:o, s:b, s:s, s:b, s:o, s:o, s:o, "
		"s:b, s:I, s:I,"
		" s:o, s:o, s:o, s:o, s:o, s:o}",
		"trace", text(info->path), "format", facts->format, "variant", text_or_null(facts->variant),
		"arch", facts->regs->arch->name, "os", text_or_null(facts->os), "program",
		text_or_null(facts->exec_path), "arguments", arguments(facts->cmdline), "notes",
		notes(facts->notes), "positions", (json_int_t)ts_query_end(q), "threads",
		(int)ts_query_n_threads(q), "pc_first", address(info->has_pc_first, info->pc_first),
		"pc_last", address(info->has_pc_last, info->pc_last), "pc_last_assumed",
		info->has_pc_last && ts_query_is_end_assumed(q), "end", ts_info_end(info), "truncated",
		ts_info_is_damaged(info), "syscalls", n_syscalls ? json_integer(n_syscalls) : json_null(),
		"interrupts",
		facts->is_physical ? json_integer((json_int_t)ts_query_n_events(q, TS_EV_INTERRUPT))
				   : json_null(),
		"paging",
		ts_paging_is_known(info->q) ? text(ts_paging_text(ts_paging_at(info->q, 0).kind))
					    : json_null(),
		"memory_reads", facts->has_reads, "inferred", (json_int_t)info->stats.n_inferred,
		"unexplained", (json_int_t)info->stats.n_unexplained, "warnings", warnings(info),
		"thread_list", threads(info), "registers", registers(info), "index", index_figures(info),
		"regions", regions(info), "modules", modules(info));
}

bool ts_info_json(const struct ts_info *info, struct ts_error *err)
{
	json_t *o = all_facts(info);
	struct ts_buf text;
	bool is_whole;

	ts_buf_init(&text);
	ts_json_put(&text, o, JSON_INDENT(2) | JSON_ENSURE_ASCII | JSON_REAL_PRECISION(6));
	ts_buf_putc(&text, '\n');
	json_decref(o);
	is_whole = ts_buf_ok(&text) || ts_no_memory(err, "the answer");
	if (is_whole)
		fwrite(text.data, 1, text.len, stdout); /* the caller looks whether it was written */
	ts_buf_fini(&text);
	return is_whole;
}
