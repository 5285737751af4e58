/* SPDX-License-Identifier: Apache-2.0 */
/* Python's interpreter as a program that the thread sanitizer instruments, since its library cannot be loaded
 * into another (clang 14). Python itself is not instrumented, but its locks order what threads do. */
#include <Python.h>

int main(int argc, char **argv)
{
    return Py_BytesMain(argc, argv);
}
