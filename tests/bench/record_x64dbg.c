/* SPDX-License-Identifier: MIT */
/*
 * x64dbg's recordings: seven pages of a real one again and again, by two threads in turn, so that nothing has
 * to be forgotten where it starts anew.
 */
#include <string.h>

#include "bench.h"
#include "recording.h"

#define PAGE_BLOCKS 512u
#define N_PAGES     7u

/* Of a block with a thread id, or one without. */
static size_t block_len(const uint8_t *b)
{
	size_t len = 4 + (b[3] & 0x80 ? 4 : 0) + (b[3] & 15) + 9 * (size_t)b[1], n_changed = 0;

	for (unsigned i = 0, n = b[2]; i < n; i++)
		n_changed += !(b[len + i] & 1);
	return len + 17 * (size_t)b[2] + 8 * n_changed;
}

/* Where each page begins, and the last one ends. */
static void find_pages(const uint8_t *bytes, size_t len, size_t head, size_t pages[N_PAGES + 1])
{
	size_t at = head;

	for (unsigned n = 0; n <= N_PAGES * PAGE_BLOCKS; n++) {
		if (at >= len)
			bench_die("the bundled trace is too short");
		if (n % PAGE_BLOCKS == 0)
			pages[n / PAGE_BLOCKS] = at;
		at += block_len(bytes + at);
	}
}

#define MARK_AT UINT64_C(0x7ffe00001000)

/*
 * The write that happens once, in front of everything: a block with all registers of the first one, whose
 * instruction stores rax at an address that is part of it.
 */
static void put_mark(FILE *out, const uint8_t *first)
{
	static const uint8_t store[2] = { 0x48, 0xa3 };
	enum { STORE_LEN = 10, RIP = 16 };
	uint8_t n_regs = first[1], head[8 + STORE_LEN] = { 0, n_regs, 1, 0x80 | STORE_LEN },
		memory[25] = { 0 };
	const uint8_t *slots = first + 8 + (first[3] & 15), *values = slots + n_regs;
	uint8_t rip[8];

	if (!(first[3] & 0x80) || slots[RIP])
		bench_die("the bundled trace does not begin with all registers");
	memcpy(head + 4, first + 4, 4); /* the thread */
	memcpy(head + 8, store, sizeof(store));
	bench_put(head + 10, 8, MARK_AT);
	bench_put(rip, 8, bench_get(values + RIP * 8, 8) - STORE_LEN);
	bench_put(memory + 1, 8, MARK_AT);
	memcpy(memory + 17, values, 8); /* rax */
	bench_write(out, head, sizeof(head));
	bench_write(out, slots, n_regs);
	bench_write(out, values, RIP * 8);
	bench_write(out, rip, 8);
	bench_write(out, values + (RIP + 1) * 8, (n_regs - RIP - 1u) * 8);
	bench_write(out, memory, sizeof(memory));
}

static void record(const struct bench_format *format, const char *path, uint64_t n_steps,
		   struct bench_recording *rec)
{
	struct ts_buf sample = bench_sample(format);
	size_t head = 8 + bench_get(sample.data + 4, 2), pages[N_PAGES + 1];
	FILE *out = bench_create(path);

	find_pages(sample.data, sample.len, head, pages);
	bench_write(out, sample.data, head);
	sample.data[head + 4] ^= 1;
	put_mark(out, sample.data + head);
	sample.data[head + 4] ^= 1;
	rec->steps_at = head;
	rec->mark = MARK_AT;
	/* what the last block does is not recorded: it is no step, but the mark is */
	for (rec->n_steps = 0; rec->n_steps < n_steps; rec->n_steps += N_PAGES * PAGE_BLOCKS) {
		for (unsigned i = 0; i < N_PAGES; i++)
			sample.data[pages[i] + 4] ^= 1; /* the thread */
		bench_write(out, sample.data + head, pages[N_PAGES] - head);
	}
	rec->file_len = bench_finish(out);
	ts_buf_fini(&sample);
}

const struct bench_format bench_x64dbg = {
	.name = "x64dbg",
	.about = "x64dbg: seven pages of list64, repeated by two threads in turn",
	.index_rate = 10,
	.record = record,
	.sample = "x64dbg-samples/list64.trace64.gz",
};
