/* SPDX-License-Identifier: MIT */
/*
 * Writing version 2: ops are those that the tests' own encoder makes of text, and a file opens.
 */
#include "loaders/usercorn/write.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "loaders/usercorn/op_write.h"
#include "ucir_text.h"
#include "unit.h"

static const char text[] = "NOTE 3 =/bin/prog\n"
			   "KEY 7:8 { REG 44 7000 MAP 1000 2000 5 stack /bin/prog WRITE 1000 0f05 PROT 1000 1000 1 JMP 1000 }\n"
			   "FRAME 7:8 { CHANGED 2000 0102 READ 2000 2 FORGET 3000 10 UNMAP 3000 1000 SPREG 122 00112233 STEP 2\n"
			   "SYSCALL 60 5 15,16 { EXIT } SIGNAL 11 1 10 29 { WRITE 6f00 00 } GAP 7 { REG 44 7008 } THREAD_END 3 }\n"
			   "END 1 11\n";

static const uint64_t thread = UINT64_C(7) << 32 | 8;

static size_t write_ops(uint8_t *out)
{
	static const uint64_t args[] = { 0x15, 0x16 };
	uint8_t *p = ucir_put_note(out, UCIR_NOTE_PROGRAM, "/bin/prog", 9);

	p = ucir_put_frame(p, UCIR_KEYFRAME, thread, 5);
	p = ucir_put_reg(p, 44, 0x7000);
	p = ucir_put_map(p, 0x1000, 0x2000, 5, 0, 0, "stack", 5, "/bin/prog", 9);
	p = ucir_put_contents(p, UCIR_WRITE, 0x1000, "\x0f\x05", 2);
	p = ucir_put_prot(p, 0x1000, 0x1000, 1);
	p = ucir_put_jmp(p, 0x1000);
	p = ucir_put_frame(p, UCIR_FRAME, thread, 10);
	p = ucir_put_contents(p, UCIR_CHANGED, 0x2000, "\1\2", 2);
	p = ucir_put_access(p, UCIR_READ, 0x2000, 2);
	p = ucir_put_range(p, UCIR_FORGET, 0x3000, 0x10);
	p = ucir_put_range(p, UCIR_UNMAP, 0x3000, 0x1000);
	p = ucir_put_spreg(p, 122, "\0\x11\x22\x33", 4);
	p = ucir_put_step(p, 2);
	p = ucir_put_syscall(p, 60, 5, args, 2, 1);
	*p++ = UCIR_EXIT;
	p = ucir_put_signal(p, 11, 1, 0x10, 29, 1);
	p = ucir_put_contents(p, UCIR_WRITE, 0x6f00, "", 1);
	p = ucir_put_gap(p, 7, 1);
	p = ucir_put_reg(p, 44, 0x7008);
	p = ucir_put_thread_end(p, 3);
	p = ucir_put_end(p, UCIR_END_SIGNAL, 11);
	return (size_t)(p - out);
}

START_TEST(each_op_has_the_bytes_of_the_format)
{
	struct ts_buf wanted = { 0 };
	uint8_t ops[1024];
	size_t len = write_ops(ops);

	ucir_encode_ops(&wanted, text, 2);
	ck_assert_uint_eq(len, wanted.len);
	ck_assert_mem_eq(ops, wanted.data, len);
	ts_buf_fini(&wanted);
}
END_TEST

/* Ops that do not compress fill several chunks. */
static void write_file(const char *path, size_t n_notes)
{
	struct ucir_writer *w = calloc(1, sizeof(*w));
	int fd = open(path, O_RDWR | O_CREAT | O_TRUNC, 0600);
	struct ts_error err = { 0 };
	uint8_t ops[1024];
	uint32_t seed = 1;

	ck_assert(w && ucir_writer_begin(w, fd, "x86_64", false, &err));
	for (size_t i = 0; i < n_notes; i++) {
		uint8_t noise[900];

		for (size_t k = 0; k < sizeof(noise); k++)
			noise[k] = (uint8_t)((seed = seed * 1103515245 + 12345) >> 16);
		ck_assert(ucir_writer_add(w, ops,
					  (size_t)(ucir_put_note(ops, 200, noise, sizeof(noise)) - ops),
					  &err));
	}
	ck_assert(ucir_writer_add(w, ops, write_ops(ops), &err) && ucir_writer_flush(w, &err));
	ck_assert_uint_eq(w->n_file, (uint64_t)lseek(fd, 0, SEEK_END));
	close(fd);
	free(w);
}

static void read_file(struct ts_buf *bytes, const char *path)
{
	int fd = open(path, O_RDONLY);
	uint8_t block[4096];
	ssize_t n;

	while ((n = read(fd, block, sizeof(block))) > 0)
		ts_buf_put(bytes, block, (size_t)n);
	close(fd);
}

START_TEST(a_file_opens_and_has_its_steps)
{
	struct ucir_trace t = { 0 };
	struct ts_buf said = { 0 };

	write_file("file.ucir", 200);
	read_file(&t.bytes, "file.ucir");
	ck_assert_msg(ucir_open(&t, NULL), "%s", t.err.text);
	ck_assert_int_eq(ucir_read_all(&t, &said), TS_END);
	ts_buf_put(&said, "", 1);
	ck_assert_ptr_nonnull(strstr((const char *)said.data, "1000/2@"));
	ck_assert_ptr_nonnull(strstr((const char *)said.data, "syscall60(15,16)"));
	ts_buf_fini(&said);
	ucir_close(&t);
}
END_TEST

START_TEST(a_full_device_is_an_error)
{
	struct ucir_writer *w = calloc(1, sizeof(*w));
	int fd = open("/dev/full", O_WRONLY);
	struct ts_error err = { 0 };

	ck_assert(w && fd >= 0);
	ck_assert(!ucir_writer_begin(w, fd, "x86_64", false, &err));
	ck_assert_int_eq(err.code, TS_EIO);
	close(fd);
	free(w);
}
END_TEST

UNIT_SUITE("usercorn_write", each_op_has_the_bytes_of_the_format, a_file_opens_and_has_its_steps,
	   a_full_device_is_an_error)
