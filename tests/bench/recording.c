/* SPDX-License-Identifier: MIT */
#include "recording.h"

#include <snappy-c.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "loaders/snappy.h"
#include "src/buf.h"

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

void bench_die(const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	fputs("bench: ", stderr);
	vfprintf(stderr, fmt, ap);
	fputc('\n', stderr);
	va_end(ap);
	exit(1);
}

static double seconds(clockid_t clock)
{
	struct timespec t;

	clock_gettime(clock, &t);
	return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

double bench_now(void)
{
	return seconds(CLOCK_MONOTONIC);
}

double bench_cpu(void)
{
	return seconds(CLOCK_PROCESS_CPUTIME_ID);
}

const char *bench_source(const char **name)
{
	static const char *const names[] = { "x64_lib", "x64_walk" };
	static char path[4096];
	const char *folder = getenv("TEST_SRCDIR");

	for (unsigned i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		*name = names[i];
		snprintf(path, sizeof(path), "%s/tests/data/usercorn/%s.ucir", folder ? folder : ".",
			 names[i]);
		if (!access(path, R_OK))
			return path;
	}
	bench_die("none of the bundled recordings is in %s/tests/data/usercorn", folder ? folder : ".");
}

static char *temps[16];

static void remove_temps(void)
{
	for (unsigned i = 0; i < 16 && temps[i]; i++)
		unlink(temps[i]);
}

char *bench_temp(const char *name)
{
	static unsigned n;
	const char *folder = getenv("TEST_BUILDDIR");
	char *path;

	if (asprintf(&path, "%s/tests/bench/%s.%d.ucir", folder ? folder : ".", name, (int)getpid()) < 0 ||
	    n == 16)
		bench_die("no memory");
	if (!n)
		atexit(remove_temps);
	temps[n++] = strdup(path);
	return path;
}

/* ------------------------------------------------------------------------------------- the real recording */

static uint16_t get16(const uint8_t *p)
{
	return (uint16_t)(p[0] | p[1] << 8);
}

static uint32_t get32(const uint8_t *p)
{
	return get16(p) | (uint32_t)get16(p + 2) << 16;
}

static uint64_t get64(const uint8_t *p)
{
	return get32(p) | (uint64_t)get32(p + 4) << 32;
}

/* Bytes of a version 1 op.  What is nested in a frame or a system call are ops of their own, behind it. */
static size_t op_len(const uint8_t *p)
{
	switch (p[0]) {
	case OP_FRAME:
	case OP_KEYFRAME:
	case OP_JMP:
	case OP_READ:
		return 13;
	case OP_STEP:
		return 2;
	case OP_REG:
		return 11;
	case OP_SPREG:
		return 5 + (size_t)get16(p + 3);
	case OP_WRITE:
		return 13 + (size_t)get32(p + 9);
	case OP_MAP:
		return 38 + (size_t)get16(p + 34) + get16(p + 36);
	case OP_UNMAP:
		return 17;
	case OP_PROT:
		return 18;
	case OP_SYSCALL:
		return 16 + p[13] * (size_t)8;
	case OP_NOP:
	case OP_EXIT:
		return 1;
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
	default:
		ts_buf_put(out, p, len);
	}
}

/* The whole stream of the real recording, decoded; its header to @header. */
static struct ts_buf load(const char *path, uint8_t *header)
{
	struct ts_error err = { 0 };
	struct ts_source *src = ts_source_open(path, &err);
	uint8_t *scratch = malloc(SNAPPY_MAX_BODY);
	struct snappy_frames f;
	struct ts_buf stream;

	if (!src || !scratch || !ts_source_read_all(src, 0, header, HEADER_LEN, &err) ||
	    !snappy_frames_scan(&f, src, HEADER_LEN, &err))
		bench_die("%s cannot be read", path);
	ts_buf_init(&stream);
	for (size_t i = 0; i < f.n; i++) {
		uint8_t *room = ts_buf_add(&stream, snappy_frames_decoded_len(&f, i));

		if (!room || !snappy_frames_decode(&f, i, room, scratch, &err))
			bench_die("%s cannot be decoded", path);
	}
	snappy_frames_fini(&f);
	ts_source_close(src);
	free(scratch);
	return stream;
}

static int compare_addrs(const void *a, const void *b)
{
	const uint64_t *x = a, *y = b;

	return (*x > *y) - (*x < *y);
}

/* The address that most instructions have. */
static uint64_t find_hot(const struct ts_buf *stream)
{
	uint64_t *addrs = malloc(stream->len * sizeof(*addrs) / 2), hot = 0, pc = 0;
	size_t n = 0, best = 0;

	if (!addrs)
		bench_die("no memory");
	for (const uint8_t *p = stream->data, *end = p + stream->len; p < end; p += op_len(p)) {
		if (*p == OP_JMP)
			pc = get64(p + 1);
		if (*p == OP_STEP) {
			addrs[n++] = pc;
			pc += p[1];
		}
	}
	qsort(addrs, n, sizeof(*addrs), compare_addrs);
	for (size_t i = 0, start = 0; i < n; i++) {
		if (addrs[i] != addrs[start])
			start = i;
		if (i - start >= best) {
			best = i - start;
			hot = addrs[i];
		}
	}
	free(addrs);
	return hot;
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
	return get16(map + 34) == 5 && !memcmp(map + 38, "stack", 5);
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
static void split(const struct ts_buf *stream, enum bench_layout layout, struct parts *parts)
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
			parts->mark = get64(p + 1) + 0x10000;
		n_steps += *p == OP_STEP;
		if (layout == BENCH_PLAIN)
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
	enum bench_layout layout;
	uint64_t len;
	struct ts_buf chunk; /* FRAMED: what is not written yet */
};

static void put_bytes(struct out *o, const void *data, size_t len)
{
	if (fwrite(data, 1, len, o->file) != len)
		bench_die("a recording cannot be written");
	o->len += len;
}

static void put32(uint8_t *p, uint32_t v)
{
	for (int i = 0; i < 4; i++)
		p[i] = (uint8_t)(v >> 8 * i);
}

/* Write the first @len bytes of the chunk as one of the framing's. */
static void put_chunk(struct out *o, size_t len)
{
	static uint8_t body[SNAPPY_MAX_BODY];
	uint8_t head[8];
	size_t body_len = sizeof(body);

	if (snappy_compress((const char *)o->chunk.data, len, (char *)body, &body_len) != SNAPPY_OK)
		bench_die("snappy fails");
	put32(head, (uint32_t)(body_len + 4) << 8); /* type 0, then 24 bits */
	put32(head + 4, snappy_mask_crc(snappy_crc32c(o->chunk.data, len)));
	put_bytes(o, head, sizeof(head));
	put_bytes(o, body, body_len);
	ts_buf_consume(&o->chunk, len);
}

static void put(struct out *o, const void *data, size_t len)
{
	if (o->layout == BENCH_PLAIN) {
		put_bytes(o, data, len);
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

	put32(bytes + 14, (uint32_t)addr);
	put32(bytes + 18, (uint32_t)(addr >> 32));
	put(o, bytes, sizeof(bytes));
}

static void put_header(struct out *o, uint8_t *header)
{
	if (o->layout == BENCH_PLAIN)
		memset(header + 4, 0, 4); /* the version */
	put_bytes(o, header, HEADER_LEN);
	if (o->layout == BENCH_FRAMED)
		put_bytes(o, SNAPPY_IDENTIFIER, SNAPPY_IDENTIFIER_LEN);
}

void bench_record(const char *source, const char *path, enum bench_layout layout, uint64_t n_steps,
		  struct bench_recording *rec)
{
	struct out o = { .file = fopen(path, "wb"), .layout = layout };
	struct parts parts = { 0 };
	uint8_t header[HEADER_LEN];
	struct ts_buf stream = load(source, header);

	if (!o.file)
		bench_die("%s cannot be written", path);
	split(&stream, layout, &parts);
	put_header(&o, header);
	put(&o, parts.head.data, parts.head.len);
	*rec = (struct bench_recording){ .mark = parts.mark, .hot = find_hot(&stream) };
	for (size_t i = 0; rec->n_steps < n_steps; i = (i + 1) % parts.n_frames) {
		put(&o, parts.body.data + parts.frames[i].off, parts.frames[i].len);
		if (!rec->n_steps)
			put_mark(&o, parts.mark);
		rec->n_steps += parts.frames[i].n_steps;
	}
	if (o.chunk.len)
		put_chunk(&o, o.chunk.len);
	if (fclose(o.file))
		bench_die("%s cannot be written", path);
	rec->file_len = o.len;
	ts_buf_fini(&o.chunk);
	ts_buf_fini(&stream);
	ts_buf_fini(&parts.head);
	ts_buf_fini(&parts.body);
	free(parts.frames);
}
