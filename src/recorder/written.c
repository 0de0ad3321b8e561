/* SPDX-License-Identifier: MIT */
#include "kernel.h"

#include <string.h>

#include "maps.h"
#include "qemu.h"

#define MAX_CALLS 16u
#define MAX_VECTORS 1024u

/* The numbers of each processor; -1 at the end. */
struct numbers {
	const char *ucir;
	int buffer[MAX_CALLS];  /* the result says how many bytes of the buffer in the second argument: read */
	int vector[MAX_CALLS];  /* the same of the buffers of an iovec: readv */
	int random, recvmsg;    /* a buffer in the first argument; a msghdr in the second one */
	int files[MAX_CALLS];   /* write to the file of the first or third argument */
	int advises[MAX_CALLS]; /* may take pages of [first argument, + second) away: madvise, mremap */
};

/*
 * buffer: read pread64 recv recvfrom; vector: readv preadv preadv2; files: write pwrite64 writev pwritev
 * pwritev2 fallocate ftruncate ftruncate64 sendfile sendfile64 copy_file_range splice; advises: madvise mremap
 */
static const struct numbers all[] = {
	{ "x86_64", { 0, 17, 45, -1 }, { 19, 295, 327, -1 }, 318, 47,
	  { 1, 18, 20, 296, 328, 285, 77, 40, 326, 275, -1 }, { 28, 25, -1 } },
	{ "x86", { 3, 180, 371, -1 }, { 145, 333, 378, -1 }, 355, 372,
	  { 4, 181, 146, 334, 379, 324, 93, 194, 187, 239, 377, 313, -1 }, { 219, 163, -1 } },
	{ "arm", { 3, 180, 291, 292, -1 }, { 145, 361, 392, -1 }, 384, 297,
	  { 4, 181, 146, 362, 393, 352, 93, 194, 187, 239, 391, 340, -1 }, { 220, 163, -1 } },
	{ "arm64", { 63, 67, 207, -1 }, { 65, 69, 286, -1 }, 278, 212,
	  { 64, 68, 66, 70, 287, 47, 46, 71, 285, 76, -1 }, { 233, 216, -1 } },
	{ "riscv64", { 63, 67, 207, -1 }, { 65, 69, 286, -1 }, 278, 212,
	  { 64, 68, 66, 70, 287, 47, 46, 71, 285, 76, -1 }, { 233, 216, -1 } },
	{ "mips", { 4003, 4200, 4175, 4176, -1 }, { 4145, 4330, 4361, -1 }, 4353, 4177,
	  { 4004, 4201, 4146, 4331, 4362, 4320, 4093, 4212, 4207, 4237, 4360, 4304, -1 }, { 4218, 4167, -1 } },
	{ "ppc64", { 3, 179, 336, 337, -1 }, { 145, 320, 380, -1 }, 359, 342,
	  { 4, 180, 146, 321, 381, 309, 93, 186, 379, 283, -1 }, { 205, 163, -1 } },
};

static const struct numbers *numbers;

void ts_written_begin(void)
{
	for (size_t i = 0; i < sizeof(all) / sizeof(all[0]); i++) {
		if (strcmp(all[i].ucir, ts_guest->ucir) == 0)
			numbers = &all[i];
	}
}

static bool is_in(const int list[MAX_CALLS], int num)
{
	for (unsigned i = 0; i < MAX_CALLS && list[i] >= 0; i++) {
		if (list[i] == num)
			return true;
	}
	return false;
}

/* A word of the program's memory; 0 if it cannot be read. */
static uint64_t word_at(uint64_t addr)
{
	unsigned len = ts_guest->word;
	uint64_t val = 0;

	if (!ts_maps_is_readable(addr, len))
		return 0;
	for (unsigned i = 0; i < len; i++)
		val |= (uint64_t)*ts_host(addr + i) << 8 * (ts_guest->is_big_endian ? len - 1 - i : i);
	return val;
}

/* @len bytes were written to the buffers of @n iovecs at @addr, one after the other. */
static void add_vector(struct ts_op_piece *p, uint64_t addr, uint64_t n, uint64_t len)
{
	unsigned word = ts_guest->word;

	for (uint64_t i = 0; i < n && i < MAX_VECTORS && len; i++) {
		uint64_t room = word_at(addr + (2 * i + 1) * word);

		room = room < len ? room : len;
		ts_maps_note_written(p, word_at(addr + 2 * i * word), room);
		len -= room;
	}
}

void ts_written_add(struct ts_call *c)
{
	uint64_t len = c->ret > 0 ? (uint64_t)c->ret : 0;
	unsigned word = ts_guest->word;

	if (!numbers)
		return;
	if (is_in(numbers->buffer, c->num))
		ts_maps_note_written(&c->ops, c->args[1], len);
	else if (c->num == numbers->random)
		ts_maps_note_written(&c->ops, c->args[0], len);
	else if (is_in(numbers->vector, c->num))
		add_vector(&c->ops, c->args[1], c->args[2], len);
	else if (c->num == numbers->recvmsg)
		add_vector(&c->ops, word_at(c->args[1] + 2 * word), word_at(c->args[1] + 3 * word), len);
	else if (is_in(numbers->advises, c->num))
		ts_maps_compare_readable(&c->ops, c->args[0], c->args[1]);
	if (!is_in(numbers->files, c->num))
		return;
	ts_maps_compare_file(&c->ops, (int)c->args[0]);
	ts_maps_compare_file(&c->ops, (int)c->args[2]);
}
