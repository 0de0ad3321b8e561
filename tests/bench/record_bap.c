/* SPDX-License-Identifier: MIT */
/*
 * BAP's recordings: the frames of a real one again and again, and behind them an index of the recorder's
 * kind.  Beside them the parser that protoc makes of their schema.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <unistd.h>

#include "bench.h"
#include "recording.h"

#define HEADER_LEN 48
#define TOC_STEP   64
#define MARK_AT    UINT64_C(0x7ffe00001000)

/* ---------------------------------------------------------------------------- the write that happens once */

/* Append a field of protobuf's that has a length, or a number; all are below 128. */
static void put_field(struct ts_buf *b, unsigned field, const struct ts_buf *contents)
{
	ts_buf_putc(b, (uint8_t)(field << 3 | 2));
	ts_buf_putc(b, (uint8_t)contents->len);
	ts_buf_put(b, contents->data, contents->len);
}

static void put_number(struct ts_buf *b, unsigned field, uint8_t n)
{
	ts_buf_putc(b, (uint8_t)(field << 3));
	ts_buf_putc(b, n);
}

/* What @b has becomes one field of it. */
static void wrap(struct ts_buf *b, unsigned field)
{
	struct ts_buf outer;

	ts_buf_init(&outer);
	put_field(&outer, field, b);
	ts_buf_fini(b);
	*b = outer;
}

static void put_mark_addr(struct ts_buf *b, unsigned field)
{
	ts_buf_putc(b, (uint8_t)(field << 3));
	for (uint64_t n = MARK_AT; n; n >>= 7)
		ts_buf_putc(b, (uint8_t)((n & 127) | (n > 127 ? 128 : 0)));
}

/* operand_info: eight bytes are written. */
static struct ts_buf mark_operand(void)
{
	struct ts_buf op, usage, taint, value;

	ts_buf_init(&op);
	ts_buf_init(&usage);
	ts_buf_init(&taint);
	ts_buf_init(&value);
	put_mark_addr(&op, 1);
	wrap(&op, 1);                       /* mem_operand */
	wrap(&op, 1);                       /* operand_info_specific */
	ts_buf_put(&op, "\x10\x80\x01", 3); /* bit_length 64 */
	for (uint8_t field = 1; field <= 4; field++)
		put_number(&usage, field, field == 2); /* it is written */
	put_field(&op, 3, &usage);
	put_number(&taint, 1, 1);
	put_field(&op, 4, &taint);
	ts_buf_put(&value, "the mark", 8);
	put_field(&op, 5, &value);
	ts_buf_fini(&usage);
	ts_buf_fini(&taint);
	ts_buf_fini(&value);
	return op;
}

/* A frame of an instruction that stores at an address which is part of it: movabs %rax, MARK_AT. */
static struct ts_buf mark_frame(void)
{
	uint8_t store[10] = { 0x48, 0xa3 };
	struct ts_buf frame, raw, none, list = mark_operand();

	bench_put(store + 2, 8, MARK_AT);
	ts_buf_init(&frame);
	ts_buf_init(&raw);
	ts_buf_init(&none);
	put_number(&frame, 1, 0x40); /* address */
	put_number(&frame, 2, 1);    /* thread_id: that of the real recording */
	ts_buf_put(&raw, store, sizeof(store));
	put_field(&frame, 3, &raw);
	put_field(&frame, 4, &none); /* operand_pre_list */
	wrap(&list, 1);
	put_field(&frame, 5, &list); /* operand_post_list */
	wrap(&frame, 1);
	ts_buf_fini(&raw);
	ts_buf_fini(&list);
	return frame;
}

/* ------------------------------------------------------------------------------------------ the recording */

struct maker {
	FILE *out;
	uint64_t off, n_frames;
	struct ts_buf toc;
};

