#!/usr/bin/env bash
# What CI does with runners besides the in-process one, and with readers that need Java: Prism and an embedded Flink
# must give the same rows, and Spark must read them.
# usage: deploy/ci_runners.sh get     fetches and builds what that needs; both halves side by side
#        deploy/ci_runners.sh test [PYTHON]
# A machine that lacks go, java, mvn or the right to make a network namespace leaves it out, and says so.
set -euo pipefail
cd "$(dirname "$0")/.."
python=${2:-python3}
for tool in go java mvn; do
  command -v "$tool" >/dev/null || { echo "left out: runners ($tool is not installed)"; exit 0; }
done
unshare --net true 2>/dev/null || { echo "left out: runners (no right to make a network namespace)"; exit 0; }
case ${1:-} in
  get)
    deploy/get_jars.sh flink & jars=$!
    deploy/prism/build.sh "$python"
    wait "$jars"
    ;;
  test)
    "$0" get "$python" >/dev/null
    deploy/loopback_only.sh "$python" -m pytest -q tests/runners/test_batch.py -k "prism or LOOPBACK"
    "$python" -m pip install --quiet --disable-pip-version-check -c constraints.txt -e '.[spark-test]'
    "$python" -m pytest -q tests/readers -k "spark or Spark"
    ;;
  *)
    sed -n 's/^# usage: /usage: /p' "$0" >&2
    exit 2
    ;;
esac
