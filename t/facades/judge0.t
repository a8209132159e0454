use strict;
use warnings;
use Test::Nginx::Socket;
use Cwd qw(cwd);

# A judge's day with lua/judge0.lua, as examples/facades/judge0.conf sets it up:
# Judge0's requests, and what a client of Judge0 takes for an answer.  Each row
# of the façade's table in docs/facades.md is here.

our $Lua = cwd() . '/lua';

our $Example = do {
    open my $in, '<', 'examples/facades/judge0.conf' or die "no example: $!";
    local $/;
    <$in>;
};

$Example =~ s{ lua/}{ $Lua/};

# /both: what is sent there meets a judge that is busy, because its only slot
# sleeps.  Each goes its own way to the supervisor: the mirrored request at
# once, the other through a connection more.
sub busy {
    return <<"CONF";
$Example
    location = /slow {
        sandbox python;
        sandbox_timeout 3s;
        sandbox_code ../html/slow.py;
    }
    location = /both {
        mirror /slow;
        proxy_pass http://127.0.0.1:\$TEST_NGINX_SERVER_PORT/submissions;
    }
CONF
}

# starting the supervisor is part of the first request
timeout(30);

sub post {
    my ($args, $body) = @_;
    return "POST /submissions?$args\n$body";
}

# A program in Python, and further attributes.
sub python {
    my ($code, $more) = @_;
    $code =~ s/([\\"])/\\$1/g;
    $code =~ s/\n/\\n/g;
    return qq({"language_id":71,"source_code":"$code"} )
        =~ s/\} $/defined $more ? ",$more}" : "}"/er;
}

sub wait_for { return post('wait=true', python(@_)) }

our $Token = '[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}';
our $Time = '20\d\d-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z';

# base64 of a million x and a line end, as MIME has it.
our $Lines = ('eHh4' x 15 . '\\\\n') x 22222 . 'eHh4eHh4eHh4eAo=\\\\n';

sub status_like {
    my ($id, $description) = @_;
    return qr/^\{"status":\{"description":"\Q$description\E","id":$id\},/;
}

add_block_preprocessor(sub {
    my $block = shift;

    $block->set_value(config => $Example) unless defined $block->config;
    $block->set_value(more_headers => "Content-Type: application/json\n")
        unless defined $block->more_headers;
});

plan tests => repeat_each() * 202;

no_long_string();
no_root_location();
run_tests();

__DATA__

=== TEST 1: hello
--- request eval
::wait_for('print("hello, " + input())', '"stdin":"world"')
--- error_code: 201
--- response_headers
Content-Type: application/json; charset=utf-8
--- response_body_like eval
qr/^\{"status":\{"description":"Accepted","id":3\},"stderr":null,"compile_output":null,"memory":\d+,"message":null,"stdout":"hello, world\\n","time":"\d+\.\d{1,3}","token":"$::Token"\}$/

=== TEST 2: hello from Node.js, an id given as text
--- request
POST /submissions?wait=true
{"language_id":"93","source_code":"console.log(6*7)","expected_output":"42"}
--- error_code: 201
--- response_body_like eval
::status_like(3, 'Accepted')

=== TEST 3: accepted but for white space at the ends of lines; wrong answer
--- request eval
[::wait_for('print("a  \nb")', '"expected_output":"a\nb\t \n\n"'),
 ::wait_for('print("a\n b")', '"expected_output":"a\nb"'),
 ::wait_for('print("a\n\nb")', '"expected_output":"a\nb"'),
 ::wait_for('print(" " * 500000)', '"expected_output":""'),
 ::wait_for('print("x" + " " * 30000 + "y")', '"expected_output":"x\r\ny"'),
 ::wait_for('', '"expected_output":"x"') =~ s/"source_code":""/"source_code":"pass"/r,
 # the same in long texts
 ::wait_for('print("x" + " " * 500000 + "y")', '"expected_output":"x\r\ny"'),
 ::wait_for('print("1 \r\n" * 20000)', '"expected_output":"' . '1\n\n' x 20000 . '"'),
 ::wait_for('print("1 \t\r\n" * 20000)', '"expected_output":"' . '1\n' x 20000 . '"')]
--- error_code eval
[(201) x 9]
--- response_body_like eval
[::status_like(3, 'Accepted'), ::status_like(4, 'Wrong Answer'),
 ::status_like(4, 'Wrong Answer'), ::status_like(3, 'Accepted'),
 ::status_like(4, 'Wrong Answer'), ::status_like(4, 'Wrong Answer'),
 ::status_like(4, 'Wrong Answer'), ::status_like(4, 'Wrong Answer'),
 ::status_like(3, 'Accepted')]

=== TEST 4: too long: of CPU time, of time; a loop that would have ended later
--- request eval
[::wait_for('while True: pass', '"cpu_time_limit":0.2,"cpu_extra_time":0'),
 ::wait_for('import time; time.sleep(60)', '"wall_time_limit":1'),
 ::wait_for("import time\nwhile time.process_time() < 0.5: pass\nprint('late')", '"cpu_time_limit":0.2,"cpu_extra_time":3,"expected_output":"late"')]
--- error_code eval
[201, 201, 201]
--- response_body_like eval
[qr/^\{"status":\{"description":"Time Limit Exceeded","id":5\},.*"message":"Time limit exceeded","stdout":null,"time":"0\.[2-9]/,
 qr/^\{"status":\{"description":"Time Limit Exceeded","id":5\},.*"message":"Time limit exceeded \(wall clock\)"/,
 qr/^\{"status":\{"description":"Time Limit Exceeded","id":5\},.*"message":"Time limit exceeded","stdout":"late\\n"/]

=== TEST 5: runtime errors
--- request eval
[::wait_for('import ctypes; ctypes.string_at(8)'),
 ::wait_for("import sys\nwhile True: sys.stdout.write('x' * 4096)"),
 ::wait_for('import os, signal; os.kill(os.getpid(), signal.SIGFPE)'),
 ::wait_for('import os; os.abort()'),
 ::wait_for('import sys; sys.exit(3)'),
 ::wait_for('raise ValueError("no")'),
 ::wait_for('import os, signal; os.kill(os.getpid(), signal.SIGTERM)'),
 ::wait_for('x = b"x" * 10**9', '"memory_limit":32000'),
 ::wait_for('import ctypes; ctypes.CDLL(None).inotify_init1(0)')]
--- error_code eval
[(201) x 9]
--- response_body_like eval
[qr/"Runtime Error \(SIGSEGV\)","id":7\}.*"message":"Caught fatal signal 11"/,
 qr/"Runtime Error \(SIGXFSZ\)","id":8\}.*"message":"Caught fatal signal 25","stdout":"xxx/,
 qr/"Runtime Error \(SIGFPE\)","id":9\}.*"message":"Caught fatal signal 8"/,
 qr/"Runtime Error \(SIGABRT\)","id":10\}.*"message":"Caught fatal signal 6"/,
 qr/"Runtime Error \(NZEC\)","id":11\},"stderr":null.*"message":"Exited with error status 3"/,
 qr/"Runtime Error \(NZEC\)","id":11\},"stderr":"Traceback.*ValueError: no\\n".*"message":"Exited with error status 1"/,
 qr/"Runtime Error \(Other\)","id":12\}.*"message":"Caught fatal signal 15"/,
 qr/"Runtime Error \(Other\)","id":12\}.*"message":"Caught fatal signal 9"/,
 qr/"Runtime Error \(Other\)","id":12\}.*"message":"Caught fatal signal 31"/]

