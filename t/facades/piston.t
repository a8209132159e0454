use strict;
use warnings;
use Test::Nginx::Socket;
use lib 't/facades';
use Facade;

# A judge's day at the Piston façade, served by the lines of its example.

our $Example = facade('piston');


sub execute {
    my ($language, $code, %more) = @_;

    return post('/api/v2/execute', {
        language => $language, version => '*', files => [{ content => $code }],
        %more,
    });
}


# What a run says of its end; the times and the memory are numbers.
sub ended {
    my ($status, $code, $signal, $message) = @_;
    my $text = sub { defined $_[0] ? "\"$_[0]\"" : 'null' };
    my ($s, $sig, $m) = map { $text->($_) } $status, $signal, $message;

    $code //= 'null';

    return qr/^\{"language":"\w+","run":\{"status":$s,"output":".*","stderr":".*","signal":$sig,"code":$code,"cpu_time":\d+,"memory":\d+,"message":$m,"stdout":".*","wall_time":\d+\},"version":"[\d.]+"\}$/;
}


my @semver = (
    ['*', 1], ['3', 1], ['3.x', 1], ['3.11', 1], ['3.11.*', 1], ['3.11.2', 1],
    ['=3.11.2', 1], ['v3.11.2', 1], ['3.11.2-rc1', 1], ['^3.8.0', 1],
    ['^3.11.3', 0], ['^2.7', 0], ['~3.11.0', 1], ['~3.10.9', 0], ['~3', 1],
    ['>=3.8 <4', 1], ['>= 3.8', 1], ['>3.11', 0], ['>3.11.1', 1], ['<3.11', 0],
    ['<=3.11', 1], ['3.8 - 3.12', 1], ['3.8 - 3.10', 0], ['2 || 3.11', 1],
    ['2 || 3.12', 0], ['3.11.2.1', 0], ['three', 0], ['3.12', 0], ['<>3', 0],
);
our @Versions = map { execute('python', '', version => $_->[0]) } @semver;
our @Found = map { $_->[1] ? 200 : 400 } @semver;
our @Said = map {
    $_->[1] ? qr/^\{"language":"python"/
            : qr/^\{"message":"python-\Q$_->[0]\E runtime is unknown"\}$/
} @semver;

# starting the supervisor is part of the first request
timeout(20);

plan tests => repeat_each() * 275;

no_long_string();
no_root_location();
run_tests();

__DATA__

=== TEST 1: what there is
--- config eval: $::Example
--- request eval
["GET /api/v2/runtimes", "GET /api/v2/packages", "HEAD /api/v2/runtimes"]
--- response_headers eval
[("Content-Type: application/json; charset=utf-8") x 3]
--- response_body eval
['[{"aliases":["node-javascript","node-js","javascript","js","node","nodejs"],"language":"javascript","runtime":"node","version":"20.20.2"},{"aliases":["py","py3","python3"],"language":"python","version":"3.11.2"}]',
 '[{"installed":true,"language":"javascript","language_version":"20.20.2"},{"installed":true,"language":"python","language_version":"3.11.2"}]',
 '']



=== TEST 2: what there is not, and the name
--- config eval
::facade('piston') =~ s{location /api/v2/}{location /}r
--- request eval
["GET /", "GET /api/v2/nothing", "GET /api/v2/execute", "GET /other",
 "GET /api/v2/connect", "POST /api/v2/runtimes\n{}", "POST /api/v2/packages\n{}",
 "DELETE /api/v2/packages\n{}"]
--- more_headers
Content-Type: application/json
--- error_code eval
[200, 404, 404, 404, 404, 404, 405, 405]
--- response_body eval
['{"message":"Piston v3.1.1"}', ('{"message":"Not Found"}') x 5,
 ('{"message":"packages are read-only here"}') x 2]



=== TEST 3: hello, by every name of a language
--- config eval: $::Example
--- request eval
[map { ::execute($_, /^py/ ? "print('hello')" : "console.log('hello')") }
     'python', 'py', 'py3', 'python3', 'javascript', 'js', 'node-js',
     'node-javascript']
--- more_headers
Content-Type: application/json
--- response_body_like eval
[map { qr/^\{"language":"$_","run":\{"status":null,"output":"hello\\n","stderr":"","signal":null,"code":0,"cpu_time":\d+,"memory":\d+,"message":null,"stdout":"hello\\n","wall_time":\d+\},"version":"[\d.]+"\}$/ }
     ('python') x 4, ('javascript') x 4]



=== TEST 4: versions are selectors
--- config eval: $::Example
--- request eval: \@::Versions
--- more_headers
Content-Type: application/json
--- error_code eval: \@::Found
--- response_body_like eval: \@::Said



=== TEST 5: bodies that are no job
--- config eval: $::Example
--- request eval
[map { ::post('/api/v2/execute', $_) } '{}', '[]', '{"language":""}', '{"language":7}',
 '{"language":"python"}', '{"language":"python","version":3}',
 '{"language":"python","version":"*"}',
 '{"language":"python","version":"*","files":{}}',
 '{"language":"python","version":"*","files":[{"content":"x"},{"name":"y"}]}',
 '{"language":"python","version":"*","files":[7]}',
 '{"language":"html","version":"5.0.0","files":[]}',
 '{"language":"python","version":"*","files":[]}',
 '{"language":"python","version":"*","files":[{"content":"eA==","encoding":"base64"}]}',
 '{"language":"python","version":"*","files":[{"content":"x"},{"content":"?","encoding":"base64"}]}',
 '{"language":"python","version":"*","files":[{"content":"x"},{"content":"f","encoding":"hex"}]}',
 '{"language":"python","version":"*","files":[{"content":"x"}],"args":"x"}',
 '{"language":"python","version":"*","files":[{"content":"x"}],"args":[{}]}',
 '{"language":"python","version":"*","files":[{"content":"x"}],"stdin":[1]}']
--- more_headers
Content-Type: application/json
--- error_code eval
[(400) x 18]
--- response_body eval
[map { "{\"message\":\"$_\"}" } ('language is required as a string') x 4,
 ('version is required as a string') x 2, ('files is required as an array') x 2,
 'files[1].content is required as a string',
 'files[0].content is required as a string', 'html-5.0.0 runtime is unknown',
 ('files must include at least one utf8 encoded file') x 2,
 'files[1].content is no base64', 'files[1].content is no hex',
 ('args must be an array of strings') x 2, 'stdin must be a string']



=== TEST 6: bodies that are no JSON, and types that are none
--- config eval: $::Example
--- request eval
["POST /api/v2/execute\n{", "POST /api/v2/execute\n7", "POST /api/v2/execute",
 "POST /api/v2/execute\n{}", "POST /api/v2/runtimes\nx", "POST /api/v2/execute\n{}"]
--- more_headers eval
[("Content-Type: application/json") x 3, ("Content-Type: text/plain") x 2, ""]
--- error_code eval
[400, 400, 400, 415, 415, 415]
--- response_body eval
[map { "{\"message\":\"$_\"}" } "the body is not valid JSON: a key was expected at byte 1",
 "the body is not valid JSON",
 "the body is not valid JSON: the text ends too early at byte 0",
 ("requests must be of type application/json") x 3]



=== TEST 7: with text=on, text that is JSON
--- config eval
::facade('piston', '', 'text=on')
--- request eval
[::execute('python', 'print(1)'), ::post('/api/v2/execute', 'print(1)'), ::post('/api/v2/execute', '{}'),
 ::post('/api/v2/execute', '{}')]
--- more_headers eval
[("Content-Type: text/plain;charset=UTF-8") x 3, "Content-Type: text/html"]
--- error_code eval
[200, 415, 400, 415]
--- response_body_like eval
[::ended(undef, 0), ('requests must be of type') x 1, 'language is required',
 'requests must be of type']



=== TEST 8: limits that are wrong
--- config eval: $::Example
--- request eval
[map { ::execute('python', '', @$_) }
 [run_timeout => 3001], [run_timeout => -1], [run_timeout => "3000"],
 [run_cpu_time => 3001], [run_cpu_time => -1],
 [run_memory_limit => 268435457], [run_memory_limit => -2],
 [run_memory_limit => "1"], [compile_timeout => -1],
 [compile_cpu_time => "x"], [compile_memory_limit => -2]]
--- more_headers
Content-Type: application/json
--- error_code eval
[(400) x 11]
--- response_body eval
[map { "{\"message\":\"$_\"}" }
 'run_timeout cannot exceed the configured limit of 3000',
 'run_timeout must be greater than or equal to 0',
 'If specified, run_timeout must be a number',
 'run_cpu_time cannot exceed the configured limit of 3000',
 'run_cpu_time must be greater than or equal to 0',
 'run_memory_limit cannot exceed the configured limit of 268435456',
 'run_memory_limit must be greater than or equal to 0',
 'If specified, run_memory_limit must be a number',
 'compile_timeout must be greater than or equal to 0',
 'If specified, compile_cpu_time must be a number',
 'compile_memory_limit must be greater than or equal to 0']



=== TEST 9: limits that are right, as they reach the run
--- config eval
::facade('piston', 'sandbox_dry_run on;') =~ s/(sandbox_memory) 256m/$1 64m max=256m/r
--- request eval
[map { ::execute('python', '', @$_) }
 [], [run_timeout => 1500, run_cpu_time => 700, run_memory_limit => 33554432],
 [run_timeout => 0, run_cpu_time => undef],
 [run_memory_limit => -1, compile_memory_limit => -1, compile_timeout => 10000]]
--- more_headers
Content-Type: application/json
--- response_body_like eval
[map { qr/"limits":\{"memory":$_->[0],"timeout":$_->[1],"cpu_time":$_->[2],/ }
 [67108864, 3000, 3000], [33554432, 1500, 700], [67108864, 3000, 3000],
 [268435456, 3000, 3000]]



=== TEST 10: files: the first text is the program; all are found by their paths
--- config eval: $::Example
--- request eval
[::execute('python', '', args => ['a', 7], files => [
     { content => "YWJj", encoding => 'base64', name => 'data.bin' },
     { content => "import sys, d.m\nprint(sys.argv, d.m.x, open('data.bin').read())" },
     { content => "783d31", encoding => 'hex', name => './d/../d/m.py' }]),
 ::execute('python', '', files => [
     { content => "import sys; print(sys.argv, open('b').read())",
       name => '/d/main.py' },
     { content => "old", name => 'b' }, { content => "new", name => './b' }]),
 ::execute('python', 'x', files => [{ content => 'x', name => '../x' }]),
 ::execute('python', 'x', files => [{ content => 'x', name => 'a/../../x' }]),
 ::execute('python', 'x', files => [
     { content => 'x', name => 'a/b.py' }, { content => 'x', name => 'a' },
     { content => 'x', name => 'a/c' }])]
--- more_headers
Content-Type: application/json
--- error_code eval
[200, 200, 500, 500, 400]
--- response_body_like eval
[qr/"stdout":"\['file1\.code', 'a', '7'\] 1 abc\\n"/, qr/"stdout":"\['main\.py'\] new\\n"/,
 '^$', '^$', '^\{"message":"files\[1\]: path .*a/c.* is in the way']



=== TEST 11: standard input ends with a newline
--- config eval: $::Example
--- request eval
[map { ::execute('python', 'import sys; print(ascii(sys.stdin.read()))', @$_) }
 [stdin => 'a'], [stdin => "a\n"], [stdin => ''], [], [stdin => undef]]
--- more_headers
Content-Type: application/json
--- response_body_like eval
[map { qr/"stdout":"'\Q$_\E'\\n"/ } 'a\\\\n', 'a\\\\n', ('\\\\n') x 3]



=== TEST 12: runtime errors: exit codes and signals
--- config eval: $::Example
--- request eval
[::execute('python', 'raise SystemExit(3)'),
 ::execute('python', '1/0'),
 ::execute('js', 'process.exit(137)'),
 ::execute('python', 'import os; os.abort()'),
 ::execute('python', 'import ctypes; ctypes.string_at(0)'),
 ::execute('python', 'import os; os.kill(os.getpid(), 9)')]
--- more_headers
Content-Type: application/json
--- response_body_like eval
[::ended('RE', 3, undef, 'Exited with error status 3'),
 ::ended('RE', 1, undef, 'Exited with error status 1'),
 ::ended('RE', 137, undef, 'Exited with error status 137'),
 ::ended('SG', undef, 'SIGABRT', 'Caught fatal signal 6'),
 ::ended('SG', undef, 'SIGSEGV', 'Caught fatal signal 11'),
 ::ended('SG', undef, 'SIGKILL', 'Caught fatal signal 9')]



=== TEST 13: compile errors are errors of the run
--- config eval: $::Example
--- request eval
[::execute('python', 'def f(:'), ::execute('js', 'function (')]
--- more_headers
Content-Type: application/json
--- response_body_like eval
[qr/"status":"RE".*"stderr":".*def f\(:.*SyntaxError: .*"code":1,/,
 qr/"status":"RE".*"stderr":".*SyntaxError: .*"code":1,/]



=== TEST 14: time, by the wall and by the CPU; what was printed is there
--- config eval: $::Example
--- request eval
[::execute('python', "print('begun', flush=True)\nimport time; time.sleep(9)",
           run_timeout => 300),
 ::execute('python', 'while True: pass', run_cpu_time => 200),
 ::execute('js', 'for (;;);', run_cpu_time => 200)]
--- more_headers
Content-Type: application/json
--- response_body_like eval
[::ended('TO', undef, 'SIGKILL', 'Time limit exceeded \(wall clock\)'),
 (::ended('TO', undef, 'SIGKILL', 'Time limit exceeded')) x 2]



=== TEST 15: what was printed before the end is there; errors stand last
--- config eval: $::Example
--- request eval
[::execute('python', "print('begun', flush=True)\nimport time; time.sleep(9)",
           run_timeout => 300),
 ::execute('python', "import sys\nprint('e', file=sys.stderr)\nprint('o')")]
--- more_headers
Content-Type: application/json
--- response_body_like eval
['"output":"begun\\\\n".*"stdout":"begun\\\\n"',
 '"output":"o\\\\ne\\\\n","stderr":"e\\\\n",.*"stdout":"o\\\\n"']



=== TEST 16: memory
--- config eval: $::Example
--- request eval
[::execute('python', 'x = bytearray(400000000)'),
 ::execute('python', 'x = bytearray(60000000)', run_memory_limit => 32000000),
 ::execute('js', 'Buffer.alloc(400000000)')]
--- more_headers
Content-Type: application/json
--- response_body_like eval
[(::ended('SG', undef, 'SIGKILL', 'memory limit of .*')) x 3]



=== TEST 17: output, on either stream
--- config eval: $::Example
--- request eval
[::execute('python', 'while True: print("x" * 100)'),
 ::execute('python', "import sys\nwhile True: print('x' * 100, file=sys.stderr)"),
 ::execute('js', 'for (;;) console.log("x".repeat(100))')]
--- more_headers
Content-Type: application/json
--- response_body_like eval
[::ended('OL', undef, 'SIGKILL', 'stdout length exceeded'),
 ::ended('EL', undef, 'SIGKILL', 'stderr length exceeded'),
 ::ended('OL', undef, 'SIGKILL', 'stdout length exceeded')]



=== TEST 18: Unicode, and bytes that are none
--- config eval: $::Example
--- request eval
[::execute('python', "print(input(), '\x{e4}\x{1f600}')", stdin => "\x{e9}\x{1f40d}"),
 ::execute('js', "console.log('\x{e4}\x{1f600}')"),
 ::execute('python', 'import os; os.write(1, b"a\xffb")')]
--- more_headers
Content-Type: application/json
--- response_body_like eval
[map { qr/"stdout":"$_"/ } "\xc3\xa9\xf0\x9f\x90\x8d \xc3\xa4\xf0\x9f\x98\x80\\\\n",
 "\xc3\xa4\xf0\x9f\x98\x80\\\\n", "a\xef\xbf\xbdb"]



=== TEST 19: a large input, and a larger one than the server takes
--- config eval
::facade('piston', 'client_max_body_size 4m;')
--- request eval
[map { ::execute('python', 'import sys; print(len(sys.stdin.buffer.read()))',
                 stdin => 'x' x $_) } 2_000_000, 5_000_000]
--- more_headers
Content-Type: application/json
--- error_code eval
[200, 413]
--- response_body_like eval
[qr/"stdout":"2000001\\n"/, '413 Request Entity Too Large']



=== TEST 20: overload
--- http_config
    sandbox_slots 1;
    sandbox_standby 0;
    sandbox_queue 0;
--- config eval
::busy('piston', '/api/v2/execute')
--- user_files
>>> slow.py
import time
time.sleep(1)
--- request eval
[::execute('python', ''), ::execute('python', '') =~ s{/api/v2/execute}{/both}r]
--- more_headers
Content-Type: application/json
--- error_code eval
[200, 503]
--- response_headers eval
["!Retry-After", "Retry-After: 1"]
--- response_body_like eval
[::ended(undef, 0), '^\{"message":"[^"]*slots[^"]*"\}$']



=== TEST 21: no supervisor: an empty 500
--- http_config
    sandbox_command /bin/false;
--- config eval: $::Example
--- request eval
::execute('python', '')
--- more_headers
Content-Type: application/json
--- error_code: 500
--- response_body



=== TEST 22: languages of somebody else go on
--- config eval
::facade('piston', '', 'pass=@judge') . '
location @judge { return 200 "$request_method $uri\n"; }'
--- request eval
[::execute('c++', 'int main() {}'), ::execute('python', '', version => '2.7'),
 ::execute('python', 'print(1)')]
--- more_headers
Content-Type: application/json
--- response_body_like eval
[('^POST /api/v2/execute\n$') x 2, ::ended(undef, 0)]



=== TEST 23: a language of the operator's own
--- http_config
    sandbox_runtime shell /bin/sh;
--- config eval
::facade('piston', '', 'shell=5.2.0')
--- request eval
["GET /api/v2/runtimes", ::execute('shell', 'echo hello', version => '5')]
--- more_headers
Content-Type: application/json
--- response_body_like eval
[qr/\{"aliases":\[\],"language":"shell","version":"5\.2\.0"\}\]$/,
 qr/"stdout":"hello\\n"/]



=== TEST 24: another prefix
--- config eval
::facade('piston', '', 'prefix=/api/v2/piston')
--- request eval
["GET /api/v2/piston/packages", "GET /api/v2/packages"]
--- error_code eval
[200, 404]
--- response_body_like eval
['^\[\{"installed"', '^\{"message":"Not Found"\}$']
