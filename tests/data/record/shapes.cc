// SPDX-License-Identifier: MIT
// Names of C++, for e2e/stack_frames.py: overloads, templates, methods, exceptions, threads.
#include <cstdio>
#include <stdexcept>
#include <thread>
#include <vector>

#define NEVER __attribute__((noinline, noclone))

namespace ns {
NEVER int fn(int n) { return n + 1; }
NEVER int fn(double x) { return (int)x + 2; }
NEVER int once(int n) { return fn(n) * 3; }

template <class T> NEVER T add(T a, T b) { return a + b; }

struct shape {
	virtual ~shape() {}
	virtual int area() const = 0;
};

struct square : shape {
	int side;
	NEVER explicit square(int n) : side(n) {}
	NEVER int area() const override { return add(side * side, 0); }
};
}

NEVER int thrower(int n)
{
	ns::square guard(n);

	if (n == 0)
		throw std::runtime_error("deep enough");
	return thrower(n - 1) + guard.area();
}

NEVER int catcher()
{
	try {
		return thrower(3);
	} catch (const std::runtime_error &e) {
		return ns::once(e.what()[0]);
	}
}

NEVER void work(int n, int *sum)
{
	for (int i = 0; i < n; i++)
		*sum += ns::fn(i) + ns::fn(1.5 * i);
}

int main()
{
	int sums[2] = { 0, 0 };
	std::thread one(work, 5, &sums[0]), two(work, 7, &sums[1]);
	std::vector<int> list;

	one.join();
	two.join();
	for (int i = 0; i < 5; i++)
		list.push_back(ns::add(sums[i % 2], i) + (int)ns::add(1.5, 2.5));
	std::printf("%d %d %d %d\n", sums[0], sums[1], list[4], catcher());
	return 0;
}
