/* SPDX-License-Identifier: Apache-2.0 */
/* Bodies: what they are. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "common/contains.h"
#include "directory.h"
#include "trajectory/bodies/bodies.h"

#include <stdio.h>
#include <string.h>

/* ---- Division ------------------------------------------------------------------------------ */

/* Two chains whose atoms alternate, a residue that appears twice, and an ion without a chain. */
#define ATOM(serial, name, residue, chain, id, x)                                                  \
    "ATOM  " serial "  " name " " residue " " chain id "    " x "   1.000   0.000  1.00  0.00\n"
static const char molecules[] =
    "CRYST1  100.000  100.000  100.000  90.00  90.00  90.00 P 1           1\n" /* */
    ATOM("    1", "N  ", "ALA", "A", "   1", "   1.000")
        ATOM("    2", "CA ", "ALA", "A", "   1", "   2.000")
            ATOM("    3", "N  ", "GLY", "B", "   1", "   3.000")
                ATOM("    4", "C  ", "ALA", "A", "   1", "   4.000")
                    ATOM("    5", "CA ", "GLY", "B", "   1", "   5.500")
                        ATOM("    6", "O  ", "HOH", " ", "   9", "   6.000") "END\n";

static const char groups_text[] = "[ first ]\n1 2 3\n[ second ]\n4 3 3 6\n[ none ]\n[ last ]\n5\n";

static trajectory_topology *topology;
static trajectory_groups *groups;

static int load_topology(void **state)
{
    make_directory(state);
    topology = io_topology(io_path(directory, "molecules.pdb"), molecules);
    io_save(io_path(directory, "groups.ndx"), groups_text, sizeof groups_text - 1);
    return trajectory_groups_read(io_path(directory, "groups.ndx"), 6, &groups, NULL);
}

static int free_topology(void **state)
{
    trajectory_topology_free(topology);
    trajectory_groups_free(groups);
    return remove_directory(state);
}

static collet_status find(trajectory_bodies *b, const char *each, const char *atoms,
                          collet_error *err)
{
    int64_t selected[6], n = 0;

    for (; atoms[n] != '\0'; n++)
        selected[n] = atoms[n] - '0';
    return trajectory_bodies_find(b, each, topology, "top", groups, selected, n, err);
}

/* `expected`: "LABEL: atoms; LABEL: atoms"; the atoms as digits from 0. */
static void expect_bodies(const char *each, const char *atoms, const char *expected)
{
    trajectory_bodies b;
    collet_error err;
    char text[400] = "";

    if (find(&b, each, atoms, &err) != COLLET_OK)
        fail_msg("%s: %s", each, err.text);
    for (int64_t i = 0; i < b.n; i++) {
        size_t at = strlen(text);

        at += (size_t)sprintf(text + at, "%s%s: ", i > 0 ? "; " : "",
                              b.labels != NULL ? b.labels[i] : "-");
        for (int64_t k = b.offsets[i]; k < b.offsets[i + 1]; k++)
            text[at++] = (char)('0' + b.members[k]);
    }
    assert_string_equal(text, expected);
    trajectory_bodies_free(&b);
}

static void bodies_of_a_topology(void **state)
{
    (void)state;
    expect_bodies(NULL, "0345", "-: 0345");
    expect_bodies("residue", "012345",
                  "ALA 1 of chain A: 01; GLY 1 of chain B: 2; ALA 1 of chain A: 3; "
                  "GLY 1 of chain B: 4; HOH 9: 5");
    expect_bodies("residue", "15", "ALA 1 of chain A: 1; HOH 9: 5");
    expect_bodies("chain", "012345", "chain A: 013; chain B: 24; no chain: 5");
    expect_bodies("chain", "245", "chain B: 24; no chain: 5");
    expect_bodies("molecule", "0125", "ALA 1 of chain A: 01; GLY 1 of chain B: 2; HOH 9: 5");
    expect_bodies("first second", "012345", "first: 012; second: 235");
    expect_bodies(" s*  las? ", "01234", "second: 23; last: 4");
}

static void expect_refused(const char *each, const char *atoms, const char *text)
{
    trajectory_bodies b;
    collet_error err;

    assert_int_equal(find(&b, each, atoms, &err), COLLET_INVALID);
    assert_null(b.members);
    assert_contains(err.text, text);
}

static void bodies_that_do_not_exist(void **state)
{
    (void)state;
    expect_refused("segment", "01", "top has no segments, but chains");
    expect_refused("residues", "01", "no group of");
    expect_refused("first third", "01", "is named 'third'");
    expect_refused("none", "01", "group 'none' has no atom of the selection");
    expect_refused("last", "01", "group 'last' has no atom of the selection");
    expect_refused("  ", "01", "each: the text is empty");
    assert_true(trajectory_bodies_named("chain") && trajectory_bodies_named(NULL));
    assert_false(trajectory_bodies_named("Chain") || trajectory_bodies_named(""));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(bodies_of_a_topology),
        cmocka_unit_test(bodies_that_do_not_exist),
    };

    return cmocka_run_group_tests(tests, load_topology, free_topology);
}
