/* SPDX-License-Identifier: MIT */
/*
 * REVEN's binary traces (rvnbintrace): one processor of a whole machine with its physical memory.
 *
 * A file has five sections, each a u64 length and that many bytes, usually after a resource header:
 *
 *      magic 73 72 6e 69 62 6e 76 72, u32 header version (0, 1), u32 resource type (1 = trace)
 *      or, older, 63 72 73 72 6e 69 62 72, u32 resource type
 *      texts: u64 length, field of fixed size: format version (512), tool (512), tool version (512, header
 *      version 1 only), tool information (2048); then u64 date
 *
 *      header               u8 compression, 0
 *      machine description  machine.c
 *      initial memory       the regions' bytes, one region after the other
 *      initial registers    u32 count; of each register: u16 id, value
 *      events               u64 count; reader.c
 *
 * Numbers are little-endian.  Header, machine description and initial registers may be followed by padding up
 * to their length. Lengths and counts are 0 until the recorder has finished a section: an unfinished trace
 * has its events, but neither their length nor their count.
 *
 * Initial memory is not copied: the recording refers to its bytes in the file.  The cache file that may lie
 * next to the trace is not read: the index replaces it, and its contents would have to be checked against the
 * trace.
 */
#include "regs.h"

#include <ctype.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "loaders/loader.h"

static const uint8_t magic[8] = { 's', 'r', 'n', 'i', 'b', 'n', 'v', 'r' };
static const uint8_t old_magic[8] = { 'c', 'r', 's', 'r', 'n', 'i', 'b', 'r' };

#define TYPE_TRACE 1
#define TYPE_CACHE 2
#define TEXT_LEN   512
#define INFO_LEN   2048

/* A section that is read as a whole is not longer than this. */
#define MAX_SECTION (UINT64_C(64) << 20)

/* -------------------------------------------------------------------------------------------- which files */

/*
 * A file without resource header: a short header section, then the architecture in the machine description.
 */
static bool is_bare(const uint8_t *head, size_t len)
{
	uint64_t n;

	if (len < 8)
		return false;
	n = rvn_le(head, 8);
	if (n < 1 || n > 4096 || n + 20 > len)
		return false;
	return !memcmp(head + n + 16, "x641", 4) || !memcmp(head + n + 16, "arm1", 4);
}

static bool is_wrapped(const uint8_t *head, size_t len)
{
	return len >= sizeof(magic) &&
	       (!memcmp(head, magic, sizeof(magic)) || !memcmp(head, old_magic, sizeof(old_magic)));
}

static unsigned probe(const uint8_t *head, size_t len, uint64_t)
{
	if (is_wrapped(head, len))
		return 64;
	return is_bare(head, len) ? 48 : 0;
}

/* ---------------------------------------------------------------------------------------- resource header */

static bool fail_unknown(size_t len, struct ts_error *err)
{
	if (len < 8)
		return ts_fail(err, TS_ETRUNC, 0, "the file has %zu bytes, a header more", len);
	return ts_fail(err, TS_EUNSUPPORTED, 0,
		       "neither a resource header nor the sections of a trace without one");
}

/* A text in a field of @field_len bytes, as people may see it. */
static void take_text(struct ts_cursor *c, size_t field_len, const char *what, char *out, size_t out_len)
{
	uint64_t off = c->off, len = ts_u64le(c);
	const uint8_t *p = ts_take(c, field_len);
	size_t n = len < out_len ? (size_t)len : out_len - 1;

	*out = '\0';
	if (!p)
		return;
	if (len > field_len) {
		ts_fail(c->err, TS_ECORRUPT, off,
			"resource header: the %s has %" PRIu64 " bytes in a field of %zu", what, len,
			field_len);
		return;
	}
	for (size_t i = 0; i < n; i++)
		out[i] = (char)(p[i] >= ' ' && p[i] < 0x7f ? p[i] : '?');
	out[n] = '\0';
}

