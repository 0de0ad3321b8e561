/* SPDX-License-Identifier: MIT */
/* What the naive twin knows of files: the bytes of an image, and modules. */
#include "naive.h"

uint8_t naive_image_byte(uint64_t off)
{
	return (uint8_t)(100 + off);
}

const struct naive_module *naive_next_module(const struct naive *nv, uint64_t pos, uint32_t process,
					     uint32_t *at)
{
	while (*at < nv->n_modules) {
		const struct naive_module *m = &nv->modules[(*at)++];

		if (m->process == process && m->from < nv->first_seq[pos] && m->until >= nv->first_seq[pos])
			return m;
	}
	return NULL;
}
