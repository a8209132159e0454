use strict;
use warnings;
use Test::Nginx::Socket;

# Every mistake ends `nginx -t` and names what is wrong, in which file and line.

plan tests => 162;

no_long_string();
run_tests();

__DATA__

=== TEST 1: unknown language
--- config
    location /run { sandbox cobol; }
--- must_die
--- error_log eval
qr{\[emerg\] .*unknown language "cobol" in "sandbox" directive, known are python, node in \S+nginx\.conf:\d+}

=== TEST 2: sandbox twice
--- config
    location /run { sandbox python; sandbox node; }
--- must_die
--- error_log eval
qr{\[emerg\] .*"sandbox" directive is duplicate.* in \S+nginx\.conf:\d+}

=== TEST 3: sandbox outside of a location
--- config
    sandbox python;
--- must_die
--- error_log eval
qr{\[emerg\] .*"sandbox" directive is not allowed here.* in \S+nginx\.conf:\d+}

=== TEST 4: sandbox without a language
--- config
    location /run { sandbox; }
--- must_die
--- error_log eval
qr{\[emerg\] .*invalid number of arguments in "sandbox" directive.* in \S+nginx\.conf:\d+}

=== TEST 5: a limit that is no number
--- config
    location /run { sandbox any; sandbox_memory lots; }
--- must_die
--- error_log eval
qr{\[emerg\] .*invalid value "lots" of "sandbox_memory", which takes 1m to 64g, in bytes or with k, m, g in \S+nginx\.conf:\d+}

=== TEST 6: a limit below its range
--- config
    location /run { sandbox any; sandbox_memory 1k; }
--- must_die
--- error_log eval
qr{\[emerg\] .*invalid value "1k" of "sandbox_memory".* in \S+nginx\.conf:\d+}

=== TEST 7: a limit in the wrong unit
--- config
    location /run { sandbox any; sandbox_timeout 5m5; }
--- must_die
--- error_log eval
qr{\[emerg\] .*invalid value "5m5" of "sandbox_timeout", which takes 1ms to 24h, in seconds or with ms, s, m, h in \S+nginx\.conf:\d+}

=== TEST 8: a negative count
--- config
    location /run { sandbox any; sandbox_processes -1; }
--- must_die
--- error_log eval
qr{\[emerg\] .*invalid value "-1" of "sandbox_processes".* in \S+nginx\.conf:\d+}

=== TEST 9: a ceiling below the default
--- config
    location /run { sandbox any; sandbox_timeout 5s max=2s; }
--- must_die
--- error_log eval
qr{\[emerg\] .*"sandbox_timeout" directive has "max=" below its default.* in \S+nginx\.conf:\d+}

=== TEST 10: a ceiling of nothing below the default
--- config
    location /run { sandbox any; sandbox_threads 4 max=0; }
--- must_die
--- error_log eval
qr{\[emerg\] .*"sandbox_threads" directive has "max=" below its default.* in \S+nginx\.conf:\d+}

=== TEST 11: a ceiling that is no value
--- config
    location /run { sandbox any; sandbox_output 1m max=; }
--- must_die
--- error_log eval
qr{\[emerg\] .*invalid value "" of "sandbox_output".* in \S+nginx\.conf:\d+}

=== TEST 12: a variable without a ceiling
--- config
    location /run { sandbox any; sandbox_memory $arg_memory; }
--- must_die
--- error_log eval
qr{\[emerg\] .*"sandbox_memory" directive needs "max=" with a value of variables.* in \S+nginx\.conf:\d+}

=== TEST 13: an unknown variable
--- config
    location /run { sandbox any; sandbox_memory $no_such_thing max=1g; }
--- must_die
--- error_log eval
qr{\[emerg\] .*unknown "no_such_thing" variable.*}

=== TEST 14: a limit twice for one language
--- config
    location /run { sandbox any; sandbox_memory py 64m; sandbox_memory python3 32m; }
--- must_die
--- error_log eval
qr{\[emerg\] .*"sandbox_memory" directive is duplicate.* in \S+nginx\.conf:\d+}

=== TEST 15: a limit for an unknown language
--- config
    location /run { sandbox any; sandbox_memory ruby 64m; }
