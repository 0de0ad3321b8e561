/* SPDX-License-Identifier: MIT */
/*
 * Index files whose packed arrays hold their items as they are: each block is stored, as one is that packing does not
 * make shorter (index_pack.h).  What forge.h changes there is a number, and not a byte of a compressed block.
 */
#ifndef TS_TESTS_FORGE_STORE_H
#define TS_TESTS_FORGE_STORE_H

#include <stddef.h>
#include <stdint.h>

#include "src/index/keys/signer.h"

/*
 * The same index as @file, which has *len bytes and is as it was built; *len gets its length.  It is signed.
 *
 * Returns its bytes, owned by the caller.
 */
uint8_t *forge_store(const uint8_t *file, size_t *len);

/* The same of a file of another key, which @signer signs. */
uint8_t *forge_store_as(const struct ts_signer *signer, const uint8_t *file, size_t *len);

#endif
