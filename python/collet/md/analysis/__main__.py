# SPDX-License-Identifier: Apache-2.0
# Tests: python/tests/analysis/test_md_analyse.py
"""python -m collet.md.analysis: the command collet-analyse."""

from ._command import main

raise SystemExit(main())
