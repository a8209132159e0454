use strict;
use warnings;
use Test::Nginx::Socket;
use Cwd qw(cwd);
use Digest::MD5 qw(md5_hex);

# A judge's day with lua/judgeserver.lua, as examples/facades/judgeserver.conf
# sets it up: the requests of QingdaoU's OnlineJudge, in front of a stand-in for
# the JudgeServer that was there before, which says what reached it.  Each row
# of the façade's table in docs/facades.md is here.

our $Lua = cwd() . '/lua';

our $Example = do {
    open my $in, '<', 'examples/facades/judgeserver.conf'
        or die "no example: $!";
    local $/;
    <$in>;
};

# the same, with ports of the test's own
$Example =~ s{ lua/}{ $Lua/};
$Example =~ s{sandbox_cases \S+;}{sandbox_cases ../html;};
$Example =~ s{http://127\.0\.0\.1:12359}{http://standin}g;
$Example =~ s{http://127\.0\.0\.1:80}{http://unix:\$TEST_NGINX_SERVROOT/logs/front.sock:};

our $Standin = <<'CONF';
    upstream standin {
        server unix:$TEST_NGINX_SERVROOT/logs/standin.sock;
    }
    server {
        listen unix:$TEST_NGINX_SERVROOT/logs/standin.sock;
        location / {
            proxy_pass http://unix:$TEST_NGINX_SERVROOT/logs/echo.sock;
            proxy_set_header X-Body $request_body;
        }
    }
    server {
        listen unix:$TEST_NGINX_SERVROOT/logs/front.sock;
        location = /api/judge_server_heartbeat/ {
            if ($http_x_judge_server_token != f98103e9217f099208569d295c1b276f1821348636c268c854bb2a086e0037cd) {
                return 200 '{"error":"error","data":"Invalid token"}';
            }
            return 200 '{"error":null,"data":null}';
        }
    }
    server {
        listen unix:$TEST_NGINX_SERVROOT/logs/echo.sock;
        large_client_header_buffers 4 64k;
        location / {
            return 200 "old: $request_method $request_uri $http_x_judge_server_token $content_type $http_x_body";
        }
    }
CONF

# This façade alone: nothing behind it.
our $Alone = "location / { sandbox any; sandbox_memory 128m max=256m;
    sandbox_timeout 3s max=30s; sandbox_cpu_time 1s max=10s;
    sandbox_output 1m max=16m; sandbox_cases ../html;
    sandbox_policy $Lua/judgeserver.lua token=TOKEN; }";

our $Sha = 'f98103e9217f099208569d295c1b276f1821348636c268c854bb2a086e0037cd';

# starting the supervisor is part of the first request
timeout(30);

sub text {
    my $text = shift;
    $text =~ s/([\\"])/\\$1/g;
    $text =~ s/\n/\\n/g;
    $text =~ s/\t/\\t/g;
    return qq("$text");
}

# Configurations of languages as OnlineJudge sends them.
our $Env = '["LANG=en_US.UTF-8","LANGUAGE=en_US:en","LC_ALL=en_US.UTF-8"]';
our %Config = (
    python => '{"compile":{"src_name":"solution.py","exe_name":"__pycache__/solution.cpython-36.pyc","max_cpu_time":3000,"max_real_time":5000,"max_memory":134217728,"compile_command":"/usr/bin/python3 -m py_compile {src_path}"},"run":{"command":"/usr/bin/python3 {exe_path}","seccomp_rule":"general","env":["PYTHONIOENCODING=UTF-8"]}}',
    node => '{"run":{"exe_name":"solution.js","command":"/usr/bin/node {exe_path}","seccomp_rule":"","env":' . $Env . ',"memory_limit_check_only":1}}',
    cpp => '{"compile":{"src_name":"main.cpp","exe_name":"main","max_cpu_time":3000,"max_real_time":5000,"max_memory":134217728,"compile_command":"/usr/bin/g++ -O2 -w {src_path} -o {exe_path}"},"run":{"command":"{exe_path}","seccomp_rule":"c_cpp","env":' . $Env . '}}',
    python2 => '{"run":{"exe_name":"solution.pyc","command":"/usr/bin/python {exe_path}","seccomp_rule":"general"}}',
);

# language, program, [input, output] …; then a hash of further fields
sub judge {
    my ($language, $src, @cases) = @_;
    my %more = (max_cpu_time => 1000, max_memory => 134217728);

    %more = (%more, %{ pop @cases }) if ref $cases[-1] eq 'HASH';
    $more{test_case} //= '[' . join(',', map { '{"input":' . text($_->[0])
        . ',"output":' . text($_->[1]) . '}' } @cases) . ']' if @cases;

    return "POST /judge\n{\"language_config\":$Config{$language},\"src\":"
        . text($src) . join('', map { ",\"$_\":$more{$_}" } sort keys %more)
        . ',"spj_version":null,"spj_config":null,"spj_compile_config":null,'
        . '"spj_src":null}';
}

# What a case comes to: result, exit_code, signal, md5, output, its name.
sub result {
    my ($result, $exit, $signal, $md5, $output, $name, $error) = @_;
    $name //= 1;
    $error //= 0;
    $md5 = $md5 ? "\"$md5\"" : 'null';
    $output = defined $output ? $output : 'null';

    return qr/\{"output":$output,"exit_code":$exit,"signal":$signal,"error":$error,"cpu_time":\d+,"memory":\d+,"output_md5":$md5,"real_time":\d+,"result":$result,"test_case":"$name"\}/;
}

sub results { my $all = join ',', @_; return qr/^\{"data":\[$all\],"err":null\}$/ }

add_block_preprocessor(sub {
    my $block = shift;

    $block->set_value(http_config => $Standin)
        unless defined $block->http_config;
    $block->set_value(config => $Alone) unless defined $block->config;
    $block->set_value(more_headers => "Content-Type: application/json\n"
        . "X-Judge-Server-Token: $Sha\n") unless defined $block->more_headers;
});

plan tests => repeat_each() * 147;

no_long_string();
no_root_location();
run_tests();

__DATA__

=== TEST 1: ping
--- config eval: $::Example
--- request
POST /ping
--- response_headers
Content-Type: application/json
--- response_body chop
{"data":{"action":"pong","cpu":0,"cpu_core":4,"hostname":"judge-1","judger_version":"2.1.1","memory":0},"err":null}

=== TEST 2: hello: two cases, one right, one wrong
--- config eval: $::Example
--- request eval
::judge('python', "s = input()\na = s.split(' ')\nprint(int(a[0]) + int(a[1]))", ["1 2\n", '3'], ["1 4\n", '3'], {output => 'true'})
--- error_code: 200
--- response_body_like eval
::results(::result(0, 0, 0, Digest::MD5::md5_hex('3'), '"3\\\\n"'),
          ::result(-1, 0, 0, Digest::MD5::md5_hex('5'), '"5\\\\n"', 2))

=== TEST 3: … in Node.js, without the output
--- config eval: $::Example
--- request eval
::judge('node', "const r = require('readline').createInterface({input: process.stdin}); r.on('line', l => { const [a, b] = l.split(' ').map(Number); console.log(a + b); });", ["1 2\n", "3\n\n"])
--- response_body_like eval
::results(::result(0, 0, 0, Digest::MD5::md5_hex('3')))

=== TEST 4: white space: only that at the end does not count
--- request eval
[::judge('python', 'print("a b")', ['', "a b\n \n"]), ::judge('python', 'print("a  b")', ['', 'a b']),
 ::judge('python', 'print("\n")', ['', '']), ::judge('python', 'print(" a \n")', ['', 'a'])]
--- response_body_like eval
[::results(::result(0, 0, 0, Digest::MD5::md5_hex('a b'))), ::results(::result(-1, 0, 0, Digest::MD5::md5_hex('a  b'))),
 ::results(::result(0, 0, 0, Digest::MD5::md5_hex(''))), ::results(::result(-1, 0, 0, Digest::MD5::md5_hex(' a')))]

=== TEST 5: time: of the CPU, and three times as much of the clock
--- config eval
# so that a busy host does not let the clock win
"location /short/ { sandbox any; sandbox_timeout 3s max=30s; sandbox_cpu_time 100ms;
    sandbox_policy $::Lua/judgeserver.lua token=TOKEN prefix=/short; } $::Alone"
