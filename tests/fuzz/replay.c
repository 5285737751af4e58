/* SPDX-License-Identifier: Apache-2.0 */
/* Replaces libFuzzer: runs the target on each file named as an argument. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static int replay(const char *path)
{
    FILE *file = fopen(path, "rb");
    uint8_t *data = NULL;
    long size = -1;

    if (file && fseek(file, 0, SEEK_END) == 0)
        size = ftell(file);
    if (size >= 0)
        data = malloc((size_t)size + 1);
    int ok =
        data && fseek(file, 0, SEEK_SET) == 0 && fread(data, 1, (size_t)size, file) == (size_t)size;
    if (ok)
        LLVMFuzzerTestOneInput(data, (size_t)size);
    else
        fprintf(stderr, "cannot read %s\n", path);
    free(data);
    if (file)
        fclose(file);
    return ok;
}

int main(int argc, char **argv)
{
    for (int i = 1; i < argc; i++)
        if (!replay(argv[i]))
            return 1;
    printf("%d inputs\n", argc - 1);
    return argc < 2;
}
