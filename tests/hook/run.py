#!/usr/bin/python3
"""The preload hook under real programs.  Prints TAP.

    run.py [--hook LIBRARY] [--work DIRECTORY] [--cost]

Builds the C programs beside this file into DIRECTORY, runs each as the hook's
guest under `driver`, and then Python and Node programs.  --cost measures
allocation-heavy programs with and without the hook, interleaved; it reports and
judges nothing.
"""

import argparse
import json
import os
import resource
import statistics
import subprocess
import sys
import time

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(os.path.dirname(HERE))
PYTHON = "/usr/bin/python3"
NODE = "/usr/bin/node"
ENV = {"PATH": "/usr/bin:/bin", "LANG": "C.UTF-8", "HOME": "/tmp"}
MIB = 1 << 20
MALLOC, MMAP, MPROTECT, SEGV, STACK, BUS = range(1, 7)
EXPORTS = """malloc calloc realloc reallocarray free memalign aligned_alloc
    posix_memalign valloc pvalloc mmap mmap64 munmap mremap mprotect madvise
    sigaction signal open open64 dup pipe2 socketpair""".split()

checks = failures = 0


def check(ok, name, *notes):
    global checks, failures
    checks += 1
    failures += not ok
    print(f"{'ok' if ok else 'not ok'} {checks} - {name}")
    for note in notes if not ok else ():
        print("#", str(note)[:600].replace("\n", "\n# "))
    sys.stdout.flush()


class Guest:
    """Runs programs under the driver."""

    def __init__(self, hook, work):
        self.hook, self.work = hook, work

    def build(self, name):
        out = os.path.join(self.work, name)
        subprocess.run([os.environ.get("CC", "gcc"), "-std=gnu11",
                        "-D_GNU_SOURCE", "-O2", "-fno-builtin",
                        "-Wall", "-Wextra", "-Werror",
                        "-I", os.path.join(ROOT, "sandbox"), "-pthread",
                        "-o", out, os.path.join(HERE, name + ".c")],
                       check=True)
        return out

    def run(self, argv, mode="count", limit=None, cap=None, page=True,
            nofile=1024):
        report = os.path.join(self.work, "report")
        command = [os.path.join(self.work, "driver"), "--mode", mode,
                   "--hook", self.hook, "--report", report]
        if limit is not None:
            command += ["--limit", str(limit)]
        if cap is not None:
            command += ["--alloc-limit", str(cap)]
        if not page:
            command += ["--no-page"]
        done = subprocess.run(command + ["--"] + argv, env=ENV, timeout=120,
                              stdin=subprocess.DEVNULL, capture_output=True,
                              cwd=self.work, text=True,
                              preexec_fn=lambda: resource.setrlimit(
                                  resource.RLIMIT_NOFILE, (nofile, nofile)))
        if done.returncode != 0:
            raise SystemExit("Bail out! driver: " + done.stderr)
        with open(report) as f:
            result = json.load(f)
        result["output"], result["errors"] = done.stdout, done.stderr
        return result


def sub_tap(guest, name, argv, **options):
    """A C program's own TAP lines become ours."""
    result = guest.run([os.path.join(guest.work, name)] + argv, **options)
    for line in result["output"].splitlines():
        ok, _, text = line.partition(" - ")
        if ok.startswith(("ok", "not ok")):
            check(ok.startswith("ok"), f"{name}: {text}", result["output"])
    check("1.." in result["output"] and result["exit"] == 0,
          f"{name} {' '.join(argv)}: ends well", result)


def c_programs(guest):
    sub_tap(guest, "family", [], limit=0)
    sub_tap(guest, "maps", [], limit=0)
    sub_tap(guest, "fork", ["count"], limit=0)
    sub_tap(guest, "fork", ["kill"], mode="kill", limit=64 * MIB)
    sub_tap(guest, "fault", ["see"])

    r = guest.run([os.path.join(guest.work, "fork"), "over"], mode="kill",
                  limit=64 * MIB)
    check(r["signal"] == 9 and r["event"] == MALLOC and r["sigusr1"] == 1,
          "a forked process over the limit ends the run", r)


