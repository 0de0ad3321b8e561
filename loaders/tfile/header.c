/* SPDX-License-Identifier: MIT */
/*
 * The text section of a trace file: lines that begin with a word and a blank, in any order, up to an empty
 * line.
 */
#include "trace.h"

#include <inttypes.h>
#include <string.h>

#include "loaders/kit/line_reader.h"
#include "src/base/text/hex.h"

/* gdb refuses lines of 1,000 bytes, but writes them. */
#define MAX_LINE 65535
#define MAX_TEXT (8u << 20)

/* No machine has more registers. */
#define MAX_REGS (1u << 20)

static bool read_reg_len(struct tfile *t, const struct ts_text_line *l, struct ts_error *err)
{
	uint64_t hex = 0, decimal = 0;
	bool is_decimal = l->len > 0;

	for (size_t i = 0; i < l->len; i++) {
		int digit = ts_hex_digit((uint8_t)l->text[i]);

		if (digit < 0)
			return ts_fail(err, TS_ECORRUPT, l->off,
				       "the size of the registers is not a number: \"%.*s\"",
				       l->len < 20 ? (int)l->len : 20, l->text);
		is_decimal &= digit < 10;
		hex = hex << 4 | (unsigned)digit;
		decimal = decimal * 10 + (unsigned)digit;
		if (hex > MAX_REGS)
			return ts_fail(err, TS_ELIMIT, l->off, "registers of more than %u bytes", MAX_REGS);
	}
	t->reg_len = hex;
	t->is_reg_len_decimal = is_decimal;
	t->reg_len_decimal = decimal;
	return true;
}

static void add_xml(struct tfile *t, const struct ts_text_line *l)
{
	if (!t->xml.len)
		t->xml_off = l->off;
	ts_buf_put(&t->xml, l->text, l->len);
	ts_buf_putc(&t->xml, '\n');
}

/* A line of a tracepoint: its piece's letter comes first. */
static bool read_tracepoint(struct tfile *t, const struct ts_text_line *l, struct ts_error *err)
{
	enum ts_piece piece;

	if (!l->len || !ts_piece_of_letter(*l->text, &piece))
		return ts_fail(err, TS_ECORRUPT, l->off, "unknown kind of tracepoint line: \"%.*s\"",
			       l->len < 20 ? (int)l->len : 20, l->text);
	return ts_tracing_piece(&t->tracing, piece, l->text + 1, l->len - 1, l->off + 1, err);
}

/* Only a bad register size is an error; other lines that cannot be understood are skipped with a warning. */
static bool read_line(struct tfile *t, struct ts_text_line l, struct ts_error *err)
{
	struct ts_error odd = { 0 };

	if (ts_text_line_skip(&l, "R "))
		return read_reg_len(t, &l, err);
	if (ts_text_line_skip(&l, "tdesc "))
		add_xml(t, &l);
	else if (ts_text_line_skip(&l, "tp "))
		read_tracepoint(t, &l, &odd);
	else if (ts_text_line_skip(&l, "tsv "))
		ts_tracing_var(&t->tracing, l.text, l.len, l.off, &odd);
	else if (ts_text_line_skip(&l, "status "))
		ts_tracing_status(&t->tracing, l.text, l.len, l.off, &odd);
	else
		ts_fail(&odd, TS_ECORRUPT, l.off, "unknown word: \"%.*s\"", l.len < 20 ? (int)l.len : 20, l.text);
	if (odd.code == TS_ENOMEM)
		return ts_fail(err, TS_ENOMEM, TS_NO_OFF, "%s", odd.text);
	if (odd.code != TS_OK)
		ts_recording_warn(&t->base, "line at 0x%" PRIx64 " skipped: %s", l.off, odd.text);
	return true;
}

static bool fail_endless(const struct tfile *t, struct ts_error *err)
{
	return ts_fail(err, TS_ETRUNC, ts_source_len(t->src),
		       "the text section is truncated: the empty line at its end is missing");
}

/* All lines up to the empty one, after which the frames begin. */
static bool read_lines(struct tfile *t, struct ts_line_reader *lines, struct ts_error *err)
{
	struct ts_text_line l;
	enum ts_next next;

	for (;;) {
		next = ts_line_reader_next(lines, &l, err);
		if (next == TS_FAIL)
			return false;
		if (next == TS_END || !l.is_whole)
			return fail_endless(t, err);
		if (!l.len)
			break;
		if (lines->off > MAX_TEXT)
			return ts_fail(err, TS_ELIMIT, l.off, "a text section of more than %u bytes",
				       MAX_TEXT);
		if (!read_line(t, l, err))
			return false;
	}
	t->frames_off = lines->off;
	return ts_buf_ok(&t->xml) || ts_no_memory(err, "a target description");
}

bool tfile_read_header(struct tfile *t, struct ts_error *err)
{
	struct ts_line_reader lines;
	char magic[TFILE_MAGIC_LEN];
	size_t got;
	bool done;

	if (!ts_source_read(t->src, 0, magic, sizeof(magic), &got, err))
		return false;
	if (got < sizeof(magic) || memcmp(magic, TFILE_MAGIC, sizeof(magic)))
		return ts_fail(err, TS_EUNSUPPORTED, 0,
			       "not a trace file of gdb: it does not begin with the magic number");
	ts_line_reader_init(&lines, t->src, TFILE_MAGIC_LEN, MAX_LINE);
	done = read_lines(t, &lines, err);
	ts_line_reader_fini(&lines);
	if (!done)
		return false;
	return t->reg_len || ts_fail(err, TS_ECORRUPT, TFILE_MAGIC_LEN,
				     "there is no R line: the size of the registers is unknown");
}
