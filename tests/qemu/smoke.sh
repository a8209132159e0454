#!/bin/sh
# deer-flow itself on cgroup v2: layers, verdicts, and nothing left behind.
#
#     smoke.sh BUILD [CACHE]
#
# Without the Python zygote: an emulated machine on a busy host takes longer to
# warm it up than the supervisor waits, and what is tested here is the kernel's
# side, which the exec path shows as well.

set -eu

here=$(dirname "$0")
build=$(realpath "$1")

exec sh "$here/run.sh" ${2:+-c "$2"} -f "$build/deer-flow" \
    -f "$build/libsbx_preload.so" -f /usr/bin/setpriv "
    flow=$build/deer-flow
$(cat <<'END'
    nobody='/usr/bin/setpriv --reuid=65534 --regid=65534 --clear-groups'
    failed=0

    # NAME, EXIT CODE, TEXT that the output must hold, COMMAND
    want()
    {
        name=$1 code=$2 text=$3
        shift 3
        output=$("$@" 2>&1)
        got=$?
        case $output in
        *"$text"*) [ $got -eq $code ] && echo "ok - $name" && return ;;
        esac
        echo "not ok - $name (exit $got)"
        echo "$output" | sed 's/^/# /'
        failed=1
    }

    cd /tmp
    echo 'print(6 * 7)' > hello.py
    echo 'x = b"x" * 10 ** 9' > large.py
    echo 'while True: pass' > endless.py
    cat > files.py <<'FILES'
for n in range(8):
    with open("/tmp/%d" % n, "wb") as f:
        for i in range(480):
            f.write(b"x" * 65536)
FILES

    # WHO, COMMAND PREFIX
    scenes()
    {
        want "$1: hello" 0 42 $2 $flow run --timeout 60s hello.py
        want "$1: too large" 128 '"reason":"hook"' \
            $2 $flow run --json --timeout 60s large.py
        want "$1: endless" 143 '"reason":"wall"' \
            $2 $flow run --json --timeout 500ms endless.py
    }

    want 'root: cgroup' 0 'cgroup        ok' $flow explain hello.py
    scenes root ''
    want 'root: files are memory' 128 '"reason":"cgroup"' \
        $flow run --json --timeout 60s --memory 32m --disk 256m files.py
    want 'root: OOM kills are counted' 0 \
        'OK       6 check_oom: 0 OOM kills by the cgroup' \
        sh -c "$flow check 2>&1 | grep python"
    want 'root: no cgroup is left' 0 '' \
        test -z "$(find /sys/fs/cgroup -name 'deer-flow-*')"

    want 'nobody: no cgroup' 0 'cgroup        missing' \
        $nobody $flow explain hello.py
    want 'nobody: pid' 0 'pid           ok' $nobody $flow explain hello.py
    scenes nobody "$nobody"

    exit $failed
END
)"
