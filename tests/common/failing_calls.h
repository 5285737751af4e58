/* SPDX-License-Identifier: Apache-2.0 */
/*
 * failing_calls.h - system calls that fail on demand. The linker routes the calls of the code under
 * test through wrappers (collet_wrap_calls in tests/CMakeLists.txt). For a program that cannot call
 * call_fails, the environment variable FAILING_CALL="NAME:N:ERROR" supplies its arguments.
 */
#ifndef TESTS_COMMON_FAILING_CALLS_H
#define TESTS_COMMON_FAILING_CALLS_H

#define CALL_SHORT (-1) /* instead of an errno value: half of the bytes are read or written */

/* From now on, call number n (counted from 0) of function `name` fails with errno `error`.
 * name NULL: no call fails. */
void call_fails(const char *name, long n, int error);
/* Whether that call has failed. */
int call_failed(void);

#endif
