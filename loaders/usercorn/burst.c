/* SPDX-License-Identifier: MIT */
#include "burst.h"

#define WORDS_AT_ONCE 512u

/*
 * The bytes before the last write, if it is alone in its frame: the header of the frame, perhaps with a JMP
 * to the pc of the task. Returns their length, 0 if there is something else.
 */
static size_t head_of_word(const struct ucir_reader *r, const uint8_t **head)
{
	const struct ucir_stream *s = &r->w.s;
	uint64_t len = ucir_stream_tell(s) - r->w.frame_off;

	*head = r->left ? NULL : ucir_stream_passed(s, r->w.frame_off);
	if (!*head)
		return 0;
	if (len == UCIR_FRAME_LEN + UCIR_WORD_LEN && (*head)[9] == 1)
		return UCIR_FRAME_LEN;
	if (len == UCIR_FRAME_LEN + UCIR_JMP_LEN + UCIR_WORD_LEN && (*head)[9] == 2 &&
	    (*head)[UCIR_FRAME_LEN] == UCIR_JMP)
		return UCIR_FRAME_LEN + UCIR_JMP_LEN;
	return 0;
}

/* Up to @max writes of a word that go on at @addr, of this frame or each of one like that of the last one. */
static uint32_t words_on(struct ucir_reader *r, uint64_t addr, uint32_t max, uint8_t *data)
{
	const uint8_t *head = NULL;
	size_t len = head_of_word(r, &head);
	uint32_t n;

	if (!len) {
		n = ucir_ops_write_on(&r->w.s, NULL, 0, addr, max < r->left ? max : r->left, data);
		r->left -= n;
		return n;
	}
	n = ucir_ops_write_on(&r->w.s, head, len, addr, max, data);
	r->w.n_frames += n;
	if (n)
		r->w.frame_off = ucir_stream_tell(&r->w.s) - len - UCIR_WORD_LEN;
	return n;
}

/*
 * The step has many effects, the last of which may be a write: a string instruction's go on after it,
 * thousands of them, and are one.
 */
void ucir_write_on(struct ucir_reader *r, struct ts_steps *out)
{
	struct ts_effect *e = &out->effects[out->n_effects - 1];
	uint32_t n = 1;

	while (n && e->kind == TS_FX_WRITE && e->data + e->len == out->n_data) {
		/* no room after the last byte of the space, where addr is 0 or one more than the mask */
		uint64_t addr = e->addr + e->len, room = (r->w.rec->addr_mask - addr + 1) / 8;

		if (out->cap_data - out->n_data < 8 * WORDS_AT_ONCE &&
		    !ts_steps_grow_data(out, 8 * WORDS_AT_ONCE))
			return;
		n = words_on(r, addr, room < WORDS_AT_ONCE ? (uint32_t)room : WORDS_AT_ONCE,
			     out->data + out->n_data);
		e->len += 8 * n;
		out->n_data += 8 * n;
	}
}
