/* SPDX-License-Identifier: MIT */
#include "free_in_steps.h"

#include <stdlib.h>

bool ts_give_back_some(void **memory, size_t *len)
{
	void *less = *len > TS_GIVE_BACK_LEN ? realloc(*memory, *len - TS_GIVE_BACK_LEN) : NULL;

	if (less) {
		*memory = less;
		*len -= TS_GIVE_BACK_LEN;
		return true;
	}
	free(*memory);
	*memory = NULL;
	*len = 0;
	return false;
}

bool ts_give_back_items(void **items, size_t *n, size_t item_len)
{
	size_t len = *n * item_len;
	bool has_more = ts_give_back_some(items, &len);

	*n = len / item_len;
	return has_more;
}
