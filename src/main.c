/* SPDX-License-Identifier: MIT */
/*
 * The program: joins loaders, model and protocol, and runs one command.
 */
#include <stdio.h>

int main(void)
{
	fprintf(stderr, "usage: tracestub serve|info|gdb|export|index TRACE [option]...\n");
	return 2;
}
