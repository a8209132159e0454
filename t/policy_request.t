use strict;
use warnings;
use Test::Nginx::Socket;
use IO::Socket::INET;

# A policy's request(): jobs, answers, and requests passed on to a judge that
# stands behind.  That one is below: it answers with the bytes it was sent.

our $Judge;
our $Pid;

BEGIN {
    my $listener = IO::Socket::INET->new(Listen => 16, LocalAddr => '127.0.0.1')
        or die "no listener: $!";
    $main::Judge = '127.0.0.1:' . $listener->sockport;
    $main::Pid = fork // die "no fork: $!";
    if (!$main::Pid) {
        $SIG{TERM} = 'DEFAULT';
        while (my $client = $listener->accept) {
            my ($request, $length) = ('', 0);
            while ($request !~ /\r\n\r\n/) {
                sysread($client, $request, 65536, length $request) or last;
            }
            $length = $1 if $request =~ /\r\nContent-Length: (\d+)\r\n/i;
            my $head = index($request, "\r\n\r\n") + 4;
            while (length($request) < $head + $length) {
                sysread($client, $request, 65536, length $request) or last;
            }
            print $client "HTTP/1.0 200 OK\r\nX-Judge: old\r\nContent-Length: "
                . length($request) . "\r\n\r\n$request";
            close $client;
        }
        exit 0;
    }
    close $listener;
}

END { kill 'TERM', $Pid if $Pid }

our $Small = "a\0b\r\n0\r\n\r\n\xff";
our $Large = CORE::join '', map { chr($_ % 256) } 1 .. 300000;

sub chunked {
    my $body = shift;
    return "POST /run HTTP/1.1\r\nHost: x\r\nConnection: close\r\n"
        . "Content-Type: text/x\r\nTransfer-Encoding: chunked\r\n\r\n"
        . CORE::join('', map { sprintf "%x\r\n%s\r\n", length, $_ }
                         $body =~ /(.{1,777})/gs) . "0\r\n\r\n";
}

sub passed {
    my $body = shift;
    return "POST /run HTTP/1.0\r\nHost: judge\r\nConnection: close\r\n"
        . 'Content-Length: ' . length($body) . "\r\nContent-Type: text/x\r\n"
        . "\r\n$body";
}

# starting the supervisor is part of the first request
timeout(20);

plan tests => repeat_each() * 64;

no_long_string();
run_tests();

__DATA__

=== TEST 1: a job, and what response() sees of the request
--- user_files
>>> p.lua
return {
    request = function(req)
        assert(req.ceilings.python.memory == 256 << 20)
        assert(req.ceilings.node.timeout == 5000)
        return {
            language = "python",
            code = "import sys, os\nprint(sys.argv[1:], os.environ['A'], sys.stdin.read(), open('d/x').read())",
            name = "main.py", stdin = req.body, args = { req.args, req.method },
            env = { A = req.headers["x-a"] },
            files = { { path = "d/x", content = "file" } },
            limits = { memory = "64g", timeout = 900 },
            keep = { n = 1, list = { "a", null } },
        }
    end,
    response = function(req, verdict)
        return { body = { out = verdict.output, keep = req.keep, body = req.body,
            limits = { verdict.limits.memory, verdict.limits.timeout } } }
    end,
}
--- config
    location /run { sandbox any; sandbox_memory 64m max=256m; sandbox_policy ../html/p.lua; }
--- request
PUT /run?a=1
text
--- more_headers
X-A: env
--- error_code: 200
--- response_body chop
{"limits":[268435456,900],"body":"text","keep":{"list":["a",null],"n":1},"out":"['a=1', 'PUT'] env text file\n"}

=== TEST 2: an answer; nothing runs
--- user_files
>>> p.lua
return {
    request = function(req)
        return { status = 207, headers = { ["X-Uri"] = req.uri }, body = { method = req.method } }
    end,
    response = function() error("not called") end,
}
--- config
    location /some { sandbox any; sandbox_policy ../html/p.lua; }
--- request
GET /some/where
--- error_code: 207
--- response_headers
X-Uri: /some/where
--- response_body chop
{"method":"GET"}

=== TEST 3: nil: the native contract, POST only
--- user_files
>>> p.lua
return { request = function(req) end }
--- config
    location /run { sandbox python; sandbox_policy ../html/p.lua; }
--- pipelined_requests eval
["GET /run", "POST /run\nprint(6*7)"]
--- error_code eval
[405, 200]
--- response_body_like eval
[qr/"status":"invalid"/, qr/"output":"42\\n"/]

