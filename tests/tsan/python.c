/* SPDX-License-Identifier: Apache-2.0 */
/* A program, instrumented by the thread sanitizer, that runs Python's interpreter: the sanitizer's runtime cannot be
 * loaded into an ordinary program (clang 14). Python itself is not instrumented, but its locks order the threads. */
#include <Python.h>

int main(int argc, char **argv)
{
    return Py_BytesMain(argc, argv);
}