--- must_die
--- error_log eval
qr{\[emerg\] .*unknown language "ruby" in "sandbox_memory" directive.* in \S+nginx\.conf:\d+}

=== TEST 16: two values for a limit
--- config
    location /run { sandbox any; sandbox_memory python 64m 128m; }
--- must_die
--- error_log eval
qr{\[emerg\] .*invalid parameter "128m".* in \S+nginx\.conf:\d+}

=== TEST 17: an unknown limit
--- config
    location /run { sandbox any; sandbox_sockets 5; }
--- must_die
--- error_log eval
qr{\[emerg\] .*unknown directive "sandbox_sockets".* in \S+nginx\.conf:\d+}

=== TEST 18: code that does not exist
--- config
    location /run { sandbox python; sandbox_code no-such.py; }
--- must_die
--- error_log eval
qr{\[emerg\] .*open\(\) "[^"]*no-such\.py" failed \(2: No such file or directory\).* in \S+nginx\.conf:\d+}

=== TEST 19: code without a language
--- config
    location /run { sandbox any; sandbox_code ../html/index.html; }
--- must_die
--- error_log eval
qr{\[emerg\] .*"sandbox_code" needs "sandbox LANGUAGE" in the same location.* in \S+nginx\.conf:\d+}

=== TEST 20: code in a location that runs nothing
--- config
    location /run { sandbox_code ../html/index.html; }
--- must_die
--- error_log eval
qr{\[emerg\] .*"sandbox_code" needs "sandbox LANGUAGE" in the same location.* in \S+nginx\.conf:\d+}

=== TEST 21: code that is a directory
--- config
    location /run { sandbox python; sandbox_code ../html; }
--- must_die
--- error_log eval
qr{\[emerg\] .*"[^"]*html" is not a regular file.* in \S+nginx\.conf:\d+}

=== TEST 22: a policy that does not exist
--- config
    location /run { sandbox any; sandbox_policy no-such.lua; }
--- must_die
--- error_log eval
qr{\[emerg\] .*policy: .*no-such\.lua.* in \S+nginx\.conf:\d+}