FAULTS = [      # way, signal, event, a predicate on the report
    ("null", 11, SEGV, lambda r: r["fault_address"] == 16
     and r["fault_error"] & 2 and r["region_hi"] == 0),
    ("read", 11, SEGV, lambda r: r["region_hi"] == r["fault_address"]
     and r["region_hi"] - r["region_lo"] >= 4096
     and not r["fault_error"] & 2
     and int(r["output"], 16) + 4096 == r["fault_address"]),
    ("exec", 11, SEGV, lambda r: r["fault_error"] & 16
     and r["fault_ip"] == r["fault_address"]),
    ("stack", 11, STACK, lambda r: r["fault_address"] < r["region_lo"]
     <= r["fault_sp"] + (64 << 10)),
    ("above", 11, SEGV, lambda r: r["fault_address"] == r["region_hi"]),
    ("bus", 7, BUS, lambda r: r["fault_address"] != 0),
    ("raise", 11, 0, lambda r: True),
    ("sent", 11, 0, lambda r: True),
    ("default", 11, SEGV, lambda r: r["fault_address"] == 16),
    ("thread", 11, SEGV, lambda r: r["fault_address"] == 16),
]


def faults(guest):
    for way, signal, event, holds in FAULTS:
        r = guest.run([os.path.join(guest.work, "fault"), way])
        check(r["signal"] == signal and r["event"] == event and holds(r),
              f"fault: {way}", r)

    r = guest.run([PYTHON, "-c", "import ctypes\n"
                   "b = ctypes.create_string_buffer(1 << 20)\n"
                   "ctypes.memmove(ctypes.addressof(b), bytes(64 << 20),"
                   " 64 << 20)"])
    check(r["signal"] == 11 and r["event"] == SEGV and r["fault_error"] & 2
          and r["region_hi"] == r["fault_address"],
          "fault: ctypes.memmove beyond its block", r)

    r = guest.run([PYTHON, "-c", "import ctypes, faulthandler\n"
                   "faulthandler.enable()\nctypes.string_at(8)"])
    check(r["signal"] == 11 and "Segmentation fault" in r["errors"],
          "fault: faulthandler works as outside", r)

    r = guest.run([PYTHON, "-c", "import signal as s\n"
                   "print(s.getsignal(s.SIGSEGV) is s.SIG_DFL,"
                   " s.getsignal(s.SIGBUS) is s.SIG_DFL)"])
    check(r["output"] == "True True\n", "fault: Python sees SIG_DFL", r)

    r = guest.run([NODE, "-e", "process.kill(process.pid, 'SIGSEGV');"
                   "setTimeout(() => {}, 5000)"])
    check(r["signal"] == 11, "fault: Node ends by SIGSEGV", r)


