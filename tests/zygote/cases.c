/*
 * cases.c: one program per row, as a child of the exec zygote runs it.
 *
 * Each row is one promise: what works as outside, what is refused and named,
 * what ends the run.  Numbers of system calls are x86-64's.
 */

#include "cases.h"

#include <errno.h>
#include <stddef.h>

/* A raw system call from Python, with errno in its exit code. */
#define PY_CALL                                                                \
    "import ctypes, os, sys\n"                                                 \
    "libc = ctypes.CDLL(None, use_errno=True)\n"                               \
    "def call(*a):\n"                                                          \
    "    r = libc.syscall(*[ctypes.c_long(x) for x in a])\n"                   \
    "    return ctypes.get_errno() if r == -1 else 0\n"

static const char *const node[] = { "/usr/bin/node", NULL };
static const char *const grep[] = { "grep", "-h", "^Sig[BI]", NULL };
static const char *const nowhere[] = { "no-such-command", NULL };
static const char *const two_args[] = { "a b", "", NULL };
static const char *const job_env[] = { "HOME=/x", "X=1", "X=2", NULL };
static const char *const proc_status[] = { "/proc/self/status", NULL };


const case_t cases[] = {
    { "hello python", { .code = "print(1+1)\n" }, 0, "2\n", "", NULL },
    { "hello node", { .cmd = node, .name = "main.js",
      .code = "console.log(1+1)\n" }, 0, "2\n", "", NULL },
    { "exit code", { .code = "raise SystemExit(7)\n" }, EXIT(7), "", "", NULL },
    { "its own SIGTERM", { .code = "import os\nos.kill(os.getpid(), 15)\n" },
      SIGTERM, "", "", NULL },
    { "abort is SIGABRT", { .code = "import os\nos.abort()\n" }, SIGABRT, "",
      "", NULL },
    { "traceback names the file", { .code = "1/0\n" }, EXIT(1), "",
      "File \"/tmp/run/main.py\", line 1, in <module>", NULL },
    { "stdin and arguments", { .code = "import sys\n"
      "print(sys.argv[1:], input())\n", .args = two_args, .input = "in\n" },
      0, "['a b', ''] in\n", "", NULL },
    { "exactly descriptors 0, 1, 2", { .code = "import os\nn = []\n"
      "for fd in range(4096):\n    try: os.fstat(fd); n.append(fd)\n"
      "    except OSError: pass\nprint(n)\n" }, 0, "[0, 1, 2]\n", "", NULL },
    { "no rights", { .code = "for l in open('/proc/self/status'):\n"
      "    if l[:4] in ('NoNe', 'Secc', 'CapE', 'CapP', 'CapB', 'CapI', 'CapA')"
      " and 'filters' not in l: print(l.split()[1], end=' ')\n" }, 0,
      "0000000000000000 0000000000000000 0000000000000000 0000000000000000 "
      "0000000000000000 1 2 ", "", NULL },
    { "ids, pid, session, directory", { .code = "import os\n"
      "print(os.getresuid(), os.getresgid(), os.getpid() > 1,"
      " os.getsid(0) == os.getpid(), os.getcwd(), os.umask(0))\n" }, 0,
      "(1000, 1000, 1000) (1000, 1000, 1000) True True /tmp/run 18\n", "",
      NULL },
    { "environment from scratch", { .code = "import os\n"
      "print(sorted(os.environ.items()))\n", .env = job_env }, 0,
      "[('HOME', '/x'), ('LANG', 'C.UTF-8'), ('MKL_NUM_THREADS', '1'), "
      "('NUMEXPR_NUM_THREADS', '1'), ('OMP_NUM_THREADS', '1'), "
      "('OPENBLAS_NUM_THREADS', '1'), ('PATH', '/usr/local/bin:/usr/bin:/bin'),"
      " ('X', '2')]\n", "", NULL },
    { "default signals, found by PATH", { .cmd = grep, .name = "x",
      .code = "", .args = proc_status }, 0, "SigBlk:\t0000000000000000\n"
      "SigIgn:\t0000000000000000\n", "", NULL },
    { "no core, own limits only downwards", { .code =
      "import resource as r\nprint(r.getrlimit(r.RLIMIT_CORE))\n"
      "r.setrlimit(r.RLIMIT_NOFILE, (32, 32))\n"
      "try: r.setrlimit(r.RLIMIT_NOFILE, (64, 64))\n"
      "except ValueError as e: print(e)\n" }, 0, "(0, 0)\n"
      "not allowed to raise maximum limit\n", "", NULL },

    { "files and their directories", { .code =
      "print(open('a/b/c.txt').read()); import os; print(os.listdir())\n",
      .file_path = "a/b/c.txt", .file_data = "data", .file_len = 4 }, 0,
      NULL, "", NULL },
    { "two files of one name", { .code = "", .file_path = "main.py",
      .file_data = "", .file_len = 0 }, EXIT(125), "", "", NULL },
    { "write below /tmp, rename across directories", { .code = "import os\n"
      "open('/tmp/x', 'w').write('y'); os.mkdir('/tmp/d')\n"
      "os.rename('/tmp/x', '/tmp/d/x'); os.truncate('/tmp/d/x', 0)\n"
      "open('/dev/shm/x', 'w'); open('/dev/null', 'w').write('z')\n"
      "os.mkfifo('/tmp/fifo'); os.symlink('a', '/tmp/l')\n"
      "print(os.listdir('/tmp/d'))\n" }, 0, "['x']\n", "", NULL },
    { "devices and writing elsewhere", { .code = "import os, stat\n"
      "for f in (lambda: os.mknod('/tmp/n', stat.S_IFCHR | 0o666, 259),\n"
      "          lambda: open('/var/tmp/x', 'w'),\n"
      "          lambda: os.chroot('/tmp') if 0 else open('/etc/x', 'w')):\n"
      "    try: f(); print('done')\n"
      "    except PermissionError as e: print(e.errno)\n" }, 0, NULL, "",
      NULL },
    { "no execution below /tmp", { .code = "import os, shutil\n"
      "shutil.copy('/usr/bin/true', '/tmp/t')\nos.chmod('/tmp/t', 0o755)\n"
      "os.execv('/tmp/t', ['t'])\n" }, EXIT(1), "", "PermissionError", NULL },

    { "socket is refused and named", { .code = "import socket\n"
      "socket.socket()\n" }, EXIT(1), "", "PermissionError: [Errno 1]",
      "socket" },
    { "socketpair works", { .code = "import socket\n"
      "a, b = socket.socketpair()\na.send(b'x'); print(b.recv(1))\n" }, 0,
      "b'x'\n", "", NULL },
    { "asyncio works", { .code = "import asyncio\n"
      "async def f(): await asyncio.sleep(0.01); print('ok')\n"
      "asyncio.run(f())\n" }, 0, "ok\n", "", NULL },
    { "reboot: not permitted", { .code = PY_CALL
      "sys.exit(call(169, 0xfee1dead, 0x28121969, 0, 0))\n" }, EXIT(EPERM),
      "", "", "reboot" },
    { "inotify_init1 kills, named", { .code = PY_CALL "call(294, 0)\n" },
      KILLED, "", "", "inotify_init1" },
    { "fs.watch kills, named", { .cmd = node, .name = "main.js", .code =
      "require('fs').watch('/tmp', () => 0)\n" }, KILLED, "", "",
      "inotify_init1" },
    { "memfd_create is refused", { .code = "import os\n"
      "os.memfd_create('x')\n" }, EXIT(1), "", "PermissionError",
      "memfd_create" },
    { "unshare kills, named", { .code = PY_CALL "call(272, 0x10000000)\n" },
      KILLED, "", "", "unshare" },
    { "ptrace kills, named", { .code = PY_CALL "call(101, 0, 0, 0, 0)\n" },
      KILLED, "", "", "ptrace" },
    { "setns kills, named", { .code = PY_CALL "call(308, 0, 0)\n" }, KILLED,
      "", "", "setns" },
    { "setns the zygote's way kills", { .code = PY_CALL
      "call(308, 0, 0x20000000)\n" }, SYS_KILLED, "", "", NULL },
    { "clone of a namespace kills, named", { .code = PY_CALL
      "call(56, 0x10000011, 0, 0, 0, 0)\n" }, KILLED, "", "", "clone" },
    { "clone of a brother kills, named", { .code = PY_CALL
      "call(56, 0x8011, 0, 0, 0, 0)\n", .flags = SBX_FORK_FORKING },
      KILLED, "", "", "clone" },
    { "TIOCSTI kills, named", { .code = PY_CALL "call(16, 0, 0x5412, 0)\n" },
      KILLED, "", "", "ioctl" },
    { "x32 kills", { .code = PY_CALL "call(0x40000027)\n" }, SYS_KILLED, "",
      "", NULL },
    { "int 0x80 kills", { .code = "import ctypes, mmap\n"
      "m = mmap.mmap(-1, 4096, prot=7)\n"
      "m.write(b'\\xb8\\x14\\0\\0\\0\\xcd\\x80\\xc3')\n"
      "ctypes.CFUNCTYPE(ctypes.c_int)(ctypes.addressof("
      "ctypes.c_char.from_buffer(m)))()\n" }, SYS_OR_SEGV, "", "", NULL },
    { "quietly absent calls", { .code = PY_CALL
      "print(call(435, 0, 0), call(425, 1, 0), call(334000), call(317, 5),"
      " call(157, 35, 0, 0), call(444, 0, 0, 1))\n" }, 0,
      "38 38 38 1 38 38\n", "", NULL },
    { "other processes' limits", { .code = "import resource as r\n"
      "r.prlimit(0, r.RLIMIT_NOFILE)\nr.prlimit(1, r.RLIMIT_CPU, (1, 1))\n" },
      EXIT(1), "", "PermissionError", "prlimit64" },
    { "personality query", { .code = PY_CALL
      "print(call(135, 0xffffffff), call(135, 0x40000))\n" }, 0, "0 1\n", "",
      "personality" },

    { "fork is refused as a process limit", { .code = "import os\n"
      "try: os.fork()\nexcept BlockingIOError as e: print(e.errno)\n" }, 0,
      "11\n", "", "clone" },
    { "subprocess is refused", { .code = "import subprocess\n"
      "subprocess.run(['/usr/bin/true'])\n" }, EXIT(1), "",
      "Resource temporarily unavailable", "" },
    { "fork works in a forking run", { .code = "import os\n"
      "p = os.fork()\nif p == 0: os._exit(3)\n"
      "print(os.WEXITSTATUS(os.waitpid(p, 0)[1]))\n",
      .flags = SBX_FORK_FORKING }, 0, "3\n", "", "clone" },
    { "subprocess in a forking run", { .code = "import subprocess\n"
      "print(subprocess.run(['echo', 'hi'], capture_output=True).stdout)\n",
      .flags = SBX_FORK_FORKING }, 0, "b'hi\\n'\n", "", "" },
    { "Node's child_process in a forking run", { .cmd = node,
      .name = "main.js", .code =
      "console.log(require('child_process').execFileSync('/usr/bin/echo',"
      " ['hi']).toString())\n", .flags = SBX_FORK_FORKING }, 0,
      "hi\n\n", "", "" },
    { "multiprocessing in a forking run", { .code =
      "import multiprocessing as m\ndef f(x): return x * x\n"
      "if __name__ == '__main__':\n"
      "    with m.get_context('fork').Pool(2) as p: print(p.map(f, [1, 2, 3]))"
      "\n", .flags = SBX_FORK_FORKING }, 0, "[1, 4, 9]\n", "", "" },
    { "threads work", { .code = "import threading as t\nn = []\n"
      "ts = [t.Thread(target=n.append, args=(i,)) for i in range(8)]\n"
      "[x.start() for x in ts]; [x.join() for x in ts]; print(sorted(n))\n" },
      0, "[0, 1, 2, 3, 4, 5, 6, 7]\n", "", NULL },
    { "Node's workers work", { .cmd = node, .name = "main.js", .code =
      "const { Worker } = require('worker_threads');\n"
      "new Worker('require(\"worker_threads\").parentPort.postMessage(5)',"
      " { eval: true }).on('message', m => console.log(m))\n" }, 0, "5\n", "",
      NULL },
    { "Node reads, writes, compresses", { .cmd = node, .name = "main.mjs",
      .code = "import fs from 'fs'; import zlib from 'zlib';\n"
      "import { setTimeout } from 'timers/promises';\n"
      "fs.writeFileSync('a', 'b'); fs.copyFileSync('a', 'c');\n"
      "await setTimeout(5);\n"
      "console.log((await fs.promises.readFile('c')).toString(),"
      " zlib.gunzipSync(zlib.gzipSync('z')).toString(),"
      " (await import('crypto')).createHash('md5').update('x').digest('hex')"
      ".length)\n" }, 0, "b z 32\n", "", NULL },

    /* the C handler writes the signal's number, SIGUSR1's is a line feed */
    { "no handler while its end is held up", { .code = "import os, signal\n"
      "os.set_blocking(1, False)\n"
      "signal.signal(signal.SIGUSR1, lambda *_: None)\n"
      "signal.set_wakeup_fd(1)\nos._exit(5)\n", .prod = SIGUSR1 }, EXIT(5),
      "", "", NULL },
    { "no seccomp but notify, by ablation", { .code = PY_CALL
      "print(call(425, 1, 0) != 38)\n", .flags =
      SBX_FORK_SKIP_SECCOMP }, 0, "True\n", "", NULL },
    { "no such command", { .cmd = nowhere, .code = "" }, EXIT(125), "", "",
      NULL },
    { NULL, { .code = NULL }, 0, NULL, NULL, NULL }
};
