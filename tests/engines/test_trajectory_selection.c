/* SPDX-License-Identifier: Apache-2.0 */
/* The atoms that each form of a selection selects, and the messages for invalid ones. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "trajectory/atoms/selection.h"
#include "common/contains.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static char names[][TRAJECTORY_ATOM_NAME] = {"N",  "CA",  "C",   "O",  "CB", "HB1", "HB2",
                                             "OW", "HW1", "HW2", "NA", "CA", "C1",  "O5'"};
static char residues[][TRAJECTORY_ATOM_NAME] = {"ALA", "ALA", "ALA", "ALA", "ALA", "ALA", "NGLY",
                                                "SOL", "SOL", "SOL", "NA",  "CA",  "LIG", "LIG"};
static int32_t residue_ids[] = {1, 1, 1, 1, 1, 1, 2, 3, 3, 3, 4, 5, 6, 6};
#define ATOMS 14

static const trajectory_topology topology = {
    .n_atoms = ATOMS, .names = names, .residue_names = residues, .residue_ids = residue_ids};

/* The selected atoms as a string of 0 and 1. */
static const char *pick(const char *text)
{
    static char picture[ATOMS + 1];
    trajectory_selection *selection;
    collet_error err;
    int64_t *indices, n;

    memset(picture, '0', ATOMS);
    if (trajectory_selection_compile(text, &selection, &err) != COLLET_OK)
        fail_msg("%s", err.text);
    assert_int_equal(trajectory_selection_apply(selection, &topology, NULL, &indices, &n, &err),
                     COLLET_OK);
    for (int64_t i = 0; i < n; i++) {
        assert_true(i == 0 || indices[i] > indices[i - 1]);
        picture[indices[i]] = '1';
    }
    free(indices);
    trajectory_selection_free(selection);
    return picture;
}

static void test_picks(void **state)
{
    static const struct {
        const char *text;
        const char *picture;
    } cases[] = {
        {"all", "11111111111111"},
        {"none", "00000000000000"},
        {"protein", "11111110000000"},
        {"backbone", "11110000000000"},
        {"name CA", "01000000000100"},
        {"name CA and protein", "01000000000000"},
        {"name CA C N", "11100000000100"},
        {"name H*", "00000110110000"},
        {"name *2", "00000010010000"},
        {"name H??", "00000110110000"},
        {"name ?A", "01000000001100"},
        {"name *", "11111111111111"},
        {"name H*B*1", "00000100000000"},
        {"name O5'", "00000000000001"},
        {"name ca", "00000000000000"},
        {"resname SOL", "00000001110000"},
        {"resname S* LIG", "00000001110011"},
        {"resid 3", "00000001110000"},
        {"resid 2:4", "00000011111000"},
        {"resid 1 4:5", "11111100001100"},
        {"index 0", "10000000000000"},
        {"index 0:2 13", "11100000000001"},
        {"bynum 1", "10000000000000"},
        {"bynum 2:3 14", "01100000000001"},
        {"index 100:200", "00000000000000"},
        {"not protein", "00000001111111"},
        {"not not protein", "11111110000000"},
        {"not name CA and protein", "10111110000000"},
        {"not (name CA and protein)", "10111111111111"},
        {"resid 1 or resid 3 and name OW", "11111101000000"},
        {"(resid 1 or resid 3) and name OW", "00000001000000"},
        {"resid 3 and name OW or resid 1", "11111101000000"},
        {"(((all)))", "11111111111111"},
        {" \tprotein\n and\r\n name C ", "00100000000000"},
        {"not(resid 1)and(protein)", "00000010000000"},
        {"name CA or name C or name N or name O or none", "11110000000100"},
    };

    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const char *picture = pick(cases[i].text);

        if (strcmp(picture, cases[i].picture) != 0)
            fail_msg("%s: %s, not %s", cases[i].text, picture, cases[i].picture);
    }
}

