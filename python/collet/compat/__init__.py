# SPDX-License-Identifier: Apache-2.0
"""Drop-ins: other projects' modules on Collet, one module for each project."""
