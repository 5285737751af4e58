/* SPDX-License-Identifier: Apache-2.0 */
/* Tests: tests/tools/test_info.c */
#include "info.h"

#include "common/output.h"

#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#define WIDTH_MIN 40 /* narrower terminals break the lines themselves */

/* Returns the width of the terminal in columns; 0 if there is none, or if it is too narrow. */
static int terminal_width(void)
{
    struct winsize size;
    if (ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) || size.ws_col < WIDTH_MIN)
        return 0;
    return size.ws_col;
}

/* Counts the characters of UTF-8: the bytes that begin a character. */
static int columns(const char *text, size_t length)
{
    int count = 0;
    for (size_t i = 0; i < length; i++)
        count += ((unsigned char)text[i] & 0xc0) != 0x80;
    return count;
}

void wrap_print(const char *text, int indent)
{
    int width = terminal_width(), at = indent;
    text = tool_shown(text);
    int further = indent > width / 2 ? width / 4 : indent;
    while (*text) {
        size_t blank = strspn(text, " "), word = strcspn(text + blank, " ");
        int needed = columns(text, blank + word);
        if (width && at > further && at + needed > width) {
            printf("\n%*s", further, "");
            at = further;
            text += blank;
            continue;
        }
        printf("%.*s", (int)(blank + word), text);
        at += needed;
        text += blank + word;
    }
    putchar('\n');
}
