use strict;
use warnings;
use Test::Nginx::Socket;

# The request and the answer, part by part: what reaches the program, what comes
# back, and how each mistake of a client is named.  Statuses are in verdicts.t,
# directives in dry_run.t.

# starting the supervisor is part of the first request
timeout(30);

sub py { return 'POST /run' . "\n" . '{"language":"python",' . shift() . '}' }
sub js { return 'POST /run' . "\n" . '{"language":"node",' . shift() . '}' }

sub list { return CORE::join(',', @_) }

# The same, with a program that is of no interest.
sub with { return py('"code":"1",' . shift()) }

# An error that starts like this.
sub said { return qr/^\{"status":"invalid",.*"error":"\Q$_[0]\E/ }

add_block_preprocessor(sub {
    my $block = shift;

    $block->set_value(config => <<'EOC') unless defined $block->config;
        location /run {
            sandbox any;
            sandbox_memory 128m max=512m;
            sandbox_timeout 5s max=20s;
            sandbox_output 1m max=8m;
            sandbox_disk 16m max=64m;
            sandbox_processes 1 max=64;
            sandbox_threads 64 max=128;
            sandbox_open_files 256 max=1024;
            sandbox_stack 8m max=16m;
        }
EOC
    $block->set_value(more_headers => "Content-Type: application/json\n")
        unless defined $block->more_headers;
});

plan tests => repeat_each() * 441;

no_long_string();
run_tests();

__DATA__

=== TEST 1: where a program runs, and with what around it
--- request eval
[main::py(q("code":"import os; print(os.getcwd(), os.environ['HOME'], os.listdir('.'), __file__)")),
 main::js(q("code":"console.log(process.cwd(), process.env.HOME, require('fs').readdirSync('.'), __filename)")),
 main::py(q("code":"import os; print([k for k in os.environ if k.startswith(('SBX', 'LD_', 'NGINX', 'PYTHON'))])")),
 main::js(q("code":"console.log(Object.keys(process.env).filter(k => /^(SBX|LD_|NGINX|NODE)/.test(k)))"))]
--- response_body_like eval
[qr{"output":"/tmp/run /tmp \['main.py'\] /tmp/run/main.py\\n"},
 qr{"output":"/tmp/run /tmp \[ 'main.js' \] /tmp/run/main.js\\n"},
 qr{"output":"\[\]\\n"},
 qr{"output":"\[\]\\n"}]

=== TEST 2: arguments, as they were written
--- request eval
[main::py(q("code":"import sys; print(sys.argv[1:])","args":["a","","b c","-x","\u00e9","*"])),
 main::js(q("code":"console.log(JSON.stringify(process.argv.slice(2)))","args":["a","","b c","--inspect","\u00e9","$HOME"])),
 main::py(q("code":"import sys; print(len(sys.argv))","args":[]))]
--- response_body_like eval
[qr/"output":"\['a', '', 'b c', '-x', '\x{c3}\x{a9}', '\*'\]\\n"/,
 qr/"output":"\[\\"a\\",\\"\\",\\"b c\\",\\"--inspect\\",\\"\x{c3}\x{a9}\\",\\"\$HOME\\"\]\\n"/,
 qr/"output":"1\\n"/]

=== TEST 3: environment
--- request eval
[main::py(q("code":"import os; print(os.environ['A'], repr(os.environ['B']), os.environ['TZ'])","env":{"A":"1=2","B":"","TZ":"UTC"})),
 main::js(q("code":"console.log(process.env.A, [process.env.B], process.env.TZ)","env":{"A":"1=2","B":"","TZ":"UTC"})),
 main::py(q("code":"import os; print(os.environ['HOME'], os.environ['PATH'])","env":{"HOME":"/nowhere","PATH":"/x"})),
 main::py(q("code":"import os; print('A' in os.environ)"))]
--- response_body_like eval
[qr/"output":"1=2 '' UTC\\n"/, qr/"output":"1=2 \[ '' \] UTC\\n"/,
 qr{"output":"/nowhere /x\\n"}, qr/"output":"False\\n"/]

=== TEST 4: standard input, text and bytes
--- request eval
[main::py(q("code":"print(repr(input()), repr(input()))","stdin":"one\ntwo\n")),
 main::py(q("code":"import sys; print(sys.stdin.buffer.read())","stdin":{"base64":"AP8K4oKs"})),
 main::js(q("code":"console.log(require('fs').readFileSync(0))","stdin":{"base64":"AP8K"})),
 main::js(q("code":"process.stdin.on('data', d => console.log('' + d)).on('end', () => console.log('end'))","stdin":"\u20ac")),
 main::py(q("code":"import sys; print(repr(sys.stdin.read()))")),
 main::py(q("code":"import sys; print(repr(sys.stdin.read()))","stdin":{"base64":""})),
 main::py(q("code":"import sys; print(len(sys.stdin.read()))","stdin":") . ('i' x 300000) . q("))]
--- response_body_like eval
[qr/"output":"'one' 'two'\\n"/, qr/"output":"b'\\\\x00\\\\xff\\\\n\\\\xe2\\\\x82\\\\xac'\\n"/,
 qr/"output":"<Buffer 00 ff 0a>\\n"/, qr/"output":"\x{e2}\x{82}\x{ac}\\nend\\n"/,
 qr/"output":"''\\n"/, qr/"output":"''\\n"/, qr/"output":"300000\\n"/]

=== TEST 5: who does not read its input is not held up by it
--- request eval
[main::py(q("code":"print(1)","stdin":") . ('i' x 300000) . q(")),
 main::js(q("code":"console.log(1)","stdin":") . ('i' x 300000) . q(")),
 main::py(q("code":"import os; os.close(0); print(1)","stdin":") . ('i' x 300000) . q("))]
--- response_body_like eval
[qr/"status":"success","output":"1\\n"/, qr/"status":"success","output":"1\\n"/,
 qr/"status":"success","output":"1\\n"/]

=== TEST 6: files: text, bytes, directories, nothing
--- request eval
[main::py(q("code":"print(open('d/e/f.txt').read(), open('b','rb').read(), open('d/empty').read()=='')","files":[{"path":"d/e/f.txt","content":"a \u20ac\n"},{"path":"b","base64":"AP8K"},{"path":"d/empty","content":""}])),
 main::py(q("code":"import helper, package.part; print(helper.x, package.part.y)","files":[{"path":"helper.py","content":"x = 1"},{"path":"package/part.py","content":"y = 2"}])),
 main::js(q("code":"console.log(require('./lib/a'), require('./data.json').n)","files":[{"path":"lib/a.js","content":"module.exports = 7"},{"path":"data.json","base64":"eyJuIjogOH0="}])),
 main::py(q("code":"open('f','a').write('more'); print(open('f').read()); import os; os.rename('f', 'g'); os.mkdir('new')","files":[{"path":"f","content":"some "}])),
 main::py(q("code":"import os; print(os.path.exists('f'))")),
 main::py(q("code":"print(open('.hidden').read(), open('a b').read(), open('\u00e9').read())","files":[{"path":".hidden","content":"1"},{"path":"a b","content":"2"},{"path":"\u00e9","content":"3"}]))]
--- response_body_like eval
[qr/"output":"a \x{e2}\x{82}\x{ac}\\n b'\\\\x00\\\\xff\\\\n' True\\n"/,
 qr/"output":"1 2\\n"/, qr/"output":"7 8\\n"/, qr/"output":"some more\\n"/,
 qr/"output":"False\\n"/, qr/"output":"1 2 3\\n"/]

=== TEST 7: the main file's name is the one that tracebacks show
--- request eval
[main::py(q("name":"solution.py","code":"print(__file__, flush=True)\n1/0")),
 main::js(q("name":"solution.js","code":"console.log(__filename); throw new Error('x')")),
 main::py(q("name":"no extension","code":"import sys; print(sys.argv)")),
 main::js(q("name":"a.cjs","code":"console.log(typeof require)"))]
--- response_body_like eval
[qr{"output":"/tmp/run/solution.py\\n".*File \\"/tmp/run/solution.py\\", line 2, in <module>},
 qr{"output":"/tmp/run/solution.js\\n".*/tmp/run/solution.js:1\\n},
 qr{"output":"\['no extension'\]\\n"},
 qr{"output":"function\\n"}]

=== TEST 8: .mjs is an ES module
--- request eval
[main::js(q("name":"m.mjs","code":"import fs from 'node:fs'; import { x } from './lib.mjs'; console.log(typeof require, import.meta.url, x, await 5)","files":[{"path":"lib.mjs","content":"export const x = 4"}])),
 main::js(q("name":"m.mjs","code":"require('fs')")),
 main::js(q("name":"m.mjs","code":"\n\nthrow new TypeError('here')"))]
--- response_body_like eval
[qr{"output":"undefined file:///tmp/run/m.mjs 4 5\\n"},
 qr/"status":"error".*ReferenceError.*"exit_code":1/,
 qr{"status":"error".*file:///tmp/run/m.mjs:3\\n.*TypeError: here.*"exit_code":1}]

=== TEST 9: bytes that are not UTF-8: replaced and flagged, each stream for itself
--- request eval
[main::py(q("code":"import os; os.write(1, bytes([97,255,98,0,27,34,92,195])); os.write(2, bytes([240,159,152,128]))")),
 main::py(q("code":"import os; os.write(1, bytes([226,130,172])); os.write(2, bytes([237,160,128]))")),
 main::js(q("code":"process.stdout.write(Buffer.from([0xf0, 0x9f, 0x98, 0x41]))"))]
--- response_body_like eval
[qr/"output":"a\x{ef}\x{bf}\x{bd}b\\u0000\\u001b\\"\\\\\x{ef}\x{bf}\x{bd}","stderr":"\x{f0}\x{9f}\x{98}\x{80}",.*"replaced":\{"output":true,"stderr":false\}/,
 qr/"output":"\x{e2}\x{82}\x{ac}","stderr":"(\x{ef}\x{bf}\x{bd}){3}",.*"replaced":\{"output":false,"stderr":true\}/,
 qr/"output":"\x{ef}\x{bf}\x{bd}A",.*"replaced":\{"output":true,/]

=== TEST 10: base64: exact, and nothing to flag
--- request eval
[main::py(q("encoding":"base64","code":"import os; os.write(1, bytes([97,255,98,0,195])); os.write(2, bytes([255]))")),
 main::py(q("encoding":"base64","code":"pass")),
 main::js(q("encoding":"base64","code":"process.stdout.write(Buffer.from([...Array(256).keys()]))")),
 main::py(q("encoding":"utf-8","code":"print('\u00e9')")),
 main::py(q("encoding":"base64","code":"print('x'*2000)","limits":{"output":1024}))]
--- response_body_like eval
[qr{"output":"Yf9iAMM=","stderr":"/w==",.*"replaced":\{"output":false,"stderr":false\}},
 qr{"output":"","stderr":"",},
 qr{"output":"AAECAwQFBgcICQ[^"]{326}/w=="},
 qr{"output":"\x{c3}\x{a9}\\n"},
 qr{"status":"output_exceeded","output":"[^"]{1368}",.*"truncated":\{"output":true,}]

=== TEST 11: what is cut inside of a character is flagged, too
--- request eval
main::py(q("code":"print('x' + '\u00e9'*1000)","limits":{"output":1024}))
--- response_body_like: "status":"output_exceeded","output":"x(?:\xc3\xa9){511}\xef\xbf\xbd",.*"truncated":\{"output":true,"stderr":false\},"replaced":\{"output":true,"stderr":false\}

=== TEST 12: each limit as a number and as a text, in bytes, ms and counts
--- request eval
[main::with(q("limits":{"memory":33554432,"timeout":2500,"cpu_time":1500,"output":2048,"disk":1048576,"processes":2,"threads":8,"open_files":32,"stack":1048576})),
 main::with(q("limits":{"memory":"32m","timeout":"2500ms","cpu_time":"1500ms","output":"2k","disk":"1M","processes":"2","threads":"8","open_files":"32","stack":"1024K"})),
 main::with(q("limits":{"timeout":"3s","memory":"0032m"})),
 main::with(q("limits":{}))]
--- response_body_like eval
[(qr/"limits":\{"memory":33554432,"timeout":2500,"cpu_time":1500,"output":2048,"disk":1048576,"processes":2,"threads":8,"open_files":32,"stack":1048576,"allocation":null,"cpu_per_second":null,"memory_terms":\{"base":\d+,"code":1,"wanted":33554432,"factor":1.25\}\}/) x 2,
 qr/"limits":\{"memory":33554432,"timeout":3000,"cpu_time":3000,/,
 qr/"limits":\{"memory":134217728,"timeout":5000,"cpu_time":5000,"output":1048576,"disk":16777216,"processes":1,"threads":64,"open_files":256,"stack":8388608,/]

=== TEST 13: above the ceiling: 400, both numbers named
--- request eval
[main::with(q("limits":{"memory":"513m"})), main::with(q("limits":{"timeout":20001})),
 main::with(q("limits":{"cpu_time":"21s"})), main::with(q("limits":{"output":"9m"})),
 main::with(q("limits":{"disk":67108865})), main::with(q("limits":{"processes":65})),
 main::with(q("limits":{"threads":129})), main::with(q("limits":{"open_files":"1025"})),
 main::with(q("limits":{"stack":"17m"}))]
--- error_code eval
[(400) x 9]
--- response_body_like eval
[qr/"error":"limits.memory: 537919488 bytes asked for, at most 536870912 bytes allowed.*"limits":\{"memory":null,"timeout":null,"cpu_time":null,/,
 main::said('limits.timeout: 20001 ms asked for, at most 20000 ms allowed'),
 main::said('limits.cpu_time: 21000 ms asked for, at most 20000 ms allowed'),
 main::said('limits.output: 9437184 bytes asked for, at most 8388608 bytes allowed'),
 main::said('limits.disk: 67108865 bytes asked for, at most 67108864 bytes allowed'),
 main::said('limits.processes: 65 asked for, at most 64 allowed'),
 main::said('limits.threads: 129 asked for, at most 128 allowed'),
 main::said('limits.open_files: 1025 asked for, at most 1024 allowed'),
 main::said('limits.stack: 17825792 bytes asked for, at most 16777216 bytes allowed')]

=== TEST 14: a limit that is no value
--- request eval
[map { main::with(qq("limits":{$_})) }
     ('"memory":"lots"', '"memory":true', '"memory":null', '"memory":-1',
      '"memory":1.5', '"memory":"64 m"', '"memory":1e9', '"memory":""',
      '"memory":18446744073709551616', '"memory":"17592186044416m"',
      '"memory":{}', '"memory":["64m"]', '"timeout":"5x"', '"timeout":0',
      '"processes":"1k"', '"stack":0')]
--- error_code eval
[(400) x 16]
--- response_body_like eval
[(main::said('limits.memory: ')) x 12, (main::said('limits.timeout: ')) x 2,
 main::said('limits.processes: '), main::said('limits.stack: ')]

=== TEST 15: limits that are none
--- request eval
[main::with(q("limits":[])), main::with(q("limits":null)), main::with(q("limits":{"memroy":1})),
 main::with(q("limits":{"factor":2})), main::with(q("limits":{"memory":1,"memory":2}))]
--- error_code eval
[(400) x 5]
--- response_body_like eval
[(main::said('limits: an object is expected')) x 2,
 main::said('limits: unknown key \\"memroy\\"'), main::said('limits: unknown key \\"factor\\"'),
 main::said('duplicate key \\"memory\\"')]

=== TEST 16: text that is no JSON
--- request eval
[map { "POST /run\n$_" }
     ('{', '{"code":"1"', '{"code":"1",}', '{"code" "1"}', "{'code':'1'}",
      '{"code":"1"}{}', '{"code":"1"} x', '{"code":tru}', '{"code":01}',
      '{"code":+1}', '{"code":1.}', '{"code":.5}', '{"code":NaN}', '{"code":0x1}',
      '{"code":"1" /* one */}', '{"a":"' . "\t" . '"}', '{"code":"\x41"}',
      '{"code":"\u12"}', '{code:"1"}', '{"code":"open}', '',
      '{"code":' . '[' x 100 . ']' x 100 . '}')]
--- error_code eval
[(400) x 22]
--- response_body_like eval
[(qr/^\{"status":"invalid",.*"returncode":125,"error":"[^"]+(?:\\"[^"]*)* at byte \d+",/) x 20,
 main::said('the body is empty: a JSON object with \\"language\\" and \\"code\\" is expected'),
 qr/"error":"nested too deeply at byte \d+"/]

=== TEST 17: text that readers of JSON disagree on
--- request eval
[map { "POST /run\n$_" }
     ('{"language":"python","code":"1","code":"2"}',
      '{"language":"python","code":"1","\u0063ode":"2"}',
      '{"language":"python","code":"1","env":{"A":"1","A":"2"}}',
      '{"language":"python","code":"1","files":[{"path":"a","path":"b","content":""}]}',
      '{"language":"python","code":"1","stdin":{"base64":"","base64":""}}',
      '{"language":"python","code":"' . "\xff" . '"}',
      '{"language":"python","code":"' . "\xc0\x80" . '"}',
      '{"language":"python","code":"' . "\xed\xa0\x80" . '"}',
      '{"language":"python","code":"\ud800"}',
      '{"language":"python","code":"\udc00\ud800"}',
      '{"language":"python","code":"1","a\u0000":"2"}',
      "\xef\xbb\xbf" . '{"language":"python","code":"1"}')]
--- error_code eval
[(400) x 12]
--- response_body_like eval
[main::said('duplicate key \\"code\\" at byte 32'),
 main::said('duplicate key \\"\\\\u0063ode\\"'), main::said('duplicate key \\"A\\"'),
 main::said('duplicate key \\"path\\"'), main::said('duplicate key \\"base64\\"'),
 (main::said('invalid UTF-8 at byte 29')) x 3, (main::said('lone surrogate at byte 29')) x 2,
 main::said('NUL in a key'), qr/"error":"[^"]+ at byte 0"/]

=== TEST 18: JSON, but no request
--- request eval
[map { "POST /run\n$_" }
     ('[]', 'null', '"print(1)"', '1',
      '{}', '{"language":"python"}', '{"code":"1"}',
      '{"language":"python","code":""}', '{"language":"python","code":null}',
      '{"language":"python","code":["1"]}', '{"language":1,"code":"1"}',
      '{"language":"","code":"1"}', '{"language":"cobol","code":"1"}',
      '{"language":"Python","code":"1"}', '{"language":"../x","code":"1"}')]
--- error_code eval
[(400) x 15]
--- response_body_like eval
[(main::said('the body is not a JSON object')) x 4,
 (main::said('code: is required')) x 2, main::said('language: is required'),
 main::said('the program is empty'), (main::said('code: a string is expected')) x 2,
 main::said('language: a string is expected'), main::said('language: is empty'),
 main::said('language: \\"cobol\\" is not one of python, node'),
 main::said('language: \\"Python\\" is not one of python, node'),
 main::said('language: holds a slash')]

=== TEST 19: unknown keys, with their name
--- request eval
[main::with(q("cmd":"x")), main::with(q("Code":"x")), main::with(q("":"x")),
 main::with(q("files":[{"path":"a","content":"","mode":"755"}])),
 main::with(q("stdin":{"base32":""})), main::with(q("stdin":{"base64":"","x":1}))]
--- error_code eval
[(400) x 6]
--- response_body_like eval
[main::said('unknown key \\"cmd\\"'), main::said('unknown key \\"Code\\"'),
 main::said('unknown key \\"\\"'), main::said('files[0]: unknown key \\"mode\\"'),
 (main::said('stdin: ')) x 2]

=== TEST 20: parts of another type
--- request eval
[map { main::with($_) }
     (q("stdin":1), q("stdin":null), q("stdin":{}), q("stdin":{"base64":1}), q("stdin":{"base64":"A"}),
      q("args":"a"), q("args":[1]), q("args":["a",null]), q("args":["a\u0000b"]),
      q("env":[]), q("env":{"A":1}), q("env":{"A=B":"1"}), q("env":{"":"1"}), q("env":{"A":"\u0000"}),
      q("encoding":"latin1"), q("encoding":1),
      q("name":1), q("name":""), q("name":"a/b"), q("name":"-c"), q("name":".."), q("name":"a\u0000b"))]
--- error_code eval
[(400) x 22]
--- response_body_like eval
[(main::said('stdin: ')) x 4, main::said('stdin.base64: is not valid base64'),
 main::said('args: an array of strings is expected'), main::said('args[0]: a string is expected'),
 main::said('args[1]: a string is expected'), main::said('args[0]: holds a NUL byte'),
 main::said('env: an object of strings is expected'), main::said('env.A: a string is expected'),
 main::said('env: the name \\"A=B\\"'), main::said('env.: has an empty name'), main::said('env.A: holds a NUL byte'),
 (main::said('encoding: \\"utf-8\\" or \\"base64\\" is expected')) x 2,
 main::said('name: a string is expected'), main::said('name: is empty'), main::said('name: holds a slash'),
 main::said('name: starts with a dash'), main::said('name: '), main::said('name: holds a NUL byte')]

=== TEST 21: variables that steer loader and interpreter
--- request eval
[map { main::with(qq("env":{"$_":"x"})) }
     qw(LD_PRELOAD LD_ANYTHING NODE_OPTIONS PYTHONPATH PYTHONHOME GLIBC_TUNABLES
        MALLOC_ARENA_MAX SBX_PAGE)]
--- error_code eval
[(400) x 8]
--- response_body_like eval
[map { main::said("env.$_: steers the loader") }
     qw(LD_PRELOAD LD_ANYTHING NODE_OPTIONS PYTHONPATH PYTHONHOME GLIBC_TUNABLES
        MALLOC_ARENA_MAX SBX_PAGE)]

=== TEST 22: files that cannot be
--- request eval
[map { main::with(qq("files":$_)) }
     ('{}', '["a"]', '[{"content":""}]', '[{"path":"a"}]',
      '[{"path":"a","content":"","base64":""}]', '[{"path":"a","content":1}]',
      '[{"path":"a","base64":"A==="}]', '[{"path":"a","base64":"QQ"}]', '[{"path":"a","base64":"QR=="}]',
      '[{"path":"","content":""}]', '[{"path":"/etc/passwd","content":""}]',
      '[{"path":"../a","content":""}]', '[{"path":"a/../../b","content":""}]',
      '[{"path":"./a","content":""}]', '[{"path":"a//b","content":""}]', '[{"path":"a/","content":""}]',
      '[{"path":"a\u0000b","content":""}]', '[{"path":"' . 'x' x 256 . '","content":""}]',
      '[{"path":"main.py","content":""}]', '[{"path":"main.py/x","content":""}]',
      '[{"path":"a","content":""},{"path":"a","content":""}]',
      '[{"path":"a","content":""},{"path":"a/b","content":""}]')]
--- error_code eval
[(400) x 22]
--- response_body_like eval
[main::said('files: an array of objects is expected'), main::said('files[0]: an object is expected'),
 main::said('files[0].path: is required'), main::said('files[0]: \\"content\\" or \\"base64\\" is required'),
 main::said('files[0]: \\"content\\" and \\"base64\\" contradict'), main::said('files[0].content: a string is expected'),
 (main::said('files[0].base64: is not valid base64')) x 3,
 main::said('files[0].path: is empty'), main::said('files[0].path: is absolute'),
 (main::said('files[0].path: has a \\".\\" or \\"..\\" component')) x 3,
 (main::said('files[0].path: has an empty component')) x 2,
 main::said('files[0].path: holds a NUL byte'), main::said('files[0].path: has a component longer than'),
 main::said('files[0]: path \\"main.py\\" is in the way'), main::said('files[0]: path \\"main.py/x\\" is in the way'),
 main::said('files[1]: path \\"a\\" is in the way'), main::said('files[1]: path \\"a/b\\" is in the way')]

=== TEST 23: as many as there may be, and one more
--- request eval
[main::py(q("code":"import sys; print(len(sys.argv))","args":[) . main::list(('"a"') x 256) . ']'),
 main::with(q("args":[) . main::list(('"a"') x 257) . ']'),
 main::py(q("code":"import os; print(len([k for k in os.environ if k[0] == 'V']))","env":{) . main::list(map { qq("V$_":"") } 1 .. 256) . '}'),
 main::with(q("env":{) . main::list(map { qq("V$_":"") } 1 .. 257) . '}'),
 main::py(q("code":"import os; print(len(os.listdir('.')))","files":[) . main::list(map { qq({"path":"f$_","content":""}) } 1 .. 256) . ']'),
 main::with(q("files":[) . main::list(map { qq({"path":"f$_","content":""}) } 1 .. 257) . ']'),
 main::with(q("args":[") . ('a' x 262145) . '"]')]
--- error_code eval
[200, 400, 200, 400, 200, 400, 400]
--- response_body_like eval
[qr/"output":"257\\n"/, main::said('args: more than 256'), qr/"output":"256\\n"/,
 main::said('env: more than 256'), qr/"output":"257\\n"/, main::said('files: more than 256'),
 main::said('args: more than 256, or args and env together above 262144 bytes')]

=== TEST 24: an answer of ours has every key, too
--- request
POST /run
{"language":"cobol","code":"1"}
--- error_code: 400
--- response_headers
Content-Type: application/json
--- response_body_like: ^\{"status":"invalid","output":"","stderr":"","exit_code":null,"signal":null,"returncode":125,"error":"[^"]*(?:\\"[^"]*)*","reason":null,"usage":\{"wall_ms":0,"cpu_ms":0,"queue_ms":0,"memory_bytes":null,"memory_source":null,"processes":0,"threads":null,"open_files":null,"largest_bytes":null,"refused":\[\]\},"limits":\{"memory":null,"timeout":null,"cpu_time":null,.*"memory_terms":\{"base":null,"code":null,"wanted":null,"factor":null\}\},"truncated":\{"output":false,"stderr":false\},"replaced":\{"output":false,"stderr":false\},"violation":null\} *$

=== TEST 25: content types of a location for any language
--- request eval
[("POST /run\n" . q({"language":"python","code":"print(1)"})) x 8]
--- more_headers eval
["Content-Type: application/json", "Content-Type: APPLICATION/JSON ; Charset=utf-8",
 "Content-Type: application/json; charset=iso-8859-1", "Content-Type: text/plain",
 "Content-Type: application/x-www-form-urlencoded", "", "Content-Type: text/x-python",
 "Content-Type: application/json5"]
--- error_code eval
[200, 200, (415) x 6]
--- response_body_like eval
[(qr/"output":"1\\n"/) x 2, main::said('JSON is UTF-8: the charset of Content-Type is another'),
 (main::said('the header \\"Content-Type: application/json\\" is missing')) x 5]

=== TEST 26: a location for one language: any other type is the program
--- config
    location /run { sandbox python; }
    location /js { sandbox javascript; }
--- request eval
["POST /run\nprint(6*7)", "POST /run\nprint(6*7)", "POST /run\n" . q({"code":"print(6*7)"}),
 "POST /run\n" . q({"language":"py","code":"print(6*7)"}), "POST /run\n" . q({"language":"js","code":"1"}),
 "POST /js\nconsole.log(6*7)", "POST /run\n" . q({"code":1}), "POST /run",
 "POST /run\nprint(__file__)\n1/0", "POST /run\nprint('\xc3\xa9', ascii('\xc3\xa9'))"]
--- more_headers eval
["Content-Type: text/x-python", "", "Content-Type: application/json", "Content-Type: application/json",
 "Content-Type: application/json", "Content-Type: application/octet-stream", "Content-Type: text/plain",
 "", "", ""]
--- error_code eval
[200, 200, 200, 200, 400, 200, 200, 400, 200, 200]
--- response_body_like eval
[(qr/"output":"42\\n"/) x 4, main::said('language: \\"node\\" is not to be had here, only \\"python\\"'),
 qr/"output":"42\\n"/, qr/"status":"success","output":""/, main::said('the program is empty'),
 qr{"status":"error","output":"/tmp/run/main.py\\n".*main.py\\", line 2,},
 qr{"output":"\xc3\xa9 '\\\\xe9'\\n"}]

=== TEST 27: a stored program: the body is its input, whatever it is
--- user_files
>>> count.py
import sys
print(__file__, len(sys.stdin.buffer.read()))
>>> up.mjs
import fs from 'fs'
console.log(import.meta.url, String(fs.readFileSync(0)).toUpperCase())
--- config
    client_body_buffer_size 8k;
    location /run { sandbox python; sandbox_code ../html/count.py; }
    location /up { sandbox node; sandbox_code ../html/up.mjs; }
--- request eval
["POST /run\nfive!", "POST /run\n" . q({"code":"print(1)"}), "POST /run", "POST /run\n" . 'x' x 100000,
 "POST /up\nabc", "GET /run"]
--- error_code eval
[200, 200, 200, 200, 200, 405]
--- response_body_like eval
[qr{"output":"/tmp/run/count.py 5\\n"}, qr{"output":"/tmp/run/count.py 19\\n"},
 qr{"output":"/tmp/run/count.py 0\\n"}, qr{"output":"/tmp/run/count.py 100000\\n"},
 qr{"output":"file:///tmp/run/up.mjs ABC\\n"}, main::said('a program is run by POST, not by GET')]

=== TEST 28: a program of half a megabyte, and one that is a comment
--- request eval
[main::py(q("code":"x = ') . ('y' x 500000) . q('\nprint(len(x))")),
 main::py(q("code":"# nothing")),
 main::js(q("code":"// nothing")),
 main::js(q("code":"const x = ') . ('y' x 500000) . q('; console.log(x.length)"))]
--- response_body_like eval
[qr/"output":"500000\\n".*"code":500020/, qr/"status":"success","output":"",/,
 qr/"status":"success","output":"",/, qr/"output":"500000\\n"/]
