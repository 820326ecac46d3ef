"""How the commands of ``newsbeam dataset`` come to their dataset: found, locked, recovered."""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from contextlib import contextmanager

from pipeline.cli.output import err, shown_path
from pipeline.config.load import load_config
from pipeline.errors import ConfigError
from transforms.write.commit import recover
from transforms.write.lock import acquire, acquire_to_read
from transforms.write.manifest import RUNS
from transforms.write.storage import Storage, has_folder, storage_of


def dataset_root(args: argparse.Namespace) -> str:
    """Returns the root of the dataset that the command line or the configuration names.

    Raises:
        ConfigError: If there is no dataset.
    """
    root = load_config(args.config, vars(args)).dataset
    check_root(root)
    return root


def check_root(root: str) -> None:
    """Checks that there is a dataset.

    Raises:
        ConfigError: If there is none.
    """
    if not has_folder(root, RUNS):
        shown = shown_path(root)
        raise ConfigError(f"{shown}: no dataset there; make one with newsbeam run -d {shown}, or name one with -d")


@contextmanager
def locked(root: str, wait: bool, recovers: bool = True) -> Iterator[Storage]:
    """Holds the lock of a dataset.

    Args:
        root: The dataset.
        wait: Whether to wait for another holder to end.
        recovers: Whether interrupted runs are finished or undone first, as before any run.

    Raises:
        DatasetBusyError: If another process holds it.
        DatasetError: If it cannot be written to, or an interrupted run cannot be finished.
    """
    with acquire(root, wait=wait):
        storage = storage_of(root)
        if recovers:
            for run_id in recover(storage).finished:
                err(f"newsbeam: finished the interrupted run {run_id}")
        yield storage


@contextmanager
def readable(root: str, wait: bool) -> Iterator[Storage]:
    """Holds off writers of a dataset that is only read, as far as that can be done where nothing may be written.

    Raises:
        DatasetBusyError: If a process writes to it.
    """
    with acquire_to_read(root, wait=wait):
        yield storage_of(root)
