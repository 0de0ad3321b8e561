/* SPDX-License-Identifier: MIT */
/*
 * ELF headers of both classes and byte orders, put together here field by field, whole and damaged.
 */
#include "unit.h"

#include "src/object/build_id.h"
#include "src/object/elf_image.h"
#include "src/symbols/debug_file.h"
#include "src/trace/step.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static uint8_t file[4096];
static size_t file_len;
static struct ts_elf elf;
static struct ts_error err;

static void put(uint64_t v, unsigned len, bool is_big)
{
	for (unsigned i = 0; i < len; i++)
		file[file_len++] = (uint8_t)(v >> 8 * (is_big ? len - 1 - i : i));
}

static void put_phdr(bool is_64, bool is_big, uint32_t type, uint32_t flags, uint64_t off, uint64_t addr,
		     uint64_t len, uint64_t mem_len)
{
	unsigned w = is_64 ? 8 : 4;

	put(type, 4, is_big);
	if (is_64)
		put(flags, 4, is_big);
	put(off, w, is_big);
	put(addr, w, is_big);
	put(~addr, w, is_big); /* physical address: of no use */
	put(len, w, is_big);
	put(mem_len, w, is_big);
	if (!is_64)
		put(flags, 4, is_big);
	put(0x1000, w, is_big);
}

/* A header with three program headers: PT_LOAD, PT_NOTE, PT_LOAD. */
static void make(bool is_64, bool is_big)
{
	unsigned w = is_64 ? 8 : 4;

	file_len = 0;
	memset(file, 0, sizeof(file));
	memcpy(file, "\177ELF", 4);
	file[4] = is_64 ? 2 : 1;
	file[5] = is_big ? 2 : 1;
	file[6] = 1;
	file_len = 16;
	put(3, 2, is_big);
	put(0x28, 2, is_big);
	put(1, 4, is_big);
	put(0x1234, w, is_big);
	put(0x80, w, is_big);
	put(0, w, is_big);
	put(0, 4, is_big);
	put(0, 2, is_big);
	put(is_64 ? 56 : 32, 2, is_big);
	put(3, 2, is_big);
	file_len = 0x80;
	put_phdr(is_64, is_big, 1, 5, 0x100, 0x400100, 0x200, 0x200);
	put_phdr(is_64, is_big, 4, 4, 0, 0, ~0u, 0);
	put_phdr(is_64, is_big, 1, 6, 0x800, 0x401800, 0x1000, 0x3000);
	file_len = 0x1000;
}

static bool read_it(void)
{
	struct ts_source *src;
	bool done;

	ts_error_reset(&err);
	src = ts_source_from_memory(file, file_len, "test", &err);
	done = ts_elf_init(&elf, src, &err);
	ts_source_close(src);
	ck_assert(done == (err.code == TS_OK));
	return done;
}

START_TEST(segments_of_both_classes_and_byte_orders_are_read)
{
	for (int i = 0; i < 4; i++) {
		make(i & 1, i & 2);
		ck_assert_msg(read_it(), "%s", err.text);
		ck_assert(elf.is_64 == (i & 1) && elf.is_big_endian == (i >> 1));
		ck_assert_uint_eq(elf.type, 3);
		ck_assert_uint_eq(elf.machine, 0x28);
		ck_assert_uint_eq(elf.entry, 0x1234);
		ck_assert_uint_eq(elf.n_loads, 2);
		ck_assert_uint_eq(elf.loads[0].addr, 0x400100);
		ck_assert_uint_eq(elf.loads[0].file_off, 0x100);
		ck_assert_uint_eq(elf.loads[0].file_len, 0x200);
		ck_assert_uint_eq(elf.loads[0].prot, TS_PROT_READ | TS_PROT_EXEC);
		ck_assert_uint_eq(elf.loads[1].mem_len, 0x3000);
		ck_assert_uint_eq(elf.loads[1].prot, TS_PROT_READ | TS_PROT_WRITE);
		ck_assert(!elf.has_dynamic);
		ts_elf_fini(&elf);
	}
}
END_TEST

