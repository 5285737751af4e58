/* SPDX-License-Identifier: Apache-2.0 */
/*
 * libtest_locale: LD_PRELOAD loads this library before a program. It sets the locale that
 * TEST_LOCALE names, as programs with a user interface do at their start. It sets the locale only in
 * test programs and in Python, because the programs of this project never call setlocale. Exits with
 * 77 if the locale is missing.
 */
#include <errno.h>
#include <locale.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

__attribute__((constructor)) static void locale_set(void)
{
    const char *name = getenv("TEST_LOCALE"), *program = program_invocation_short_name;
    if (!name || (strncmp(program, "test_", 5) != 0 && strncmp(program, "python", 6) != 0))
        return;
    /* Tests compare messages of the system (strerror), which are in the user's language. */
    if (setlocale(LC_ALL, name) && setlocale(LC_MESSAGES, "C"))
        return;
    fprintf(stderr, "%s: there is no locale %s in %s\n", program, name, getenv("LOCPATH"));
    _exit(77);
}
