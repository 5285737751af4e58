/* SPDX-License-Identifier: Apache-2.0 */
/* An ordinary library: no manifest. */
int zoo_plain(void);

__attribute__((visibility("default"))) int zoo_plain(void)
{
    return 1;
}
