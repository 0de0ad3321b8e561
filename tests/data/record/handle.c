/* A function whose name tests/e2e/names_gdb.py exchanges in the program's file. */
#ifndef NAME
#define NAME handle
#endif
static volatile int sink;

__attribute__((noinline)) int NAME(int n)
{
	sink += n;
	return sink;
}

int main(void)
{
	for (int i = 0; i < 5; i++)
		NAME(i);
	return 0;
}
