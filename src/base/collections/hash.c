/* SPDX-License-Identifier: MIT */
#include "hash.h"

#include <sys/random.h>

#define XXH_INLINE_ALL
#include <xxhash.h>

#include "src/base/clock.h"

uint64_t ts_hash_key[2];

/* Before main(): no table is made without it, and the sandbox has no say in it. */
__attribute__((constructor)) static void make_key(void)
{
	if (getrandom(ts_hash_key, sizeof(ts_hash_key), GRND_NONBLOCK) == sizeof(ts_hash_key))
		return;
	ts_hash_key[0] = (uint64_t)ts_now_ns() * UINT64_C(0x9e3779b97f4a7c15);
	ts_hash_key[1] = (uint64_t)(uintptr_t)&ts_hash_key * UINT64_C(0xd6e8feb86659fd93);
}

uint64_t ts_hash_bytes(const void *bytes, size_t len)
{
	return XXH3_64bits_withSeed(bytes, len, ts_hash_key[0]);
}