START_TEST(the_dynamic_section_is_found)
{
	for (int i = 0; i < 4; i++) {
		make(i & 1, i & 2);
		file_len = 0x80 + (i & 1 ? 56 : 32);
		put_phdr(i & 1, i & 2, 2, 6, 0x900, 0x401900, 0x100, 0x100);
		file_len = 0x1000;
		ck_assert_msg(read_it(), "%s", err.text);
		ck_assert(elf.has_dynamic);
		ck_assert_uint_eq(elf.dynamic, 0x401900);
		ck_assert_uint_eq(elf.n_loads, 2);
		ts_elf_fini(&elf);
	}
}
END_TEST

START_TEST(a_segment_past_the_end_of_the_file_is_cut_to_it)
{
	make(true, false);
	ck_assert(read_it());
	ck_assert_uint_eq(elf.loads[1].file_len, 0x800);
	ts_elf_fini(&elf);
	file_len = 0x200;
	ck_assert(read_it());
	ck_assert_uint_eq(elf.loads[0].file_len, 0x100);
	ck_assert_uint_eq(elf.loads[1].file_len, 0);
	ts_elf_fini(&elf);
}
END_TEST

START_TEST(what_is_no_elf_file_is_refused)
{
	make(true, false);
	file[0] = 0;
	ck_assert(!read_it());
	ck_assert_int_eq(err.code, TS_EUNSUPPORTED);
	make(true, false);
	file_len = 3;
	ck_assert(!read_it());
	ck_assert_int_eq(err.code, TS_EUNSUPPORTED);
	make(true, false);
	file[4] = 3;
	ck_assert(!read_it());
	ck_assert_int_eq(err.code, TS_ECORRUPT);
	make(true, false);
	file[5] = 0;
	ck_assert(!read_it());
	ck_assert_int_eq(err.code, TS_ECORRUPT);
}
END_TEST

START_TEST(headers_outside_the_file_are_refused)
{
	make(true, false);
	file_len = 0x80 + 3 * 56 - 1;
	ck_assert(!read_it());
	ck_assert_int_eq(err.code, TS_ETRUNC);
	make(true, false);
	file_len = 60;
	ck_assert(read_it() || err.code == TS_ETRUNC);
	ts_elf_fini(&elf);
	make(true, false);
	memset(file + 32, 0xff, 8); /* e_phoff */
	ck_assert(!read_it());
	ck_assert_int_eq(err.code, TS_ETRUNC);
	make(true, false);
	file[54] = 55; /* e_phentsize */
	ck_assert(!read_it());
	ck_assert_int_eq(err.code, TS_ECORRUPT);
}
END_TEST

START_TEST(segments_that_contradict_themselves_are_refused)
{
	make(true, false);
	file[0x80 + 40] = 0xff; /* mem_len < file_len */
	file[0x81 + 40] = 0x01;
	ck_assert(!read_it());
	ck_assert_int_eq(err.code, TS_ECORRUPT);
	ck_assert_uint_eq(err.off, 0x80);
	make(true, false);
	memset(file + 0x80 + 16, 0xff, 8); /* addr + mem_len wraps */
	ck_assert(!read_it());
	ck_assert_int_eq(err.code, TS_ECORRUPT);
	make(true, false);
	memset(file + 0x80 + 8, 0xff, 8); /* off + len wraps */
	ck_assert(!read_it());
	ck_assert_int_eq(err.code, TS_ECORRUPT);
}
END_TEST

START_TEST(any_flipped_bit_is_survived)
{
	for (int i = 0; i < 4; i++)
		for (size_t bit = 0; bit < 0x140 * 8; bit++) {
			make(i & 1, i & 2);
			file[bit / 8] ^= (uint8_t)(1 << bit % 8);
			read_it();
			for (size_t j = 0; j < elf.n_loads; j++)
				ck_assert_uint_le(elf.loads[j].file_off + elf.loads[j].file_len,
						  sizeof(file) + elf.loads[j].file_off);
			ts_elf_fini(&elf);
		}
}
END_TEST

static const char *arch_of(uint16_t machine, bool is_64, bool is_big_endian)
{
	const struct ts_elf e = { .machine = machine, .is_64 = is_64, .is_big_endian = is_big_endian };
	const struct ts_arch *arch = ts_elf_arch(&e);

	return arch ? arch->name : "none";
}

