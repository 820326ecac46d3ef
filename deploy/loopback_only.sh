#!/usr/bin/env bash
# Runs a command in a network namespace that has only the loopback interface (root is needed): runners listen on
# all interfaces whatever they are told, and nothing but this machine can be asked.
# usage: deploy/loopback_only.sh COMMAND...
exec unshare --net bash -c 'ip link set lo up && exec "$@"' loopback_only "$@"
