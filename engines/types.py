"""Contracts of the toolchain: errors. Knows nothing of the product; the two meet in files.

ToolchainError
└── ManifestWrong    an engine folder is not what its manifest says, or the manifest breaks its schema
"""

from __future__ import annotations


class ToolchainError(Exception):
    """A step of the toolchain failed. ``code`` is stable; the message says what to do."""

    code = "engines.error"


class ManifestWrong(ToolchainError):
    """An engine folder is not what its manifest says, or the manifest breaks its schema."""

    code = "engines.manifest_wrong"
