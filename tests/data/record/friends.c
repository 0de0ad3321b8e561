/* SPDX-License-Identifier: MIT */
/* A name is longer than its room: the pointer after it is lost, and used much later. */
#include <stdio.h>

struct person {
	char name[8];
	struct person *friend;
};

static struct person anna, wilhelmina;

static void set_name(struct person *p, const char *name)
{
	int i = 0;

	do
		p->name[i] = name[i];
	while (name[i++]);
}

static void print_friend(const struct person *p)
{
	printf("%s's friend is %c.\n", p->name, p->friend->name[0]);
}

int main(void)
{
	anna.friend = &wilhelmina;
	wilhelmina.friend = &anna;
	set_name(&anna, "Anna");
	set_name(&wilhelmina, "Wilhelmina Luis");
	print_friend(&anna);
	print_friend(&wilhelmina);
	return 0;
}
