/* SPDX-License-Identifier: Apache-2.0 */
#include "common/test.h"

#define MOST 100

static struct CMUnitTest list[MOST];
static struct {
    const char *file;
    int line;
} places[MOST]; /* of the tests in `list` */
static size_t count;
static CMFixtureFunction before, after;

void test_add(const char *file, int line, const char *name, CMUnitTestFunction test,
              CMFixtureFunction set_up, CMFixtureFunction tear_down)
{
    size_t at = count;

    if (count == MOST)
        __builtin_trap();
    for (; at > 0 && strcmp(places[at - 1].file, file) == 0 && places[at - 1].line > line; at--) {
        places[at] = places[at - 1];
        list[at] = list[at - 1];
    }
    places[at].file = file;
    places[at].line = line;
    list[at] = (struct CMUnitTest){name, test, set_up, tear_down, NULL};
    count++;
}

void test_group(CMFixtureFunction set_up, CMFixtureFunction tear_down)
{
    before = set_up;
    after = tear_down;
}

void test_contains(const char *text, const char *const *parts, const char *file, int line)
{
    for (; *parts; parts++)
        if (!text || !strstr(text, *parts)) {
            print_error("'%s' is not in: %s\n", *parts, text ? text : "(NULL)");
            _fail(file, line);
        }
}

double test_seconds(clockid_t clock)
{
    struct timespec t;
    clock_gettime(clock, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

int test_run(void)
{
    return count ? _cmocka_run_group_tests("tests", list, count, before, after) : 1;
}
