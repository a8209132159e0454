use strict;
use warnings;
use Test::Nginx::Socket;
use lib 't/facades';
use Facade;
use MIME::Base64 qw(encode_base64);

# A day at the snekbox façade, served by the lines of its example.

our $Example = facade('snekbox');


# The code is `input`, or a body is given.
sub evaluate {
    my ($body) = @_;

    return post('/eval', ref $body ? $body : { input => $body });
}


sub file {
    my ($path, $content) = @_;

    return { path => $path, content => encode_base64($content, '') };
}


# The three fields, with what is printed as a pattern.
sub result {
    my ($code, $stdout) = @_;

    return qr/^\{"returncode":$code,"files":\[\],"stdout":"$stdout"\}$/;
}

# starting the supervisor is part of the first request
timeout(20);

plan tests => repeat_each() * 120;

no_long_string();
no_root_location();
run_tests();

__DATA__

=== TEST 1: programs: the input, a module, a file, nothing
--- config eval: $::Example
--- request eval
[map { ::evaluate($_) } 'print("hello")', '',
 { args => ['-c', 'import sys; print(sys.argv[1:])', 'a', 'b'] },
 { args => ['', '', '-c'], input => 'print(1)' },
 { args => [qw(-B -E -I -q -s -u -c print(2))], executable_path => '/x' },
 { args => ['-m', 'timeit', '-n', '1', '-s', 'x = 1'], input => 'x' },
 { args => ['main.py', 'a'], files => [
     ::file('main.py', 'import sys, d.m; print(sys.argv, d.m.x)'),
     ::file('d/m.py', 'x = 1'), { path => 'empty' }] },
 { args => [] }, { args => [''] }]
--- more_headers
Content-Type: application/json
--- response_body_like eval
[map { ::result(0, $_) } 'hello\\\\n', '', q(\['a', 'b'\]\\\\n), '1\\\\n',
 '2\\\\n', '1 loop, best of .*', q(\['main.py', 'a'\] 1\\\\n), '', '']



=== TEST 2: what cannot be run has no return code
--- config eval: $::Example
--- request eval
[map { ::evaluate($_) } { args => ['-x'] }, { args => ['nothing.py'] },
 { args => ['-m', 'a;b'] }, { args => ['-c'] },
 { args => ['d/m.py'], files => [::file('d/m.py', '')] },
 "print(1)\0", 'import os; os.write(1, b"\xff")',
 'import os; os.write(2, b"\xff")']
--- more_headers
Content-Type: application/json
--- response_body_like eval
[(::result('null', 'only -c CODE, -m MODULE and a file .*')) x 5,
 ::result('null', 'ValueError: embedded null byte'),
 (::result('null', 'UnicodeDecodeError: invalid Unicode in output pipe')) x 2]



=== TEST 3: bodies that are none of snekbox's
--- config eval: $::Example
--- request eval
[map { ::post('/eval', $_) } '{}', '[]', '7', '{"input":7}', '{"input":null}',
 '{"args":"x"}', '{"args":[7]}', '{"args":[],"files":{}}',
 '{"args":[],"files":[{}]}', '{"args":[],"files":[{"path":"x","content":7}]}']
--- more_headers
Content-Type: application/json
--- error_code eval
[(400) x 10]
--- response_body eval
[map { "{\"description\":\"$_\",\"title\":\"Request data failed validation\"}" }
 "data must contain 'input' or 'args'", ('data must be object') x 2,
 ('data.input must be string') x 2, 'data.args must be array',
 'data.args[0] must be string', 'data.files must be array',
 "data.files[0] must contain 'path'", 'data.files[0].content must be string']



=== TEST 4: files that are none
--- config eval: $::Example
--- request eval
[map { ::evaluate({ input => '1', files => [$_] }) } ::file('/x', ''),
 ::file('../x', ''), ::file('a/../../x', ''), { path => 'x', content => '?' },
 ::file('./x', ''), ::file('main.py', '')]
--- more_headers
Content-Type: application/json
--- error_code eval
[(400) x 6]
--- response_body_like eval
[map { "^\\{\"description\":\"$_\",\"title\":\"Request file is invalid\"\\}\$" }
 "File path '/x' must be relative", "File path '../x' may not use '..'",
 "File path 'a/../../x' may not use '..'",
 "Invalid base64 encoding for file 'x'", 'files\[0\].path: .*', 'files\[0\]: .*']



