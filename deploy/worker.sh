#!/usr/bin/env bash
# Starts a Python worker for the runners' PROCESS environment: Beam's boot program with the Python that newsbeam
# is installed in. Named to a runner as --environment_config='{"command": "/path/to/deploy/worker.sh"}'.
# NEWSBEAM_PYTHON: that Python (default: .venv/bin/python beside this folder)
# NEWSBEAM_WORKERS: a folder; the process id of each worker's boot program is left there as a file
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
python=${NEWSBEAM_PYTHON:-$here/../.venv/bin/python}
boot=$("$here/prism/build.sh" "$python")/boot
# Without these boot makes a venv of its own, in which Beam is not installed.
PATH=$(dirname "$python"):$PATH
export PATH RUN_PYTHON_SDK_IN_DEFAULT_ENVIRONMENT=1 PYTHONPATH="$(dirname "$here")${PYTHONPATH:+:$PYTHONPATH}"
folder=$(mktemp -d "${TMPDIR:-/tmp}/newsbeam-worker.XXXXXX")  # the default is shared by all workers of a machine
if [ -n "${NEWSBEAM_WORKERS:-}" ]; then
  mkdir -p "$NEWSBEAM_WORKERS"
  touch "$NEWSBEAM_WORKERS/$$"
  exec "$boot" --semi_persist_dir="$folder" "$@" >>"$NEWSBEAM_WORKERS/log" 2>&1
fi
exec "$boot" --semi_persist_dir="$folder" "$@"
