use strict;
use warnings;
use Test::Nginx::Socket;

# What an answer and the logs say of a violation: its sentence, its object, its
# line.  Limits that are none by default, and limits too small to start with.

# starting the supervisor is part of the first request
timeout(30);

add_block_preprocessor(sub {
    my $block = shift;

    $block->set_value(config => <<'EOC') unless defined $block->config;
        location /run {
            sandbox any;
            sandbox_timeout 5s max=20s;
            sandbox_processes 1 max=64;
            sandbox_allocation none;
            sandbox_cpu_per_second none;
        }
EOC
    $block->set_value(more_headers => "Content-Type: application/json\n")
        unless defined $block->more_headers;
});

plan tests => repeat_each() * 93;

no_long_string();
run_tests();

__DATA__

=== TEST 1: one block above its limit
--- request eval
["POST /run\n" . q({"language":"python","code":"x=bytearray(60<<20)","limits":{"allocation":"50m"}}),
 "POST /run\n" . q({"language":"node","code":"Buffer.alloc(60<<20)","limits":{"allocation":"50m"}}),
 "POST /run\n" . q({"language":"python","code":"a=[bytearray(40<<20) for i in range(2)]; print(len(a))","limits":{"allocation":"50m"}}),
 "POST /run\n" . q({"language":"python","code":"import ctypes\nr=ctypes.CDLL(None).realloc; r.restype=ctypes.c_void_p; r.argtypes=[ctypes.c_void_p,ctypes.c_size_t]\np=None\nfor i in range(1,99): p=r(p,i<<20)","limits":{"allocation":"50m"}})]
--- response_body_like eval
[qr/"status":"memory_exceeded".*"returncode":128,"error":"single allocation limit of 50m exceeded: 6291456\d bytes asked for with \d+ in use; ask for smaller blocks, or for more \\"allocation\\"","reason":"allocation".*"allocation":52428800.*"violation_type":"ALLOC_LIMIT","violation_class":"MEMORY_EXCEEDED","address":null,"allocated_region":null,"timestamp":"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z","requested_bytes":6291456\d,"limit_bytes":52428800,"live_bytes":\d+,"source":"hook","syscall":null,"number":null\}\} *$/,
 qr/"status":"memory_exceeded".*"reason":"allocation"/,
 qr/"status":"success","output":"2\\n".*"largest_bytes":4194304\d/,
 qr/"status":"memory_exceeded".*"reason":"allocation"/]

=== TEST 2: none is no limit, and the default
--- request eval
["POST /run\n" . q({"language":"python","code":"x=bytearray(60<<20); print(1)","limits":{"allocation":"none"}}),
 "POST /run\n" . q({"language":"python","code":"print(1)","limits":{"memory":"none"}})]
--- error_code eval
[200, 400]
--- response_body_like eval
[qr/"status":"success".*"allocation":null,"cpu_per_second":null/,
 qr/"status":"invalid".*limits\.memory/]

=== TEST 3: a ceiling of the two
--- config
    location /run {
        sandbox python;
        sandbox_allocation 2m max=4m;
        sandbox_cpu_per_second 500ms;
    }
--- request eval
["POST /run\n" . q({"code":"1"}),
 "POST /run\n" . q({"code":"1","limits":{"allocation":"4m"}}),
 "POST /run\n" . q({"code":"1","limits":{"allocation":"5m"}}),
 "POST /run\n" . q({"code":"1","limits":{"allocation":"none"}}),
 "POST /run\n" . q({"code":"1","limits":{"cpu_per_second":"none"}})]
--- error_code eval
[200, 200, 400, 400, 400]
--- response_body_like eval
[qr/"allocation":2097152,"cpu_per_second":500/,
 qr/"allocation":4194304/,
 qr/limits\.allocation: 5242880 bytes asked for, at most 4194304 bytes allowed/,
 qr/limits\.allocation: 68719476736 bytes asked for/,
 qr/limits\.cpu_per_second: 86400000 ms asked for, at most 500 ms/]

=== TEST 4: CPU time in a second: a loop ends, a program that rests does not
--- request eval
["POST /run\n" . q({"language":"python","code":"while True: pass","limits":{"timeout":"20s","cpu_per_second":"100ms"}}),
 "POST /run\n" . q({"language":"node","code":"(function f(){process.nextTick(f)})()","limits":{"timeout":"20s","cpu_per_second":"250ms"}}),
 "POST /run\n" . q({"language":"python","code":"import time\nfor i in range(15):\n    e=time.process_time()+0.02\n    while time.process_time()<e: pass\n    time.sleep(0.09)\nprint('rested')","limits":{"timeout":"20s","cpu_per_second":"600ms"}}),
 "POST /run\n" . q({"language":"python","code":"import os\nfor i in range(3):\n    if os.fork()==0: break\nwhile True: pass","limits":{"timeout":"20s","cpu_per_second":"100ms","processes":8}})]
