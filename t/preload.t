use strict;
use warnings;
use Test::Nginx::Socket;

# sandbox_preload: a module that cannot be is named in every answer of Python.

# starting the supervisor is part of the first request
timeout(30);

plan tests => repeat_each() * 11;

no_long_string();
run_tests();

__DATA__

=== TEST 1: a module that is not there
--- http_config
    sandbox_preload python csv no_module_of_ours;
--- config
    location /run { sandbox python; }
--- more_headers
Content-Type: application/json
--- request eval
qq{POST /run\n{"code":"print(1+1)"}}
--- error_code: 503
--- response_body_like: "error":"sandbox_preload: module \\"no_module_of_ours\\" in [^"]+/nginx\.conf:\d+ cannot be imported: ModuleNotFoundError: No module named 'no_module_of_ours'","reason":"unprotected"
--- error_log eval
qr{\[crit\] .*no run of python is possible: sandbox_preload: module "no_module_of_ours"}

=== TEST 2: another language goes on
--- http_config
    sandbox_preload python no_module_of_ours;
--- config
    location /run { sandbox node; }
--- more_headers
Content-Type: application/json
--- request eval
qq{POST /run\n{"code":"console.log(1+1)"}}
--- error_code: 200
--- response_body_like: "output":"2\\n"

=== TEST 3: a program finds what it imports
--- http_config
    sandbox_preload python csv;
    sandbox_preload python xml.dom;
--- config
    location /run { sandbox python; }
--- more_headers
Content-Type: application/json
--- request eval
qq{POST /run\n{"code":"import sys\\nprint('csv' in sys.modules)\\nimport csv\\nprint('csv' in sys.modules, 'xml' in sys.modules)"}}
--- error_code: 200
--- response_body_like: "output":"False\\nTrue False\\n"

=== TEST 4: that is answered at once, while the self-tests still run
--- http_config
    sandbox_preload python no_module_of_ours;
--- config
    location /run { sandbox python; }
    location /metrics { sandbox_metrics; }
--- more_headers
Content-Type: application/json
--- pipelined_requests eval
[qq{POST /run\n{"code":"print(1+1)"}}, "GET /metrics"]
--- error_code eval: [503, 200]
--- response_body_like eval: [qr/"unprotected"/, qr/\nsandbox_up 0\n/]
