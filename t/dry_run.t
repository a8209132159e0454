use strict;
use warnings;
use Test::Nginx::Socket;

# sandbox_dry_run answers the job that would run and runs nothing, so all that
# happens between a request and its job can be seen here.

plan tests => repeat_each() * 122;

no_long_string();
run_tests();

__DATA__

=== TEST 1: JSON: every part of the job
--- config
    location /run { sandbox any; sandbox_dry_run on; }
--- request
POST /run
{"language":"python","code":"print(1)","name":"a.py","stdin":"in","args":["x","y"],"env":{"A":"1"},"files":[{"path":"d/f.txt","content":"text"}] }
--- more_headers
Content-Type: application/json
--- error_code: 200
--- response_headers
Content-Type: application/json
--- response_body_like: ^\{"dry_run":true,"language":"python","code":"print\(1\)","name":"a\.py","stdin":"in","args":\["x","y"\],"env":\{"A":"1"\},"files":\[\{"path":"d/f\.txt",.*"limits":\{"memory":134217728,"timeout":5000,"cpu_time":5000,"output":1048576,"disk":16777216,"processes":1,"threads":64,"open_files":256,"stack":8388608,

=== TEST 2: the body is the program
--- config
    location /run { sandbox python; sandbox_dry_run on; }
--- request
POST /run
print(6*7)
--- more_headers
Content-Type: text/x-python
--- error_code: 200
--- response_body_like: "language":"python","code":"print\(6\*7\)","name":"main\.py"

=== TEST 3: without a Content-Type, too
--- config
    location /run { sandbox python; sandbox_dry_run on; }
--- request
POST /run
print(6*7)
--- error_code: 200
--- response_body_like: "code":"print\(6\*7\)

=== TEST 4: any: the header that is missing is named
--- config
    location /run { sandbox any; sandbox_dry_run on; }
--- request
POST /run
print(6*7)
--- more_headers
Content-Type: text/plain
--- error_code: 415
--- response_body_like: "status":"invalid".*\\"Content-Type: application/json\\" is missing

=== TEST 5: JSON with a charset
--- config
    location /run { sandbox any; sandbox_dry_run on; }
--- request
POST /run
{"language":"js","code":"1" }
--- more_headers
Content-Type: Application/JSON; charset="UTF-8"
--- error_code: 200
--- response_body_like: "language":"node".*"name":"main\.js"

=== TEST 6: JSON is never another charset
--- config
    location /run { sandbox any; sandbox_dry_run on; }
--- request
POST /run
{"language":"js","code":"1" }
--- more_headers
Content-Type: application/json;charset=latin1
--- error_code: 415
--- response_body_like: "status":"invalid".*charset

=== TEST 7: application/jsonp is not JSON
--- config
    location /run { sandbox python; sandbox_dry_run on; }
--- request
POST /run
{"code":"1" }
--- more_headers
Content-Type: application/jsonp
--- error_code: 200
--- response_body_like: "code":"\{\\"code\\"

=== TEST 8: GET is refused, with Allow and the native shape
--- config
    location /run { sandbox any; sandbox_dry_run on; }
--- request
GET /run
--- error_code: 405
--- response_headers
Allow: POST
--- response_body_like: "status":"invalid".*"error":"[^"]*POST

=== TEST 9: PUT is refused
--- config
    location /run { sandbox any; sandbox_dry_run on; }
--- request
PUT /run
x
--- more_headers
Content-Type: application/json
--- error_code: 405
--- response_body_like: "status":"invalid"

=== TEST 10: HEAD is refused without a body
--- config
    location /run { sandbox any; sandbox_dry_run on; }
--- request
HEAD /run
--- error_code: 405
--- response_headers
Allow: POST

=== TEST 11: language aliases
--- config
    location /run { sandbox any; sandbox_dry_run on; }
--- request
POST /run
{"language":"python3","code":"1" }
--- more_headers
Content-Type: application/json
--- error_code: 200
--- response_body_like: "language":"python"

=== TEST 12: an unknown language names the known ones
--- http_config
    sandbox_runtime shell /bin/sh;
--- config
    location /run { sandbox any; sandbox_dry_run on; }
--- request
POST /run
{"language":"rust","code":"1" }
--- more_headers
Content-Type: application/json
--- error_code: 400
--- response_body_like: \\"rust\\" is not one of python, node, shell

=== TEST 13: a runtime of one's own
--- http_config
    sandbox_runtime shell /bin/sh;
--- config
    location /run { sandbox any; sandbox_dry_run on; }
--- request
POST /run
{"language":"shell","code":"echo" }
--- more_headers
Content-Type: application/json
--- error_code: 200
--- response_body_like: "language":"shell".*"name":"main"

=== TEST 14: a location of a runtime, declared below it
--- user_files
>>> rt.conf
sandbox_runtime shell /bin/sh;
--- http_config
    include ../html/rt.conf;
--- config
    location /run { sandbox shell; sandbox_dry_run on; }
--- request
POST /run
echo
--- error_code: 200
--- response_body_like: "language":"shell"

=== TEST 15: any needs a language
--- config
    location /run { sandbox any; sandbox_dry_run on; }
--- request
POST /run
{"code":"1" }
--- more_headers
Content-Type: application/json
--- error_code: 400
--- response_body_like: "error":"[^"]*language

=== TEST 16: a location for one language takes no other
--- config
    location /run { sandbox python; sandbox_dry_run on; }
--- request
POST /run
{"language":"node","code":"1" }
--- more_headers
Content-Type: application/json
--- error_code: 400
--- response_body_like: "error":"language: .*node.*only.*python

=== TEST 17: the same language may be named
--- config
    location /run { sandbox python; sandbox_dry_run on; }
--- request
POST /run
{"language":"py","code":"1" }
--- more_headers
Content-Type: application/json
--- error_code: 200
--- response_body_like: "language":"python"

=== TEST 18: an empty program
--- config
    location /run { sandbox python; sandbox_dry_run on; }
--- request
POST /run
{"code":"" }
--- more_headers
Content-Type: application/json
--- error_code: 400
--- response_body_like: "error":"[^"]*empty

=== TEST 19: an empty body
--- config
    location /run { sandbox python; sandbox_dry_run on; }
--- request
POST /run
--- error_code: 400
--- response_body_like: "error":"[^"]*empty

