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

# starting the supervisor is part of the first request
timeout(20);

plan tests => repeat_each() * 12;

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