--- response_body_like eval
[qr/"status":"timeout".*"returncode":143,"error":"CPU per second limit of 100ms exceeded; look for an endless loop[^"]*\\"cpu_per_second\\"","reason":"cpu_per_second".*"violation":null/,
 qr/"status":"timeout".*"reason":"cpu_per_second"/,
 qr/"status":"success","output":"rested\\n"/,
 qr/"status":"timeout".*"reason":"cpu_per_second"/]

=== TEST 5: handles, threads, processes: named, with their class
--- config
    location /run {
        sandbox any;
        sandbox_threads 8;
        sandbox_processes 1 max=4;
    }
--- request eval
["POST /run\n" . q({"language":"python","code":"a=[]\nwhile 1: a.append(open('/dev/null'))"}),
 "POST /run\n" . q({"language":"python","code":"import threading,time\nt=[threading.Thread(target=time.sleep,args=(1,),daemon=True) for _ in range(20)]\nfor x in t: x.start()"}),
 "POST /run\n" . q({"language":"python","code":"import os; os.fork()"})]
--- response_body_like eval
[qr/"status":"file_exceeded".*"error":"open files limit of 256 exceeded: \d+ refused; close files.*"open_files":256.*"violation_type":"HANDLE_LIMIT","violation_class":"HANDLE_EXHAUSTION"/,
 qr/"status":"process_exceeded".*"error":"threads limit of 8 exceeded: 1 refused; start fewer threads.*"violation_type":"THREAD_LIMIT","violation_class":"THREAD_EXHAUSTION"/,
 qr/"status":"process_exceeded".*"error":"processes limit of 1 exceeded: 1 refused; start fewer processes.*"violation_type":"PROCESS_LIMIT","violation_class":"PROCESS_EXHAUSTION"/]

=== TEST 6: where a program may not read, write, execute; and its stack
--- request eval
["POST /run\n" . q({"language":"python","code":"import ctypes; ctypes.string_at(8)"}),
 "POST /run\n" . q({"language":"python","code":"import ctypes; ctypes.memset(16, 1, 1)"}),
 "POST /run\n" . q({"language":"python","code":"import ctypes\nb=ctypes.create_string_buffer(16)\nctypes.CFUNCTYPE(None)(ctypes.addressof(b))()"}),
 "POST /run\n" . q({"language":"python","code":"import ctypes,sys\nsys.setrecursionlimit(10**9)\nT=ctypes.CFUNCTYPE(ctypes.c_int,ctypes.c_int)\ndef g(n): return C(n+1)\nC=T(g)\nC(0)"}),
 "POST /run\n" . q({"language":"python","code":"import ctypes; ctypes.string_at(0)"})]
--- response_body_like eval
[qr/"error":"invalid memory access at 0x8 \(SIGSEGV\)".*"violation_type":"READ_OUT_OF_BOUNDS","violation_class":"MEMORY_VIOLATION","address":"0x8"/,
 qr/"violation_type":"WRITE_OUT_OF_BOUNDS","violation_class":"MEMORY_VIOLATION","address":"0x10"/,
 qr/"violation_type":"EXEC_OUT_OF_BOUNDS","violation_class":"MEMORY_VIOLATION","address":"0x[0-9a-f]+","allocated_region":"0x[0-9a-f]+-0x[0-9a-f]+","timestamp":"\d{4}-[^"]{18}Z"/,
 qr/"error":"stack overflow \(SIGSEGV, stack limit 8m\); recurse less deeply, or ask for more \\"stack\\"".*"violation_type":"STACK_OVERFLOW","violation_class":"MEMORY_VIOLATION","address":"0x[0-9a-f]+","allocated_region":"0x[0-9a-f]+-0x[0-9a-f]+"/,
 qr/"address":"0x0"/]

=== TEST 7: one line for log search, and the variable
--- config
    location /run {
        sandbox python;
        add_header X-Violation $sandbox_violation;
    }
--- request
POST /run
{"code":"x=b\"x\"*10**9"}
--- response_headers_like
X-Violation: \{"violation_type":"ALLOC_LIMIT","violation_class":"MEMORY_EXCEEDED".*"number":null\}
--- response_body_like: "status":"memory_exceeded"
--- error_log eval
qr/\[notice\] .* sandbox violation: memory_exceeded \{"violation_type":"ALLOC_LIMIT",[^{}]*"limit_bytes":134217728,[^{}]*\}(?: while [^,]*)?, client: /

=== TEST 8: no violation, no line
--- config
    location /run {
        sandbox python;
        add_header X-Violation $sandbox_violation;
    }
--- request eval
["POST /run\n" . q({"code":"print(1)"}), "POST /run\n" . q({"code":"raise SystemExit(3)"})]
--- response_body_like eval
[qr/"violation":null/, qr/"violation":null/]
--- no_error_log
sandbox violation

