"""Property tests try the same examples each time; HYPOTHESIS_PROFILE=search looks for new ones."""

from __future__ import annotations

import os

from hypothesis import HealthCheck, settings

# A time limit for an example would make a busy machine fail the tests.
settings.register_profile("same", derandomize=True, deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.register_profile("search", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "same"))
