use strict;
use warnings;
use Test::Nginx::Socket;
use lib 't/facades';
use Facade;

# A day at the SandboxFusion façade, served by the lines of its example.

our $Example = facade('fusion');


sub run_code {
    my ($language, $code, %more) = @_;

    return post('/run_code', { language => $language, code => $code, %more });
}


# Success or Failed, with the return code and what was printed.
sub ran {
    my ($code, $stdout, $stderr, $verdict) = @_;
    my $status = $code eq '0' ? 'Success' : 'Failed';
    my $how = $code eq 'null' ? 'TimeLimitExceeded' : 'Finished';

    $stderr //= '';
    $verdict //= $code eq '0' ? 'success' : 'error';

    return qr/^\{"status":"$status","compile_result":null,"executor_pod_name":null,"files":\{\},"message":"","run_result":\{"status":"$how","stderr":"$stderr","error":(?:null|".*"),"execution_time":[\d.e-]+,"return_code":$code,"stdout":"$stdout","verdict":"$verdict"\}\}$/;
}


sub failed {
    return qr/^\{"status":"SandboxError","compile_result":null,"executor_pod_name":null,"files":\{\},"message":"$_[0]","run_result":null\}$/;
}


# FastAPI's detail: where, what, and of which kind.
sub detail {
    my ($where, $what, $kind) = @_;

    return "{\"detail\":[{\"loc\":[\"body\"$where],\"msg\":\"$what\",\"type\":\"$kind\"}]}";
}

# starting the supervisor is part of the first request
timeout(20);

plan tests => repeat_each() * 132;

no_long_string();
no_root_location();
run_tests();

__DATA__

=== TEST 1: hello in both languages; standard input, files, an empty program
--- config eval: $::Example
--- request eval
[::run_code('python', 'print("hello")'), ::run_code('nodejs', 'console.log("hello")'),
 ::run_code('python', 'print(input())', stdin => "line\n"),
 ::run_code('python', 'import sys; print(repr(sys.stdin.read()))', stdin => undef),
 ::run_code('python', 'print(open("d/x").read())',
            files => { 'd/x' => 'YWJj', nothing => undef }),
 ::run_code('python', '')]
--- more_headers
Content-Type: application/json
--- response_body_like eval
[map { ::ran(0, $_) } ('hello\\\\n') x 2, 'line\\\\n', "''\\\\n", 'abc\\\\n', '']



=== TEST 2: the name of the pod, ping, and what is not there
--- config eval
::facade('fusion', '', 'pod=judge-1') =~ s{= /v1/ping}{/}r
--- request eval
[::run_code('python', '1'), "GET /v1/ping", "POST /v1/ping\n{}", "GET /run_code",
 "GET /list_datasets", "POST /run_jupyter\n{}"]
--- error_code eval
[200, 200, 405, 405, 404, 404]
--- response_headers eval
["!Allow", "!Allow", "Allow: GET", "Allow: POST", "!Allow", "!Allow"]
--- response_body_like eval
['"executor_pod_name":"judge-1"', '^"pong"$',
 ('^\{"detail":"Method Not Allowed"\}$') x 2,
 ('^\{"detail":"Not Found"\}$') x 2]



=== TEST 3: bodies that are none of SandboxFusion's
--- config eval: $::Example
--- request eval
[map { ::post('/run_code', $_) } '{}', '{"code":"1"}', '{"code":7}',
 '{"code":null}', '{"code":"1","language":7}', '{"code":"1","language":"go"}',
 map { '{"code":"1","language":"python",' . $_ . '}' } '"run_timeout":"x"',
 '"run_timeout":null', '"compile_timeout":[]', '"memory_limit_MB":1.5',
 '"memory_limit_MB":"1.5"', '"memory_limit_MB":null', '"stdin":7',
 '"files":[]', '"files":{"x":7}', '"fetch_files":"x"', '"fetch_files":[7]']
--- more_headers
Content-Type: application/json
--- error_code eval
[(422) x 17]
--- response_body eval
[::detail(',"code"', 'Field required', 'missing'),
 ::detail(',"language"', 'Field required', 'missing'),
 (::detail(',"code"', 'Input should be a valid string', 'string_type')) x 2,
 ::detail(',"language"', 'Input should be a valid string', 'string_type'),
 ::detail(',"language"', "Input should be 'python' or 'nodejs'", 'enum'),
 ::detail(',"run_timeout"', 'Input should be a valid number, unable to parse string as a number', 'float_parsing'),
 ::detail(',"run_timeout"', 'Input should be a valid number', 'float_type'),
 ::detail(',"compile_timeout"', 'Input should be a valid number', 'float_type'),
 ::detail(',"memory_limit_MB"', 'Input should be a valid integer, got a number with a fractional part', 'int_from_float'),
 ::detail(',"memory_limit_MB"', 'Input should be a valid integer, unable to parse string as an integer', 'int_parsing'),
 ::detail(',"memory_limit_MB"', 'Input should be a valid integer', 'int_type'),
 ::detail(',"stdin"', 'Input should be a valid string', 'string_type'),
 ::detail(',"files"', 'Input should be a valid dictionary', 'dict_type'),
 ::detail(',"files","x"', 'Input should be a valid string', 'string_type'),
 ::detail(',"fetch_files"', 'Input should be a valid list', 'list_type'),
 ::detail(',"fetch_files",0', 'Input should be a valid string', 'string_type')]



=== TEST 4: no JSON; no object; another type; no type at all
--- config eval: $::Example
--- request eval
["POST /run_code\n{", "POST /run_code", "POST /run_code\n[]", "POST /run_code\n{}",
 ::run_code('python', 'print(1)')]
