#!/bin/sh
# The slot tests on cgroup v2: as root, and as a user with a delegated subtree.
#
#     slot.sh TEST_SLOT [CACHE]

set -eu

here=$(dirname "$0")
program=$(realpath "$1")

exec sh "$here/run.sh" ${2:+-c "$2"} -f "$program" -f /usr/bin/setpriv \
    -f /usr/share/zoneinfo/UTC "
    set -e
    echo '# as root'
    $program --cgroup-v2
    $program --cgroup-v2 --no-userns

    echo '# as nobody, in a session below a delegated cgroup'
    cd /sys/fs/cgroup
    mkdir user user/session
    chown -R nobody user
    echo '+memory +pids' > cgroup.subtree_control
    echo '+memory +pids' > user/cgroup.subtree_control
    echo \$\$ > user/session/cgroup.procs
    /usr/bin/setpriv --reuid=65534 --regid=65534 --clear-groups \
        $program --cgroup-v2
"
