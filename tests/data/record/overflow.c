/* SPDX-License-Identifier: MIT */
/* A copy that runs over the end of a name into the pointer behind it (e2e/mcp_sessions.py). */
#include <stdio.h>
#include <string.h>

struct user {
	char name[8];
	int *score;
};

static int score;
static struct user user = { .score = &score };

__attribute__((noinline)) void set_name(struct user *u, const char *name)
{
	char *to = u->name;

	while ((*to++ = *name++) != 0)
		;
}

__attribute__((noinline)) void add(struct user *u, int n)
{
	*u->score += n;
}

int main(void)
{
	set_name(&user, "alexandrina");
	add(&user, 5);
	return printf("%d\n", score) < 0;
}