=== TEST 23: a policy with a syntax error
--- user_files
>>> bad.lua
return {
    limits = function(job, runtime
}
--- config
    location /run { sandbox any; sandbox_policy ../html/bad.lua; }
--- must_die
--- error_log eval
qr{\[emerg\] .*policy: \S*bad\.lua:3: .* in \S+nginx\.conf:\d+}

=== TEST 24: a policy that returns no table
--- user_files
>>> bad.lua
return 5
--- config
    location /run { sandbox any; sandbox_policy ../html/bad.lua; }
--- must_die
--- error_log eval
qr{\[emerg\] .*policy: \S*bad\.lua.* in \S+nginx\.conf:\d+}

=== TEST 25: a policy with an unknown function
--- user_files
>>> bad.lua
return { limit = function() end }
--- config
    location /run { sandbox any; sandbox_policy ../html/bad.lua; }
--- must_die
--- error_log eval
qr{\[emerg\] .*policy: \S*bad\.lua.*limit.* in \S+nginx\.conf:\d+}

=== TEST 26: an unknown layer
--- config
    location /run { sandbox any; sandbox_allow_missing firewall; }
--- must_die
--- error_log eval
qr{\[emerg\] .*layer "firewall" is not known: "sandbox_allow_missing" takes no_new_privs, seccomp, pid, mount, net, ipc, uts, rlimits, proc, check_limit, .*check_deadline, or "none" in \S+nginx\.conf:\d+}

=== TEST 27: a layer that is never required
--- config
    location /run { sandbox any; sandbox_allow_missing cgroup; }
--- must_die
--- error_log eval
qr{\[emerg\] .*layer "cgroup" is used where it can be had, never required.* in \S+nginx\.conf:\d+}

=== TEST 28: a layer named twice
--- config
    location /run { sandbox any; sandbox_allow_missing net net; }
--- must_die
--- error_log eval
qr{\[emerg\] .*layer "net" is named twice.* in \S+nginx\.conf:\d+}

=== TEST 29: a memory mode that does not exist
--- config
    location /run { sandbox any; sandbox_memory_mode gentle; }
--- must_die
--- error_log eval
qr{\[emerg\] .*"sandbox_memory_mode" takes "hard" or "soft", not "gentle" in \S+nginx\.conf:\d+}

=== TEST 30: a /proc that does not exist
--- config
    location /run { sandbox any; sandbox_proc off; }
--- must_die
--- error_log eval
qr{\[emerg\] .*"sandbox_proc" takes "on" or "empty", not "off" in \S+nginx\.conf:\d+}

=== TEST 31: a flag that is no flag
--- config
    location /run { sandbox any; sandbox_dry_run maybe; }
--- must_die
--- error_log eval
qr{\[emerg\] .*invalid value "maybe" in "sandbox_dry_run" directive.* in \S+nginx\.conf:\d+}

=== TEST 32: a supervisor over TCP
--- config
    location /run { sandbox any; sandbox_pass 127.0.0.1:9000; }
--- must_die
--- error_log eval
qr{\[emerg\] .*"127\.0\.0\.1:9000" of "sandbox_pass" is neither "unix:/path" nor the name of an upstream block.* in \S+nginx\.conf:\d+}

=== TEST 33: a supervisor that is not declared
--- config
    location /run { sandbox any; sandbox_pass judges; }
--- must_die
--- error_log eval
qr{\[emerg\] .*upstream "judges".* in \S+nginx\.conf:\d+}

=== TEST 34: sandbox_pass twice
--- config
    location /run { sandbox any; sandbox_pass unix:/a; sandbox_pass unix:/b; }
--- must_die
--- error_log eval
qr{\[emerg\] .*"sandbox_pass" directive is duplicate.* in \S+nginx\.conf:\d+}

=== TEST 35: slots that are no number
--- http_config
    sandbox_slots many;
--- config
    location /run { sandbox any; }
--- must_die
--- error_log eval
qr{\[emerg\] .*"sandbox_slots" takes "auto" or a number from 1 to 4096, not "many".* in \S+nginx\.conf:\d+}

=== TEST 36: no slots
--- http_config
    sandbox_slots 0;
--- config
    location /run { sandbox any; }
--- must_die
--- error_log eval
qr{\[emerg\] .*"sandbox_slots" takes "auto" or a number from 1 to 4096, not "0".* in \S+nginx\.conf:\d+}

=== TEST 37: slots in a location
--- config
    location /run { sandbox any; sandbox_slots 4; }
--- must_die
--- error_log eval
qr{\[emerg\] .*"sandbox_slots" directive is not allowed here.* in \S+nginx\.conf:\d+}

=== TEST 38: more standby children than slots
--- http_config
    sandbox_slots 2; sandbox_standby 3;
--- config
    location /run { sandbox any; }
--- must_die
--- error_log eval
qr{\[emerg\] .*"sandbox_standby" 3 is more than "sandbox_slots" 2 in \S+nginx\.conf:\d+}

=== TEST 39: slots twice
--- http_config
    sandbox_slots auto; sandbox_slots 4;
--- config
    location /run { sandbox any; }
--- must_die
--- error_log eval
qr{\[emerg\] .*"sandbox_slots" directive is duplicate.* in \S+nginx\.conf:\d+}

=== TEST 40: a queue that is no number
--- http_config
    sandbox_queue long;
--- config
    location /run { sandbox any; }
--- must_die
--- error_log eval
qr{\[emerg\] .*"sandbox_queue" takes a number up to 65536, not "long".* in \S+nginx\.conf:\d+}

=== TEST 41: a queue without end
--- http_config
    sandbox_queue 10 timeout=0;
--- config
    location /run { sandbox any; }
--- must_die
--- error_log eval
qr{\[emerg\] .*"timeout=" of "sandbox_queue" takes a time from 1ms to 1h, not "0" in \S+nginx\.conf:\d+}

=== TEST 42: a parameter that a queue does not have
--- http_config
    sandbox_queue 10 wait=5s;
--- config
    location /run { sandbox any; }
--- must_die
--- error_log eval
qr{\[emerg\] .*invalid parameter "wait=5s": "sandbox_queue" takes a number, and "timeout=" with a time up to 1h in \S+nginx\.conf:\d+}

=== TEST 43: a command that does not exist
--- http_config
    sandbox_command /no/such/deer-flow;
--- config
    location /run { sandbox any; }
--- must_die
--- error_log eval
qr{\[emerg\] .*command "/no/such/deer-flow" cannot be executed \(2: No such file or directory\).* in \S+nginx\.conf:\d+}

=== TEST 44: a command that is no program
--- http_config
    sandbox_command /etc/passwd;
--- config
    location /run { sandbox any; }
--- must_die
--- error_log eval
qr{\[emerg\] .*command "/etc/passwd" cannot be executed.* in \S+nginx\.conf:\d+}

=== TEST 45: a runtime without a command
--- http_config
    sandbox_runtime lua bind=/usr/share;
--- config
    location /run { sandbox any; }
--- must_die
--- error_log eval
qr{\[emerg\] .*"sandbox_runtime" directive needs a command.* in \S+nginx\.conf:\d+}

=== TEST 46: a runtime's command without a path
--- http_config
    sandbox_runtime lua lua5.4;
--- config
    location /run { sandbox any; }
--- must_die
--- error_log eval
qr{\[emerg\] .*command "lua5\.4" of "sandbox_runtime" needs an absolute path.* in \S+nginx\.conf:\d+}

=== TEST 47: a runtime's command that does not exist
--- http_config
    sandbox_runtime lua /no/such/lua;
--- config
    location /run { sandbox any; }
--- must_die
--- error_log eval
qr{\[emerg\] .*command "/no/such/lua" cannot be executed.* in \S+nginx\.conf:\d+}

=== TEST 48: a runtime called like a built-in one
--- http_config
    sandbox_runtime js /bin/true;
--- config
    location /run { sandbox any; }
--- must_die
--- error_log eval
qr{\[emerg\] .*runtime name "js" is taken.* in \S+nginx\.conf:\d+}

=== TEST 49: a runtime twice
--- http_config
    sandbox_runtime sh /bin/sh; sandbox_runtime sh /bin/dash;
--- config
    location /run { sandbox any; }
--- must_die
--- error_log eval
qr{\[emerg\] .*runtime name "sh" is taken.* in \S+nginx\.conf:\d+}

=== TEST 50: a runtime with a name of other letters
--- http_config
    sandbox_runtime "my shell" /bin/sh;
--- config
    location /run { sandbox any; }
--- must_die
--- error_log eval
qr{\[emerg\] .*runtime name "my shell" is not made of.* in \S+nginx\.conf:\d+}

=== TEST 51: a runtime that binds a relative path
--- http_config
    sandbox_runtime sh /bin/sh bind=lib;
--- config
    location /run { sandbox any; }
--- must_die
--- error_log eval
qr{\[emerg\] .*"bind=lib" needs an absolute path.* in \S+nginx\.conf:\d+}

=== TEST 52: a runtime that binds what is not there
--- http_config
    sandbox_runtime sh /bin/sh bind=/no/such;
--- config
    location /run { sandbox any; }
--- must_die
--- error_log eval
qr{\[emerg\] .*stat\(\) "/no/such" failed.* in \S+nginx\.conf:\d+}

=== TEST 53: an empty program
--- user_files
>>> empty.py
--- config
    location /run { sandbox python; sandbox_code ../html/empty.py; }
--- must_die
--- error_log eval
qr{\[emerg\] .*"[^"]*empty\.py" is empty in \S+nginx\.conf:\d+}

=== TEST 54: the line is that of the language, which runtimes below could know
--- user_files
>>> run.conf
location /run {
    sandbox any;
    sandbox_memory 64m;
    sandbox_memory ruby 64m;
    sandbox_timeout 5s;
}
--- config
    include ../html/run.conf;
--- must_die
--- error_log eval
qr{\[emerg\] .*unknown language "ruby" in "sandbox_memory" directive, known are \S.* in \S+run\.conf:4$}m

=== TEST 55: the line is that of the code which has no language
--- user_files
>>> run.py
print(1)
>>> run.conf
location /other { sandbox python; }

location /run {
    sandbox_code ../html/run.py;
    sandbox any;
}
--- config
    include ../html/run.conf;
--- must_die
--- error_log eval
qr{\[emerg\] .*"sandbox_code" needs "sandbox LANGUAGE" in the same location in \S+run\.conf:4$}m

=== TEST 56: a supervisor on another machine
--- http_config
    upstream judges { server unix:/tmp/a.sock; server 10.0.0.1:9000; }
--- config
    location /run { sandbox any; sandbox_pass judges; }
--- must_die
--- error_log eval
qr{\[emerg\] .*server "10\.0\.0\.1:9000" of an upstream for "sandbox_pass" is no unix socket in \S+nginx\.conf:\d+}

=== TEST 57: proxy_pass beside sandbox, behind it
--- config
    location /run { sandbox any; proxy_pass http://127.0.0.1:1; }
--- must_die
--- error_log eval
qr{\[emerg\] .*"sandbox" stands in a location that another directive, such as "proxy_pass", answers in \S+nginx\.conf:\d+}

=== TEST 58: proxy_pass beside sandbox, before it
--- config
    location /run { proxy_pass http://127.0.0.1:1; sandbox any; }
--- must_die
--- error_log eval
qr{\[emerg\] .*"sandbox" directive stands in a location that another directive, such as "proxy_pass", answers already in \S+nginx\.conf:\d+}

=== TEST 59: a limit with two values
--- config
    location /run { sandbox any; sandbox_memory 128m 256m; }
--- must_die
--- error_log eval
qr{\[emerg\] .*"sandbox_memory 128m 256m" has two values: a ceiling is written "sandbox_memory 128m max=256m" in \S+nginx\.conf:\d+}

=== TEST 60: a limit with one more parameter
--- config
    location /run { sandbox any; sandbox_memory python 128m 256m; }
--- must_die
--- error_log eval
qr{\[emerg\] .*invalid parameter "256m": "sandbox_memory" takes a language, or none, a value, and "max=" with the ceiling in \S+nginx\.conf:\d+}

=== TEST 61: heartbeats of another scheme
--- config
    location /run { sandbox any; sandbox_heartbeat https://127.0.0.1/; }
--- must_die
--- error_log eval
qr{\[emerg\] .*"sandbox_heartbeat" directive takes a URL that begins with "http://" in \S+nginx\.conf:\d+}

=== TEST 62: heartbeats to nowhere
--- config
    location /run { sandbox any; sandbox_heartbeat http://127.0.0.1:0/; }
--- must_die
--- error_log eval
qr{\[emerg\] .*invalid port in the URL "http://127\.0\.0\.1:0/" of "sandbox_heartbeat" in \S+nginx\.conf:\d+}

=== TEST 63: heartbeats without end
--- config
    location /run { sandbox any; sandbox_heartbeat http://127.0.0.1/ interval=1ms; }
--- must_die
--- error_log eval
qr{\[emerg\] .*"sandbox_heartbeat" directive takes an interval of 100ms and more in \S+nginx\.conf:\d+}

=== TEST 64: heartbeats with something else
--- config
    location /run { sandbox any; sandbox_heartbeat http://127.0.0.1/ every=1s; }
--- must_die
--- error_log eval
qr{\[emerg\] .*"sandbox_heartbeat" directive takes interval=TIME behind its URL in \S+nginx\.conf:\d+}

=== TEST 65: heartbeats that nobody makes
--- config
    location /run { sandbox any; sandbox_heartbeat http://127.0.0.1/; }
--- must_die
--- error_log eval
qr{\[emerg\] .*"sandbox_heartbeat" needs a "sandbox_policy" that has a heartbeat\(\) in \S+nginx\.conf:\d+}

=== TEST 66: a renewal that is no number
--- http_config
    sandbox_zygote_renew runs=many;
--- config
    location /run { sandbox any; }
--- must_die
--- error_log eval
qr{\[emerg\] .*"runs=" of "sandbox_zygote_renew" takes a number up to 1000000000, not "many" in \S+nginx\.conf:\d+}

=== TEST 67: a renewal within no time
--- http_config
    sandbox_zygote_renew time=;
--- config
    location /run { sandbox any; }
--- must_die
--- error_log eval
qr{\[emerg\] .*"time=" of "sandbox_zygote_renew" takes a time up to 1y, in seconds or longer, not "" in \S+nginx\.conf:\d+}

=== TEST 68: a renewal without growth
--- http_config
    sandbox_zygote_renew growth=1;
--- config
    location /run { sandbox any; }
--- must_die
--- error_log eval
qr{\[emerg\] .*"growth=" of "sandbox_zygote_renew" takes a factor from 1.1 to 1000, or 0, not "1" in \S+nginx\.conf:\d+}

=== TEST 69: a parameter that a renewal does not have
--- http_config
    sandbox_zygote_renew runs=5 often;
--- config
    location /run { sandbox any; }
--- must_die
--- error_log eval
qr{\[emerg\] .*invalid parameter "often": "sandbox_zygote_renew" takes "runs=", "time=" and "growth=", or "off" alone in \S+nginx\.conf:\d+}

=== TEST 70: a parameter of a renewal twice
--- http_config
    sandbox_zygote_renew runs=5 runs=6;
--- config
    location /run { sandbox any; }
--- must_die
--- error_log eval
qr{\[emerg\] .*duplicate parameter "runs=6" of "sandbox_zygote_renew" in \S+nginx\.conf:\d+}

=== TEST 71: renewals twice
--- http_config
    sandbox_zygote_renew off; sandbox_zygote_renew runs=5;
--- config
    location /run { sandbox any; }
--- must_die
--- error_log eval
qr{\[emerg\] .*"sandbox_zygote_renew" directive is duplicate.* in \S+nginx\.conf:\d+}

=== TEST 72: modules of another language
--- http_config
    sandbox_preload node fs;
--- config
    location /run { sandbox any; }
--- must_die
--- error_log eval
qr{\[emerg\] .*"sandbox_preload" takes "python" and modules of it, not "node".* in \S+nginx\.conf:\d+}

=== TEST 73: a module that cannot be
--- http_config
    sandbox_preload python json os.;
--- config
    location /run { sandbox any; }
--- must_die
--- error_log eval
qr{\[emerg\] .*"os\." is no name of a module.* in \S+nginx\.conf:\d+}

=== TEST 74: a module twice
--- http_config
    sandbox_preload python json; sandbox_preload python csv json;
--- config
    location /run { sandbox any; }
--- must_die
--- error_log eval
qr{\[emerg\] .*module "json" is named twice.* in \S+nginx\.conf:\d+}

=== TEST 75: a renewal that is off, and more
--- http_config
    sandbox_zygote_renew off runs=1;
--- config
    location /run { sandbox any; }
--- must_die
--- error_log eval
qr{\[emerg\] .*"off" of "sandbox_zygote_renew" stands alone in \S+nginx\.conf:\d+}

=== TEST 76: more of a renewal, and off
--- http_config
    sandbox_zygote_renew runs=1 off;
--- config
    location /run { sandbox any; }
--- must_die
--- error_log eval
qr{\[emerg\] .*"off" of "sandbox_zygote_renew" stands alone in \S+nginx\.conf:\d+}

=== TEST 77: a ceiling by another name
--- config
    location /run { sandbox any; sandbox_memory 128m maximum=256m; }
--- must_die
--- error_log eval
qr{\[emerg\] .*invalid parameter "maximum=256m": "sandbox_memory" takes a language, or none, a value, and "max=" with the ceiling in \S+nginx\.conf:\d+}

=== TEST 78: two values, the lower one last
--- config
    location /run { sandbox any; sandbox_timeout 10s 2s; }
--- must_die
--- error_log eval
qr{\[emerg\] .*"sandbox_timeout 10s 2s" has two values: a ceiling is written "sandbox_timeout 2s max=10s" in \S+nginx\.conf:\d+}

=== TEST 79: cases in no directory
--- user_files
>>> cases
1 2
--- config
    location /run { sandbox any; sandbox_cases ../html/cases; }
--- must_die
--- error_log eval
qr{\[emerg\] .*"[^"]*/cases" of "sandbox_cases" is no directory in \S+nginx\.conf:\d+}

=== TEST 80: cases nowhere
--- config
    location /run { sandbox any; sandbox_cases /no/such; }
--- must_die
--- error_log eval
qr{\[emerg\] .*directory "/no/such" of "sandbox_cases" cannot be opened \(2: No such file or directory\) in \S+nginx\.conf:\d+}

=== TEST 81: sandbox_pass with the path of a socket
--- config
    location /run { sandbox any; sandbox_pass /run/judge.sock; }
--- must_die
--- error_log eval
qr{\[emerg\] .*"/run/judge\.sock" of "sandbox_pass" is neither "unix:/path" nor the name of an upstream block.* in \S+nginx\.conf:\d+}