/* A frame with its length in front of it. */
static void put_frame(struct maker *mk, const uint8_t *frame, uint64_t len)
{
	uint8_t off[8];

	if (mk->n_frames && mk->n_frames % TOC_STEP == 0) {
		bench_put(off, 8, mk->off);
		ts_buf_put(&mk->toc, off, 8);
	}
	bench_write(mk->out, frame, len);
	mk->off += len;
	mk->n_frames++;
}

static void put_mark(struct maker *mk)
{
	struct ts_buf frame = mark_frame(), with_len;
	uint8_t len[8];

	ts_buf_init(&with_len);
	bench_put(len, 8, frame.len);
	ts_buf_put(&with_len, len, 8);
	ts_buf_put(&with_len, frame.data, frame.len);
	put_frame(mk, with_len.data, with_len.len);
	ts_buf_fini(&frame);
	ts_buf_fini(&with_len);
}

static void record(const struct bench_format *format, const char *path, uint64_t n_steps,
		   struct bench_recording *rec)
{
	struct ts_buf b = bench_sample(format);
	uint64_t first = HEADER_LEN + 8 + bench_get(b.data + HEADER_LEN, 8), end = bench_get(b.data + 40, 8);
	struct maker mk = { .out = bench_create(path), .off = first };
	uint8_t number[16];

	bench_write(mk.out, b.data, first);
	bench_put(number, 8, TOC_STEP);
	ts_buf_put(&mk.toc, number, 8);
	if (!format->is_extra) {
		put_mark(&mk);
		rec->mark = MARK_AT;
	}
	while (mk.n_frames < n_steps) {
		for (uint64_t at = first, len; at < end; at += len) {
			len = 8 + bench_get(b.data + at, 8);
			put_frame(&mk, b.data + at, len);
		}
	}
	bench_write(mk.out, mk.toc.data, mk.toc.len);
	bench_put(number, 8, mk.n_frames);
	bench_put(number + 8, 8, mk.off);
	if (fseek(mk.out, 32, SEEK_SET))
		bench_die("a recording cannot be written");
	bench_write(mk.out, number, 16);
	rec->n_steps = mk.n_frames;
	rec->file_len = bench_finish(mk.out);
	ts_buf_fini(&mk.toc);
	ts_buf_fini(&b);
}

/* protobuf's own parser, which was built if its headers are here; it reads the whole file into memory. */
#define MAX_PARSED (UINT64_C(4) << 30)
static double parse(const char *path, const struct bench_recording *rec)
{
	const char *folder = getenv("TEST_BUILDDIR");
	char program[1024], command[4096];
	uint64_t n = 0;
	double s = 0;
	FILE *in;

	snprintf(program, sizeof(program), "%s/tests/bench/protobuf_bap", folder ? folder : ".");
	if (access(program, X_OK) || rec->file_len > MAX_PARSED)
		return 0;
	snprintf(command, sizeof(command), "'%s' '%s'", program, path);
	in = popen(command, "r");
	if (!in || fscanf(in, "%" SCNu64 " %lf", &n, &s) != 2 || n != rec->n_steps)
		bench_die("%s did not parse %" PRIu64 " frames", program, rec->n_steps);
	pclose(in);
	return s;
}

#define BAP(sample_name)                                                                                \
	.about = "BAP frames: " sample_name ", its frames repeated", .index_rate = 3, .record = record, \
	.max_steps = 100000000, /* of 155 bytes */                                                      \
		.sample = "bap-samples/" sample_name ".frames.gz", .library = parse,                    \
	.library_name = "protobuf's parser of the same frames"

const struct bench_format bench_bap = { .name = "bap", BAP("tw-x86_64") };
const struct bench_format bench_bap_arm = { .name = "bap-arm", .is_extra = true, BAP("tw-arm") };
const struct bench_format bench_bap_ppc = { .name = "bap-ppc", .is_extra = true, BAP("tw-ppc") };
const struct bench_format bench_bap_plugin = { .name = "bap-plugin", .is_extra = true, BAP("plug-i386") };