/* "1.0.1": the first of three numbers; false if it is not a version. */
static bool parse_major(const char *text, uint64_t *major)
{
	const char *p = text;

	*major = 0;
	for (unsigned part = 0; part < 3; part++) {
		if (part && *p++ != '.')
			return false;
		if (!isdigit((unsigned char)*p))
			return false;
		for (; isdigit((unsigned char)*p); p++) {
			if (!part)
				*major = *major < 1000 ? *major * 10 + (uint64_t)(*p - '0') : *major;
		}
	}
	return !*p || *p == '-' || *p == '+';
}

static bool check_version(const char *version, uint64_t off, struct ts_error *err)
{
	uint64_t major;

	if (!*version)
		return true;
	if (!parse_major(version, &major))
		return ts_fail(err, TS_ECORRUPT, off,
			       "resource header: \"%.40s\" is not a version of the format", version);
	if (major != 1)
		return ts_fail(err, TS_EUNSUPPORTED, off,
			       "resource header: version %.40s of the format, 1.x is known", version);
	return true;
}

/* Read the type of the resource and the version of its header. */
static bool read_kind(struct ts_cursor *c, bool *has_tool_version)
{
	bool is_old = !memcmp(c->p, old_magic, sizeof(old_magic));
	uint32_t version, type;

	ts_take(c, sizeof(magic));
	version = is_old ? 0 : ts_u32le(c);
	type = ts_u32le(c);
	*has_tool_version = version == 1;
	if (!ts_ok(c))
		return false;
	if (version > 1)
		return ts_fail(c->err, TS_EUNSUPPORTED, c->off - 8,
			       "resource header: version %" PRIu32 ", 0 and 1 are known", version);
	if (type == TYPE_CACHE)
		return ts_fail(c->err, TS_EUNSUPPORTED, c->off - 4,
			       "resource header: this file is the cache of a trace; the trace is another file in its folder");
	if (type != TYPE_TRACE)
		return ts_fail(c->err, TS_EUNSUPPORTED, c->off - 4,
			       "resource header: resource type %" PRIu32 ", a trace has %d", type,
			       TYPE_TRACE);
	return true;
}

/* Read the resource header if there is one; *off gets where the sections begin. */
static bool read_resource(struct rvn *rec, uint64_t *off, struct ts_error *err)
{
	char version[48], tool[32], tool_version[32] = "", info[8];
	uint8_t bytes[TS_PROBE_LEN];
	bool has_tool_version;
	struct ts_cursor c;
	size_t len;

	if (!ts_source_read(rec->src, 0, bytes, sizeof(bytes), &len, err))
		return false;
	if (!is_wrapped(bytes, len)) {
		snprintf(rec->base.variant, sizeof(rec->base.variant), "no resource header");
		*off = 0;
		return is_bare(bytes, len) || fail_unknown(len, err);
	}
	c = ts_cursor(bytes, len, 0, "resource header", err);
	if (!read_kind(&c, &has_tool_version))
		return false;
	take_text(&c, TEXT_LEN, "format version", version, sizeof(version));
	if (ts_ok(&c) && !check_version(version, c.off - TEXT_LEN, err))
		return false;
	take_text(&c, TEXT_LEN, "tool's name", tool, sizeof(tool));
	if (has_tool_version)
		take_text(&c, TEXT_LEN, "tool's version", tool_version, sizeof(tool_version));
	take_text(&c, INFO_LEN, "tool's information", info, sizeof(info));
	ts_u64le(&c);
	*off = c.off;
	snprintf(rec->base.variant, sizeof(rec->base.variant), "version %.12s%s%.20s%s%.12s", version,
		 *tool ? ", " : "", tool, *tool_version ? " " : "", tool_version);
	return ts_ok(&c);
}

/* ----------------------------------------------------------------------------------------------- sections */

struct section {
	const char *what;  /* literal */
	uint64_t off, len; /* of its contents */
};

/* Open the section at *off, which becomes the offset of its contents.  Its length is as the file says. */
static bool open_section(const struct rvn *rec, uint64_t *off, const char *what, struct section *s,
			 struct ts_error *err)
{
	uint64_t file_len = ts_source_len(rec->src);
	uint8_t bytes[8];

