#!/usr/bin/env python3
"""A docstring."""
print(__doc__)
