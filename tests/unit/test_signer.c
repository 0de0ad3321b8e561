/* SPDX-License-Identifier: MIT */
/*
 * Signatures: those of a message and a secret are always the same, and any change of either shows.
 */
#include "unit.h"

#include "src/index/keys/signer.h"

#include <dirent.h>
#include <fcntl.h>
#include <limits.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

static const uint8_t secret[TS_SECRET_LEN + 1] = "thirty-two bytes that are secret";

static struct ts_signer signer(void)
{
	struct ts_signer s;

	ts_signer_init(&s, secret);
	return s;
}

static bool open_signer(struct ts_signer *s, const char *folder, struct ts_error *err)
{
	uint8_t read_secret[TS_SECRET_LEN];

	if (!ts_secret_open(read_secret, folder, err))
		return false;
	ts_signer_init(s, read_secret);
	return true;
}

START_TEST(a_signature_depends_on_every_bit_of_the_message)
{
	struct ts_signer s = signer();
	uint8_t message[100] = { 0 }, signature[TS_SIGNATURE_LEN], again[TS_SIGNATURE_LEN];
	struct iovec all = { message, sizeof(message) };

	ts_signer_sign(&s, &all, 1, signature);
	for (unsigned i = 0; i < sizeof(message) * 8; i++) {
		message[i / 8] ^= (uint8_t)(1u << i % 8);
		ck_assert(!ts_signer_check(&s, &all, 1, signature));
		ts_signer_sign(&s, &all, 1, again);
		ck_assert(memcmp(again, signature, sizeof(again)));
		message[i / 8] ^= (uint8_t)(1u << i % 8);
	}
	ck_assert(ts_signer_check(&s, &all, 1, signature));
	all.iov_len--;
	ck_assert(!ts_signer_check(&s, &all, 1, signature));
}
END_TEST

START_TEST(a_signature_that_is_changed_is_wrong)
{
	struct ts_signer s = signer();
	uint8_t signature[TS_SIGNATURE_LEN];
	struct iovec none = { NULL, 0 };

	ts_signer_sign(&s, &none, 1, signature);
	ck_assert(ts_signer_check(&s, &none, 1, signature));
	for (unsigned i = 0; i < TS_SIGNATURE_LEN * 8; i++) {
		signature[i / 8] ^= (uint8_t)(1u << i % 8);
		ck_assert(!ts_signer_check(&s, &none, 1, signature));
		signature[i / 8] ^= (uint8_t)(1u << i % 8);
	}
}
END_TEST

START_TEST(parts_are_one_message)
{
	struct ts_signer s = signer();
	uint8_t message[67] = "some bytes of a message", a[TS_SIGNATURE_LEN], b[TS_SIGNATURE_LEN];
	struct iovec all = { message, sizeof(message) };

	ts_signer_sign(&s, &all, 1, a);
	for (size_t i = 0; i <= sizeof(message); i++) {
		for (size_t k = i; k <= sizeof(message); k++) {
			struct iovec parts[] = {
				{ message, i }, { NULL, 0 }, { message + i, k - i }, { message + k, sizeof(message) - k }
			};

			ts_signer_sign(&s, parts, 4, b);
			ck_assert_mem_eq(a, b, sizeof(a));
		}
	}
}
END_TEST

START_TEST(another_secret_is_another_signer)
{
	struct ts_signer s = signer(), t;
	uint8_t other[TS_SECRET_LEN], signature[TS_SIGNATURE_LEN];
	struct iovec all = { other, sizeof(other) };

	memcpy(other, secret, sizeof(other));
	other[31] ^= 1;
	ts_signer_init(&t, other);
	ck_assert_uint_ne(s.id, t.id);
	ts_signer_sign(&s, &all, 1, signature);
	ck_assert(!ts_signer_check(&t, &all, 1, signature));
}
END_TEST

/*
 * The GMAC of NIST's GCM test vectors (AES-256, case 13: no data, a key and a nonce of zeros) is
 * 530f8afbc74536b9a963b4f1c4cb738b; its HMAC-SHA-256 under a key of zeros is by Python's hmac.
 */
START_TEST(the_code_is_an_hmac_of_a_gmac)
{
	static const uint8_t want[] = { 0xc2, 0xb4, 0x76, 0xa6, 0xf4, 0x2b, 0x4a, 0x1e, 0x83, 0x29,
					0x25, 0x03, 0x03, 0xc2, 0x04, 0xa0, 0x91, 0xb9, 0x67, 0x44,
					0x6f, 0x81, 0x44, 0xf4, 0xa3, 0xc7, 0x09, 0xfa };
	struct ts_signer zero = { 0 };

	ck_assert(ts_signer_check(&zero, NULL, 0, want));
}
END_TEST

