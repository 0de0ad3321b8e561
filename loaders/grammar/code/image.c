/* SPDX-License-Identifier: MIT */
#include "image.h"

#include "src/base/text/hex.h"

#define PIECE 16384u /* bytes */

static void tell(struct ts_steps *out, uint64_t addr, const uint8_t *bytes, uint64_t len)
{
	struct ts_effect *e = len ? ts_steps_value(out, TS_FX_WRITE, addr, bytes, (uint32_t)len) : NULL;

	if (e)
		e->is_hidden = true; /* no recorded instruction loads a module */
}

static void tell_zeros(struct ts_steps *out, uint64_t addr, uint64_t n)
{
	static const uint8_t zeros[PIECE];

	for (uint64_t some; n; n -= some, addr += some) {
		some = n < PIECE ? n : PIECE;
		tell(out, addr, zeros, some);
	}
}

bool grammar_image_append(struct ts_window *w, uint64_t off, uint64_t base, uint64_t len, uint64_t *left,
			struct ts_steps *out, bool *is_cut, struct ts_error *err)
{
	uint64_t half = *left / 2, most = half < GRAMMAR_MAX_IMAGE ? half : GRAMMAR_MAX_IMAGE;
	uint64_t max = len < most ? len : most, at = 0, n_zeros = 0;
	uint8_t bytes[PIECE];

	*is_cut = false;
	while (at < max) {
		size_t got;
		const uint8_t *text = ts_window_at(w, off + 2 * at, 2 * PIECE, &got, err);
		uint32_t n = text ? (uint32_t)ts_hex_bytes((const char *)text, got, bytes, PIECE) : 0, last;

		if (!text)
			return false;
		if (n > max - at)
			n = (uint32_t)(max - at);
		for (last = n; last && !bytes[last - 1]; last--)
			;
		if (last) {
			tell_zeros(out, base + at - n_zeros, n_zeros);
			tell(out, base + at, bytes, last);
			n_zeros = n - last;
		} else {
			n_zeros += n;
		}
		at += n;
		if (n < PIECE)
			break;
	}
	*is_cut = at == most && len > at;
	*left -= at;
	return !out->is_failed || ts_no_memory(err, "the bytes of a module");
}
