/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test.h - tests that register themselves: TEST(name) { ... } defines a test, a function with the parameter
 * `void **state`. The tests of a program run in the order of the file. The program needs no main. This header also
 * declares what most tests use of the C library and of CMocka.
 */
#ifndef TESTS_COMMON_TEST_H
#define TESTS_COMMON_TEST_H

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>

/* ADDRESS_SANITIZER, THREAD_SANITIZER: 1 in a program that is compiled for it by GCC or clang, else 0. */
#if defined(__SANITIZE_ADDRESS__)
#define ADDRESS_SANITIZER 1
#elif defined(__has_feature)
#define ADDRESS_SANITIZER __has_feature(address_sanitizer)
#else
#define ADDRESS_SANITIZER 0
#endif

#if defined(__SANITIZE_THREAD__)
#define THREAD_SANITIZER 1
#elif defined(__has_feature)
#define THREAD_SANITIZER __has_feature(thread_sanitizer)
#else
#define THREAD_SANITIZER 0
#endif

#define TEST(name) TEST_WITH(name, NULL, NULL)
/* Runs set_up before the test and tear_down after it; NULL: none. */
#define TEST_WITH(name, set_up, tear_down)                                                         \
    static void name(void **state);                                                                \
    __attribute__((constructor)) static void name##_test(void)                                     \
    {                                                                                              \
        test_add(__FILE__, __LINE__, #name, name, set_up, tear_down);                              \
    }                                                                                              \
    static void name(void **state)
/* Runs set_up before all tests of the program and tear_down after them. */
#define TEST_GROUP(set_up, tear_down)                                                              \
    __attribute__((constructor)) static void test_group_(void)                                     \
    {                                                                                              \
        test_group(set_up, tear_down);                                                             \
    }

/* The calls for a file may come in any order: the linker's -flto reverses constructors. */
void test_add(const char *file, int line, const char *name, CMUnitTestFunction test,
              CMFixtureFunction set_up, CMFixtureFunction tear_down);
void test_group(CMFixtureFunction set_up, CMFixtureFunction tear_down);
/* A program with its own main calls this function. Returns the result of main: the number of failed tests, 1 without a
 * test. */
int test_run(void);

/* OWNED(type) *x = ...; destroys x at the end of its block, by the function of OWNS(type, function).
 * FREED(type) *x = ...; calls free. A failed assertion destroys nothing. */
#define OWNED(type) __attribute__((cleanup(type##_end), unused)) type
#define FREED(type) __attribute__((cleanup(freed_end), unused)) type
#define OWNS(type, function)                                                                       \
    static inline void type##_end(type **object)                                                   \
    {                                                                                              \
        function(*object);                                                                         \
    }
static inline void freed_end(void *pointer)
{
    void *memory;
    memcpy(&memory, pointer, sizeof memory);
    free(memory);
}

/* Fails, and prints both, unless each of the parts is in the text. */
#define assert_contains(text, ...)                                                                 \
    test_contains(text, (const char *const[]){__VA_ARGS__, NULL}, __FILE__, __LINE__)
void test_contains(const char *text, const char *const *parts, const char *file, int line);

/* The call returns COLLET_OK; otherwise its error is printed. */
#define assert_success(call, err)                                                                  \
    do {                                                                                           \
        if ((call) != COLLET_OK)                                                                   \
            fail_msg("%s", (err).text);                                                            \
    } while (0)
/* The call returns this status, with an error that contains each of these texts. */
#define assert_error(call, status, err, ...)                                                       \
    do {                                                                                           \
        assert_int_equal(call, status);                                                            \
        assert_contains((err).text, __VA_ARGS__);                                                  \
    } while (0)

/* The time of a clock. */
double test_seconds(clockid_t clock);

#endif
