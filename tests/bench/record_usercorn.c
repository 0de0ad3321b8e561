/* SPDX-License-Identifier: MIT */
/*
 * Usercorn's recordings: the leading keyframe of a real one is written once, then its frames again and again,
 * up to the one that ends the program.
 */
#include <snappy-c.h>
#include <stdlib.h>
#include <string.h>

#include "bench.h"
#include "loaders/kit/snappy.h"
#include "recording.h"

#define HEADER_LEN 74

enum op {
	OP_NOP,
	OP_FRAME,
	OP_KEYFRAME,
	OP_JMP,
	OP_STEP,
	OP_REG,
	OP_SPREG,
	OP_READ,
	OP_WRITE,
	OP_MAP,
	OP_UNMAP,
	OP_PROT,
	OP_SYSCALL,
	OP_EXIT,
};

/* ------------------------------------------------------------------------------------- the real recording */

/* Bytes of a version 1 op.  What is nested in a frame or a system call are ops of their own, behind it. */
static size_t op_len(const uint8_t *p)
{
	switch (p[0]) {
	case OP_FRAME:
	case OP_KEYFRAME:
	case OP_JMP:
	case OP_READ: return 13;
	case OP_STEP: return 2;
	case OP_REG: return 11;
	case OP_SPREG: return 5 + bench_get(p + 3, 2);
	case OP_WRITE: return 13 + bench_get(p + 9, 4);
	case OP_MAP: return 38 + bench_get(p + 34, 2) + bench_get(p + 36, 2);
	case OP_UNMAP: return 17;
	case OP_PROT: return 18;
	case OP_SYSCALL: return 16 + p[13] * (size_t)8;
	case OP_NOP:
	case OP_EXIT: return 1;
	}
	bench_die("unknown op %u in the bundled recording", p[0]);
}

/* Append an op as version 0 has it: lengths of regions are 32 bits, the number of a system call 16. */
static void put_v0(struct ts_buf *out, const uint8_t *p, size_t len)
{
	switch (p[0]) {
	case OP_MAP:
	case OP_UNMAP:
	case OP_PROT:
		ts_buf_put(out, p, 13);
		ts_buf_put(out, p + 17, len - 17);
		break;
	case OP_SYSCALL:
		ts_buf_put(out, p, 3);
		ts_buf_put(out, p + 5, len - 5);
		break;
	default: ts_buf_put(out, p, len);
	}
}

/* The whole stream of the real recording, decoded; its header to @header. */
static struct ts_buf load(const struct bench_format *format, uint8_t *header)
{
	struct ts_error err = { 0 };
	struct ts_buf file = bench_sample(format);
	struct ts_source *src = ts_source_from_memory(file.data, file.len, format->sample, &err);
	uint8_t *scratch = malloc(SNAPPY_MAX_BODY);
	struct snappy_frames f;
	struct ts_buf stream;

	if (!src || !scratch || !ts_source_read_all(src, 0, header, HEADER_LEN, &err) ||
	    !snappy_frames_scan(&f, src, HEADER_LEN, &err))
		bench_die("%s cannot be read", format->sample);
	ts_buf_init(&stream);
	for (size_t i = 0; i < f.n; i++) {
		uint8_t *room = ts_buf_add(&stream, snappy_frames_decoded_len(&f, i));

		if (!room || !snappy_frames_decode(&f, i, room, scratch, &err))
			bench_die("%s cannot be decoded", format->sample);
	}
	snappy_frames_fini(&f);
	ts_source_close(src);
	ts_buf_fini(&file);
	free(scratch);
	return stream;
}

/* A frame of the body, as bytes of it. */
struct frame {
	size_t off, len;
	uint64_t n_steps;
};

struct parts {
	struct ts_buf head, body; /* what is written once; what is repeated */
	struct frame *frames;     /* of the body */
	size_t n_frames;
	uint64_t mark;
};

static bool is_stack(const uint8_t *map)
{
	return bench_get(map + 34, 2) == 5 && !memcmp(map + 38, "stack", 5);
}

/* A frame is complete: those before the first step are written once, the others again and again. */
static void add_frame(struct parts *parts, struct ts_buf *bytes, uint64_t n_steps)
{
	if (!n_steps && !parts->n_frames) {
		ts_buf_put(&parts->head, bytes->data, bytes->len);
	} else {
		parts->frames = realloc(parts->frames, (parts->n_frames + 1) * sizeof(*parts->frames));
		if (!parts->frames)
			bench_die("no memory");
		parts->frames[parts->n_frames++] = (struct frame){ parts->body.len, bytes->len, n_steps };
		ts_buf_put(&parts->body, bytes->data, bytes->len);
	}
	ts_buf_reset(bytes);
}

