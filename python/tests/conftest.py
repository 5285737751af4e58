# SPDX-License-Identifier: Apache-2.0
"""A shell starts jobs in the background with SIGINT ignored, which tests of Ctrl-C inherit."""

import signal

if signal.getsignal(signal.SIGINT) == signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)
