/* SPDX-License-Identifier: MIT */
/*
 * A recording as a server has it: a sample of tests/data with changed bytes, its program, its index in a
 * file, and two clients. It is served twice, over a new index and over the index that was left.  A client
 * that is alone and does not use monitor gets the same answers, unless the index is changed in between: then
 * it may be told that.
 *
 * Lines, up to an empty one, say what is served; a path is that of a file in tests/data:
 *
 *      trace PATH          thread PATH          exec PATH          image ADDRESS PATH          grammar PATH
 *      edit OFFSET BYTES   of the trace; patch OFFSET BYTES: of the program; cut LENGTH: of the trace
 *      parts N             the index is merged from N parts
 *      stop N              the index was left at step N; harm OFFSET BYTES: and each file of it was changed
 *      beside NAME PATH    a file beside the trace; NAME begins with "t", as that of the trace does: name
 * NAME listen TEXT         an address for rsp_listen() arch NAME           registers are shown as those of
 * NAME
 *
 * Each line after that is a packet.  One that begins with a tab is the second client's, with "!": a command
 * of monitor, with
 * "^": an interrupt, with "=": bytes as they are.
 */
#include "fuzz_served.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "fuzz.h"
#include "src/base/log.h"

#define MAX_PACKETS 100u

static bool starts(const char *line, const char *word, const char **rest)
{
	size_t len = strlen(word);

	if (strncmp(line, word, len))
		return false;
	*rest = line + len;
	return true;
}

/* "OFFSET BYTES", both in hex. */
static void take_edit(struct served_edits *edits, const char *text)
{
	struct served_edit *e = &edits->items[edits->n];
	char *end;

	if (edits->n == SERVED_MAX_EDITS)
		return;
	e->off = strtoull(text, &end, 16);
	e->is_cut = false;
	e->len = 0;
	for (end += *end == ' '; end[0] && end[1] && e->len < sizeof(e->bytes); end += 2) {
		char byte[3] = { end[0], end[1], 0 };

		e->bytes[e->len++] = (uint8_t)strtoul(byte, NULL, 16);
	}
	edits->n++;
}

static void take_cut(struct served_edits *edits, const char *text)
{
	if (edits->n < SERVED_MAX_EDITS)
		edits->items[edits->n++] =
			(struct served_edit){ .is_cut = true, .off = strtoull(text, NULL, 16) };
}

static void take_image(struct served *s, const char *text)
{
	char *end;
	uint64_t addr = strtoull(text, &end, 16);

	if (*end == ' ' && !s->image.path[0]) {
		s->image_addr = addr;
		served_take_path(&s->image, end + 1);
	}
}

/* Returns its length; 0: it is none. */
static size_t take_name(char name[32], const char *text)
{
	size_t len = strcspn(text, " ");

	if (len >= 32 || memchr(text, '/', len) || text[0] != 't')
		return 0;
	snprintf(name, 32, "%.*s", (int)len, text);
	return len;
}

static void take_beside(struct served *s, const char *text)
{
	size_t len = take_name(s->beside_name, text);

	if (len && text[len])
		served_take_path(&s->beside, text + len + 1);
}

static void take_option(struct served *s, const char *line)
{
	const char *rest;

	if (starts(line, "trace ", &rest))
		served_take_path(&s->trace, rest);
	else if (starts(line, "thread ", &rest) && s->n_threads < SERVED_MAX_THREADS)
		s->n_threads += served_take_path(&s->threads[s->n_threads], rest);
	else if (starts(line, "exec ", &rest))
		served_take_path(&s->exec, rest);
	else if (starts(line, "grammar ", &rest))
		served_take_path(&s->grammar, rest);
	else if (starts(line, "image ", &rest))
		take_image(s, rest);
	else if (starts(line, "edit ", &rest))
		take_edit(&s->of_trace, rest);
	else if (starts(line, "patch ", &rest))
		take_edit(&s->of_exec, rest);
	else if (starts(line, "harm ", &rest))
		take_edit(&s->of_index, rest);
	else if (starts(line, "stop ", &rest))
		s->n_steps = strtoull(rest, NULL, 10);
	else if (starts(line, "beside ", &rest))
		take_beside(s, rest);
	else if (!strcmp(line, "live"))
		s->is_live = true;
	else if (starts(line, "name ", &rest))
		take_name(s->name, rest);
	else if (starts(line, "listen ", &rest))
		snprintf(s->comm, sizeof(s->comm), "%s", rest);
	else if (starts(line, "cut ", &rest))
		take_cut(&s->of_trace, rest);
	else if (starts(line, "parts ", &rest))
		s->n_parts = (unsigned)strtoul(rest, NULL, 10) % 4;
	else if (starts(line, "arch ", &rest))
		s->arch = ts_arch_find(rest);
}

/* A packet, with the sum of its bytes. */
static void put_packet(struct ts_buf *out, const uint8_t *payload, size_t len)
{
	unsigned sum = 0;

	for (size_t i = 0; i < len; i++)
		sum += payload[i];
	ts_buf_putc(out, '$');
	ts_buf_put(out, payload, len);
	ts_buf_printf(out, "#%02x", sum & 0xff);
}

static void put_monitor(struct ts_buf *out, const uint8_t *text, size_t len)
{
	struct ts_buf payload;

	ts_buf_init(&payload);
	ts_buf_puts(&payload, "qRcmd,");
	for (size_t i = 0; i < len; i++)
		ts_buf_printf(&payload, "%02x", text[i]);
	put_packet(out, payload.data, payload.len);
	ts_buf_fini(&payload);
}

static void take_packet(struct served *s, const uint8_t *line, size_t len)
{
	struct ts_buf *out = &s->said[len && *line == '\t'];

	if (len && *line == '\t') {
		line++;
		len--;
	}
	s->has_asked |= memmem(line, len, "qRcmd", 5) || (len && *line == '!');
	if (len && *line == '!')
		put_monitor(out, line + 1, len - 1);
	else if (len && *line == '^')
		ts_buf_putc(out, 3);
	else if (len && *line == '=')
		ts_buf_put(out, line + 1, len - 1);
	else
		put_packet(out, line, len);
}

static void take_line(struct served *s, const uint8_t *line, size_t len, bool *is_packet)
{
	char text[256];

	if (*is_packet) {
		take_packet(s, line, len);
	} else if (!len) {
		*is_packet = true;
	} else if (len < sizeof(text)) {
		memcpy(text, line, len);
		text[len] = '\0';
		take_option(s, text);
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t len)
{
	const uint8_t *end = bytes + len;
	struct served s = { 0 };
	bool is_packet = false;

	ts_log_set_level(TS_LOG_ERROR);
	for (unsigned n = 0; bytes < end && n < MAX_PACKETS; n++) {
		const uint8_t *next = memchr(bytes, '\n', (size_t)(end - bytes));

		next = next ? next : end;
		take_line(&s, bytes, (size_t)(next - bytes), &is_packet);
		bytes = next + 1;
	}
	served_run(&s);
	ts_buf_fini(&s.said[0]);
	ts_buf_fini(&s.said[1]);
	return 0;
}
