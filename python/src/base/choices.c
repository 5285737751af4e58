/* SPDX-License-Identifier: Apache-2.0 */
/* Tests: python/tests/test_using.py */
#include "choices.h"

#include <stdlib.h>
#include <string.h>

static char **texts;
static uint32_t count;

uint32_t choices_number(const char *text)
{
    for (uint32_t i = 0; i < count; i++)
        if (!strcmp(texts[i], text))
            return i + 1;
    char **longer = realloc(texts, (count + 1) * sizeof *texts);
    texts = longer ? longer : texts;
    char *copy = longer ? strdup(text) : NULL;
    if (!copy) {
        PyErr_NoMemory();
        return 0;
    }
    texts[count] = copy;
    return ++count;
}

const char *choices_text(uint32_t number)
{
    return texts[number - 1];
}
