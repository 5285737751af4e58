/* SPDX-License-Identifier: Apache-2.0 */
/* Groups of .ndx files in selections. */

#include "directory.h"
#include "trajectory/atoms/choice.h"

#define ATOMS 6

static char names[ATOMS][TRAJECTORY_ATOM_NAME] = {"N", "CA", "C", "O", "OW", "HW"};
static char residues[ATOMS][TRAJECTORY_ATOM_NAME] = {"ALA", "ALA", "ALA", "ALA", "SOL", "SOL"};
static int32_t ids[ATOMS] = {1, 1, 1, 1, 2, 2};
static const trajectory_topology topology = {
    .n_atoms = ATOMS, .names = names, .residue_names = residues, .residue_ids = ids};

static const char file[] = "; made by hand\n"
                           "[ System ]\n"
                           "   1    2    3\n\t4 5 6 ; all\r\n"
                           "[Protein-H]\n1 2 3 4\n\n"
                           "[ SOL & !H* ]\n5\n"
                           "[ empty ]\n"
                           "[ Protein-H ]\n6 6";

static const char *save(const char *text)
{
    return io_save(io_path(directory, "case.ndx"), text, strlen(text));
}

/* Expects these atoms, each a digit, counted from 0. */
static void expect(const trajectory_groups *groups, const char *text, const char *atoms)
{
    trajectory_selection *selection;
    trajectory_choice *choice;
    int64_t n;
    collet_error err;
    char found[ATOMS + 1] = "";

    assert_int_equal(trajectory_selection_compile(text, &selection, &err), COLLET_OK);
    assert_success(trajectory_choice_create(selection, &topology, groups, &choice, &err), err);
    const int64_t *indices = trajectory_choice_members(choice, &n);
    for (int64_t i = 0; i < n; i++)
        found[i] = (char)('0' + indices[i]);
    assert_string_equal(found, atoms);
    trajectory_choice_free(choice);
    trajectory_selection_free(selection);
}

TEST(groups_in_selections)
{
    trajectory_groups *groups;

    assert_int_equal(trajectory_groups_read(save(file), ATOMS, &groups, NULL), COLLET_OK);
    expect(groups, "group System", "012345");
    expect(groups, "group Protein-H", "01235");
    expect(groups, "group empty", "");
    expect(groups, "group SOL*", "4");
    expect(groups, "group \"SOL & !H*\" Protein-H", "012345");
    expect(groups, "group empty SOL*", "4");
    expect(groups, "not group Protein-H and group *", "4");
    expect(groups, "name CA or group SOL* and resid 2 or (group S?stem and name N)", "014");
    expect(groups, "protein", "0123");
    trajectory_groups_free(groups);
}

static void refuse(const trajectory_groups *groups, const char *text, const char *message)
{
    trajectory_selection *selection;
    trajectory_choice *choice = (trajectory_choice *)&choice;
    collet_error err;

    assert_int_equal(trajectory_selection_compile(text, &selection, &err), COLLET_OK);
    assert_error(trajectory_choice_create(selection, &topology, groups, &choice, &err),
                 COLLET_INVALID, err, message);
    assert_null(choice);
    trajectory_selection_free(selection);
}

TEST(groups_that_do_not_exist)
{
    trajectory_groups *groups;
    char many[8000] = "";

    refuse(NULL, "all or group System", "give --ndx FILE");
    assert_int_equal(trajectory_groups_read(save(file), ATOMS, &groups, NULL), COLLET_OK);
    refuse(groups, "group system",
           "case.ndx is named 'system'; it has System, Protein-H, SOL & !H*, empty, Protein-H");
    refuse(groups, "group System or group empty wrong", "is named 'wrong'");
    trajectory_groups_free(groups);
    for (int i = 0; i < 500; i++)
        strcat(many, "[ group ]\n");
    assert_int_equal(trajectory_groups_read(save(many), ATOMS, &groups, NULL), COLLET_OK);
    refuse(groups, "group wrong", "it has group, group,");
    trajectory_groups_free(groups);
    trajectory_selection *selection;
    collet_error err;
    assert_error(trajectory_selection_compile("group", &selection, &err), COLLET_INVALID, err,
                 "expected a name");
}

TEST(messages_point_at_the_line)
{
    static const io_malformed bad[] = {
        {"", "case.ndx: has no groups: no line begins with '['"},
        {"; nothing\n\n", "has no groups"},
        {"1 2\n", ":1: '1' comes before the first group"},
        {"[ a ]\n1 x\n", ":2: 'x' is not the number of an atom"},
        {"[ a ]\n1\n7\n", ":3: atom 7 of group 'a' is not one of the topology's 6"},
        {"[ a ]\n0\n", ":2: atom 0 of group 'a'"},
        {"[ a ]\n-1\n", ":2: atom -1 of group 'a'"},
        {"[ a\n1\n", ":1: '[ a' has no ']'"},
        {"[ ]\n1\n", ":1: '[ ]' is a group without a name"},
        {"[ a ]\n99999999999999999999\n", ":2: '99999999999999999999' is not the number"},
    };

    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        trajectory_groups *groups = (trajectory_groups *)&groups;
        collet_error err;
        assert_error(trajectory_groups_read(save(bad[i].text), ATOMS, &groups, &err), COLLET_FORMAT,
                     err, bad[i].message);
        assert_null(groups);
    }
    trajectory_groups *groups;
    assert_int_equal(trajectory_groups_read("/nowhere/index.ndx", ATOMS, &groups, NULL), COLLET_IO);
}

/* A group from the file in the library's option; the meta file names that file. */
TEST(option)
{
    collet_trajectory_options options = {.struct_size = sizeof options,
                                         .topology = COLLET_TEST_DATA "/md/water/conf.gro",
                                         .trajectory = COLLET_TEST_DATA "/md/water/traj.xtc",
                                         .selection = "group two",
                                         .ndx = save("[ two ]\n1 4\n")};
    collet_trajectory_info info = {.struct_size = sizeof info};
    collet_trajectory *x;
    collet_error err;

    assert_success(collet_trajectory_create(&x, &options, &err), err);
    collet_trajectory_get_info(x, &info);
    assert_int_equal(info.atoms, 2);
    assert_true(info.mass > 31.99 && info.mass < 32.0);
    collet_trajectory_destroy(x);
    options.selection = "group three";
    assert_int_equal(collet_trajectory_create(&x, &options, &err), COLLET_INVALID);
    options.ndx = NULL;
    assert_int_equal(collet_trajectory_create(&x, &options, &err), COLLET_INVALID);
}

TEST_GROUP(make_directory, remove_directory)
