/* SPDX-License-Identifier: MIT */
/*
 * The signature that distinguishes this user's index files from others.
 *
 * Index files are copied together with traces, and an index is trusted: a forged index could make the debugger
 * show anything.  Therefore each block of a file has a message authentication code under a secret of this user.
 *
 * The code is the beginning of an HMAC-SHA-256, under one key, of a hash of the message under another one.
 * The hash is AES-256-GMAC with the same nonce for all messages: a file is signed and checked completely, and
 * GMAC is almost as fast as memory.  A GMAC whose nonce is repeated must not be published, but it is still a
 * universal hash: without the key an attacker cannot choose two messages of b blocks that have the same hash with a
 * probability of more than b in 2^128.  Files hold only its HMAC, which reveals nothing about it (a universal
 * hash under a pseudorandom function, as in Wegman and Carter).  A forged message passes only if its hash
 * happens to equal the hash of one of the n messages that were signed, n b in 2^128, or if an attacker guesses 224 bits.
 * Nonces need not be unique, and equal messages have equal codes: building an index twice produces the same
 * bytes.  Both keys have 256 bits and are derived from the secret with HMAC-SHA-256.
 *
 * Nettle computes both without allocating memory or opening files: signing cannot fail.
 */
#ifndef TS_SIGNER_H
#define TS_SIGNER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/uio.h>

#include "src/base/error.h"

#define TS_SECRET_LEN    32
#define TS_SIGNATURE_LEN 28

/* All zero is also a signer, used by tests. */
struct ts_signer {
	uint8_t hash_key[32], mac_key[32];
	uint64_t id; /* public; differs for another secret */
};

/* The signer of a secret. */
void ts_signer_init(struct ts_signer *s, const uint8_t secret[TS_SECRET_LEN]);

/*
 * Read the secret in @folder/key.  If it does not exist, the directory and a new secret are created; two processes
 * that do so at the same time use the same secret.
 *
 * Returns false if the file cannot be read or created (TS_EIO).
 * Returns false if it is not a regular file that only this user can read (TS_EIO).
 */
bool ts_secret_open(uint8_t secret[TS_SECRET_LEN], const char *folder, struct ts_error *err);

/*
 * Read the secret in the file @path, which several users of indexes share: 32 bytes, in a file that only this user
 * can read.  A symbolic link is followed.
 *
 * Returns false if it cannot be read, has another length, or may be read by others (TS_EIO).
 */
bool ts_secret_read(uint8_t secret[TS_SECRET_LEN], const char *path, struct ts_error *err);

/* Derive a key of @len bytes, at most 32, from the secret and the concatenation of @n parts: an HMAC-SHA-256. */
void ts_secret_derive(const uint8_t secret[TS_SECRET_LEN], const struct iovec *parts, size_t n, uint8_t *key, size_t len);

/* Sign the concatenation of @n parts. */
void ts_signer_sign(const struct ts_signer *s, const struct iovec *parts, size_t n,
		    uint8_t signature[TS_SIGNATURE_LEN]);

/* Is @signature the signature of the concatenation of @n parts? */
bool ts_signer_check(const struct ts_signer *s, const struct iovec *parts, size_t n,
		     const uint8_t signature[TS_SIGNATURE_LEN]);

#endif
