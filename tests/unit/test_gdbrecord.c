/* SPDX-License-Identifier: MIT */
/*
 * gdb's recordings, written here byte by byte: x86-64 unless a test says otherwise.  Memory is a page of code
 * at 0x1000 (nops), and one of data at 0x2000 of which the file has the first 8 bytes.
 */
#include "unit.h"

#include <elf.h>
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "ucir_text.h"

enum {
	RAX = 0,
	RCX = 2,
	RDI = 5,
	R11 = 11,
	RIP = 16,
};

static struct ucir_trace t;
static struct ts_buf steps;

/* What core() writes. */
static struct {
	struct ts_buf log, code;
	uint16_t machine;
	uint32_t magic;
	unsigned n_threads;
	bool has_files, has_log, is_log_last;
	const char *xml;
	uint64_t extra_log; /* more than the log's length in its header */
} c;

static void setup(void)
{
	memset(&c, 0, sizeof(c));
	c.machine = EM_X86_64;
	c.magic = 0x20091016;
	c.n_threads = 1;
	c.has_log = true;
	t = (struct ucir_trace){ .format = "gdbrecord" };
	ts_buf_init(&c.log);
	ts_buf_init(&c.code);
	ts_buf_init(&steps);
	ts_buf_init(&t.bytes);
}

static void teardown(void)
{
	ucir_close(&t);
	ts_buf_fini(&c.log);
	ts_buf_fini(&c.code);
	ts_buf_fini(&steps);
}

/* ----------------------------------------------------------------------------------------------- the log */

static void be32(struct ts_buf *b, uint32_t v)
{
	const uint8_t bytes[4] = { (uint8_t)(v >> 24), (uint8_t)(v >> 16), (uint8_t)(v >> 8), (uint8_t)v };

	ts_buf_put(b, bytes, sizeof(bytes));
}

static void reg(uint32_t number, uint64_t value)
{
	ts_buf_putc(&c.log, 1);
	be32(&c.log, number);
	ts_buf_put(&c.log, &value, sizeof(value)); /* this machine is little-endian too */
}

static void mem(uint64_t addr, const char *bytes)
{
	ts_buf_putc(&c.log, 2);
	be32(&c.log, (uint32_t)strlen(bytes));
	be32(&c.log, (uint32_t)(addr >> 32));
	be32(&c.log, (uint32_t)addr);
	ts_buf_puts(&c.log, bytes);
}

static void end(uint32_t signal)
{
	ts_buf_putc(&c.log, 0);
	be32(&c.log, signal);
	be32(&c.log, 7);
}

/* A group that only moves on. */
static void step(uint64_t pc)
{
	reg(RIP, pc);
	end(0);
}

static void syscall_to(uint64_t pc)
{
	reg(RCX, pc);
	reg(R11, 0x302);
	step(pc);
}

/* ---------------------------------------------------------------------------------------------- the core */

static void pad(struct ts_buf *b, size_t len)
{
	while (b->len < len)
		ts_buf_putc(b, 0);
}

static void note(struct ts_buf *b, const char *name, uint32_t type, const void *desc, size_t len)
{
	const uint32_t head[3] = { (uint32_t)strlen(name) + 1, (uint32_t)len, type };

	ts_buf_put(b, head, sizeof(head));
	ts_buf_put(b, name, strlen(name) + 1);
	pad(b, (b->len + 3) / 4 * 4);
	ts_buf_put(b, desc, len);
	pad(b, (b->len + 3) / 4 * 4);
}

/* Registers are 1, 2, ... in the kernel's order, but for the program counter. */
static void prstatus(struct ts_buf *b, uint32_t tid)
{
	bool is_arm = c.machine == EM_AARCH64;
	uint8_t bytes[392] = { 0 };

	memcpy(bytes + 32, &tid, 4);
	for (uint64_t i = 0; i < (is_arm ? 34 : 27); i++) {
		uint64_t v = i == (is_arm ? 32 : 16) ? 0x1000 : i + 1;

		memcpy(bytes + 112 + 8 * i, &v, 8);
	}
	note(b, "CORE", NT_PRSTATUS, bytes, is_arm ? 392 : 336);
}

static void notes(struct ts_buf *b)
{
	static const uint64_t files[] = { 1, 4096, 0x1000, 0x2000, 3 };
	struct ts_buf f;

	for (unsigned i = 0; i < c.n_threads; i++)
		prstatus(b, 100 + i);
	ts_buf_init(&f);
	ts_buf_put(&f, files, sizeof(files));
	ts_buf_put(&f, "/bin/x", 7);
	if (c.has_files)
		note(b, "CORE", NT_FILE, f.data, f.len);
	ts_buf_fini(&f);
	if (c.xml)
		note(b, "GDB", 0xff000000, c.xml, strlen(c.xml) + 1);
}