=== TEST 4: passed on to a named location, byte for byte
--- user_files
>>> p.lua
return { request = function(req) return { pass = "@judge" } end }
--- config eval
"location /run { sandbox any; sandbox_policy ../html/p.lua; }
 location \@judge { proxy_pass http://$::Judge; proxy_set_header Host judge; }"
--- request
POST /run/a%20b?x=%20&y=1
{"language":"c++"}
--- more_headers
Content-Type: text/x
X-Token: t
--- error_code: 200
--- response_headers
X-Judge: old
--- response_body eval
"POST /run/a%20b?x=%20&y=1 HTTP/1.0\r\nHost: judge\r\nConnection: close\r\nContent-Length: 18\r\nContent-Type: text/x\r\nX-Token: t\r\n\r\n{\"language\":\"c++\"}"

=== TEST 5: a large body, which nginx has in a file, passed on to a uri
--- user_files
>>> p.lua
return { request = function(req)
    assert(#req.body == 300000 and req.body:sub(-1) == "!")
    return { pass = "/old/judge?n=" .. #req.body }
end }
--- config eval
"location /run { sandbox any; client_body_buffer_size 8k; sandbox_policy ../html/p.lua; }
 location /old/ { proxy_pass http://$::Judge; proxy_set_header Host judge; }"
--- request eval
"PUT /run\n" . ("x" x 299999) . "!"
--- error_code: 200
--- response_body eval
"PUT /old/judge?n=300000 HTTP/1.0\r\nHost: judge\r\nConnection: close\r\nContent-Length: 300000\r\n\r\n" . ("x" x 299999) . "!"

=== TEST 6: a request without a body, passed on
--- user_files
>>> p.lua
return { request = function(req) return { pass = "@judge" } end,
         response = function() error("not called") end }
--- config eval
"location /run { sandbox any; sandbox_policy ../html/p.lua; }
 location \@judge { proxy_pass http://$::Judge; proxy_set_header Host judge; }"
--- request
DELETE /run/1
--- error_code: 200
--- response_body eval
"DELETE /run/1 HTTP/1.0\r\nHost: judge\r\nConnection: close\r\n\r\n"

=== TEST 7: some run here, the rest there
--- user_files
>>> p.lua
local ours = { python = true, node = true }
return { request = function(req)
    local r = json.decode(req.body)
    if type(r) ~= "table" then return { status = 400, body = { error = "no JSON" } } end
    if not ours[r.language] then return { pass = "@judge" } end
    return { language = r.language, code = r.source }
end }
--- config eval
"location /run { sandbox any; sandbox_policy ../html/p.lua; }
 location \@judge { proxy_pass http://$::Judge; }"
--- pipelined_requests eval
['POST /run'."\n".'{"language":"python","source":"print(1)"}',
 'POST /run'."\n".'{"language":"c++","source":"int main(){}"}',
 'POST /run'."\n".'{"language"',
 'POST /run'."\n".'{"language":"node","source":"console.log(2)"}']
--- error_code eval
[200, 200, 400, 200]
--- response_body_like eval
[qr/"output":"1\\n"/, qr/int main/, qr/^\{"error":"no JSON"\}$/, qr/"output":"2\\n"/]

=== TEST 8: an answer of 5xx goes back to the old judge by error_page
--- user_files
>>> p.lua
return { request = function(req) return { status = 503, body = "overloaded" } end }
--- config eval
"location /run { sandbox any; sandbox_policy ../html/p.lua;
     sandbox_intercept_errors on; error_page 503 = \@judge; }
 location \@judge { proxy_pass http://$::Judge; proxy_set_header Host judge; }"
--- request
POST /run?a
body
--- error_code: 200
--- response_body eval
"POST /run?a HTTP/1.0\r\nHost: judge\r\nConnection: close\r\nContent-Length: 4\r\n\r\nbody"

=== TEST 9: one file, two configurations
--- user_files
>>> p.lua
local prefix = config.prefix or "none"
return { request = function(req)
    return { status = 200, body = prefix .. "|" .. (config.token or "") }
end }
--- config
    location /a { sandbox any; sandbox_policy ../html/p.lua prefix=a "token=two words"; }
    location /b { sandbox any; sandbox_policy ../html/p.lua prefix="b=c"; }
    location /c { sandbox any; sandbox_policy ../html/p.lua; }
--- pipelined_requests eval
["GET /a", "GET /b", "GET /c"]
--- error_code eval
[200, 200, 200]
--- response_body eval
["a|two words", "b=c|", "none|"]

=== TEST 10: a key that is none
--- user_files
>>> p.lua
return {}
--- config
    location /run { sandbox any; sandbox_policy ../html/p.lua verbose; }
--- must_die
--- error_log eval
qr{\[emerg\] .*"sandbox_policy" takes key=value behind its file, not "verbose" in \S+nginx\.conf:\d+}

=== TEST 11: a key twice
--- user_files
>>> p.lua
return {}
--- config
    location /run { sandbox any; sandbox_policy ../html/p.lua a=1 a=2; }
--- must_die
--- error_log eval
qr{\[emerg\] .*duplicate key in "a=2" in \S+nginx\.conf:\d+}

=== TEST 12: off takes no keys
--- config
    location /run { sandbox any; sandbox_policy off a=1; }
--- must_die
--- error_log eval
qr{\[emerg\] .*"sandbox_policy" directive takes no keys with "off"}

=== TEST 13: a request() that fails: 500, and the log has its line
--- user_files
>>> p.lua
return {
    request = function(req)
        local t = json.decode(req.body)
        return { code = t.source.text }
    end,
}
--- config
    location /run { sandbox python; sandbox_policy ../html/p.lua; }
--- request
POST /run
{}
--- error_code: 500
--- response_body_like: "status":"internal_error".*the request policy failed; the server's error log says why
--- error_log eval
qr{policy: \S+/p\.lua:4: attempt to index a nil value \(field 'source'\)}

=== TEST 14: a job that is none: 500, and the log names the field
--- user_files
>>> p.lua
return { request = function(req) return { code = "1", stdn = "" } end }
--- config
    location /run { sandbox python; sandbox_policy ../html/p.lua; }
--- request
GET /run
--- error_code: 500
--- response_body_like: the request policy failed
--- error_log eval
qr{policy: \S+/p\.lua:1: request\(\) returned an unknown field "stdn"}

=== TEST 15: values of the client's that make no job: 400, shaped by response()
--- user_files
>>> p.lua
return {
    request = function(req)
        return { language = req.headers["x-l"], code = "1", files = { { path = req.body, content = "" } } }
    end,
    response = function(req, verdict)
        return { body = verdict.status .. ": " .. verdict.error .. "\n" }
    end,
}
--- config
    location /run { sandbox any; sandbox_policy ../html/p.lua; }
--- pipelined_requests eval
["POST /run\n../x", "POST /run\nx", "POST /run\nx", "POST /run\nmain.py"]
--- more_headers eval
["X-L: python", "X-L: ruby", "", "X-L: python"]
--- error_code eval
[400, 400, 400, 400]
--- response_body eval
["invalid: files[0].path: has a \".\" or \"..\" component\n",
 "invalid: language: \"ruby\" is not one of python, node\n",
 "invalid: language: is required\n",
 "invalid: files[0]: path \"main.py\" is in the way of another file\n"]

=== TEST 16: the location's program and language are the job's, too
--- user_files
>>> hello.py
import sys
print("hello", sys.stdin.read())
>>> p.lua
return { request = function(req) return { stdin = query(req.args).name } end,
         response = function(req, verdict) return { body = verdict.output } end }
--- config
    location /run { sandbox python; sandbox_code ../html/hello.py; sandbox_policy ../html/p.lua; }
--- request
GET /run?name=J%C3%BCrgen+x
--- error_code: 200
--- response_body eval
"hello J\xc3\xbcrgen x\n"

=== TEST 17: bytes that are no text, there and back
--- user_files
>>> p.lua
return { request = function(req)
             return { code = "import sys\nsys.stdout.buffer.write(sys.stdin.buffer.read()[::-1])", stdin = base64.decode(req.body) }
         end,
         response = function(req, verdict)
             return { body = hex.encode(verdict.output) .. " " .. md5(verdict.output) }
         end }
--- config
    location /run { sandbox python; sandbox_policy ../html/p.lua; }
--- request
POST /run
AAH/
--- error_code: 200
--- response_body chop
ff0100 21d8cbfd91a1e88d10a34c1d70a90c19

=== TEST 18: a batch
--- user_files
>>> p.lua
return { request = function(req)
    return { code = "print(int(input()) * 2)", compare = "tokens",
             cases = { { stdin = "1", expected = "2" }, { stdin = "2", expected = "5" } } }
end }
--- config
    location /run { sandbox python; sandbox_policy ../html/p.lua; }
--- request
POST /run
--- error_code: 200
--- response_body_like: "accepted":false.*"cases":\[\{"status":"success","accepted":true.*"accepted":false

=== TEST 19: the limits hook still has its say
--- user_files
>>> p.lua
return { request = function(req) return { code = req.body, limits = { timeout = "3s" } } end,
         limits = function(job)
             assert(job.request.body == "print(1)" and job.limits.timeout == 3000)
             return { timeout = 1234 }
         end }
--- config
    location /run { sandbox python; sandbox_dry_run on; sandbox_policy ../html/p.lua; }
--- request
POST /run
print(1)
--- error_code: 200
--- response_body_like: "timeout":1234,

=== TEST 20: a chunked body, passed on byte for byte
--- user_files
>>> p.lua
return { request = function(req) return { pass = "@judge" } end }
--- config eval
"location /run { sandbox any; client_body_buffer_size 8k; sandbox_policy ../html/p.lua; }
 location \@judge { proxy_pass http://$::Judge; proxy_set_header Host judge; }"
--- raw_request eval
::chunked($::Small)
--- error_code: 200
--- response_body eval
::passed($::Small)

=== TEST 21: a large chunked body, which nginx has in a file
--- user_files
>>> p.lua
return { request = function(req) return { pass = "@judge" } end }
--- config eval
"location /run { sandbox any; client_body_buffer_size 8k; sandbox_policy ../html/p.lua; }
 location \@judge { proxy_pass http://$::Judge; proxy_set_header Host judge; }"
--- raw_request eval
::chunked($::Large)
--- error_code: 200
--- response_body eval
::passed($::Large)
