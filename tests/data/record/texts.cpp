/* SPDX-License-Identifier: MIT */
/* A string and a vector, which gdb shows by the pretty printers of the C++ library. */
#include <cstdio>
#include <string>
#include <vector>

static int total(const std::string &text, const std::vector<int> &numbers)
{
	int sum = (int)text.size();

	for (int n : numbers)
		sum += n;
	return sum;
}

int main()
{
	std::string text = "a text that is long enough for the heap";
	std::vector<int> numbers = { 3, 1, 4 };

	std::printf("%d\n", total(text, numbers));
	return 0;
}
