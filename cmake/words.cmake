# SPDX-License-Identifier: Apache-2.0
# cmake -DFILE=vectors.bin -DNAME=kit_vector -DOUT=words.c -P words.cmake: writes the C file OUT. It has the big-endian
# 64-bit words of FILE as the array NAME_words, and their number as NAME_count.
file(READ ${FILE} text HEX)
set(digit "[0-9a-f]")
set(byte "${digit}${digit}")
set(word "${byte}${byte}${byte}${byte}${byte}${byte}${byte}${byte}")
string(REGEX REPLACE "(${word})" "0x\\1,\n" text "${text}")
file(WRITE ${OUT} "/* Made by words.cmake. */
#include <stddef.h>
#include <stdint.h>
extern const uint64_t ${NAME}_words[];
extern const size_t ${NAME}_count;
const uint64_t ${NAME}_words[] = {\n${text}};
const size_t ${NAME}_count = sizeof ${NAME}_words / sizeof *${NAME}_words;\n")