	if (file_len - *off < sizeof(bytes))
		return ts_fail(err, TS_ETRUNC, *off,
			       "%s: a section begins with 8 bytes but %" PRIu64 " are left in the file", what,
			       file_len - *off);
	if (!ts_source_read_all(rec->src, *off, bytes, sizeof(bytes), err))
		return false;
	*s = (struct section){ what, *off + sizeof(bytes), rvn_le(bytes, sizeof(bytes)) };
	*off = s->off;
	return true;
}

/* Skip a section, whose bytes must all be there. */
static bool skip_section(const struct rvn *rec, uint64_t *off, const struct section *s, struct ts_error *err)
{
	uint64_t left = ts_source_len(rec->src) - s->off;

	if (s->len > left)
		return ts_fail(err, TS_ETRUNC, s->off - 8,
			       "%s: its length is %" PRIu64 " bytes but %" PRIu64 " are left in the file",
			       s->what, s->len, left);
	*off = s->off + s->len;
	return true;
}

/* Read a whole section to memory, which is the caller's; NULL on failure. */
static uint8_t *read_section(const struct rvn *rec, uint64_t *off, const char *what, struct ts_cursor *c,
			     struct ts_error *err)
{
	struct section s;
	uint8_t *p;

	if (!open_section(rec, off, what, &s, err) || !skip_section(rec, off, &s, err))
		return NULL;
	if (s.len > MAX_SECTION) {
		ts_fail(err, TS_ELIMIT, s.off - 8,
			"%s: its length is %" PRIu64 " bytes, more than any real one has", what, s.len);
		return NULL;
	}
	p = malloc(s.len ? (size_t)s.len : 1);
	if (!p)
		ts_no_memory(err, "a section");
	if (!p || !ts_source_read_all(rec->src, s.off, p, (size_t)s.len, err)) {
		free(p);
		return NULL;
	}
	*c = ts_cursor(p, (size_t)s.len, s.off, what, err);
	return p;
}

static bool read_header(struct rvn *rec, uint64_t *off, struct ts_error *err)
{
	struct section s;
	uint8_t compression;

	if (!open_section(rec, off, "header", &s, err) || !skip_section(rec, off, &s, err))
		return false;
	if (!s.len)
		return ts_fail(err, TS_ECORRUPT, s.off - 8, "header: its length is 0, it needs 1 byte");
	if (!ts_source_read_all(rec->src, s.off, &compression, 1, err))
		return false;
	return !compression || ts_fail(err, TS_EUNSUPPORTED, s.off,
				       "header: compression %u, only 0 (none) is known", compression);
}

static bool read_machine(struct rvn *rec, uint64_t *off, struct ts_error *err)
{
	struct ts_cursor c;

	rec->machine = read_section(rec, off, "machine description", &c, err);
	return rec->machine && rvn_read_machine(rec, &c) && rvn_choose_registers(rec, err);
}

static bool read_registers(struct rvn *rec, uint64_t *off, struct ts_error *err)
{
	struct ts_cursor c;
	uint8_t *p = read_section(rec, off, "initial registers", &c, err);
	bool done = p && rvn_read_registers(rec, &c);

	free(p);
	return done;
}

/* Find the regions' bytes, without reading them. */
static bool find_memory(struct rvn *rec, uint64_t *off, struct ts_error *err)
{
	struct ts_source *src;
	struct section s;
	uint32_t source;
	uint64_t at;

	if (!open_section(rec, off, "initial memory", &s, err))
		return false;
	if (s.len != rec->memory_len)
		return ts_fail(err, TS_ECORRUPT, s.off - 8,
			       "initial memory: its length is %" PRIu64
			       " bytes, but the regions have %" PRIu64 " together",
			       s.len, rec->memory_len);
	if (!skip_section(rec, off, &s, err))
		return false;
	src = ts_source_dup(rec->src, err);
	if (!src)
		return false;
	source = ts_image_add_source(&rec->base.memory, src);
	if (source == UINT32_MAX)
		return ts_no_memory(err, "the trace");
	at = s.off;
	for (uint32_t i = 0; i < rec->n_regions; i++) {
		if (!ts_image_add(&rec->base.memory, 0, rec->regions[i].start, rec->regions[i].len, source,
				  at, err))
			return false;
		at += rec->regions[i].len;
	}
	return true;
}

