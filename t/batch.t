use strict;
use warnings;
use Test::Nginx::Socket;
use File::Path qw(make_path);
use File::Temp qw(tempdir);

# One request, many cases: each in its own fresh child, compared by the
# supervisor, summed up.

# starting the supervisor is part of the first request
timeout(30);

our $suites = tempdir('/tmp/batch-XXXXXX', CLEANUP => 1);
chmod 0755, $suites;

sub put {
    my ($name, $text) = @_;
    make_path("$suites/$1") if $name =~ m{^(.*)/};
    open my $file, '>', "$suites/$name" or die "$suites/$name: $!";
    print {$file} $text;
    close $file;
}

# 2 comes before 10, and 10 has no output
put('plain/1.in', "1 1\n");
put('plain/1.out', "2\n");
put('plain/2.in', "2 2\n");
put('plain/2.out', "5\n");
put('plain/10.in', "10 10\n");
put('plain/notes.txt', 'no case');

put('listed/info', '{"test_case_number": 2, "spj": false, "test_cases": {'
    . '"1": {"input_name": "a.in", "output_name": "a.out",'
    . ' "stripped_output_md5": "eccbc87e4b5ce2fe28308fd9f2a7baf3"},'
    . '"2": {"input_name": "b.in", "output_name": "none.out", "stripped_output_md5": "d41d"}}}');
put('listed/a.in', '1 2');
put('listed/a.out', '3');
put('listed/b.in', '5 5');

put('empty/readme', '');
put('broken/info', '{"test_cases": [');
put('linked/readme', '');
symlink '/etc/passwd', "$suites/linked/1.in" or die;

put('judge.lua', <<'EOL');
return {
    request = function(req)
        local job = { language = "python", code = req.body, compare = "trimmed",
                      keep = req.args }
        if req.args == "whole" then
            job.cases = { { stdin = "1 2", expected = "3" } }
        else
            job.cases_from = req.args
        end
        return job
    end,

    response = function(req, verdict)
        if req.keep == "whole" then
            return { body = verdict }
        end
        if verdict.http ~= 200 then
            return { status = 200, body = "refused " .. verdict.http .. " "
                                          .. verdict.error }
        end
        local lines = {}
        for _, case in ipairs(verdict.cases) do
            lines[#lines + 1] = ("%s=%d:%s:%s"):format(case.name,
                case.returncode + 1, tostring(case.accepted),
                case.output:sub(1, -2)) .. (case.digest and ":" .. case.digest or "")
        end
        lines[#lines + 1] = ("total %d failed %d"):format(
            verdict.summary.total, verdict.summary.failed)
        return { body = table.concat(lines, "\n") }
    end,
}
EOL

our $add = 'print(sum(map(int, input().split())))';

sub prog {
    my ($code, $more) = @_;
    $code =~ s/\n/\\n/g;
    return 'POST /run' . "\n" . qq({"language":"python","code":"$code",$more});
}