=== TEST 9: too little to start with
--- config
    location /run {
        sandbox any;
        sandbox_threads 0 max=64;
    }
--- request eval
["POST /run\n" . q({"language":"node","code":"console.log(1)","limits":{"threads":0}}),
 "POST /run\n" . q({"language":"python","code":"print(1)","limits":{"threads":0}}),
 "POST /run\n" . q({"language":"node","code":"console.log(1)","limits":{"threads":64,"open_files":10}}),
 "POST /run\n" . q({"language":"python","code":"print(1)","limits":{"open_files":8,"memory":"1m","stack":"128k","allocation":"1m"}}),
 "POST /run\n" . q({"language":"python","code":"print(1)","files":[{"path":"d","content":") . ('x' x 70000) . q("}],"limits":{"disk":"64k"}}),
 "POST /run\n" . q({"language":"python","code":"print(1)","limits":{"stack":"64k"}})]
--- error_code eval
[400, 200, 400, 200, 400, 400]
--- response_body_like eval
[qr/"status":"invalid","output":"".*"returncode":125,"error":"\\"threads\\" of 0 is too little: node needs at least \d+ to start","reason":"limit"/,
 qr/"status":"success","output":"1\\n"/,
 qr/"status":"invalid".*"error":"\\"open_files\\" of 10 is too little: node needs at least \d+ to start","reason":"limit"/,
 qr/"status":"success","output":"1\\n"/,
 qr/"status":"invalid".*"error":"\\"disk\\" of 64k is too little: the program and its files need at least 76k","reason":"limit"/,
 qr/"status":"invalid".*limits\.stack/]

=== TEST 10: what is named as the least works
--- request eval
["POST /run\n" . q({"language":"python","code":"print(1)","files":[{"path":"d","content":") . ('x' x 70000) . q("}],"limits":{"disk":"76k"}})]
--- response_body_like eval
[qr/"status":"success"/]

=== TEST 11: nginx -t knows what Node.js needs
--- config
    location /a { sandbox node; sandbox_threads 2; }
    location /b { sandbox any; sandbox_code ../html/index.html; }
--- must_die
--- error_log eval
qr/\[warn\] .*"sandbox_threads" of 2 is too little for node, which never starts with less than 6, in \S+nginx\.conf:\d+/

=== TEST 12: and warns of nothing else
--- config
    location /run { sandbox python; sandbox_threads 0; sandbox_open_files 8; }
    location /node { sandbox any; sandbox_threads 0; sandbox_threads node 6; }
--- request
POST /run
{"code":"print(1)"}
--- response_body_like: "status":"success"
--- no_error_log
[warn]

=== TEST 13: a dry run tells of what will be refused
--- config
    location /run { sandbox any; sandbox_dry_run on; }
    location /first { sandbox node; }
--- request eval
["POST /first\n" . q({"code":"1"}),
 "POST /run\n" . q({"language":"node","code":"1","limits":{"open_files":10}}),
 "POST /run\n" . q({"language":"python","code":"1"})]
--- response_body_like eval
[qr/"status":"success"/,
 qr/"dry_run":true.*"warnings":\["\\"open_files\\" of 10 is too little: node needs at least \d+ to start"\]\}/,
 qr/"warnings":\[\]\}/]

=== TEST 14: soft mode: Node.js, too, hears first
--- config
    location /run { sandbox any; sandbox_memory_mode soft; sandbox_timeout 20s; }
--- request eval
["POST /run\n" . q({"language":"node","code":"try { Buffer.alloc(1e9) } catch (e) { console.log(e.name) }"}),
 "POST /run\n" . q({"language":"node","code":"const m=new WebAssembly.Memory({initial:1,maximum:65536}); try { m.grow(16384) } catch (e) { console.log(e.name) }"}),
 "POST /run\n" . q({"language":"node","code":"Buffer.alloc(1e9)"}),
 "POST /run\n" . q({"language":"node","code":"const a=[]; for(;;) a.push({x:a.length})"}),
 "POST /run\n" . q({"language":"python","code":"try:\n    bytearray(60<<20)\nexcept MemoryError:\n    print('caught')","limits":{"allocation":"50m"}}),
 "POST /run\n" . q({"language":"python","code":"a=[]\ntry:\n    while 1: a.append(bytearray(1<<20))\nexcept MemoryError:\n    n=len(a); a=None; print(100 < n < 128)"})]
--- response_body_like eval
[qr/"status":"success","output":"RangeError\\n"/,
 qr/"status":"success","output":"RangeError\\n"/,
 qr/"status":"memory_exceeded".*RangeError.*"reason":"hook"/,
 qr/"status":"memory_exceeded".*"returncode":128.*"reason":"hook"/,
 qr/"status":"success","output":"caught\\n"/,
 qr/"status":"success","output":"True\\n"/]