/* Warn if the section's length contradicts the bytes left in the file, and choose where the events end. */
static void judge_length(struct rvn *rec, const struct section *s)
{
	uint64_t left = ts_source_len(rec->src) - s->off;

	if (s->len && s->len < left) {
		rec->end = s->off + s->len;
		ts_recording_warn(&rec->base,
				  "after the events, at 0x%" PRIx64 ", %" PRIu64 " bytes are ignored",
				  rec->end, left - s->len);
	} else if (s->len > left) {
		ts_recording_warn(&rec->base,
				  "events: their length is %" PRIu64 " bytes, but %" PRIu64
				  " are left in the file: they are read up to its end",
				  s->len, left);
	} else if (!s->len && rec->n_events) {
		ts_recording_warn(&rec->base,
				  "events: their length is 0 though their count is %" PRIu64
				  ": they are read up to the end of the file",
				  rec->n_events);
	}
}

/*
 * Find the events.  The length and the count in an unfinished recording or a truncated copy are used only as
 * far as the file can hold that much.
 */
static bool find_events(struct rvn *rec, uint64_t off, struct ts_error *err)
{
	uint64_t file_len = ts_source_len(rec->src);
	struct section s = { .off = file_len };
	uint8_t count[8];

	if (file_len - off >= 8 && !open_section(rec, &off, "events", &s, err))
		return false;
	rec->first = rec->end = file_len;
	rec->n_events = UINT64_MAX;
	rec->is_unfinished = !s.len;
	if (s.len && s.len < sizeof(count))
		return ts_fail(err, TS_ECORRUPT, s.off - 8,
			       "events: their length is %" PRIu64 " bytes, the count alone has 8", s.len);
	if (file_len - s.off < sizeof(count)) {
		rec->is_unfinished = true;
		return true;
	}
	if (!ts_source_read_all(rec->src, s.off, count, sizeof(count), err))
		return false;
	rec->first = s.off + sizeof(count);
	rec->n_events = rvn_le(count, sizeof(count));
	judge_length(rec, &s);
	if (rec->n_events || s.len == sizeof(count))
		return true;
	rec->n_events = UINT64_MAX;
	if (s.len)
		ts_recording_warn(&rec->base, "events: their count is 0, but the section has %" PRIu64
				  " bytes more: they are read up to its end", s.len - sizeof(count));
	return true;
}

/* ---------------------------------------------------------------------------------------------- recording */

static void close_recording(struct ts_recording *base)
{
	struct rvn *rec = (struct rvn *)base;

	free(rec->machine);
	free(rec->regions);
	free(rec->spans);
	free(rec->regs);
	free(rec->reg_of_id);
	free(rec->kept);
}

static struct ts_reader *new_reader(struct ts_recording *base, struct ts_error *err)
{
	return rvn_reader_new((struct rvn *)base, err);
}

static bool fill(struct ts_recording *base, const struct ts_source *src, const struct ts_loader_options *,
		 struct ts_error *err)
{
	struct rvn *rec = (struct rvn *)base;
	uint64_t off;

	ts_warner_init(&rec->warner, base);
	rec->src = src;
	rec->base.is_physical = true;
	rec->base.guesses_lengths = true;
	rec->base.absent_events = 1u << TS_EV_SYSCALL | 1u << TS_EV_SIGNAL | 1u << TS_EV_FAULT |
				  1u << TS_EV_EXIT;
	if (ts_recording_thread(&rec->base, 0, 1, 1) == TS_NO_THREAD)
		return ts_no_memory(err, "the trace");
	snprintf(rec->base.threads[0].name, sizeof(rec->base.threads[0].name), "CPU");
	return read_resource(rec, &off, err) && read_header(rec, &off, err) && read_machine(rec, &off, err) &&
	       find_memory(rec, &off, err) && read_registers(rec, &off, err) && find_events(rec, off, err);
}

extern const struct ts_loader rvnbintrace_loader;
const struct ts_loader rvnbintrace_loader = {
	.name = "rvnbintrace",
	.summary = "REVEN traces of whole machines (PANDA and Bochs recorders), format 1",
	.probe = probe,
	.ops = { .size = sizeof(struct rvn), .reader = new_reader, .close = close_recording },
	.fill = fill,
};