static void test_errors(void **state)
{
    static const struct {
        const char *text;
        int column; /* of the caret, 1-based */
        const char *message;
    } cases[] = {
        {"", 1, "empty"},
        {"   ", 4, "empty"},
        {"protien", 1, "expected one of all"},
        {"protein and", 12, "expected one of"},
        {"protein protein", 9, "expected 'and' or 'or'"},
        {"name", 5, "expected a name"},
        {"name and protein", 6, "expected a name"},
        {"resid", 6, "expected a number"},
        {"resid x", 7, "expected a number"},
        {"resid 1-3", 8, "expected a number"},
        {"resid 1:", 8, "expected a number"},
        {"resid 1:2:3", 8, "expected a number"},
        {"resid -1", 7, "expected a number"},
        {"resid 5:3", 7, "ends before it begins"},
        {"resid 99999999999999999999", 7, "expected a number"},
        {"bynum 0", 7, "counts from 1"},
        {"(protein", 1, "never closed"},
        {"protein)", 8, "never opened"},
        {"(protein name CA)", 10, "expected 'and', 'or' or ')'"},
        {"()", 2, "expected one of"},
        {"not", 4, "expected one of"},
        {"or all", 1, "expected one of"},
        {"all and or none", 9, "expected one of"},
    };

    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        trajectory_selection *selection = (trajectory_selection *)&cases;
        collet_error err;
        const char *line, *caret;
        char column[32];

        assert_int_equal(trajectory_selection_compile(cases[i].text, &selection, &err),
                         COLLET_INVALID);
        assert_null(selection);
        snprintf(column, sizeof column, "column %d:", cases[i].column);
        if (strstr(err.text, cases[i].message) == NULL || strstr(err.text, column) == NULL)
            fail_msg("'%s' gives: %s", cases[i].text, err.text);
        line = strchr(err.text, '\n') + 1;
        caret = strchr(line, '\n') + 1;
        assert_int_equal(strchr(caret, '^') - caret, 4 + cases[i].column - 1);
        assert_memory_equal(line + 4, cases[i].text, strlen(cases[i].text));
    }
}

static void test_long_text_is_shown_around_the_error(void **state)
{
    char text[4000];
    trajectory_selection *selection;
    collet_error err;
    const char *line, *caret;

    (void)state;
    memset(text, ' ', sizeof text);
    memcpy(text, "all and", 7);
    memcpy(text + 2000, "nonsense", 8);
    text[sizeof text - 1] = '\0';
    assert_int_equal(trajectory_selection_compile(text, &selection, &err), COLLET_INVALID);
    assert_contains(err.text, "column 2001:");
    line = strchr(err.text, '\n') + 1;
    caret = strchr(line, '\n') + 1;
    assert_memory_equal(line + (strchr(caret, '^') - caret), "nonsense", 8);
    assert_int_equal(trajectory_selection_compile("all \x01\xff", &selection, &err),
                     COLLET_INVALID);
    assert_contains(err.text, "all ??");
    assert_int_equal(trajectory_selection_compile("\x1b[2J", &selection, &err), COLLET_INVALID);
    assert_contains(err.text, "\n    ?[2J\n");
}

/* The stack is bounded for text of any depth and length. */
static void test_depth_and_length(void **state)
{
    enum { LENGTH = 300000 };
    char *text = malloc(LENGTH + 10);
    trajectory_selection *selection;
    collet_error err;
    size_t n = 0;

    (void)state;
    assert_non_null(text);
    memset(text, '(', LENGTH);
    text[LENGTH] = '\0';
    assert_int_equal(trajectory_selection_compile(text, &selection, &err), COLLET_INVALID);
    assert_contains(err.text, "nested too deeply");

    for (int i = 0; i < 100; i++)
        memcpy(text + 4 * i, "not ", 4);
    strcpy(text + 400, "none");
    assert_string_equal(pick(text), "00000000000000");
    memcpy(text + 400, "not none", 9);
    assert_int_equal(trajectory_selection_compile(text, &selection, &err), COLLET_INVALID);

    /* The deepest stack that the grammar allows: a pending "or" and "and" at every level. */
    for (int i = 0; i < 100; i++)
        n += (size_t)sprintf(text + n, "none or all and (");
    n += (size_t)sprintf(text + n, "protein");
    memset(text + n, ')', 100);
    text[n + 100] = '\0';
    assert_string_equal(pick(text), "11111110000000");

    for (n = 0; n < LENGTH - 10;)
        n += (size_t)sprintf(text + n, "none or ");
    strcpy(text + n, "all");
    assert_string_equal(pick(text), "11111111111111");
    free(text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_picks),
        cmocka_unit_test(test_errors),
        cmocka_unit_test(test_long_text_is_shown_around_the_error),
        cmocka_unit_test(test_depth_and_length),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