static void segment(struct ts_buf *b, uint32_t type, uint32_t flags, uint64_t off, uint64_t addr,
		    uint64_t file_len, uint64_t mem_len)
{
	const Elf64_Phdr p = { .p_type = type,
			       .p_flags = flags,
			       .p_offset = off,
			       .p_vaddr = addr,
			       .p_filesz = file_len,
			       .p_memsz = mem_len,
			       .p_align = 1 };

	ts_buf_put(b, &p, sizeof(p));
}

/* The file, in t.bytes. */
static void core(void)
{
	Elf64_Ehdr head = { .e_ident = ELFMAG,
			    .e_type = ET_CORE,
			    .e_machine = c.machine,
			    .e_version = 1,
			    .e_phoff = sizeof(head),
			    .e_ehsize = sizeof(head),
			    .e_phentsize = sizeof(Elf64_Phdr),
			    .e_phnum = 4 };
	struct ts_buf n;
	uint64_t data_at, log_at;

	head.e_ident[EI_CLASS] = ELFCLASS64;
	head.e_ident[EI_DATA] = ELFDATA2LSB;
	ts_buf_init(&n);
	notes(&n);
	while (c.code.len < 64)
		ts_buf_putc(&c.code, 0x90);
	data_at = sizeof(head) + 4 * sizeof(Elf64_Phdr) + n.len;
	log_at = data_at + c.code.len + 8;
	ts_buf_reset(&t.bytes);
	ts_buf_put(&t.bytes, &head, sizeof(head));
	segment(&t.bytes, c.has_log ? PT_NULL : PT_PHDR, PF_R, log_at, 0, 4 + c.log.len + c.extra_log, 0);
	segment(&t.bytes, PT_NOTE, PF_R, data_at - n.len, 0, n.len, 0);
	segment(&t.bytes, PT_LOAD, PF_R | PF_X, data_at, 0x1000, c.code.len, 0x1000);
	segment(&t.bytes, PT_LOAD, PF_R | PF_W, data_at + c.code.len, 0x2000, 8, 0x1000);
	ts_buf_put(&t.bytes, n.data, n.len);
	ts_buf_put(&t.bytes, c.code.data, c.code.len);
	ts_buf_put(&t.bytes, "abcdefgh", 8);
	be32(&t.bytes, c.magic);
	ts_buf_put(&t.bytes, c.log.data, c.log.len);
	ts_buf_fini(&n);
}

static enum ts_next read_core(void)
{
	core();
	ck_assert_msg(ucir_open(&t, NULL), "%s", t.err.text);
	return ucir_read_all(&t, &steps);
}

/* Forget the trace that was opened last. */
static void again(void)
{
	ucir_close(&t);
	t = (struct ucir_trace){ .format = "gdbrecord" };
	ts_buf_init(&t.bytes);
	ts_buf_reset(&steps);
}

static void expect_refused(enum ts_code code, const char *word)
{
	ck_assert(!ucir_open(&t, NULL));
	ck_assert_msg(t.err.code == code && strstr(t.err.text, word), "%s", t.err.text);
	again();
}

/* ---------------------------------------------------------------------------------------------- tests */

START_TEST(a_group_is_a_step)
{
	ts_buf_put(&c.code, "\x90\x89\xf8", 3);
	step(0x1001);
	reg(RAX, 0x55);
	mem(0x2002, "xy");
	step(0x1003);
	ck_assert_int_eq(read_core(), TS_END);
	ck_assert_str_eq(ts_buf_text(&steps), "1000/1@0\n1001/2@0 rax=55 W2002=7879\n");
	ck_assert_uint_eq(t.reader->end.pc, 0x1003);
	ck_assert(t.reader->end.has_pc && !t.reader->end.is_assumed);
	ck_assert_uint_eq(t.rec->threads[0].tid, 100);
	ck_assert_ptr_nonnull(strstr(t.rec->variant, "begin at 7"));
}
END_TEST

START_TEST(of_two_records_of_a_register_the_last_one_counts)
{
	c.machine = EM_AARCH64;
	reg(32, 0x1000);
	reg(30, 1);
	reg(32, 0x1400);
	reg(30, 0x1004);
	end(0);
	ck_assert_int_eq(read_core(), TS_END);
	ck_assert_str_eq(ts_buf_text(&steps), "1000/4@0 x30=1004\n");
	ck_assert_uint_eq(t.reader->end.pc, 0x1400);
}
END_TEST

