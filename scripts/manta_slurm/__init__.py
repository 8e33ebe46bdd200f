# SPDX-FileCopyrightText: 2026 The manta authors
# SPDX-License-Identifier: MIT
"""The parts of manta-slurm (README.md of the folder above)."""
