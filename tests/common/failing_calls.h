/* SPDX-License-Identifier: Apache-2.0 */
/*
 * failing_calls.h - system calls that fail on demand. The linker routes the calls of the code under
 * test through wrappers (collet_wrap_calls in tests/CMakeLists.txt). A program without a test in it
 * reads FAILING_CALL="NAME:N:ERROR" from the environment.
 */
#ifndef TESTS_COMMON_FAILING_CALLS_H
#define TESTS_COMMON_FAILING_CALLS_H

#define CALL_SHORT (-1) /* instead of an error: half of the bytes are read or written */

/* Call number n from now on, counted from 0, fails with that error. NULL: none. */
void call_fails(const char *name, long n, int error);
/* Whether it has failed. */
int call_failed(void);

#endif
