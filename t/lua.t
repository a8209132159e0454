use strict;
use warnings;

# Beside the modules that others run, each of which has a Lua or a JavaScript
# engine of its own.  nginx loads modules RTLD_GLOBAL, so a symbol that two of
# them export is one of them for both: our Lua 5.4 must stay private, in either
# order of loading.

our ($Ours, $Modules);

# What Test::Nginx loads by itself is loaded here, where the order is known.
BEGIN {
    $Ours = delete $ENV{TEST_NGINX_LOAD_MODULES} // '';
    $Modules = '/usr/lib/nginx/modules';
}

use Test::Nginx::Socket;

# starting the supervisor is part of the first request
timeout(30);

# The module's own name, or nothing when this nginx cannot have it.
sub other { my $path = "$main::Modules/$_[0]"; return -e $path ? $path : () }

sub load { return CORE::join('', map { "load_module $_;\n" } @_) }

our @Lua = map { other($_) } qw(ndk_http_module.so ngx_http_lua_module.so);
our @Js = map { other($_) } qw(ngx_http_js_module.so);

# They fit the distribution's nginx alone.
our $Foreign = ($ENV{TEST_NGINX_BINARY} // '/usr/sbin/nginx') ne '/usr/sbin/nginx'
    || system('test -x /usr/sbin/nginx') != 0;

our $Policy = <<'EOP';
>>> p.lua
return {
    limits = function(job, runtime)
        assert(_VERSION == "Lua 5.4", _VERSION)
        assert(not ngx and not jit)
        return { timeout = 7 // 2 * 1000, memory = 64 << 20 }
    end,
    response = function(req, verdict)
        return {
            headers = { ["Content-Type"] = "text/plain" },
            body = _VERSION .. ": " .. verdict.output,
        }
    end,
}
EOP

our $Both = <<'EOC';
    location /lua {
        content_by_lua_block {
            ngx.say(_VERSION, " ", jit and "jit", ": ", string.rep("a", 3))
        }
    }
    location /policy { sandbox python; sandbox_policy ../html/p.lua; }
    location /run { sandbox python; }
    location /chain {
        content_by_lua_block {
            local res = ngx.location.capture("/policy",
                { method = ngx.HTTP_POST, body = "print(1 + 1)" })
            ngx.print("captured ", res.status, " ", res.body)
        }
    }
    location /guarded {
        access_by_lua_block {
            if ngx.var.arg_key ~= "k" then return ngx.exit(403) end
        }
        sandbox python;
        sandbox_policy ../html/p.lua;
    }
EOC

our @Requests = ("POST /lua\n", "POST /policy\nprint(6*7)", "POST /lua\n",
    "POST /chain\n", "POST /guarded?key=k\nprint(3)", "POST /guarded\nprint(3)",
    "POST /policy\n1/0", "POST /run\nprint(4)", "POST /lua\n");

our @Codes = (200, 200, 200, 200, 200, 403, 200, 200, 200);

our @Bodies = ("Lua 5.1 jit: aaa\n", "Lua 5.4: 42\n", "Lua 5.1 jit: aaa\n",
    "captured 200 Lua 5.4: 2\n", "Lua 5.4: 3\n", qr/403 Forbidden/, "Lua 5.4: ",
    qr/"output":"4\\n"/, "Lua 5.1 jit: aaa\n");

plan tests => repeat_each() * 66;

no_long_string();
run_tests();

__DATA__

=== TEST 1: both Luas, ours loaded first
--- skip_eval: 18: $main::Foreign || @main::Lua < 2
--- main_config eval: main::load($main::Ours, @main::Lua)
--- config eval: $main::Both
--- user_files eval: $main::Policy
--- request eval: [@main::Requests]
--- error_code eval: [@main::Codes]
--- response_body_like eval: [@main::Bodies]

=== TEST 2: both Luas, ours loaded last
--- skip_eval: 18: $main::Foreign || @main::Lua < 2
--- main_config eval: main::load(@main::Lua, $main::Ours)
--- config eval: $main::Both
--- user_files eval: $main::Policy
--- request eval: [@main::Requests]
--- error_code eval: [@main::Codes]
--- response_body_like eval: [@main::Bodies]

=== TEST 3: beside njs, ours loaded first
--- skip_eval: 6: $main::Foreign || !@main::Js
--- main_config eval: main::load($main::Ours, @main::Js)
--- http_config
    js_path ../html;
    js_import main from js.js;
--- config
    location /js { js_content main.hello; }
    location /run { sandbox node; sandbox_policy ../html/p.lua; }
    location /chain { js_content main.chain; }
--- user_files eval
$main::Policy . <<'EOJ'
>>> js.js
function hello(r) { r.return(200, 'njs ' + [1, 2].map(n => n * 2)); }
async function chain(r) {
    let reply = await r.subrequest('/run', { method: 'POST', body: 'console.log(5)' });
    r.return(200, 'captured ' + reply.status + ' ' + reply.responseText);
}
export default { hello, chain };
EOJ
--- request eval: ["GET /js", "POST /run\nconsole.log([1, 2].at(-1))", "GET /chain"]
--- response_body_like eval: ["njs 2,4", "Lua 5.4: 2\n", "captured 200 Lua 5.4: 5\n"]

=== TEST 4: beside njs and lua, ours loaded last
--- skip_eval: 18: $main::Foreign || !@main::Js || @main::Lua < 2
--- main_config eval: main::load(@main::Lua, @main::Js, $main::Ours)
--- config eval: $main::Both
--- user_files eval: $main::Policy
--- request eval: [@main::Requests]
--- error_code eval: [@main::Codes]
--- response_body_like eval: [@main::Bodies]

=== TEST 5: beside njs, ours loaded last
--- skip_eval: 6: $main::Foreign || !@main::Js
--- main_config eval: main::load(@main::Js, $main::Ours)
--- http_config
    js_path ../html;
    js_import main from js.js;
--- config
    location /js { js_content main.hello; }
    location /run { sandbox node; sandbox_policy ../html/p.lua; }
    location /chain { js_content main.chain; }
--- user_files eval
$main::Policy . <<'EOJ'
>>> js.js
function hello(r) { r.return(200, 'njs ' + [1, 2].map(n => n * 2)); }
async function chain(r) {
    let reply = await r.subrequest('/run', { method: 'POST', body: 'console.log(5)' });
    r.return(200, 'captured ' + reply.status + ' ' + reply.responseText);
}
export default { hello, chain };
EOJ
--- request eval: ["GET /js", "POST /run\nconsole.log([1, 2].at(-1))", "GET /chain"]
--- response_body_like eval: ["njs 2,4", "Lua 5.4: 2\n", "captured 200 Lua 5.4: 5\n"]
