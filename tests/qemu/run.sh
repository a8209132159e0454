#!/bin/sh
# Runs a command as root in a virtual machine with cgroup v2, for what this
# host's kernel set-up cannot show.
#
#     run.sh [-c CACHE] [-m MIB] [-t SECONDS] [-f FILE]... [-d DIR]... COMMAND
#
# The machine consists of Debian's cloud kernel, busybox, Python and the named
# files and directories, at the same paths as here, with the libraries they
# need.  COMMAND is a line for busybox's sh.  Its output and its exit code are
# ours.  Anything missing is a failure, never a skip.
#
# No KVM is needed, and the host is not touched: the kernel package is
# downloaded and unpacked below CACHE (build/qemu), not installed.

set -eu

cache=build/qemu
memory=768
limit=300
files=
dirs=

die()
{
    echo "run.sh: $*" >&2
    exit 1
}

while getopts c:m:t:f:d: option; do
    case $option in
    c) cache=$OPTARG ;;
    m) memory=$OPTARG ;;
    t) limit=$OPTARG ;;
    f) files="$files $(realpath -s "$OPTARG")" ;;
    d) dirs="$dirs $(realpath -s "$OPTARG")" ;;
    *) exit 1 ;;
    esac
done
shift $((OPTIND - 1))

[ $# -eq 1 ] || die "exactly one COMMAND is needed"

for tool in apt-get apt-cache dpkg-deb cpio ldd qemu-system-x86_64 \
            /bin/busybox /usr/bin/python3; do
    command -v "$tool" >/dev/null || die "$tool is missing"
done

ldd /bin/busybox >/dev/null 2>&1 && die "/bin/busybox is not static" \
                                        "(package busybox-static)"

mkdir -p "$cache"
cache=$(realpath "$cache")
work=$(mktemp -d "$cache/run.XXXXXX")
chmod 755 "$work"               # apt downloads as a user of its own
trap 'rm -rf "$work"' EXIT INT TERM

# --- the kernel, once

if [ ! -s "$cache/vmlinuz" ]; then
    package=$(apt-cache depends linux-image-cloud-amd64 \
              | sed -n 's/^ *Depends: \(linux-image-.*-cloud-amd64\)$/\1/p')
    [ -n "$package" ] || die "linux-image-cloud-amd64 is not known to apt"
    (cd "$work" && apt-get download "$package" >&2) \
        || die "cannot download $package"
    dpkg-deb --fsys-tarfile "$work"/linux-image-*.deb \
        | tar -xf - -C "$work" --wildcards './boot/vmlinuz-*'
    mv "$work"/boot/vmlinuz-* "$cache/vmlinuz"
fi

# --- the initial file system

root=$work/root

# A file at its own path, links on the way kept, with the libraries it names.
place()
{
    case $1 in
    /bin/* | /sbin/* | /lib/* | /lib64/*) set -- "/usr$1" ;;
    esac

    [ -e "$1" ] || die "$1 is missing"
    [ -e "$root$1" ] && return 0
    mkdir -p "$root${1%/*}"

    if [ -L "$1" ]; then
        cp -d "$1" "$root$1"
        case $(readlink "$1") in
        /*) place "$(readlink "$1")" ;;
        *) place "$(realpath -s "${1%/*}/$(readlink "$1")")" ;;
        esac
        return 0
    fi

    cp "$1" "$root$1"
    place_libraries "$1"
}

place_libraries()
{
    for library in $(ldd "$1" 2>/dev/null | grep -o '/[^ )]*' || true); do
        place "$library"
    done
}

mkdir -p "$root/dev" "$root/proc" "$root/sys" "$root/tmp" "$root/new" \
         "$root/etc" "$root/root" "$root/usr/bin" "$root/usr/lib" \
         "$root/usr/lib64" "$root/usr/sbin" "$root/mnt"
chmod 1777 "$root/tmp"

for name in bin sbin lib lib64; do
    ln -s "usr/$name" "$root/$name"
done

echo 'root:x:0:0::/root:/bin/sh' > "$root/etc/passwd"
echo 'nobody:x:65534:65534::/:/bin/sh' >> "$root/etc/passwd"
printf 'root:x:0:\nnogroup:x:65534:\n' > "$root/etc/group"

place /usr/bin/python3
library=$(/usr/bin/python3 -c \
    'import sysconfig; print(sysconfig.get_path("stdlib"))')
mkdir -p "$root$library"
(cd "$library" && find . \( -name test -o -name idlelib \
    -o -name 'config-*' -o -name tkinter -o -name ensurepip \) -prune \
    -o -type f -print | cpio -pd "$root$library" 2>/dev/null)
for module in "$library"/lib-dynload/*.so; do
    place_libraries "$module"
done

for file in $files; do
    place "$file"
done

for dir in $dirs; do
    mkdir -p "$root$dir"
    cp -a "$dir/." "$root$dir"
    for file in $(find "$dir" -type f -perm -u+x); do
        place_libraries "$file"
    done
done

# busybox for what the real programs are not here for
cp /bin/busybox "$root/usr/bin/busybox"
for name in $(/bin/busybox --list); do
    [ -e "$root/usr/bin/$name" ] || [ -e "$root/usr/sbin/$name" ] \
        || ln -s busybox "$root/usr/bin/$name"
done

printf '%s\n' "$1" > "$root/command"

# pivot_root refuses to work on the initial file system itself, so that is
# mounted once more over itself first.
cat > "$root/init" <<'END'
#!/usr/bin/busybox sh
export PATH=/usr/sbin:/usr/bin HOME=/root LANG=C.UTF-8
mount --bind / /new
cd /new
mount --move . /
exec chroot . /main
END

cat > "$root/main" <<'END'
#!/usr/bin/busybox sh
mount -t devtmpfs dev /dev
mkdir -p /dev/shm /dev/pts
mount -t tmpfs -o mode=1777 shm /dev/shm
mount -t proc proc /proc
mount -t sysfs sys /sys
mount -t cgroup2 cgroup2 /sys/fs/cgroup
echo "BEGIN OF COMMAND"
sh /command < /dev/null 2>&1
echo "EXIT CODE $?"
poweroff -f
END

chmod 755 "$root/init" "$root/main"
(cd "$root" && find . | cpio -o -H newc 2>/dev/null) > "$work/initrd"

# --- the machine

timeout "$limit" qemu-system-x86_64 -accel tcg -cpu max -smp 1 -m "$memory" \
    -nodefaults -no-reboot -display none -serial "file:$work/serial" \
    -kernel "$cache/vmlinuz" -initrd "$work/initrd" \
    -append 'console=ttyS0 loglevel=1 panic=-1 random.trust_cpu=on' \
    < /dev/null || die "the machine did not end within $limit seconds:
$(tail -n 20 "$work/serial")"

tr -d '\r' < "$work/serial" \
    | sed -e '0,/^.*BEGIN OF COMMAND$/d' -e '/^EXIT CODE [0-9]*$/,$d'

code=$(tr -d '\r' < "$work/serial" | sed -n 's/^EXIT CODE \([0-9]*\)$/\1/p')

[ -n "$code" ] || die "the command did not end:
$(tail -n 20 "$work/serial")"

exit "$code"