BIG = 1 << 30
FILE = "big.bin"
KILLS = [       # name, interpreter, program, events it may be refused at
    ("ctypes malloc", PYTHON, "import ctypes\nl = ctypes.CDLL(None)\n"
     "l.malloc(ctypes.c_size_t(1 << 30))", (MALLOC,)),
    ("ctypes buffer", PYTHON, "import ctypes\n"
     "ctypes.create_string_buffer(1 << 30)", (MALLOC,)),
    ("array.array", PYTHON, "import array\narray.array('d', [0]) * (1 << 27)",
     (MALLOC,)),
    ("bytearray", PYTHON, "bytearray(1 << 30)", (MALLOC,)),
    ("list", PYTHON, "[0] * (1 << 27)", (MALLOC,)),
    ("bytes", PYTHON, "b'x' * 10**9", (MALLOC,)),
    ("big int", PYTHON, "1 << (8 << 30)", (MALLOC,)),
    ("list append", PYTHON, "a = []\nwhile 1: a.append(None)", (MALLOC,)),
    ("tuples", PYTHON, "a = []\nwhile 1: a.append((1, len(a)))",
     (MALLOC, MMAP)),
    ("dict", PYTHON, "d = {}\nwhile 1: d[len(d)] = 1", (MALLOC, MMAP)),
    ("str +=", PYTHON, "def f(s=''):\n while 1: s += 'x' * 10**6\nf()",
     (MALLOC,)),
    ("bytearray +=", PYTHON, "b = bytearray()\nwhile 1: b += bytes(100000)",
     (MALLOC,)),
    ("mmap shared", PYTHON, "import mmap\nmmap.mmap(-1, 1 << 30)", (MMAP,)),
    ("mmap private", PYTHON, "import mmap\nmmap.mmap(-1, 1 << 30,"
     " mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS)", (MMAP,)),
    ("mmap resize", PYTHON, "import mmap\nm = mmap.mmap(-1, 1 << 20,"
     " mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS)\nm.resize(1 << 30)", (MMAP,)),
    ("ctypes mprotect", PYTHON, "import ctypes\nl = ctypes.CDLL(None)\n"
     "l.mmap.restype = ctypes.c_void_p\nn = ctypes.c_size_t(1 << 30)\n"
     "p = l.mmap(None, n, 0, 34, -1, ctypes.c_long(0))\n"
     "l.mprotect(ctypes.c_void_p(p), n, 3)", (MPROTECT,)),
    ("threads", PYTHON, "import threading\nkeep = []\ndef grow():\n"
     " while 1: keep.append(bytearray(50000))\n"
     "t = [threading.Thread(target=grow) for _ in range(8)]\n"
     "[x.start() for x in t]; [x.join() for x in t]", (MALLOC, MMAP)),
    ("read of a file", PYTHON, f"open('{FILE}', 'rb').read()", (MALLOC,)),
    ("Buffer.alloc", NODE, "Buffer.alloc(2**30).fill(1)", (MALLOC,)),
    ("Buffer.allocUnsafe", NODE, "Buffer.allocUnsafe(2**30)", (MALLOC,)),
    ("Buffers", NODE, "const a = []; for (;;) a.push(Buffer.alloc(1e6))",
     (MALLOC,)),
    ("ArrayBuffer", NODE, "new ArrayBuffer(2**30)", (MALLOC,)),
    ("Float64Array", NODE, "new Float64Array(2**27)", (MALLOC,)),
    ("SharedArrayBuffer", NODE, "new SharedArrayBuffer(2**30)",
     (MALLOC, MMAP, MPROTECT)),
    ("new Array.fill", NODE, "new Array(20e6).fill(0)", (MMAP, MPROTECT)),
    ("objects", NODE, "const a = []; for (;;) a.push({ n: a.length })",
     (MALLOC, MMAP, MPROTECT)),
    ("string", NODE, "let s = 'x'; for (;;) { s += s; s.charCodeAt(0);"
     " Buffer.from(s) }", (MALLOC, MMAP, MPROTECT)),
    ("wasm grow", NODE, "const m = new WebAssembly.Memory({ initial: 1 });"
     " for (;;) m.grow(16)", (MMAP, MPROTECT)),
    ("readFileSync", NODE, f"require('fs').readFileSync('{FILE}')",
     (MALLOC,)),
    ("worker", NODE, "new (require('worker_threads').Worker)('const a = [];"
     " for (;;) a.push(Buffer.alloc(1e6))', { eval: true })",
     (MALLOC, MMAP, MPROTECT)),
]


def run_code(guest, interpreter, code, **options):
    return guest.run([interpreter, "-c" if interpreter == PYTHON else "-e",
                      code], **options)


def kills(guest):
    limit = 128 * MIB
    late = 16 * 65536       # what other threads have not posted yet
    for name, interpreter, code, events in KILLS:
        r = run_code(guest, interpreter, code, mode="kill", limit=limit)
        check(r["exit"] == 128 and r["event"] in events and r["sigusr1"] == 1
              and r["refusals"] >= 1 and r["requested"] > 0
              and r["live_at_event"] + r["requested"] > limit
              and 0 < r["peak"] <= limit + late and r["event_ns"] <= r["end_ns"],
              f"killed at the call: {os.path.basename(interpreter)} {name}", r)