static unsigned n_files(const char *folder)
{
	unsigned n = 0;
	DIR *d = opendir(folder);

	ck_assert_ptr_nonnull(d);
	for (const struct dirent *e; (e = readdir(d));)
		n += e->d_name[0] != '.';
	closedir(d);
	return n;
}

START_TEST(processes_that_begin_together_get_one_key)
{
	struct ts_error err = { 0 };
	struct ts_signer s;
	struct stat st;
	int pipes[2];

	ck_assert_int_eq(pipe(pipes), 0);
	for (unsigned i = 0; i < 8; i++) {
		pid_t pid = fork();

		ck_assert_int_ge(pid, 0);
		if (!pid) {
			bool done = open_signer(&s, "cache/tracestub", &err) &&
				    write(pipes[1], &s.id, sizeof(s.id)) == sizeof(s.id);

			_exit(!done);
		}
	}
	for (unsigned i = 0; i < 8; i++) {
		int status;

		ck_assert_int_gt(wait(&status), 0);
		ck_assert_int_eq(status, 0);
	}
	ck_assert(open_signer(&s, "cache/tracestub", &err));
	for (unsigned i = 0; i < 8; i++) {
		uint64_t id;

		ck_assert_int_eq(read(pipes[0], &id, sizeof(id)), sizeof(id));
		ck_assert_uint_eq(id, s.id);
	}
	ck_assert_uint_eq(n_files("cache/tracestub"), 1);
	ck_assert_int_eq(stat("cache/tracestub/key", &st), 0);
	ck_assert_uint_eq(st.st_mode & 0777, 0600);
	ck_assert_int_eq(stat("cache/tracestub", &st), 0);
	ck_assert_uint_eq(st.st_mode & 0777, 0700);
}
END_TEST

START_TEST(a_key_that_others_can_read_or_that_is_damaged_is_refused)
{
	static char path[PATH_MAX];
	struct ts_error err = { 0 };
	struct ts_signer s;

	ck_assert(open_signer(&s, "folder", &err));
	ck_assert_int_eq(chmod("folder/key", 0640), 0);
	ck_assert(!open_signer(&s, "folder", &err));
	ck_assert_ptr_nonnull(strstr(err.text, "this user alone"));
	ck_assert_int_eq(chmod("folder/key", 0600), 0);
	ck_assert_int_eq(truncate("folder/key", 31), 0);
	ts_error_reset(&err);
	ck_assert(!open_signer(&s, "folder", &err));
	ck_assert_ptr_nonnull(strstr(err.text, "damaged"));
	ck_assert_int_eq(unlink("folder/key"), 0);
	ck_assert_int_eq(symlink("elsewhere", "folder/key"), 0);
	ts_error_reset(&err);
	ck_assert(!open_signer(&s, "folder", &err));
	ts_error_reset(&err);
	ck_assert_int_eq(unlink("folder/key"), 0);
	ck_assert_int_eq(mkfifo("folder/key", 0600), 0);
	ck_assert(!open_signer(&s, "folder", &err));
	ck_assert_ptr_nonnull(strstr(err.text, "this user alone"));
	ts_error_reset(&err);
	if (geteuid() == 0) {
		ck_assert(open_signer(&s, "another", &err));
		ck_assert_int_eq(chown("another/key", 12345, (gid_t)-1), 0);
		ck_assert(!open_signer(&s, "another", &err));
		ck_assert_ptr_nonnull(strstr(err.text, "this user alone"));
		ts_error_reset(&err);
	}
	memset(path, 'x', sizeof(path) - 1);
	ck_assert(!open_signer(&s, path, &err));
	ck_assert_ptr_nonnull(strstr(err.text, "too long"));
	ts_error_reset(&err);
	ck_assert_int_eq(symlink("nowhere/at/all", "dangling"), 0);
	ck_assert(!open_signer(&s, "dangling/folder", &err));
	ck_assert_ptr_nonnull(strstr(err.text, "cannot make it"));
	ts_error_reset(&err);
	close(open("file", O_CREAT | O_WRONLY, 0600));
	ck_assert(!open_signer(&s, "file/folder", &err));
	ck_assert_ptr_nonnull(strchr(err.text, ' '));
}
END_TEST

UNIT_SUITE("signer", a_signature_depends_on_every_bit_of_the_message, a_signature_that_is_changed_is_wrong,
	   parts_are_one_message, another_secret_is_another_signer, the_code_is_an_hmac_of_a_gmac,
	   processes_that_begin_together_get_one_key,
	   a_key_that_others_can_read_or_that_is_damaged_is_refused)