/* mov $9,%eax; nop; syscall; nop */
START_TEST(rax_before_a_system_call_is_its_number)
{
	ts_buf_put(&c.code, "\xb8\x09\0\0\0\x90\x0f\x05\x90", 9);
	reg(RAX, 0x77);
	step(0x1005);
	step(0x1006);
	syscall_to(0x1008);
	step(0x1009);
	ck_assert_int_eq(read_core(), TS_END);
	ck_assert_str_eq(ts_buf_text(&steps),
			 "1000/5@0 rax=9\n1005/1@0\n"
			 "1006/2@0 rcx=1008 r11=302 rax=77 syscall9(f,e,d,8,a,9)=77\n1008/1@0\n");
}
END_TEST

/* mov (%rdi),%rax; syscall: the number is not in the file */
START_TEST(rax_that_came_from_memory_is_unknown_before_a_system_call)
{
	ts_buf_put(&c.code, "\x48\x8b\x07\x0f\x05\x90", 6);
	reg(RAX, 0x77);
	step(0x1003);
	syscall_to(0x1005);
	ck_assert_int_eq(read_core(), TS_END);
	ck_assert_str_eq(ts_buf_text(&steps), "1000/3@0 rax=\n1003/2@0 rcx=1005 r11=302 rax=77\n");
	ck_assert_uint_eq(ucir_warned(t.rec, "numbers of system calls"), 1);
}
END_TEST

/* mov %rdi,%rax, as libc's syscall() does */
START_TEST(rax_that_came_from_an_argument_is_known)
{
	ts_buf_put(&c.code, "\x48\x89\xf8\x0f\x05\x90", 6);
	reg(RAX, 0x77);
	step(0x1003);
	syscall_to(0x1005);
	ck_assert_int_eq(read_core(), TS_END);
	ck_assert_ptr_nonnull(strstr(ts_buf_text(&steps), "1000/3@0 rax=f\n"));
	ck_assert_ptr_nonnull(strstr(ts_buf_text(&steps), "syscall15("));
}
END_TEST

/* What the instruction before the call puts into rax, from the registers of position 0 (prstatus). */
START_TEST(numbers_of_system_calls_are_computed)
{
	static const struct {
		const char *insn;
		unsigned len;
		const char *call; /* NULL: the number is not known */
	} cases[] = {
		{ "\xb8\x09\0\0\0", 5, "syscall9(" },              /* mov $9,%eax */
		{ "\x48\xc7\xc0\x0a\0\0\0", 7, "syscall10(" },     /* mov $10,%rax */
		{ "\x48\xc7\xc1\x0a\0\0\0", 7, NULL },             /* mov $10,%rcx */
		{ "\x31\xc0", 2, "syscall0(" },                      /* xor %eax,%eax, both ways to write it */
		{ "\x33\xc0", 2, "syscall0(" },
		{ "\x31\xc8", 2, NULL },                             /* xor %ecx,%eax */
		{ "\x48\x89\xf8", 3, "syscall15(" },                 /* mov %rdi,%rax */
		{ "\x89\xf8", 2, "syscall15(" },                     /* mov %edi,%eax */
		{ "\x48\x89\xf0", 3, "syscall14(" },                 /* mov %rsi,%rax */
		{ "\x48\x89\xd0", 3, "syscall13(" },                 /* mov %rdx,%rax */
		{ "\x4c\x89\xd0", 3, "syscall8(" },                  /* mov %r10,%rax */
		{ "\x4c\x89\xc0", 3, "syscall10(" },                 /* mov %r8,%rax */
		{ "\x4c\x89\xc8", 3, "syscall9(" },                  /* mov %r9,%rax */
		{ "\x4c\x89\xd8", 3, NULL },                        /* mov %r11,%rax */
		{ "\x48\x89\xc8", 3, NULL },                        /* mov %rcx,%rax */
		{ "\x48\x89\xf9", 3, NULL },                        /* mov %rdi,%rcx */
		{ "\x48\x89\x38", 3, NULL },                        /* mov %rdi,(%rax) */
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		uint64_t at = 0x1000 + cases[i].len;

		teardown();
		setup();
		ts_buf_put(&c.code, cases[i].insn, cases[i].len);
		ts_buf_put(&c.code, "\x0f\x05\x90", 3);
		reg(RAX, 0x77);
		step(at);
		syscall_to(at + 2);
		ck_assert_int_eq(read_core(), TS_END);
		if (cases[i].call)
			ck_assert_msg(strstr(ts_buf_text(&steps), cases[i].call), "%zu: %s", i,
				      ts_buf_text(&steps));
		else
			ck_assert_msg(!strstr(ts_buf_text(&steps), "syscall"), "%zu: %s", i,
				      ts_buf_text(&steps));
	}
}
END_TEST

