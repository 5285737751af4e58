/* SPDX-License-Identifier: Apache-2.0 */
/* Tests: tests/tools/test_bench_parts.c */
#include "choices.h"

#include "common/json_add.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define BETTER 1.05 /* WAYS_BETTER_CALIBRATED */

int32_t choice_by(const double rates[CHOICE_WAYS], int32_t usual)
{
    int32_t best = usual;
    for (int32_t w = 0; w < CHOICE_WAYS; w++) {
        double least = best < 0 || isnan(rates[best]) ? 0 : rates[best];
        if (rates[w] > least * (best == usual ? BETTER : 1))
            best = w;
    }
    return best;
}

static int compare(const void *left, const void *right)
{
    const choice *a = left, *b = right;
    int keys = strcmp(a->key, b->key);
    return keys ? keys : (a->side > b->side) - (a->side < b->side);
}

static const char *name_of(const choice *c, int32_t way)
{
    return way < 0 ? "" : c->names[way];
}

/* Prints "openblas at 64 (before onednn: 41.2 instead of 30.1 GF/s, 1.37 times as fast)". */
static void print_choice(const choice *c)
{
    double now = c->rates[c->now], before = c->before < 0 ? NAN : c->rates[c->before];
    printf(" %s at %.0f", name_of(c, c->now), c->side);
    if (c->before < 0)
        return;
    printf(" (before %s", name_of(c, c->before));
    if (now >= before)
        printf(": %.3g instead of %.3g GF/s, %.2f times as fast", now, before, now / before);
    else if (now < before)
        printf(": %.3g instead of %.3g GF/s; it is the default, and %s is less than 5 %% faster",
               now, before, name_of(c, c->before));
    putchar(')');
}

static int32_t add_choice(cJSON *list, const choice *c)
{
    char call[2 * CHOICE_NAME];
    snprintf(call, sizeof call, "%s/%.0f", c->key, c->side);
    cJSON *row = json_append_object(list);
    return row && json_add_text(row, "op", call) &&
           json_add_text(row, "before", name_of(c, c->before)) &&
           json_add_text(row, "now", name_of(c, c->now));
}

int32_t choices_tell(const char *backend, choice *choices, int32_t count, cJSON *list)
{
    int32_t changed = 0;
    const char *key = ""; /* key of the sentence that is being written */
    if (count)
        qsort(choices, (size_t)count, sizeof *choices, compare);
    for (int32_t i = 0; i < count; i++) {
        const choice *c = &choices[i];
        if (c->now < 0 || c->now == c->before)
            continue;
        changed++;
        if (list) {
            if (!add_choice(list, c))
                return -1;
            continue;
        }
        if (strcmp(key, c->key) != 0)
            printf("%s%s, %s:", *key ? "\n" : "", backend, c->key);
        else
            putchar(',');
        key = c->key;
        print_choice(c);
    }
    if (*key)
        putchar('\n');
    return changed;
}