PRINT_AFTER = "import os\nos.write(1, b'before')\ntry:\n {0}\nfinally:\n" \
              " os.write(1, b'after')"


def modes(guest):
    r = run_code(guest, PYTHON, PRINT_AFTER.format("b'x' * 10**9"),
                 mode="kill", limit=128 * MIB)
    check(r["output"] == "before", "kill: nothing runs after the call", r)

    r = run_code(guest, PYTHON, "try:\n x = bytearray(10**9)\n"
                 "except MemoryError:\n print('caught')",
                 mode="soft", limit=128 * MIB)
    check(r["output"] == "caught\n" and r["exit"] == 0
          and r["event"] == MALLOC and r["refusals"] == 1
          and r["sigusr1"] == 0 and r["requested"] > 10**9,
          "soft: Python catches MemoryError", r)

    r = run_code(guest, PYTHON, "import mmap\ntry:\n mmap.mmap(-1, 10**9)\n"
                 "except OSError as e:\n print(e.errno)",
                 mode="soft", limit=128 * MIB)
    check(r["output"] == "12\n" and r["event"] == MMAP,
          "soft: mmap fails with ENOMEM", r)

    r = run_code(guest, NODE, "try { new ArrayBuffer(1e9) }"
                 " catch (e) { console.log(e.name) }",
                 mode="soft", limit=128 * MIB)
    check(r["output"] == "RangeError\n" and r["exit"] == 0 and r["event"] != 0,
          "soft: Node throws RangeError", r)

    for interpreter, code in ((PYTHON, "bytearray(60 << 20)"),
                              (NODE, "Buffer.alloc(60 * 2**20)")):
        r = run_code(guest, interpreter, code, mode="kill", cap=50 * MIB)
        check(r["exit"] == 128 and r["requested"] >= 60 * MIB,
              f"cap of one allocation: {code}", r)

    for name, grow in (
            ("realloc", "libc = ctypes.CDLL(None)\n"
             "libc.realloc.restype = ctypes.c_void_p\n"
             "libc.realloc.argtypes = ctypes.c_void_p, ctypes.c_size_t\n"
             "p = None\n"
             "for kib in range(64, 1 << 16, 8): p = libc.realloc(p, kib << 10)"),
            ("mremap", "m = mmap.mmap(-1, 1 << 20)\n"
             "for mib in range(2, 64): m.resize(mib << 20)")):
        r = run_code(guest, PYTHON, f"import ctypes, mmap\n{grow}",
                     mode="kill", cap=50 * MIB)
        check(r["exit"] == 128
              and 50 * MIB < r["requested"] <= 51 * MIB,
              f"cap of one allocation that grows by {name}", r)

    r = run_code(guest, PYTHON, "import ctypes\n"
                 "libc = ctypes.CDLL(None)\n"
                 "libc.realloc.restype = ctypes.c_void_p\n"
                 "libc.realloc.argtypes = ctypes.c_void_p, ctypes.c_size_t\n"
                 "p = libc.realloc(None, 40 << 20)\n"
                 "p = libc.realloc(p, 30 << 20)\n"
                 "p = libc.realloc(p, 49 << 20)\n"
                 "b = [bytearray(40 << 20) for _ in range(3)]",
                 mode="kill", cap=50 * MIB)
    check(r["exit"] == 0 and r["event"] == 0
          and 49 * MIB <= r["largest"] < 50 * MIB,
          "blocks below the cap pass, and the largest is told", r)

    r = run_code(guest, PYTHON, "for _ in range(60): bytearray(20 << 20)",
                 mode="kill", limit=32 * MIB)
    check(r["exit"] == 0 and r["event"] == 0,
          "1.2 GB allocated and freed in 20 MiB pieces pass", r)

    r = run_code(guest, PYTHON, "b'x' * 10**8", limit=1)
    check(r["exit"] == 0 and r["event"] == 0 and r["peak"] > 10**8,
          "count mode refuses nothing", r)

    r = run_code(guest, PYTHON, "import sys\nb'x' * 10**8\nprint(1)",
                 page=False)
    check(r["output"] == "1\n" and r["loaded"] == 0,
          "without a page: silent", r)

    base = run_code(guest, NODE, "")["peak"]
    r = run_code(guest, NODE, "const a = []; for (let i = 1; ; i++) {"
                 " require('fs').writeSync(1, '.');"
                 " a.push(new ArrayBuffer(2**20)) }",
                 mode="kill", limit=base + 256 * MIB)
    check(r["exit"] == 128 and 245 <= len(r["output"]) <= 257,
          "1 MiB ArrayBuffers with 256 MiB stop at about the 257th",
          len(r["output"]), r)

    r = run_code(guest, PYTHON, "import mmap, os\n"
                 f"f = open('{FILE}', 'rb')\n"
                 "m = mmap.mmap(f.fileno(), 0, access=mmap.ACCESS_READ)\n"
                 "print(sum(m[i] for i in range(0, len(m), 4096)))",
                 mode="kill", limit=64 * MIB)
    check(r["output"] == "0\n" and r["exit"] == 0,
          "a large file that is only read is not memory", r)


