/* SPDX-License-Identifier: MIT */
/*
 * Traces of x64dbg (.trace64, .trace32): the container.
 *
 *      4        "TRAC"
 *      4        length of the head's text, little-endian as everything
 *      ..       JSON object: ver (1), arch ("x64" or "x86"), compression (""), path of the program, a hash of
 *               it
 *      ..       blocks up to the end of the file
 *
 * A block is an executed instruction (block.c) or something that a plugin added (plugin_block.c).
 * Recording into a file that exists adds blocks to it: a file may hold several sessions.
 */
#include "x64dbg.h"

#include <inttypes.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "loaders/loader.h"
#include "src/base/cursor.h"

#define HEAD_LEN 8u
#define MAX_TEXT 102400u
#define KNOWN_VERSION 1

/* ------------------------------------------------------------------------------------------------ head */

static unsigned probe(const uint8_t *head, size_t len, uint64_t)
{
	if (len < 4 || memcmp(head, "TRAC", 4))
		return 0;
	return len > HEAD_LEN && head[HEAD_LEN] == '{' ? 40 : 32;
}

static bool check_version(const json_t *head, struct ts_error *err)
{
	const json_t *version = json_object_get(head, "ver");

	if (!json_is_integer(version))
		return ts_fail(err, TS_ECORRUPT, HEAD_LEN, "the head has no number \"ver\"");
	if (json_integer_value(version) != KNOWN_VERSION)
		return ts_fail(err, TS_EUNSUPPORTED, HEAD_LEN,
			       "version %" JSON_INTEGER_FORMAT ", version 1 is known",
			       json_integer_value(version));
	return true;
}

static bool read_arch(struct x64dbg *rec, const json_t *head, struct ts_error *err)
{
	const char *arch = json_string_value(json_object_get(head, "arch"));

	if (!arch)
		return ts_fail(err, TS_ECORRUPT, HEAD_LEN, "the head has no \"arch\"");
	rec->is_64 = !strcmp(arch, "x64");
	if (!rec->is_64 && strcmp(arch, "x86"))
		return ts_fail(err, TS_EUNSUPPORTED, HEAD_LEN,
			       "architecture \"%.40s\", x64 and x86 are known", arch);
	return true;
}

static bool check_compression(const json_t *head, struct ts_error *err)
{
	const json_t *compression = json_object_get(head, "compression");
	const char *name = json_string_value(compression);

	if (!compression || (name && !*name))
		return true;
	return ts_fail(err, TS_EUNSUPPORTED, HEAD_LEN, "compression \"%.40s\": no known trace is compressed",
		       name ? name : "?");
}

static bool parse_head(struct x64dbg *rec, const char *text, size_t len, struct ts_error *err)
{
	const char *path;
	json_error_t why;
	json_t *head;
	bool done;

	while (len && !text[len - 1])
		len--;
	head = json_loadb(text, len, 0, &why);
	if (!json_is_object(head)) {
		ts_fail(err, TS_ECORRUPT, HEAD_LEN + (head || why.position < 0 ? 0 : (unsigned)why.position),
			"the head is not a JSON object%s%.80s", head ? "" : ": ", head ? "" : why.text);
		json_decref(head);
		return false;
	}
	done = check_version(head, err) && read_arch(rec, head, err) && check_compression(head, err);
	path = json_string_value(json_object_get(head, "path"));
	if (done && path && *path) {
		rec->base.exec_path = strdup(path);
		done = rec->base.exec_path || ts_no_memory(err, "the program's path");
	}
	json_decref(head);
	return done;
}

static bool read_head(struct x64dbg *rec, struct ts_error *err)
{
	uint64_t file_len = ts_source_len(rec->src);
	uint8_t bytes[HEAD_LEN];
	struct ts_cursor c;
	uint32_t len;
	size_t got;
	char *text;
	bool done;

	if (!ts_source_read(rec->src, 0, bytes, sizeof(bytes), &got, err))
		return false;
	if (got < 4 || memcmp(bytes, "TRAC", 4))
		return ts_fail(err, TS_EUNSUPPORTED, 0,
			       "not a trace of x64dbg: it does not begin with \"TRAC\"");
	c = ts_cursor(bytes + 4, got - 4, 4, "head", err);
	len = ts_u32le(&c);
	if (!ts_ok(&c))
		return false;
	if (len > MAX_TEXT)
		return ts_fail(err, TS_ECORRUPT, 4,
			       "a head of %" PRIu32 " bytes, but the maximum is %u", len, MAX_TEXT);
	if (len > file_len - HEAD_LEN)
		return ts_fail(err, TS_ETRUNC, 4, "a head of %" PRIu32 " bytes, but %" PRIu64 " are left",
			       len, file_len - HEAD_LEN);
	text = malloc(len + 1);
	if (!text)
		return ts_no_memory(err, "the head");
	done = ts_source_read_all(rec->src, HEAD_LEN, text, len, err) && parse_head(rec, text, len, err);
	free(text);
	rec->first = HEAD_LEN + len;
	return done;
}

/* ---------------------------------------------------------------------------------------------- recording */

static struct ts_reader *new_reader(struct ts_recording *base, struct ts_error *err)
{
	return x64dbg_reader_new((struct x64dbg *)base, NULL, err);
}

/*
 * All that the record has, and the bases of segments, which it has not: gdb is to know that they are not
 * known.
 */
static bool choose_registers(struct x64dbg *rec, struct ts_error *err)
{
	static const char *const wanted[] = { "org.gnu.gdb.i386.sse", "org.gnu.gdb.i386.avx",
					      "org.gnu.gdb.i386.segments", "org.tracestub.i386.segments" };
	const struct ts_arch *arch = ts_arch_find(rec->is_64 ? "x86_64" : "i386");

	if (!ts_regset_init(&rec->base.regs, arch,
			    ts_arch_features(arch, wanted, sizeof(wanted) / sizeof(wanted[0])), err))
		return false;
	x64dbg_layout_init(&rec->layout, rec->is_64, &rec->base.regs);
	return true;
}

static bool fill(struct ts_recording *base, const struct ts_source *src, const struct ts_loader_options *,
		 struct ts_error *err)
{
	struct x64dbg *rec = (struct x64dbg *)base;
	struct ts_reader *first;

	ts_warner_init(&rec->warner, base);
	rec->src = src;
	if (!read_head(rec, err) || !choose_registers(rec, err))
		return false;
	rec->pid = 1;
	rec->base.absent_events = 1u << TS_EV_SYSCALL | 1u << TS_EV_SIGNAL | 1u << TS_EV_FAULT |
				  1u << TS_EV_EXIT | 1u << TS_EV_INTERRUPT;
	rec->base.has_reads = true;
	rec->base.is_before = true;
	rec->base.osabi = "Windows";
	snprintf(rec->base.os, sizeof(rec->base.os), "windows");
	snprintf(rec->base.variant, sizeof(rec->base.variant), "version 1, %s", rec->is_64 ? "x64" : "x86");
	if (!x64dbg_read_facts(rec, err))
		return false;
	first = x64dbg_reader_new(rec, &rec->base.initial, err);
	ts_reader_close(first);
	if (first && rec->base.initial.is_failed)
		return ts_no_memory(err, "the initial state");
	return first != NULL;
}

extern const struct ts_loader x64dbg_loader;
const struct ts_loader x64dbg_loader = {
	.name = "x64dbg",
	.summary = "x64dbg traces (.trace64, .trace32)",
	.probe = probe,
	.ops = { .size = sizeof(struct x64dbg), .reader = new_reader },
	.fill = fill,
};
