/* SPDX-License-Identifier: MIT */
/*
 * The signature that distinguishes this user's index files from others.
 *
 * Index files are copied along with traces, and an index is trusted: a forged one could make the debugger
 * show anything.  So each block of a file carries a message authentication code under a secret that only this
 * user has.
 *
 * The code is AES-256-GMAC, because a reopened index is checked completely and GMAC is as fast as memory.  It
 * needs a nonce that is never used for two messages.  The nonce is the beginning of the message's
 * HMAC-SHA-256 under a second key, so that equal messages have equal codes (building an index twice gives the
 * same bytes), and two messages share a nonce only if 96 bits of HMAC collide.  A checker takes the nonce
 * from the file: forging is no easier than guessing a code of 128 bits.  Keys are derived from the secret
 * with HMAC-SHA-256.
 */
#ifndef TS_SIGNER_H
#define TS_SIGNER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/uio.h>

#include "src/base/error.h"

#define TS_SECRET_LEN    32
#define TS_SIGNATURE_LEN 28 /* nonce, code */

/* All zero is also a signer, used by tests. */
struct ts_signer {
	uint8_t mac_key[32], nonce_key[32];
	uint64_t id; /* public; differs for another secret */
};

/* The signer of a secret.  Returns false if the library fails (TS_EIO). */
bool ts_signer_init(struct ts_signer *s, const uint8_t secret[TS_SECRET_LEN], struct ts_error *err);

/*
 * The signer of the secret in @folder/key.  If it does not exist, the directory and a new secret are made; of
 * two processes that do so at once both get the same.
 *
 * Returns false if it cannot be read or made (TS_EIO), or is not a file that this user alone can read.
 */
bool ts_signer_open(struct ts_signer *s, const char *folder, struct ts_error *err);

/* Sign the concatenation of @n parts.  Returns false if the library fails or memory is exhausted. */
bool ts_signer_sign(const struct ts_signer *s, const struct iovec *parts, size_t n,
		    uint8_t signature[TS_SIGNATURE_LEN]);

/* Is @signature that of the concatenation of @n parts?  A failure of the library counts as no. */
bool ts_signer_check(const struct ts_signer *s, const struct iovec *parts, size_t n,
		     const uint8_t signature[TS_SIGNATURE_LEN]);

#endif