--- more_headers eval
[("Content-Type: application/json") x 3, "Content-Type: text/plain", ""]
--- error_code eval
[422, 422, 422, 422, 200]
--- response_body_like eval
[map({ "^\Q$_\E\$" } ::detail(',1', 'JSON decode error: a key was expected at byte 1', 'json_invalid'),
 ::detail(',0', 'JSON decode error: the text ends too early at byte 0', 'json_invalid'),
 (::detail('', 'Input should be a valid dictionary or object to extract fields from', 'model_attributes_type')) x 2),
 ::ran(0, '1\\\\n')]



=== TEST 5: what only a sandbox of its own could do is the sandbox's error
--- config eval: $::Example
--- request eval
[::run_code('python', '1', fetch_files => ['x']),
 ::run_code('python', '1', files => { x => '?' }),
 ::run_code('python', '1', files => { '../x' => '' }),
 ::run_code('python', '1', memory_limit_MB => 1e30)]
--- more_headers
Content-Type: application/json
--- error_code eval
[200, 200, 200, 422]
--- response_body_like eval
[::failed('fetch_files: files of a run are not to be had here'),
 ::failed('files: x is not valid base64'), ::failed('files\[0\].path: .*'),
 'int_from_float']



=== TEST 6: a program's end: codes, signals, syntax, time, memory, output
--- config eval
::facade('fusion') =~ s/sandbox_output 8m/sandbox_output 64k/r
--- request eval
[::run_code('python', 'raise SystemExit(3)'), ::run_code('python', '1/0'),
 ::run_code('python', 'import os; os.abort()'),
 ::run_code('python', 'import ctypes; ctypes.string_at(0)'),
 ::run_code('python', 'def f(:'), ::run_code('nodejs', 'function ('),
 ::run_code('python', "print('begun', flush=True)\nimport time; time.sleep(9)",
            run_timeout => 0.3),
 ::run_code('python', 'while True: pass', run_timeout => "0.3"),
 ::run_code('python', 'x = bytearray(200000000)', memory_limit_MB => 64),
 ::run_code('nodejs', 'Buffer.alloc(400000000)', memory_limit_MB => "128"),
 ::run_code('python', 'while True: print("x" * 100)')]
--- more_headers
Content-Type: application/json
--- response_body_like eval
[::ran(3, ''), ::ran(1, '', '.*ZeroDivisionError.*'),
 ::ran(-6, '', '', 'signaled'), ::ran(-11, '', '', 'memory_violation'),
 ::ran(1, '', '.*SyntaxError.*'), ::ran(1, '', '.*SyntaxError.*'),
 ::ran('null', 'begun\\\\n', '', 'timeout'), ::ran('null', '', '', 'timeout'),
 (::ran(-9, '', '', 'memory_exceeded')) x 2,
 ::ran(-9, 'x+.*', '', 'output_exceeded')]



=== TEST 7: limits as they reach the run: no memory limit is the most there is
--- config eval
::facade('fusion', 'sandbox_dry_run on;')
--- request eval
[map { ::run_code('python', '1', @$_) } [], [memory_limit_MB => -1],
 [memory_limit_MB => 64, run_timeout => 1.5, compile_timeout => 10],
 [memory_limit_MB => 1_000_000, run_timeout => 1_000_000]]
--- more_headers
Content-Type: application/json
--- response_body_like eval
[map { qr/"limits":\{"memory":$_->[0],"timeout":$_->[1],/ }
 [2147483648, 10000], [2147483648, 10000], [67108864, 1500], [2147483648, 60000]]



=== TEST 8: Unicode; a large input, and one that the server does not take
--- config eval
::facade('fusion', 'client_max_body_size 2m;')
--- request eval
[::run_code('python', "print(input(), '\x{e4}\x{1f600}')", stdin => "\x{e9}"),
 ::run_code('python', 'import os; os.write(1, b"a\xffb")'),
 ::run_code('nodejs', 'console.log(require("fs").readFileSync(0).length)',
            stdin => 'x' x 1_000_000),
 ::run_code('python', 'x' x 3_000_000)]
--- more_headers
Content-Type: application/json
--- error_code eval
[200, 200, 200, 413]
--- response_body_like eval
[::ran(0, "\xc3\xa9 \xc3\xa4\xf0\x9f\x98\x80\\\\n"), ::ran(0, "a\xef\xbf\xbdb"),
 ::ran(0, '1000000\\\\n'), '413 Request Entity Too Large']



=== TEST 9: languages of somebody else go on
--- config eval
::facade('fusion', '', 'pass=@fusion') . '
location @fusion { return 200 "$request_method $uri\n"; }'
--- request eval
[::run_code('go', 'package main'), ::run_code('python', 'print(1)')]
--- more_headers
Content-Type: application/json
--- response_body_like eval
['^POST /run_code\n$', ::ran(0, '1\\\\n')]



=== TEST 10: overload
--- http_config
    sandbox_slots 1;
    sandbox_standby 0;
    sandbox_queue 0;
--- config eval
::busy('fusion', '/run_code')
--- user_files
>>> slow.py
import time
time.sleep(1)
--- request eval
[::run_code('python', '1'),
 ::run_code('python', '1') =~ s{/run_code}{/both}r]
--- more_headers
Content-Type: application/json
--- error_code eval
[200, 503]
--- response_headers eval
["!Retry-After", "Retry-After: 1"]
--- response_body_like eval
[::ran(0, ''), '^\{"detail":"[^"]*slots[^"]*"\}$']



=== TEST 11: no supervisor
--- http_config
    sandbox_command /bin/false;
--- config eval: $::Example
--- request eval
::run_code('python', '1')
--- more_headers
Content-Type: application/json
--- error_code_like: ^50[23]$
--- response_body_like: ^\{"detail":"[^"]+","traceback":\[\]\}$
