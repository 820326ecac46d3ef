"""``newsbeam dataset retag`` and ``replay``: thin, the work is done in ``pipeline.dataset``."""

from __future__ import annotations

import argparse
import json
from typing import Any

from pipeline.cli.output import out, plural
from pipeline.dataset.opening import check_root, dataset_root, locked
from pipeline.errors import ConfigError, ExitCode


def retag(args: argparse.Namespace) -> int:
    """Tags the stored articles with the topics as they are now.

    Raises:
        ConfigError: If there is no dataset or a flag is wrong.
        ProblemsError: With all mistakes of configuration and topics.
        RunError: If no text is stored, or the pipeline fails.
    """
    from pipeline.config.load import load_config, load_topics
    from pipeline.options import beam_arguments
    from transforms.maintain.contents import read_contents
    from transforms.maintain.retag import stems_to_retag

    flags = beam_arguments(args.runner, args.beam_flags)
    taxonomy = load_topics(args.config, vars(args))
    config = load_config(args.config, vars(args))
    root = dataset_root(args)
    if args.plan:
        return _plan_retag(root, taxonomy, args.json)
    with locked(root, args.wait) as storage:
        contents = read_contents(storage)
        stems = stems_to_retag(contents, taxonomy.sha256)
        facts: dict[str, Any] = {"taxonomy_sha256": taxonomy.sha256, "run_ids": [], "files": 0}
        if stems:
            from pipeline.dataset.retag import run_retag  # Beam: after the lock, which may be busy

            quiet = args.quiet or args.json
            done = run_retag(contents, stems, taxonomy, config, flags, show_progress=not quiet)
            facts |= {"run_ids": list(done.run_ids), **done.counts}
    if args.json:
        out(json.dumps(facts))
    elif not facts["files"]:
        out(f"every article is tagged with {taxonomy.id} {taxonomy.version} already")
    else:
        changed = f"the tags of {plural(facts['rows_changed'], 'article')} changed"
        files = f"{plural(facts['files'], 'file')} checked, {facts['files_changed']:,} written anew"
        out(f"{plural(facts['rows'], 'article')} tagged with {taxonomy.id} {taxonomy.version}: {changed}; {files}")
        if facts["files_without_text"]:
            left = plural(facts["files_without_text"], "file")
            out(f"{left} left as they were: they hold articles without their whole text (store_text)")
    return int(ExitCode.DONE)


def _plan_retag(root: str, taxonomy: Any, as_json: bool) -> int:
    from transforms.maintain.contents import read_contents
    from transforms.maintain.taxonomy import files_of_older_taxonomy

    contents = read_contents(root)
    found = list(files_of_older_taxonomy(contents, taxonomy.sha256))
    rows = sum(rows for _, rows in found)
    held = sum(file.rows for file in contents.files("articles"))
    if as_json:
        out(json.dumps({"articles": held, "older": rows, "files": len(found), "taxonomy_sha256": taxonomy.sha256}))
    else:
        out(f"{rows:,} of {plural(held, 'article')} carry another taxonomy than {taxonomy.id} {taxonomy.version}")
        out(f"{plural(len(found), 'file')} would be checked, and written anew where tags change")
        out("nothing was done; leave out --plan to do it")
    return int(ExitCode.DONE)


def replay(args: argparse.Namespace) -> int:
    """Takes refused items in once more.

    Raises:
        ConfigError: If there is no dataset, a name is wrong, or the contact is missing.
        ProblemsError: With all mistakes of configuration and topics.
    """
    from pipeline.config.load import load_setup
    from pipeline.dataset.replay import check_contact, run_replay
    from pipeline.options import beam_arguments
    from transforms.dedupe.state import latest_state, open_state
    from transforms.maintain.contents import read_contents
    from transforms.maintain.replay import Choice, check_choice, plan_replay

    names = check_choice(args.stage, args.reason)
    if names:
        what = f"--reason {args.reason}" if args.stage in (None, *_stages()) else f"--stage {args.stage}"
        raise ConfigError(f"{what}: there is none of this name; there are: {', '.join(names)}")
    choice = Choice(args.stage, args.reason, args.retryable or not (args.stage or args.reason))
    setup = load_setup(args.config, vars(args))
    root = setup.config.dataset
    check_root(root)
    manifests = []
    with locked(root, args.wait) as storage:
        found = plan_replay(read_contents(storage), open_state(latest_state(root)), choice)
        check_contact(setup, found)
        if found.replay.rows and not args.plan:
            quiet = args.quiet or args.json
            manifests = run_replay(setup, found, tuple(beam_arguments(None, [])), not quiet)
    names_of_items = manifests[0].items if manifests else ()
    items = {name: sum(manifest.items[name] for manifest in manifests) for name in names_of_items}
    if args.json:
        facts = {"replayed": found.replay.rows, "rows": found.rows, "left": found.left, "items": items}
        out(json.dumps(facts | {"run_ids": [manifest.run_id for manifest in manifests]}))
    else:
        _tell_replay(found, items, args.plan)
    return int(ExitCode.DONE)


def _stages() -> tuple[str, ...]:
    from transforms.rejects import STAGES

    return STAGES


def _tell_replay(found: Any, items: dict[str, int], is_plan: bool) -> None:
    pages, files = len(found.replay.entries), len(found.seed_paths) + len(found.url_paths)
    went = "would go in again" if is_plan else "went in again"
    out(f"{plural(found.replay.rows, 'reject')} {went}: {plural(pages, 'page')}, {plural(files, 'file')}")
    for reason, rows in found.rows.items():
        out(f"  {rows:,}  {reason}")
    for why, rows in found.left.items():
        out(f"  {rows:,}  left: {why}")
    if items:
        counted = ", ".join(f"{name} {count:,}" for name, count in items.items() if count and name != "in")
        out(f"in {items['in']:,}: {counted or 'nothing'} (refused again counts as known)")
    if is_plan:
        out("nothing was done; leave out --plan to do it")
