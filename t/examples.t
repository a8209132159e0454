use strict;
use warnings;
use Test::Nginx::Socket;

# The files under examples/: the lines that a judge adds to its proxy, as they
# are, in front of a stand-in for the judge that says what reached it; and the
# audit line.

sub example {
    my ($name, $from, $to) = @_;

    open my $in, '<', "examples/$name" or die "examples/$name: $!";
    my $text = do { local $/; <$in> };
    my ($part) = $text =~ /$from(.*?)$to/s or die "no such part in $name";

    return $part;
}

our $Added = example('judge-proxy.conf', "# added: from here\n",
                     '# added: to here');
# the judge's own locations, without what is added
our $Stock = example('judge-proxy.conf', 'client_max_body_size 16m;\n',
                     '# added: from here');
our $Audit = example('nginx.conf', '(?=log_format audit)', '(?<=;)\n');

our $Judge = <<'CONF';
    upstream judge {
        server unix:$TEST_NGINX_SERVROOT/logs/judge.sock;
        keepalive 16;
    }
    server {
        listen unix:$TEST_NGINX_SERVROOT/logs/judge.sock;
        location / {
            proxy_pass http://unix:$TEST_NGINX_SERVROOT/logs/echo.sock;
            proxy_set_header X-Body $request_body;
        }
    }
    server {
        listen unix:$TEST_NGINX_SERVROOT/logs/echo.sock;
        location / {
            return 200 "judge: $request_method $uri $http_x_body\n";
        }
    }
CONF

our $Rest = ['GET /', 'GET /problems/7?x=%20&y', "POST /api/runs\na=b",
             "POST /api/run/1\n{}", 'DELETE /api/submissions/1',
             'PUT /API/run'];
our $RestAnswers = [
    "judge: GET / \n", "judge: GET /problems/7 \n",
    "judge: POST /api/runs a=b\n", "judge: POST /api/run/1 {}\n",
    "judge: DELETE /api/submissions/1 \n", "judge: PUT /API/run \n",
];

# starting the supervisor is part of the first request
timeout(20);

plan tests => repeat_each() * 54;

no_long_string();
no_root_location();
run_tests();

__DATA__

=== TEST 1: a judge's proxy: what it can, it runs here
--- http_config eval: $::Judge
--- config eval: $::Added
--- request eval
["POST /api/run\n" . '{"language":"python","code":"print(6*7)"}',
 "POST /api/run\n" . '{"language":"node","code":"console.log(6*7)"}']
--- more_headers
Content-Type: application/json
--- response_body_like eval
[('^\{"status":"success","output":"42\\\\n"') x 2]
--- no_error_log
[alert]



=== TEST 2: another language goes on to the judge, method and body as they came
--- http_config eval: $::Judge
--- config eval: $::Added
--- request eval
["POST /api/run\n" . '{"language":"c++","code":"int main() { return 0; }"}',
 "POST /api/run\n" . '{"language": "cobol",  "code":"STOP RUN.","x":1}']
--- more_headers
Content-Type: application/json
--- response_body eval
["judge: POST /api/run {\"language\":\"c++\",\"code\":\"int main() { return 0; }\"}\n",
 "judge: POST /api/run {\"language\": \"cobol\",  \"code\":\"STOP RUN.\",\"x\":1}\n"]



=== TEST 3: so do another body and another method
--- http_config eval: $::Judge
--- config eval: $::Added
--- request eval
["POST /api/run\na=b&c=d", "PUT /api/run\nx", "GET /api/run?id=7"]
--- more_headers
Content-Type: application/x-www-form-urlencoded
--- response_body eval
["judge: POST /api/run a=b&c=d\n", "judge: PUT /api/run x\n",
 "judge: GET /api/run \n"]



=== TEST 4: and everything when there is no supervisor
--- http_config eval
"sandbox_command /bin/false;\n$::Judge"
--- config eval: $::Added
--- request
POST /api/run
{"language":"python","code":"print(6*7)"}
--- more_headers
Content-Type: application/json
--- response_body
judge: POST /api/run {"language":"python","code":"print(6*7)"}



=== TEST 5: a run's failure is an answer, not a reason to pass on
--- http_config eval: $::Judge
--- config eval: $::Added
--- request
POST /api/run
{"language":"python","code":"raise SystemExit(3)"}
--- more_headers
Content-Type: application/json
--- response_body_like: ^\{"status":"error".*"exit_code":3



=== TEST 6: the audit line
--- http_config eval: $::Audit
--- config
    location = /run {
        sandbox any;
        access_log $TEST_NGINX_SERVROOT/logs/audit.log audit;
    }
    location = /audit {
        alias $TEST_NGINX_SERVROOT/logs/audit.log;
    }
--- request eval
["POST /run\n" . '{"language":"python","code":"import os; os.abort()"}',
 "GET /audit"]
--- more_headers
Content-Type: application/json
--- response_body_like eval
['"status":"signaled"',
 '^\{"time":"\d{4}-\d\d-\d\dT[^"]*","uri":"/run","client":"127\.0\.0\.1",'
 . '"language":"python","sha256":"[0-9a-f]{64}","http":200,'
 . '"status":"signaled","reason":"","wall_s":"\d+\.\d{3}",'
 . '"cpu_s":"\d+\.\d{3}","queue_s":"\d+\.\d{3}","memory":"\d+"\}\n$']



=== TEST 7: everything else is as it was: the answers with the added lines …
--- http_config eval: $::Judge
--- config eval: $::Stock . $::Added
--- request eval: $::Rest
--- error_code eval: [(200) x 6]
--- raw_response_headers_unlike eval: [('[Ss]andbox') x 6]
--- response_body eval: $::RestAnswers



=== TEST 8: … and without
--- http_config eval: $::Judge
--- config eval: $::Stock
--- request eval: $::Rest
--- error_code eval: [(200) x 6]
--- response_body eval: $::RestAnswers
