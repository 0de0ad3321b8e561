/* SPDX-License-Identifier: MIT */
/* A check of a name and a serial number that an agent has to see through (e2e/mcp_sessions.py). */
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static unsigned hash_of(const char *name)
{
	unsigned h = 0x1505;

	while (*name)
		h = (h << 5) + h + (unsigned char)*name++;
	return h & 0xffff;
}

__attribute__((noinline)) int is_right(const char *name, const char *serial)
{
	unsigned wanted = hash_of(name), given = 0;

	for (; *serial; serial++)
		given = given * 16 + (unsigned)(*serial <= '9' ? *serial - '0' : *serial - 'a' + 10);
	return given == wanted;
}

int main(int argc, char **argv)
{
	if (argc < 3 || !is_right(argv[1], argv[2])) {
		if (write(1, "wrong\n", 6) != 6)
			return 2;
		return 1;
	}
	return write(1, "welcome\n", 8) != 8;
}
