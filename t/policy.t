use strict;
use warnings;
use Test::Nginx::Socket;
use Cwd qw(cwd);

# Policies with real runs: what limits() chose is in force, and response()
# decides what the client sees.  The files under examples/policies are used as
# they are.

our $Examples = cwd() . '/examples/policies';

# starting the supervisor is part of the first request
timeout(20);

plan tests => repeat_each() * 47;

no_long_string();
run_tests();

__DATA__

=== TEST 1: memory-formula: the route's terms are in the answer
--- config eval
"location /judge { sandbox any; sandbox_memory 64m max=512m; sandbox_timeout 5s;
     sandbox_policy $::Examples/memory-formula.lua; }"
--- request
POST /judge
{"language":"python","code":"print(1+1)\n"}
--- more_headers
Content-Type: application/json
--- error_code: 200
--- response_body_like: ^\{"status":"success","output":"2\\n",.*"limits":\{"memory":67108864,"timeout":2000,.*"memory_terms":\{"base":[1-9]\d+,"code":11,"wanted":67108864,"factor":1\.25\}

=== TEST 2: memory-formula: another route has its own
--- config eval
"location /bi { sandbox any; sandbox_memory 256m; sandbox_timeout 5s max=30s;
     sandbox_policy $::Examples/memory-formula.lua; }"
--- request
POST /bi
{"language":"python","code":"print(1+1)\n"}
--- more_headers
Content-Type: application/json
--- error_code: 200
--- response_body_like: "timeout":30000,.*"memory_terms":\{"base":[1-9]\d+,"code":11,"wanted":268435456,"factor":1\.3\}

=== TEST 3: memory-formula: who asks for less gets less
--- config eval
"location /judge { sandbox any; sandbox_memory 64m max=512m; sandbox_timeout 5s;
     sandbox_policy $::Examples/memory-formula.lua; }"
--- request
POST /judge
{"language":"python","code":"print(1+1)\n","limits":{"memory":"48m"}}
--- more_headers
Content-Type: application/json
--- error_code: 200
--- response_body_like: "status":"success".*"wanted":50331648,"factor":1\.25\}

=== TEST 4: memory-formula: too much, in friendly words
--- config eval
"location /bi { sandbox any; sandbox_memory 256m; sandbox_timeout 5s max=30s;
     sandbox_policy $::Examples/memory-formula.lua; }"
--- request
POST /bi
{"language":"python","code":"x = b'x' * 10**9\n"}
--- more_headers
Content-Type: application/json
--- error_code: 200
--- response_headers
Content-Type: application/json
--- response_body_like: ^\{"status":"memory_exceeded","output":"","stderr":".*","exit_code":.*"error":"Your program wanted more than 256 MiB\. Please load less data, or read it in parts\.","reason":"hook","usage":.*"violation":\{.*\}\}$

=== TEST 5: memory-formula: other routes are as without it
--- config eval
"location /run { sandbox any; sandbox_memory 64m; sandbox_timeout 5s;
     sandbox_policy $::Examples/memory-formula.lua; }"
--- request
POST /run
{"language":"python","code":"x = b'x' * 10**9\n"}
--- more_headers
Content-Type: application/json
--- error_code: 200
--- response_body_like: "status":"memory_exceeded".*"wanted":67108864,"factor":1\.25\}
--- response_body_unlike: Your program

=== TEST 6: status, headers and body are the policy's
--- user_files
>>> p.lua
return {
    response = function(req, verdict)
        return {
            status = verdict.status == "success" and 201 or 422,
            headers = {
                ["Content-Type"] = "text/plain",
                ["X-Status"] = verdict.status,
                ["X-Client"] = req.headers["x-client"],
            },
            body = verdict.output .. "|" .. req.method .. req.uri,
        }
    end,
}
--- config
    location /run { sandbox python; sandbox_policy ../html/p.lua; }
--- request
POST /run
print(6*7, end='')
--- more_headers
X-Client: me
--- error_code: 201
--- response_headers
Content-Type: text/plain
X-Status: success
X-Client: me
--- response_body chop
42|POST/run

=== TEST 7: what a program prints cannot become a header
--- user_files
>>> p.lua
return {
    response = function(req, verdict)
        return { headers = { ["X-Out"] = verdict.output } }
    end,
}
--- config
    location /run { sandbox python; sandbox_policy ../html/p.lua; }
--- request
POST /run
print('a\r\nSet-Cookie: b')
--- error_code: 500
--- response_headers
! Set-Cookie
--- response_body_like: "status":"internal_error".*response policy failed
--- error_log eval
qr{policy: \S+/p\.lua:2: response\(\): the value of header X-Out has a control character}