/* Numbers of machines are those of the System V ABI's list. */
START_TEST(the_machine_class_and_byte_order_give_the_architecture)
{
	ck_assert_str_eq(arch_of(62, true, false), "x86_64");
	ck_assert_str_eq(arch_of(62, false, false), "none"); /* x32 */
	ck_assert_str_eq(arch_of(62, true, true), "none");
	ck_assert_str_eq(arch_of(3, false, false), "i386");
	ck_assert_str_eq(arch_of(40, false, false), "arm");
	ck_assert_str_eq(arch_of(40, false, true), "armeb");
	ck_assert_str_eq(arch_of(183, true, false), "aarch64");
	ck_assert_str_eq(arch_of(183, true, true), "aarch64_be");
	ck_assert_str_eq(arch_of(8, false, true), "mips");
	ck_assert_str_eq(arch_of(8, false, false), "mipsel");
	ck_assert_str_eq(arch_of(8, true, true), "mips64");
	ck_assert_str_eq(arch_of(8, true, false), "mips64el");
	ck_assert_str_eq(arch_of(2, false, true), "sparc");
	ck_assert_str_eq(arch_of(43, true, true), "sparc64");
	ck_assert_str_eq(arch_of(4, false, true), "m68k");
	ck_assert_str_eq(arch_of(20, false, true), "ppc");
	ck_assert_str_eq(arch_of(21, true, true), "ppc64");
	ck_assert_str_eq(arch_of(21, true, false), "ppc64le");
	ck_assert_str_eq(arch_of(243, false, false), "riscv32");
	ck_assert_str_eq(arch_of(243, true, false), "riscv64");
	ck_assert_str_eq(arch_of(22, false, true), "s390");
	ck_assert_str_eq(arch_of(22, true, true), "s390x");
	ck_assert_str_eq(arch_of(0, true, true), "none");
}
END_TEST

/* This program is its own debug file: FOLDER/.build-id/ab/cdef.debug is it, and a file of another id is not. */
START_TEST(a_debug_file_is_found_by_its_build_id)
{
	char id[2 * TS_MAX_BUILD_ID + 1], folder[64], path[160];
	struct ts_source *own = ts_source_open("/proc/self/exe", &(struct ts_error){ 0 }), *found;
	struct ts_build_id build_id;

	ck_assert(own);
	if (!ts_build_id_find(own, &build_id)) { /* a compiler that writes none */
		ts_source_close(own);
		return;
	}
	ts_build_id_text(&build_id, build_id.len, id);
	ck_assert(!mkdir("by-id", 0700) || errno == EEXIST);
	ck_assert(!mkdir("by-id/.build-id", 0700) || errno == EEXIST);
	snprintf(folder, sizeof(folder), "by-id/.build-id/%.2s", id);
	ck_assert(!mkdir(folder, 0700) || errno == EEXIST);
	snprintf(path, sizeof(path), "%s/%s.debug", folder, id + 2);
	unlink(path);
	ck_assert_ptr_null(ts_debug_file_open(own, NULL, NULL, 0, "by-id"));
	ck_assert(!symlink("/proc/self/exe", path));
	found = ts_debug_file_open(own, NULL, NULL, 0, "by-id");
	ck_assert_ptr_nonnull(found);
	ts_source_close(found);
	unlink(path);
	ck_assert(!symlink("/bin/sh", path));
	ck_assert_ptr_null(ts_debug_file_open(own, NULL, NULL, 0, "by-id"));
	unlink(path);
	ts_source_close(own);
}
END_TEST

UNIT_SUITE("elf", segments_of_both_classes_and_byte_orders_are_read, the_dynamic_section_is_found,
	   a_segment_past_the_end_of_the_file_is_cut_to_it, what_is_no_elf_file_is_refused,
	   headers_outside_the_file_are_refused, segments_that_contradict_themselves_are_refused,
	   any_flipped_bit_is_survived, a_debug_file_is_found_by_its_build_id,
	   the_machine_class_and_byte_order_give_the_architecture)
