/* SPDX-License-Identifier: Apache-2.0 */
/* backend-bench calibrate: rates of earlier runs, and the implementations in its summary. */

#include "common/test.h"
#include "bench/calibrate/choices.h"
#include "bench/calibrate/rates.h"
#include "cpu_openmp/providers/ways.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static void assert_merged(const char *now, const char *old, const char *expected)
{
    char *all = rates_merged(now, old);
    assert_string_equal(all, expected);
    free(all);
}

/* A short run replaces only the rates of a longer run that it measured again. */
TEST(earlier_rates_stay)
{
    assert_merged("f32/64:own=5", "f32/64:own=1,openblas=2 f32/256:own=3 f32-page/64:own=4",
                  "f32/64:own=5 f32/256:own=3 f32-page/64:own=4");
    assert_merged("f32/64:own=5", "f32/640:own=1 f32/6:own=2",
                  "f32/64:own=5 f32/640:own=1 f32/6:own=2");
    assert_merged("f32/64:own=5", NULL, "f32/64:own=5");
    assert_merged("", "f32/64:own=5", " f32/64:own=5");
}

static const choice at_256 = {.key = "f64",
                              .side = 256,
                              .names = {"own", "openblas", "onednn"},
                              .rates = {73.7, 72.1, NAN},
                              .before = 0,
                              .now = 1};

/* The summary names the implementation that the backends will choose, by the same rule. */
TEST(the_way_that_will_be_taken)
{
    static const double rates[][CHOICE_WAYS] = {
        {73.7, 72.1, 0}, {80, 72.1, 0}, {75.7, 72, 76}, {1, 2, 3}, {10, 10, 10.4}};
    char which[128];
    for (size_t i = 0; i < sizeof rates / sizeof *rates; i++)
        for (int usual = 0; usual < CHOICE_WAYS; usual++) {
            const double *r = rates[i];
            ways w = {.kind = &openmp_ways};
            const int key = WAY_PRODUCT(WAY_F32, WAY_SQUARE);
            memset(w.forced, WAY_NOT_FORCED, sizeof w.forced);
            w.calibrated[key] =
                (way_list){1, {{.side = 100, .rate = {r[0], r[1], r[2]}, .calibrated = 1}}};
            snprintf(which, sizeof which, "rates %d, usual way %d", (int)i, usual);
            if (choice_by(r, usual) != ways_choose(&w, key, 100, usual, NULL))
                fail_msg("%s", which);
        }
    assert_int_equal(choice_by(at_256.rates, -1), 0);
    assert_int_equal(choice_by(at_256.rates, 2), 0);
}

/* What choices_tell prints. */
static const char *told(choice *choices, int32_t count, int32_t expected)
{
    static char words[1024];
    FILE *file = tmpfile();
    assert_non_null(file);
    fflush(stdout);
    int before = dup(1);
    assert_true(before >= 0 && dup2(fileno(file), 1) == 1);
    int32_t changed = choices_tell("cpu_openmp", choices, count, NULL);
    fflush(stdout);
    assert_int_equal(dup2(before, 1), 1);
    close(before);
    rewind(file);
    words[fread(words, 1, sizeof words - 1, file)] = '\0';
    fclose(file);
    assert_int_equal(changed, expected);
    return words;
}

TEST(what_changes_is_told)
{
    choice other = at_256, same = at_256, unknown = at_256, f32 = at_256;
    other.side = 1000;
    other.rates[1] = 90;
    same.now = 0;
    unknown.side = 64;
    unknown.before = -1;
    snprintf(f32.key, sizeof f32.key, "f32");
    f32.before = 1;
    f32.now = 0;
    choice choices[] = {other, at_256, same, unknown, f32};
    assert_string_equal(
        told(choices, 5, 4),
        "cpu_openmp, f32: own at 256 (before openblas: 73.7 instead of 72.1 GF/s, 1.02 times as "
        "fast)\n"
        "cpu_openmp, f64: openblas at 64, openblas at 256 (before own: 72.1 instead of 73.7 GF/s; "
        "it is the default, and own is less than 5 % faster), openblas at 1000 (before own: 90 "
        "instead of 73.7 GF/s, 1.22 times as fast)\n");
    assert_string_equal(told(&same, 1, 0), "");
    assert_string_equal(told(NULL, 0, 0), "");
    cJSON *list = cJSON_CreateArray();
    assert_int_equal(choices_tell("cpu_openmp", choices, 5, list), 4);
    char *row = cJSON_PrintUnformatted(cJSON_GetArrayItem(list, 2));
    assert_string_equal(row, "{\"op\":\"f64/256\",\"before\":\"own\",\"now\":\"openblas\"}");
    free(row);
    cJSON_Delete(list);
}