/* Two calls without a record of rax between them: only the second one's result is in the file. */
START_TEST(the_result_of_the_first_of_two_system_calls_is_unknown)
{
	ts_buf_put(&c.code, "\x31\xc0\x0f\x05\x0f\x05\x90", 7);
	reg(RAX, 0x77);
	step(0x1002);
	syscall_to(0x1004);
	syscall_to(0x1006);
	reg(RAX, 1);
	step(0x1007);
	ck_assert_int_eq(read_core(), TS_END);
	ck_assert_str_eq(ts_buf_text(&steps),
			 "1000/2@0 rax=0\n1002/2@0 rcx=1004 r11=302 rax= syscall0(f,e,d,8,a,9)\n"
			 "1004/2@0 rcx=1006 r11=302 rax=77\n1006/1@0 rax=1\n");
}
END_TEST

/* A system call comes before the first record of rax. */
START_TEST(rax_at_position_0_may_be_unknown)
{
	struct ts_buf initial;

	ts_buf_put(&c.code, "\x0f\x05\x90", 3);
	syscall_to(0x1002);
	ck_assert_int_eq(read_core(), TS_END);
	ck_assert_str_eq(ts_buf_text(&steps), "1000/2@0 rcx=1002 r11=302 rax=b\n");
	ts_buf_init(&initial);
	ucir_describe_effects(&initial, t.rec, &t.rec->initial, 0, t.rec->initial.n_effects);
	ck_assert_ptr_nonnull(strstr(ts_buf_text(&initial), " rax="));
	ts_buf_fini(&initial);
}
END_TEST

START_TEST(memory_that_was_unmapped_before_the_save_has_old_bytes)
{
	c.has_files = true;
	mem(0x2ffe, "abcd");
	step(0x1001);
	ck_assert_int_eq(read_core(), TS_END);
	ck_assert_str_eq(ts_buf_text(&steps), "1000/1@0 W2ffe=6162 R3000,2=! W3000,2\n");
}
END_TEST

START_TEST(without_a_list_of_files_memory_outside_has_new_bytes)
{
	mem(0x2ffe, "abcd");
	step(0x1001);
	ck_assert_int_eq(read_core(), TS_END);
	ck_assert_str_eq(ts_buf_text(&steps), "1000/1@0 W2ffe=6162 W3000=6364\n");
}
END_TEST

START_TEST(a_signal_is_an_event_and_its_frame_is_the_kernels)
{
	step(0x1000);
	c.log.len -= 9;
	end(30);
	mem(0x2000, "frame");
	step(0x1020);
	ck_assert_int_eq(read_core(), TS_END);
	ck_assert_str_eq(ts_buf_text(&steps), "1000/1@0\n1000/1@0 W2000=6672616d65! signal30\n");
}
END_TEST

START_TEST(a_signal_without_a_delivery_came_after_the_last_step)
{
	step(0x1001);
	c.log.len -= 9;
	end(30);
	ck_assert_int_eq(read_core(), TS_END);
	ck_assert_str_eq(ts_buf_text(&steps), "1000/1@0 signal30+\n");
}
END_TEST

START_TEST(vector_registers_are_as_large_as_the_description_says)
{
	c.machine = EM_AARCH64;
	c.xml = "<target><architecture>aarch64</architecture><feature name=\"org.gnu.gdb.aarch64.core\">"
		"<reg name=\"x0\" bitsize=\"64\"/><reg name=\"sp\" bitsize=\"64\" regnum=\"31\"/>"
		"<reg name=\"pc\" bitsize=\"64\" type=\"code_ptr\"/></feature><feature "
		"name=\"org.gnu.gdb.aarch64.sve\">"
		"<reg name=\"z0\" bitsize=\"256\" regnum=\"34\"/></feature></target>";
	reg(34, 0x1122);
	for (unsigned i = 0; i < 24; i++)
		ts_buf_putc(&c.log, 0xee);
	reg(32, 0x1004);
	end(0);
	ck_assert_int_eq(read_core(), TS_END);
	ck_assert_uint_eq(t.reader->end.pc, 0x1004);
	ck_assert_ptr_nonnull(strstr(ts_buf_text(&steps), "v0="));
}
END_TEST

