use strict;
use warnings;
use Test::Nginx::Socket;
use lib 't/facades';
use Facade;

# A day at the small service of five keys, served by the lines of its example.

our $Example = facade('flask');


sub program {
    my ($code, %more) = @_;

    return post('/run', { code => $code, %more });
}

# starting the supervisor is part of the first request
timeout(20);

plan tests => repeat_each() * 64;

no_long_string();
no_root_location();
run_tests();

__DATA__

=== TEST 1: byte for byte, whatever language, and none
--- config eval: $::Example
--- request eval
[::program('print(1+1)'), ::program('print(1+1)', language => 'python'),
 ::program('console.log(1+1)', language => 'node'),
 ::program("import sys\nprint('no', file=sys.stderr)\nsys.exit(3)"),
 ::program('import os; os.abort()'), ::program("x = b'x' * 10**9"),
 ::program('Buffer.alloc(1e9)', language => 'js'),
 ::program("print('\x{e4}\x{1f600}')")]
--- more_headers
Content-Type: application/json
--- response_headers eval
[("Content-Type: application/json") x 8]
--- response_body eval
[('{"status":"success","output":"2\n"}') x 3,
 '{"status":"error","returncode":3,"stderr":"no\n"}',
 '{"status":"error","returncode":134,"stderr":""}',
 ('{"status":"memory_exceeded","error":"Malloc hook triggered"}') x 2,
 "{\"status\":\"success\",\"output\":\"\xc3\xa4\xf0\x9f\x98\x80\\n\"}"]



=== TEST 2: time, output, syntax, a fault
--- config eval
::facade('flask') =~ s/sandbox_timeout 5s/sandbox_timeout 500ms/r
--- request eval
[::program('while True: pass'), ::program('while True: print("x" * 1000)'),
 ::program('def f(:'), ::program('import ctypes; ctypes.string_at(0)')]
--- more_headers
Content-Type: application/json
--- response_body_like eval
['^\{"status":"timeout","error":"time limit of 500ms exceeded[^}]*"\}$',
 '^\{"status":"error","returncode":153,"stderr":""\}$',
 '^\{"status":"error","returncode":1,"stderr":".*SyntaxError: .*"\}$',
 '^\{"status":"error","returncode":139,"stderr":".*"\}$']



=== TEST 3: the native contract is there for who asks for more of it
--- config eval: $::Example
--- request eval
[::program('print(input())', language => 'python', stdin => 'in'),
 ::program('x = bytearray(40_000_000)', language => 'python',
           limits => { memory => '16m' })]
--- more_headers
Content-Type: application/json
--- response_body eval
['{"status":"success","output":"in\n"}',
 '{"status":"memory_exceeded","error":"Malloc hook triggered"}']



=== TEST 4: what never ran is told by the native answer
--- config eval: $::Example
--- request eval
[::post('/run', '{'), ::post('/run', '{}'), ::post('/run', '[]'),
 ::post('/run', '{"code":7}'), ::program('1', kode => 1),
 ::program('1', stdin => ''), ::program('', language => 'python'),
 ::post('/run', 'print(1)'), "GET /run"]
--- more_headers eval
[("Content-Type: application/json") x 7, "Content-Type: text/plain", ""]
--- error_code eval
[(400) x 7, 415, 405]
--- response_body_like eval
[map { "^\\{\"status\":\"invalid\",.*\"returncode\":125,\"error\":\"[^}]*$_" }
 ('') x 3, 'code', 'kode', 'language: is required', 'empty', 'language', 'POST']



=== TEST 5: a large program, and one that the server does not take
--- config eval
::facade('flask', 'client_max_body_size 2m;')
--- request eval
[::program("x = '" . ('x' x 1_000_000) . "'\nprint(len(x))"),
 ::program('x' x 3_000_000)]
--- more_headers
Content-Type: application/json
--- error_code eval
[200, 413]
--- response_body_like eval
['^\{"status":"success","output":"1000000\\\\n"\}$', '413 Request Entity Too']



=== TEST 6: overload
--- http_config
    sandbox_slots 1;
    sandbox_standby 0;
    sandbox_queue 0;
--- config eval
::busy('flask', '/run')
--- user_files
>>> slow.py
import time
time.sleep(1)
--- request eval
[::program('print(1)'), ::program('print(1)') =~ s{/run}{/both}r]
--- more_headers
Content-Type: application/json
--- error_code eval
[200, 503]
--- response_headers eval
["!Retry-After", "Retry-After: 1"]
--- response_body_like eval
['^\{"status":"success","output":"1\\\\n"\}$', '^\{"status":"busy",']
