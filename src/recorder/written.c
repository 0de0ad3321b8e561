/* SPDX-License-Identifier: MIT */
#include "kernel.h"

#include "maps.h"

#define MAX_VECTORS 1024u

/* @len bytes were written to the buffers of @n iovecs at @addr, one after the other. */
static void add_vector(struct ts_op_piece *p, uint64_t addr, uint64_t n, uint64_t len)
{
	unsigned word = ts_guest->word;

	for (uint64_t i = 0; i < n && i < MAX_VECTORS && len; i++) {
		uint64_t room = ts_maps_word(addr + (2 * i + 1) * word, word);

		room = room < len ? room : len;
		ts_maps_note_written(p, ts_maps_word(addr + 2 * i * word, word), room);
		len -= room;
	}
}

/* Those that wait or wake write nothing; others set the word, or the second one. */
static void compare_futex(struct ts_op_piece *p, const uint64_t *args)
{
	enum { COMMAND = 0x7f, WAKE_OP = 5, WAIT_BITSET = 9, WAKE_BITSET = 10 };
	unsigned command = args[1] & COMMAND;

	if (command < WAKE_OP || command == WAIT_BITSET || command == WAKE_BITSET)
		return;
	ts_maps_compare_range(p, args[0], 4);
	ts_maps_compare_range(p, args[4], 4);
}

void ts_written_add(struct ts_call *c)
{
	const struct ts_calls *calls = ts_guest->calls;
	uint64_t len = c->ret > 0 ? (uint64_t)c->ret : 0;
	unsigned word = ts_guest->word;

	if (ts_calls_have(calls->buffer, c->num))
		ts_maps_note_written(&c->ops, c->args[1], len);
	else if (c->num == calls->random)
		ts_maps_note_written(&c->ops, c->args[0], len);
	else if (ts_calls_have(calls->vector, c->num))
		add_vector(&c->ops, c->args[1], c->args[2], len);
	else if (c->num == calls->recvmsg)
		add_vector(&c->ops, ts_maps_word(c->args[1] + 2 * word, word), ts_maps_word(c->args[1] + 3 * word, word), len);
	else if (ts_calls_have(calls->advises, c->num))
		ts_maps_compare_readable(&c->ops, c->args[0], c->args[1]);
	else if (c->num == calls->futex)
		compare_futex(&c->ops, c->args);
	if (ts_calls_have(calls->truncate, c->num))
		ts_maps_compare_path(&c->ops, c->args[0]);
	if (!ts_calls_have(calls->files, c->num))
		return;
	ts_maps_compare_file(&c->ops, (int)c->args[0]);
	ts_maps_compare_file(&c->ops, (int)c->args[2]);
}