START_TEST(written_code_is_not_believed)
{
	ts_buf_put(&c.code, "\x90\x90\x90", 3);
	mem(0x1001, "z");
	step(0x1001);
	step(0x1002);
	ck_assert_int_eq(read_core(), TS_END);
	ck_assert_str_eq(ts_buf_text(&steps), "1000/1@0 W1001=7a\n1001/0@0\n");
}
END_TEST

START_TEST(code_that_a_write_reaches_into_is_not_believed)
{
	ts_buf_put(&c.code, "\x90\x90\x90", 3);
	mem(0xffe, "wxyz");
	step(0x1001);
	step(0x1002);
	ck_assert_int_eq(read_core(), TS_END);
	ck_assert_str_eq(ts_buf_text(&steps), "1000/1@0 Wffe=7778 W1000=797a\n1001/0@0\n");
}
END_TEST

START_TEST(damage_keeps_the_groups_before_it)
{
	step(0x1001);
	step(0x1002);
	ts_buf_putc(&c.log, 3);
	ck_assert_int_eq(read_core(), TS_FAIL);
	ck_assert_str_eq(ts_buf_text(&steps), "1000/1@0\n1001/1@0\n");
	ck_assert(t.err.code == TS_ECORRUPT && strstr(t.err.text, "type 3"));
	ck_assert_uint_eq(t.err.off, t.bytes.len - 1);
}
END_TEST

START_TEST(a_register_without_a_size_ends_the_log)
{
	step(0x1001);
	reg(155, 0);
	step(0x1002);
	ck_assert_int_eq(read_core(), TS_FAIL);
	ck_assert_ptr_nonnull(strstr(t.err.text, "register 155"));
}
END_TEST

START_TEST(a_log_that_passes_the_end_of_the_file_is_served_to_there)
{
	step(0x1001);
	c.extra_log = 100;
	ck_assert_int_eq(read_core(), TS_FAIL);
	ck_assert_int_eq(t.err.code, TS_ETRUNC);
	ck_assert_str_eq(ts_buf_text(&steps), "1000/1@0\n");
}
END_TEST

START_TEST(memory_beyond_the_last_address_is_ignored_and_said)
{
	mem(UINT64_MAX, "ab");
	step(0x1001);
	ck_assert_int_eq(read_core(), TS_END);
	ck_assert_str_eq(ts_buf_text(&steps), "1000/1@0\n");
	ck_assert_uint_eq(ucir_warned(t.rec, "beyond the last address"), 1);
}
END_TEST

START_TEST(other_threads_are_said_not_to_be_recorded)
{
	c.n_threads = 3;
	step(0x1001);
	ck_assert_int_eq(read_core(), TS_END);
	ck_assert_uint_eq(t.rec->n_threads, 1);
	ck_assert_uint_eq(ucir_warned(t.rec, "one of 3 threads"), 1);
}
END_TEST

START_TEST(what_is_no_recording_is_refused)
{
	step(0x1001);
	c.has_log = false;
	core();
	expect_refused(TS_EUNSUPPORTED, "without a recording");
	c.has_log = true;
	c.magic = 0x20090829;
	core();
	expect_refused(TS_EUNSUPPORTED, "2009-08-29");
	c.magic = 1;
	core();
	expect_refused(TS_ECORRUPT, "the log begins with");
	c.magic = 0x20091016;
	c.machine = EM_PPC64;
	core();
	expect_refused(TS_EUNSUPPORTED, "machine 21");
	c.machine = EM_X86_64;
	c.n_threads = 0;
	core();
	expect_refused(TS_ECORRUPT, "no thread");
	c.n_threads = 1;
	ts_buf_reset(&c.log);
	core();
	expect_refused(TS_ETRUNC, "no whole instruction");
	core();
	t.bytes.data[16] = ET_EXEC;
	expect_refused(TS_EUNSUPPORTED, "type 2");
	core();
	t.bytes.data[56] = 0xfe; /* more program headers than there are bytes */
	t.bytes.data[57] = 0xff;
	expect_refused(TS_ETRUNC, "pass the end of the file");
}
END_TEST