--- request eval
[::judge('python', 'while True: pass', ['', ''], {max_cpu_time => 10000}) =~ s{/judge}{/short/judge}r,
 ::judge('python', 'import time; print(1, flush=True); time.sleep(60)', ['', '1'], {max_cpu_time => 300, output => 'true'})]
--- response_body_like eval
[::results(::result(1, 0, 9)), ::results(::result(2, 0, 9, undef, '"1\\\\n"'))]

=== TEST 6: memory
--- request eval
[::judge('python', 'x = b"x" * 10**9', ['', ''], {max_memory => 33554432}),
 ::judge('node', 'Buffer.alloc(1e9)', ['', '']),
 ::judge('python', 'x = b"x" * (200 << 20); print(1)', ['', '1'], {max_memory => -1})]
--- response_body_like eval
[::results(::result(3, 0, 9)), ::results(::result(3, 0, 9)),
 ::results(::result(3, 0, 9))]

=== TEST 7: output
--- request eval
::judge('python', "import sys\nwhile True: sys.stdout.write('x' * 65536)", ['', ''], {max_cpu_time => 3000})
--- response_body_like eval
::results(::result(4, 0, 25))

=== TEST 8: runtime errors
--- request eval
[::judge('python', 'import sys; sys.exit(3)', ['', '']), ::judge('python', 'raise ValueError', ['', ''], {output => 'true'}),
 ::judge('python', 'import os; os.abort()', ['', '']), ::judge('python', 'import ctypes; ctypes.string_at(8)', ['', '']),
 ::judge('python', 'import ctypes; ctypes.CDLL(None).inotify_init1(0)', ['', ''])]
