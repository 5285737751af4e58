/* SPDX-License-Identifier: Apache-2.0 */
/* Colours are used only on a terminal, and not if NO_COLOR or TERM forbids them. */
#include "common/test.h"

#include <fcntl.h>
#include <pty.h>
#include <sys/wait.h>

#define ESCAPE "\033["
#define TOOL(name, ...) ((const char *const[]){COLLET_TEST_BIN "/" name, __VA_ARGS__, NULL})

/* Returns what the program prints with these values of NO_COLOR and TERM (NULL: unset). `terminal`: standard output and
 * standard error are a terminal; otherwise they are a pipe. The caller frees the text. */
static char *printed(const char *const *program, int terminal, const char *no_color,
                     const char *term)
{
    char *text = calloc(1, 1 << 16);
    int ends[2], status;
    size_t length = 0;
    assert_non_null(text);
    if (!terminal)
        assert_int_equal(pipe(ends), 0);
    else if (openpty(&ends[0], &ends[1], NULL, NULL, NULL))
        skip(); /* a bare chroot has no terminals */
    pid_t child = fork();
    assert_true(child >= 0);
    if (!child) {
        dup2(ends[1], STDOUT_FILENO);
        dup2(ends[1], STDERR_FILENO);
        if (no_color ? setenv("NO_COLOR", no_color, 1) : unsetenv("NO_COLOR"))
            _exit(126);
        if (term ? setenv("TERM", term, 1) : unsetenv("TERM"))
            _exit(126);
        execv(program[0], (char *const *)program);
        _exit(127);
    }
    close(ends[1]);
    for (ssize_t n;
         length < (1 << 16) - 1 && (n = read(ends[0], text + length, (1 << 16) - 1 - length)) > 0;)
        length += (size_t)n;
    close(ends[0]);
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFEXITED(status) && WEXITSTATUS(status) < 126);
    return text;
}

TEST(words_have_colours)
{
    static const struct {
        const char *program[6], *text;
    } rows[] = {
        {{COLLET_TEST_BIN "/backend-info"}, ESCAPE "32musable         " ESCAPE "0mCPU, one thread"},
        {{COLLET_TEST_BIN "/backend-info", "one", "two"},
         ESCAPE "31m'two': only one NAME is allowed" ESCAPE "0m"},
        {{COLLET_TEST_BIN "/backend-check", "--quick", "--op", "add", "cpu_scalar"},
         ESCAPE "32mPASS" ESCAPE "0m  add"},
        {{COLLET_TEST_BIN "/backend-bench", "nothing"}, "backend-bench: " ESCAPE "31m"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        FREED(char) *text = printed(rows[i].program, 1, NULL, "xterm");
        assert_contains(text, rows[i].text);
    }
}

TEST(an_empty_variable_forbids_nothing)
{
    FREED(char) *text = printed(TOOL("backend-info", NULL), 1, "", "xterm");
    assert_contains(text, ESCAPE "32m");
}

TEST(elsewhere_there_are_none)
{
    static const struct {
        int terminal;
        const char *no_color, *term;
    } rows[] = {
        {0, NULL, "xterm"}, {1, "1", "xterm"}, {1, NULL, "dumb"}, {1, NULL, ""}, {1, NULL, NULL}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        FREED(char) *list =
            printed(TOOL("backend-info", NULL), rows[i].terminal, rows[i].no_color, rows[i].term);
        FREED(char) *error = printed(TOOL("backend-info", "one", "two"), rows[i].terminal,
                                     rows[i].no_color, rows[i].term);
        assert_contains(list, "cpu_scalar  usable         CPU, one thread");
        assert_null(strstr(list, ESCAPE));
        assert_contains(error, "'two': only one NAME is allowed");
        assert_null(strstr(error, ESCAPE));
    }
}
