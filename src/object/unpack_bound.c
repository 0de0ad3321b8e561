/* SPDX-License-Identifier: MIT */
#include "unpack_bound.h"

#include <gelf.h>
#include <string.h>

#include "src/base/bytes.h"

#define MAX_UNPACKED  (UINT64_C(2) << 30)
#define UNPACKED(len) ((UINT64_C(64) << 20) + 16 * (len))

static bool is_zdebug(Elf *elf, const GElf_Shdr *h)
{
	size_t names;
	const char *name = elf_getshdrstrndx(elf, &names) ? NULL : elf_strptr(elf, names, h->sh_name);

	return name && !strncmp(name, ".zdebug", 7);
}

/* The unpacked length of a section; 0 if it is not compressed. */
static uint64_t unpacked_len(Elf *elf, Elf_Scn *scn, const GElf_Shdr *h)
{
	Elf_Data *data;
	GElf_Chdr head;

	if (h->sh_flags & SHF_COMPRESSED)
		return gelf_getchdr(scn, &head) ? head.ch_size : 0;
	data = is_zdebug(elf, h) ? elf_rawdata(scn, NULL) : NULL; /* "ZLIB", u64 big-endian */
	if (!data || !data->d_buf || data->d_size < 12)
		return 0;
	return ts_number((const uint8_t *)data->d_buf + 4, 8, true);
}

bool ts_elf_may_unpack(Elf *elf, uint64_t len)
{
	uint64_t left = UNPACKED(len) < MAX_UNPACKED ? UNPACKED(len) : MAX_UNPACKED;
	Elf_Scn *scn = NULL;
	GElf_Shdr h;

	while ((scn = elf_nextscn(elf, scn))) {
		uint64_t n = gelf_getshdr(scn, &h) ? unpacked_len(elf, scn, &h) : 0;

		if (n > left)
			return false;
		left -= n;
	}
	return true;
}