=== TEST 20: an unknown key is named
--- config
    location /run { sandbox python; sandbox_dry_run on; }
--- request
POST /run
{"code":"1","cmd":"x" }
--- more_headers
Content-Type: application/json
--- error_code: 400
--- response_body_like: "status":"invalid".*cmd

=== TEST 21: a duplicate key is named
--- config
    location /run { sandbox python; sandbox_dry_run on; }
--- request
POST /run
{"code":"1","code":"2" }
--- more_headers
Content-Type: application/json
--- error_code: 400
--- response_body_like: "status":"invalid".*duplicate.*code

=== TEST 22: a request may ask up to the ceiling
--- config
    location /run { sandbox any; sandbox_dry_run on; sandbox_timeout 500ms max=2s; }
--- request
POST /run
{"language":"py","code":"1","limits":{"timeout":"2s"} }
--- more_headers
Content-Type: application/json
--- error_code: 200
--- response_body_like: "timeout":2000,"cpu_time":2000

=== TEST 23: and not above, both numbers named
--- config
    location /run { sandbox any; sandbox_dry_run on; sandbox_timeout 500ms max=2s; }
--- request
POST /run
{"language":"py","code":"1","limits":{"timeout":"9s"} }
--- more_headers
Content-Type: application/json
--- error_code: 400
--- response_body_like: timeout: 9000 ms [^"]*2000 ms

=== TEST 24: without max= the default is the ceiling
--- config
    location /run { sandbox any; sandbox_dry_run on; sandbox_memory 64m; }
--- request
POST /run
{"language":"py","code":"1","limits":{"memory":"65m"} }
--- more_headers
Content-Type: application/json
--- error_code: 400
--- response_body_like: memory: 68157440 bytes [^"]*67108864 bytes

=== TEST 25: a request may ask for less
--- config
    location /run { sandbox any; sandbox_dry_run on; sandbox_memory 64m; }
--- request
POST /run
{"language":"py","code":"1","limits":{"memory":"32m"} }
--- more_headers
Content-Type: application/json
--- error_code: 200
--- response_body_like: "memory":33554432

=== TEST 26: without the directive the built-in default is the ceiling
--- config
    location /run { sandbox any; sandbox_dry_run on; }
--- request
POST /run
{"language":"py","code":"1","limits":{"processes":2} }
--- more_headers
Content-Type: application/json
--- error_code: 400
--- response_body_like: processes: 2 [^"]*1

=== TEST 27: a bare number is seconds in a directive, ms in JSON
--- config
    location /run { sandbox any; sandbox_dry_run on; sandbox_timeout 3 max=4; }
--- request
POST /run
{"language":"py","code":"1","limits":{"timeout":3500} }
--- more_headers
Content-Type: application/json
--- error_code: 200
--- response_body_like: "timeout":3500

=== TEST 28: cpu_time goes with the timeout asked for
--- config
    location /run { sandbox any; sandbox_dry_run on; sandbox_timeout 1s max=4s; }
--- request
POST /run
{"language":"py","code":"1","limits":{"timeout":"3s"} }
--- more_headers
Content-Type: application/json
--- error_code: 200
--- response_body_like: "timeout":3000,"cpu_time":3000

=== TEST 29: cpu_time without its directive may go up to the timeout's ceiling
--- config
    location /run { sandbox any; sandbox_dry_run on; sandbox_timeout 1s max=4s; }
--- request
POST /run
{"language":"py","code":"1","limits":{"cpu_time":"3s"} }
--- more_headers
Content-Type: application/json
--- error_code: 200
--- response_body_like: "timeout":1000,"cpu_time":3000

=== TEST 30: cpu_time of its own
--- config
    location /run { sandbox any; sandbox_dry_run on; sandbox_timeout 4s; sandbox_cpu_time 1s; }
--- request
POST /run
{"language":"py","code":"1" }
--- more_headers
Content-Type: application/json
--- error_code: 200
--- response_body_like: "timeout":4000,"cpu_time":1000

=== TEST 31: cpu_time of its own has its own ceiling
--- config
    location /run { sandbox any; sandbox_dry_run on; sandbox_timeout 4s; sandbox_cpu_time 1s; }
--- request
POST /run
{"language":"py","code":"1","limits":{"cpu_time":"2s"} }
--- more_headers
Content-Type: application/json
--- error_code: 400
--- response_body_like: cpu_time: 2000 ms [^"]*1000 ms

=== TEST 32: a limit by language
--- config
    location /run { sandbox any; sandbox_dry_run on; sandbox_memory node 256m max=512m; sandbox_memory 64m; }
--- request
POST /run
{"language":"node","code":"1" }
--- more_headers
Content-Type: application/json
--- error_code: 200
--- response_body_like: "memory":268435456

=== TEST 33: and the general one for the others
--- config
    location /run { sandbox any; sandbox_dry_run on; sandbox_memory node 256m max=512m; sandbox_memory 64m; }
--- request
POST /run
{"language":"py","code":"1" }
--- more_headers
Content-Type: application/json
--- error_code: 200
--- response_body_like: "memory":67108864

=== TEST 34: the ceiling by language
--- config
    location /run { sandbox any; sandbox_dry_run on; sandbox_memory node 256m max=512m; sandbox_memory 64m; }
--- request
POST /run
{"language":"js","code":"1","limits":{"memory":"512m"} }
--- more_headers
Content-Type: application/json
--- error_code: 200
--- response_body_like: "memory":536870912

=== TEST 35: limits are inherited
--- http_config
    sandbox_memory 32m; sandbox_disk 1m;
--- config
    location /run { sandbox any; sandbox_dry_run on; }
--- request
POST /run
{"language":"py","code":"1" }
--- more_headers
Content-Type: application/json
--- error_code: 200
--- response_body_like: "memory":33554432.*"disk":1048576

=== TEST 36: a limit set again replaces the level above, for all languages
--- http_config
    sandbox_memory 32m;
--- config
    location /run { sandbox any; sandbox_dry_run on; sandbox_memory node 256m; }
--- request
POST /run
{"language":"py","code":"1" }
--- more_headers
Content-Type: application/json
--- error_code: 200
--- response_body_like: "memory":134217728

=== TEST 37: a limit from a variable
--- config
    location /run { sandbox python; sandbox_dry_run on; sandbox_memory $arg_m max=256m; }
--- request
POST /run?m=64m
1
--- error_code: 200
--- response_body_like: "memory":67108864

=== TEST 38: a variable above the ceiling is cut, with a warning
--- config
    location /run { sandbox python; sandbox_dry_run on; sandbox_memory $arg_m max=256m; }
--- request
POST /run?m=1g
1
--- error_code: 200
--- response_body_like: "memory":268435456
--- error_log
[warn]

=== TEST 39: an empty variable leaves the default
--- config
    location /run { sandbox python; sandbox_dry_run on; sandbox_memory $arg_m max=256m; }
--- request
POST /run
1
--- error_code: 200
--- response_body_like: "memory":134217728
--- no_error_log
[warn]

=== TEST 40: a variable that is no value
--- config
    location /run { sandbox python; sandbox_dry_run on; sandbox_memory $arg_m max=256m; }
--- request
POST /run?m=lots
1
--- error_code: 500
--- response_body_like: "status":"internal_error"
--- error_log
invalid value "lots" of "sandbox_memory"

=== TEST 41: a request may ask up to the ceiling of a variable
--- config
    location /run { sandbox python; sandbox_dry_run on; sandbox_memory $arg_m max=256m; }
--- request
POST /run?m=64m
{"code":"1","limits":{"memory":"256m"} }
--- more_headers
Content-Type: application/json
--- error_code: 200
--- response_body_like: "memory":268435456

=== TEST 42: stored code: the body is standard input
--- user_files
>>> stored.py
print("stored")
--- config
    location /run { sandbox python; sandbox_dry_run on; sandbox_code ../html/stored.py; }
--- request
POST /run
hello
--- error_code: 200
--- response_body_like: "code":"print\(\\"stored\\"\)\\n","name":"stored\.py","stdin":"hello"

=== TEST 43: stored code: JSON is input like any other
--- user_files
>>> stored.py
print("stored")
--- config
    location /run { sandbox python; sandbox_dry_run on; sandbox_code ../html/stored.py; }
--- request
POST /run
{"code":"1" }
--- more_headers
Content-Type: application/json
--- error_code: 200
--- response_body_like: "code":"print\(\\"stored\\"\)\\n".*"stdin":"\{\\"code\\"

=== TEST 44: stored code: no body
--- user_files
>>> stored.py
print("stored")
--- config
    location /run { sandbox python; sandbox_dry_run on; sandbox_code ../html/stored.py; }
--- request
POST /run
--- error_code: 200
--- response_body_like: "stdin":""

=== TEST 45: modes and layers
--- config
    location /run { sandbox any; sandbox_dry_run on; sandbox_memory_mode soft; sandbox_proc empty; sandbox_allow_missing net ipc; }
--- request
POST /run
{"language":"py","code":"1" }
--- more_headers
Content-Type: application/json
--- error_code: 200
--- response_body_like: "memory_mode":"soft","proc":"empty","allow_missing":\["net","ipc"\]

=== TEST 46: none takes back what the level above allows
--- http_config
    sandbox_allow_missing net;
--- config
    location /run { sandbox any; sandbox_dry_run on; sandbox_allow_missing none; }
--- request
POST /run
{"language":"py","code":"1" }
--- more_headers
Content-Type: application/json
--- error_code: 200
--- response_body_like: "allow_missing":\[\]

=== TEST 47: a policy lowers, and raises up to the ceiling
--- user_files
>>> p.lua
return {
    limits = function(job, runtime)
        if job.request.headers["x-plan"] == "free" then
            return { timeout = "1s", memory = "1g", factor = 2 }
        end
        if job.request.headers["x-plan"] == "broken" then
            return { time = 1 }
        end
    end
 }
--- config
    location /run { sandbox any; sandbox_dry_run on; sandbox_policy ../html/p.lua; sandbox_timeout 4s; sandbox_memory 64m max=128m; }
--- request
POST /run
{"language":"py","code":"1" }
--- more_headers
Content-Type: application/json
X-Plan: free
--- error_code: 200
--- response_body_like: "memory":134217728,"timeout":1000,"cpu_time":1000.*"factor":2

=== TEST 48: a policy that returns nothing changes nothing
--- user_files
>>> p.lua
return {
    limits = function(job, runtime)
        if job.request.headers["x-plan"] == "free" then
            return { timeout = "1s", memory = "1g", factor = 2 }
        end
        if job.request.headers["x-plan"] == "broken" then
            return { time = 1 }
        end
    end
 }
--- config
    location /run { sandbox any; sandbox_dry_run on; sandbox_policy ../html/p.lua; sandbox_timeout 4s; sandbox_memory 64m max=128m; }
--- request
POST /run
{"language":"py","code":"1" }
--- more_headers
Content-Type: application/json
--- error_code: 200
--- response_body_like: "memory":67108864,"timeout":4000,"cpu_time":4000

=== TEST 49: a policy that fails refuses, and the log has its line
--- user_files
>>> p.lua
return {
    limits = function(job, runtime)
        if job.request.headers["x-plan"] == "free" then
            return { timeout = "1s", memory = "1g", factor = 2 }
        end
        if job.request.headers["x-plan"] == "broken" then
            return { time = 1 }
        end
    end
 }
--- config
    location /run { sandbox any; sandbox_dry_run on; sandbox_policy ../html/p.lua; sandbox_timeout 4s; sandbox_memory 64m max=128m; }
--- request
POST /run
{"language":"py","code":"1" }
--- more_headers
Content-Type: application/json
X-Plan: broken
--- error_code: 500
--- response_body_like: "status":"internal_error"
--- error_log
p.lua

=== TEST 50: a policy may be switched off below
--- user_files
>>> p.lua
return {
    limits = function(job, runtime)
        if job.request.headers["x-plan"] == "free" then
            return { timeout = "1s", memory = "1g", factor = 2 }
        end
        if job.request.headers["x-plan"] == "broken" then
            return { time = 1 }
        end
    end
 }
--- http_config
    sandbox_policy ../html/p.lua;
--- config
    location /run { sandbox any; sandbox_dry_run on; sandbox_policy off; }
--- request
POST /run
{"language":"py","code":"1" }
--- more_headers
Content-Type: application/json
X-Plan: broken
--- error_code: 200
--- response_body_like: "timeout":5000

=== TEST 51: intercepted errors go to error_page
--- config
    location /run { sandbox any; sandbox_dry_run on; sandbox_intercept_errors on; error_page 400 = /judge; }
    location = /judge { return 200 "old judge"; }
--- request
POST /run
{
--- more_headers
Content-Type: application/json
--- error_code: 200
--- response_body_like: ^old judge$

=== TEST 52: errors that are not intercepted stay ours
--- config
    location /run { sandbox any; sandbox_dry_run on; error_page 400 /judge; }
    location = /judge { return 200 "old judge"; }
--- request
POST /run
{
--- more_headers
Content-Type: application/json
--- error_code: 400
--- response_body_like: "status":"invalid"

=== TEST 53: limit_except
--- config
    location /run { sandbox python; sandbox_dry_run on; limit_except POST { deny all; } }
--- request
GET /run
--- error_code: 403

=== TEST 54: inside limit_except a POST runs
--- config
    location /run { sandbox python; sandbox_dry_run on; limit_except GET { allow all; } }
--- request
POST /run
1
--- error_code: 200
--- response_body_like: "language":"python"

=== TEST 55: an if block is the location around it
--- config
    location /run { sandbox python; sandbox_dry_run on; if ($arg_low) { set $x 1; } }
--- request
POST /run?low=1
1
--- error_code: 200
--- response_body_like: "language":"python"

=== TEST 56: sandbox off in an if block
--- config
    location /run { sandbox python; sandbox_dry_run on; if ($arg_off) { sandbox off; } }
--- request
GET /run?off=1
--- error_code: 404

=== TEST 57: a named location
--- config
    location /run { error_page 418 = @sandbox; return 418; }
    location @sandbox { sandbox python; sandbox_dry_run on; }
--- request
POST /run
print(3)
--- error_code: 200
--- response_body_like: "code":"print\(3\)

=== TEST 58: a body in a temporary file
--- config
    location /run { sandbox python; sandbox_dry_run on; client_body_buffer_size 1k; }
--- request eval
"POST /run\n" . "x" x 3000
--- error_code: 200
--- response_body_like: "code":"x{3000}"

=== TEST 59: variables of a dry run
--- config
    location /run { sandbox python; sandbox_dry_run on; add_header X-Run "$sandbox_language|$sandbox_status|$sandbox_code_sha256"; }
--- request
POST /run
{"code":"1" }
--- more_headers
Content-Type: application/json
--- error_code: 200
--- response_headers
X-Run: python||6b86b273ff34fce19d6b804eff5a3f5747ada4eaa22f1d49c01e52ddb7875b4b
