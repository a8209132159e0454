use strict;
use warnings;
use Test::Nginx::Socket;

# Every status of the contract by a program that earns it, and by the lies that
# must not.  One location, limits asked for by the request.

# starting the supervisor is part of the first request
timeout(30);

add_block_preprocessor(sub {
    my $block = shift;

    $block->set_value(config => <<'EOC') unless defined $block->config;
        location /run {
            sandbox any;
            sandbox_memory 128m max=512m;
            sandbox_timeout 5s max=20s;
            sandbox_cpu_time 5s max=20s;
            sandbox_output 1m max=8m;
            sandbox_disk 16m max=64m;
            sandbox_processes 1 max=64;
            sandbox_open_files 256 max=1024;
            client_max_body_size 16m;
            client_body_buffer_size 1m;
        }
EOC
    $block->set_value(more_headers => "Content-Type: application/json\n")
        unless defined $block->more_headers;
});

plan tests => repeat_each() * 124;

no_long_string();
run_tests();

__DATA__

=== TEST 1: success
--- request eval
["POST /run\n" . q({"language":"python","code":"print(1+1)\n"}),
 "POST /run\n" . q({"language":"node","code":"console.log(1+1)"})]
--- response_body_like eval
[qr/^\{"status":"success","output":"2\\n","stderr":"","exit_code":0,"signal":null,"returncode":0,"error":null,"reason":null,"usage":\{"wall_ms":[\d.]+,"cpu_ms":[\d.]+,"queue_ms":[\d.]+,"memory_bytes":\d+,"memory_source":"hook","processes":1,"threads":0,"open_files":\d+,"largest_bytes":\d+,"refused":\[\]\},"limits":\{"memory":134217728,"timeout":5000,"cpu_time":5000,"output":1048576,"disk":16777216,"processes":1,"threads":64,"open_files":256,"stack":8388608,"allocation":null,"cpu_per_second":null,"memory_terms":\{"base":\d+,"code":11,"wanted":134217728,"factor":1.25\}\},"truncated":\{"output":false,"stderr":false\},"replaced":\{"output":false,"stderr":false\},"violation":null\} +$/,
 qr/^\{"status":"success","output":"2\\n"/]

=== TEST 2: error, by exit code and by exception
--- request eval
["POST /run\n" . q({"language":"python","code":"import sys; sys.exit(3)"}),
 "POST /run\n" . q({"language":"python","code":"1/0"}),
 "POST /run\n" . q({"language":"node","code":"process.exit(3)"}),
 "POST /run\n" . q({"language":"node","code":"throw new Error('x')"})]
--- response_body_like eval
[qr/"status":"error".*"exit_code":3,"signal":null,"returncode":3/,
 qr/"status":"error".*ZeroDivisionError: division by zero\\n","exit_code":1/,
 qr/"status":"error".*"exit_code":3,"signal":null,"returncode":3/,
 qr/"status":"error".*Error: x.*"exit_code":1/]

=== TEST 3: exit codes are no evidence
--- request eval
["POST /run\n" . q({"language":"python","code":"import os; os._exit(137)"}),
 "POST /run\n" . q({"language":"python","code":"import os; os._exit(128)"}),
 "POST /run\n" . q({"language":"node","code":"process.exit(137)"}),
 "POST /run\n" . q({"language":"python","code":"import sys; sys.stderr.write('MemoryError'); sys.exit(143)"})]
--- response_body_like eval
[qr/"status":"error".*"exit_code":137,"signal":null,"returncode":137/,
 qr/"status":"error".*"exit_code":128,"signal":null,"returncode":128/,
 qr/"status":"error".*"exit_code":137,"signal":null,"returncode":137/,
 qr/"status":"error".*"exit_code":143,"signal":null,"returncode":143/]

=== TEST 4: wall clock, with the output so far
--- request eval
["POST /run\n" . q({"language":"python","code":"print('so far', flush=True)\nwhile True: pass","limits":{"timeout":"500ms"}}),
 "POST /run\n" . q({"language":"python","code":"import time; time.sleep(60)","limits":{"timeout":300}}),
 "POST /run\n" . q({"language":"node","code":"console.log('so far'); for(;;);","limits":{"timeout":"2s"}})]
--- response_body_like eval
[qr/"status":"timeout","output":"so far\\n".*"returncode":143.*"reason":"wall"/,
 qr/"status":"timeout".*"reason":"wall"/,
 qr/"status":"timeout","output":"so far\\n".*"returncode":143.*"reason":"wall"/]

=== TEST 5: CPU time, user and system, in milliseconds
--- request eval
["POST /run\n" . q({"language":"python","code":"while True: pass","limits":{"timeout":"20s","cpu_time":"100ms"}}),
 "POST /run\n" . q({"language":"python","code":"import os\nf=os.open('/dev/zero',0)\nwhile 1: os.read(f,1<<24)","limits":{"timeout":"20s","cpu_time":"300ms"}}),
 "POST /run\n" . q({"language":"node","code":"for(;;);","limits":{"timeout":"20s","cpu_time":"700ms"}}),
 "POST /run\n" . q({"language":"python","code":"import os,signal; os.kill(os.getpid(), signal.SIGXCPU)"})]
--- response_body_like eval
[qr/"status":"timeout".*"returncode":143.*"reason":"cpu"/,
 qr/"status":"timeout".*"reason":"cpu"/,
 qr/"status":"timeout".*"reason":"cpu"/,
 qr/"status":"signaled".*"signal":"SIGXCPU"/]

=== TEST 6: memory, at the violating call
--- request eval
["POST /run\n" . q({"language":"python","code":"x=b\"x\"*10**9"}),
 "POST /run\n" . q({"language":"node","code":"Buffer.alloc(1e9)"}),
 "POST /run\n" . q({"language":"python","code":"try:\n    x=b\"x\"*10**9\nexcept MemoryError:\n    print('caught')"}),
 "POST /run\n" . q({"language":"python","code":"a=[]\nwhile 1: a.append(bytearray(1<<20))"}),
 "POST /run\n" . q({"language":"node","code":"const a=[]; for(;;) a.push(new ArrayBuffer(1<<20))","limits":{"timeout":"20s","cpu_time":"20s"}}),
 "POST /run\n" . q({"language":"node","code":"const a=[]; for(;;) a.push({x:a.length})","limits":{"timeout":"20s","cpu_time":"20s"}})]
--- response_body_like eval
[qr/"status":"memory_exceeded".*"returncode":128.*"reason":"hook".*"violation_type":"ALLOC_LIMIT".*"requested_bytes":10000000\d\d,"limit_bytes":134217728/,
 qr/"status":"memory_exceeded".*"returncode":128.*"reason":"hook"/,
 qr/"status":"memory_exceeded","output":"".*"reason":"hook"/,
 qr/"status":"memory_exceeded".*"reason":"hook"/,
 qr/"status":"memory_exceeded".*"reason":"hook"/,
 qr/"status":"memory_exceeded".*"reason":"hook"/]

=== TEST 7: memory that fits
--- request eval
["POST /run\n" . q({"language":"python","code":"x=b'x'*(100<<20)\nprint(len(x))"}),
 "POST /run\n" . q({"language":"node","code":"console.log(Buffer.alloc(100<<20).length)"}),
 "POST /run\n" . q({"language":"python","code":"print(1)","limits":{"memory":"8m"}}),
 "POST /run\n" . q({"language":"node","code":"console.log(2)","limits":{"memory":"64m"}})]
--- response_body_like eval
[qr/"status":"success","output":"104857600\\n"/,
 qr/"status":"success","output":"104857600\\n"/,
 qr/"status":"success","output":"1\\n"/,
 qr/"status":"success","output":"2\\n"/]

=== TEST 8: signals of its own
--- request eval
["POST /run\n" . q({"language":"python","code":"import os; os.abort()"}),
 "POST /run\n" . q({"language":"node","code":"process.abort()"}),
 "POST /run\n" . q({"language":"python","code":"import os; os.kill(os.getpid(), 9)"}),
 "POST /run\n" . q({"language":"python","code":"import os; os.kill(os.getpid(), 15)"}),
 "POST /run\n" . q({"language":"node","code":"process.kill(process.pid, 'SIGTERM'); setTimeout(()=>{}, 9999)"})]
--- response_body_like eval
[qr/"status":"signaled".*"exit_code":null,"signal":"SIGABRT","returncode":134/,
 qr/"status":"signaled".*"signal":"SIGABRT","returncode":134/,
 qr/"status":"signaled".*"signal":"SIGKILL","returncode":137/,
 qr/"status":"signaled".*"signal":"SIGTERM","returncode":143/,
 qr/"status":"signaled".*"signal":"SIGTERM","returncode":143/]

=== TEST 9: memory violations
--- request eval
["POST /run\n" . q({"language":"python","code":"print(1, flush=True)\nimport ctypes; ctypes.string_at(8)"}),
 "POST /run\n" . q({"language":"python","code":"import ctypes; ctypes.memset(16, 1, 1)"}),
 "POST /run\n" . q({"language":"python","code":"import mmap\nf=open('x','w+b'); f.truncate(4096); m=mmap.mmap(f.fileno(),4096); f.truncate(0); m[0]"})]
--- response_body_like eval
[qr/"status":"memory_violation","output":"1\\n".*"signal":"SIGSEGV","returncode":139.*"violation_type":"READ_OUT_OF_BOUNDS","violation_class":"MEMORY_VIOLATION","address":"0x8"/,
 qr/"status":"memory_violation".*"violation_type":"WRITE_OUT_OF_BOUNDS".*"address":"0x10"/,
 qr/"status":"memory_violation".*"signal":"SIGBUS","returncode":135/]

=== TEST 10: system calls: refused and told, or forbidden and named
--- request eval
["POST /run\n" . q({"language":"python","code":"import socket\ntry: socket.socket()\nexcept PermissionError: print('no')"}),
 "POST /run\n" . q({"language":"python","code":"import ctypes; ctypes.CDLL(None).inotify_init1(0)"}),
 "POST /run\n" . q({"language":"node","code":"require('fs').watch('/tmp', ()=>{})"}),
 "POST /run\n" . q({"language":"node","code":"require('net').connect(80,'127.0.0.1').on('error',e=>console.log(e.code))"})]
--- response_body_like eval
[qr/"status":"success","output":"no\\n".*"refused":\["socket"\]/,
 qr/"status":"seccomp_violation".*"returncode":159.*"syscall":"inotify_init1","number":294/,
 qr/"status":"seccomp_violation".*"syscall":"inotify_init1","number":294/,
 qr/"status":"success","output":"E(PERM|ACCES)\\n".*"refused":\["socket"\]/]

=== TEST 11: output, exactly up to the limit
--- request eval
["POST /run\n" . q({"language":"python","code":"print('x'*(10<<20))","limits":{"output":"8m"}}),
 "POST /run\n" . q({"language":"python","code":"for i in range(3000): print(i)","limits":{"output":1024}}),
 "POST /run\n" . q({"language":"python","code":"import sys; sys.stdout.write('y'*1024)","limits":{"output":1024}}),
 "POST /run\n" . q({"language":"python","code":"import sys; sys.stderr.write('e'*4000)","limits":{"output":1024}}),
 "POST /run\n" . q({"language":"node","code":"process.stdout.write('x'.repeat(10<<20))","limits":{"output":"8m"}})]
--- response_body_like eval
[qr/^\{"status":"output_exceeded","output":"(x++)(?(?{length($1) == 8 << 20})|(*FAIL))","stderr":"".*"returncode":153.*"reason":"stdout".*"truncated":\{"output":true,"stderr":false\}/,
 qr/"status":"output_exceeded","output":"0\\n1\\n2.*"reason":"stdout"/,
 qr/"status":"success","output":"y{1024}"/,
 qr/"status":"output_exceeded","output":"","stderr":"e{1024}".*"reason":"stderr".*"truncated":\{"output":false,"stderr":true\}/,
 qr/^\{"status":"output_exceeded","output":"(x++)(?(?{length($1) == 8 << 20})|(*FAIL))"/]

=== TEST 12: both streams at once
--- request
POST /run
{"language":"python","code":"import sys\nfor i in range(1000):\n    sys.stdout.write('o'*1000)\n    sys.stderr.write('e'*1000)"}
--- response_body_like: ^\{"status":"success","output":"(?:o{1000}){1000}","stderr":"(?:e{1000}){1000}"

=== TEST 13: processes
--- request eval
["POST /run\n" . q({"language":"python","code":"import os; os.fork()"}),
 "POST /run\n" . q({"language":"python","code":"import os\ntry: os.fork()\nexcept OSError: print('handled')"}),
 "POST /run\n" . q({"language":"python","code":"import os\np=os.fork()\nif p==0: os._exit(7)\nprint(os.waitstatus_to_exitcode(os.waitpid(p,0)[1]))","limits":{"processes":4}}),
 "POST /run\n" . q({"language":"node","code":"console.log(require('child_process').spawnSync(process.execPath,['-p','6*7']).stdout.toString())","limits":{"processes":4}})]
--- response_body_like eval
[qr/"status":"process_exceeded".*"returncode":153/,
 qr/"status":"success","output":"handled\\n".*"refused":\["clone"\]/,
 qr/"status":"success","output":"7\\n".*"processes":2/,
 qr/"status":"success","output":"42\\n\\n"/]

=== TEST 14: the tree dies with the run, and nothing waits for its pipes
--- request eval
["POST /run\n" . q({"language":"python","code":"import os,time\nif os.fork()==0:\n    os.setsid()\n    if os.fork()==0:\n        time.sleep(600)\n    os._exit(0)\nprint('parent')","limits":{"processes":8}}),
 "POST /run\n" . q({"language":"python","code":"import os; print([p for p in os.listdir('/proc') if p.isdigit() and p not in ('1', str(os.getpid()))], os.getpid())"})]
--- response_body_like eval
[qr/"status":"success","output":"parent\\n"/,
 qr/"status":"success","output":"\[\] 2\\n"/]

=== TEST 15: disk
--- request eval
["POST /run\n" . q({"language":"python","code":"f=open('big','wb')\nwhile 1: f.write(b'x'*65536)","limits":{"disk":"1m"}}),
 "POST /run\n" . q({"language":"python","code":"f=open('ok','wb'); f.write(b'x'*(8<<20)); f.close()\nimport os; print(os.path.getsize('ok'))"}),
 "POST /run\n" . q({"language":"python","code":"import os; print(sorted(os.listdir('/tmp')), os.listdir('/tmp/run'))"})]
--- response_body_like eval
[qr/"status":"disk_exceeded".*"returncode":153/,
 qr/"status":"success","output":"8388608\\n"/,
 qr/"status":"success","output":"\['run'\] \['main.py'\]\\n"/]

=== TEST 16: open files
--- request eval
["POST /run\n" . q({"language":"python","code":"a=[]\nwhile 1: a.append(open('/dev/null'))"}),
 "POST /run\n" . q({"language":"python","code":"a=[]\ntry:\n    while 1: a.append(open('/dev/null'))\nexcept OSError as e: print(e.errno)"}),
 "POST /run\n" . q({"language":"node","code":"const fs=require('fs'); for(;;) fs.openSync('/dev/null')","limits":{"open_files":64}})]
--- response_body_like eval
[qr/"status":"file_exceeded".*"returncode":153/,
 qr/"status":"success","output":"24\\n"/,
 qr/"status":"file_exceeded"/]

=== TEST 17: soft mode: the language's own MemoryError first
--- config
    location /run { sandbox any; sandbox_memory_mode soft; }
--- request eval
["POST /run\n" . q({"language":"python","code":"try:\n    x=b\"x\"*10**9\nexcept MemoryError:\n    print('caught')"}),
 "POST /run\n" . q({"language":"python","code":"x=b\"x\"*10**9"})]
--- response_body_like eval
[qr/"status":"success","output":"caught\\n"/,
 qr/"status":"memory_exceeded".*MemoryError.*"returncode":128.*"reason":"hook"/]

=== TEST 18: an empty /proc on request
--- config
    location /run { sandbox any; sandbox_proc empty; }
    location /full { sandbox any; }
--- request eval
["POST /run\n" . q({"language":"python","code":"import os; print(os.listdir('/proc'))"}),
 "POST /full\n" . q({"language":"python","code":"import os; print(len(os.listdir('/proc')) > 0)"})]
--- response_body_like eval
[qr/"status":"success","output":"\[\]\\n"/, qr/"output":"True\\n"/]

=== TEST 19: a runtime of the operator's own
--- http_config
    sandbox_runtime cat /usr/bin/cat;
--- config
    location /run { sandbox cat; }
--- request
POST /run
{"code":"as it is","stdin":"unread"}
--- response_body_like: "status":"success","output":"as it is"
