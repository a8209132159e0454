#!/bin/sh
# Runs the slot tests in every shape this host can give them.
#
#     run.sh TEST_SLOT
#
# Root runs them as root, with less than the host has, as the root of a
# container without privileges, and as a user; others as themselves.

set -u

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT INT TERM
chmod 755 "$work"
cp "$1" "$work/test_slot"       # where every user may execute it
failed=0

shape()
{
    echo "# $*"
    "$@" || failed=1
}

shape "$work/test_slot"
shape "$work/test_slot" --no-cgroup
shape "$work/test_slot" --old-kernel
shape unshare -Urpfm --mount-proc "$work/test_slot" --no-cgroup

if [ "$(id -u)" -eq 0 ]; then
    shape "$work/test_slot" --no-userns
    shape setpriv --reuid=65534 --regid=65534 --clear-groups "$work/test_slot"
    shape setpriv --reuid=65534 --regid=65534 --clear-groups \
        unshare -Urpfm --mount-proc "$work/test_slot"
fi

exit $failed
