/* SPDX-License-Identifier: MIT */
/*
 * The text section of a trace file: lines that begin with a word and a blank, in any order, up to an empty
 * one.
 */
#include "tfile.h"

#include <inttypes.h>
#include <string.h>

#include "src/base/hex.h"

/* gdb refuses lines of 1,000 bytes, and writes them. */
#define MAX_LINE 65535
#define MAX_TEXT (8u << 20)
#define PIECE (64u << 10)

/* Larger register blocks are a lie. */
#define MAX_REGS (1u << 20)

struct line {
	const char *text; /* without its word; borrowed */
	size_t len;
	uint64_t off;
};

static bool read_reg_len(struct tfile *t, const struct line *l, struct ts_error *err)
{
	uint64_t hex = 0, decimal = 0;
	bool is_decimal = l->len > 0;

	for (size_t i = 0; i < l->len; i++) {
		int digit = ts_hex_digit((uint8_t)l->text[i]);

		if (digit < 0)
			return ts_fail(err, TS_ECORRUPT, l->off,
				       "the size of the registers is no number: \"%.*s\"",
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

static void add_xml(struct tfile *t, const struct line *l)
{
	if (!t->xml.len)
		t->xml_off = l->off;
	ts_buf_put(&t->xml, l->text, l->len);
	ts_buf_putc(&t->xml, '\n');
}

/* A line of a tracepoint: its piece's letter comes first. */
static bool read_tracepoint(struct tfile *t, const struct line *l, struct ts_error *err)
{
	enum ts_piece piece;

	if (!l->len || !ts_piece_of_letter(*l->text, &piece))
		return ts_fail(err, TS_ECORRUPT, l->off, "no kind of tracepoint line: \"%.*s\"",
			       l->len < 20 ? (int)l->len : 20, l->text);
	return ts_tracing_piece(&t->tracing, piece, l->text + 1, l->len - 1, l->off + 1, err);
}

/* Is it the word's line?  Then it begins behind the word. */
static bool take_word(struct line *l, const char *word)
{
	size_t n = strlen(word);

	if (l->len < n || memcmp(l->text, word, n))
		return false;
	l->text += n;
	l->len -= n;
	l->off += n;
	return true;
}

/* Only without a register size nothing can be done; other odd lines are noted and skipped. */
static bool read_line(struct tfile *t, struct line l, struct ts_error *err)
{
	struct ts_error odd;

	ts_error_reset(&odd);
	if (take_word(&l, "R "))
		return read_reg_len(t, &l, err);
	if (take_word(&l, "tdesc "))
		add_xml(t, &l);
	else if (take_word(&l, "tp "))
		read_tracepoint(t, &l, &odd);
	else if (take_word(&l, "tsv "))
		ts_tracing_var(&t->tracing, l.text, l.len, l.off, &odd);
	else if (take_word(&l, "status "))
		ts_tracing_status(&t->tracing, l.text, l.len, l.off, &odd);
	else
		ts_fail(&odd, TS_ECORRUPT, l.off, "unknown: \"%.*s\"", l.len < 20 ? (int)l.len : 20, l.text);
	if (odd.code == TS_ENOMEM)
		return ts_fail(err, TS_ENOMEM, TS_NO_OFF, "%s", odd.text);
	if (odd.code != TS_OK)
		ts_recording_warn(&t->base, "line at 0x%" PRIx64 " skipped: %s", l.off, odd.text);
	return true;
}

/* The next line of @text from *at on; false if its end is not there.  *at then stays. */
static bool next_line(const struct ts_buf *text, size_t *at, struct line *l)
{
	const uint8_t *start = text->data + *at, *end = memchr(start, '\n', text->len - *at);

	if (!end)
		return false;
	*l = (struct line){ (const char *)start, (size_t)(end - start), *at };
	*at += l->len + 1;
	return true;
}

/* Read more of the file into @text. */
static bool read_more(struct tfile *t, struct ts_buf *text, struct ts_error *err)
{
	uint8_t *room = ts_buf_room(text, PIECE);
	size_t got;

	if (!room)
		return ts_fail(err, TS_ENOMEM, TS_NO_OFF, "no memory for the text section");
	if (!ts_source_read(t->src, text->len, room, PIECE, &got, err))
		return false;
	if (!got)
		return ts_fail(err, TS_ETRUNC, text->len, "the text section has no end: no empty line");
	text->len += got;
	return true;
}

static bool read_lines(struct tfile *t, struct ts_buf *text, struct ts_error *err)
{
	size_t at = TFILE_MAGIC_LEN;
	struct line l;

	for (;;) {
		if (at > text->len || !next_line(text, &at, &l)) {
			if (at < text->len && text->len - at > MAX_LINE)
				return ts_fail(err, TS_ELIMIT, at, "a line of more than %d bytes", MAX_LINE);
			if (text->len > MAX_TEXT)
				return ts_fail(err, TS_ELIMIT, at, "a text section of more than %u bytes",
					       MAX_TEXT);
			if (!read_more(t, text, err))
				return false;
			continue;
		}
		if (l.len > MAX_LINE)
			return ts_fail(err, TS_ELIMIT, l.off, "a line of %zu bytes, the limit is %d", l.len,
				       MAX_LINE);
		if (!l.len)
			break;
		if (!read_line(t, l, err))
			return false;
	}
	t->frames_off = at;
	return ts_buf_ok(&t->xml) ||
	       ts_fail(err, TS_ENOMEM, TS_NO_OFF, "no memory for the target description");
}

bool tfile_read_header(struct tfile *t, struct ts_error *err)
{
	struct ts_buf text;
	bool done;

	ts_buf_init(&text);
	done = read_more(t, &text, err);
	if (done && (text.len < TFILE_MAGIC_LEN || memcmp(text.data, TFILE_MAGIC, TFILE_MAGIC_LEN)))
		done = ts_fail(err, TS_EUNSUPPORTED, 0,
			       "not a trace file of gdb: the magic number is not there");
	done = done && read_lines(t, &text, err);
	ts_buf_fini(&text);
	if (!done)
		return false;
	if (!t->reg_len)
		return ts_fail(err, TS_ECORRUPT, TFILE_MAGIC_LEN,
			       "no R line: how large the registers are is not said");
	return true;
}