FILES = [       # a loop that ends by EMFILE
    ("Python open", PYTHON, "open('/dev/null')"),
    ("Python os.pipe", PYTHON, "os.pipe()"),
    ("Python socketpair", PYTHON, "socket.socketpair()"),
    ("Node openSync", NODE, "for (;;) require('fs').openSync('/dev/null')"),
]


def files(guest):
    for name, interpreter, code in FILES:
        if interpreter == PYTHON:
            code = f"import os, socket\na = []\nwhile 1: a.append({code})"
        r = run_code(guest, interpreter, code, nofile=64)
        check(r["exit"] == 1 and r["files_refused"] >= 1,
              f"too many open files: {name}", r)

    r = run_code(guest, PYTHON, "import resource as r\n"
                 "r.setrlimit(r.RLIMIT_NOFILE, (32, 32))\n"
                 "a = [open('/dev/null') for _ in range(40)]", nofile=64)
    check(r["exit"] == 1 and r["files_refused"] == 0,
          "a limit of the program's own is not the run's", r)

    r = run_code(guest, PYTHON, "a = [open('/dev/null') for _ in range(40)]\n"
                 "print(max(f.fileno() for f in a)); del a\n"
                 "b = [open('/dev/null') for _ in range(20)]")
    check(r["files_peak"] == int(r["output"]) + 1,
          "the highest descriptor is told", r)

    r = run_code(guest, PYTHON, "import threading\n"
                 "all_here = threading.Barrier(13)\n"
                 "def f(): x = bytearray(100); all_here.wait()\n"
                 "for _ in range(2):\n"
                 "    t = [threading.Thread(target=f) for _ in range(12)]\n"
                 "    [x.start() for x in t]; all_here.wait()\n"
                 "    [x.join() for x in t]")
    check(r["exit"] == 0 and 12 <= r["threads_peak"] <= 24
          and r["threads"] <= 12,
          "threads that allocate are counted while they live", r)

    r = run_code(guest, PYTHON, "import os, tempfile, stat\n"
                 "fd = os.open('made', os.O_CREAT | os.O_WRONLY, 0o640)\n"
                 "print(oct(os.fstat(fd).st_mode & 0o777))\n"
                 "os.unlink('made')\n"
                 "try: open('/nowhere')\n"
                 "except FileNotFoundError: print('not there')")
    check(r["output"] == "0o640\nnot there\n" and r["files_refused"] == 0,
          "other calls pass unchanged", r)


FIND_PAGE = "import ctypes, re\n" \
            "at = next(int(l.split('-')[0], 16) for l in" \
            " open('/proc/self/maps') if 'sbx-page' in l)\n"


