/* SPDX-License-Identifier: Apache-2.0 */
/* collet-extract with opencl against cpu_scalar on GROMACS trajectories. */

#include "common/test.h"
#include "extract_agree.h"

/* ctest's SKIP_RETURN_CODE. */
#define SKIPPED 77

TEST(test_agrees)
{
    char *directory = io_make_directory();

    for (size_t i = 0; i < ALL_SAMPLES; i++)
        check_agreement(directory, &samples[i], "cpu_scalar", "opencl");
    io_remove_directory(directory);
}

int main(void)
{
    if (!backend_usable("opencl"))
        return SKIPPED;
    return test_run();
}
