/* SPDX-License-Identifier: Apache-2.0 */
/* collet-extract with opencl against cpu_scalar on GROMACS trajectories. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "extract_agree.h"

/* ctest's SKIP_RETURN_CODE. */
#define SKIPPED 77

static void test_agrees(void **state)
{
    char *directory = io_make_directory();

    (void)state;
    for (size_t i = 0; i < ALL_SAMPLES; i++)
        check_agreement(directory, &samples[i], "cpu_scalar", "opencl");
    io_remove_directory(directory);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_agrees)};

    if (!backend_usable("opencl"))
        return SKIPPED;
    return cmocka_run_group_tests(tests, NULL, NULL);
}