def hostile(guest):
    for name, code in (
            ("zeros", "ctypes.memset(at, 0, 4096)"),
            ("ones", "ctypes.memset(at, 255, 4096)"),
            ("random", "ctypes.memmove(at, os.urandom(4096), 4096)"),
            ("a deep live", "ctypes.c_int64.from_address(at + 80).value ="
             " -2**62")):
        r = run_code(guest, PYTHON, f"import os\n{FIND_PAGE}{code}\n"
                     "x = bytearray(70000)\ndel x\n"
                     "y = [bytearray(1000) for _ in range(3000)]\n"
                     "os.write(1, b'still here')\nos._exit(0)",
                     mode="kill", limit=128 * MIB)
        check(r["exit"] in (0, 1, 128) and r["signal"] in (0, 9),
              f"page scribbled with {name}: contained", r)

    r = run_code(guest, PYTHON, "import ctypes\n"
                 "inner = ctypes.CDLL('libc.so.6').__getattr__\n"
                 "c = ctypes.CDLL(None)\nlibc = ctypes.CDLL('libc.so.6')\n"
                 "libc.malloc.restype = ctypes.c_void_p\n"
                 "for _ in range(300):\n"
                 " p = libc.malloc(ctypes.c_size_t(10 << 20))\n"
                 " c.free(ctypes.c_void_p(p))\n"
                 "bytearray(300 << 20)", mode="kill", limit=128 * MIB)
    check(r["exit"] == 128 and r["live"] > -4 * MIB,
          "freeing what others allocated buys no room", r)

    r = run_code(guest, PYTHON, "import os\nprint(sorted(os.environ),"
                 " b'sbx' in open('/proc/self/environ', 'rb').read())\n"
                 "os.system('/usr/bin/env')")
    check("SBX" not in r["output"] and "LD_PRELOAD" not in r["output"]
          and "False" in r["output"], "the environment shows nothing", r)

    r = run_code(guest, PYTHON, "import multiprocessing as m\n"
                 "def f(n): return len(bytearray(n))\n"
                 "for _ in range(3):\n"
                 " with m.Pool(4) as p: print(sum(p.map(f, [10**7] * 8)))",
                 mode="kill", limit=128 * MIB)
    check(r["output"] == "80000000\n" * 3 and r["exit"] == 0,
          "pools of processes, one after the other", r)


def library(guest):
    out = subprocess.run(["nm", "-D", "--defined-only", guest.hook],
                         capture_output=True, text=True, check=True).stdout
    names = sorted(line.split()[-1] for line in out.splitlines())
    check(names == sorted(EXPORTS), "exports what it interposes", names)

    out = subprocess.run(["readelf", "-d", guest.hook], capture_output=True,
                         text=True, check=True).stdout
    needed = [l for l in out.splitlines() if "NEEDED" in l]
    check(len(needed) == 1 and "libc.so.6" in needed[0], "needs only libc",
          out)
    check("STATIC_TLS" in out, "its thread variables are static TLS", out)

    out = subprocess.run(["ldd", guest.hook], capture_output=True, text=True,
                         check=True).stdout
    check("not found" not in out, "ldd misses nothing", out)


PY_LOAD = """
import time
def work():
    for _ in range(5):
        a = [(i, str(i), [i]) for i in range(60000)]
        d = {k: v for k, _, v in a}
        s = b''.join(bytes(200) for _ in range(5000))
        c = [bytearray(3000) for _ in range(3000)]
        del a, d, s, c
work(); t = time.process_time(); work(); print(time.process_time() - t)
"""
JS_LOAD = """
function work() {
  for (let r = 0; r < 5; r++) {
    const a = [];
    for (let i = 0; i < 120000; i++) a.push({ i, s: 'x' + i, y: [i] });
    const b = [];
    for (let i = 0; i < 3000; i++) b.push(Buffer.alloc(5000));
  }
}
work(); const t = process.cpuUsage(); work();
const u = process.cpuUsage(t); console.log((u.user + u.system) / 1e6);
"""
C_LOAD = """
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
int main(void)
{
    uint32_t s = 1; static char *p[64];
    clock_t start = clock();
    for (long i = 0; i < 10000000; i++) {
        s = s * 1664525u + 1013904223u;
        free(p[s >> 26]);
        p[s >> 26] = malloc(16 + ((s >> 8) & 1008));
        *p[s >> 26] = 1;
    }
    printf("%f\\n", (double) (clock() - start) / CLOCKS_PER_SEC);
    return 0;
}
"""


