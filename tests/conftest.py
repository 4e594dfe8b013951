"""For all tests: logs that carry caller data are errors, and no example fails for being slow on a busy machine."""

from __future__ import annotations

import os

from hypothesis import settings

os.environ.setdefault("HOTLINE_LOG_STRICT", "1")
# on top of the profile that Hypothesis chose: in CI it draws the same examples every time
settings.register_profile("house", settings.default, deadline=None)
settings.load_profile("house")