/* All up to the frame that ends the program, in the layout that is wanted. */
static void split(const struct ts_buf *stream, bool is_framed, struct parts *parts)
{
	struct ts_buf bytes;
	uint64_t n_steps = 0;

	ts_buf_init(&bytes);
	for (const uint8_t *p = stream->data, *end = p + stream->len; p < end && *p != OP_EXIT;
	     p += op_len(p)) {
		if (*p == OP_FRAME) {
			add_frame(parts, &bytes, n_steps);
			n_steps = 0;
		}
		if (*p == OP_MAP && is_stack(p))
			parts->mark = bench_get(p + 1, 8) + 0x10000;
		n_steps += *p == OP_STEP;
		if (!is_framed)
			put_v0(&bytes, p, op_len(p));
		else
			ts_buf_put(&bytes, p, op_len(p));
	}
	ts_buf_fini(&bytes);
	if (!ts_buf_ok(&parts->head) || !ts_buf_ok(&parts->body) || !parts->n_frames || !parts->mark)
		bench_die("nothing to repeat in the bundled recording");
}

/* ------------------------------------------------------------------------------------- the long recording */

struct out {
	FILE *file;
	bool is_framed;
	struct ts_buf chunk; /* of the framing: what is not written yet */
};

/* Write the first @len bytes of the chunk as one of the framing's. */
static void put_chunk(struct out *o, size_t len)
{
	static uint8_t body[SNAPPY_MAX_BODY];
	uint8_t head[8];
	size_t body_len = sizeof(body);

	if (snappy_compress((const char *)o->chunk.data, len, (char *)body, &body_len) != SNAPPY_OK)
		bench_die("snappy fails");
	bench_put(head, 4, (body_len + 4) << 8); /* type 0, then 24 bits */
	bench_put(head + 4, 4, snappy_mask_crc(snappy_crc32c(o->chunk.data, len)));
	bench_write(o->file, head, sizeof(head));
	bench_write(o->file, body, body_len);
	ts_buf_consume(&o->chunk, len);
}

static void put(struct out *o, const void *data, size_t len)
{
	if (!o->is_framed) {
		bench_write(o->file, data, len);
		return;
	}
	for (size_t n; len; data = (const uint8_t *)data + n, len -= n) {
		n = SNAPPY_MAX_DECODED - o->chunk.len < len ? SNAPPY_MAX_DECODED - o->chunk.len : len;
		ts_buf_put(&o->chunk, data, n);
		if (o->chunk.len == SNAPPY_MAX_DECODED)
			put_chunk(o, SNAPPY_MAX_DECODED);
	}
}

/* A frame with a write of eight bytes to @addr. */
static void put_mark(struct out *o, uint64_t addr)
{
	uint8_t bytes[13 + 13 + 8] = {
		OP_FRAME, [9] = 1, [13] = OP_WRITE, [22] = 8, [26] = 'm', 'a', 'r', 'k'
	};

	bench_put(bytes + 14, 8, addr);
	put(o, bytes, sizeof(bytes));
}

static void put_header(struct out *o, uint8_t *header)
{
	if (!o->is_framed)
		memset(header + 4, 0, 4); /* the version */
	bench_write(o->file, header, HEADER_LEN);
	if (o->is_framed)
		bench_write(o->file, SNAPPY_IDENTIFIER, SNAPPY_IDENTIFIER_LEN);
}

static void record(const struct bench_format *format, const char *path, uint64_t n_steps,
		   struct bench_recording *rec)
{
	struct out o = { .file = bench_create(path), .is_framed = format == &bench_usercorn_snappy };
	struct parts parts = { 0 };
	uint8_t header[HEADER_LEN];
	struct ts_buf stream = load(format, header);

	split(&stream, o.is_framed, &parts);
	put_header(&o, header);
	put(&o, parts.head.data, parts.head.len);
	rec->mark = parts.mark;
	for (size_t i = 0; rec->n_steps < n_steps; i = (i + 1) % parts.n_frames) {
		put(&o, parts.body.data + parts.frames[i].off, parts.frames[i].len);
		if (!rec->n_steps)
			put_mark(&o, parts.mark);
		rec->n_steps += parts.frames[i].n_steps;
	}
	if (o.chunk.len)
		put_chunk(&o, o.chunk.len);
	rec->file_len = bench_finish(o.file);
	ts_buf_fini(&o.chunk);
	ts_buf_fini(&stream);
	ts_buf_fini(&parts.head);
	ts_buf_fini(&parts.body);
	free(parts.frames);
}

const struct bench_format bench_usercorn_v0 = {
	.name = "usercorn",
	.about = "Usercorn version 0: x64_lib, its frames repeated",
	.index_rate = 10,
	.record = record,
	.sample = "usercorn/x64_lib.ucir",
	.program = "usercorn/x64_lib.elf",
};

const struct bench_format bench_usercorn_snappy = {
	.name = "usercorn-snappy",
	.about = "Usercorn version 1 in snappy framing: x64_lib, its frames repeated",
	.index_rate = 3,
	.record = record,
	.sample = "usercorn/x64_lib.ucir",
	.program = "usercorn/x64_lib.elf",
};
