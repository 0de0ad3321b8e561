/* SPDX-License-Identifier: MIT */
/* Compressed sections of ELF files: no more is unpacked than a file of that length may have. */
#include "src/object/unpack_bound.h"

#include <elf.h>
#include <endian.h>
#include <stdio.h>
#include <string.h>

#include "unit.h"

#define MIB (UINT64_C(1) << 20)

/* Two sections of one kind, each of which says that it has @len bytes unpacked, and a section of names. */
struct file {
	Elf64_Ehdr head;
	Elf64_Shdr sections[4];
	char names[32];
	union {
		Elf64_Chdr head;
		struct {
			char magic[4];
			uint8_t len[8];
			char rest[12];
		} old;
	} data[2];
};

static struct file file;

/* As the ELF gABI and binutils have them: SHF_COMPRESSED with its header, or .zdebug_ with "ZLIB" and the length. */
static void make(bool is_old, uint64_t len)
{
	uint64_t big = htobe64(len);

	file = (struct file){ .head = { .e_type = ET_EXEC, .e_machine = EM_X86_64, .e_version = EV_CURRENT, .e_ehsize = sizeof(Elf64_Ehdr),
					.e_shoff = offsetof(struct file, sections), .e_shentsize = sizeof(Elf64_Shdr), .e_shnum = 4,
					.e_shstrndx = 3 } };
	memcpy(file.head.e_ident, ELFMAG, SELFMAG);
	file.head.e_ident[EI_CLASS] = ELFCLASS64;
	file.head.e_ident[EI_DATA] = ELFDATA2LSB;
	file.head.e_ident[EI_VERSION] = EV_CURRENT;
	memcpy(file.names, is_old ? "\0.zdebug_info\0.names" : "\0.debug_info\0\0.names", 20);
	for (unsigned i = 0; i < 2; i++) {
		file.sections[1 + i] = (Elf64_Shdr){ .sh_name = 1, .sh_type = SHT_PROGBITS, .sh_flags = is_old ? 0 : SHF_COMPRESSED,
						     .sh_offset = offsetof(struct file, data) + i * sizeof(file.data[0]),
						     .sh_size = sizeof(file.data[0]) };
		if (is_old) {
			memcpy(file.data[i].old.magic, "ZLIB", 4);
			memcpy(file.data[i].old.len, &big, 8);
		} else {
			file.data[i].head = (Elf64_Chdr){ .ch_type = ELFCOMPRESS_ZLIB, .ch_size = len, .ch_addralign = 1 };
		}
	}
	file.sections[3] = (Elf64_Shdr){ .sh_name = 14, .sh_type = SHT_STRTAB, .sh_offset = offsetof(struct file, names),
					 .sh_size = sizeof(file.names) };
}

static bool may_unpack(uint64_t file_len)
{
	Elf *elf;
	bool may;

	elf_version(EV_CURRENT);
	elf = elf_memory((char *)&file, sizeof(file));
	ck_assert_ptr_nonnull(elf);
	may = ts_elf_may_unpack(elf, file_len);
	elf_end(elf);
	return may;
}

START_TEST(the_sections_together_have_a_bound)
{
	for (unsigned is_old = 0; is_old < 2; is_old++) {
		make(is_old, 32 * MIB);
		ck_assert(may_unpack(0));
		make(is_old, 32 * MIB + 1);
		ck_assert(!may_unpack(0));
		ck_assert(may_unpack(1));
		make(is_old, 1025 * MIB);
		ck_assert(!may_unpack(1024 * MIB));
		make(is_old, UINT64_MAX);
		ck_assert(!may_unpack(1024 * MIB));
	}
}
END_TEST

Suite *unit_suite(void)
{
	Suite *suite = suite_create("unpack_bound");
	TCase *c = tcase_create("unpack_bound");

	tcase_add_test(c, the_sections_together_have_a_bound);
	suite_add_tcase(suite, c);
	return suite;
}