=== TEST 6: text that is no program: nothing is compiled before, as in Judge0
--- request eval
[::wait_for('print('), ::post('wait=true', '{"language_id":63,"source_code":"let = ;"}')]
--- error_code eval
[201, 201]
--- response_body_like eval
[qr/"Runtime Error \(NZEC\)","id":11\},"stderr":"  File .*SyntaxError: .*"compile_output":null/,
 qr/"Runtime Error \(NZEC\)","id":11\},"stderr":".*SyntaxError: /]

=== TEST 7: no supervisor: an internal error, or what error_page takes
--- http_config
    sandbox_command /bin/false;
--- config eval
$::Example . "location /old/ { sandbox any; sandbox_intercept_errors on;
    error_page 500 502 503 504 = \@judge0;
    sandbox_policy $::Lua/judge0.lua prefix=/old unavailable=503; }
location \@judge0 { return 201 '{}'; }"
--- request eval
[::wait_for('print(1)'), 'POST /old/submissions?wait=true
{"language_id":71,"source_code":"print(1)"}']
--- error_code eval
[201, 201]
--- response_body_like eval
[qr/^\{"status":\{"description":"Internal Error","id":13\},.*"message":"[^"]+"/,
 qr/^\{\}$/]

=== TEST 8: all are busy
--- http_config
    sandbox_slots 1;
    sandbox_queue 0;
--- user_files
>>> slow.py
import time
time.sleep(60)
--- config eval: ::busy()
--- request eval
::wait_for('print(1)') =~ s{/submissions}{/both}r
--- error_code: 503
--- response_body chop
{"error":"queue is full"}

=== TEST 9: Unicode
--- request eval
::wait_for("print(input() + ' \xc3\xa4\xe2\x82\xac\xf0\x9f\x98\x80')", '"stdin":"\u00e9\ud83d\ude00","expected_output":"' . "\xc3\xa9\xf0\x9f\x98\x80 \xc3\xa4\xe2\x82\xac\xf0\x9f\x98\x80" . '"')
--- error_code: 201
--- response_body_like eval
qr/"Accepted","id":3\}.*"stdout":"\xc3\xa9\xf0\x9f\x98\x80 \xc3\xa4\xe2\x82\xac\xf0\x9f\x98\x80\\n"/

