# SPDX-License-Identifier: MIT
# Who overwrote "total"? Each step says what it is about, shows the command, and
# lets gdb answer.

echo \n# The program has printed "total 69", as it should. At its end it returns "total",\n
echo # and 69 is not what comes out. So let us begin at the end.\n
echo (gdb) goto end\n
goto end

echo \n(gdb) print total\n
print total

echo \n# Who wrote that? Watch the variable, and run backwards.\n
echo (gdb) watch total\n
watch total
echo (gdb) reverse-continue\n
reverse-continue

echo \n# That is the one: the program is now just before the write, with 69 still in place.\n
echo (gdb) when\n
when

echo \n# And who wrote the right value? Further back, by the same means.\n
echo (gdb) reverse-continue\n
reverse-continue
echo (gdb) backtrace\n
backtrace

delete
