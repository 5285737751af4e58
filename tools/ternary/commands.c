/* SPDX-License-Identifier: Apache-2.0 */
#include "commands.h"

#include "common/interrupt.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

collet_status ternary_flush_said(collet_error *err)
{
    errno = 0;
    if (fflush(stdout) == 0 && !ferror(stdout))
        return COLLET_OK;
    return collet_fail(err, COLLET_IO, "standard output: %s",
                       errno ? strerror(errno) : "it cannot be written to");
}

collet_status ternary_check_signal(collet_error *err)
{
    int number = tool_interrupt_signal();

    return number ? collet_fail(err, COLLET_NOT_READY, "%s", strsignal(number))
                  : (collet_status)COLLET_OK;
}

collet_status ternary_check_output(const char *output, const char *input, collet_error *err)
{
    struct stat first, second;

    if (output && input && stat(output, &first) == 0 && stat(input, &second) == 0 &&
        first.st_dev == second.st_dev && first.st_ino == second.st_ino)
        return collet_fail(err, COLLET_INVALID,
                           "the output %s would replace the input %s; choose another with -o",
                           output, input);
    return COLLET_OK;
}
