/* SPDX-License-Identifier: Apache-2.0 */
#include "common/test.h"

static struct CMUnitTest list[100];
static size_t count;
static CMFixtureFunction before, after;

void test_add(const char *name, CMUnitTestFunction test, CMFixtureFunction set_up,
              CMFixtureFunction tear_down)
{
    if (count == sizeof list / sizeof *list)
        __builtin_trap();
    list[count++] = (struct CMUnitTest){name, test, set_up, tear_down, NULL};
}

void test_group(CMFixtureFunction set_up, CMFixtureFunction tear_down)
{
    before = set_up;
    after = tear_down;
}

int test_run(void)
{
    return count ? _cmocka_run_group_tests("tests", list, count, before, after) : 1;
}
