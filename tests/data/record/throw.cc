/* SPDX-License-Identifier: MIT */
/* Exceptions, for e2e/recorded.py. */
#include <cstdio>
#include <stdexcept>
#include <string>

int caught;

struct guard {
	~guard() { caught += 100; }
};

void thrower(int n)
{
	guard g;

	if (n == 0)
		throw std::runtime_error("deep enough");
	thrower(n - 1);
}

int main()
{
	try {
		thrower(3);
	} catch (const std::runtime_error &e) {
		caught += (int)std::string(e.what()).size(); /* caught here */
	}
	std::printf("caught %d\n", caught);
	return 0;
}