=== TEST 10: bytes that are no UTF-8 need base64
--- request eval
[::wait_for('import sys; sys.stdout.buffer.write(b"\xfe")' =~ s/\xfe/\\xfe/r),
 ::post('wait=true&fields=status,time', ::python('import sys; sys.stdout.buffer.write(b"\\xfe")')),
 ::post('wait=true&base64_encoded=true', '{"language_id":71,"source_code":"aW1wb3J0IHN5czsgc3lzLnN0ZG91dC5idWZmZXIud3JpdGUoYiJceGZlIik="}')]
--- error_code eval
[201, 201, 201]
--- response_body_like eval
[qr/^\{"error":"some attributes for this submission cannot be converted to UTF-8, use base64_encoded=true query parameter","token":"$::Token"\}$/,
 qr/^\{"status":\{"description":"Accepted","id":3\},"time":"[\d.]+"\}$/,
 qr/"stdout":"\/g==\\n"/]

=== TEST 11: base64: MIME's lines out, anything that Ruby takes in
--- request eval
[::post('base64_encoded=true&wait=true', '{"language_id":71,"source_code":"cHJpbnQoaW5wdXQo\nKSAqIDUpOyAx\r\nLzA=\n","stdin":"YWJj ZGVmZ2hpamtsbW5v*"}'),
 ::post('base64_encoded=true&wait=true&fields=stdout,stdin,source_code,expected_output', '{"language_id":71,"source_code":"cHJpbnQoMSk","expected_output":"MQ=="}')]
--- error_code eval
[201, 201]
--- response_body_like eval
[qr/"stderr":"VHJhY2ViYWNr[^"]*\\n","compile_output":null,.*"message":"RXhpdGVkIHdpdGggZXJyb3Igc3RhdHVzIDE=\\n","stdout":"YWJjZGVmZ2hpamtsbW5vYWJjZGVmZ2hpamtsbW5vYWJjZGVmZ2hpamtsbW5v\\nYWJjZGVmZ2hpamtsbW5vYWJjZGVmZ2hpamtsbW5vCg==\\n"/,
 qr/^\{"expected_output":"MQ==\\n","source_code":"cHJpbnQoMSk=\\n","stdin":null,"stdout":"MQo=\\n"\}$/]

=== TEST 12: HEAD's rule: base64 unless told otherwise
--- config eval
"location / { sandbox any; sandbox_policy $::Lua/judge0.lua version=head; }"
--- request eval
[::post('wait=true&fields=stdout', '{"language_id":71,"source_code":"cHJpbnQoMSk="}'),
 ::post('wait=true&fields=stdout&base64_encoded=false', ::python('print(1)')),
 'GET /config_info', 'GET /version']