=== TEST 5: no JSON, no type of ours, no method
--- config eval: $::Example
--- request eval
["POST /eval\n{", "POST /eval", "POST /eval\n{}", "GET /eval", "PUT /eval\n{}",
 ::evaluate('print(1)')]
--- more_headers eval
["Content-Type: application/json", "", "Content-Type: text/plain", "", "", ""]
--- error_code eval
[400, 400, 415, 405, 405, 200]
--- response_headers eval
["!Allow", "!Allow", "!Allow", "Allow: POST", "Allow: POST", "!Allow"]
--- response_body eval
['{"description":"Could not parse JSON body - a key was expected at byte 1","title":"Invalid JSON"}',
 '{"description":"Could not parse JSON body - the text ends too early at byte 0","title":"Invalid JSON"}',
 '{"description":"text/plain is an unsupported media type.","title":"415 Unsupported Media Type"}',
 ('{"title":"405 Method Not Allowed"}') x 2,
 '{"returncode":0,"files":[],"stdout":"1\n"}']



=== TEST 6: a program's end: its code, time, memory, output, signals, syntax
--- config eval
::facade('snekbox') =~ s/sandbox_timeout 6s/sandbox_timeout 500ms/r
--- request eval
[map { ::evaluate($_) } 'raise SystemExit(3)', 'print(1, flush=True); 1/0',
 'print("begun", flush=True); import time; time.sleep(9)', 'while True: pass',
 'x = bytearray(200000000)', 'while True: print("x" * 1000)',
 'import ctypes; ctypes.string_at(0)', 'import os; os.abort()',
 'import os; os.kill(os.getpid(), 15)', 'def f(:']
--- more_headers
Content-Type: application/json
--- response_body_like eval
[::result(3, ''), ::result(1, '1\\\\nTraceback .*/tmp/run/main.py.*ZeroDivisionError: .*'),
 ::result(137, 'begun\\\\n'), ::result(137, ''), ::result(137, ''),
 ::result(143, 'x+\\\\n.*'), ::result(139, '.*'), ::result(134, '.*'),
 ::result(143, ''), ::result(1, '.*SyntaxError: .*')]



=== TEST 7: Unicode; a large input, and one that the server does not take
--- config eval
::facade('snekbox', 'client_max_body_size 2m;')
--- request eval
[::evaluate("print('\x{e4}\x{1f600}')"),
 ::evaluate("x = '" . ('x' x 1_000_000) . "'\nprint(len(x))"),
 ::evaluate('x' x 3_000_000)]
--- more_headers
Content-Type: application/json
--- error_code eval
[200, 200, 413]
--- response_body_like eval
[::result(0, "\xc3\xa4\xf0\x9f\x98\x80\\\\n"), ::result(0, '1000000\\\\n'),
 '413 Request Entity Too Large']



=== TEST 8: overload
--- http_config
    sandbox_slots 1;
    sandbox_standby 0;
    sandbox_queue 0;
--- config eval
::busy('snekbox', '/eval')
--- user_files
>>> slow.py
import time
time.sleep(1)
--- request eval
[::evaluate('1'), ::evaluate('1') =~ s{/eval}{/both}r]
--- more_headers
Content-Type: application/json
--- error_code eval
[200, 503]
--- response_headers eval
["!Retry-After", "Retry-After: 1"]
--- response_body_like eval
[::result(0, ''),
 '^\{"description":"[^"]*slots[^"]*","title":"503 Service Unavailable"\}$']



=== TEST 9: no supervisor
--- http_config
    sandbox_command /bin/false;
--- config eval: $::Example
--- request eval
::evaluate('1')
--- more_headers
Content-Type: application/json
--- error_code_like: ^50[23]$
--- response_body_like: ^\{"description":"[^"]+","title":"50[23]"\}$



=== TEST 10: a sandbox that fails: here, by a limit that is no value
--- config eval
::facade('snekbox') =~ s/sandbox_memory 70m/sandbox_memory \$http_x_memory max=70m/r
--- request eval
::evaluate('1')
--- more_headers
Content-Type: application/json
X-Memory: lots
--- error_code: 200
--- response_body_like eval
::result(255, '.+')
