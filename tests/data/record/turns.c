/* SPDX-License-Identifier: MIT */
static int v;

static void one(int k)
{
	v += k;
}

int main(void)
{
	for (int i = 0; i < 3; i++) {
		one(i);
		v *= 2;
		one(7);
		v -= 1;
	}
	return v != 50;
}