=== TEST 8: a response that fails: 500, and the log has its line
--- user_files
>>> p.lua
return {
    response = function(req, verdict)
        return { body = verdict.nothing.x }
    end,
}
--- config
    location /run { sandbox python; sandbox_policy ../html/p.lua; }
--- request
POST /run
print(1)
--- error_code: 500
--- response_body_like: "status":"internal_error".*the response policy failed; the server's error log says why
--- error_log eval
qr{policy: \S+/p\.lua:3: attempt to index a nil value \(field 'nothing'\)}

=== TEST 9: a policy that loops is cut short, the next request is served
--- user_files
>>> p.lua
return {
    limits = function(job)
        if job.request.headers["x-loop"] then
            while true do pcall(function() while true do end end) end
        end
        return { timeout = "4s" }
    end,
}
--- config
    location /run { sandbox python; sandbox_dry_run on; sandbox_policy ../html/p.lua; }
--- pipelined_requests eval
["POST /run\nprint(1)", "POST /run\nprint(1)", "POST /run\nprint(1)"]
--- more_headers eval
["X-Loop: 1", "X-Loop: 1", ""]
--- error_code eval
[500, 500, 200]
--- response_body_like eval
["limits policy failed", "limits policy failed", qr/"timeout":4000,/]

=== TEST 10: a pattern on a client's text cannot hang the worker
--- user_files
>>> p.lua
return {
    limits = function(job)
        local s = job.request.args
        return { timeout = s:find("(.-)(.-)(.-)(.-)(.-)!") and "1s" or "2s" }
    end,
}
--- config
    location /run { sandbox python; sandbox_dry_run on; sandbox_policy ../html/p.lua; }
--- request eval
"POST /run?" . ("a" x 3000) . "\nprint(1)"
--- error_code: 500
--- response_body_like: limits policy failed
--- error_log eval
qr{policy: \S+/p\.lua:4: policy (used more than|ran longer than)}

=== TEST 11: one request's globals are not the next one's
--- user_files
>>> p.lua
return {
    limits = function(job)
        seen = (seen or 0) + 1
        return { timeout = seen * 1000 }
    end,
}
--- config
    location /run { sandbox python; sandbox_dry_run on; sandbox_policy ../html/p.lua; }
--- pipelined_requests eval
["POST /run\nprint(1)", "POST /run\nprint(1)", "POST /run\nprint(1)"]
--- error_code eval
[200, 200, 200]
--- response_body_like eval
[qr/"timeout":1000,/, qr/"timeout":1000,/, qr/"timeout":1000,/]

=== TEST 12: no policy raises a limit above its ceiling
--- user_files
>>> p.lua
return {
    limits = function(job)
        return { memory = "10g", timeout = job.ceilings.timeout + 1 }
    end,
}
--- config
    location /run { sandbox python; sandbox_dry_run on; sandbox_policy ../html/p.lua;
        sandbox_memory 32m max=48m; sandbox_timeout 1s max=3s; }
--- request
POST /run
print(1)
--- error_code: 200
--- response_body_like: "memory":50331648,"timeout":3000,

=== TEST 13: a policy that knows the measured base
--- user_files
>>> p.lua
return {
    limits = function(job, runtime)
        assert(runtime.name == job.language)
        return { memory = runtime.base and runtime.base // 1 or "32m" }
    end,
    response = function(req, verdict)
        local t = verdict.limits.memory_terms
        return { body = json(t.base > 0) .. json(verdict.status) }
    end,
}
--- config
    location /run { sandbox python; sandbox_policy ../html/p.lua; }
--- request
POST /run
print(1)
--- error_code: 200
--- response_body chop
true"success"

=== TEST 14: a misspelt limit is a mistake, not a wish
--- user_files
>>> p.lua
return {
    limits = function(job)
        return { memroy = "64m" }
    end,
}
--- config
    location /run { sandbox python; sandbox_policy ../html/p.lua; }
--- request
POST /run
print(1)
--- error_code: 500
--- response_body_like: limits policy failed
--- error_log eval
qr{policy: \S+/p\.lua:2: limits\(\) returned an unknown limit "memroy"}

=== TEST 15: syntax errors end nginx -t with the policy's line
--- user_files
>>> bad.lua
return {
    limits = function(job)
        return { memory = }
    end,
}
--- config
    location /run { sandbox python; sandbox_policy ../html/bad.lua; }
--- must_die
--- error_log eval
qr{\[emerg\] .*policy: \S+/bad\.lua:3: unexpected symbol near '\}' in \S+nginx\.conf:\d+}
