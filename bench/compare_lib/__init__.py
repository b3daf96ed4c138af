# SPDX-License-Identifier: BSD-2-Clause
"""bench/compare in parts; bench/README.md says which."""
