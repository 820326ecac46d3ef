"""What the launcher makes of configuration and flags."""

from __future__ import annotations

import pytest

from pipeline.launch import extract_processes
from pipeline.options import beam_arguments


@pytest.mark.parametrize(
    ("configured", "words", "processes"),
    [
        (0, [], None),
        (3, [], 3),
        (0, ["--direct_running_mode=multi_threading"], None),
        (0, ["--direct_running_mode=multi_processing", "--direct_num_workers=2"], 1),
        (2, ["--direct_running_mode=multi_processing", "--direct_num_workers=2"], 2),
    ],
)
def test_extraction_has_a_process_a_core_where_the_runner_has_none(configured, words, processes):
    assert extract_processes(configured, beam_arguments(None, words)) == processes


def test_other_runners_bring_their_own_processes():
    assert extract_processes(0, ["--runner=FlinkRunner"]) == 1