START_TEST(a_file_truncated_anywhere_gives_the_groups_that_it_has)
{
	size_t whole, n_open = 0;

	step(0x1001);
	reg(RAX, 5);
	mem(0x2000, "abc");
	step(0x1002);
	core();
	whole = t.bytes.len;
	for (size_t len = 0; len < whole; len++) {
		again();
		core();
		t.bytes.len = len;
		if (ucir_open(&t, NULL)) {
			n_open++;
			ck_assert_int_eq(ucir_read_all(&t, &steps), TS_FAIL);
			ck_assert_str_eq(ts_buf_text(&steps), "1000/1@0\n");
		}
		ck_assert_int_ne(t.err.code, TS_OK);
	}
	ck_assert_uint_eq(n_open, 13 + 16 + 13 + 9); /* where the second group is not whole */
}
END_TEST

/* Of the reads of files, that number fails; all are counted. */
static unsigned n_reads, bad_read = UINT_MAX;

ssize_t pread(int fd, void *buf, size_t len, off_t off)
{
	if (n_reads++ == bad_read) {
		errno = EIO;
		return -1;
	}
	return syscall(SYS_pread64, fd, buf, len, off);
}

/* Where code of 0x20124 is in list-arm-head. */
#define LIST_ARM_CODE_AT 0x4dd4u

/* The beginning of a recording of an ARM program, without most of its memory. */
static void use_list_arm(void)
{
	size_t len;
	uint8_t *bytes = unit_data("gdbrecord/list-arm-head", &len);

	ts_buf_put(&t.bytes, bytes, len);
	free(bytes);
}

START_TEST(another_program_is_ignored_with_a_warning)
{
	use_list_arm();
	ck_assert_msg(ucir_open(&t, unit_data_path("gdbrecord-samples/list-arm")), "%s", t.err.text);
	ck_assert_uint_eq(ucir_warned(t.rec, "not the program"), 0);
	ck_assert_uint_gt(t.rec->memory.n_ranges, 3); /* those of the core file */
	again();
	use_list_arm();
	t.bytes.data[LIST_ARM_CODE_AT + 8] ^= 1;
	ck_assert_msg(ucir_open(&t, unit_data_path("gdbrecord-samples/list-arm")), "%s", t.err.text);
	ck_assert_uint_eq(ucir_warned(t.rec, "it differs at 0x20124"), 1);
	ck_assert_uint_eq(t.rec->memory.n_ranges, 3);
}
END_TEST

START_TEST(a_program_that_cannot_be_read_is_not_called_another_one)
{
	struct ts_loader_options opt = { 0 };
	unsigned n_all;

	use_list_arm();
	opt.exec = unit_data_path("gdbrecord-samples/list-arm");
	n_reads = 0;
	ck_assert(ucir_open(&t, opt.exec));
	n_all = n_reads;
	ck_assert_uint_gt(n_all, 2);
	for (bad_read = 0; bad_read < n_all; bad_read++) {
		n_reads = 0;
		ck_assert_msg(!ts_loader_open(ts_loader_find("gdbrecord"), t.src, &opt, &t.err), "read %u",
			      bad_read);
		ck_assert_int_eq(t.err.code, TS_EIO);
		ts_error_reset(&t.err);
	}
}
END_TEST

UNIT_FIXTURE_SUITE("gdbrecord", setup, teardown, a_group_is_a_step,
		   of_two_records_of_a_register_the_last_one_counts, rax_before_a_system_call_is_its_number,
		   rax_that_came_from_memory_is_unknown_before_a_system_call,
		   rax_that_came_from_an_argument_is_known, numbers_of_system_calls_are_computed,
		   the_result_of_the_first_of_two_system_calls_is_unknown, rax_at_position_0_may_be_unknown,
		   memory_that_was_unmapped_before_the_save_has_old_bytes,
		   without_a_list_of_files_memory_outside_has_new_bytes,
		   a_signal_is_an_event_and_its_frame_is_the_kernels,
		   a_signal_without_a_delivery_came_after_the_last_step,
		   vector_registers_are_as_large_as_the_description_says, written_code_is_not_believed,
		   code_that_a_write_reaches_into_is_not_believed,
		   damage_keeps_the_groups_before_it, a_register_without_a_size_ends_the_log,
		   a_log_that_passes_the_end_of_the_file_is_served_to_there,
		   memory_beyond_the_last_address_is_ignored_and_said,
		   other_threads_are_said_not_to_be_recorded, what_is_no_recording_is_refused,
		   a_file_truncated_anywhere_gives_the_groups_that_it_has,
		   another_program_is_ignored_with_a_warning,
		   a_program_that_cannot_be_read_is_not_called_another_one)
