/* SPDX-License-Identifier: Apache-2.0 */
/* interrupt.h - lets a program stop between two pieces of work after SIGINT, SIGTERM or SIGHUP. */
#pragma once

/* After this call the first of these signals is only noted; a second signal, of the same or another kind, ends the
 * process as usual. A signal that the parent ignores (nohup) stays ignored. A write beyond the
 * limit on file size, or to a pipe that nobody reads, returns an error instead of ending the
 * process. Call it once, before other threads exist. */
void tool_interrupt_install(void);

/* After this call a write to a pipe that nobody reads ends the process quietly (SIGPIPE) again, unless its
 * parent ignores that signal. Call it before a report is printed, when all output files have their names. */
void tool_interrupt_report(void);

/* Returns the signal that was noted, or 0. May be called on any thread. */
int tool_interrupt_signal(void);