--- error_code eval
[201, 201, 200, 200]
--- response_body_like eval
[qr/^\{"stdout":"MQo=\\n"\}$/, qr/^\{"stdout":"1\\n"\}$/,
 qr/"disable_implicit_base64_encoding":false/, qr/^1\.13\.1$/]

=== TEST 13: fields
--- request eval
[::post('wait=true&fields=stdout,exit_code,exit_signal,status_id', ::python('print(1)')),
 ::post('wait=true&fields=stdout,foo,time,bar%20', ::python('print(1)')),
 ::post('wait=true&fields=', ::python('print(1)')),
 ::post('wait=true&fields=*', ::python('import os; os.abort()', '"stdin":"i","command_line_arguments":"a"'))]
--- error_code eval
[201, 400, 201, 201]
--- response_body_like eval
[qr/^\{"exit_code":0,"exit_signal":null,"status_id":3,"stdout":"1\\n"\}$/,
 qr/^\{"error":"invalid fields: \[foo, bar \]"\}$/,
 qr/^\{"status":.*"token":"$::Token"\}$/,
 qr/^\{"status":\{"description":"Runtime Error \(SIGABRT\)","id":10\},"stderr":"?[^,]*,"exit_code":0,"additional_files":null,"callback_url":null,"command_line_arguments":"a","compile_output":null,"compiler_options":null,"cpu_extra_time":"1\.0","cpu_time_limit":"5\.0","created_at":"$::Time","enable_network":false,"enable_per_process_and_thread_memory_limit":false,"enable_per_process_and_thread_time_limit":false,"execution_host":null,"exit_signal":6,"expected_output":null,"finished_at":"$::Time","language":\{"id":71,"name":"Python \(3\.11\.2\)"\},"language_id":71,"max_file_size":1024,"max_processes_and_or_threads":60,"memory":\d+,"memory_limit":128000,"message":"Caught fatal signal 6","number_of_runs":1,"queue_host":null,"queued_at":null,"redirect_stderr_to_stdout":false,"source_code":"import os; os\.abort\(\)","stack_limit":64000,"started_at":null,"status_id":10,"stdin":"i","stdout":null,"time":"[\d.]+","token":"$::Token","updated_at":null,"wall_time":"[\d.]+","wall_time_limit":"10\.0"\}$/]

=== TEST 14: attributes that are not right
--- request eval
[::post('wait=true', '{}'),
 ::post('wait=true', '{"source_code":" \n","language_id":null}'),
 ::post('wait=true', '{"source_code":"x","language_id":150000}'),
 ::post('wait=true', '{"source_code":"x","language_id":"c++"}'),
 ::wait_for('1', '"cpu_time_limit":16,"cpu_extra_time":-1,"wall_time_limit":0.5'),
 ::wait_for('1', '"wall_time_limit":21,"memory_limit":2047,"stack_limit":128001'),
 ::wait_for('1', '"memory_limit":512001,"number_of_runs":0,"max_file_size":4097'),
 ::wait_for('1', '"number_of_runs":21,"max_processes_and_or_threads":121,"cpu_time_limit":"soon"'),
 ::wait_for('1', '"max_processes_and_or_threads":0,"cpu_extra_time":[],"stack_limit":1e999'),
 ::wait_for('1', '"callback_url":"http://127.0.0.1/","additional_files":"UEs=","enable_network":true,"compiler_options":"-O2"'),
 ::wait_for('1', '"enable_per_process_and_thread_time_limit":true,"enable_per_process_and_thread_memory_limit":"1"'),
 ::wait_for('1', '"command_line_arguments":"' . 'x' x 513 . '"')]
--- error_code eval
[(422) x 12]
--- response_body eval
['{"language_id":["can\'t be blank","language with id  doesn\'t exist"],"source_code":["can\'t be blank"]}',
 '{"language_id":["can\'t be blank","language with id  doesn\'t exist"],"source_code":["can\'t be blank"]}',
 '{"language_id":["language with id 150000 doesn\'t exist"]}',
 '{"language_id":["language with id  doesn\'t exist"]}',
 '{"cpu_extra_time":["must be greater than or equal to 0"],"cpu_time_limit":["must be less than or equal to 15"],"wall_time_limit":["must be greater than or equal to 1"]}',
 '{"memory_limit":["must be greater than or equal to 2048"],"stack_limit":["must be less than or equal to 128000"],"wall_time_limit":["must be less than or equal to 20"]}',
 '{"max_file_size":["must be less than or equal to 4096"],"memory_limit":["must be less than or equal to 512000"],"number_of_runs":["must be greater than 0"]}',
 '{"cpu_time_limit":["is not a number"],"max_processes_and_or_threads":["must be less than or equal to 120"],"number_of_runs":["must be less than or equal to 20"]}',
 '{"cpu_extra_time":["is not a number"],"max_processes_and_or_threads":["must be greater than 0"],"stack_limit":["must be less than or equal to 128000"]}',
 '{"additional_files":["setting additional files is not allowed"],"callback_url":["setting callback is not allowed"],"compiler_options":["setting compiler options is only allowed for compiled languages"],"enable_network":["enabling network is not allowed"]}',
 '{"enable_per_process_and_thread_memory_limit":["this option cannot be enabled"],"enable_per_process_and_thread_time_limit":["this option cannot be enabled"]}',
 '{"command_line_arguments":["is too long (maximum is 512 characters)"]}']

=== TEST 15: a location that allows less refuses more, and asks for less
--- config eval
"location / { sandbox any; sandbox_cpu_time 2s; sandbox_timeout 3s; sandbox_memory 64m;
    sandbox_output 64k; sandbox_policy $::Lua/judge0.lua; }"
--- request eval
[::wait_for('1', '"cpu_time_limit":3,"wall_time_limit":4,"memory_limit":70000,"max_file_size":100'),
 ::post('wait=true&fields=cpu_time_limit,wall_time_limit,memory_limit,max_file_size', ::python('1')),
 'GET /config_info']
--- error_code eval
[422, 201, 200]
--- response_body_like eval
[qr/^\{"cpu_time_limit":\["must be less than or equal to 2"\],"max_file_size":\["must be less than or equal to 64"\],"memory_limit":\["must be less than or equal to 65536"\],"wall_time_limit":\["must be less than or equal to 3"\]\}$/,
 qr/^\{"cpu_time_limit":"2\.0","max_file_size":64,"memory_limit":65536,"wall_time_limit":"3\.0"\}$/,
 qr/"cpu_time_limit":2,.*"max_cpu_time_limit":2,.*"max_memory_limit":65536,.*"max_wall_time_limit":3,/]

=== TEST 16: wait=false and batches: there is no store
--- request eval
[::post('', ::python('1')), ::post('wait=false', ::python('1')), ::post('wait=1', ::python('1')),
 "POST /submissions/batch\n" . '{"submissions":[]}', 'GET /submissions/batch?tokens=a',
 'GET /submissions/d85cd024-1548-4165-96c7-7bc88673f194', 'DELETE /submissions/x',
 'GET /submissions?page=1']
--- error_code eval
[400, 400, 400, 400, 404, 404, 403, 403]
--- response_body eval
[('{"error":"only wait=true is served here: there is no store for results"}') x 3,
 '{"error":"batched submissions are not allowed"}',
 ('{"status":404,"error":"Not Found"}') x 2, '', '']

=== TEST 17: a body that is no JSON
--- request eval
[::post('wait=true', '{"language_id":71,'), ::post('wait=true', '[1]x'), ::post('wait=true', '7')]
--- error_code eval
[400, 400, 400]
--- response_body eval
['{"status":400,"error":"Bad Request"}', '{"status":400,"error":"Bad Request"}',
 '{"status":400,"error":"Bad Request"}']

=== TEST 18: a form
--- request
POST /submissions?wait=true&fields=stdout
language_id=71&source_code=print%28input%28%29%2b%22%21%22%29&stdin=a+b&cpu_time_limit=1
--- more_headers
Content-Type: application/x-www-form-urlencoded
--- error_code: 201
--- response_body chop
{"stdout":"a b!\n"}

=== TEST 19: a token, in a header or in the query
--- config eval
"location / { sandbox any; sandbox_policy $::Lua/judge0.lua token=secret; }"
--- request eval
[::post('wait=true&fields=stdout', ::python('print(1)')), 'GET /about', 'POST /authenticate',
 ::post('wait=true&fields=stdout&X-Auth-Token=secret', ::python('print(1)')),
 'GET /about?X-Auth-Token=Secret', 'POST /authenticate?X-Auth-Token=secret',
 'POST /authorize?X-Auth-Token=secret']
--- error_code eval
[401, 401, 401, 201, 401, 200, 403]
--- response_body eval
['', '', '', '{"stdout":"1\n"}' =~ s/\n/\\n/r, '', '', '']

=== TEST 20: … in a header
--- config eval
"location / { sandbox any; sandbox_policy $::Lua/judge0.lua token=secret; }"
--- request
GET /version
--- more_headers
X-Auth-Token: secret
--- response_headers
Content-Type: text/plain; charset=utf-8
--- response_body chop
1.13.0

=== TEST 21: lists and information
--- request eval
['GET /languages', 'GET /languages/', 'GET /languages/all', 'GET /languages/93', 'GET /languages/54',
 'GET /statuses', 'GET /about', 'GET /version', 'GET /', 'PUT /submissions']
--- error_code eval
[200, 200, 200, 200, 404, 200, 200, 200, 404, 404]
--- response_body eval
['[{"id":63,"name":"JavaScript (Node.js 20.20.2)"},{"id":71,"name":"Python (3.11.2)"},{"id":92,"name":"Python (3.11.2)"},{"id":93,"name":"JavaScript (Node.js 20.20.2)"}]',
 '[{"id":63,"name":"JavaScript (Node.js 20.20.2)"},{"id":71,"name":"Python (3.11.2)"},{"id":92,"name":"Python (3.11.2)"},{"id":93,"name":"JavaScript (Node.js 20.20.2)"}]',
 '[{"id":63,"is_archived":false,"name":"JavaScript (Node.js 20.20.2)"},{"id":71,"is_archived":false,"name":"Python (3.11.2)"},{"id":92,"is_archived":false,"name":"Python (3.11.2)"},{"id":93,"is_archived":false,"name":"JavaScript (Node.js 20.20.2)"}]',
 '{"compile_cmd":null,"id":93,"is_archived":false,"name":"JavaScript (Node.js 20.20.2)","run_cmd":null,"source_file":null}',
 '{"status":404,"error":"Not Found"}',
 '[{"description":"In Queue","id":1},{"description":"Processing","id":2},{"description":"Accepted","id":3},{"description":"Wrong Answer","id":4},{"description":"Time Limit Exceeded","id":5},{"description":"Compilation Error","id":6},{"description":"Runtime Error (SIGSEGV)","id":7},{"description":"Runtime Error (SIGXFSZ)","id":8},{"description":"Runtime Error (SIGFPE)","id":9},{"description":"Runtime Error (SIGABRT)","id":10},{"description":"Runtime Error (NZEC)","id":11},{"description":"Runtime Error (Other)","id":12},{"description":"Internal Error","id":13},{"description":"Exec Format Error","id":14}]',
 '{"homepage":"https://judge0.com","maintainer":"deer-flow, in the words of Judge0","source_code":"https://github.com/judge0/judge0","version":"1.13.0"}',
 '1.13.0', '{"status":404,"error":"Not Found"}', '{"status":404,"error":"Not Found"}']

=== TEST 22: config_info
--- request
GET /config_info
--- response_body chop
{"allow_enable_network":false,"allow_enable_per_process_and_thread_memory_limit":false,"allow_enable_per_process_and_thread_time_limit":false,"allowed_languages_for_compile_options":[],"callbacks_max_tries":0,"callbacks_timeout":0,"cpu_extra_time":1,"cpu_time_limit":5,"disable_implicit_base64_encoding":true,"enable_additional_files":false,"enable_batched_submissions":false,"enable_callbacks":false,"enable_command_line_arguments":true,"enable_compiler_options":false,"enable_network":false,"enable_per_process_and_thread_memory_limit":false,"enable_per_process_and_thread_time_limit":false,"enable_submission_delete":false,"enable_wait_result":true,"maintenance_mode":false,"max_cpu_extra_time":5,"max_cpu_time_limit":15,"max_extract_size":0,"max_file_size":1024,"max_max_file_size":4096,"max_max_processes_and_or_threads":120,"max_memory_limit":512000,"max_number_of_runs":20,"max_processes_and_or_threads":60,"max_queue_size":0,"max_stack_limit":128000,"max_submission_batch_size":0,"max_wall_time_limit":20,"memory_limit":128000,"number_of_runs":1,"redirect_stderr_to_stdout":false,"stack_limit":64000,"submission_cache_duration":0,"use_docs_as_homepage":false,"wall_time_limit":10}

=== TEST 23: arguments as a shell splits them; both streams in one
--- request eval
[::post('wait=true&fields=stdout', ::python('import sys; print(sys.argv[1:])', q("command_line_arguments":"a 'b  c' \\"d'e\\" f\\\\ g; rm -rf $HOME ''"))),
 ::post('wait=true&fields=stdout,stderr', ::python("import sys\nprint(1, flush=True)\nprint(2, file=sys.stderr)", '"redirect_stderr_to_stdout":true'))]
--- error_code eval
[201, 201]
--- response_body eval
['{"stdout":"[\'a\', \'b  c\', \"d\'e\", \'f g\', \'rm\', \'-rf\', \'HOME\', \'\']\n"}' =~ s/\n/\\n/r =~ s/"d'e"/\\"d'e\\"/r,
 '{"stderr":null,"stdout":"1\n2\n"}' =~ s/\n/\\n/gr]

=== TEST 24: large input, large output, too large a request
--- config eval
$::Example =~ s|location / \{|location / {\n    client_max_body_size 4m;|r
--- request eval
[::wait_for('d = input(); print(len(d), d[-1])', '"stdin":"' . 'x' x 2000000 . '","expected_output":"2000000 x"'),
 ::post('wait=true&base64_encoded=true&fields=stdout', '{"language_id":71,"source_code":"cHJpbnQoJ3gnICogMTAwMDAwMCk="}'),
 ::wait_for('1', '"stdin":"' . 'x' x 5000000 . '"')]
--- error_code eval
[201, 201, 413]
--- response_body_like eval
[qr/"Accepted","id":3/, qr/^\{"stdout":"$::Lines"\}$/,
 qr/413 Request Entity Too Large/]

=== TEST 25: with a judge behind, the rest is its
--- config eval
"location / { sandbox any; sandbox_policy $::Lua/judge0.lua pass=\@judge0; }
 location \@judge0 { proxy_pass http://127.0.0.1:\$server_port/judge0\$request_uri; proxy_set_header X-Body \$request_body; }
 location /judge0/ { return 201 '\$request_method \$request_uri \$http_x_body'; }"
--- request eval
[::post('wait=true&fields=stdout', ::python('print(1)')), ::post('wait=true', '{"language_id":54,"source_code":"int x;"}'),
 ::post('wait=false', ::python('1')), ::post('wait=true', ::python('1', '"callback_url":"http://x/"')),
 'GET /languages', 'GET /submissions/abc', ::post('wait=true', ::python('1', '"number_of_runs":0'))]
--- error_code eval
[201, 201, 201, 201, 201, 201, 422]
--- response_body eval
['{"stdout":"1\n"}' =~ s/\n/\\n/r, 'POST /judge0/submissions?wait=true {"language_id":54,"source_code":"int x;"}',
 'POST /judge0/submissions?wait=false {"language_id":71,"source_code":"1"}',
 'POST /judge0/submissions?wait=true {"language_id":71,"source_code":"1","callback_url":"http://x/"}',
 'GET /judge0/languages ', 'GET /judge0/submissions/abc ',
 '{"number_of_runs":["must be greater than 0"]}']
