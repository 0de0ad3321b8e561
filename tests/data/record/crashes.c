/* SPDX-License-Identifier: MIT */
/* Each third program looks up what is not there, divides by zero, or cuts a text that has no colon: crashes N. */
#include <stdio.h>
#include <stdlib.h>
struct node { int key; struct node *next; };
static struct node *head;
__attribute__((noinline)) static void push(int key) { struct node *n = malloc(sizeof *n); n->key = key; n->next = head; head = n; }
__attribute__((noinline)) static struct node *find(int key) { struct node *n = head; while (n && n->key != key) n = n->next; return n; }
__attribute__((noinline)) static int lookup(int key) { return find(key)->key; }
__attribute__((noinline)) static int divide(int a, int b) { return a / b; }
__attribute__((noinline)) static char *colon(char *text) { while (*text && *text != ':') text++; return *text ? text : NULL; }
__attribute__((noinline)) static void cut(char *text) { *colon(text) = 0; }
int main(int argc, char **argv)
{
	int n = argc > 1 ? atoi(argv[1]) : 0;
	char text[32];
	for (int i = 0; i < n; i++)
		push(i);
	snprintf(text, sizeof text, n % 3 == 2 ? "%d" : "%d:", n);
	if (n % 3 == 0)
		return lookup(n);
	if (n % 3 == 1)
		return divide(n, n % 3 - 1);
	cut(text);
	return 0;
}
