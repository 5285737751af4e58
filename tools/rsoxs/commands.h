/* SPDX-License-Identifier: Apache-2.0 */
/* commands.h - what collet-rsoxs does besides simulating: `collet-rsoxs NAME ...`. */
#ifndef RSOXS_COMMANDS_H
#define RSOXS_COMMANDS_H

#define RSOXS_EXIT_FAILURE 1
#define RSOXS_EXIT_USAGE 2

/* Each gets its own arguments, argv[0] "collet-rsoxs NAME", and returns the exit status. */
int rsoxs_make(int argc, char **argv);
int rsoxs_validate(int argc, char **argv);
int rsoxs_view(int argc, char **argv);

#endif
