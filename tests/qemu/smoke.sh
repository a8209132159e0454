#!/bin/sh
# deer-flow itself on cgroup v2: layers, verdicts, and nothing left behind.
#
#     smoke.sh BUILD [CACHE]

set -eu

here=$(dirname "$0")
build=$(realpath "$1")

exec sh "$here/run.sh" ${2:+-c "$2"} -f "$build/deer-flow" \
    -f "$build/deer-flow-python" -f "$build/libsbx_preload.so" \
    -f /usr/bin/setpriv "
    flow=$build/deer-flow
    failed=0

    # NAME, EXIT CODE, TEXT that the output must hold, COMMAND
    want()
    {
        name=\$1 code=\$2 text=\$3
        shift 3
        output=\$(\"\$@\" 2>&1)
        got=\$?
        case \$output in
        *\"\$text\"*) [ \$got -eq \$code ] && echo \"ok - \$name\" && return ;;
        esac
        echo \"not ok - \$name (exit \$got)\"
        echo \"\$output\" | sed 's/^/# /'
        failed=1
    }

    cd /tmp
    echo 'print(6 * 7)' > hello.py
    echo 'x = b\"x\" * 10 ** 9' > large.py
    echo 'while True: pass' > endless.py

    scenes()
    {
        want \"\$1: hello\" 0 42 \$2 \$flow run hello.py
        want \"\$1: too large\" 128 memory_exceeded \
            \$2 \$flow run --json large.py
        want \"\$1: endless\" 143 timeout \
            \$2 \$flow run --json --timeout 500ms endless.py
    }

    want 'root: the cgroup layer' 0 'cgroup         ok' \$flow check
    scenes root ''
    [ -z \"\$(find /sys/fs/cgroup -name 'deer-flow-*')\" ]
    want 'root: no cgroup is left' 0 '' test \$? -eq 0

    nobody='/usr/bin/setpriv --reuid=65534 --regid=65534 --clear-groups'
    want 'nobody: checked' 0 'every required layer is in force' \
        \$nobody \$flow check
    scenes nobody \"\$nobody\"

    exit \$failed
"