--- response_body_like eval
[::results(::result(4, 3, 0)), ::results(::result(4, 1, 0, undef, '"Traceback .*ValueError\\\\n"')),
 ::results(::result(4, 0, 6)), ::results(::result(4, 0, 11)), ::results(::result(4, 0, 31))]

=== TEST 9: a program that is none is a compile error where there is a compiler
--- request eval
[::judge('python', "print(1)\nprint(", ['', '1'], ['', '2']), ::judge('python', "if 1:\nx", ['', '1']),
 ::judge('python', "x = 1\n\teval('(')", ['', '1']), ::judge('python', "eval('(')", ['', '1']),
 ::judge('node', 'let = ;', ['', '1'])]
--- response_body_like eval
[qr/^\{"data":"  File \\"[^"]*solution\.py\\", line 2\\n.*SyntaxError: '\(' was never closed","err":"CompileError"\}$/,
 qr/^\{"data":".*IndentationError: .*","err":"CompileError"\}$/,
 qr/^\{"data":".*IndentationError: .*","err":"CompileError"\}$/,
 ::results(::result(4, 1, 0)), ::results(::result(4, 1, 0))]

=== TEST 10: Unicode, and bytes that are none
--- request eval
[::judge('python', "print(input() + '\xc3\xa4\xf0\x9f\x98\x80')", ["\xe2\x82\xac", "\xe2\x82\xac\xc3\xa4\xf0\x9f\x98\x80"], {output => 'true'}),
 ::judge('python', 'import sys; sys.stdout.buffer.write(b"a\xfe\xe2\x82\xac\xe2\x82\xed\xa0\x80\xc3\xa4")' =~ s/([\xfe\xe2\x82\xac\xed\xa0\x80\xc3\xa4])/sprintf '\\x%02x', ord $1/ger, ['', ''], {output => 'true'})]
--- response_body_like eval
[::results(::result(0, 0, 0, Digest::MD5::md5_hex("\xe2\x82\xac\xc3\xa4\xf0\x9f\x98\x80"), "\"\xe2\x82\xac\xc3\xa4\xf0\x9f\x98\x80\\\\n\"")),
 qr/"output":"a\\\\xfe\xe2\x82\xac\\\\xe2\\\\x82\\\\xed\\\\xa0\\\\x80\xc3\xa4"/]

=== TEST 11: large input and output
--- request eval
::judge('python', "d = input()\nprint(d)", ['x' x 1000000 . "\n", 'x' x 1000000])
--- response_body_like eval
::results(::result(0, 0, 0, Digest::MD5::md5_hex('x' x 1000000)))

=== TEST 12: a right answer, then spaces without end
--- request eval
::judge('python', "print(1, end='')\nprint(' ' * 900000)", ['', '1'])
--- response_body_like eval
::results(::result(0, 0, 0))

=== TEST 13: all are busy: a result of each case, never an err
--- http_config
    sandbox_slots 1;
    sandbox_queue 0;
--- user_files
>>> slow.py
import time
time.sleep(60)
--- config eval
"$::Alone
 location = /slow { sandbox python; sandbox_timeout 3s; sandbox_code ../html/slow.py; }
 location = /both {
     mirror /slow;
     proxy_pass http://127.0.0.1:\$TEST_NGINX_SERVER_PORT/judge;
 }"
--- request eval
::judge('python', 'print(1)', ['', '1'], ['', '1'], {output => 'true'}) =~ s{/judge}{/both}r
--- response_body_like eval
::results(::result(5, 0, 0, undef, undef, 1, -2), ::result(5, 0, 0, undef, undef, 2, -2))

=== TEST 14: no supervisor: the same, or back to the judge behind
--- http_config eval
"sandbox_command /bin/false;\n$::Standin"
--- config eval
"$::Example location /alone/ { sandbox any;
     sandbox_policy $::Lua/judgeserver.lua token=TOKEN prefix=/alone; }"
--- request eval
[::judge('python', '1', ['', '1']), ::judge('python', '1', ['', '1'], ['', '1']) =~ s{/judge}{/alone/judge}r]
--- response_body_like eval
[qr{^old: POST /judge $::Sha application/json \{"language_config":\{.*"spj_src":null\}$},
 ::results(::result(5, 0, 0, undef, undef, 1, -2), ::result(5, 0, 0, undef, undef, 2, -2))]

=== TEST 15: a token that is wrong, none, the token itself
--- config eval: $::Example
--- request
POST /judge
{}
--- more_headers
X-Judge-Server-Token: f98103e9217f099208569d295c1b276f1821348636c268c854bb2a086e0037ce
--- response_body chop
{"data":"invalid token","err":"TokenVerificationFailed"}

=== TEST 16: …
--- config eval: $::Example
--- request eval
["POST /ping\n", "POST /judge\n{}", "POST /compile_spj\n{}", "POST /other\n{}"]
--- more_headers
X-Judge-Server-Token: TOKEN
--- response_body eval
[('{"data":"invalid token","err":"TokenVerificationFailed"}') x 3, '{"data":"404","err":"InvalidRequest"}']

=== TEST 17: no JSON, and JSON that is no call
--- request eval
["POST /judge\n{", "POST /judge\n[]", 'POST /judge
{"src":"","max_cpu_time":1,"max_memory":1}', 'POST /judge
{"src":"","max_memory":1}', ::judge('python', '1', {test_case => '[]'}), ::judge('python', '1', ['', ''], {test_case_id => '"normal"'}),
 ::judge('python', '1', {test_case => '[{"input":""}]'}), ::judge('python', '1', {max_memory => '"1"', test_case_id => '"x"'}),
 'POST /judge
{"src":"","max_cpu_time":1,"max_memory":1,"language_config":{}}', ::judge('python', '1', {test_case => '7'})]
--- response_body eval
[('{"data":"TypeError :judge() missing 4 required positional arguments: \'language_config\', \'src\', \'max_cpu_time\', and \'max_memory\'","err":"JudgeClientError"}') x 2,
 '{"data":"TypeError :judge() missing 1 required positional argument: \'language_config\'","err":"JudgeClientError"}',
 '{"data":"TypeError :judge() missing 2 required positional arguments: \'language_config\' and \'max_cpu_time\'","err":"JudgeClientError"}',
 ('{"data":"invalid parameter","err":"JudgeClientError"}') x 2,
 '{"data":"KeyError :\'input\'","err":"JudgeClientError"}',
 '{"data":"TypeError :src, max_cpu_time or max_memory","err":"JudgeClientError"}',
 '{"data":"KeyError :\'run\'","err":"JudgeClientError"}',
 '{"data":"invalid parameter","err":"JudgeClientError"}']

=== TEST 18: other paths and methods
--- request eval
["POST /", "POST /judge/x\n{}", "GET /", "GET /judge", "PUT /ping"]
--- error_code eval
[200, 200, 200, 405, 405]
--- response_body eval
[('{"data":"404","err":"InvalidRequest"}') x 3, ('{"data":"405","err":"InvalidRequest"}') x 2]

=== TEST 19: C++, Python 2, special judges and files go on to the judge behind, as they came
--- config eval: $::Example
--- request eval
[::judge('cpp', 'int main() {}', ['', '1']), ::judge('python2', 'print 1', ['', '1']),
 "POST /compile_spj\n" . '{"src":"","spj_version":"1","spj_compile_config":{}}',
 ::judge('python', '1', ['', '1'], {spj_version => '"3"', spj_config => '{"exe_name":"spj"}'}) =~ s/,"spj_version":null,"spj_config":null//r,
 ::judge('python', '1', ['', '1'], {io_mode => '{"io_mode":"File IO","input":"i","output":"o"}'})]
--- response_body_like eval
[qr{^old: POST /judge $::Sha application/json \{"language_config":\Q$::Config{cpp}\E,"src":"int main\(\) \{\}",.*"spj_src":null\}$},
 qr{^old: POST /judge .*"src":"print 1"}, qr{^old: POST /compile_spj $::Sha application/json \{"src":"","spj_version":"1","spj_compile_config":\{\}\}$},
 qr{^old: POST /judge .*"spj_version":"3"}, qr{^old: POST /judge .*"File IO"}]

=== TEST 20: … and are refused where there is none
--- request eval
[::judge('cpp', 'int main() {}', ['', '1']), "POST /compile_spj\n" . '{"src":"","spj_version":"1","spj_compile_config":{}}',
 ::judge('python', '1', ['', '1'], {spj_version => '"3"', spj_config => '{"exe_name":"spj"}'}) =~ s/,"spj_version":null,"spj_config":null//r,
 ::judge('python', '1', ['', '1'], {io_mode => '{"io_mode":"File IO","input":"i","output":"o"}'}),
 ::judge('python', '1', ['', '1'], {io_mode => '{"io_mode":"Standard IO","input":"i","output":"o"}'})]
--- response_body_like eval
[qr/^\{"data":"this language is not supported here","err":"JudgeClientError"\}$/,
 qr/^\{"data":"special judges are not supported here","err":"SPJCompileError"\}$/,
 qr/^\{"data":"a special judge is not supported here","err":"JudgeClientError"\}$/,
 qr/^\{"data":"File IO is not supported here","err":"JudgeClientError"\}$/,
 ::results(::result(-1, 0, 0, Digest::MD5::md5_hex('')))]

=== TEST 21: commands: options are the other judge's, arguments the program's; environment
--- request eval
[::judge('python', 'import sys, os; print(sys.argv, os.environ["A"], os.getcwd())', ['', ''], {output => 'true'}) =~ s|/usr/bin/python3 \{exe_path\}|/opt/python3.12 -BS {exe_path} {exe_dir} {max_memory}k|r =~ s|"PYTHONIOENCODING=UTF-8"|"A=b=c"|r,
 ::judge('python', '1', ['', '']) =~ s|/usr/bin/python3 \{exe_path\}|/usr/bin/python3 -c 1|r,
 ::judge('python', '1', ['', '']) =~ s|"PYTHONIOENCODING=UTF-8"|"LD_PRELOAD=x"|r]
--- response_body_like eval
[qr{"output":"\['solution\.py', '/tmp/run', '131072k'\] b=c /tmp/run\\n"},
 qr/^\{"data":"this language is not supported here","err":"JudgeClientError"\}$/,
 qr/^\{"data":"env: [^"]*","err":"JudgeClientError"\}$/]

=== TEST 22: an empty program
--- request eval
::judge('python', '', ['', ''])
--- response_body_like eval
::results(::result(0, 0, 0, Digest::MD5::md5_hex('')))

=== TEST 23: limits that nothing can start with
--- config eval
$::Alone =~ s/sandbox_memory/sandbox_open_files 8; sandbox_memory/r
--- request eval
::judge('node', '1', ['', ''], ['', ''])
--- response_body_like eval
::results(::result(5, 0, 0, undef, undef, 1, -1), ::result(5, 0, 0, undef, undef, 2, -1))

=== TEST 24: heartbeats, and one with another token
--- config eval
$::Example . $::Example
    =~ s{location /}{location /other}r =~ s{location \@judge.*}{}sr
    =~ s{token=TOKEN}{token=OTHER}r
--- request
POST /ping
--- response_body_like: "action":"pong"
--- wait: 1
--- error_log eval
[qr{\[notice\] .*sandbox heartbeats to "http://unix:.*/api/judge_server_heartbeat/" are taken},
 qr{\[error\] .*sandbox heartbeats to "http://unix:.*/api/judge_server_heartbeat/" fail: Invalid token}]

=== TEST 25: without a token there is no start
--- config eval
"location / { sandbox any; sandbox_policy $::Lua/judgeserver.lua; }"
--- must_die
--- error_log eval
qr/\[emerg\] .*judgeserver\.lua:\d+: token=… is missing in /

=== TEST 26: cases on the disk, by the MD5 of what they should print
--- user_files eval
[['normal/1.in', "1 2\n"], ['normal/1.out', "3\n"], ['normal/2.in', "1 4\n"],
 ['normal/info', '{"spj":false,"test_case_number":2,"test_cases":{'
  . '"1":{"stripped_output_md5":"' . Digest::MD5::md5_hex('3') . '","output_size":2,"output_md5":"x","input_name":"1.in","input_size":4,"output_name":"1.out"},'
  . '"2":{"stripped_output_md5":"' . Digest::MD5::md5_hex('3') . '","output_size":2,"output_md5":"x","input_name":"2.in","input_size":4,"output_name":"2.out"}}}'],
 ['broken/info', '{'], ['lost/info', '{"test_cases":{"1":{"input_name":"1.in"}}}']]
--- request eval
[::judge('python', "a, b = input().split()\nprint(int(a) + int(b), '\\n ')", {test_case_id => '"normal"', output => 'true'}),
 ::judge('python', '1', {test_case_id => '"missing"'}), ::judge('python', '1', {test_case_id => '"../conf"'}),
 ::judge('python', '1', {test_case_id => '"broken"'}), ::judge('python', 'x = (', {test_case_id => '"normal"'})]
--- response_body_like eval
[::results(::result(0, 0, 0, Digest::MD5::md5_hex('3'), '"3 \\\\n \\\\n"'),
           ::result(-1, 0, 0, Digest::MD5::md5_hex('5'), '"5 \\\\n \\\\n"', 2)),
 qr/^\{"data":"Test case not found","err":"JudgeClientError"\}$/,
 qr/^\{"data":"cases_from: .*","err":"JudgeClientError"\}$/,
 qr/^\{"data":"Bad test case config","err":"JudgeClientError"\}$/,
 qr/"err":"CompileError"/]
