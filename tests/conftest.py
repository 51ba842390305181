"""Shared by all tests: hypothesis without deadlines, since a kernel's first call compiles it."""

from hypothesis import settings

settings.register_profile("neardup", deadline=None, derandomize=True)
settings.load_profile("neardup")
