/* SPDX-License-Identifier: Apache-2.0 */
/* contains.h - assert_contains(TEXT, PART): fails, and prints both, unless PART is in TEXT. */
#ifndef TESTS_COMMON_CONTAINS_H
#define TESTS_COMMON_CONTAINS_H

#include <string.h>

#define assert_contains(text, part)                                                                \
    do {                                                                                           \
        const char *text_ = (text), *part_ = (part);                                               \
        if (!text_ || !strstr(text_, part_))                                                       \
            fail_msg("'%s' is not in: %s", part_, text_ ? text_ : "(NULL)");                       \
    } while (0)

#endif