def cost(guest, rounds=11):
    load = compile_text(guest, "load", C_LOAD)
    loads = (("python", [PYTHON, "-S", "-c", PY_LOAD], {}),
             ("python, PYTHONMALLOC=malloc", [PYTHON, "-S", "-c", PY_LOAD],
              {"PYTHONMALLOC": "malloc"}),
             ("node", [NODE, "-e", JS_LOAD], {}),
             ("C malloc and free, 10 M pairs", [load], {}))
    for name, argv, more in loads:
        times = {False: [], True: []}
        for i in range(rounds):
            # what comes second may find caches warm
            for hooked in (False, True) if i % 2 else (True, False):
                env = dict(ENV, **more)
                if hooked:
                    env["LD_PRELOAD"] = guest.hook
                out = subprocess.run(argv, env=env, capture_output=True,
                                     text=True, check=True).stdout
                times[hooked].append(float(out))
        pairs = sorted(h / n for n, h in zip(times[False], times[True]))
        print(f"# CPU {name}: {statistics.median(times[False]):.3f} s, with"
              f" hook {statistics.median(times[True]):.3f} s; ratio of pairs"
              f" median {statistics.median(pairs):.3f}"
              f" ({pairs[1]:.3f} to {pairs[-2]:.3f}), best against best"
              f" {min(times[True]) / min(times[False]):.3f}")
        sys.stdout.flush()


C_FAULT = """
#include <stdio.h>
#include <time.h>
int main(void)
{
    struct timespec t[2];
    for (int i = 0; i < 2; i++) {
        clock_gettime(CLOCK_MONOTONIC, &t[i]);
        dprintf(1, "%ld\\n", t[i].tv_sec * 1000000000 + t[i].tv_nsec);
    }
    return *(volatile int *) 16;
}
"""


def compile_text(guest, name, text):
    path = os.path.join(guest.work, name)
    with open(path + ".c", "w") as f:
        f.write(text)
    subprocess.run(["gcc", "-O2", "-o", path, path + ".c"], check=True)
    return path


def fault_cost(guest, rounds=41):
    """From before a fault to its record on the page; a write lies between."""
    path = compile_text(guest, "wild", C_FAULT)
    spent = []
    for _ in range(rounds):
        r = guest.run([path])
        spent.append((r["event_ns"] - int(r["output"].split()[-1])) / 1000)
    print(f"# fault to record: median {statistics.median(spent):.0f} us,"
          f" least {min(spent):.0f} us")


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--hook", default=os.path.join(
        ROOT, "build", "libsbx_preload.so"))
    parser.add_argument("--work", default=os.path.join(
        ROOT, "build", "tests", "hook"))
    parser.add_argument("--cost", action="store_true")
    options = parser.parse_args()

    os.makedirs(options.work, exist_ok=True)
    guest = Guest(os.path.abspath(options.hook),
                  os.path.abspath(options.work))
    if options.cost:
        guest.build("driver")
        fault_cost(guest)
        return cost(guest)

    for name in ("driver", "family", "maps", "fork", "fault"):
        guest.build(name)
    with open(os.path.join(guest.work, FILE), "wb") as f:
        f.truncate(200 * MIB)

    started = time.monotonic()
    for part in (library, c_programs, faults, kills, modes, files,
                 hostile):
        part(guest)
    print(f"1..{checks}")
    print(f"# {failures} failed, {time.monotonic() - started:.1f} s")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
