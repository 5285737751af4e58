/* SPDX-License-Identifier: Apache-2.0 */
#include "keys.h"

#include "atoms/pattern.h"

#include <string.h>

static const char not_chosen[] = "not requested";

/* Why an output cannot be computed; NULL: it can. */
static const char *missing(uint32_t needs, uint32_t has)
{
    if (needs & ~has & EXTRACT_VELOCITIES)
        return "the trajectory has no velocities";
    return needs & ~has & EXTRACT_FORCES ? "the trajectory has no forces" : NULL;
}

static collet_status choose_one(const char *word, size_t length, uint32_t has,
                                const char *left_out[EXTRACT_MAX_OUTPUTS], collet_error *err)
{
    const char *reason = NULL;
    int chosen = 0, shown = (int)(length < 80 ? length : 80);

    for (size_t i = 0; i < extract_output_count; i++) {
        if (!extract_pattern_matches(word, length, extract_outputs[i].key))
            continue;
        left_out[i] = missing(extract_outputs[i].needs, has);
        if (left_out[i] == NULL)
            chosen = 1;
        else
            reason = left_out[i];
    }
    if (chosen)
        return COLLET_OK;
    if (reason != NULL)
        return collet_fail(err, COLLET_INVALID, "keys: '%.*s' cannot be computed: %s", shown, word,
                           reason);
    return collet_fail(err, COLLET_INVALID,
                       "keys: '%.*s' matches none of the %d keys, such as com, L_vector, rg", shown,
                       word, (int)extract_output_count);
}

collet_status extract_keys_choose(const char *keys, uint32_t has,
                                  const char *left_out[EXTRACT_MAX_OUTPUTS], uint32_t *needs,
                                  collet_error *err)
{
    *needs = 0;
    for (size_t i = 0; i < extract_output_count; i++)
        left_out[i] = keys == NULL ? missing(extract_outputs[i].needs, has) : not_chosen;
    while (keys != NULL) {
        size_t length = strcspn(keys, ",");
        collet_status status = choose_one(keys, length, has, left_out, err);

        if (status != COLLET_OK)
            return status;
        keys = keys[length] == ',' ? keys + length + 1 : NULL;
    }
    for (size_t i = 0; i < extract_output_count; i++)
        if (left_out[i] == NULL)
            *needs |= extract_outputs[i].needs;
    return COLLET_OK;
}