# status, accepted and output of each case, in its order
sub cases {
    return join '.*', map {
        my ($status, $accepted, $output) = @$_;
        qr/\{"status":"$status","accepted":$accepted,"name":[^,]*,"output":"\Q$output\E"/
    } @_;
}

add_block_preprocessor(sub {
    my $block = shift;

    $block->set_value(config => <<"EOC") unless defined $block->config;
        location /run {
            sandbox any;
            sandbox_output 1m max=64m;
            sandbox_cases $suites;
        }
        location /none {
            sandbox any;
        }
        location /python {
            sandbox python;
        }
EOC
    $block->set_value(more_headers => "Content-Type: application/json\n")
        unless defined $block->more_headers;
});

plan tests => repeat_each() * 88;

no_long_string();
run_tests();

__DATA__

=== TEST 1: each case has its own input, its own child, its own verdict
--- request eval
[main::prog('n = int(input())\nprint(n * n)\nassert n < 4',
           '"cases":[{"stdin":"2","expected":"4\n"},{"stdin":"3","expected":"8\n"},{"stdin":"4"}]'),
 main::prog('import os\nprint(os.path.exists(\'/tmp/x\'))\nopen(\'/tmp/x\', \'w\').close()',
           '"cases":[{"expected":"False\n"},{"expected":"False\n"},{"expected":"False\n"}]'),
 main::prog('print(input())', '"cases":[{"stdin":{"base64":"/w=="}},{"stdin":"é"}],"encoding":"base64"')]
--- response_body_like eval
[qr/^\{"status":"error","accepted":false,"summary":\{"total":3,"accepted":1,"failed":2,"skipped":0\},"cases":\[${\main::cases(['success', 'true', '4\n'], ['success', 'false', '9\n'], ['error', 'null', '16\n'])}/,
 qr/^\{"status":"success","accepted":true,"summary":\{"total":3,"accepted":3,"failed":0,"skipped":0\}/,
 qr/^\{"status":"success","accepted":null,.*"output":"\/wo=".*"output":"w6kK"/]
--- error_code eval
[200, 200, 200]


=== TEST 2: a hundred at once
--- request eval
main::prog('print(input())', '"cases":[' . CORE::join(',', map { qq({"stdin":"$_","expected":"$_\\n"}) } 1 .. 100) . ']')
--- response_body_like eval
qr/^\{"status":"success","accepted":true,"summary":\{"total":100,"accepted":100,"failed":0,"skipped":0\}/


=== TEST 3: how outputs are compared
--- request eval
[map { main::prog('import sys; print(sys.stdin.read())', qq("cases":[{"stdin":"a  b ","expected":"a  b \\n"},{"stdin":"a  b ","expected":"a  b"},{"stdin":"a  b","expected":"\\ta b\\n\\n"},{"stdin":"ab","expected":"a b"},{"stdin":"","expected":""},{"stdin":"a \\nb","expected":"a\\nb"}]$_)) }
     '', ',"compare":"exact"', ',"compare":"trimmed"', ',"compare":"tokens"', ',"compare":"lines"']
--- response_body_like eval
[map { my $n = $_; qr/"summary":\{"total":6,"accepted":$n,/ } 1, 1, 3, 5, 4]


=== TEST 4: the first failure may be the last
--- request eval
[main::prog('import sys\nn = int(input())\nprint(n)\nsys.exit(n == 2)',
           '"stop_at_failure":true,"cases":[' . CORE::join(',', map { qq({"stdin":"$_"}) } 1 .. 20) . ']'),
 main::prog('print(input())', '"stop_at_failure":true,"cases":[{"stdin":"1","expected":"2"},{"stdin":"1"},{"stdin":"1"}]'),
 main::prog('print(input())', '"stop_at_failure":false,"cases":[{"stdin":"1","expected":"2"},{"stdin":"1"}]'),
 main::prog('import time\nn = int(input())\nif n == 1:\n    time.sleep(0.3)\n    raise SystemExit(1)',
           '"stop_at_failure":true,"cases":[{"stdin":"1"},{"stdin":"2"},{"stdin":"3"}]')]
--- response_body_like eval
[qr/"summary":\{"total":20,"accepted":0,"failed":1,"skipped":18\}.*"status":"skipped".*"status":"skipped"/,
 qr/^\{"status":"success","accepted":false,"summary":\{"total":3,"accepted":0,"failed":1,"skipped":2\}/,
 qr/"summary":\{"total":2,"accepted":0,"failed":1,"skipped":0\}/,
 qr/^\{"status":"error","accepted":false,"summary":\{"total":3,"accepted":0,"failed":1,"skipped":2\}/]


=== TEST 5: limits are per case, and one that breaks them is alone
--- request eval
main::prog('n = int(input())\nif n == 1:\n    while True: pass\nif n == 2:\n    x = bytearray(10**9)\nprint(n)',
          '"limits":{"timeout":"400ms"},"cases":[{"stdin":"0"},{"stdin":"1"},{"stdin":"2"},{"stdin":"3"}]')
--- response_body_like eval
qr/^\{"status":"timeout".*"failed":2,"skipped":0.*${\main::cases(['success', 'null', '0\n'], ['timeout', 'null', ''], ['memory_exceeded', 'null', ''], ['success', 'null', '3\n'])}/


=== TEST 6: mistakes are named
--- request eval
[map { main::prog('1', $_) }
     '"cases":[]', '"cases":{}', '"cases":[1]', '"cases":[{"stdin":1}]',
     '"cases":[{"input":""}]', '"cases":[{}],"stdin":""',
     '"cases":[{}],"compare":"diff"', '"cases":[{}],"stop_at_failure":1',
     '"compare":"tokens"', '"stdin":"1","stop_at_failure":true',
     '"cases":[{"expected":{"base64":"?"}}]', '"cases":[' . CORE::join(',', ('{}') x 1025) . ']',
     '"cases":[' . CORE::join(',', ('{}') x 300) . '],"limits":{"output":"1m"}']
--- response_body_like eval
[map { my $e = $_; qr/^\{"status":"invalid",.*"error":"\Q$e\E/ }
     'cases: is empty', 'cases: an array of objects is expected',
     'cases[0]: an object is expected', 'cases[0].stdin: a string or {',
     'cases[0]: unknown key \"input\"', 'stdin, cases, cases_from: contradict each other',
     'compare: \"exact\", \"tokens\", \"trimmed\" or \"lines\" is expected', 'stop_at_failure: true or false is expected',
     'compare: is for a batch, and there are no \"cases\"', 'stop_at_failure: is for a batch',
     'cases[0].expected.base64: is not valid base64', 'cases: more than 1024',
     'cases: 300 of them, each with an output of 1048576 bytes, could print more']
--- error_code eval
[(400) x 13]


=== TEST 7: cases that lie on the server's disk
--- request eval
[main::prog($main::add, '"cases_from":"plain","compare":"trimmed"'),
 main::prog($main::add, '"cases_from":"listed","compare":"trimmed"')]
--- response_body_like eval
[qr/"summary":\{"total":3,"accepted":1,"failed":1,"skipped":0\}.*"name":"1","output":"2\\n".*"accepted":false,"name":"2","output":"4\\n".*"accepted":null,"name":"10","output":"20\\n"/,
 qr/"summary":\{"total":2,"accepted":1,"failed":0,"skipped":0\}.*"accepted":true,"name":"1","output":"3\\n".*"accepted":null,"name":"2","output":"10\\n"/]


=== TEST 8: which of them there are is no client's choice
--- request eval
[(map { main::prog('1', $_) }
     '"cases_from":"../plain"', '"cases_from":"/etc"', '"cases_from":"missing"',
     '"cases_from":"empty"', '"cases_from":"broken"', '"cases_from":"linked"',
     '"cases_from":1', '"cases_from":"plain","cases":[{}]'),
 "POST /none\n" . '{"language":"python","code":"1","cases_from":"plain"}']
--- response_body_like eval
['is absolute|\.\.\\\\" component', 'cases_from: is absolute', 'cases \\\\"missing\\\\": No such file',
 'there are none', 'info: no test_cases', 'cases: file \\\\"1.in\\\\": Invalid cross-device link',
 'cases_from: a string is expected', 'contradict each other',
 'this location has no \\\\"sandbox_cases\\\\"']
--- error_code eval
[400, 400, 400, 500, 500, 500, 400, 400, 400]


=== TEST 9: a policy makes a batch and shapes its answer
--- config eval
qq(
        location /judge {
            sandbox any;
            sandbox_cases $main::suites;
            sandbox_policy $main::suites/judge.lua;
        }
)
--- request eval
["POST /judge?plain\nprint(sum(map(int, input().split())))",
 "POST /judge?listed\nprint(sum(map(int, input().split())))",
 "POST /judge?missing\n1",
 "POST /judge?whole\nprint(sum(map(int, input().split())))"]
--- response_body_like eval
[qr/^1=1:true:2\n2=1:false:4\n10=1:nil:20\ntotal 3 failed 1$/,
 qr/^1=1:true:3:eccbc87e4b5ce2fe28308fd9f2a7baf3\n2=1:nil:10:d41d\ntotal 2 failed 0$/,
 qr/^refused 400 cases "missing"/,
 qr/^\{"status":"success","accepted":true,"summary":\{"total":1,"accepted":1,"failed":0,"skipped":0\},"cases":\[\{"status":"success","accepted":true,"name":null,"output":"3\\n"/]


=== TEST 10: an archive is not unpacked, and not run
--- request eval
["POST /none\nPK", "POST /python\nPK"]
--- more_headers
Content-Type: application/zip
--- response_body_like eval
[(qr/^\{"status":"invalid",.*"error":"archives are not unpacked: send the files one by one/) x 2]
--- error_code eval
[415, 415]
