/* SPDX-License-Identifier: Apache-2.0 */
/* The generator of the random kernels gives the test vectors that were published with its authors' implementation. */

#include "common/test.h"
#include "shared/host/random/philox.h"

TEST(test_known_blocks)
{
    static const struct {
        uint32_t counter[4], key[2], block[4];
    } known[] = {
        {{0, 0, 0, 0}, {0, 0}, {0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8}},
        {{0xffffffff, 0xffffffff, 0xffffffff, 0xffffffff},
         {0xffffffff, 0xffffffff},
         {0x408f276d, 0x41c83b0e, 0xa20bc7c6, 0x6d5451fd}},
        {{0x243f6a88, 0x85a308d3, 0x13198a2e, 0x03707344},
         {0xa4093822, 0x299f31d0},
         {0xd16cfe09, 0x94fdcceb, 0x5001e420, 0x24126ea1}},
    };
    for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
        uint32_t block[4];
        cpu_philox(known[i].counter, known[i].key, block);
        assert_memory_equal(known[i].block, block, sizeof block);
    }
}
