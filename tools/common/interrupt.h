/* SPDX-License-Identifier: Apache-2.0 */
/* interrupt.h - stopping on SIGINT, SIGTERM and SIGHUP between two pieces of work. */
#ifndef TOOLS_COMMON_INTERRUPT_H
#define TOOLS_COMMON_INTERRUPT_H

/*
 * From now on the first of these signals is only noted; a second one, the same or another, ends the
 * process as usual. A signal that the parent ignores (nohup) stays ignored. A write beyond the
 * limit on file size, or to a pipe that nobody reads, returns an error instead of ending the
 * process. Call it once, before other threads exist.
 */
void tool_interrupt_install(void);

/* From now on a write to a pipe that nobody reads ends the process quietly (SIGPIPE) again, unless
 * its parent ignores that signal. Call it before a report, when all outputs have their names. */
void tool_interrupt_report(void);

/* The signal that was noted, or 0. Any thread. */
int tool_interrupt_signal(void);

#endif
