/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test.h - tests that register themselves: TEST(name) { ... } defines a test, a function with the parameter
 * `void **state`. The tests of a program run in the order of the file. The program needs no main.
 */
#ifndef TESTS_COMMON_TEST_H
#define TESTS_COMMON_TEST_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

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
/* For a program with its own main. Returns the result of main: the number of failed tests, 1 without a test. */
int test_run(void);

#endif
