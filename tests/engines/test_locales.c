/* SPDX-License-Identifier: Apache-2.0 */
/* Programs in a locale whose decimal point is a comma or not ASCII, or in which I is not the upper
 * case of i: the libraries print and read numbers, and compare names, without regard to the locale.
 * LOCPATH has the locales. */
#include <locale.h>

#include <collet/scatter.h>

#include "common/support.h"

static const char *const locales[] = {"de_DE.UTF-8", "ps_AF.UTF-8", "tr_TR.UTF-8"};
#define LOCALES (sizeof locales / sizeof *locales)

static void use(size_t i)
{
    if (!setlocale(LC_ALL, locales[i]))
        fail_msg("the locale %s was there at the start", locales[i]);
}

static int reset(void **state)
{
    uselocale(LC_GLOBAL_LOCALE);
    return setlocale(LC_ALL, "C") ? 0 : 1;
}

TEST_WITH(messages_have_points, NULL, reset)
{
    for (size_t i = 0; i < LOCALES; i++) {
        collet_error err;
        use(i);
        collet_fail(&err, COLLET_INVALID, "%g of %.2f", 2.5, -0.25);
        assert_string_equal(err.text, "2.5 of -0.25");
    }
}

/* A thread may also have its own locale (uselocale). Calls do not change it. */
TEST_WITH(the_locale_of_a_thread_stays, NULL, reset)
{
    locale_t own = newlocale(LC_ALL_MASK, "de_DE.UTF-8", (locale_t)0);
    char name[COLLET_SCATTER_NAME];
    assert_true(own != (locale_t)0);
    uselocale(own);
    collet_scatter_file_name(name, 280.5);
    assert_string_equal(name, "Energy_280.50.h5");
    assert_true(uselocale((locale_t)0) == own);
    uselocale(LC_GLOBAL_LOCALE);
    freelocale(own);
}

TEST_WITH(names_of_files_have_points, NULL, reset)
{
    char name[COLLET_SCATTER_NAME];
    for (size_t i = 0; i < LOCALES; i++) {
        use(i);
        collet_scatter_file_name(name, 280.5);
        assert_string_equal(name, "Energy_280.50.h5");
    }
}

/* Without a probe process, this process queries a backend's capabilities, and libcore parses
 * them. */
TEST_WITH(backends_open_without_a_probe, NULL, reset)
{
    static const char *const settings[] = {"probe=off", "cache=off", NULL};
    for (size_t i = 0; i < LOCALES; i++) {
        collet_backend_info info = {.struct_size = sizeof info};
        collet_error err = {COLLET_OK, ""};
        use(i);
        OWNED(world) w = open_world(OPENMP_PLUGIN, settings, "cpu_openmp");
        OWNED(collet_array) *a = floats(w.cx, 3, 1);
        assert_ok(w.cx, collet_op_neg(w.cx, a, a));
        assert_int_equal(collet_backend_info_at(w.rt, &info, 0, &err), COLLET_OK);
    }
}

/* A configuration with fractions, and a message that quotes a fraction. */
TEST_WITH(configurations_are_read, NULL, reset)
{
    char directory[] = "/tmp/collet-locale-XXXXXX", command[512], film[96], text[96];
    assert_non_null(mkdtemp(directory));
    snprintf(command, sizeof command,
             COLLET_TEST_BIN "/collet-rsoxs make sphere --size 8 --radius 2.5 --energies "
                             "280.25,281.5 -q -o %s",
             directory);
    assert_int_equal(system(command), 0);
    snprintf(film, sizeof film, "%s/morphology.h5", directory);
    snprintf(text, sizeof text, "%s/config.txt", directory);
    for (size_t i = 0; i < LOCALES; i++) {
        collet_scatter_input *in = NULL;
        collet_error err = {COLLET_OK, ""};
        use(i);
        if (collet_scatter_read(&in, film, text, COLLET_F64, &err) != COLLET_OK)
            fail_msg("%s: %s", locales[i], err.text);
        const collet_scatter_options *o = collet_scatter_input_options(in);
        assert_int_equal(o->n_energies, 2);
        assert_true(o->energies[0] == 280.25 && o->energies[1] == 281.5);
        collet_scatter_input_destroy(in);
    }
    snprintf(command, sizeof command, "sed -i 's/Energies = .*/Energies = [280.25, 290.5];/' %s",
             text);
    assert_int_equal(system(command), 0);
    for (size_t i = 0; i < LOCALES; i++) {
        collet_scatter_input *in = NULL;
        collet_error err = {COLLET_OK, ""};
        use(i);
        assert_int_not_equal(collet_scatter_read(&in, film, text, COLLET_F64, &err), COLLET_OK);
        assert_contains(err.text, "no EnergyData for 290.5 eV");
    }
    snprintf(command, sizeof command, "rm -r %s", directory);
    assert_int_equal(system(command), 0);
}

int main(void)
{
    for (size_t i = 0; i < LOCALES; i++)
        if (!setlocale(LC_ALL, locales[i]))
            return 77;
    setlocale(LC_ALL, "C");
    return test_run();
}
