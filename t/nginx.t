use strict;
use warnings;
use Test::Nginx::Socket;

# A sandbox location among nginx's other features.

# starting the supervisor is part of the first request
timeout(30);

our $Hello = q({"language":"python","code":"print(1+1)\n"});
our $Big = q({"language":"python","code":"print(len(input()))","stdin":")
    . ('x' x 200000) . q("});

sub chunked {
    my ($uri, $body) = @_;
    my $chunks = join '', map { sprintf "%x\r\n%s\r\n", length, $_ }
                          $body =~ /(.{1,1000})/gs;
    return "POST $uri HTTP/1.1\r\nHost: x\r\nConnection: close\r\n"
         . "Content-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n"
         . "${chunks}0\r\n\r\n";
}

# For HTTP/2 the original runner writes "http2 on" from 1.19.9 on; nginx itself,
# unlike OpenResty's, knows that since 1.25.1.  The one in t/lib knows both forms.
our $NoHttp2 = !$INC{'NginxTest/Server.pm'}
    && (readpipe(($ENV{TEST_NGINX_BINARY} || 'nginx') . ' -v 2>&1') // '')
       =~ m{^nginx version: nginx/1\.(?:19|2[0-4]|25\.0)};

add_block_preprocessor(sub {
    my $block = shift;

    $block->set_value(more_headers => "Content-Type: application/json\n")
        unless defined $block->more_headers;
});

plan tests => repeat_each() * 67;

no_long_string();
run_tests();

__DATA__

=== TEST 1: chunked body, small and spilled to a file
--- config
    client_body_buffer_size 8k;
    location /run { sandbox any; }
--- raw_request eval
[main::chunked("/run", $main::Big)]
--- response_body_like: "status":"success","output":"200000\\n"

=== TEST 2: body spilled to a temporary file
--- config
    client_body_buffer_size 8k;
    location /run { sandbox any; }
--- request eval
"POST /run\n$main::Big"
--- response_body_like: "status":"success","output":"200000\\n"

=== TEST 3: body in a file only
--- config
    client_body_in_file_only clean;
    location /run { sandbox any; }
    location /py { sandbox python; }
--- request eval
["POST /run\n$main::Hello", "POST /py\nprint(6*7)"]
--- more_headers eval
["Content-Type: application/json", "Content-Type: text/x-python"]
--- response_body_like eval
[qr/"output":"2\\n"/, qr/"output":"42\\n"/]

=== TEST 4: larger than client_max_body_size
--- config
    location /run { client_max_body_size 1k; sandbox any; }
--- request eval
"POST /run\n$main::Big"
--- error_code: 413

=== TEST 5: HTTP/2
--- skip_eval: 2: $main::NoHttp2
--- http2
--- config
    location /run { sandbox any; }
--- request eval
"POST /run\n$main::Hello"
--- response_body_like: "status":"success","output":"2\\n"

=== TEST 6: other methods
--- config
    location /run { sandbox any; }
--- request eval
["GET /run", "PUT /run\n{}", "DELETE /run"]
--- error_code eval
[405, 405, 405]
--- response_headers eval
["Allow: POST", "Allow: POST", "Allow: POST"]
--- response_body_like eval
[qr/"status":"invalid"/, qr/"status":"invalid"/, qr/"status":"invalid"/]

=== TEST 7: a named location, and a rewrite to it
--- config
    location /a { error_page 418 = @run; return 418; }
    location @run { sandbox any; }
    location /b { rewrite ^ /run last; }
    location /run { sandbox any; }
--- request eval
["POST /a\n$main::Hello", "POST /b\n$main::Hello"]
--- response_body_like eval
[qr/"output":"2\\n"/, qr/"output":"2\\n"/]

=== TEST 8: auth_request decided by a program
--- http_config
    sandbox_policy ../html/check.lua;
--- config
    location /run { auth_request /good; sandbox any; sandbox_policy off; }
    location /denied { auth_request /bad; sandbox any; sandbox_policy off; }
    location /good { internal; sandbox python; sandbox_code ../html/good.py; }
    location /bad { internal; sandbox python; sandbox_code ../html/bad.py; }
--- user_files
>>> check.lua
return {
    response = function(req, verdict)
        return { status = verdict.exit_code == 0 and 204 or 403, body = "" }
    end,
}
>>> good.py
print("come in")
>>> bad.py
raise SystemExit(1)
--- request eval
["POST /run\n$main::Hello", "POST /denied\n$main::Hello"]
--- error_code eval
["200", "403"]
--- response_body_like eval
[qr/"output":"2\\n"/, qr/403 Forbidden/]

=== TEST 9: a stored program's answer included by SSI
--- config
    location /ssi/ { ssi on; }
    location /stored { sandbox python; sandbox_code ../html/stored.py; }
--- user_files
>>> ssi/page.html
before <!--#include virtual="/stored" --> after
>>> stored.py
print("stored")
--- request
GET /ssi/page.html
--- more_headers
Accept: */*
--- response_body_like: ^before \{"status":"success","output":"stored\\n".*\} + after$

=== TEST 10: limit_req
--- http_config
    limit_req_zone $server_name zone=one:1m rate=1r/m;
--- config
    location /run { limit_req zone=one; limit_req_status 429; sandbox any; }
--- request eval
["POST /run\n$main::Hello", "POST /run\n$main::Hello"]
--- error_code eval
["200", "429"]

=== TEST 11: limit_except
--- config
    location /run { limit_except POST { deny all; } sandbox any; }
--- request eval
["POST /run\n$main::Hello", "GET /run"]
--- error_code eval
["200", "403"]

=== TEST 12: error_page back to the judge that stands there, with our variables
--- config
    location /run {
        sandbox any;
        sandbox_intercept_errors on;
        error_page 400 = @judge;
    }
    location @judge {
        add_header X-Status $sandbox_status;
        return 200 "old judge";
    }
--- request
POST /run
{"language":"cobol","code":"x"}
--- error_code: 200
--- response_headers
X-Status: invalid
--- response_body: old judge

=== TEST 13: without interception the body is ours
--- config
    location /run { sandbox any; error_page 400 = @judge; }
    location @judge { return 200 "old judge"; }
--- request
POST /run
{"language":"cobol","code":"x"}
--- error_code: 400
--- response_body_like: ^\{"status":"invalid".*cobol

=== TEST 14: many requests on one connection
--- config
    location /run { sandbox any; }
--- pipelined_requests eval
["POST /run\n$main::Hello", "POST /run\n$main::Hello", "POST /run\n$main::Hello"]
--- response_body_like eval
[qr/"output":"2\\n"/, qr/"output":"2\\n"/, qr/"output":"2\\n"/]

=== TEST 15: variables in a header of the answer and in the log
--- http_config
    log_format t "st=$sandbox_status lang=$sandbox_language wall=$sandbox_wall_time cpu=$sandbox_cpu_time queue=$sandbox_queue_time mem=$sandbox_memory sha=$sandbox_code_sha256 why=$sandbox_reason";
--- config
    location /run { sandbox any; access_log logs/error.log t; }
--- request
POST /run
{"language":"python","code":"print(1)"}
--- error_log eval
qr/st=success lang=python wall=\d+\.\d{3} cpu=\d+\.\d{3} queue=\d+\.\d{3} mem=\d+ sha=d287bb7f9d15abdc5b6e98536263815744b6ef21c8f3c839fc434ca70d8efe99 why=-/

=== TEST 16: metrics
--- config
    location /run { sandbox any; }
    location /metrics { sandbox_metrics; }
--- request eval
["POST /run\n" . q({"language":"python","code":"import os; os._exit(137)"}), "GET /metrics", "POST /metrics\nx"]
--- error_code eval
["200", "200", "405"]
--- response_body_like eval
[qr/"exit_code":137/, qr/sandbox_exit_code\{code="137"\} 1\n(?s:.*)sandbox_check\{language="python",check="check_deadline"\} 1\n/, qr/./]

=== TEST 17: no queue, one slot: who comes first while it starts is served
--- http_config
    sandbox_slots 1;
    sandbox_standby 0;
    sandbox_queue 0;
--- config
    location /run { sandbox any; }
--- request eval
"POST /run\n$main::Hello"
--- error_code: 200

=== TEST 18: an upstream that is somebody else's supervisor, and gone
--- config
    location /run { sandbox any; sandbox_pass unix:/nonexistent/supervisor.sock; }
--- request eval
"POST /run\n$main::Hello"
--- error_code_like: ^50[23]$

=== TEST 19: metrics of batches, and of what a policy did itself
--- user_files
>>> p.lua
return { request = function(req)
    if req.args == "refuse" then return { status = 403, body = "no" } end
    if req.args == "pass" then return { pass = "@other" } end
end }
--- config
    location /run { sandbox any; sandbox_policy ../html/p.lua; }
    location @other { return 204; }
    location /metrics { sandbox_metrics; }
--- request eval
["POST /run?refuse\n{}", "POST /run?pass\n{}", "POST /run?pass\n{}",
 "POST /run\n" . q({"language":"python","code":"1/int(input())","cases":[{"stdin":"1"},{"stdin":"0"},{"stdin":"1"}]}),
 "GET /metrics"]
--- error_code eval
[403, 204, 204, 200, 200]
--- response_body_like eval
[qr/^no$/, qr/^$/, qr/^$/, qr/^\{"status":"error"/,
 qr/sandbox_requests_total\{language="python",status="success"\} 0\nsandbox_requests_total\{language="python",status="error"\} 1\n(?s:.*)sandbox_runs_total\{language="python",status="success"\} 2\nsandbox_runs_total\{language="python",status="error"\} 1\n(?s:.*)sandbox_policy_answers_total\{class="2xx"\} 0\n(?s:.*)sandbox_policy_answers_total\{class="4xx"\} 1\n(?s:.*)sandbox_policy_passed_total 2\n(?s:.*)sandbox_run_duration_seconds_count\{language="python"\} 3\n/]

=== TEST 20: waiting for self-tests, here of a runtime that stops itself, is no lack of slots
--- http_config
    sandbox_runtime slow /bin/sh -c "kill -STOP $$";
    sandbox_queue 8 timeout=1ms;
--- config
    location /run { sandbox any; }
--- request eval
"POST /run\n" . q({"language":"slow","code":"1"})
--- error_code: 503
--- response_body_like: "status":"busy".*"error":"waited 1 ms: the self-tests of slow, as at each start and reload, still run","reason":"queue"
