"""A dataset of two days: made once a module, and a copy for each test that harms it."""

from __future__ import annotations

import shutil

import pytest

from tests.transforms.maintain.make_dataset import two_days


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    root = tmp_path_factory.mktemp("made") / "out"
    two_days(root)
    return root


@pytest.fixture
def root(made, tmp_path):
    shutil.copytree(made, tmp_path / "out")
    return tmp_path / "out"
